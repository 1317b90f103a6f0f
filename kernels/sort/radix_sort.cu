#include "kernels/sort/radix_sort.cuh"

namespace gpumem::kernels {

template LaunchResult radix_sort(RadixSort<uint8_t, uint32_t>&, Stream);
template LaunchResult radix_sort(RadixSort<uint8_t, uint64_t>&, Stream);
template LaunchResult radix_sort(RadixSort<uint16_t, uint32_t>&, Stream);
template LaunchResult radix_sort(RadixSort<uint16_t, uint64_t>&, Stream);
template LaunchResult radix_sort(RadixSort<uint32_t, uint32_t>&, Stream);
template LaunchResult radix_sort(RadixSort<uint32_t, uint64_t>&, Stream);
template LaunchResult radix_sort(RadixSort<uint64_t, uint32_t>&, Stream);
template LaunchResult radix_sort(RadixSort<uint64_t, uint64_t>&, Stream);

namespace {

template <class Word>
LaunchResult scratch_of(const SortParams& p, int64_t& bytes) {
  const bool with_positions = p.order != nullptr;
  return position_bytes(p) == 4 ? radix_sort_scratch<Word, uint32_t>(p.n, with_positions, overwrites_keys(p), bytes)
                                : radix_sort_scratch<Word, uint64_t>(p.n, with_positions, overwrites_keys(p), bytes);
}

}  // namespace

LaunchResult radix_sort_scratch(const SortParams& params, int64_t& bytes) {
  return for_word(params.dtype, [&]<class Word>() { return scratch_of<Word>(params, bytes); });
}

}  // namespace gpumem::kernels
