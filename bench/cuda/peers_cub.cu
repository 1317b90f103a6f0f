#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <type_traits>

#include "cuda/peers_cub.hpp"

namespace bench {
namespace {

using Reduce = cub::DeviceReduce;

struct Square {
  __host__ __device__ int64_t operator()(int32_t v) const { return int64_t{v} * v; }
};

struct Cube {
  __host__ __device__ int64_t operator()(int32_t v) const { return int64_t{v} * v * v; }
};

bool is_wide(CubOp op) { return op == CubOp::sum_wide || op == CubOp::sum_squares || op == CubOp::sum_cubes; }

template <int kBytes, int kAlignment>
struct alignas(kAlignment) Row {
  unsigned char bytes[kBytes];
};

template <class In, class Out>
auto selection(In in, const uint8_t* mask, Out* out, int64_t* kept, int64_t n) {
  return [=](void* p, std::size_t& bytes, cudaStream_t s) {
    return cub::DeviceSelect::Flagged(p, bytes, in, mask, out, kept, n, s);
  };
}
template <class T>
auto selection_of(const void* src, const uint8_t* mask, void* dst, int64_t* kept, int64_t n) {
  return selection(static_cast<const T*>(src), mask, static_cast<T*>(dst), kept, n);
}
template <class T>
auto selection_of_places(const uint8_t* mask, void* dst, int64_t* kept, int64_t n) {
  return selection(thrust::counting_iterator<T>(0), mask, static_cast<T*>(dst), kept, n);
}

}  // namespace

CubSelect::CubSelect(int64_t row_bytes, const void* src, const uint8_t* mask, void* dst, int64_t n) {
  auto* const kept = kept_.as<int64_t>();
  if (src == nullptr && row_bytes == 4) call_ = selection_of_places<int32_t>(mask, dst, kept, n);
  if (src == nullptr && row_bytes == 8) call_ = selection_of_places<int64_t>(mask, dst, kept, n);
  if (src != nullptr && row_bytes == 1) call_ = selection_of<Row<1, 1>>(src, mask, dst, kept, n);
  if (src != nullptr && row_bytes == 4) call_ = selection_of<Row<4, 4>>(src, mask, dst, kept, n);
  if (src != nullptr && row_bytes == 8) call_ = selection_of<Row<8, 8>>(src, mask, dst, kept, n);
  if (src != nullptr && row_bytes == 12) call_ = selection_of<Row<12, 4>>(src, mask, dst, kept, n);
  if (src != nullptr && row_bytes == 16) call_ = selection_of<Row<16, 16>>(src, mask, dst, kept, n);
  if (src != nullptr && row_bytes == 64) call_ = selection_of<Row<64, 16>>(src, mask, dst, kept, n);
  if (!call_) throw std::invalid_argument("no such peer");
  check_cuda(call_(nullptr, scratch_bytes_, nullptr));
  scratch_ = std::make_unique<DeviceBytes>(scratch_bytes_);
}

void CubSelect::enqueue(cudaStream_t stream) const {
  std::size_t bytes = scratch_bytes_;
  check_cuda(call_(scratch_->as(), bytes, stream));
}

CubReduce::CubReduce(CubOp op, gpumem_dtype dtype, const void* x, int64_t n)
    : result_type_(is_wide(op) ? gpumem_dtype{GPUMEM_I64} : dtype) {
  const auto count = static_cast<uint32_t>(n);
  if (dtype == GPUMEM_I32) call_ = call_of(op, static_cast<const int32_t*>(x), count);
  if (dtype == GPUMEM_I64) call_ = call_of(op, static_cast<const int64_t*>(x), count);
  if (dtype == GPUMEM_F32) call_ = call_of(op, static_cast<const float*>(x), count);
  if (dtype == GPUMEM_F64) call_ = call_of(op, static_cast<const double*>(x), count);
  if (!call_) throw std::invalid_argument("no such peer");
  check_cuda(call_(nullptr, scratch_bytes_, nullptr));
  scratch_ = std::make_unique<DeviceBytes>(scratch_bytes_);
}

void CubReduce::enqueue(cudaStream_t stream) const {
  std::size_t bytes = scratch_bytes_;
  check_cuda(call_(scratch_->as(), bytes, stream));
}

template <class T>
CubReduce::Call CubReduce::call_of(CubOp op, const T* x, uint32_t n) {
  auto* same = result_.as<T>();
  if (op == CubOp::sum) return [=](auto* p, auto& bytes, auto s) { return Reduce::Sum(p, bytes, x, same, n, s); };
  if (op == CubOp::min) return [=](auto* p, auto& bytes, auto s) { return Reduce::Min(p, bytes, x, same, n, s); };
  if constexpr (sizeof(T) == 4) {
    auto* index = index_.as<int64_t>();
    if (op == CubOp::arg_min) {
      return [=](auto* p, auto& bytes, auto s) { return Reduce::ArgMin(p, bytes, x, same, index, int64_t{n}, s); };
    }
  }
  if constexpr (std::is_same_v<T, int32_t>) {
    auto* wide = result_.as<int64_t>();
    constexpr cuda::std::plus<> plus;
    if (op == CubOp::sum_wide) {
      return [=](auto* p, auto& bytes, auto s) { return Reduce::Sum(p, bytes, x, wide, n, s); };
    }
    if (op == CubOp::sum_squares) {
      return [=](auto* p, auto& bytes, auto s) {
        return Reduce::TransformReduce(p, bytes, x, wide, n, plus, Square{}, int64_t{0}, s);
      };
    }
    if (op == CubOp::sum_cubes) {
      return [=](auto* p, auto& bytes, auto s) {
        return Reduce::TransformReduce(p, bytes, x, wide, n, plus, Cube{}, int64_t{0}, s);
      };
    }
  }
  return nullptr;
}

}  // namespace bench
