// Texture objects of calls whose kernels may still be running. Each has an event behind its kernel. A later call, or the end of
// the backend, destroys the object. A host function in the stream could not do it, because it may not call CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

namespace gpumem::kernels {

class TextureObjects {
 public:
  // Calls launch(object), which enqueues its user on the stream. Not during graph capture.
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

  // Requires an idle device.
  void close() noexcept;

 private:
  struct Used {
    cudaTextureObject_t object;
    cudaEvent_t done;
    bool recorded;  // false: the users of the object are unknown, so it stays until close()
  };

  static void destroy(const Used& used) noexcept;
  void destroy_done() noexcept;

  std::mutex mutex_;
  std::vector<Used> used_;
};

}  // namespace gpumem::kernels
