// Resizes images by the texture unit, to learn from.
// Moves: the pixels of src that the filter needs, through the texture unit, and each pixel of dst once.
// Access: one pixel of dst per thread, in tiles. src is in ordinary memory.
// Shapes: 1, 2 or 4 channels, with the alignment and pitch of a texture.
// Reaches: bilinear, four channels of u8, 8K to 4K: H200 1609 GB/s, H100 1593. The variant words reaches 3713 and 2657.
//
// Nearest fetches integers by their exact index, so it passes bits through unchanged. The texture unit's bilinear fractions have
// 8 bits. They are rounded to 8 bits here, in integers. The coordinate that carries them is exact in float up to 2^15, and the
// table refuses larger images. Integer elements come back as fractions of their largest value.
#include "kernels/resize/resize.hpp"

#include <algorithm>
#include <type_traits>

#include "kernels/enqueue.cuh"
#include "kernels/resize/tiles.cuh"
#include "kernels/textbook/texture_objects.hpp"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kResizeThreads;
constexpr int kFraction = 8;

template <class One, class Two, class Four>
struct Vectors {
  template <int kChannels>
  using Of = std::conditional_t<kChannels == 1, One, std::conditional_t<kChannels == 2, Two, Four>>;
};
template <class T>
using VectorsOf =
    std::conditional_t<std::is_same_v<T, float>, Vectors<float1, float2, float4>,
                       std::conditional_t<sizeof(T) == 4, Vectors<uint1, uint2, uint4>,
                                          std::conditional_t<sizeof(T) == 2, Vectors<ushort1, ushort2, ushort4>,
                                                             Vectors<uchar1, uchar2, uchar4>>>>;
template <class T, int kChannels>
using VectorOf = typename VectorsOf<T>::template Of<kChannels>;

template <class T>
__device__ inline T from_texture(float value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value != value ? kCanonicalNanF32 : value;
  } else {
    constexpr float kLargest = static_cast<T>(~T{0});
    return static_cast<T>(__float2uint_rn(value * kLargest));
  }
}

__device__ inline float coordinate(const ResizeAxis& axis, int64_t i) {
  const ResizeTap tap = resize_tap<kFraction, 64>(axis, i);
  return static_cast<float>(static_cast<int32_t>(tap.index)) + 0.5f +
         static_cast<float>(static_cast<int32_t>(tap.weight)) * (1.0f / (1 << kFraction));
}

// Fetched is the type that the texture unit returns: float for bilinear, else the element's own bits.
template <class Fetched, class T, int kChannels>
__global__ void __launch_bounds__(kThreads)
    texture_kernel(const __grid_constant__ ResizeWork work, const __grid_constant__ ResizeTiles tiles,
                   cudaTextureObject_t texture) {
  constexpr bool kBilinear = std::is_same_v<Fetched, float>;
  using Vector = VectorOf<Fetched, kChannels>;
  const auto at = [](const ResizeAxis& axis, int64_t i) {
    if constexpr (kBilinear) return coordinate(axis, i);
    return static_cast<float>(resize_nearest<64>(axis, i)) + 0.5f;
  };
  for (int64_t tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
    const ResizePlace place(work, tiles, tile, 1);
    for (int64_t row = place.row; row < place.end; ++row) {
      union {
        Vector vector;
        Fetched element[kChannels];
      } out;
      out.vector = tex2D<Vector>(texture, at(work.across, place.col), at(work.down, row));
      auto* const dst_row = reinterpret_cast<T*>(static_cast<char*>(work.dst) + row * work.dst_pitch);
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        if constexpr (kBilinear) {
          dst_row[place.col * kChannels + c] = from_texture<T>(out.element[c]);
        } else {
          dst_row[place.col * kChannels + c] = out.element[c];
        }
      }
    }
  }
}

template <class T, int kChannels>
void (*kernel_of(gpumem_filter filter))(const ResizeWork, const ResizeTiles, cudaTextureObject_t) {
  if (filter == GPUMEM_FILTER_BILINEAR) return texture_kernel<float, T, kChannels>;
  using Bits = std::conditional_t<sizeof(T) == sizeof(float), uint32_t, T>;
  return texture_kernel<Bits, Bits, kChannels>;
}

template <class T>
cudaError_t for_channels(const ResizeParams& params, const Config& config, cudaTextureObject_t texture,
                         const Launch& launch) {
  const auto kernel = params.channels == 1   ? kernel_of<T, 1>(params.filter)
                      : params.channels == 2 ? kernel_of<T, 2>(params.filter)
                                             : kernel_of<T, 4>(params.filter);
  const ResizeWork work = resize_work(params, config);
  return enqueue(kernel, static_cast<unsigned>(config.grid), kThreads, launch, work, config.own.get<ResizeTiles>(),
                 texture);
}

cudaResourceDesc resource_of(const ResizeParams& params) {
  const int bits = 8 * element_bytes(params.dtype);
  const bool floating = params.dtype == GPUMEM_F32 && params.filter == GPUMEM_FILTER_BILINEAR;
  const auto bits_of = [&](int channel) { return channel < params.channels ? bits : 0; };
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<void*>(params.src);
  resource.res.pitch2D.desc = {bits_of(0), bits_of(1), bits_of(2), bits_of(3),
                               floating ? cudaChannelFormatKindFloat : cudaChannelFormatKindUnsigned};
  resource.res.pitch2D.width = static_cast<size_t>(params.src_cols);
  resource.res.pitch2D.height = static_cast<size_t>(params.src_rows);
  resource.res.pitch2D.pitchInBytes = static_cast<size_t>(params.src_pitch);
  return resource;
}

cudaTextureDesc reading_of(const ResizeParams& params) {
  const bool nearest = params.filter == GPUMEM_FILTER_NEAREST;
  cudaTextureDesc reading{};
  reading.addressMode[0] = reading.addressMode[1] = cudaAddressModeClamp;
  reading.filterMode = nearest ? cudaFilterModePoint : cudaFilterModeLinear;
  reading.readMode = nearest || params.dtype == GPUMEM_F32 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  return reading;
}

}  // namespace

LaunchResult resize_texture(const ResizeParams& params, const Config& config, const Launch& launch) {
  return launch.textures->use(resource_of(params), reading_of(params), launch, [&](cudaTextureObject_t texture) {
    return for_pixel_type(params.dtype, [&]<class T>() { return for_channels<T>(params, config, texture, launch); });
  });
}

void TextureObjects::destroy(const Used& used) noexcept {
  static_cast<void>(cudaDestroyTextureObject(used.object));
  static_cast<void>(cudaEventDestroy(used.done));
}

// An event may report a fault of earlier work. It is ignored here, because the next checked call reports it too.
void TextureObjects::destroy_done() noexcept {
  const auto keep = std::partition(used_.begin(), used_.end(), [](const Used& used) {
    return !used.recorded || cudaEventQuery(used.done) != cudaSuccess;
  });
  std::for_each(keep, used_.end(), destroy);
  used_.erase(keep, used_.end());
  static_cast<void>(cudaGetLastError());
}

void TextureObjects::close() noexcept {
  std::ranges::for_each(used_, destroy);
  used_.clear();
}

}  // namespace gpumem::kernels
