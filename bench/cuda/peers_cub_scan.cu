#include <cub/device/device_scan.cuh>
#include <stdexcept>

#include "cuda/peers_cub_scan.hpp"

namespace bench {

CubScan::CubScan(gpumem_dtype dtype, const void* x, int64_t n, void* result) {
  if (dtype == GPUMEM_I32) call_ = call_of<int32_t>(x, n, result);
  if (dtype == GPUMEM_I64) call_ = call_of<int64_t>(x, n, result);
  if (dtype == GPUMEM_F32) call_ = call_of<float>(x, n, result);
  if (dtype == GPUMEM_F64) call_ = call_of<double>(x, n, result);
  if (!call_) throw std::invalid_argument("no such peer");
  check_cuda(call_(nullptr, scratch_bytes_, nullptr));
  scratch_ = std::make_unique<DeviceBytes>(scratch_bytes_);
}

void CubScan::enqueue(cudaStream_t stream) const {
  std::size_t bytes = scratch_bytes_;
  check_cuda(call_(scratch_->as(), bytes, stream));
}

template <class T>
CubScan::Call CubScan::call_of(const void* x, int64_t n, void* result) {
  const auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(result);
  if (n <= UINT32_MAX) {
    return [=, count = static_cast<uint32_t>(n)](auto* p, auto& bytes, auto s) {
      return cub::DeviceScan::InclusiveSum(p, bytes, from, to, count, s);
    };
  }
  return [=](auto* p, auto& bytes, auto s) { return cub::DeviceScan::InclusiveSum(p, bytes, from, to, n, s); };
}

}  // namespace bench
