// cub::DeviceReduce and cub::DeviceSelect, with preallocated scratch memory.
#pragma once

#include <cuda_runtime.h>
#include <gpumem.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "cuda/cuda_check.hpp"

namespace bench {

enum class CubOp {
  sum,       // the users' call; the result has the elements' type: i32 wraps, f32 accumulates in f32
  sum_wide,  // of i32: a 64-bit result and 64-bit accumulators, the same value as the library's
  min,
  arg_min,      // of i32 and f32
  sum_squares,  // of i32, 64-bit, like the next
  sum_cubes
};

class CubReduce {
 public:
  // i32, i64, f32 and f64, unless the operation restricts them; n <= 2^32 - 1.
  CubReduce(CubOp op, gpumem_dtype dtype, const void* x, int64_t n);

  void enqueue(cudaStream_t stream) const;

  // The result on the device, its type (I32, I64, F32 or F64), and the int64_t index of arg_min.
  void* result() const { return result_.as(); }
  gpumem_dtype result_type() const { return result_type_; }
  void* index() const { return index_.as(); }

 private:
  using Call = std::function<cudaError_t(void* scratch, std::size_t& scratch_bytes, cudaStream_t stream)>;

  template <class T>
  Call call_of(CubOp op, const T* x, uint32_t n);

  DeviceBytes result_{8};
  DeviceBytes index_{8};
  gpumem_dtype result_type_;
  Call call_;
  std::size_t scratch_bytes_ = 0;
  std::unique_ptr<DeviceBytes> scratch_;
};

// cub::DeviceSelect::Flagged of rows of 1, 4, 8, 12, 16 or 64 bytes without padding, or of places of 4 or 8 bytes if src
// is nullptr. n <= 2^31 - 1.
class CubSelect {
 public:
  CubSelect(int64_t row_bytes, const void* src, const uint8_t* mask, void* dst, int64_t n);

  void enqueue(cudaStream_t stream) const;

 private:
  using Call = std::function<cudaError_t(void* scratch, std::size_t& scratch_bytes, cudaStream_t stream)>;

  DeviceBytes kept_{8};
  Call call_;
  std::size_t scratch_bytes_ = 0;
  std::unique_ptr<DeviceBytes> scratch_;
};

}  // namespace bench
