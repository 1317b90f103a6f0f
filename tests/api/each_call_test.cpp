// What holds of every call: it is no cancellation point, and keeps to a floating-point environment of its own.
#include <gtest/gtest.h>
#include <pthread.h>

#include <string>

#include "api/each_call.hpp"
#include "support/odd_environments.hpp"

namespace gpumem_test {
namespace {

struct Cancelled {
  const CallOnce* call;
  gpumem_status status = -1;
  int state_after = -1;
};

// Makes the call with a cancellation pending.
void* call_cancelled(void* user) {
  auto& cancelled = *static_cast<Cancelled*>(user);
  pthread_cancel(pthread_self());
  cancelled.status = (*cancelled.call)();
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled.state_after);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  pthread_testcancel();
  return nullptr;
}

void* joined(pthread_t thread) {
  void* result = nullptr;
  EXPECT_EQ(pthread_join(thread, &result), 0);
  return result;
}

TEST(EachCall, IsNoCancellationPoint) {
  on_each_call([](const std::string& name, const CallOnce& call) {
    Cancelled cancelled{&call};
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, nullptr, call_cancelled, &cancelled), 0);
    EXPECT_EQ(joined(thread), PTHREAD_CANCELED) << name << ": the cancellation was lost";
    EXPECT_NE(cancelled.status, -1) << name << ": the thread was cancelled within the call";
    EXPECT_EQ(cancelled.state_after, PTHREAD_CANCEL_ENABLE) << name;
  });
}

TEST(EachCall, LeavesAThreadUncancellableThatWasSo) {
  on_each_call([](const std::string& name, const CallOnce& call) {
    int state = -1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    call();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    EXPECT_EQ(state, PTHREAD_CANCEL_DISABLE) << name;
  });
}

#if defined(__x86_64__)
TEST(EachCall, KeepsToAFloatEnvironmentOfItsOwn) {
  constexpr Environment kEverythingTraps = {"with every exception trapping", 0};
  on_each_call([&](const std::string& name, const CallOnce& call) {
    EXPECT_EQ(in(kEverythingTraps, [&] { call(); }), kEverythingTraps.mxcsr) << name;
  });
}
#endif

}  // namespace
}  // namespace gpumem_test
