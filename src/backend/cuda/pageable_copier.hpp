// Copies between heap memory and the device that are asynchronous for the caller. cudaMemcpyAsync reads or writes pageable
// memory during the call and may wait for the stream; so a thread of the library makes the call once the stream has come to
// it, on a stream of its own, and the program's stream waits in a host function until the copy is done.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "backend/cuda/cuda_check.hpp"

namespace gpumem {

class PageableCopier {
 public:
  explicit PageableCopier(CUcontext context) : context_(context) {}
  ~PageableCopier();
  PageableCopier(const PageableCopier&) = delete;
  PageableCopier& operator=(const PageableCopier&) = delete;

  void enqueue(cudaStream_t stream, void* dst, const void* src, size_t bytes);

  // Throws what a copy has failed with since the last call.
  void throw_failure();

 private:
  struct Job;
  static void arrived(void* job) noexcept;  // the host function
  void start();
  void serve();
  cudaError_t copy(const Job& job) noexcept;

  const CUcontext context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job*> ready_;  // jobs whose stream has come to them
  bool stopping_ = false;
  cudaError_t failure_ = cudaSuccess;
  cudaStream_t stream_ = nullptr;
  std::thread thread_;
};

}  // namespace gpumem
