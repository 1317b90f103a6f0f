#include "backend/cuda/pageable_copier.hpp"

#include "engine/error.hpp"
#include "engine/quiet_thread.hpp"

namespace gpumem {

// Lives from enqueue() to the end of the host function.
struct PageableCopier::Job {
  PageableCopier& copier;
  void* dst;
  const void* src;
  size_t bytes;
  bool done = false;
};

PageableCopier::~PageableCopier() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

void PageableCopier::start() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (thread_.joinable()) return;
  // Non-blocking: not ordered with the legacy default stream, which may itself wait for the program's stream.
  if (stream_ == nullptr) GPUMEM_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  thread_ = quiet_thread([this] { serve(); });
}

void PageableCopier::enqueue(cudaStream_t stream, void* dst, const void* src, size_t bytes) {
  start();
  auto job = std::make_unique<Job>(Job{*this, dst, src, bytes});
  GPUMEM_CUDA(cudaLaunchHostFunc(stream, arrived, job.get()));
  static_cast<void>(job.release());  // the host function deletes it
}

void PageableCopier::arrived(void* argument) noexcept {
  const std::unique_ptr<Job> job(static_cast<Job*>(argument));
  PageableCopier& copier = job->copier;
  std::unique_lock<std::mutex> lock(copier.mutex_);
  copier.ready_.push_back(job.get());
  copier.changed_.notify_all();
  copier.changed_.wait(lock, [&] { return job->done; });
}

cudaError_t PageableCopier::copy(const Job& job) noexcept {
  const cudaError_t error = cudaMemcpyAsync(job.dst, job.src, job.bytes, cudaMemcpyDefault, stream_);
  return error != cudaSuccess ? error : cudaStreamSynchronize(stream_);
}

void PageableCopier::serve() {
  const DeviceScope scope(context_);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    if (ready_.empty()) return;
    Job* job = ready_.front();
    ready_.pop_front();
    lock.unlock();
    const cudaError_t error = copy(*job);
    lock.lock();
    if (error != cudaSuccess && failure_ == cudaSuccess) failure_ = error;
    job->done = true;
    changed_.notify_all();
  }
}

void PageableCopier::throw_failure() {
  cudaError_t failure = cudaSuccess;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::swap(failure, failure_);
  }
  check_cuda(failure, "an asynchronous copy of pageable memory");
}

}  // namespace gpumem
