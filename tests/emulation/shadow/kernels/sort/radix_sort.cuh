// In the place of kernels/sort/radix_sort.cuh: CUB's kernels cannot run here, so one thread sorts. As CUB, a sort that
// overwrites its input leaves the result in either array, by the size.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "emulation/device.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/sort/radix_sort.hpp"

namespace gpumem::kernels {

template <class Word, class Position>
void sort_kernel(RadixSort<Word, Position> sort) {
  const auto n = static_cast<size_t>(sort.n);
  const std::vector<Word> keys(sort.keys.from, sort.keys.from + n);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sort.rank(keys[a]) < sort.rank(keys[b]); });
  std::memset(sort.scratch, 0xcd, static_cast<size_t>(sort.scratch_bytes));
  std::vector<Position> positions;
  if (sort.positions.from != nullptr) positions.assign(sort.positions.from, sort.positions.from + n);
  for (size_t i = 0; i < n; ++i) {
    sort.keys.to[i] = keys[order[i]];
    if (!positions.empty()) sort.positions.to[i] = positions[order[i]];
  }
}

template <class Word, class Position>
LaunchResult radix_sort(RadixSort<Word, Position>& sort, Stream stream) {
  constexpr int64_t kOneTile = 1000;
  if (sort.overwrites && sort.n > kOneTile && sizeof(Word) > 1) {
    RadixSort<Word, Position> back = sort;
    std::swap(sort.keys.from, sort.keys.to);
    std::swap(sort.positions.from, sort.positions.to);
    std::swap(back.keys.from, back.keys.to);
    std::swap(back.positions.from, back.positions.to);
    // The input is where the result is to be.
    return enqueue(
        +[](RadixSort<Word, Position> from) {
          std::copy_n(from.keys.to, from.n, from.keys.from);
          if (from.positions.to != nullptr) std::copy_n(from.positions.to, from.n, from.positions.from);
          sort_kernel(from);
        },
        1, 1, stream, back);
  }
  return enqueue(sort_kernel<Word, Position>, 1, 1, stream, sort);
}

template <class Word, class Position>
LaunchResult radix_sort_scratch(int64_t, bool, bool, int64_t& bytes) {
  bytes = 1;
  return cudaSuccess;
}

}  // namespace gpumem::kernels
