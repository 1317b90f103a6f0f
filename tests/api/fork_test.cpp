// A child process: handles from before the fork give GPUMEM_FORKED, and the child can start afresh on the host.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "api/every_call.hpp"
#include "api/gate.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

// Runs f in a child process, which ends with its return value. A child that hangs is ended by a signal.
void expect_child(const std::function<int()>& f) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    _exit(f());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child was ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the child's step of that number failed";
}

// Uses a new host context in the way of a program; 0 when all went well, else the number of the step that did not.
int use_a_host_context() {
  gpumem_ctx_options options;
  if (gpumem_ctx_options_init(&options, sizeof options) != GPUMEM_OK) return 101;
  options.device = GPUMEM_DEVICE_HOST;
  options.host_threads = 3;
  gpumem_ctx* ctx = nullptr;
  if (gpumem_ctx_create(&options, &ctx) != GPUMEM_OK) return 102;
  constexpr int64_t kCount = int64_t{4} << 20;
  void* p = nullptr;
  if (gpumem_alloc_pinned(ctx, kCount * 4, &p) != GPUMEM_OK) return 103;
  const int32_t two = 2;
  if (gpumem_fill_async(ctx, p, &two, 4, kCount, nullptr) != GPUMEM_OK) return 104;
  int64_t sum = 0;
  if (gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), kCount, 1, &sum) != GPUMEM_OK) return 105;
  if (sum != 2 * kCount) return 106;
  if (gpumem_free(ctx, p) != GPUMEM_OK) return 107;
  if (gpumem_ctx_destroy(ctx) != GPUMEM_OK) return 108;
  return 0;
}

constexpr const char* kNoThreadsInChild =
    "a sanitizer's run-time can't be relied on to start threads in the child of a process that has some";

class Fork : public testing::TestWithParam<On> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ok(gpumem_ctx_warmup(ctx)));  // so that there are threads, which the child will not have
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    ASSERT_TRUE(ok(gpumem_event_create(ctx, &event)));
    ASSERT_TRUE(ok(gpumem_event_record(ctx, event, stream)));
    ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  }
  void TearDown() override {
    EXPECT_TRUE(ok(gpumem_event_destroy(event))) << "the parent's handles must go on to work";
    EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
  }

  Context ctx{GetParam(), 3};
  gpumem_stream* stream = nullptr;
  gpumem_event* event = nullptr;
  Outputs out;
};

TEST_P(Fork, InheritedHandlesAreForked) {
  expect_child([&] {
    int step = 0;
    for (const auto& call : calls_with_context(out)) {
      ++step;
      if (call.run(ctx) != GPUMEM_FORKED) return step;
    }
    if (gpumem_stream_destroy(stream) != GPUMEM_FORKED) return 51;
    if (gpumem_event_destroy(event) != GPUMEM_FORKED) return 52;
    if (gpumem_event_synchronize(event) != GPUMEM_FORKED) return 53;
    if (gpumem_event_elapsed(event, event, &out.seconds) != GPUMEM_FORKED) return 54;
    if (!contains_word(last_error(), "start")) return 55;
    return out.untouched() ? 0 : 56;
  });
  EXPECT_TRUE(ok(gpumem_ctx_status(ctx)));
}

TEST_P(Fork, TheChildCanMakeAHostContext) {
  if (kSanitized) GTEST_SKIP() << kNoThreadsInChild;
  expect_child(use_a_host_context);
  int64_t sum = 0;
  const std::vector<int32_t> x(10, 1);
  EXPECT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 10, 1, &sum)));
}

TEST_P(Fork, InheritedHandlesStayForkedBesideNewOnes) {
  if (kSanitized) GTEST_SKIP() << kNoThreadsInChild;
  expect_child([&] {
    if (gpumem_ctx_status(ctx) != GPUMEM_FORKED) return 1;
    if (const int step = use_a_host_context(); step != 0) return step;
    if (gpumem_ctx_status(ctx) != GPUMEM_FORKED) return 2;
    if (gpumem_stream_destroy(stream) != GPUMEM_FORKED) return 3;
    gpumem_ctx_options options;
    if (gpumem_ctx_options_init(&options, sizeof options) != GPUMEM_OK) return 4;
    options.device = GPUMEM_DEVICE_HOST;
    gpumem_ctx* own = nullptr;
    if (gpumem_ctx_create(&options, &own) != GPUMEM_OK) return 5;
    if (gpumem_stream_query(own, stream) != GPUMEM_FORKED) return 6;
    if (gpumem_event_record(own, event, nullptr) != GPUMEM_FORKED) return 7;
    return gpumem_ctx_destroy(own) == GPUMEM_OK ? 0 : 8;
  });
}

TEST_P(Fork, AGrandchildCanStartAfreshToo) {
  if (kSanitized) GTEST_SKIP() << kNoThreadsInChild;
  expect_child([&] {
    gpumem_ctx_options options;
    if (gpumem_ctx_options_init(&options, sizeof options) != GPUMEM_OK) return 1;
    options.device = GPUMEM_DEVICE_HOST;
    gpumem_ctx* own = nullptr;
    if (gpumem_ctx_create(&options, &own) != GPUMEM_OK) return 2;
    const pid_t grandchild = fork();
    if (grandchild < 0) return 3;
    if (grandchild == 0) {
      if (gpumem_ctx_status(own) != GPUMEM_FORKED) _exit(4);
      if (gpumem_ctx_status(ctx) != GPUMEM_FORKED) _exit(5);
      _exit(use_a_host_context());
    }
    int status = 0;
    if (waitpid(grandchild, &status, 0) != grandchild || !WIFEXITED(status)) return 6;
    if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
    if (gpumem_ctx_status(own) != GPUMEM_OK) return 7;
    return gpumem_ctx_destroy(own) == GPUMEM_OK ? 0 : 8;
  });
}

INSTANTIATE_TEST_SUITE_P(On, Fork, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(ForkInTheMidst, OfWorkDoesNotHangTheChild) {
  if (kSanitized) GTEST_SKIP() << kNoThreadsInChild;
  Gate gate;
  Bytes held(size_t{64} << 20);
  const Context ctx(gate.options(On::host));
  {
    const OpenAtEnd open(gate);
    gate.close();
    const char pattern = 1;
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, held.data(), &pattern, 1, static_cast<int64_t>(held.size()), nullptr)));
    ASSERT_TRUE(gate.reached());
    expect_child([&] { return gpumem_ctx_destroy(ctx) == GPUMEM_FORKED ? use_a_host_context() : 1; });
  }
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
}

TEST(ForkFirst, AChildOfAProcessWithoutContextsWorks) { expect_child(use_a_host_context); }

}  // namespace
}  // namespace gpumem_test
