// Floating-point environments that a program may have set: without subnormals, rounding elsewhere than to nearest, trapping.
#pragma once

#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <thread>
#include <vector>

#include "gpumem.h"

namespace gpumem_test {

#if defined(__x86_64__)
inline constexpr unsigned kFlags = 0x3F;
inline constexpr unsigned kNormal = 0x1F80;                 // every exception masked, to nearest
inline constexpr unsigned kOdd = 0x1F80 | 0x8040 | 0x4000;  // flush to zero, denormals are zero, upwards
inline constexpr unsigned kTrapping = 0x1900;  // as feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW)
inline constexpr unsigned kOddAndTrapping = 0x1900 | 0x8040 | 0x6000;

inline unsigned environment_now() { return _mm_getcsr(); }
inline void set_environment(unsigned control) { _mm_setcsr(control); }
#else
// FPCR, and the flags of FPSR. Most processors have no traps.
inline constexpr unsigned kFlags = 0x9F;
inline constexpr unsigned kNormal = 0;
inline constexpr unsigned kOdd = 0x7400000;  // alternative f16, default NaNs, flush to zero, upwards
inline constexpr unsigned kTrapping = 0;
inline constexpr unsigned kOddAndTrapping = 0x7C00000;  // the same, to zero

inline unsigned environment_now() {
  uint64_t control = 0;
  uint64_t flags = 0;
  asm volatile("mrs %0, fpcr\n mrs %1, fpsr" : "=r"(control), "=r"(flags)::"memory");
  return static_cast<unsigned>(control | (flags & kFlags));
}
inline void set_environment(unsigned control) {
  const uint64_t flags = control & kFlags;
  asm volatile("msr fpcr, %0\n msr fpsr, %1" ::"r"(control - flags), "r"(flags) : "memory");
}
#endif

struct Environment {
  const char* name;
  unsigned control;
};
inline constexpr Environment kEnvironments[] = {
    {"normal", kNormal},
    {"without subnormals, upwards", kOdd},
    {"with exceptions that trap", kTrapping},
    {"without subnormals, to zero, with exceptions that trap", kOddAndTrapping}};

// Runs f in the environment and says what became of it. f makes no floating-point operation of its own.
template <class F>
unsigned in(const Environment& environment, F f) {
  const unsigned before = environment_now();
  set_environment(environment.control);
  f();
  const unsigned after = environment_now();
  set_environment(before);
  return after;
}

// The program's own pool, whose threads keep to an environment of the program's.
struct OddPool {
  Environment environment;
  bool kept = true;

  static void run(void* user, int64_t tasks, gpumem_task_fn task, void* task_state) {
    auto& pool = *static_cast<OddPool*>(user);
    std::vector<unsigned> after(static_cast<size_t>(tasks));
    std::vector<std::thread> workers;
    for (int64_t i = 0; i < tasks; ++i) {
      workers.emplace_back(
          [&, i] { after[static_cast<size_t>(i)] = in(pool.environment, [&] { task(task_state, i); }); });
    }
    for (std::thread& worker : workers) worker.join();
    for (const unsigned control : after) pool.kept = pool.kept && control == pool.environment.control;
  }
};

}  // namespace gpumem_test

#endif
