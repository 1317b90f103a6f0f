#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>

#include "backend/cuda/cuda_backend.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/values.hpp"

namespace gpumem {
namespace {

template <class Params>
kernels::ReduceLaunch launch_of(const Params& params, const Config& config, const kernels::LineLayout& lines,
                                int64_t blocks_per_line) noexcept {
  return {.dtype = params.dtype,
          .op = params.op,
          .x = params.x,
          .result = params.result,
          .status = params.status,
          .tile = config.tile,
          .lines = lines,
          .blocks_per_line = blocks_per_line,
          .grid = config.grid,
          .block = config.block};
}

kernels::ReduceLaunch launch_of(const ReduceParams& params, const Config& config) noexcept {
  kernels::ReduceLaunch launch = launch_of(params, config, {.length = params.n, .stride = params.stride}, config.grid);
  launch.y = params.y;
  launch.y_stride = params.y_stride;
  launch.index = params.index;
  launch.view = &params.view;
  return launch;
}

kernels::ReduceLaunch launch_of(const ReduceAxisParams& params, const Config& config) noexcept {
  const bool rows = params.of_rows();
  const bool as_one = params.batches_are_columns();
  const bool evenly = rows && params.batch_stride == params.rows * params.ld;  // contiguous, as the rows of one matrix
  const kernels::LineLayout lines{.count = params.lines(),
                                  .length = params.length(),
                                  .stride = rows ? 1 : params.ld,
                                  .pitch = rows     ? params.ld
                                           : as_one ? params.batch_stride
                                                    : 1,
                                  .per_batch = evenly || as_one ? params.lines()
                                               : rows           ? params.rows
                                                                : params.cols,
                                  .batch_stride = params.batch_stride,
                                  .run = params.run_rows,
                                  .jump = params.run_stride - params.run_rows * params.ld};
  kernels::ReduceLaunch launch = launch_of(params, config, lines, ceil_div(lines.length, config.tile));
  launch.rounded = params.rounded;
  launch.index = params.index;
  launch.axes = params.axes;
  return launch;
}

kernels::ReduceLaunch launch_of(const ReduceSegmentsParams& params, const Config& config) noexcept {
  const int64_t count = params.segments;
  kernels::ReduceLaunch launch =
      launch_of(params, config, {.count = count, .length = params.n, .per_batch = count, .offsets = params.offsets}, 1);
  launch.rest_grid = kernels::kLongSegmentBlocks;
  return launch;
}

// Whether no line can fail: the scratch's status then stays 0.
bool always_succeeds(const kernels::ReduceLaunch& launch) noexcept {
  return launch.lines.offsets == nullptr && always_has_value(launch.dtype, launch.op, launch.lines.length);
}

}  // namespace

// Polling host memory is several microseconds faster than a copy and a stream wait, which follows after kPatience.
void CudaBackend::wait_for(const ResultSlots::Lease& slot, cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::microseconds(50);
  // With the value, the caller may touch managed memory. Some devices allow that only if no kernel is running.
  if (!props_.concurrent_managed) GPUMEM_CUDA(cudaStreamSynchronize(stream));
  const auto start = Clock::now();
  while (slot.host()->ticket != slot.ticket()) {
    if (Clock::now() - start > kPatience) {
      GPUMEM_CUDA(cudaStreamSynchronize(stream));
      break;
    }
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (slot.host()->ticket != slot.ticket()) fail(GPUMEM_INTERNAL, "a reduction ended without handing its value over");
}

void CudaBackend::launch_to_slot(const ResultSlots::Lease& slot, NativeStream stream, std::string_view name,
                                 kernels::ReduceLauncher* launcher, kernels::ReduceLaunch launch) {
  launch.slot = slot.device();
  launch.ticket = slot.ticket();
  const auto lease = scratch_.for_stream(native(stream));
  launch.scratch = lease.scratch;
  const LaunchRange range(GPUMEM_FAMILY_REDUCE, name.data(), stream);
  GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
}

ReduceNode CudaBackend::reduce(NativeStream stream, const ReduceParams& params,
                               const Configured<ReduceParams>& planned) {
  const DeviceScope scope = enter();
  const ResultSlots::Lease slot(slots_);
  const auto& implementation = *planned.implementation;
  launch_to_slot(slot, stream, implementation.name, implementation.execute.gpu, launch_of(params, planned.config));
  wait_for(slot, native(stream));
  ReduceNode node;
  for (int i = 0; i < 4; ++i) node.word[i] = slot.host()->node.word[i];
  return node;
}

class CudaBackend::NodesInSlot final : public PendingNodes {
 public:
  NodesInSlot(CudaBackend& backend, ResultSlots& slots, NativeStream stream)
      : backend_(backend), stream_(stream), several_(&slots == &backend.node_slots_), slot_(slots, false) {}
  ~NodesInSlot() override {
    if (under_way_) backend_.finish_stream(stream_);
  }

  bool begin(std::string_view name, kernels::ReduceLauncher* launcher, kernels::ReduceLaunch launch) {
    if (!slot_.has_slot()) return false;
    if (several_) {
      launch.nodes = reinterpret_cast<ReduceNode*>(reinterpret_cast<char*>(slot_.device()) + kSlotBytes);
    }
    backend_.launch_to_slot(slot_, stream_, name, launcher, launch);
    under_way_ = true;
    return true;
  }
  void wait(std::span<ReduceNode> nodes) override {
    const DeviceScope scope = backend_.enter();
    backend_.wait_for(slot_, native(stream_));
    under_way_ = false;
    const volatile ReduceNode* from = &slot_.host()->node;
    if (several_) {
      from = reinterpret_cast<volatile ReduceNode*>(reinterpret_cast<volatile char*>(slot_.host()) + kSlotBytes);
    }
    for (ReduceNode& node : nodes) {
      for (int i = 0; i < 4; ++i) node.word[i] = from->word[i];
      ++from;
    }
  }

 private:
  CudaBackend& backend_;
  const NativeStream stream_;
  const bool several_;
  const ResultSlots::Lease slot_;
  bool under_way_ = false;
};

std::unique_ptr<PendingNodes> CudaBackend::begin_reduce(NativeStream stream, const ReduceParams& params,
                                                        const Configured<ReduceParams>& planned) {
  const DeviceScope scope = enter();
  const auto& implementation = *planned.implementation;
  auto node = std::make_unique<NodesInSlot>(*this, slots_, stream);
  const bool begun = node->begin(implementation.name, implementation.execute.gpu, launch_of(params, planned.config));
  return begun ? std::move(node) : nullptr;
}

std::unique_ptr<PendingNodes> CudaBackend::begin_reduce(NativeStream stream, const ReduceParams& params,
                                                        const LeafTrees& trees) {
  const DeviceScope scope = enter();
  kernels::ReduceLaunch launch = launch_of(params, {.block = std::min(32 * trees.leaves, kLeafTreeThreads)});
  launch.trees = &trees;
  auto nodes = std::make_unique<NodesInSlot>(*this, node_slots_, stream);
  return nodes->begin("leaf_trees", kernels::reduce_tiles_sum, launch) ? std::move(nodes) : nullptr;
}

void CudaBackend::reduce_async(NativeStream stream, const ReduceParams& params,
                               const Configured<ReduceParams>& planned) {
  const DeviceScope scope = enter();
  const auto& implementation = *planned.implementation;
  require_open(stream);
  kernels::ReduceLaunch launch = launch_of(params, planned.config);
  const auto lease = scratch_.for_stream(native(stream));
  launch.scratch = lease.scratch;
  const LaunchRange range(GPUMEM_FAMILY_REDUCE, implementation.name, stream);
  GPUMEM_CUDA(implementation.execute.gpu(launch, kernel_stream(stream)));
}

// Launches the lines. If they can fail, or a thread waits, a second launch stores their status. If the first launch
// fails in part, the second clears its state in scratch memory.
template <class Params>
void CudaBackend::launch_lines(gpumem_family family, const Implementation<Params>& implementation,
                               kernels::ReduceLaunch launch, NativeStream stream) {
  const auto lease = scratch_.for_stream(native(stream));
  launch.scratch = lease.scratch;
  const LaunchRange range(family, implementation.name, stream);
  const bool at_once = launch.slot == nullptr && always_succeeds(launch);
  gpumem_status* const status = launch.status;
  if (!at_once) launch.status = nullptr;
  launch.prepares = launch.status != nullptr || launch.grid <= kFewBlocks;
  const auto error = static_cast<cudaError_t>(implementation.execute.gpu(launch, kernel_stream(stream)));
  if (error == cudaSuccess && at_once) return;
  launch.status = error == cudaSuccess ? status : nullptr;
  if (error != cudaSuccess) launch.slot = nullptr;
  const kernels::LaunchResult handed_over = kernels::reduce_hand_over_status(launch, kernel_stream(stream));
  GPUMEM_CUDA(error);
  GPUMEM_CUDA(handed_over);
}

template <class Params>
gpumem_status CudaBackend::run_lines(gpumem_family family, NativeStream stream, const Params& params,
                                     const Configured<Params>& planned, Completion completion) {
  const Config& config = planned.config;
  kernels::ReduceLaunch launch = launch_of(params, config);
  const auto lines = config.own.get<LineConfig>();
  launch.config = &lines;
  const auto& implementation = *planned.implementation;
  const DeviceScope scope = enter();
  require_open(stream);
  if (completion == Completion::asynchronous) {
    launch_lines(family, implementation, launch, stream);
    return GPUMEM_OK;
  }
  const ResultSlots::Lease slot(slots_);
  launch.slot = slot.device();
  launch.ticket = slot.ticket();
  launch_lines(family, implementation, launch, stream);
  wait_for(slot, native(stream));
  return slot.host()->status;
}

gpumem_status CudaBackend::reduce_lines(NativeStream stream, const ReduceAxisParams& params,
                                        const Configured<ReduceAxisParams>& planned, Completion completion) {
  return run_lines(GPUMEM_FAMILY_REDUCE_AXIS, stream, params, planned, completion);
}

gpumem_status CudaBackend::reduce_lines(NativeStream stream, const ReduceSegmentsParams& params,
                                        const Configured<ReduceSegmentsParams>& planned, Completion completion) {
  return run_lines(GPUMEM_FAMILY_REDUCE_SEGMENTS, stream, params, planned, completion);
}

// Runs one small reduction of zeros per type, which loads all kernels of its source file.
void CudaBackend::warm_up_reductions() {
  if (capturing(own_stream_)) return;
  Configured<ReduceParams> planned{&implementation<ReduceFamily>("single_tile")};
  const void* zeros = scratch_.for_stream(own_stream_).scratch.counters;
  for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) {
    for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN, GPUMEM_ARG_MIN}) {
      const int32_t threads = 32 * single_tile_warps(node_kind(dtype, op));
      planned.config = {.block = threads, .tile = reduce_chunk(dtype, op)};
      static_cast<void>(reduce(own_stream_, {.dtype = dtype, .op = op, .x = zeros, .n = 16}, planned));
    }
  }
  planned = {&implementation<ReduceFamily>("order_free"), {.block = kElementThreads}};
  static_cast<void>(
      reduce(own_stream_, {.dtype = GPUMEM_F64, .op = GPUMEM_SUM_ORDER_FREE, .x = zeros, .n = 16}, planned));
}

}  // namespace gpumem
