// What holds of every call: it is no cancellation point, and keeps to a floating-point environment of its own.
#include <fenv.h>
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
    EXPECT_EQ(in(kEverythingTraps, [&] { call(); }), kEverythingTraps.control) << name;
  });
}

// What a call starts, the threads of the CUDA driver too, begins in the environment of the call.
TEST(EachCall, DoesNotTrapMeanwhile) {
  static unsigned meanwhile = 0;
  static unsigned short x87 = 0;
  gpumem_ctx_options options = options_for(On::host, 2);
  options.parallel_for = [](void*, int64_t tasks, gpumem_task_fn task, void* state) {
    meanwhile = environment_now();
    asm volatile("fnstcw %0" : "=m"(x87));
    for (int64_t i = 0; i < tasks; ++i) task(state, i);
  };
  gpumem_ctx* ctx = nullptr;
  ASSERT_TRUE(ok(gpumem_ctx_create(&options, &ctx)));
  std::vector<char> x(size_t{16} << 20);
  gpumem_status status = -1;
  const auto call = [&] { status = gpumem_fill(ctx, x.data(), "7", 1, 16 << 20); };
  EXPECT_EQ(in({"trapping", kTrapping}, call), kTrapping);
  EXPECT_TRUE(ok(status));
  EXPECT_EQ(x[12345], '7');
  EXPECT_EQ(meanwhile & kNormal, kNormal);
  // The other unit, which long double goes by: feenableexcept() has both trap.
  const int before = fegetexcept();
  feenableexcept(FE_DIVBYZERO);
  call();
  const int after = fegetexcept();
  fedisableexcept(FE_ALL_EXCEPT);
  feenableexcept(before);
  EXPECT_EQ(after, before | FE_DIVBYZERO);
  EXPECT_EQ(x87 & FE_ALL_EXCEPT, FE_ALL_EXCEPT);
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
}
#endif

}  // namespace
}  // namespace gpumem_test
