// cuBLAS geam as an out-of-place transposition, where cuBLAS is there.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

namespace bench {

class Geam {
 public:
  static bool built();  // false: this program was built without cuBLAS

  Geam();
  ~Geam();

  // dst (cols x rows) = transpose of src (rows x cols), both row-major and dense; 4 bytes: Sgeam, 8 bytes: Dgeam.
  void enqueue(const void* src, void* dst, int64_t rows, int64_t cols, int element_bytes, cudaStream_t stream);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace bench
