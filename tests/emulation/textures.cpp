#include "emulation/textures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>

#include "emulation/report.hpp"
#include "emulation/streams.hpp"

namespace gpumem_emulation {
namespace {

struct Texture {
  cudaResourceDesc resource;
  cudaTextureDesc reading;
};

struct Textures {
  std::mutex mutex;
  std::map<cudaTextureObject_t, Texture> live;
  cudaTextureObject_t last = 0;  // no handle comes twice
};

Textures& textures() {
  static Textures only;
  return only;
}

Texture find(cudaTextureObject_t handle, const std::source_location& site) {
  Textures& all = textures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.live.find(handle);
  if (found == all.live.end()) {
    give_up(std::string("a fetch from a texture that is not there, at ") + site.file_name() + ":" +
            std::to_string(site.line()));
  }
  return found->second;
}

using Pitch2D = decltype(cudaResourceDesc::res.pitch2D);

int channels_of(const cudaChannelFormatDesc& d) { return d.y == 0 ? 1 : d.z == 0 ? 2 : 4; }

// The address of element (column, row); both clamped to the edge.
const char* element(const Pitch2D& p, float col, float row) {
  const auto clamped = [](float at, size_t extent) {
    return static_cast<size_t>(std::clamp(at, 0.0f, static_cast<float>(extent - 1)));
  };
  const auto bytes = static_cast<size_t>(p.desc.x / 8 * channels_of(p.desc));
  return static_cast<const char*>(p.devPtr) + clamped(row, p.height) * p.pitchInBytes + clamped(col, p.width) * bytes;
}

// A channel as a number; integers as a part of their largest value.
float channel(const Pitch2D& p, const char* at, int index) {
  const char* from = at + p.desc.x / 8 * index;
  if (p.desc.f == cudaChannelFormatKindFloat) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  unsigned value = 0;
  std::memcpy(&value, from, static_cast<size_t>(p.desc.x / 8));  // the processor is little-endian, as the device is
  return static_cast<float>(value) / static_cast<float>((1u << p.desc.x) - 1);
}

// CUDA C++ Programming Guide, "Texture Fetching", linear filtering: fractions have 8 bits.
void fetch_linear(const Pitch2D& p, float x, float y, float* out) {
  const float col = std::floor(x - 0.5f);
  const float row = std::floor(y - 0.5f);
  const float a = std::nearbyint((x - 0.5f - col) * 256) / 256;
  const float b = std::nearbyint((y - 0.5f - row) * 256) / 256;
  for (int i = 0; i < channels_of(p.desc); ++i) {
    out[i] = (1 - a) * (1 - b) * channel(p, element(p, col, row), i) +
             a * (1 - b) * channel(p, element(p, col + 1, row), i) +
             (1 - a) * b * channel(p, element(p, col, row + 1), i) +
             a * b * channel(p, element(p, col + 1, row + 1), i);
  }
}

}  // namespace

void fetch(cudaTextureObject_t handle, float x, float y, void* vector, size_t bytes, const std::source_location& site) {
  const Texture texture = find(handle, site);
  const Pitch2D& p = texture.resource.res.pitch2D;
  const bool linear = texture.reading.filterMode == cudaFilterModeLinear;
  const auto expected = static_cast<size_t>((linear ? 32 : p.desc.x) / 8 * channels_of(p.desc));
  if (bytes != expected) {
    give_up("a fetch of " + std::to_string(bytes) + " bytes from a texture that gives " + std::to_string(expected) +
            ", at " + site.file_name() + ":" + std::to_string(site.line()));
  }
  if (linear) {
    float out[4];
    fetch_linear(p, x, y, out);
    std::memcpy(vector, out, bytes);
  } else {
    std::memcpy(vector, element(p, std::floor(x), std::floor(y)), bytes);
  }
}

}  // namespace gpumem_emulation

using namespace gpumem_emulation;

// Rows of ordinary memory alone, at the alignments of the device that is emulated (cudaGetDeviceProperties).
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* reading, const cudaResourceViewDesc*) {
  if (resource->resType != cudaResourceTypePitch2D) return answer(cudaErrorNotSupported);
  cudaDeviceProp props;
  if (const cudaError_t error = cudaGetDeviceProperties(&props, 0)) return error;
  const Pitch2D& p = resource->res.pitch2D;
  const bool fits = p.width <= static_cast<size_t>(props.maxTexture2DLinear[0]) &&
                    p.height <= static_cast<size_t>(props.maxTexture2DLinear[1]) &&
                    p.pitchInBytes <= static_cast<size_t>(props.maxTexture2DLinear[2]);
  const bool aligned = reinterpret_cast<uintptr_t>(p.devPtr) % props.textureAlignment == 0 &&
                       p.pitchInBytes % props.texturePitchAlignment == 0;
  const bool integers = p.desc.f != cudaChannelFormatKindFloat;
  const bool linear = reading->filterMode == cudaFilterModeLinear;
  const bool gives_float = !integers || reading->readMode == cudaReadModeNormalizedFloat;
  if (!fits || !aligned || linear != gives_float) return answer(cudaErrorInvalidValue);
  Textures& all = textures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  *object = ++all.last;
  all.live[*object] = {*resource, *reading};
  return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  Textures& all = textures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.live.erase(object) == 1 ? cudaSuccess : answer(cudaErrorInvalidResourceHandle);
}
