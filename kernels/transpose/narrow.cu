// Transposes of narrow matrices, with at most 32 rows or columns: the move between an array of structures (the packed side, whose
// rows are short) and a structure of arrays (the planes). 2 * batches * rows * cols * element bytes, any element at its natural
// alignment. A block takes a run of structures through shared memory; the packed side is read and written as it lies, the planes a
// piece of each. 16 bytes an access on a side where all of it begins on 16-byte boundaries (the packed side without gaps), else an
// element.
#include <algorithm>

#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

// One run of structures, on both sides.
struct Narrow {
  uint32_t width;  // elements of a structure
  uint32_t pitch;  // of a plane in shared memory, in elements
  uint32_t lanes;  // that share a structure, and
  uint32_t apart;  // how far apart in banks they are put: see shared()
  uint32_t
      of_width;  // 2^32 / width rounded up: what multiplies instead of dividing is exact here, where both are below 2^15
  uint32_t of_tile;    // 2^32 / tile rounded up, and
  uint32_t of_words;   // 2^32 / (tile in 16-byte words) rounded up
  uint32_t tile;       // structures a block takes
  int64_t structures;  // in a matrix
  bool packed_words;   // 16 bytes an access
  bool plane_words;
};

// kInWords: both sides are in words, which is known when the kernel is compiled and takes a third of the registers.
template <int kBytes, bool kInWords>
struct NarrowSides {
  using Element = Aligned<kBytes>;
  static constexpr uint32_t kVector = 16 / kBytes;
  static constexpr uint32_t kThreads = kTransposeNarrowThreads;
  union Word {
    uint4 word;
    Element element[kVector];
    __device__ Word() {}
  };

  static __device__ uint32_t quotient(uint32_t a, uint32_t reciprocal) {
    return static_cast<uint32_t>(uint64_t{a} * reciprocal >> 32);
  }

  // Where element e of the packed run lies in shared memory, and in memory with rows ld apart.
  struct Place {
    uint32_t structure;
    uint32_t member;
    __device__ Place(const Narrow& n, uint32_t e)
        : structure(n.width == 1 ? e : quotient(e, n.of_width)), member(e - structure * n.width) {}
    __device__ Place(uint32_t structure, uint32_t member) : structure(structure), member(member) {}
    __device__ uint32_t shared(const Narrow& n) const {
      return member * n.pitch + (structure ^ (member / kVector & (n.lanes - 1)) * n.apart);
    }
    __device__ int64_t memory(int64_t ld) const { return structure * ld + member; }
  };

  // 16 bytes of a plane lie together, at a boundary of 16 bytes.
  static __device__ uint4* word_at(const Narrow& n, Element* shared, const Place& place) {
    return reinterpret_cast<uint4*>(shared + place.shared(n));
  }

  // A thread's share of a tile: words, all under way at once, and elements in batches.
  static constexpr uint32_t kWords = kTransposeNarrowShared / 16 / kThreads;
  static constexpr uint32_t kBatch = kInWords ? 1 : 4;

  // Calls f(place) for the elements of 16 bytes of the packed run, one after the other.
  template <class F>
  static __device__ void for_elements(const Narrow& n, uint32_t word, const F& f) {
    Place place(n, word * kVector);
#pragma unroll
    for (uint32_t i = 0; i < kVector; ++i) {
      f(i, place);
      const bool last = ++place.member == n.width;
      place.structure += last ? 1 : 0;
      place.member = last ? 0 : place.member;
    }
  }

  // shared = memory, for the elements that place_of(item) gives for begin <= item < end.
  template <class PlaceOf, class Memory>
  static __device__ void load_elements(const Narrow& n, uint32_t begin, uint32_t end, Element* shared,
                                       const PlaceOf& place_of, const Memory& memory) {
    for (uint32_t base = begin + threadIdx.x; base < end; base += kBatch * kThreads) {
      Element in[kBatch];
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        if (base + i * kThreads < end) in[i] = *memory(place_of(base + i * kThreads));
      }
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        if (base + i * kThreads < end) shared[place_of(base + i * kThreads).shared(n)] = in[i];
      }
    }
  }

  static __device__ void load_packed(const Narrow& n, const Element* from, int64_t ld, uint32_t count,
                                     Element* shared) {
    const uint32_t all = count * n.width;
    const uint32_t words = kInWords || n.packed_words ? all / kVector : 0;
    Word in[kWords];
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      const uint32_t w = threadIdx.x + i * kThreads;
      if (w < words) in[i].word = __ldcs(reinterpret_cast<const uint4*>(from) + w);
    }
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      const uint32_t w = threadIdx.x + i * kThreads;
      if (w >= words) continue;
      for_elements(n, w, [&](uint32_t k, const Place& place) { shared[place.shared(n)] = in[i].element[k]; });
    }
    load_elements(
        n, words * kVector, all, shared, [&](uint32_t e) { return Place(n, e); },
        [&](const Place& place) { return from + place.memory(ld); });
  }

  static __device__ void store_packed(const Narrow& n, const Element* shared, uint32_t count, Element* to, int64_t ld) {
    const uint32_t all = count * n.width;
    const uint32_t words = kInWords || n.packed_words ? all / kVector : 0;
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      const uint32_t w = threadIdx.x + i * kThreads;
      if (w >= words) continue;
      Word word;
      for_elements(n, w, [&](uint32_t k, const Place& place) { word.element[k] = shared[place.shared(n)]; });
      __stcs(reinterpret_cast<uint4*>(to) + w, word.word);
    }
    for (uint32_t e = words * kVector + threadIdx.x; e < all; e += kThreads) {
      const Place place(n, e);
      to[place.memory(ld)] = shared[place.shared(n)];
    }
  }

  // Word number `item` of the planes' pieces, and item of what their words leave.
  static __device__ Place word_place(const Narrow& n, uint32_t item) {
    const uint32_t plane = quotient(item, n.of_words);
    return {item * kVector - plane * n.tile, plane};
  }
  static __device__ Place rest_place(uint32_t in_words, uint32_t item) {
    return {in_words + item % kVector, item / kVector};
  }
  static __device__ Place plane_place(const Narrow& n, uint32_t item) {
    const uint32_t plane = quotient(item, n.of_tile);
    return {item - plane * n.tile, plane};
  }

  // A plane's piece of count elements: whole words first, then what is left.
  static __device__ void load_planes(const Narrow& n, const Element* from, int64_t ld, uint32_t count,
                                     Element* shared) {
    const auto memory = [&](const Place& p) { return from + p.member * ld + p.structure; };
    if (!kInWords && !n.plane_words) {
      // A last tile that is not full takes rows of its own length.
      if (count == n.tile) {
        load_elements(
            n, 0, n.width * n.tile, shared, [&](uint32_t e) { return plane_place(n, e); }, memory);
      } else {
        load_elements(
            n, 0, n.width * count, shared,
            [&](uint32_t e) {
              return Place{e % count, e / count};
            },
            memory);
      }
      return;
    }
    const uint32_t in_words = count / kVector * kVector;
    const uint32_t words = n.width * (n.tile / kVector);
    uint4 in[kWords];
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      const uint32_t item = threadIdx.x + i * kThreads;
      const Place place = word_place(n, item);
      if (item < words && place.structure < in_words) in[i] = __ldcs(reinterpret_cast<const uint4*>(memory(place)));
    }
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      const uint32_t item = threadIdx.x + i * kThreads;
      const Place place = word_place(n, item);
      if (item < words && place.structure < in_words) *word_at(n, shared, place) = in[i];
    }
    for (uint32_t item = threadIdx.x; item < n.width * kVector; item += kThreads) {
      const Place place = rest_place(in_words, item);
      if (place.structure < count) shared[place.shared(n)] = *memory(place);
    }
  }

  static __device__ void store_planes(const Narrow& n, Element* shared, uint32_t count, Element* to, int64_t ld) {
    const auto memory = [&](const Place& p) { return to + p.member * ld + p.structure; };
    if (!kInWords && !n.plane_words) {
      for (uint32_t item = threadIdx.x; item < n.width * n.tile; item += kThreads) {
        const Place place = plane_place(n, item);
        if (place.structure < count) *memory(place) = shared[place.shared(n)];
      }
      return;
    }
    const uint32_t in_words = count / kVector * kVector;
    const uint32_t words = n.width * (n.tile / kVector);
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      const uint32_t item = threadIdx.x + i * kThreads;
      const Place place = word_place(n, item);
      if (item >= words || place.structure >= in_words) continue;
      __stcs(reinterpret_cast<uint4*>(memory(place)), *word_at(n, shared, place));
    }
    for (uint32_t item = threadIdx.x; item < n.width * kVector; item += kThreads) {
      const Place place = rest_place(in_words, item);
      if (place.structure < count) *memory(place) = shared[place.shared(n)];
    }
  }
};

template <int kBytes, bool kFromPacked, bool kInWords>
__global__ void __launch_bounds__(kTransposeNarrowThreads, kInWords ? 4 : 2)
    narrow_kernel(const TransposeLaunch launch, const Narrow n, const Tiles tiles) {
  using Sides = NarrowSides<kBytes, kInWords>;
  using Element = typename Sides::Element;
  alignas(16) __shared__ Element shared[kTransposeNarrowShared / kBytes];
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
  n.pitch = static_cast<uint32_t>(transpose_narrow_pitch(bytes, width, tile));
  // Lanes with 16 bytes each of the same structure write to as many planes: these they find in different banks, and each run of
  // 16 bytes of a plane stays together.
  const auto vector = static_cast<uint32_t>(16 / bytes);
  const bool shared_structure = (n.width & (n.width - 1)) == 0 && n.width > vector;
  n.lanes = shared_structure ? n.width / vector : 1;
  n.apart = std::max(static_cast<uint32_t>(std::min<int64_t>(32, 128 / bytes)) / n.lanes, vector);
  const auto reciprocal = [](int64_t of) { return static_cast<uint32_t>(((int64_t{1} << 32) + of - 1) / of); };
  n.of_width = reciprocal(width);
  n.of_tile = reciprocal(tile);
  n.of_words = reciprocal(tile / (16 / bytes));
  n.tile = static_cast<uint32_t>(tile);
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
    const bool in_words = n.packed_words && n.plane_words;
    const auto kernel = from_packed ? in_words ? narrow_kernel<kBytes, true, true> : narrow_kernel<kBytes, true, false>
                        : in_words ? narrow_kernel<kBytes, false, true>
                                    : narrow_kernel<kBytes, false, false>;
    return enqueue(kernel, static_cast<unsigned>(launch.grid), kTransposeNarrowThreads, stream, launch, n, tiles);
  });
}

}  // namespace gpumem::kernels
