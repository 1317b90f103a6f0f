// Enqueued exchanges between processes: their results, their order in the streams, and failures.
#include <gtest/gtest.h>

#include "dist/rank_streams.hpp"
#include "dist/ranks.hpp"
#include "dist/worker.hpp"

namespace gpumem_test {
namespace {

int cases(int all) { return quick_run() ? all / 10 : all; }

void in_hosts(int size, const std::function<void(Rank&)>& f) {
  EXPECT_TRUE(in_processes(On::host, size, f)->all_well());
}

// Each process decides by itself whether it waits in the call.
TEST(DistBackground, MoveAnyLayoutToAnyOther) {
  for (const int size : {2, 3, 5}) {
    in_hosts(size, [](Rank& rank) {
      rank.start();
      rank.transport.allow_any_thread();
      RankStreams streams(rank.part, rank.own);
      for (int i = 0; i < cases(200) && !testing::Test::HasFailure(); ++i) {
        PlannedMove planned(rank.dist.get(), rank.part, random_move(rank.part.all, 6000, rank.shared), nullptr,
                            rank.own);
        if (rank.own.below(4) != 0) planned.by = streams.both();
        planned.run(rank.shared);
        planned.run(rank.shared);
      }
    });
  }
}

TEST(DistBackground, FillHalos) {
  in_hosts(4, [](Rank& rank) {
    rank.start();
    rank.transport.allow_any_thread();
    RankStreams streams(rank.part, rank.own);
    for (int i = 0; i < cases(150) && !testing::Test::HasFailure(); ++i) {
      const gpumem_dist_plan_options options = plan_options(int64_t{4096} << (rank.rank * 5 % 7));
      Halo halo;
      const Layout layout = random_halo_layout(rank.part.all, 2000, halo, rank.shared);
      PlannedHalo planned(rank.dist.get(), rank.part, layout, halo, &options, rank.own);
      if (rank.own.below(4) != 0) planned.by = streams.both();
      planned.run(rank.shared);
    }
  });
}

// The elements are written before each turn and overwritten behind it, and nothing waits in between.
TEST(DistBackground, RunBetweenWhatTheStreamsHold) {
  in_hosts(2, [](Rank& rank) {
    constexpr int64_t kEach = 20000;
    constexpr int32_t kTurns = 30;
    rank.start();
    rank.transport.allow_any_thread();
    RankStreams streams(rank.part, rank.own);
    const int64_t n = kEach * rank.part.all;
    Layout from{4, {n}, {}}, to{4, {n}, {}};
    for (int64_t i = 0; i < rank.part.all; ++i) {
      from.boxes.push_back({i, {kEach * i}, {kEach * (i + 1)}, 0, {1}});
      const int64_t other = rank.part.all - 1 - i;
      to.boxes.push_back({i, {kEach * other}, {kEach * (other + 1)}, 0, {1}});
    }
    const View src_view(from, rank.part.first, rank.part.count()), dst_view(to, rank.part.first, rank.part.count());
    gpumem_dist_plan* made = nullptr;
    ASSERT_TRUE(
        ok(gpumem_dist_plan_redistribute(rank.dist.get(), &src_view.raw, &dst_view.raw, nullptr, nullptr, &made)));
    Plan plan(made);
    const auto members = static_cast<size_t>(rank.part.count());
    std::vector<std::vector<int32_t>> src(members, std::vector<int32_t>(kEach));
    std::vector<std::vector<int32_t>> dst(members * kTurns, std::vector<int32_t>(kEach));
    for (int32_t turn = 0; turn < kTurns; ++turn) {
      std::vector<const void*> sources;
      std::vector<void*> targets;
      for (size_t i = 0; i < members; ++i) {
        const int32_t value = 100 * turn + static_cast<int32_t>(rank.part.first) + static_cast<int32_t>(i);
        ASSERT_TRUE(ok(gpumem_fill_async(rank.part.contexts[i], src[i].data(), &value, 4, kEach, streams.of(i))));
        sources.push_back(src[i].data());
        targets.push_back(dst[static_cast<size_t>(turn) * members + i].data());
      }
      ASSERT_TRUE(ok(streams.enqueue(plan.get(), sources.data(), targets.data())));
    }
    plan.reset();
    streams.finish();
    for (int32_t turn = 0; turn < kTurns; ++turn) {
      for (size_t i = 0; i < members; ++i) {
        const int64_t from_member = rank.part.all - 1 - rank.part.first - static_cast<int64_t>(i);
        const std::vector<int32_t> expected(kEach, 100 * turn + static_cast<int32_t>(from_member));
        ASSERT_EQ(dst[static_cast<size_t>(turn) * members + i], expected) << "turn " << turn << ", member " << i;
      }
    }
  });
}

// While a process waits for another one, its context with one thread does other work.
TEST(DistBackground, OtherStreamsGoOn) {
  const Signal others_are_done;
  in_hosts(2, [&](Rank& rank) {
    rank.start();
    rank.transport.allow_any_thread();
    RankStreams streams(rank.part, rank.own);
    PlannedMove planned(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own);
    planned.run(rank.shared);
    planned.by = [&](gpumem_dist_plan* plan, const void* const* src, void* const* dst) {
      return streams.enqueue(plan, src, dst);
    };
    if (rank.rank == 1) others_are_done.await();
    EXPECT_TRUE(ok(planned.execute()));
    if (rank.rank == 0) {
      gpumem_stream* other = nullptr;
      gpumem_ctx* const ctx = rank.part.contexts[0];
      ASSERT_TRUE(ok(gpumem_stream_create(ctx, &other)));
      std::vector<char> bytes(1 << 20, 1);
      ASSERT_TRUE(ok(gpumem_fill_async(ctx, bytes.data(), "b", 1, 1 << 20, other)));
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, other)));
      ASSERT_TRUE(ok(gpumem_fill(ctx, bytes.data(), "c", 1, 1 << 20)));
      ASSERT_TRUE(ok(gpumem_stream_destroy(other)));
      EXPECT_EQ(gpumem_stream_query(ctx, streams.of(0)), GPUMEM_NOT_READY);
      others_are_done.give();
    }
    streams.finish();
    planned.by = gpumem_dist_execute;
    planned.run(rank.shared);
  });
}

// A blocking call comes after what was enqueued, and a reduction sees it.
TEST(DistBackground, BlockingCallsComeAfterwards) {
  in_hosts(3, [](Rank& rank) {
    rank.start();
    rank.transport.allow_any_thread();
    RankStreams streams(rank.part, rank.own);
    PlannedMove planned(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own);
    PlannedReduction sum(rank.dist.get(), rank.part, slabs(rank.part, 9001), nullptr, rank.own);
    planned.run(rank.shared);
    planned.by = [&](gpumem_dist_plan* plan, const void* const* src, void* const* dst) {
      return streams.enqueue(plan, src, dst);
    };
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(ok(planned.execute()));
      if (i % 3 != 0) {
        ASSERT_TRUE(ok(planned.execute()));
      }
      sum.run(rank.contexts[1], GPUMEM_F64, GPUMEM_SUM, rank.shared);
    }
    streams.finish();
  });
}

// Memory may be freed in the order of the stream, and at once by a call that waits for the stream.
TEST(DistBackground, MemoryMayBeFreedBehindIt) {
  in_hosts(2, [](Rank& rank) {
    constexpr int64_t kRows = 200, kCols = 300;
    rank.start();
    gpumem_ctx* const ctx = rank.contexts[0];
    const int64_t all = rank.part.all;
    Layout from{8, {kRows * all, kCols}, {}}, to = from;
    for (int64_t i = 0; i < all; ++i) {
      from.boxes.push_back({i, {kRows * i, 0}, {kRows * (i + 1), kCols}, 1, {kCols + 5, 1}});
      to.boxes.push_back({i, {kRows * (all - 1 - i), 0}, {kRows * (all - i), kCols}, 0, {kCols, 1}});
    }
    const View src_view(from, rank.part.first, rank.part.count()), dst_view(to, rank.part.first, rank.part.count());
    gpumem_dist_plan* made = nullptr;
    ASSERT_TRUE(
        ok(gpumem_dist_plan_redistribute(rank.dist.get(), &src_view.raw, &dst_view.raw, nullptr, nullptr, &made)));
    const Plan plan(made);
    const auto members = static_cast<size_t>(rank.part.count());
    gpumem_stream* stream = nullptr;
    rank.transport.allow_any_thread();
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    for (int turn = 0; turn < 10; ++turn) {
      std::vector<gpumem_stream*> streams;
      std::vector<void*> x(members), y(members);
      for (size_t i = 0; i < members; ++i) {
        const double value = turn;
        streams.push_back(rank.part.contexts[i] == ctx ? stream : nullptr);
        ASSERT_TRUE(ok(gpumem_alloc_async(rank.part.contexts[i], kRows * (kCols + 5) * 8, 256, streams[i], &x[i])));
        ASSERT_TRUE(ok(gpumem_alloc_device(rank.part.contexts[i], kRows * kCols * 8, &y[i])));
        ASSERT_TRUE(ok(gpumem_fill_async(rank.part.contexts[i], x[i], &value, 8, kRows * (kCols + 5), streams[i])));
      }
      ASSERT_TRUE(ok(gpumem_dist_execute_async(plan.get(), x.data(), y.data(), streams.data())));
      for (size_t i = 0; i < members; ++i) {
        ASSERT_TRUE(ok(gpumem_free_async(rank.part.contexts[i], x[i], streams[i])));
        ASSERT_TRUE(ok(gpumem_stream_synchronize(rank.part.contexts[i], streams[i])));
        const std::vector<double> expected(kRows * kCols, turn);
        ASSERT_EQ(std::memcmp(y[i], expected.data(), expected.size() * 8), 0) << "turn " << turn;
      }
      for (size_t i = 0; i < members; ++i) ASSERT_TRUE(ok(gpumem_free(rank.part.contexts[i], y[i])));
    }
    EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
  });
}

// The caller learns its mistake at once, and the others as soon as they wait for it. wrong: the call of process 1.
void expect_told(gpumem_status status, const Execute& wrong) {
  const auto processes = in_processes(On::host, 3, [&](Rank& rank) {
    rank.start(kLong);
    rank.transport.allow_any_thread();
    RankStreams streams(rank.part, rank.own);
    PlannedMove planned(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own);
    planned.by = [&](gpumem_dist_plan* plan, const void* const* src, void* const* dst) {
      return rank.rank == 1 ? wrong(plan, src, dst) : streams.enqueue(plan, src, dst);
    };
    const gpumem_status got = in_time(kLong, [&] { return planned.execute(); });
    if (rank.rank == 1) {
      EXPECT_TRUE(gives(status, got));
      return expect_stuck(rank, status);
    }
    EXPECT_TRUE(ok(got));
    const Clock::time_point start = Clock::now();
    streams.finish();
    EXPECT_LT(seconds_since(start), kLong / 2);
    EXPECT_TRUE(lost(info_of(rank.dist.get()).status));
    EXPECT_NE(last_error().find("gave up"), std::string::npos) << last_error();
  });
  EXPECT_TRUE(processes->all_well());
}

TEST(DistBackground, AStreamThatIsNone) {
  expect_told(GPUMEM_INVALID_HANDLE, [](gpumem_dist_plan* plan, const void* const* src, void* const* dst) {
    const std::vector<gpumem_stream*> none(16, reinterpret_cast<gpumem_stream*>(plan));
    return gpumem_dist_execute_async(plan, src, dst, none.data());
  });
}

TEST(DistBackground, AMistakeOfOneProcess) {
  expect_told(GPUMEM_INVALID_ARGUMENT, [](gpumem_dist_plan* plan, const void* const*, void* const* dst) {
    const std::vector<const void*> nothing(16, nullptr);
    return gpumem_dist_execute_async(plan, nothing.data(), dst, nullptr);
  });
}

TEST(DistBackground, AProcessThatNeverCalls) {
  const Signal over;
  const auto processes = in_processes(On::host, 2, [&](Rank& rank) {
    rank.start(kEnough);
    rank.transport.allow_any_thread();
    RankStreams streams(rank.part, rank.own);
    PlannedMove planned(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own);
    if (rank.rank == 1) return over.await();
    planned.by = streams.both();
    EXPECT_TRUE(ok(planned.execute()));
    EXPECT_TRUE(gives(GPUMEM_TIMED_OUT, info_of(rank.dist.get()).status));
    expect_stuck(rank, GPUMEM_TIMED_OUT);
    over.give();
  });
  EXPECT_TRUE(processes->all_well());
}

TEST(DistBackground, AnAbortEndsIt) {
  const Signal over;
  const auto processes = in_processes(On::host, 2, [&](Rank& rank) {
    rank.start(kLong);
    rank.transport.allow_any_thread();
    RankStreams streams(rank.part, rank.own);
    PlannedMove planned(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own);
    if (rank.rank == 1) return over.await();
    planned.by = [&](gpumem_dist_plan* plan, const void* const* src, void* const* dst) {
      return streams.enqueue(plan, src, dst);
    };
    const Clock::time_point start = Clock::now();
    EXPECT_TRUE(ok(planned.execute()));
    EXPECT_TRUE(ok(gpumem_dist_abort(rank.dist.get())));
    streams.finish();
    EXPECT_LT(seconds_since(start), kLong / 2);
    expect_stuck(rank, GPUMEM_PEER_LOST);
    over.give();
  });
  EXPECT_TRUE(processes->all_well());
}

// The others' work does not tell which context each process has, so all are refused alike.
TEST(DistBackground, DevicesAreRefusedInEveryProcess) {
  const auto processes = in_processes(contexts_of_a_child().back(), 2, [](Rank& rank) {
    if (contexts_of_a_child().back() != On::cuda) GTEST_SKIP() << "there is no device";
    rank.start();
    rank.transport.allow_any_thread();
    RankStreams streams(rank.part, rank.own);
    PlannedMove planned(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own);
    planned.by = streams.both();
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, planned.execute(), {"device"}));
    planned.by = gpumem_dist_execute;
    planned.run(rank.shared);
  });
  EXPECT_TRUE(processes->all_well());
}

}  // namespace
}  // namespace gpumem_test
