// A stable sort by rank on the device: CUB's radix sort. tests/emulation has its own.
#pragma once

#include "kernels/launch.hpp"
#include "kernels/sort/params.hpp"

namespace gpumem::kernels {

// Two arrays of n elements. The first has the input. If `overwrites`, the result is in either, and the sort exchanges
// them so that it is in the second. Otherwise the first keeps its contents.
template <class T>
struct SortBuffers {
  T* from = nullptr;
  T* to = nullptr;
};

template <class Word, class Position>
struct RadixSort {
  SortBuffers<Word> keys{};
  SortBuffers<Position> positions{};  // empty: only keys are sorted
  int64_t n = 0;
  bool overwrites = false;
  RankOf<Word> rank{};
  int bits = 8 * sizeof(Word);  // the ranks' higher bits are 0
  void* scratch = nullptr;
  int64_t scratch_bytes = 0;
};

// Defined for words of 1, 2, 4 and 8 bytes. 32-bit positions are for fewer than 2^32 elements, and always sorted; 64-bit
// ones for any number.
template <class Word, class Position>
LaunchResult radix_sort(RadixSort<Word, Position>& sort, Stream stream);

// The scratch memory that CUB asks for on the current device: at most SortScratch::cub_bytes.
LaunchResult radix_sort_scratch(const SortParams& params, int64_t& bytes);

}  // namespace gpumem::kernels
