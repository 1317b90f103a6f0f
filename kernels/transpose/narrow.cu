// Transposes of narrow matrices, with at most 16 rows or columns: the move between an array of structures (the packed side, whose
// rows are short) and a structure of arrays (the planes). 2 * batches * rows * cols * element bytes, any element at its natural
// alignment. A block takes a run of structures through shared memory; the packed side is read and written as it lies, the planes a
// piece of each. 16 bytes an access on a side where all of it begins on 16-byte boundaries (the packed side without gaps), else an
// element.
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

// One run of structures, on both sides.
struct Narrow {
  uint32_t width;       // elements of a structure
  uint32_t pitch;       // of a structure in shared memory, in elements
  uint32_t reciprocal;  // 2^32 / width rounded up: exact for quotients of less than 2^32 / width
  uint32_t tile;        // structures a block takes, 2^log2
  uint32_t log2;
  int64_t structures;  // in a matrix
  bool packed_words;   // 16 bytes an access
  bool plane_words;
};

template <int kBytes>
struct NarrowSides {
  using Element = Aligned<kBytes>;
  static constexpr uint32_t kVector = 16 / kBytes;
  static constexpr uint32_t kThreads = kTransposeThreads;
  union Word {
    uint4 word;
    Element element[kVector];
    __device__ Word() {}
  };

  // Where element e of the packed run lies in shared memory, and in memory with rows ld apart.
  struct Place {
    uint32_t structure;
    uint32_t member;
    __device__ Place(const Narrow& n, uint32_t e)
        : structure(n.width == 1 ? e : static_cast<uint32_t>(uint64_t{e} * n.reciprocal >> 32)),
          member(e - structure * n.width) {}
    __device__ uint32_t shared(const Narrow& n) const { return structure * n.pitch + member; }
    __device__ int64_t memory(int64_t ld) const { return structure * ld + member; }
  };

  static __device__ void load_packed(const Narrow& n, const Element* from, int64_t ld, uint32_t count,
                                     Element* shared) {
    const uint32_t all = count * n.width;
    uint32_t words = 0;
    if (n.packed_words) {
      words = all / kVector;
#pragma unroll 4
      for (uint32_t w = threadIdx.x; w < words; w += kThreads) {
        Word word;
        word.word = __ldcs(reinterpret_cast<const uint4*>(from) + w);
#pragma unroll
        for (uint32_t i = 0; i < kVector; ++i) shared[Place(n, w * kVector + i).shared(n)] = word.element[i];
      }
    }
#pragma unroll 4
    for (uint32_t e = words * kVector + threadIdx.x; e < all; e += kThreads) {
      const Place place(n, e);
      shared[place.shared(n)] = from[place.memory(ld)];
    }
  }

  static __device__ void store_packed(const Narrow& n, const Element* shared, uint32_t count, Element* to, int64_t ld) {
    const uint32_t all = count * n.width;
    uint32_t words = 0;
    if (n.packed_words) {
      words = all / kVector;
      for (uint32_t w = threadIdx.x; w < words; w += kThreads) {
        Word word;
#pragma unroll
        for (uint32_t i = 0; i < kVector; ++i) word.element[i] = shared[Place(n, w * kVector + i).shared(n)];
        __stcs(reinterpret_cast<uint4*>(to) + w, word.word);
      }
    }
    for (uint32_t e = words * kVector + threadIdx.x; e < all; e += kThreads) {
      const Place place(n, e);
      to[place.memory(ld)] = shared[place.shared(n)];
    }
  }

  // A plane's piece of count elements: whole words first, then what is left.
  static __device__ void load_planes(const Narrow& n, const Element* from, int64_t ld, uint32_t count,
                                     Element* shared) {
    uint32_t in_words = 0;
    if (n.plane_words) {
      in_words = count / kVector * kVector;
      const uint32_t words = n.tile / kVector;
#pragma unroll 4
      for (uint32_t item = threadIdx.x; item < n.width * words; item += kThreads) {
        const uint32_t plane = item / words;  // a power of two, as the tile
        const uint32_t at = item % words * kVector;
        if (at >= in_words) continue;
        Word word;
        word.word = __ldcs(reinterpret_cast<const uint4*>(from + plane * ld + at));
#pragma unroll
        for (uint32_t i = 0; i < kVector; ++i) shared[(at + i) * n.pitch + plane] = word.element[i];
      }
      for (uint32_t item = threadIdx.x; item < n.width * kVector; item += kThreads) {
        const uint32_t at = in_words + item % kVector;
        if (at < count) shared[at * n.pitch + item / kVector] = from[item / kVector * ld + at];
      }
      return;
    }
#pragma unroll 4
    for (uint32_t item = threadIdx.x; item < n.width << n.log2; item += kThreads) {
      const uint32_t plane = item >> n.log2;
      const uint32_t at = item & (n.tile - 1);
      if (at < count) shared[at * n.pitch + plane] = from[plane * ld + at];
    }
  }

  static __device__ void store_planes(const Narrow& n, const Element* shared, uint32_t count, Element* to, int64_t ld) {
    if (n.plane_words) {
      const uint32_t in_words = count / kVector * kVector;
      const uint32_t words = n.tile / kVector;
      for (uint32_t item = threadIdx.x; item < n.width * words; item += kThreads) {
        const uint32_t plane = item / words;
        const uint32_t at = item % words * kVector;
        if (at >= in_words) continue;
        Word word;
#pragma unroll
        for (uint32_t i = 0; i < kVector; ++i) word.element[i] = shared[(at + i) * n.pitch + plane];
        __stcs(reinterpret_cast<uint4*>(to + plane * ld + at), word.word);
      }
      for (uint32_t item = threadIdx.x; item < n.width * kVector; item += kThreads) {
        const uint32_t at = in_words + item % kVector;
        if (at < count) to[item / kVector * ld + at] = shared[at * n.pitch + item / kVector];
      }
      return;
    }
    for (uint32_t item = threadIdx.x; item < n.width << n.log2; item += kThreads) {
      const uint32_t plane = item >> n.log2;
      const uint32_t at = item & (n.tile - 1);
      if (at < count) to[plane * ld + at] = shared[at * n.pitch + plane];
    }
  }
};

template <int kBytes, bool kFromPacked>
__global__ void __launch_bounds__(kTransposeThreads)
    narrow_kernel(const TransposeLaunch launch, const Narrow n, const Tiles tiles) {
  using Sides = NarrowSides<kBytes>;
  using Element = typename Sides::Element;
  __shared__ Element shared[kTransposeNarrowShared / kBytes];
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const Quotient matrix(tile, tiles.per_matrix);
    const int64_t first = matrix.rest * n.tile;
    const auto count = static_cast<uint32_t>(n.structures - first < n.tile ? n.structures - first : n.tile);
    const auto* src = static_cast<const Element*>(launch.src) + matrix.quotient * launch.src_batch_stride;
    auto* dst = static_cast<Element*>(launch.dst) + matrix.quotient * launch.dst_batch_stride;
    if (kFromPacked) {
      Sides::load_packed(n, src + first * launch.src_ld, launch.src_ld, count, shared);
      __syncthreads();
      Sides::store_planes(n, shared, count, dst + first, launch.dst_ld);
    } else {
      Sides::load_planes(n, src + first, launch.src_ld, count, shared);
      __syncthreads();
      Sides::store_packed(n, shared, count, dst + first * launch.dst_ld, launch.dst_ld);
    }
    __syncthreads();
  }
}

bool in_words(const void* p, int64_t step_bytes, int64_t batch_bytes) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0 && step_bytes % 16 == 0 && batch_bytes % 16 == 0;
}

Narrow narrow_of(int64_t bytes, const TransposeLaunch& l, bool from_packed) {
  const int64_t width = from_packed ? l.cols : l.rows;
  const int64_t tile = transpose_narrow_tile(bytes, width);
  const bool src_tight = l.src_ld == l.cols || l.rows == 1;
  const bool dst_tight = l.dst_ld == l.rows || l.cols == 1;
  Narrow n{};
  n.width = static_cast<uint32_t>(width);
  n.pitch = n.width | 1;
  n.reciprocal = static_cast<uint32_t>(((uint64_t{1} << 32) + n.width - 1) / n.width);
  n.tile = static_cast<uint32_t>(tile);
  while ((1u << n.log2) < n.tile) ++n.log2;
  n.structures = from_packed ? l.rows : l.cols;
  const bool src_words =
      in_words(l.src, from_packed ? tile * width * bytes : l.src_ld * bytes, l.src_batch_stride * bytes);
  const bool dst_words =
      in_words(l.dst, from_packed ? l.dst_ld * bytes : tile * width * bytes, l.dst_batch_stride * bytes);
  n.packed_words = from_packed ? src_words && src_tight : dst_words && dst_tight;
  n.plane_words = from_packed ? dst_words : src_words;
  return n;
}

}  // namespace

cudaError_t transpose_narrow(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream) {
  return for_size(element_bytes, [&]<int kBytes>() {
    const bool from_packed = launch.cols <= launch.rows;
    const Narrow n = narrow_of(kBytes, launch, from_packed);
    const int64_t per_matrix = tiles_along(n.structures, n.tile);
    const Tiles tiles{1, per_matrix, per_matrix * launch.batches};
    return start(from_packed ? narrow_kernel<kBytes, true> : narrow_kernel<kBytes, false>, launch.grid, stream, launch,
                 n, tiles);
  });
}

}  // namespace gpumem::kernels
