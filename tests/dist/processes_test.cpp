// Members of several processes: the same layouts, halos and reductions, against the same references.
#include <gtest/gtest.h>

#include "dist/ranks.hpp"

namespace gpumem_test {
namespace {

constexpr int kSizes[] = {2, 3, 4, 7};

int cases(int all) { return quick_run() ? all / 10 : all; }

// Workspaces that differ from process to process.
gpumem_dist_plan_options uneven(const Rank& rank) { return plan_options(int64_t{4096} << (rank.rank * 5 % 7)); }

class DistProcesses : public testing::TestWithParam<On> {
 protected:
  static void run(const std::function<void(Rank&)>& f) {
    for (const int size : kSizes) {
      SCOPED_TRACE(std::to_string(size) + " processes");
      EXPECT_TRUE(in_processes(GetParam(), size, f)->all_well());
    }
  }
};

TEST_P(DistProcesses, MoveAnyLayoutToAnyOther) {
  run([](Rank& rank) {
    rank.start();
    for (int i = 0; i < cases(300) && !testing::Test::HasFailure(); ++i) {
      const gpumem_dist_plan_options options = uneven(rank);
      const Move move = random_move(rank.part.all, 6000, rank.shared);
      PlannedMove planned(rank.dist.get(), rank.part, move, rank.shared.below(2) == 0 ? nullptr : &options, rank.own);
      for (int times = 0; times < 1 + i % 2; ++times) planned.run(rank.shared);
    }
  });
}

TEST_P(DistProcesses, FillHalos) {
  run([](Rank& rank) {
    rank.start();
    for (int i = 0; i < cases(200) && !testing::Test::HasFailure(); ++i) {
      const gpumem_dist_plan_options options = uneven(rank);
      Halo halo;
      const Layout layout = random_halo_layout(rank.part.all, 2000, halo, rank.shared);
      PlannedHalo planned(rank.dist.get(), rank.part, layout, halo, rank.shared.below(2) == 0 ? nullptr : &options,
                          rank.own);
      for (int times = 0; times < 1 + i % 2; ++times) planned.run(rank.shared);
    }
  });
}

TEST_P(DistProcesses, ReduceToTheBitsOfOneSequence) {
  run([](Rank& rank) {
    rank.start();
    for (int i = 0; i < cases(150) && !testing::Test::HasFailure(); ++i) {
      const gpumem_dist_plan_options options = uneven(rank);
      const Layout layout = random_reduction_layout(rank.part.all, 30000, rank.shared);
      PlannedReduction planned(rank.dist.get(), rank.part, layout, rank.shared.below(2) == 0 ? nullptr : &options,
                               rank.own);
      for (int times = 0; times < 2; ++times) {
        const auto [dtype, op] = random_reduction(layout.element_bytes, rank.shared);
        planned.run(rank.contexts[1], dtype, op, rank.shared);
      }
    }
  });
}

// Nobody waits for the others between plans, so that one process may be a plan or two ahead.
TEST_P(DistProcesses, CarryOutPlansInAnyOrderOutOfStep) {
  run([](Rank& rank) {
    rank.start();
    std::deque<PlannedMove> moves;
    std::deque<PlannedReduction> sums;
    for (int i = 0; i < 3; ++i) {
      moves.emplace_back(rank.dist.get(), rank.part, random_move(rank.part.all, 2000, rank.shared), nullptr, rank.own);
      Layout layout{4, {6000}, random_partition({6000}, rank.part.all, rank.shared)};
      place_boxes(layout, rank.shared);
      sums.emplace_back(rank.dist.get(), rank.part, layout, nullptr, rank.own);
    }
    for (int i = 0; i < cases(300) && !testing::Test::HasFailure(); ++i) {
      const size_t which = rank.shared.below(3);
      const bool move = rank.shared.below(2) == 0;
      if (rank.own.below(8) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(rank.own.below(4)));
      if (move) moves[which].run(rank.shared);
      if (!move) sums[which].run(rank.contexts[1], GPUMEM_F32, GPUMEM_SUM, rank.shared);
    }
  });
}

// Messages of megabytes, more than a socket holds, with the workspace in one piece and in many.
TEST_P(DistProcesses, MoveMuch) {
  run([](Rank& rank) {
    rank.start();
    const int64_t rows = quick_run() ? 300 : 1000, cols = 501;
    Move move{{8, {rows, cols}, {}}, {8, {cols, rows}, {}}, {1, 0}};
    const int64_t all = rank.part.all;
    for (int64_t i = 0; i < all; ++i) {
      move.src.boxes.push_back({i, {rows * i / all, 0}, {rows * (i + 1) / all, cols}, 0, {cols, 1}});
      move.dst.boxes.push_back({i, {cols * i / all, 0}, {cols * (i + 1) / all, rows}, 0, {rows, 1}});
    }
    const gpumem_dist_plan_options options = plan_options(10000);
    PlannedMove(rank.dist.get(), rank.part, move, nullptr, rank.own).run(rank.shared);
    PlannedMove(rank.dist.get(), rank.part, move, &options, rank.own).run(rank.shared);
  });
}

TEST_P(DistProcesses, AreDescribed) {
  run([](Rank& rank) {
    rank.start();
    const gpumem_dist_info info = info_of(rank.dist.get());
    EXPECT_EQ(info.rank, rank.rank);
    EXPECT_EQ(info.size, rank.size);
    EXPECT_EQ(info.first_member, rank.part.first);
    EXPECT_EQ(info.members, rank.part.count());
    EXPECT_EQ(info.all_members, rank.part.all);
    EXPECT_EQ(info.status, GPUMEM_OK);
    EXPECT_EQ(rank.transport.released(), 0);
    rank.dist.reset();
    EXPECT_EQ(rank.transport.released(), 1);
  });
}

// One after the other over the same processes, each with a transport of its own.
TEST_P(DistProcesses, LiveAsSeveralAtATime) {
  for (const int size : {2, 3}) {
    test_seed();
    Mesh one(size), other(size);
    Processes processes(size, 60, [&](int number) -> std::string {
      one.keep(number);
      other.keep(number);
      Rank a(GetParam(), one, number), b(GetParam(), other, number);
      a.start();
      b.start();
      const Move move = random_move(a.part.all, 2000, a.shared);
      PlannedMove in_a(a.dist.get(), a.part, move, nullptr, a.own), in_b(b.dist.get(), b.part, move, nullptr, b.own);
      for (int i = 0; i < 5; ++i) {
        in_a.run(a.shared);
        in_b.run(b.shared);
      }
      return "";
    });
    one.close_all();
    other.close_all();
    EXPECT_TRUE(processes.all_well());
  }
}

INSTANTIATE_TEST_SUITE_P(On, DistProcesses, testing::ValuesIn(contexts_of_a_child()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
