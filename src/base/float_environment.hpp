// The floating-point environment of the arithmetic that has one fixed result, whatever the program has set: rounding to
// nearest, subnormals in full, no traps. What was there before comes back, its flags too.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace gpumem {

// What the program has set and raised comes back at the end, whatever was computed meanwhile: the CUDA driver raises flags where it
// loads code. Nothing traps until then, nor in the threads that are started meanwhile, which take the environment with them.
class KeptFloatEnvironment {
 public:
  KeptFloatEnvironment() noexcept {
#if defined(__x86_64__)
    constexpr unsigned kNoTraps = 0x1f80;
    if ((before_ & kNoTraps) != kNoTraps) _mm_setcsr(before_ | kNoTraps);
#else
    std::feholdexcept(&before_);
#endif
  }
  ~KeptFloatEnvironment() {
#if defined(__x86_64__)
    if (_mm_getcsr() != before_) _mm_setcsr(before_);
#else
    std::fesetenv(&before_);
#endif
  }
  KeptFloatEnvironment(const KeptFloatEnvironment&) = delete;
  KeptFloatEnvironment& operator=(const KeptFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  // MXCSR alone, which is all that the arithmetic goes by: the calls of <cfenv> take ten times as long.
  const unsigned before_ = _mm_getcsr();
#else
  std::fenv_t before_;
#endif
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
