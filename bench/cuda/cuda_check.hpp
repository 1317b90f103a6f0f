// Turns CUDA statuses into exceptions, and owns the CUDA objects of the benchmarks.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace bench {

inline void check_cuda(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(cudaGetErrorName(e)) + ": " + cudaGetErrorString(e));
}

template <class T, cudaError_t (*kDestroy)(T)>
class Owned {
 public:
  template <class Create>
  explicit Owned(const Create& create) {
    check_cuda(create(&object_));
  }
  ~Owned() { kDestroy(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T get() const { return object_; }

 private:
  T object_ = nullptr;
};

struct Event : Owned<cudaEvent_t, cudaEventDestroy> {
  Event() : Owned([](cudaEvent_t* event) { return cudaEventCreate(event); }) {}
};

// Like the context's own stream, it is ordered with the legacy default stream.
struct Stream : Owned<cudaStream_t, cudaStreamDestroy> {
  Stream() : Owned([](cudaStream_t* stream) { return cudaStreamCreate(stream); }) {}
};

// Memory of the CUDA runtime, for the baselines and the timer.
class DeviceBytes : Owned<void*, cudaFree> {
 public:
  explicit DeviceBytes(std::size_t bytes)
      : Owned([bytes](void** p) { return cudaMalloc(p, bytes ? bytes : 1); }), bytes_(bytes) {}
  template <class T = void>
  T* as() const {
    return static_cast<T*>(get());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
};

struct PinnedBytes : Owned<void*, cudaFreeHost> {
  explicit PinnedBytes(std::size_t bytes)
      : Owned([bytes](void** p) { return cudaHostAlloc(p, bytes, cudaHostAllocMapped); }) {}
  template <class T = void>
  T* as() const {
    return static_cast<T*>(get());
  }
};

}  // namespace bench
