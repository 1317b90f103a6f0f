// dst[i] = src[i] as another type.
// Moves: reads n elements and writes n.
// Access: vectors (vec16): an access has as many elements as make 16 bytes of the wider type. A thread keeps one to
//         four in flight. If src is aligned differently from dst, it is read by element, which hits the same sectors.
//         The first block handles the ends.
//         elements (scalar, bytes): one element per thread, in one access or byte by byte for any address. The types
//           are looked up at run time, so that one kernel serves all of them.
// A thread reads only the elements of dst that it overwrites itself, so dst may be src.
#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "kernels/alignment.hpp"
#include "kernels/convert/convert.hpp"
#include "kernels/convert/element.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kConvertThreads;

template <class T, int kCount>
struct alignas(kCount * sizeof(T)) Vector {
  T element[kCount];
};

struct Vectors {
  const void* src;
  void* dst;
  int64_t n;
  int64_t head;    // elements before the first boundary of dst
  int64_t count;   // vectors after the head
  bool congruent;  // src has its boundary at the same element
};

// Vectors of 1 to 16 bytes are stored as one word of their size. A compiler still splits them sometimes.
template <class T, int kCount>
__device__ void store_vector(T* p, const Vector<T, kCount>& v) {
  using Word = WordOf<kCount * sizeof(T)>;
  *reinterpret_cast<Word*>(p) = std::bit_cast<Word>(v);
}

template <int kCount, bool kCongruent, class T>
__device__ Vector<T, kCount> load_vector(const T* p) {
  using Word = WordOf<kCount * sizeof(T)>;
  if constexpr (kCongruent) {
    return std::bit_cast<Vector<T, kCount>>(*reinterpret_cast<const Word*>(p));
  } else {
    Vector<T, kCount> v;
#pragma unroll
    for (int e = 0; e < kCount; ++e) v.element[e] = p[e];
    return v;
  }
}

template <class To, class From, int kCount>
__device__ Vector<To, kCount> vector_of(const Vector<From, kCount>& in) {
  if constexpr (sizeof(To) == 1 && sizeof(From) == 1 && kCount % 4 == 0) {
    // Between i8 and u8, an element with its highest bit set becomes the bound of the other type: four at a time.
    auto words = std::bit_cast<std::array<uint32_t, kCount / 4>>(in);
    for (uint32_t& word : words) {
      const uint32_t set = (word >> 7 & 0x01010101u) * 0xffu;
      if (!std::is_same_v<To, From>) word = (word & ~set) | (std::is_signed_v<To> ? set & 0x7f7f7f7fu : 0u);
    }
    return std::bit_cast<Vector<To, kCount>>(words);
  } else {
    Vector<To, kCount> out;
#pragma unroll
    for (int e = 0; e < kCount; ++e) out.element[e] = converted<To>(in.element[e]);
    return out;
  }
}

template <class To, class From, bool kCongruent>
__device__ void convert_all(const Vectors& o) {
  constexpr int kEach = convert_vector(sizeof(To), sizeof(From));
  const From* src = static_cast<const From*>(o.src) + o.head;
  To* dst = static_cast<To*>(o.dst) + o.head;
  constexpr int kVectors = convert_vectors(sizeof(From), sizeof(To), kIsSixteen<To>);
  constexpr int64_t kTile = int64_t{kThreads} * kVectors;
#pragma unroll 1
  for (int64_t tile = blockIdx.x * kTile; tile < o.count; tile += gridDim.x * kTile) {
    Vector<From, kEach> in[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const int64_t at = tile + k * kThreads + threadIdx.x;
      if (at < o.count) in[k] = load_vector<kEach, kCongruent>(src + at * kEach);
    }
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const int64_t at = tile + k * kThreads + threadIdx.x;
      if (at >= o.count) break;
      store_vector(dst + at * kEach, vector_of<To>(in[k]));
    }
  }
}

// A separate path for congruent operands. Otherwise a compiler would split words that are only copied.
template <class To, class From>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const __grid_constant__ Vectors o) {
  synchronize_and_trigger();
  o.congruent ? convert_all<To, From, true>(o) : convert_all<To, From, false>(o);
  if (blockIdx.x != 0) return;
  const auto* src = static_cast<const From*>(o.src);
  auto* dst = static_cast<To*>(o.dst);
  const int64_t tail = o.head + o.count * convert_vector(sizeof(To), sizeof(From)) + threadIdx.x;
  if (threadIdx.x < o.head) dst[threadIdx.x] = converted<To>(src[threadIdx.x]);
  if (tail < o.n) dst[tail] = converted<To>(src[tail]);
}

// The type, of three, that represents every element of T.
template <class T>
__device__ auto exact(T v) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return v;
  } else if constexpr (kIsInteger<T>) {
    return int64_t{v};
  } else {
    return converted<double>(v);
  }
}

template <class Access, class Exact>
__device__ __noinline__ void store_as(gpumem_dtype dtype, void* dst, int64_t i, Exact v) {
  for_type(dtype, [&]<gpumem_dtype kTo>() {
    using To = ElementOf<kTo>;
    Access::store(static_cast<To*>(dst) + i, converted<To>(v));
  });
}

template <class Access>
__global__ void __launch_bounds__(kThreads) elements_kernel(const __grid_constant__ ConvertParams p) {
  synchronize_and_trigger();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < p.n; i += step) {
    for_type(p.src_type, [&]<gpumem_dtype kFrom>() {
      store_as<Access>(p.dst_type, p.dst, i, exact(Access::load(static_cast<const ElementOf<kFrom>*>(p.src) + i)));
    });
  }
}

template <class Access>
LaunchResult elements(const ConvertParams& params, const Config& config, const Launch& launch) {
  return enqueue_programmatic(elements_kernel<Access>, static_cast<unsigned>(config.grid), kThreads, launch,
                              without_numbers(params));
}

}  // namespace

LaunchResult convert_vec16(const ConvertParams& params, const Config& config, const Launch& launch) {
  const int from = element_bytes(params.src_type);
  const int to = element_bytes(params.dst_type);
  const int each = convert_vector(from, to);
  const int64_t head = std::min(to_boundary(params.dst, int64_t{each} * to) / to, params.n);
  const bool congruent = to_boundary(static_cast<const char*>(params.src) + head * from, int64_t{each} * from) == 0;
  void (*kernel)(Vectors) = nullptr;
  for_types(params, [&]<class To, class From>() { kernel = vectors_kernel<To, From>; });
  return enqueue_programmatic(kernel, static_cast<unsigned>(config.grid), kThreads, launch,
                              {params.src, params.dst, params.n, head, (params.n - head) / each, congruent});
}

LaunchResult convert_scalar(const ConvertParams& params, const Config& config, const Launch& launch) {
  return elements<Aligned>(params, config, launch);
}
LaunchResult convert_bytes(const ConvertParams& params, const Config& config, const Launch& launch) {
  return elements<Bytewise>(params, config, launch);
}

LaunchResult convert_preload() { return preload(vectors_kernel<Half, float>); }

}  // namespace gpumem::kernels
