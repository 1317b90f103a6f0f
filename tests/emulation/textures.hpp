// The texture unit, for textures over rows of ordinary memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <source_location>

namespace gpumem_emulation {

// Writes what tex2D() fetches: `bytes` of a vector of elements, or of float where the texture gives those.
void fetch(cudaTextureObject_t texture, float x, float y, void* vector, size_t bytes, const std::source_location& site);

}  // namespace gpumem_emulation

template <class T>
T tex2D(cudaTextureObject_t texture, float x, float y,
        const std::source_location& site = std::source_location::current()) {
  T vector;
  gpumem_emulation::fetch(texture, x, y, &vector, sizeof vector, site);
  return vector;
}
