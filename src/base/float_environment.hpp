// The floating-point environment for reproducible results, whatever the program has set: rounding to nearest,
// subnormals, no traps. Restores the program's environment and flags.
#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace gpumem {

// Restores the program's settings and flags at the end, because the CUDA driver raises flags as it loads code. Until
// then nothing traps, also in threads started meanwhile, which inherit the environment.
class KeptFloatEnvironment {
 public:
  KeptFloatEnvironment() noexcept {
    if (traps_) std::feholdexcept(&all_);
  }
  ~KeptFloatEnvironment() {
    if (traps_) {
      std::fesetenv(&all_);
#if defined(__x86_64__)
    } else if (_mm_getcsr() != before_) {
      _mm_setcsr(before_);
#endif
    }
  }
  KeptFloatEnvironment(const KeptFloatEnvironment&) = delete;
  KeptFloatEnvironment& operator=(const KeptFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  static bool trap(unsigned mxcsr) noexcept {
    unsigned short x87 = 0;
    asm volatile("fnstcw %0" : "=m"(x87));
    return (mxcsr & 0x1f80) != 0x1f80 || (x87 & 0x3f) != 0x3f;
  }

  // Without traps, only MXCSR is kept, because the arithmetic depends on nothing else. The calls of <cfenv> take ten
  // times as long. The read of the x87 control word takes 0.5 ns (AMD EPYC, Zen 3).
  const unsigned before_ = _mm_getcsr();
  const bool traps_ = trap(before_);
#else
  static constexpr bool traps_ = true;
#endif
  std::fenv_t all_;
};

// Keeps arithmetic inside the environment if operands and results are in memory, which the empty asm claims to access.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() noexcept {
#if defined(__x86_64__)
    _mm_setcsr(0x1f80);  // initial value of a process (System V ABI, 3.4.1)
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));  // FE_DFL_ENV keeps bits that change f16 and NaNs
#else
    std::fesetenv(FE_DFL_ENV);
#endif
    asm volatile("" ::: "memory");
  }
  ~DefaultFloatEnvironment() { asm volatile("" ::: "memory"); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  const KeptFloatEnvironment kept_;
};

}  // namespace gpumem
