// Transposes of narrow matrices: between an array of structures (the packed side) and a structure of arrays (the
// planes).
// Moves: 2 * batches * rows * cols * element bytes.
// Access: a block moves a run of structures through shared memory, which holds them as planes. It accesses the packed
//         side in memory order, and a piece of each plane. An access has 16 bytes on a side that is aligned to 16 bytes
//         everywhere (and, if packed, has no padding), otherwise one element. Elements of 4 bytes and more go to shared
//         memory without registers.
// Shapes: at most 32 rows or columns, any element at its natural alignment.
#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "kernels/limits.hpp"
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr uint32_t kThreads = kAosSoaThreads;

struct Structures {
  uint32_t width;  // elements of a structure
  uint32_t pitch;  // elements of shared memory between planes
  uint32_t lanes;  // lanes that share a structure
  uint32_t apart;  // distance between these lanes in banks, see Place::shared()
  uint32_t
      of_width;  // 2^32 / width rounded up; a multiplication by it replaces a division, exactly for numbers below 2^15
  uint32_t of_tile;    // 2^32 / tile rounded up
  uint32_t of_words;   // 2^32 / (tile in 16-byte words) rounded up
  uint32_t tile;       // structures per block
  int64_t structures;  // per matrix
  bool packed_words;   // 16 bytes per access
  bool plane_words;
};

__device__ uint32_t quotient_of(uint32_t a, uint32_t reciprocal) {
  return static_cast<uint32_t>(uint64_t{a} * reciprocal >> 32);
}

// Quotient and remainder of a number that grows by the block's threads, without another division.
struct Stepping {
  uint32_t quotient;
  uint32_t rest;
  uint32_t divisor;
  uint32_t quotient_step;
  uint32_t rest_step;
  __device__ Stepping(uint32_t first, uint32_t by, uint32_t reciprocal)
      : quotient(by == 1 ? first : quotient_of(first, reciprocal)),
        rest(first - quotient * by),
        divisor(by),
        quotient_step(by == 1 ? kThreads : quotient_of(kThreads, reciprocal)),
        rest_step(kThreads - quotient_step * by) {}
  __device__ void step() {
    quotient += quotient_step;
    rest += rest_step;
    const bool over = rest >= divisor;
    rest -= over ? divisor : 0;
    quotient += over ? 1 : 0;
  }
};

template <int kBytes>
struct NarrowSides {
  using Element = WordOf<kBytes>;
  static constexpr uint32_t kVector = 16 / kBytes;
  static constexpr bool kAsync = kBytes >= 4;
  using Word = ElementWord<kBytes>;

  struct Place {
    uint32_t structure;
    uint32_t member;
    // Runs of 16 bytes of a plane stay together. Lanes that each have 16 bytes of one structure use different banks.
    __device__ uint32_t shared(const Structures& n) const {
      return member * n.pitch + (structure ^ (member / kVector & (n.lanes - 1)) * n.apart);
    }
    __device__ int64_t packed(int64_t ld) const { return structure * ld + member; }
    __device__ int64_t plane(int64_t ld) const { return member * ld + structure; }
  };
  // Places by element of the packed run, by element or word of the planes' pieces, and by element outside the words.
  static __device__ Place in_run(const Structures& n, uint32_t e) {
    const uint32_t structure = n.width == 1 ? e : quotient_of(e, n.of_width);
    return {structure, e - structure * n.width};
  }
  static __device__ Place in_planes(const Structures& n, uint32_t e) {
    const uint32_t plane = quotient_of(e, n.of_tile);
    return {e - plane * n.tile, plane};
  }
  static __device__ Place word_in_planes(const Structures& n, uint32_t w) {
    const uint32_t plane = quotient_of(w, n.of_words);
    return {w * kVector - plane * n.tile, plane};
  }
  static __device__ Place after_words(uint32_t in_words, uint32_t item) {
    return {in_words + item % kVector, item / kVector};
  }

  static __device__ void bring(Element* shared, const Element* from) {
    if constexpr (kAsync) {
      __pipeline_memcpy_async(shared, from, kBytes);
    } else {
      *shared = *from;
    }
  }
  static __device__ void wait() {
    if constexpr (kAsync) {
      __pipeline_commit();
      __pipeline_wait_prior(0);
    }
    __syncthreads();
  }

  // Calls f(k, place) for each element k in 16 bytes of the packed run.
  template <class F>
  static __device__ void for_elements(const Structures& n, uint32_t word, const F& f) {
    Place place = in_run(n, word * kVector);
#pragma unroll
    for (uint32_t k = 0; k < kVector; ++k) {
      f(k, place);
      const bool last = ++place.member == n.width;
      place.structure += last ? 1 : 0;
      place.member = last ? 0 : place.member;
    }
  }

  static __device__ void load_packed(const Structures& n, const Element* from, int64_t ld, uint32_t count,
                                     Element* shared) {
    const uint32_t all = count * n.width;
    uint32_t done = 0;
    if constexpr (!kAsync) {  // such elements are too small for asynchronous copies
      if (n.packed_words) {
        const uint32_t words = all / kVector;
#pragma unroll 2
        for (uint32_t w = threadIdx.x; w < words; w += kThreads) {
          Word word;
          word.word = __ldcs(reinterpret_cast<const uint4*>(from) + w);
          for_elements(n, w, [&](uint32_t k, const Place& place) { shared[place.shared(n)] = word.element[k]; });
        }
        done = words * kVector;
      }
    }
    Stepping at(done + threadIdx.x, n.width, n.of_width);
    if (kAsync && ld == n.width) {
      const Element* p = from + threadIdx.x;
#pragma unroll 4
      for (uint32_t e = threadIdx.x; e < all; e += kThreads, p += kThreads, at.step()) {
        bring(shared + at.rest * n.pitch + at.quotient, p);
      }
    } else {
#pragma unroll 4
      for (uint32_t e = done + threadIdx.x; e < all; e += kThreads, at.step()) {
        const Place place{at.quotient, at.rest};
        bring(shared + place.shared(n), from + place.packed(ld));
      }
    }
    wait();
  }

  static __device__ void store_packed(const Structures& n, const Element* shared, uint32_t count, Element* to,
                                      int64_t ld) {
    const uint32_t all = count * n.width;
    const uint32_t words = n.packed_words ? all / kVector : 0;
    for (uint32_t w = threadIdx.x; w < words; w += kThreads) {
      Word word;
      for_elements(n, w, [&](uint32_t k, const Place& place) { word.element[k] = shared[place.shared(n)]; });
      __stcs(reinterpret_cast<uint4*>(to) + w, word.word);
    }
    for (uint32_t e = words * kVector + threadIdx.x; e < all; e += kThreads) {
      const Place place = in_run(n, e);
      to[place.packed(ld)] = shared[place.shared(n)];
    }
  }

  static __device__ void load_planes(const Structures& n, const Element* from, int64_t ld, uint32_t count,
                                     Element* shared) {
    if (!n.plane_words) {
#pragma unroll 4
      for (uint32_t e = threadIdx.x; e < n.width * n.tile; e += kThreads) {
        const Place place = in_planes(n, e);
        if (place.structure < count) bring(shared + place.shared(n), from + place.plane(ld));
      }
      return wait();
    }
    const uint32_t in_words = count / kVector * kVector;
    for (uint32_t w = threadIdx.x; w < n.width * (n.tile / kVector); w += kThreads) {
      const Place place = word_in_planes(n, w);
      if (place.structure < in_words) {
        __pipeline_memcpy_async(shared + place.shared(n), from + place.plane(ld), 16);
      }
    }
    for (uint32_t item = threadIdx.x; item < n.width * kVector; item += kThreads) {
      const Place place = after_words(in_words, item);
      if (place.structure < count) shared[place.shared(n)] = from[place.plane(ld)];
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
  }

  static __device__ void store_planes(const Structures& n, Element* shared, uint32_t count, Element* to, int64_t ld) {
    if (!n.plane_words) {
      for (uint32_t e = threadIdx.x; e < n.width * n.tile; e += kThreads) {
        const Place place = in_planes(n, e);
        if (place.structure < count) to[place.plane(ld)] = shared[place.shared(n)];
      }
      return;
    }
    const uint32_t in_words = count / kVector * kVector;
    Stepping at(threadIdx.x, n.tile / kVector, n.of_words);
    for (uint32_t w = threadIdx.x; w < n.width * (n.tile / kVector); w += kThreads, at.step()) {
      const Place place{at.rest * kVector, at.quotient};
      if (place.structure >= in_words) continue;
      __stcs(reinterpret_cast<uint4*>(to + place.plane(ld)), *reinterpret_cast<uint4*>(shared + place.shared(n)));
    }
    for (uint32_t item = threadIdx.x; item < n.width * kVector; item += kThreads) {
      const Place place = after_words(in_words, item);
      if (place.structure < count) to[place.plane(ld)] = shared[place.shared(n)];
    }
  }
};

template <int kBytes, bool kFromPacked>
__global__ void __launch_bounds__(kAosSoaThreads, resident_blocks(4, kAosSoaThreads))
    aos_soa_kernel(const __grid_constant__ TransposeParams params, const __grid_constant__ Structures n,
                   const Tiles tiles) {
  using Sides = NarrowSides<kBytes>;
  using Element = typename Sides::Element;
  alignas(16) __shared__ Element shared[kAosSoaShared / kBytes];
  synchronize_and_trigger();
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const Quotient matrix(tile, tiles.per_matrix);
    const int64_t first = matrix.rest * n.tile;
    const auto count = static_cast<uint32_t>(n.structures - first < n.tile ? n.structures - first : n.tile);
    const auto* src = static_cast<const Element*>(params.src) + matrix.quotient * params.src_batch_stride;
    auto* dst = static_cast<Element*>(params.dst) + matrix.quotient * params.dst_batch_stride;
    if (kFromPacked) {
      Sides::load_packed(n, src + first * params.src_ld, params.src_ld, count, shared);
      Sides::store_planes(n, shared, count, dst + first, params.dst_ld);
    } else {
      Sides::load_planes(n, src + first, params.src_ld, count, shared);
      Sides::store_packed(n, shared, count, dst + first * params.dst_ld, params.dst_ld);
    }
    __syncthreads();
  }
}

bool in_words(const void* p, int64_t step_bytes, int64_t batch_bytes) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0 && step_bytes % 16 == 0 && batch_bytes % 16 == 0;
}

Structures narrow_of(int64_t bytes, const TransposeParams& l, bool from_packed) {
  const int64_t width = from_packed ? l.cols : l.rows;
  const int64_t tile = aos_soa_tile(bytes, width);
  const bool src_tight = l.src_ld == l.cols || l.rows == 1;
  const bool dst_tight = l.dst_ld == l.rows || l.cols == 1;
  const auto reciprocal = [](int64_t of) { return static_cast<uint32_t>(((int64_t{1} << 32) + of - 1) / of); };
  Structures n{};
  n.width = static_cast<uint32_t>(width);
  n.pitch = static_cast<uint32_t>(aos_soa_pitch(bytes, width, tile));
  n.tile = static_cast<uint32_t>(tile);
  n.of_width = reciprocal(width);
  n.of_tile = reciprocal(tile);
  n.of_words = reciprocal(tile / (16 / bytes));
  n.structures = from_packed ? l.rows : l.cols;
  const bool src_words =
      in_words(l.src, from_packed ? tile * width * bytes : l.src_ld * bytes, l.src_batch_stride * bytes);
  const bool dst_words =
      in_words(l.dst, from_packed ? l.dst_ld * bytes : tile * width * bytes, l.dst_batch_stride * bytes);
  n.packed_words = from_packed ? src_words && src_tight : dst_words && dst_tight;
  n.plane_words = from_packed ? dst_words : src_words;
  // Only if lanes take 16 bytes of the packed side at a time.
  const auto vector = static_cast<uint32_t>(16 / bytes);
  const bool by_words = n.packed_words && (!from_packed || bytes < 4);
  const bool shared_structure = by_words && (n.width & (n.width - 1)) == 0 && n.width > vector;
  n.lanes = shared_structure ? n.width / vector : 1;
  n.apart = std::max(static_cast<uint32_t>(std::min<int64_t>(32, 128 / bytes)) / n.lanes, vector);
  return n;
}

}  // namespace

LaunchResult transpose_aos_soa(const TransposeParams& params, const Config& config, const Launch& launch) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    const bool from_packed = params.cols <= params.rows;
    const Structures n = narrow_of(kBytes, params, from_packed);
    const int64_t per_matrix = tiles_along(n.structures, n.tile);
    const Tiles tiles{1, per_matrix, per_matrix * params.batches};
    return enqueue_programmatic(from_packed ? aos_soa_kernel<kBytes, true> : aos_soa_kernel<kBytes, false>,
                                static_cast<unsigned>(config.grid), kAosSoaThreads, launch, params, n, tiles);
  });
}

}  // namespace gpumem::kernels
