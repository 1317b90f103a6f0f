// Included before every kernel source: CUDA's language, on the processor. What a kernel may use of CUDA stands here; what is missing
// does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>  // before __noinline__, which it has a use for of its own
#include <source_location>
#include <tuple>
#include <type_traits>

#include "emulation/arithmetic.hpp"
#include "emulation/grid.hpp"
#include "emulation/textures.hpp"

#undef __shared__
#undef __launch_bounds__
#define __shared__ static
#define __launch_bounds__(...)
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif

// ------------------------------------------------------------------------------------------------------- barriers

inline void __syncthreads(const std::source_location& site = std::source_location::current()) {
  gpumem_emulation::block_barrier(false, site);
}
inline int __syncthreads_count(int predicate, const std::source_location& site = std::source_location::current()) {
  return gpumem_emulation::block_barrier(predicate != 0, site).held;
}
inline int __syncthreads_or(int predicate, const std::source_location& site = std::source_location::current()) {
  return gpumem_emulation::block_barrier(predicate != 0, site).held > 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate, const std::source_location& site = std::source_location::current()) {
  const auto arrivals = gpumem_emulation::block_barrier(predicate != 0, site);
  return arrivals.held == arrivals.threads ? 1 : 0;
}

inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       const std::source_location& site = std::source_location::current()) {
  gpumem_emulation::leave_warp(gpumem_emulation::meet_warp(mask, gpumem_emulation::Exchange::barrier, 0, site));
}

// ---------------------------------------------------------------------------------------------------------- votes

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              const std::source_location& site = std::source_location::current()) {
  auto& met = gpumem_emulation::meet_warp(mask, gpumem_emulation::Exchange::vote, predicate != 0 ? 1 : 0, site);
  unsigned votes = 0;
  for (int i = 0; i < 32; ++i) votes |= (met.there >> i & 1) != 0 && met.value[i] != 0 ? 1u << i : 0;
  gpumem_emulation::leave_warp(met);
  return votes;
}
inline int __any_sync(unsigned mask, int predicate,
                      const std::source_location& site = std::source_location::current()) {
  return __ballot_sync(mask, predicate, site) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      const std::source_location& site = std::source_location::current()) {
  return __ballot_sync(mask, predicate == 0 ? 1 : 0, site) == 0 ? 1 : 0;
}

// -------------------------------------------------------------------------------------------------------- shuffles

namespace gpumem_emulation {

template <class T>
concept Shuffled = std::is_arithmetic_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
uint64_t to_word(T v) {
  uint64_t word = 0;
  std::memcpy(&word, &v, sizeof v);
  return word;
}
template <class T>
T from_word(uint64_t word) {
  T v;
  std::memcpy(&v, &word, sizeof v);
  return v;
}

[[noreturn]] void missing_lane(int source, const std::source_location& site);

// source: the lane whose value the calling one gets.
template <Shuffled T>
T shuffle(unsigned mask, T v, int source, const std::source_location& site) {
  Gathered& met = meet_warp(mask, Exchange::shuffle, to_word(v), site);
  if ((met.there >> source & 1) == 0) missing_lane(source, site);
  const T taken = from_word<T>(met.value[source]);
  leave_warp(met);
  return taken;
}

inline int first_of_part(int width) { return static_cast<int>(lane()) / width * width; }

template <class T, class F>
T reduced(unsigned mask, T v, const F& f, const std::source_location& site) {
  Gathered& met = meet_warp(mask, Exchange::reduction, to_word(v), site);
  T result = v;
  for (int i = 0; i < 32; ++i) {
    if ((met.there >> i & 1) != 0 && i != static_cast<int>(lane())) result = f(result, from_word<T>(met.value[i]));
  }
  leave_warp(met);
  return result;
}

}  // namespace gpumem_emulation

template <gpumem_emulation::Shuffled T>
T __shfl_sync(unsigned mask, T v, int source, int width = 32,
              const std::source_location& site = std::source_location::current()) {
  return gpumem_emulation::shuffle(mask, v, gpumem_emulation::first_of_part(width) + source % width, site);
}
template <gpumem_emulation::Shuffled T>
T __shfl_xor_sync(unsigned mask, T v, int distance, int width = 32,
                  const std::source_location& site = std::source_location::current()) {
  const int lane = static_cast<int>(gpumem_emulation::lane());
  const int source = lane ^ distance;
  return gpumem_emulation::shuffle(mask, v, source < gpumem_emulation::first_of_part(width) + width ? source : lane,
                                   site);
}
template <gpumem_emulation::Shuffled T>
T __shfl_down_sync(unsigned mask, T v, unsigned distance, int width = 32,
                   const std::source_location& site = std::source_location::current()) {
  const int lane = static_cast<int>(gpumem_emulation::lane());
  const int source = lane + static_cast<int>(distance);
  return gpumem_emulation::shuffle(mask, v, source < gpumem_emulation::first_of_part(width) + width ? source : lane,
                                   site);
}
template <gpumem_emulation::Shuffled T>
T __shfl_up_sync(unsigned mask, T v, unsigned distance, int width = 32,
                 const std::source_location& site = std::source_location::current()) {
  const int lane = static_cast<int>(gpumem_emulation::lane());
  const int source = lane - static_cast<int>(distance);
  return gpumem_emulation::shuffle(mask, v, source >= gpumem_emulation::first_of_part(width) ? source : lane, site);
}

template <class T>
T __reduce_add_sync(unsigned mask, T v, const std::source_location& site = std::source_location::current()) {
  return gpumem_emulation::reduced(
      mask, v, [](T a, T b) { return a + b; }, site);
}
template <class T>
T __reduce_min_sync(unsigned mask, T v, const std::source_location& site = std::source_location::current()) {
  return gpumem_emulation::reduced(
      mask, v, [](T a, T b) { return a < b ? a : b; }, site);
}
template <class T>
T __reduce_max_sync(unsigned mask, T v, const std::source_location& site = std::source_location::current()) {
  return gpumem_emulation::reduced(
      mask, v, [](T a, T b) { return a > b ? a : b; }, site);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned v,
                                 const std::source_location& site = std::source_location::current()) {
  return gpumem_emulation::reduced(
      mask, v, [](unsigned a, unsigned b) { return a | b; }, site);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned v,
                                  const std::source_location& site = std::source_location::current()) {
  return gpumem_emulation::reduced(
      mask, v, [](unsigned a, unsigned b) { return a & b; }, site);
}

// ------------------------------------------------------------------------------------------- memory, one access each

// An access must be aligned to its size, as on the device.
namespace gpumem_emulation {

[[noreturn]] void misaligned(const void* p, size_t bytes, const std::source_location& site);

template <class T>
T load(const T* p, const std::source_location& site) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof(T) != 0) misaligned(p, sizeof(T), site);
  return *p;
}
template <class T>
void store(T* p, const T& v, const std::source_location& site) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof(T) != 0) misaligned(p, sizeof(T), site);
  *p = v;
}

}  // namespace gpumem_emulation

// Cache hints: __ldcs, __stcs and the like.
#define GPUMEM_EMULATION_LOAD(name)                                                        \
  template <class T>                                                                       \
  T name(const T* p, const std::source_location& site = std::source_location::current()) { \
    return gpumem_emulation::load(p, site);                                                \
  }
#define GPUMEM_EMULATION_STORE(name)                                              \
  template <class T>                                                              \
  void name(T* p, const std::type_identity_t<T>& v,                               \
            const std::source_location& site = std::source_location::current()) { \
    gpumem_emulation::store(p, v, site);                                          \
  }
GPUMEM_EMULATION_LOAD(__ldg)
GPUMEM_EMULATION_LOAD(__ldca)
GPUMEM_EMULATION_LOAD(__ldcg)
GPUMEM_EMULATION_LOAD(__ldcs)
GPUMEM_EMULATION_LOAD(__ldlu)
GPUMEM_EMULATION_LOAD(__ldcv)
GPUMEM_EMULATION_STORE(__stwb)
GPUMEM_EMULATION_STORE(__stcg)
GPUMEM_EMULATION_STORE(__stcs)
GPUMEM_EMULATION_STORE(__stwt)

// Atomics: one thread of the device runs at a time, but the host may look on.
namespace gpumem_emulation {

template <class T, class F>
T replaced(T* p, const F& f) {
  std::atomic_ref<T> at(*p);
  const T before = at.load();
  at.store(f(before));
  return before;
}

}  // namespace gpumem_emulation

template <class T>
T atomicAdd(T* p, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [v](T old) { return static_cast<T>(old + v); });
}
template <class T>
T atomicSub(T* p, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [v](T old) { return static_cast<T>(old - v); });
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [v](T old) { return v < old ? v : old; });
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [v](T old) { return v > old ? v : old; });
}
template <class T>
T atomicAnd(T* p, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [v](T old) { return static_cast<T>(old & v); });
}
template <class T>
T atomicOr(T* p, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [v](T old) { return static_cast<T>(old | v); });
}
template <class T>
T atomicXor(T* p, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [v](T old) { return static_cast<T>(old ^ v); });
}
template <class T>
T atomicExch(T* p, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [v](T) { return v; });
}
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) {
  return gpumem_emulation::replaced(p, [expected, v](T old) { return old == expected ? v : old; });
}
inline unsigned atomicInc(unsigned* p, unsigned last) {
  return gpumem_emulation::replaced(p, [last](unsigned old) { return old >= last ? 0u : old + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned last) {
  return gpumem_emulation::replaced(p, [last](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}

// ------------------------------------------------------------------------------------- the runtime's C++ templates

template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* function) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}

namespace gpumem_emulation {

// Enqueues a launch on a stream, as the <<<>>> of CUDA does.
cudaError_t launch(Kernel kernel, cudaStream_t stream);

}  // namespace gpumem_emulation
