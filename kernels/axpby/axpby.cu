// z = alpha x + beta y.
// Moves: reads each operand whose factor is not 0 once and writes z once, n elements each.
// Access: words (vec16, vec16_store): a thread keeps several 16-byte words of z in flight. An operand with the same
//         misalignment is read in the same words. Another one is read by element: the two or four loads of a word hit
//         the same sectors. The first block handles the ends of z.
//         bytes: one element per thread, byte by byte, for any address.
// A thread reads only the elements of z that it overwrites itself, so z may be x or y.
#include <algorithm>
#include <bit>

#include "kernels/alignment.hpp"
#include "kernels/axpby/axpby.hpp"
#include "kernels/axpby/operands.cuh"
#include "kernels/enqueue.cuh"
#include "kernels/rounded.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kAxpbyThreads;

// An operand that is not read costs neither a load nor arithmetic.
template <bool kReadsX, bool kReadsY, class T>
__device__ T axpby(const AxpbyOperands<T>& o, T x, T y) {
  if constexpr (kReadsX && kReadsY) return canonical(sum(product(o.alpha, x), product(o.beta, y)));
  if constexpr (kReadsX) return canonical(product(o.alpha, x));
  if constexpr (kReadsY) return canonical(product(o.beta, y));
  return T{0};
}

template <class Access, bool kReadsX, bool kReadsY, class T>
__device__ void one_element(const AxpbyOperands<T>& o, int64_t i) {
  T x{};
  T y{};
  if constexpr (kReadsX) x = Access::load(o.x + i);
  if constexpr (kReadsY) y = Access::load(o.y + i);
  Access::store(o.z + i, axpby<kReadsX, kReadsY>(o, x, y));
}

template <bool kReadsX, bool kReadsY, class T>
__global__ void __launch_bounds__(kThreads) bytes_kernel(const __grid_constant__ AxpbyOperands<T> o) {
  synchronize_and_trigger();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < o.n; i += step) {
    one_element<Bytewise, kReadsX, kReadsY>(o, i);
  }
}

enum class Reads { nothing, elements, words };

template <class T>
struct alignas(16) Word {
  static constexpr int kElements = 16 / sizeof(T);
  T element[kElements];
};

// Explicit 16-byte accesses with ordinary caching. Without them, a compiler sometimes splits a store into its elements.
template <class T>
__device__ Word<T> whole_word(const T* p) {
  return std::bit_cast<Word<T>>(__ldca(reinterpret_cast<const uint4*>(p)));
}
template <class T>
__device__ void store_word(T* p, const Word<T>& word) {
  __stwb(reinterpret_cast<uint4*>(p), std::bit_cast<uint4>(word));
}

template <Reads kReads, class T>
__device__ Word<T> load_word(const T* p) {
  Word<T> word{};
  if constexpr (kReads == Reads::words) word = whole_word(p);
  if constexpr (kReads == Reads::elements) {
#pragma unroll
    for (int k = 0; k < Word<T>::kElements; ++k) word.element[k] = p[k];
  }
  return word;
}

// head: elements before the first 16-byte boundary of z. `words` words follow it.
template <Reads kX, Reads kY, class T>
__global__ void __launch_bounds__(kThreads)
    words_kernel(const __grid_constant__ AxpbyOperands<T> o, int64_t head, int64_t words) {
  synchronize_and_trigger();
  constexpr bool kReadsX = kX != Reads::nothing;
  constexpr bool kReadsY = kY != Reads::nothing;
  constexpr int kElements = Word<T>::kElements;
  constexpr int64_t kTile = int64_t{kThreads} * kAxpbyWords;
  for (int64_t tile = blockIdx.x * kTile; tile < words; tile += gridDim.x * kTile) {
    Word<T> x[kAxpbyWords];
    Word<T> y[kAxpbyWords];
#pragma unroll
    for (int k = 0; k < kAxpbyWords; ++k) {
      const int64_t word = tile + k * kThreads + threadIdx.x;
      if (word >= words) break;
      x[k] = load_word<kX>(o.x + head + word * kElements);
      y[k] = load_word<kY>(o.y + head + word * kElements);
    }
#pragma unroll
    for (int k = 0; k < kAxpbyWords; ++k) {
      const int64_t word = tile + k * kThreads + threadIdx.x;
      if (word >= words) break;
      Word<T> z;
#pragma unroll
      for (int e = 0; e < kElements; ++e) z.element[e] = axpby<kReadsX, kReadsY>(o, x[k].element[e], y[k].element[e]);
      store_word(o.z + head + word * kElements, z);
    }
  }
  if (blockIdx.x != 0) return;
  const int64_t tail = head + words * kElements + threadIdx.x;
  if (threadIdx.x < head) one_element<Aligned, kReadsX, kReadsY>(o, threadIdx.x);
  if (tail < o.n) one_element<Aligned, kReadsX, kReadsY>(o, tail);
}

template <class Kernel, class T, class... More>
LaunchResult start(Kernel kernel, const Config& config, const Launch& launch, const AxpbyOperands<T>& operands,
                   More... more) {
  return enqueue_programmatic(kernel, static_cast<unsigned>(config.grid), kThreads, launch, operands, more...);
}

template <class F>
LaunchResult for_operands(const AxpbyParams& params, const F& f) {
  const auto with_type = [&]<class T>() {
    if (params.x != nullptr && params.y != nullptr) return f.template operator()<T, true, true>();
    if (params.x != nullptr) return f.template operator()<T, true, false>();
    if (params.y != nullptr) return f.template operator()<T, false, true>();
    return f.template operator()<T, false, false>();
  };
  return for_float_or_double(params.dtype, with_type);
}

Reads reads_of(const void* operand, const void* z) {
  if (operand == nullptr) return Reads::nothing;
  return misalignment(operand) == misalignment(z) ? Reads::words : Reads::elements;
}

template <class F>
LaunchResult for_reads(Reads reads, const F& f) {
  if (reads == Reads::words) return f.template operator()<Reads::words>();
  if (reads == Reads::elements) return f.template operator()<Reads::elements>();
  return f.template operator()<Reads::nothing>();
}

template <class T>
LaunchResult start_words(const AxpbyParams& params, const Config& config, const Launch& launch) {
  const AxpbyOperands<T> o = operands_of<T>(params);
  const int64_t head = std::min(to_boundary(o.z, 16) / static_cast<int64_t>(sizeof(T)), o.n);
  const int64_t words = (o.n - head) / Word<T>::kElements;
  return for_reads(reads_of(o.x, o.z), [&]<Reads kX>() {
    return for_reads(reads_of(o.y, o.z),
                     [&]<Reads kY>() { return start(words_kernel<kX, kY, T>, config, launch, o, head, words); });
  });
}

}  // namespace

LaunchResult axpby_vec16(const AxpbyParams& params, const Config& config, const Launch& launch) {
  return for_float_or_double(params.dtype, [&]<class T>() { return start_words<T>(params, config, launch); });
}
// The words kernel reads each operand in the widest way that its alignment allows.
LaunchResult axpby_vec16_store(const AxpbyParams& params, const Config& config, const Launch& launch) {
  return axpby_vec16(params, config, launch);
}

LaunchResult axpby_bytes(const AxpbyParams& params, const Config& config, const Launch& launch) {
  return for_operands(params, [&]<class T, bool kReadsX, bool kReadsY>() {
    return start(bytes_kernel<kReadsX, kReadsY, T>, config, launch, operands_of<T>(params));
  });
}

LaunchResult axpby_preload() {
  return preload(words_kernel<Reads::words, Reads::nothing, float>, words_kernel<Reads::words, Reads::words, float>,
                 words_kernel<Reads::words, Reads::nothing, double>, words_kernel<Reads::words, Reads::words, double>);
}

}  // namespace gpumem::kernels
