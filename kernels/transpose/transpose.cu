// Transposes. Every kernel reads each element once and writes it once: 2 * rows * cols * element bytes. A square tile goes
// through shared memory, so that both the reads and the writes run along rows; a padded pitch keeps the columns of a tile in
// different banks.
//   tile_vec16   16 bytes an access in global memory, for matrices whose rows all begin on 16-byte boundaries
//   tile_padded  one element an access, 32 x 32 tiles, for elements at their natural alignment
//   tile_bytes   the same, an element moved byte by byte, for any address
#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kTransposeThreads;

template <int kBytes>
struct alignas(kBytes) Aligned {
  unsigned char bytes[kBytes];
};
template <>
struct alignas(2) Aligned<2> {
  uint16_t word;
};
template <>
struct alignas(4) Aligned<4> {
  uint32_t word;
};
template <>
struct alignas(8) Aligned<8> {
  uint2 word;
};
template <>
struct alignas(16) Aligned<16> {
  uint4 word;
};
template <int kBytes>
struct Bytes {
  unsigned char bytes[kBytes];
};

// Where tile number `tile` begins; tiles run along the rows of src.
template <int kTile>
struct TileOrigin {
  int64_t row;
  int64_t col;
  __device__ TileOrigin(int64_t tile, int64_t across) {
    if (tile <= UINT32_MAX && across <= UINT32_MAX) {  // a 32-bit division is several times shorter
      const auto t = static_cast<uint32_t>(tile);
      const auto a = static_cast<uint32_t>(across);
      row = int64_t{t / a} * kTile;
      col = int64_t{t % a} * kTile;
    } else {
      row = tile / across * kTile;
      col = tile % across * kTile;
    }
  }
};

template <class T, int kTile>
__global__ void __launch_bounds__(kThreads) padded_kernel(const TransposeLaunch launch, int64_t across, int64_t tiles) {
  __shared__ T shared[kTile][kTile + 1];
  const auto* src = static_cast<const T*>(launch.src);
  auto* dst = static_cast<T*>(launch.dst);
  const int lane = threadIdx.x % kTile;
  const int first = threadIdx.x / kTile;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const TileOrigin<kTile> origin(tile, across);
    for (int r = first; r < kTile; r += kThreads / kTile) {
      const int64_t row = origin.row + r;
      const int64_t col = origin.col + lane;
      if (row < launch.rows && col < launch.cols) shared[r][lane] = src[row * launch.src_ld + col];
    }
    __syncthreads();
    for (int c = first; c < kTile; c += kThreads / kTile) {
      const int64_t row = origin.row + lane;
      const int64_t col = origin.col + c;
      if (row < launch.rows && col < launch.cols) dst[col * launch.dst_ld + row] = shared[lane][c];
    }
    __syncthreads();
  }
}

// Elements kVector apart in a row of 16 bytes. pitch: 4 bytes past a multiple of 128, or one element where that is longer.
template <int kBytes>
struct Vec16 {
  static constexpr int kTile = static_cast<int>(transpose_vec16_tile(kBytes));
  static constexpr int kVector = 16 / kBytes;
  static constexpr int kPitch = kTile + (kBytes >= 4 ? 1 : 4 / kBytes);
  static constexpr int kAcross = kTile / kVector;  // words in a row of the tile
  static constexpr int kRowsAtOnce = kThreads / kAcross;
  static constexpr int kPasses = kTile / kRowsAtOnce;
  using Element = Aligned<kBytes>;
  union Word {
    uint4 word;
    Element element[kVector];
    __device__ Word() {}
  };
};

template <int kBytes>
__global__ void __launch_bounds__(kThreads) vec16_kernel(const TransposeLaunch launch, int64_t across, int64_t tiles) {
  using V = Vec16<kBytes>;
  using Element = typename V::Element;
  using Word = typename V::Word;
  __shared__ Element shared[V::kTile][V::kPitch];
  const auto* src = static_cast<const Element*>(launch.src);
  auto* dst = static_cast<Element*>(launch.dst);
  const int along = static_cast<int>(threadIdx.x) % V::kAcross * V::kVector;
  const int first = static_cast<int>(threadIdx.x) / V::kAcross;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const TileOrigin<V::kTile> origin(tile, across);
    const int64_t col = origin.col + along;
    Word in[V::kPasses];
#pragma unroll
    for (int pass = 0; pass < V::kPasses; ++pass) {
      const int64_t row = origin.row + first + pass * V::kRowsAtOnce;
      const Element* from = src + row * launch.src_ld + col;
      if (row < launch.rows && col + V::kVector <= launch.cols) {
        in[pass].word = __ldcs(reinterpret_cast<const uint4*>(from));
      } else if (row < launch.rows) {
#pragma unroll
        for (int i = 0; i < V::kVector; ++i) {
          if (col + i < launch.cols) in[pass].element[i] = from[i];
        }
      }
    }
#pragma unroll
    for (int pass = 0; pass < V::kPasses; ++pass) {
#pragma unroll
      for (int i = 0; i < V::kVector; ++i) shared[first + pass * V::kRowsAtOnce][along + i] = in[pass].element[i];
    }
    __syncthreads();
    const int64_t row = origin.row + along;
#pragma unroll
    for (int pass = 0; pass < V::kPasses; ++pass) {
      const int c = first + pass * V::kRowsAtOnce;
      const int64_t out_row = origin.col + c;
      Element* to = dst + out_row * launch.dst_ld + row;
      Word out;
#pragma unroll
      for (int i = 0; i < V::kVector; ++i) out.element[i] = shared[along + i][c];
      if (out_row < launch.cols && row + V::kVector <= launch.rows) {
        __stcs(reinterpret_cast<uint4*>(to), out.word);
      } else if (out_row < launch.cols) {
#pragma unroll
        for (int i = 0; i < V::kVector; ++i) {
          if (row + i < launch.rows) to[i] = out.element[i];
        }
      }
    }
    __syncthreads();
  }
}

int64_t tiles_along(int64_t extent, int64_t tile) { return extent / tile + (extent % tile != 0 ? 1 : 0); }

template <class Kernel>
cudaError_t start(Kernel kernel, int64_t tile, const TransposeLaunch& launch, cudaStream_t stream) {
  const int64_t across = tiles_along(launch.cols, tile);
  return enqueue(kernel, static_cast<unsigned>(launch.grid), kThreads, stream, launch, across,
                 across * tiles_along(launch.rows, tile));
}

// Calls f with the element's size as a compile-time constant.
template <class F>
cudaError_t for_size(int64_t element_bytes, const F& f) {
  switch (element_bytes) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 4:
      return f.template operator()<4>();
    case 8:
      return f.template operator()<8>();
    case 16:
      return f.template operator()<16>();
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t transpose_tile_vec16(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream) {
  return for_size(element_bytes,
                  [&]<int kBytes>() { return start(vec16_kernel<kBytes>, Vec16<kBytes>::kTile, launch, stream); });
}

cudaError_t transpose_tile_padded(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream) {
  return for_size(element_bytes, [&]<int kBytes>() {
    return start(padded_kernel<Aligned<kBytes>, kTransposePaddedTile>, kTransposePaddedTile, launch, stream);
  });
}

cudaError_t transpose_tile_bytes(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream) {
  return for_size(element_bytes, [&]<int kBytes>() {
    return start(padded_kernel<Bytes<kBytes>, kTransposePaddedTile>, kTransposePaddedTile, launch, stream);
  });
}

cudaError_t transpose_preload() {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const cudaError_t error = for_size(bytes, [&]<int kBytes>() {
      cudaFuncAttributes attributes;
      const cudaError_t e = cudaFuncGetAttributes(&attributes, vec16_kernel<kBytes>);
      return e != cudaSuccess
                 ? e
                 : cudaFuncGetAttributes(&attributes, padded_kernel<Aligned<kBytes>, kTransposePaddedTile>);
    });
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace gpumem::kernels
