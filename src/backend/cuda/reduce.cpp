// The reductions on a CUDA device: one launcher a variant, in the order of the tables' CUDA rows.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/values.hpp"
#include "select/select.hpp"

namespace gpumem {
namespace {

cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

constexpr Launcher<kernels::ReduceLauncher*> kReduce[] = {
    {"single_tile_cluster", kernels::reduce_single_tile},
    {"single_tile", kernels::reduce_single_tile},
    {"last_block", kernels::reduce_tiles},
    {"neighbored", kernels::reduce_neighbored},
    {"neighbored_packed", kernels::reduce_neighbored_packed},
    {"interleaved", kernels::reduce_interleaved},
    {"unroll2", kernels::reduce_unroll2},
    {"unroll8_warp", kernels::reduce_unroll8_warp},
    {"unroll8_complete", kernels::reduce_unroll8_complete},
    {"strided", kernels::reduce_strided},
    {"coalesced", kernels::reduce_coalesced},
    {"strided_scalar", kernels::reduce_strided_scalar},
};
constexpr Launcher<kernels::ReduceLauncher*> kReduceAxis[] = {
    {"warp_rows", kernels::reduce_warp_lines},
    {"block_columns", kernels::reduce_columns},
    {"strided_scalar", kernels::reduce_strided_scalar},
};
constexpr Launcher<kernels::ReduceLauncher*> kReduceSegments[] = {
    {"warp_segments", kernels::reduce_warp_lines},
    {"strided_scalar", kernels::reduce_strided_scalar},
};

// Blocks that take the runs of very long segments in turn, if there are some: more than any device holds at a time.
constexpr int64_t kLongSegmentBlocks = 1024;

kernels::ReduceLaunch launch_of(const ReduceArgs& args) noexcept {
  kernels::ReduceLaunch launch{};
  launch.dtype = args.dtype;
  launch.op = args.op;
  launch.x = args.x;
  launch.y = args.y;
  launch.y_stride = args.y_stride;
  launch.lines.length = args.n;
  launch.lines.stride = args.stride;
  launch.blocks_per_line = args.shape.grid;
  launch.block = args.shape.block;
  launch.tile = args.shape.tile;
  return launch;
}

kernels::ReduceLaunch launch_of(const ReduceAxisArgs& args) noexcept {
  kernels::ReduceLaunch launch{};
  launch.dtype = args.dtype;
  launch.op = args.op;
  launch.x = args.x;
  const bool rows = args.axis == GPUMEM_AXIS_ROWS;
  kernels::LineLayout& lines = launch.lines;
  lines.per_batch = rows ? args.rows : args.cols;
  lines.count = lines.per_batch * args.batches;
  lines.length = rows ? args.cols : args.rows;
  lines.stride = rows ? 1 : args.ld;
  lines.pitch = rows ? args.ld : 1;
  lines.batch_stride = args.batch_stride;
  lines.many = true;
  launch.blocks_per_line = ceil_div(lines.length, args.shape.tile);
  launch.grid = args.shape.grid;
  launch.lanes = args.shape.per_thread;
  launch.block = args.shape.block;
  launch.tile = args.shape.tile;
  launch.result = args.result;
  launch.status = args.status;
  return launch;
}

kernels::ReduceLaunch launch_of(const ReduceSegmentsArgs& args) noexcept {
  kernels::ReduceLaunch launch{};
  launch.dtype = args.dtype;
  launch.op = args.op;
  launch.x = args.x;
  kernels::LineLayout& lines = launch.lines;
  lines.count = lines.per_batch = args.segments;
  lines.length = args.n;
  lines.offsets = args.offsets;
  lines.many = true;
  launch.blocks_per_line = 1;
  launch.grid = args.shape.grid;
  launch.rest_grid = kLongSegmentBlocks;
  launch.lanes = args.shape.per_thread;
  launch.block = args.shape.block;
  launch.tile = args.shape.tile;
  launch.result = args.result;
  launch.status = args.status;
  return launch;
}

// Whether nobody asks how enqueued lines went, and none of them can fail: the scratch's status stays 0.
bool ends_silently(const kernels::ReduceLaunch& launch) noexcept {
  return launch.status == nullptr && launch.lines.offsets == nullptr &&
         always_has_value(launch.dtype, launch.op, launch.lines.length);
}

}  // namespace

void add_reduce_launcher_names(LauncherNames& names) {
  add_names<ReduceFamily>(names, kReduce);
  add_names<ReduceAxisFamily>(names, kReduceAxis);
  add_names<ReduceSegmentsFamily>(names, kReduceSegments);
}

// The value comes straight into memory that the host watches: several microseconds sooner than a copy and a wait for the
// stream. A wait that gets long gives the processor back.
void CudaBackend::wait_for(const ResultSlots::Lease& slot, cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::microseconds(50);
  // The caller may touch managed memory as soon as it has the value, which some devices allow only when no kernel is running.
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

ReduceNode CudaBackend::reduce(NativeStream stream, const ReduceArgs& args) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<ReduceFamily>(kReduce, args.variant);
  const ResultSlots::Lease slot(slots_);
  kernels::ReduceLaunch launch = launch_of(args);
  launch.slot = slot.device();
  launch.ticket = slot.ticket();
  {
    const std::lock_guard<std::mutex> lock(launching_);
    launch.scratch = scratch_.for_stream(native(stream));
    GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
  }
  wait_for(slot, native(stream));
  ReduceNode node;
  for (int i = 0; i < 4; ++i) node.word[i] = slot.host()->node.word[i];
  return node;
}

void CudaBackend::reduce_async(NativeStream stream, const ReduceArgs& args, const ReduceTarget& target) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<ReduceFamily>(kReduce, args.variant);
  require_open(stream);
  kernels::ReduceLaunch launch = launch_of(args);
  launch.result = target.result;
  launch.index = target.index;
  launch.status = target.status;
  const std::lock_guard<std::mutex> lock(launching_);
  launch.scratch = scratch_.for_stream(native(stream));
  GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
}

// Two launches: the lines, and their status once all are done, where there is one to tell. The lock keeps those of one call
// together, since the next one on the stream uses the same scratch.
template <class Launcher>
gpumem_status CudaBackend::reduce_lines(NativeStream stream, const Launcher& launcher, kernels::ReduceLaunch launch,
                                        Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  if (until == Until::enqueued) {
    const std::lock_guard<std::mutex> lock(launching_);
    launch.scratch = scratch_.for_stream(native(stream));
    GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
    if (!ends_silently(launch)) GPUMEM_CUDA(kernels::reduce_hand_over_status(launch, kernel_stream(stream)));
    return GPUMEM_OK;
  }
  const ResultSlots::Lease slot(slots_);
  launch.slot = slot.device();
  launch.ticket = slot.ticket();
  {
    const std::lock_guard<std::mutex> lock(launching_);
    launch.scratch = scratch_.for_stream(native(stream));
    GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
    GPUMEM_CUDA(kernels::reduce_hand_over_status(launch, kernel_stream(stream)));
  }
  wait_for(slot, native(stream));
  return slot.host()->status;
}

gpumem_status CudaBackend::reduce_axis(NativeStream stream, const ReduceAxisArgs& args, Until until) {
  const auto launcher = launch_of<ReduceAxisFamily>(kReduceAxis, args.variant);
  return reduce_lines(stream, launcher, launch_of(args), until);
}

gpumem_status CudaBackend::reduce_segments(NativeStream stream, const ReduceSegmentsArgs& args, Until until) {
  const auto launcher = launch_of<ReduceSegmentsFamily>(kReduceSegments, args.variant);
  return reduce_lines(stream, launcher, launch_of(args), until);
}

// One small reduction of every type, of zeros: the kernels of one source file are loaded together.
void CudaBackend::warm_up_reductions() {
  if (capturing(own_stream_)) return;
  const void* zeros = scratch_.for_stream(own_stream_).counters;
  for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) {
    for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN, GPUMEM_ARG_MIN}) {
      const ReduceProblem problem{Runs::cuda, dtype, op, 16};
      const Decision decision = select<ReduceFamily>(props_, problem, {}, {});
      ReduceArgs args{};
      args.variant = decision.row;
      args.shape = decision.shape;
      args.dtype = dtype;
      args.op = op;
      args.x = zeros;
      args.n = 16;
      args.stride = 1;
      static_cast<void>(reduce(own_stream_, args));
    }
  }
}

}  // namespace gpumem
