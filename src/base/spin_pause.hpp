// The pause instruction for spin loops.
#pragma once

namespace gpumem {

inline void spin_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // yield takes no time on most processors
#endif
}

}  // namespace gpumem
