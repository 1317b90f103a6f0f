// Links that do not come up, break or are left, and mistakes of one process beside a link.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "dist/link.hpp"
#include "dist/rank_streams.hpp"
#include "emulation/gates.hpp"

namespace gpumem_test {
namespace {

// Of a call that breaks the link: it ends in time, and the status sticks.
void expect_lost(LinkedRank& rank, const std::function<gpumem_status()>& call) {
  const Clock::time_point start = Clock::now();
  gpumem_status status = GPUMEM_OK;
  for (int i = 0; i < 20 && status == GPUMEM_OK; ++i) status = call();
  EXPECT_TRUE(lost(status));
  EXPECT_LT(seconds_since(start), kEnough + 10);
  EXPECT_EQ(info_of(rank.dist.get()).status, status);
  EXPECT_TRUE(gives(status, call()));
}

// One that comes up when nobody waits for it any more is ended.
TEST_F(Link, ThatDoesNotComeUpIsDoneWithout) {
  for (const char* how : {"init", "slow_init"}) {
    const ScopedVariable fails("FAKE_NCCL", how);
    in_ranks({1, 1, 1}, [&](LinkedRank& rank) {
      rank.start(6);
      EXPECT_NE(rank.warnings.find("host memory"), std::string::npos) << rank.warnings;
      PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(3, 20000), nullptr, rank.own);
      planned.run(rank.shared);
      EXPECT_EQ(linked_bytes(planned.plan()), 0);
    });
  }
}

// The other process waits in vain. The link has half of the deadline to come up.
void lose_the_peer(LinkedRank& rank) {
  rank.start(kEnough);
  const gpumem_dist_plan_options options = plan_options(kWork);
  PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(2, 20000), &options, rank.own);
  expect_lost(rank, [&] { return planned.execute(); });
}

TEST_F(Link, ThatBreaksIsAPeerThatIsLost) {
  for (const char* how : {"connect", "send", "async", "hang", "stuck"}) {
    SCOPED_TRACE(how);
    fake_nccl_traffic();
    const ScopedVariable fails("FAKE_NCCL", how);
    in_ranks({1, 1}, lose_the_peer);
  }
}

// The streams go on, and the next call says what happened.
TEST_F(Link, ThatBreaksReleasesTheStreams) {
  for (const char* how : {"connect", "send", "async", "hang"}) {
    SCOPED_TRACE(how);
    fake_nccl_traffic();
    const ScopedVariable fails("FAKE_NCCL", how);
    in_ranks({1, 1}, [](LinkedRank& rank) {
      rank.start(kEnough);
      RankStreams streams(rank.part, rank.own);
      const gpumem_dist_plan_options options = plan_options(kWork);
      PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(2, 20000), &options, rank.own, true);
      planned.by = streams.both();
      expect_lost(rank, [&] { return planned.execute(); });
    });
  }
}

// In a process that exits, an abandoned call would use what NCCL has destroyed.
TEST_F(Link, TheExitOfTheProcessWaitsForAbandonedCalls) {
  if (cuda_devices() < 4) GTEST_SKIP() << "there are fewer than 4 devices: set GPUMEM_EMULATION_DEVICES=4";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const ScopedVariable fails("FAKE_NCCL", "stuck");
  EXPECT_EXIT(
      {
        in_ranks({1, 1}, lose_the_peer);
        std::exit(HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "it returns late");
}

TEST_F(Link, IsLeftByAnAbort) {
  const ScopedVariable fails("FAKE_NCCL", "hang");
  in_ranks({1, 1}, [&](LinkedRank& rank) {
    rank.start(30);
    const gpumem_dist_plan_options options = plan_options(kWork);
    PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(2, 20000), &options, rank.own);
    std::thread aborts([&] {
      sleep_for(0.5);
      EXPECT_TRUE(ok(gpumem_dist_abort(rank.dist.get())));
    });
    expect_lost(rank, [&] { return planned.execute(); });
    aborts.join();
  });
}

// Found before anything is sent: every process has the status at once, and all can go on.
TEST_F(Link, AMistakeOfOneProcessIsToldToAll) {
  in_ranks({1, 2, 1}, [&](LinkedRank& rank) {
    rank.start(30);
    PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(4, 20000), nullptr, rank.own);
    Layout columns{8, {800, 200}, {}};
    for (int64_t m = 0; m < 4; ++m) columns.boxes.push_back({m, {0, 50 * m}, {800, 50 * m + 50}, 0, {}});
    place_boxes(columns, rank.shared);
    PlannedReduction sum(rank.dist.get(), rank.part, columns, nullptr, rank.own);
    const std::vector<void*> nothing(static_cast<size_t>(rank.part.count()), nullptr);
    for (int culprit = 0; culprit < 3; ++culprit) {
      double value = 42;
      const Clock::time_point start = Clock::now();
      const bool mine = rank.rank == culprit;
      EXPECT_TRUE(
          gives(GPUMEM_INVALID_ARGUMENT,
                mine ? gpumem_dist_execute(planned.plan(), nothing.data(), nothing.data()) : planned.execute()));
      for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MAX}) {
        EXPECT_TRUE(
            gives(GPUMEM_INVALID_ARGUMENT, mine ? gpumem_dist_reduce(sum.plan(), GPUMEM_F64, op, nothing.data(), &value)
                                                : sum.execute(GPUMEM_F64, op)));
        EXPECT_TRUE(
            gives(GPUMEM_INVALID_ARGUMENT, mine ? gpumem_dist_reduce(sum.plan(), GPUMEM_F64, op, nullptr, nullptr)
                                                : sum.execute(GPUMEM_F64, op)));
      }
      EXPECT_EQ(value, 42);
      EXPECT_LT(seconds_since(start), 10);
      EXPECT_EQ(info_of(rank.dist.get()).status, GPUMEM_OK);
      planned.run(rank.shared);
      const Context host(On::host, 1);
      sum.run(host, GPUMEM_F64, GPUMEM_SUM, rank.shared);
    }
  });
}

// It has no room for its box without gaps, and the others wait for terms that it has.
TEST_F(Link, WantOfMemoryOfOneProcessIsToldToAll) {
  in_ranks({1, 1, 1}, [&](LinkedRank& rank) {
    const bool poor = rank.rank == 1;
    if (poor) {
      gpumem_ctx_options options = options_for_device(On::cuda, 1, 1);
      options.device_memory_limit = int64_t{16} << 20;
      rank.contexts.clear();
      rank.part.contexts.clear();
      rank.add(options);
    }
    rank.start(30);
    Layout rows{8, {300, 700}, {}};  // a leaf of 1024 terms has some of two ranks
    for (int64_t m = 0; m < 3; ++m) rows.boxes.push_back({m, {100 * m, 0}, {100 * m + 100, 700}, 0, {1024, 1}});
    const View view(rows, rank.part.first, 1);
    gpumem_dist_plan* made = nullptr;
    ASSERT_TRUE(ok(gpumem_dist_plan_reduce(rank.dist.get(), &view.raw, nullptr, &made)));
    const Plan plan(made);
    gpumem_ctx* const ctx = rank.part.contexts[0];
    std::vector<void*> taken(1);
    const double one = 1;
    ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 100 * 1024 * 8, &taken[0])));
    ASSERT_TRUE(ok(gpumem_fill(ctx, taken[0], &one, 8, 100 * 1024)));
    const void* const x[] = {taken[0]};
    double value = 0;
    const auto sum = [&] { return gpumem_dist_reduce(plan.get(), GPUMEM_F64, GPUMEM_SUM, x, &value); };
    EXPECT_TRUE(ok(sum()));
    EXPECT_EQ(value, 210000);
    gpumem_status refused = poor ? GPUMEM_OK : GPUMEM_OUT_OF_MEMORY;
    while (refused == GPUMEM_OK) {
      void* block = nullptr;
      refused = gpumem_alloc_device(ctx, 1 << 17, &block);
      if (refused == GPUMEM_OK) taken.push_back(block);
    }
    const Clock::time_point start = Clock::now();
    value = 42;
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_MEMORY, sum()));
    EXPECT_EQ(value, 42);
    EXPECT_LT(seconds_since(start), 10);
    EXPECT_EQ(info_of(rank.dist.get()).status, GPUMEM_OK);
    while (taken.size() > 1) {
      EXPECT_TRUE(ok(gpumem_free(ctx, taken.back())));
      taken.pop_back();
    }
    EXPECT_TRUE(ok(sum()));
    EXPECT_EQ(value, 210000);
    EXPECT_TRUE(ok(gpumem_free(ctx, taken[0])));
  });
}

// Each call of the probe fails in turn. It is repeated, so no pair of devices is staged for it.
TEST(PeerProbe, IsRepeatedAfterAFailure) {
  constexpr int kInvalidValue = 1;
  for (int64_t number = 0;; ++number) {
    const Context a(options_for_device(On::cuda, 0, 1));
    const Context b(options_for_device(On::cuda, 1, 1));
    gpumem_ctx* const contexts[] = {a, b};
    gpumem_dist_options options;
    ASSERT_TRUE(ok(gpumem_dist_options_init(&options, sizeof options)));
    options.contexts = contexts;
    options.members = 2;
    gpumem_dist* made = nullptr;
    gpumem_emulation::fail_call(number, gpumem_emulation::Calls::one, kInvalidValue);
    const gpumem_status status = gpumem_dist_create(&options, &made);
    const bool failed = gpumem_emulation::fail_nothing() > 0;
    const Dist dist(made);
    ASSERT_TRUE(ok(status)) << number;
    EXPECT_EQ(info_of(made).staged_pairs, 0) << number;
    if (!failed) {
      EXPECT_GT(number, 20) << "calls of the probe";
      return;
    }
  }
}

}  // namespace
}  // namespace gpumem_test
