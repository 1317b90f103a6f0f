// The floating-point environment of the arithmetic that has one fixed result, whatever the program has set: rounding to
// nearest, subnormals in full, no traps. What was there before comes back, its flags too.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace gpumem {

// What the program has set and raised comes back at the end, whatever was computed meanwhile: the CUDA driver raises flags where it
// loads code. Nothing traps until then, nor in the threads that are started meanwhile, which take the environment with them.
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

  // MXCSR alone where nothing traps, which is all that the arithmetic goes by: the calls of <cfenv> take ten times as long. To look at
  // the other unit as well takes 0.5 ns (AMD EPYC, Zen 3).
  const unsigned before_ = _mm_getcsr();
  const bool traps_ = trap(before_);
#else
  static constexpr bool traps_ = true;
#endif
  std::fenv_t all_;
};

// The compiler does not know that arithmetic depends on any of this: it stays inside where its operands come from memory and
// its results go there, which the empty asm claims to read and write.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() noexcept {
#if defined(__x86_64__)
    _mm_setcsr(0x1f80);  // as a process begins (System V ABI, 3.4.1)
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
