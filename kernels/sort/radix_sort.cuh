// CUB's radix sort, with an order of the keys that is known only at run time. Each kernel serves all element types of a
// size and both directions.
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <type_traits>
#include <utility>

#include "kernels/sort/radix_sort.hpp"

namespace gpumem::kernels {

template <class Rank>
struct SortKey {
  typename Rank::Word bits;
};

// CUB's "decomposer" of keys. CUB passes it to its kernels, where the traits below read the order from it.
template <class Rank>
struct KeyOrder {
  Rank rank;

  __host__ __device__ cuda::std::tuple<typename Rank::Word&> operator()(SortKey<Rank>& key) const { return {key.bits}; }
};

template <class Rank>
struct RankDigits {
  Rank rank;
  int first_bit;
  uint32_t mask;

  __device__ __forceinline__ uint32_t Digit(SortKey<Rank> key) const { return rank.digit(key.bits, first_bit, mask); }
};

// Keys stay as they are.
struct SameBits {
  template <class Order, class Key>
  static __host__ __device__ __forceinline__ Key to_bit_ordered(const Order&, Key key) {
    return key;
  }
  template <class Order, class Key>
  static __host__ __device__ __forceinline__ Key from_bit_ordered(const Order&, Key key) {
    return key;
  }
};

}  // namespace gpumem::kernels

// CUB's own traits convert a key to bits that are sorted as a number, by its type only, and each bit pattern to another
// one. These take the digits from the rank instead, so all NaNs are equal. CCCL 3.0 to 3.5 have this template.
template <class Rank>
struct cub::detail::radix::traits_t<gpumem::kernels::SortKey<Rank>, false> {
  using Key = gpumem::kernels::SortKey<Rank>;
  using Order = gpumem::kernels::KeyOrder<Rank>;
  using Digits = gpumem::kernels::RankDigits<Rank>;
  using bit_ordered_type = Key;
  using bit_ordered_conversion_policy = gpumem::kernels::SameBits;
  using bit_ordered_inversion_policy = gpumem::kernels::SameBits;  // only descending sorts of CUB invert
  template <class, class>
  using digit_extractor_t = Digits;

  // Fills the last tile of an ascending sort.
  static __host__ __device__ __forceinline__ Key max_raw_binary_key(const Order& order) { return {order.rank.last()}; }
  static __host__ __device__ __forceinline__ Key min_raw_binary_key(const Order& order) { return {order.rank.last()}; }
  static __host__ __device__ __forceinline__ int default_end_bit(const Order&) { return 8 * sizeof(Key); }
  template <class>
  static __host__ __device__ __forceinline__ Digits digit_extractor(int first_bit, int bits, const Order& order) {
    return {order.rank, first_bit, (1u << bits) - 1};
  }
};

namespace gpumem::kernels {

template <class Word, class Position, class Rank>
cudaError_t call_cub(void* scratch, size_t& bytes, RadixSort<Word, Position>& sort, const Rank& rank,
                     bool with_positions, cudaStream_t stream) {
  using Key = SortKey<Rank>;
  using Sort = cub::DeviceRadixSort;
  const auto n = static_cast<std::conditional_t<sizeof(Position) == 4, uint32_t, int64_t>>(sort.n);
  const KeyOrder<Rank> order{rank};
  auto* const from = reinterpret_cast<Key*>(sort.keys.from);
  auto* const to = reinterpret_cast<Key*>(sort.keys.to);
  auto& [first, second] = sort.positions;
  cub::DoubleBuffer<Key> keys(from, to);
  cub::DoubleBuffer<Position> positions(first, second);
  cudaError_t error = cudaSuccess;
  if (with_positions) {
    error = sort.overwrites ? Sort::SortPairs(scratch, bytes, keys, positions, n, order, 0, sort.bits, stream)
                            : Sort::SortPairs(scratch, bytes, from, to, first, second, n, order, 0, sort.bits, stream);
  } else if constexpr (sizeof(Position) == 8 || sizeof(Word) <= 2) {  // see position_bytes()
    error = sort.overwrites ? Sort::SortKeys(scratch, bytes, keys, n, order, 0, sort.bits, stream)
                            : Sort::SortKeys(scratch, bytes, from, to, n, order, 0, sort.bits, stream);
  }
  if (!sort.overwrites || scratch == nullptr) return error;
  if (keys.Current() != to) std::swap(sort.keys.from, sort.keys.to);
  if (with_positions && positions.Current() != second) std::swap(first, second);
  return error;
}

// Integers have kernels of their own. H200, keys of 2^28 elements, CUB's time for unsigned integers over ours: 0.99 to
// 1.0, and 0.89 to 0.94 by RankOf.
template <class Word, class Position>
cudaError_t sort_by_rank(void* scratch, size_t& bytes, RadixSort<Word, Position>& sort, bool with_positions,
                         cudaStream_t stream) {
  if constexpr (sizeof(Word) > 1) {
    if (sort.rank.magnitude != 0) return call_cub(scratch, bytes, sort, sort.rank, with_positions, stream);
  }
  return call_cub(scratch, bytes, sort, IntegerRank<Word>{sort.rank(0)}, with_positions, stream);
}

template <class Word, class Position>
LaunchResult radix_sort(RadixSort<Word, Position>& sort, Stream stream) {
  auto bytes = static_cast<size_t>(sort.scratch_bytes);
  return sort_by_rank(sort.scratch, bytes, sort, sort.positions.from != nullptr, stream);
}

template <class Word, class Position>
cudaError_t radix_sort_scratch(int64_t n, bool with_positions, bool overwrites, int64_t& bytes) {
  RadixSort<Word, Position> sort{.n = n, .overwrites = overwrites};
  size_t needed = 0;
  const cudaError_t error = sort_by_rank(nullptr, needed, sort, with_positions, nullptr);
  bytes = static_cast<int64_t>(needed);
  return error;
}

}  // namespace gpumem::kernels
