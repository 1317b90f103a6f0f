// Texture objects of calls whose kernels may still be running. No host function may destroy one, since it may call no CUDA: each
// waits behind an event for a later call to find it done, or for the end of the backend.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

namespace gpumem {

class TextureObjects {
 public:
  // Calls launch(object), which enqueues on the stream what uses it. Not under capture. Throws.
  template <class Launch>
  void use(const cudaResourceDesc& resource, const cudaTextureDesc& reading, cudaStream_t stream,
           const Launch& launch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    destroy_done();
    Used& used = create(resource, reading);
    launch(used.object);
    record(used, stream);
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
  Used& create(const cudaResourceDesc& resource, const cudaTextureDesc& reading);
  static void record(Used& used, cudaStream_t stream);

  std::mutex mutex_;
  std::vector<Used> used_;
};

}  // namespace gpumem
