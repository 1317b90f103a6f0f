// Shared memory of the transposes in place: its size, and the places of elements in it.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {

// Elements in flight per thread. Elements that are moved byte by byte would fill its registers.
template <class T>
constexpr int kInFlight = alignof(T) == sizeof(T) ? 4 : 1;

// The place of element p. Its place in a line of 128 bytes is swizzled by the number of the line. So neighbouring lanes
// use different banks, and so do lanes whose elements are a power of two apart.
template <class T>
__device__ int in_banks(int p) {
  constexpr int kBytes = sizeof(T);
  constexpr int kBank = kBytes < 4 ? 4 / kBytes : 1;  // elements
  constexpr int kBanks = kTransposeLine / (kBank * kBytes);
  const unsigned line = static_cast<unsigned>(p) / (kBank * kBanks);
  return static_cast<int>(static_cast<unsigned>(p) ^ (line ^ line / kBanks) % kBanks * kBank);
}

// Copies elements first, first + step, ... below end from from(i) to place to(i) of shared memory, called in turn.
template <class T, class From, class To>
__device__ __forceinline__ void bring(T* shared, int first, int step, int end, const From& from, const To& to) {
  if constexpr (alignof(T) == 4 || alignof(T) == 8) {
#pragma unroll 4
    for (int i = first; i < end; i += step) __pipeline_memcpy_async(shared + in_banks<T>(to(i)), from(i), sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
  } else {
    for (int begin = first; begin < end; begin += kInFlight<T> * step) {
      T in[kInFlight<T>];
#pragma unroll
      for (int k = 0; k < kInFlight<T>; ++k) {
        const T* p = from(begin + k * step);
        if (begin + k * step < end) in[k] = *p;
      }
#pragma unroll
      for (int k = 0; k < kInFlight<T>; ++k) {
        const int place = to(begin + k * step);
        if (begin + k * step < end) shared[in_banks<T>(place)] = in[k];
      }
    }
  }
  __syncthreads();
}

// Line k of the result is rotated forward by k * by. With `back`, line k of the source is first rotated back by that.
struct Turn {
  int by = 0;
  bool back = false;
};
LaunchResult transpose_in_place_turned(const TransposeParams& params, const Config& config, const Turn& turn,
                                       const Launch& launch);

template <class... Parameters>
LaunchResult start_shared(void (*kernel)(Parameters...), const Config& config, int64_t pieces, int64_t bytes,
                          const Launch& launch, std::type_identity_t<Parameters>... arguments) {
  const auto grid = static_cast<unsigned>(pieces < config.grid ? pieces : config.grid);
  return enqueue_shared(kernel, grid, transpose_shared_threads(bytes),
                        SharedBytes{static_cast<int>(bytes), static_cast<int>(config.shared_bytes)}, launch,
                        arguments...);
}

}  // namespace gpumem::kernels
