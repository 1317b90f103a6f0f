// Whether memory can be accessed, asked of the kernel: a wrong answer costs a status, never a signal.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "backend/backend.hpp"

namespace gpumem {

// rt_sigprocmask copies the 8 bytes of the new mask in before it looks at `how`: EFAULT when they can't be read, EINVAL (and
// no change) otherwise. Aligned down, the 8 bytes stay inside p's page.
bool host_readable(const void* p) noexcept {
  const uintptr_t aligned = reinterpret_cast<uintptr_t>(p) & ~uintptr_t{7};
  if (aligned == 0) return false;
  const int before = errno;
  const long result = syscall(SYS_rt_sigprocmask, ~0, aligned, nullptr, 8);
  const bool readable = result == 0 || errno != EFAULT;
  errno = before;
  return readable;
}

// FUTEX_WAKE_OP adds 0 to the word atomically, so what is there stays, whoever else writes to it: EFAULT when the page can't be
// written. Nobody waits on the other word.
bool host_writable(void* p) noexcept {
  static uint32_t nobody_waits = 0;
  const uintptr_t aligned = reinterpret_cast<uintptr_t>(p) & ~uintptr_t{3};
  if (aligned == 0) return false;
  const int before = errno;
  constexpr int kAddNothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);
  const long result =
      syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, nullptr, aligned, kAddNothing);
  const bool writable = result >= 0 || errno != EFAULT;
  errno = before;
  return writable;
}

}  // namespace gpumem
