// Waits on a condition variable.
#pragma once

#include <condition_variable>
#include <mutex>

#include <pthread.h>

namespace gpumem {

// Like changed.wait(lock, met), whose symbol of GCC 12 the libstdc++ of GCC 11 (RHEL 9) lacks.
template <class Met>
void await(std::condition_variable& changed, const std::unique_lock<std::mutex>& lock, const Met& met) {
  while (!met()) pthread_cond_wait(changed.native_handle(), lock.mutex()->native_handle());
}

}  // namespace gpumem
