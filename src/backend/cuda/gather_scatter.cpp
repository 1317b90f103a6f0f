#include <optional>

#include "backend/cuda/cuda_backend.hpp"

namespace gpumem {
namespace {

// Uses a reduction's scratch, whose counters are 0 between launches. The report replaces a reduction's value.
kernels::GatherScatterScratch scratch_in(const kernels::ReduceScratch& scratch, kernels::ReduceSlot* slot) noexcept {
  static_assert(sizeof(BadIndex) <= sizeof(ReduceNode));
  auto* const pending = reinterpret_cast<unsigned long long*>(scratch.counters);
  return {pending, scratch.counters + sizeof *pending / sizeof *scratch.counters,
          static_cast<unsigned long long*>(scratch.nodes),
          slot == nullptr ? nullptr : reinterpret_cast<BadIndex*>(&slot->node)};
}

static_assert(kScratchNodeBytes % sizeof(unsigned long long) == 0);  // counters follow the partial results

}  // namespace

// Makes two launches. The lease keeps them together, because the next call on the stream uses the same scratch.
BadIndex CudaBackend::gather_scatter(NativeStream stream, NamedRows named, const GatherScatterParams& params,
                                     const Configured<GatherScatterParams>& planned, Completion completion) {
  const DeviceScope scope = enter();
  require_open(stream);
  std::optional<ResultSlots::Lease> slot;
  if (completion == Completion::blocking) slot.emplace(slots_);
  {
    const auto lease = scratch_.for_stream(native(stream));
    const auto scratch = scratch_in(lease.scratch, slot ? slot->device() : nullptr);
    const LaunchRange range(named == NamedRows::of_src ? GPUMEM_FAMILY_GATHER : GPUMEM_FAMILY_SCATTER,
                            planned.implementation->name, stream);
    GPUMEM_CUDA(planned.implementation->execute.gpu(params, planned.config, scratch, {kernel_stream(stream)}));
  }
  if (!slot) return {};
  finish(native(stream), completion);
  const volatile ReduceNode& node = slot->host()->node;
  return {static_cast<int64_t>(node.word[0]), node.word[1]};
}

}  // namespace gpumem
