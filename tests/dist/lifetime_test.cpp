// A gpumem_dist from its options to its end: what is refused, what keeps what alive, and the abort.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <thread>

#include "dist/two_members.hpp"
#include "support/environment.hpp"

namespace gpumem_test {
namespace {

class DistLifetime : public TwoMembers {};

TEST_P(DistLifetime, StructsBeginWithTheirDefaults) {
  gpumem_dist_options options;
  ASSERT_TRUE(ok(gpumem_dist_options_init(&options, sizeof options)));
  EXPECT_EQ(options.contexts, nullptr);
  EXPECT_EQ(options.reserved0, 0);
  EXPECT_EQ(options.transport, nullptr);
  EXPECT_EQ(options.deadline_s, 60);
  gpumem_dist_plan_options plan;
  ASSERT_TRUE(ok(gpumem_dist_plan_options_init(&plan, sizeof plan)));
  EXPECT_EQ(plan.workspace_bytes, int64_t{256} << 20);
  gpumem_dist_layout layout;
  ASSERT_TRUE(ok(gpumem_dist_layout_init(&layout, sizeof layout)));
  EXPECT_EQ(layout.members, nullptr);
  EXPECT_EQ(layout.offsets, nullptr);
  EXPECT_EQ(layout.strides, nullptr);
  EXPECT_EQ(layout.boxes, 0);
  EXPECT_TRUE(refused(kBad, gpumem_dist_options_init(nullptr, sizeof options), {"options", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_plan_options_init(nullptr, sizeof plan), {"options", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_layout_init(nullptr, sizeof layout), {"layout", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_transport_init(nullptr, 8), {"transport", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_info_init(nullptr, 8), {"info", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_layout_init(&layout, 7), {"size", "7"}));
}

TEST_P(DistLifetime, Create) {
  const auto expect_none = [&](gpumem_status status, std::initializer_list<std::string> words, auto mistake) {
    gpumem_dist_options options = dist_options(part_);
    mistake(options);
    auto* none = no_handle<gpumem_dist>();
    const gpumem_status got = gpumem_dist_create(&options, &none);
    EXPECT_TRUE(refused(status, got, words));
    EXPECT_EQ(none, nullptr);
    EXPECT_TRUE(got != GPUMEM_OK || ok(gpumem_dist_destroy(none)));
  };
  const gpumem_dist_options sound = dist_options(part_);
  auto* none = no_handle<gpumem_dist>();
  EXPECT_TRUE(refused(kBad, gpumem_dist_create(nullptr, &none), {"options", "NULL"}));
  EXPECT_EQ(none, nullptr);
  EXPECT_TRUE(refused(kBad, gpumem_dist_create(&sound, nullptr), {"dist", "NULL"}));
  for (const int32_t members : {0, -1, INT32_MIN}) {
    expect_none(kBad, {"members", std::to_string(members)}, [&](auto& o) { o.members = members; });
  }
  expect_none(kBad, {"contexts", "NULL"}, [](auto& o) { o.contexts = nullptr; });
  expect_none(kBad, {"reserved0", "3"}, [](auto& o) { o.reserved0 = 3; });
  for (const double deadline : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    expect_none(kBad, {"deadline_s"}, [&](auto& o) { o.deadline_s = deadline; });
  }
  for (const int64_t size : {int64_t{0}, int64_t{7}, int64_t{-1}, INT64_MIN}) {
    expect_none(kBad, {"struct_size", std::to_string(size)}, [&](auto& o) { o.struct_size = size; });
  }
  gpumem_ctx* contexts[] = {ctx, nullptr};
  expect_none(kBad, {"contexts", "1", "NULL"}, [&](auto& o) { o.contexts = contexts; });
  contexts[1] = no_handle<gpumem_ctx>();
  expect_none(GPUMEM_INVALID_HANDLE, {"contexts"}, [&](auto& o) { o.contexts = contexts; });
  contexts[1] = reinterpret_cast<gpumem_ctx*>(dist_.get());
  expect_none(GPUMEM_INVALID_HANDLE, {"contexts"}, [&](auto& o) { o.contexts = contexts; });
  const gpumem_ctx_options options = options_for(On::host, 1);
  ASSERT_TRUE(ok(gpumem_ctx_create(&options, &contexts[1])));
  ASSERT_TRUE(ok(gpumem_ctx_destroy(contexts[1])));
  expect_none(GPUMEM_INVALID_HANDLE, {"contexts"}, [&](auto& o) { o.contexts = contexts; });
}

TEST_P(DistLifetime, CreateInABadEnvironment) {
  const gpumem_dist_options options = dist_options(part_);
  for (const char* value : {"Staged", "nccl", "1"}) {
    const ScopedVariable variable("GPUMEM_DIST_LINK", value);
    auto* made = no_handle<gpumem_dist>();
    EXPECT_TRUE(refused(kBad, gpumem_dist_create(&options, &made), {"GPUMEM_DIST_LINK", value, "staged"}));
    EXPECT_EQ(made, nullptr);
  }
  for (const char* value : {"", "staged"}) {
    const ScopedVariable variable("GPUMEM_DIST_LINK", value);
    gpumem_dist* made = nullptr;
    EXPECT_TRUE(ok(gpumem_dist_create(&options, &made)));
    EXPECT_TRUE(ok(gpumem_dist_destroy(made)));
  }
}

TEST_P(DistLifetime, CreateWithABadTransport) {
  static int released;
  const auto nothing_sent = [](void*, const void*, int64_t, int32_t, void**) -> int32_t { return 1; };
  const auto nothing_received = [](void*, void*, int64_t, int32_t, void**) -> int32_t { return 1; };
  const auto nothing_done = [](void*, void*, int32_t*) -> int32_t { return 1; };
  gpumem_dist_transport sound;
  ASSERT_TRUE(ok(gpumem_dist_transport_init(&sound, sizeof sound)));
  sound.size = 2;
  sound.isend = nothing_sent;
  sound.irecv = nothing_received;
  sound.test = nothing_done;
  sound.release = [](void*) { ++released; };
  const auto expect_none = [&](gpumem_status status, std::initializer_list<std::string> words, auto mistake) {
    gpumem_dist_transport transport = sound;
    gpumem_dist_options options = dist_options(part_, &transport, 0.5);
    mistake(transport, options);
    SCOPED_TRACE(words.size() == 0 ? "" : *words.begin());
    auto* none = no_handle<gpumem_dist>();
    EXPECT_TRUE(refused(status, gpumem_dist_create(&options, &none), words));
    EXPECT_EQ(none, nullptr);
  };
  expect_none(kBad, {"isend", "NULL"}, [](auto& t, auto&) { t.isend = nullptr; });
  expect_none(kBad, {"irecv", "NULL"}, [](auto& t, auto&) { t.irecv = nullptr; });
  expect_none(kBad, {"test", "NULL"}, [](auto& t, auto&) { t.test = nullptr; });
  for (const int32_t rank : {-1, 2, INT32_MAX}) {
    expect_none(kBad, {"rank", std::to_string(rank)}, [&](auto& t, auto&) { t.rank = rank; });
  }
  for (const int32_t size : {0, -2}) {
    expect_none(kBad, {"size", std::to_string(size)}, [&](auto& t, auto&) { t.size = size; });
  }
  expect_none(kBad, {"struct_size", "0"}, [](auto& t, auto&) { t.struct_size = 0; });
  released = 0;
  expect_none(kBad, {"members", "0"}, [](auto& t, auto& o) {
    t.size = 1;
    o.members = 0;
  });
  EXPECT_EQ(released, 1) << "whatever else was wrong";
  expect_none(GPUMEM_PEER_LOST, {}, [](auto&, auto&) {});
  EXPECT_EQ(released, 2);
  // One process needs nothing of it, and release may be NULL.
  sound.size = 1;
  for (const bool releases : {true, false}) {
    gpumem_dist_transport transport = sound;
    if (!releases) transport.release = nullptr;
    make_dist(part_, &transport).reset();
    EXPECT_EQ(released, 3);
  }
}

TEST_P(DistLifetime, HandlesThatAreNone) {
  auto* const dist = no_handle<gpumem_dist>();
  auto* const as_dist = reinterpret_cast<gpumem_dist*>(static_cast<gpumem_ctx*>(ctx));
  gpumem_dist_info info;
  ASSERT_TRUE(ok(gpumem_dist_info_init(&info, sizeof info)));
  const Layout slabs = two_slabs();
  const View view(slabs, 0, 2);
  for (gpumem_dist* none : {dist, as_dist}) {
    auto* plan = no_handle<gpumem_dist_plan>();
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_query(none, &info), {"dist"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_abort(none), {"dist"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_destroy(none), {"dist"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_plan_reduce(none, &view.raw, nullptr, &plan), {"dist"}));
    EXPECT_EQ(plan, nullptr);
  }
  EXPECT_TRUE(refused(kBad, gpumem_dist_query(nullptr, &info), {"dist", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_query(dist_.get(), nullptr), {"info", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_abort(nullptr), {"dist", "NULL"}));
  EXPECT_TRUE(ok(gpumem_dist_destroy(nullptr)));
  EXPECT_TRUE(ok(gpumem_dist_plan_destroy(nullptr)));
  auto* const plan = no_handle<gpumem_dist_plan>();
  auto* const as_plan = reinterpret_cast<gpumem_dist_plan*>(dist_.get());
  const void* x[2] = {};
  void* y[2] = {};
  double result = 0;
  int64_t index = 0;
  for (gpumem_dist_plan* none : {plan, as_plan}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_execute(none, x, y), {"plan"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_execute_async(none, x, y, nullptr), {"plan"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_reduce(none, GPUMEM_F32, GPUMEM_SUM, x, &result), {"plan"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_argreduce(none, GPUMEM_F32, GPUMEM_MAX, x, &result, &index),
                        {"plan"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_dot(none, GPUMEM_F32, x, x, &result), {"plan"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_nrm2(none, GPUMEM_F32, x, &result), {"plan"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_HANDLE, gpumem_dist_explain(none, GPUMEM_FORMAT_TEXT, nullptr, 0, &index), {"plan"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, gpumem_dist_plan_destroy(none), {"plan"}));
  }
  gpumem_dist* gone = make_dist(part_).release();
  EXPECT_TRUE(ok(gpumem_dist_destroy(gone)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, gpumem_dist_destroy(gone)));
  gpumem_dist_plan* gone_plan = make_reduction().release();
  EXPECT_TRUE(ok(gpumem_dist_plan_destroy(gone_plan)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, gpumem_dist_plan_destroy(gone_plan)));
}

TEST_P(DistLifetime, WhatLivesKeepsItsParentBusy) {
  EXPECT_TRUE(gives(GPUMEM_BUSY, gpumem_ctx_destroy(ctx)));
  EXPECT_TRUE(gives(GPUMEM_BUSY, gpumem_ctx_destroy(other_)));
  Plan one = make_reduction(), other = make_halo();
  EXPECT_TRUE(refused(GPUMEM_BUSY, gpumem_dist_destroy(dist_.get()), {"2"}));
  one.reset();
  EXPECT_TRUE(gives(GPUMEM_BUSY, gpumem_dist_destroy(dist_.get())));
  EXPECT_EQ(info_of(dist_.get()).status, GPUMEM_OK) << "nothing was changed";
  const std::vector<float> x(24, 1.5f);
  const void* const pointers[] = {x.data(), x.data()};
  double result = 0;
  one = make_reduction();
  EXPECT_TRUE(ok(gpumem_dist_reduce(one.get(), GPUMEM_F32, GPUMEM_SUM, pointers, &result)));
  EXPECT_EQ(result, 36);
}

TEST_P(DistLifetime, HandlesOfTheParentAreNoneInAForkedChild) {
  const Plan plan = make_reduction();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    gpumem_dist_info info;
    info.struct_size = sizeof info;
    const void* x[2] = {};
    double result = 0;
    int wrong = gpumem_dist_query(dist_.get(), &info) == GPUMEM_FORKED ? 0 : 1;
    wrong += gpumem_dist_abort(dist_.get()) == GPUMEM_FORKED ? 0 : 2;
    wrong += gpumem_dist_reduce(plan.get(), GPUMEM_F32, GPUMEM_SUM, x, &result) == GPUMEM_FORKED ? 0 : 4;
    wrong += gpumem_dist_plan_destroy(plan.get()) == GPUMEM_FORKED ? 0 : 8;
    wrong += gpumem_dist_destroy(dist_.get()) == GPUMEM_FORKED ? 0 : 16;
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "a bit for each call";
}

TEST_P(DistLifetime, AnAbortSticks) {
  const Plan plan = make_reduction();
  const std::vector<float> numbers(24, 1.0f);
  const void* const x[] = {numbers.data(), numbers.data() + 12};
  double result = 42;
  ASSERT_TRUE(ok(gpumem_dist_abort(dist_.get())));
  EXPECT_EQ(info_of(dist_.get()).status, GPUMEM_PEER_LOST);
  EXPECT_TRUE(gives(GPUMEM_PEER_LOST, gpumem_dist_reduce(plan.get(), GPUMEM_F32, GPUMEM_SUM, x, &result)));
  EXPECT_EQ(result, 42);
  EXPECT_FALSE(last_error().empty());
  EXPECT_TRUE(ok(gpumem_dist_abort(dist_.get()))) << "a second time";
  const Layout slabs = two_slabs();
  const View view(slabs, 0, 2);
  auto* none = no_handle<gpumem_dist_plan>();
  EXPECT_TRUE(gives(GPUMEM_PEER_LOST, reduce(&view.raw, &none)));
  EXPECT_EQ(none, nullptr);
}

TEST_P(DistLifetime, AnAbortEndsWhatIsUnderWay) {
  Random random(7);
  PlannedMove move(dist_.get(), part_, random_move(2, 20000, random), nullptr, random);
  std::atomic<bool> began = false;
  std::thread aborts([&] {
    while (!began) std::this_thread::yield();
    EXPECT_TRUE(ok(gpumem_dist_abort(dist_.get())));
  });
  gpumem_status status = GPUMEM_OK;
  for (int64_t i = 0; status == GPUMEM_OK; ++i) {
    status = move.execute();
    began = true;
  }
  aborts.join();
  EXPECT_TRUE(gives(GPUMEM_PEER_LOST, status));
}

INSTANTIATE_TEST_SUITE_P(On, DistLifetime, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
