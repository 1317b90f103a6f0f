// Texture objects of calls whose kernels may still be running. No host function may destroy one, since it may call no CUDA: each
// waits behind an event for a later call to find it done, or for the end of the backend.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

namespace gpumem::kernels {

class TextureObjects {
 public:
  // Calls launch(object), which enqueues on the stream what uses it. Not under capture.
  template <class Launch>
  cudaError_t use(const cudaResourceDesc& resource, const cudaTextureDesc& reading, cudaStream_t stream,
                  const Launch& launch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    destroy_done();
    used_.reserve(used_.size() + 1);
    Used used{};
    cudaError_t error = cudaEventCreateWithFlags(&used.done, cudaEventDisableTiming);
    if (error != cudaSuccess) return error;
    error = cudaCreateTextureObject(&used.object, &resource, &reading, nullptr);
    if (error != cudaSuccess) {
      static_cast<void>(cudaEventDestroy(used.done));
      return error;
    }
    Used& kept = used_.emplace_back(used);
    error = launch(used.object);
    if (error == cudaSuccess) error = cudaEventRecord(used.done, stream);
    kept.recorded = error == cudaSuccess;
    return error;
  }

  // When the device is idle.
  void close() noexcept;

 private:
  struct Used {
    cudaTextureObject_t object;
    cudaEvent_t done;
    bool recorded;  // else nothing, or nobody knows what, uses the object: it stays until the end
  };

  static void destroy(const Used& used) noexcept;
  void destroy_done() noexcept;

  std::mutex mutex_;
  std::vector<Used> used_;
};

}  // namespace gpumem::kernels
