// Gathers and scatters on a CUDA device: one launcher a variant, in the order of the tables' CUDA rows.
#include <optional>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"

namespace gpumem {
namespace {

cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

constexpr Launcher<kernels::GatherScatterLauncher*> kGather[] = {
    {"vec16", kernels::gather_vec16},
    {"words", kernels::gather_words},
    {"bytes", kernels::gather_bytes},
};
constexpr Launcher<kernels::GatherScatterLauncher*> kScatter[] = {
    {"vec16", kernels::scatter_vec16},
    {"words", kernels::scatter_words},
    {"bytes", kernels::scatter_bytes},
};

// A reduction's scratch serves: its counters are 0 between launches, and so are the two that are used here.
void use(const kernels::ReduceScratch& scratch, kernels::GatherScatterLaunch& launch) noexcept {
  launch.pending = reinterpret_cast<unsigned long long*>(scratch.counters);
  launch.done = scratch.counters + sizeof *launch.pending / sizeof *launch.done;
  launch.verdict = static_cast<unsigned long long*>(scratch.nodes);
}

static_assert(kScratchNodeBytes % sizeof(unsigned long long) == 0);  // counters follow the nodes

// The report goes where a reduction's value would.
kernels::RowsReport* report_in(kernels::ReduceSlot* slot) noexcept {
  static_assert(sizeof(kernels::RowsReport) <= sizeof(ReduceNode));
  return reinterpret_cast<kernels::RowsReport*>(&slot->node);
}

}  // namespace

void add_rows_launcher_names(LauncherNames& names) {
  add_names<GatherFamily>(names, kGather);
  add_names<ScatterFamily>(names, kScatter);
}

// Two launches, which the lock keeps together: the next call on the stream uses the same scratch.
BadIndex CudaBackend::move_rows(NativeStream stream, kernels::GatherScatterLauncher* launcher,
                                const GatherScatterArgs& args, Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  std::optional<ResultSlots::Lease> slot;
  if (until == Until::complete) slot.emplace(slots_);
  kernels::GatherScatterLaunch launch{};
  launch.row_bytes = args.row_bytes;
  launch.src = args.src;
  launch.src_pitch = args.src_pitch;
  launch.index_bytes = args.index_bytes;
  launch.limit = args.limit;
  launch.index = args.index;
  launch.n = args.n;
  launch.dst = args.dst;
  launch.dst_pitch = args.dst_pitch;
  launch.grid = args.shape.grid;
  launch.status = args.status;
  launch.report = slot ? report_in(slot->device()) : nullptr;
  {
    const std::lock_guard<std::mutex> lock(launching_);
    use(scratch_.for_stream(native(stream)), launch);
    GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
  }
  if (!slot) return {};
  finish(native(stream), until);
  const volatile ReduceNode& node = slot->host()->node;
  return {static_cast<int64_t>(node.word[0]), node.word[1]};
}

BadIndex CudaBackend::gather(NativeStream stream, const GatherScatterArgs& args, Until until) {
  return move_rows(stream, launch_of<GatherFamily>(kGather, args.variant), args, until);
}

BadIndex CudaBackend::scatter(NativeStream stream, const GatherScatterArgs& args, Until until) {
  return move_rows(stream, launch_of<ScatterFamily>(kScatter, args.variant), args, until);
}

}  // namespace gpumem
