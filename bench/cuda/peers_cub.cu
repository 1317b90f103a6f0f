#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include "cuda/peers_cub.hpp"

namespace bench {
namespace {

struct Square {
  __host__ __device__ int64_t operator()(int32_t v) const { return int64_t{v} * v; }
};

struct Cube {
  __host__ __device__ int64_t operator()(int32_t v) const { return int64_t{v} * v * v; }
};

}  // namespace

CubReduce::CubReduce(CubOp op, const int32_t* x, int64_t n)
    : op_(op),
      x_(x),
      n_(static_cast<uint32_t>(n)),
      scratch_bytes_([this] {
        std::size_t bytes = 0;
        check_cuda(call(nullptr, bytes, nullptr));
        return bytes;
      }()),
      scratch_(scratch_bytes_) {}

std::size_t CubReduce::result_bytes() const { return op_ == CubOp::sum_i32 || op_ == CubOp::min ? 4 : 8; }

void CubReduce::enqueue(cudaStream_t stream) const {
  std::size_t bytes = scratch_bytes_;
  check_cuda(call(scratch_.as(), bytes, stream));
}

cudaError_t CubReduce::call(void* scratch, std::size_t& bytes, cudaStream_t stream) const {
  auto* narrow = result_.as<int32_t>();
  auto* wide = result_.as<int64_t>();
  using Reduce = cub::DeviceReduce;
  switch (op_) {
    case CubOp::sum_i32:
      return Reduce::Sum(scratch, bytes, x_, narrow, n_, stream);
    case CubOp::sum_i64:
      return Reduce::Sum(scratch, bytes, x_, wide, n_, stream);
    case CubOp::min:
      return Reduce::Min(scratch, bytes, x_, narrow, n_, stream);
    case CubOp::sum_squares:
      return Reduce::TransformReduce(scratch, bytes, x_, wide, n_, cuda::std::plus<>{}, Square{}, int64_t{0}, stream);
    case CubOp::sum_cubes:
      return Reduce::TransformReduce(scratch, bytes, x_, wide, n_, cuda::std::plus<>{}, Cube{}, int64_t{0}, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace bench
