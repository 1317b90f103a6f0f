#include "backend/cuda/texture_objects.hpp"

#include <algorithm>

#include "backend/cuda/cuda_check.hpp"
#include "base/room.hpp"

namespace gpumem {

void TextureObjects::destroy(const Used& used) noexcept {
  static_cast<void>(cudaDestroyTextureObject(used.object));
  static_cast<void>(cudaEventDestroy(used.done));
}

// A fault that an event shows is found by the next call that is checked for it.
void TextureObjects::destroy_done() noexcept {
  const auto keep = std::partition(used_.begin(), used_.end(), [](const Used& used) {
    return !used.recorded || cudaEventQuery(used.done) != cudaSuccess;
  });
  std::for_each(keep, used_.end(), destroy);
  used_.erase(keep, used_.end());
  static_cast<void>(cudaGetLastError());
}

TextureObjects::Used& TextureObjects::create(const cudaResourceDesc& resource, const cudaTextureDesc& reading) {
  reserve_doubling(used_, used_.size() + 1);
  Used used{};
  GPUMEM_CUDA(cudaEventCreateWithFlags(&used.done, cudaEventDisableTiming));
  const cudaError_t error = cudaCreateTextureObject(&used.object, &resource, &reading, nullptr);
  if (error != cudaSuccess) static_cast<void>(cudaEventDestroy(used.done));
  check_cuda(error, "cudaCreateTextureObject");
  return used_.emplace_back(used);
}

void TextureObjects::record(Used& used, cudaStream_t stream) {
  GPUMEM_CUDA(cudaEventRecord(used.done, stream));
  used.recorded = true;
}

void TextureObjects::close() noexcept {
  std::ranges::for_each(used_, destroy);
  used_.clear();
}

}  // namespace gpumem
