// CUDA statuses turned into exceptions, and owners for the CUDA objects that the benchmarks use.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace bench {

inline void check_cuda(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(cudaGetErrorName(e)) + ": " + cudaGetErrorString(e));
}

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// A stream like the context's own: ordered with the legacy default stream.
class Stream {
 public:
  Stream() { check_cuda(cudaStreamCreate(&stream_)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Memory of the CUDA runtime, for what belongs to the peers and the timer.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) : bytes_(bytes) { check_cuda(cudaMalloc(&p_, bytes ? bytes : 1)); }
  ~DeviceBytes() { cudaFree(p_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  template <class T = void>
  T* as() const {
    return static_cast<T*>(p_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* p_ = nullptr;
  std::size_t bytes_;
};

class PinnedBytes {
 public:
  explicit PinnedBytes(std::size_t bytes) { check_cuda(cudaHostAlloc(&p_, bytes, cudaHostAllocMapped)); }
  ~PinnedBytes() { cudaFreeHost(p_); }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  template <class T = void>
  T* as() const {
    return static_cast<T*>(p_);
  }

 private:
  void* p_ = nullptr;
};

}  // namespace bench
