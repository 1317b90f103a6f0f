// Floating-point environments that a program may have set: without subnormals, rounding elsewhere than to nearest, trapping.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>

#include <thread>
#include <vector>

#include "gpumem.h"

namespace gpumem_test {

inline constexpr unsigned kNormal = 0x1F80;                 // every exception masked, to nearest
inline constexpr unsigned kOdd = 0x1F80 | 0x8040 | 0x4000;  // flush to zero, denormals are zero, upwards
inline constexpr unsigned kTrapping = 0x1900;  // as feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW)
inline constexpr unsigned kOddAndTrapping = 0x1900 | 0x8040 | 0x6000;

struct Environment {
  const char* name;
  unsigned mxcsr;
};
inline constexpr Environment kEnvironments[] = {
    {"normal", kNormal},
    {"without subnormals, upwards", kOdd},
    {"with exceptions that trap", kTrapping},
    {"without subnormals, to zero, with exceptions that trap", kOddAndTrapping}};

// Runs f in the environment and says what became of it. f makes no floating-point operation of its own.
template <class F>
unsigned in(const Environment& environment, F f) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(environment.mxcsr);
  f();
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
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
    for (const unsigned mxcsr : after) pool.kept = pool.kept && mxcsr == pool.environment.mxcsr;
  }
};

}  // namespace gpumem_test

#endif
