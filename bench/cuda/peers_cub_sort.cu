#include <cub/device/device_radix_sort.cuh>
#include <numeric>
#include <vector>

#include "cuda/peers_cub_sort.hpp"

namespace bench {

using Sort = cub::DeviceRadixSort;

template <class Key>
CubSort::Call CubSort::keys_of(const void* keys, int64_t n, void* sorted) const {
  const auto* from = static_cast<const Key*>(keys);
  auto* to = static_cast<Key*>(sorted);
  constexpr int kBits = 8 * sizeof(Key);
  return
      [=](void* p, std::size_t& bytes, cudaStream_t s) { return Sort::SortKeys(p, bytes, from, to, n, 0, kBits, s); };
}

template <class Key, class Position>
CubSort::Call CubSort::pairs_of(const void* keys, int64_t n, void* sorted, void* order) {
  std::vector<Position> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), Position{0});
  positions_ = std::make_unique<DeviceBytes>(numbers.size() * sizeof(Position));
  check_cuda(cudaMemcpy(positions_->as(), numbers.data(), numbers.size() * sizeof(Position), cudaMemcpyHostToDevice));
  const auto* from = static_cast<const Key*>(keys);
  auto* to = static_cast<Key*>(sorted);
  const auto* positions = positions_->as<const Position>();
  auto* places = static_cast<Position*>(order);
  constexpr int kBits = 8 * sizeof(Key);
  return [=](void* p, std::size_t& bytes, cudaStream_t s) {
    return Sort::SortPairs(p, bytes, from, to, positions, places, n, 0, kBits, s);
  };
}

CubSort::CubSort(gpumem_dtype dtype, const void* keys, int64_t n, void* sorted, void* order, gpumem_dtype order_type) {
  const auto make = [&]<class Key>() {
    if (order == nullptr) return keys_of<Key>(keys, n, sorted);
    return order_type == GPUMEM_U32 ? pairs_of<Key, uint32_t>(keys, n, sorted, order)
                                    : pairs_of<Key, int64_t>(keys, n, sorted, order);
  };
  if (dtype == GPUMEM_U8) call_ = make.template operator()<uint8_t>();
  if (dtype == GPUMEM_I16) call_ = make.template operator()<int16_t>();
  if (dtype == GPUMEM_I32) call_ = make.template operator()<int32_t>();
  if (dtype == GPUMEM_I64) call_ = make.template operator()<int64_t>();
  if (dtype == GPUMEM_F32) call_ = make.template operator()<float>();
  if (dtype == GPUMEM_F64) call_ = make.template operator()<double>();
  if (!call_) throw std::invalid_argument("no such peer");
  check_cuda(call_(nullptr, scratch_bytes_, nullptr));
  scratch_ = std::make_unique<DeviceBytes>(scratch_bytes_);
}

void CubSort::enqueue(cudaStream_t stream) const {
  std::size_t bytes = scratch_bytes_;
  check_cuda(call_(scratch_->as(), bytes, stream));
}

}  // namespace bench
