// Exchanges between processes over the link of their devices.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>

#include "dist/link.hpp"
#include "dist/rank_streams.hpp"

namespace gpumem_test {
namespace {

const std::vector<std::vector<int>> kRanks = {{1, 1}, {2, 1}, {1, 2, 1}, {2, 2}, {1, 1, 1, 1}};

gpumem_dist_plan_options some_workspace(Random& shared) { return plan_options(int64_t{1} << (16 + shared.below(7))); }

TEST_F(Link, MovesAnyLayoutToAnyOther) {
  for (const std::vector<int>& members : kRanks) {
    std::atomic<int64_t> sent{0}, received{0};
    in_ranks(members, [&](LinkedRank& rank) {
      rank.start();
      for (int i = 0; i < (quick_run() ? 6 : 12) && !testing::Test::HasFailure(); ++i) {
        const gpumem_dist_plan_options options = some_workspace(rank.shared);
        Move move;
        do {
          move = random_move(rank.part.all, 200000, rank.shared);
        } while (Array(move.src.element_bytes, move.src.extents).bytes.size() < 300000);
        PlannedMove planned(rank.dist.get(), rank.part, move, i % 4 == 0 ? nullptr : &options, rank.own, i % 2 == 0);
        planned.run(rank.shared);
        planned.run(rank.shared);
        sent += 2 * linked_bytes(planned.plan());
        received += 2 * linked_bytes(planned.plan(), "receives");
      }
      EXPECT_EQ(rank.warnings, "");
    });
    EXPECT_GT(sent, 0);
    EXPECT_EQ(sent, received);
    EXPECT_EQ(sent, static_cast<int64_t>(fake_nccl_traffic().bytes));
  }
}

TEST_F(Link, FillsHalos) {
  for (const std::vector<int>& members : kRanks) {
    std::atomic<int64_t> sent{0};
    in_ranks(members, [&](LinkedRank& rank) {
      rank.start();
      for (int i = 0; i < 3 && !testing::Test::HasFailure(); ++i) {
        const gpumem_dist_plan_options options = some_workspace(rank.shared);
        Halo halo{{1, 0}, {2, i}, {1, i % 2}};
        Layout layout{8, {rank.part.all * 4, 10000}, {}};
        for (int64_t m = 0; m < rank.part.all; ++m) layout.boxes.push_back({m, {4 * m, 0}, {4 * m + 4, 10000}, 0, {}});
        place_boxes(layout, rank.shared, &halo);
        PlannedHalo planned(rank.dist.get(), rank.part, layout, halo, i == 0 ? nullptr : &options, rank.own, i < 2);
        planned.run(rank.shared);
        sent += linked_bytes(planned.plan());
        const Layout any = random_halo_layout(rank.part.all, 30000, halo, rank.shared);
        PlannedHalo(rank.dist.get(), rank.part, any, halo, &options, rank.own).run(rank.shared);
      }
    });
    EXPECT_GT(sent, 0);
  }
}

TEST_F(Link, ReducesToTheBitsOfOneSequence) {
  for (const std::vector<int>& members : kRanks) {
    std::atomic<int64_t> sent{0};
    in_ranks(members, [&](LinkedRank& rank) {
      rank.start();
      const Context host(On::host, 1);
      for (int i = 0; i < 3 && !testing::Test::HasFailure(); ++i) {
        const gpumem_dist_plan_options options = some_workspace(rank.shared);
        const int64_t all = rank.part.all;
        Layout columns{8, {800, 50 * all}, {}};
        for (int64_t m = 0; m < all; ++m) columns.boxes.push_back({m, {0, 50 * m}, {800, 50 * m + 50}, 0, {}});
        place_boxes(columns, rank.shared);
        PlannedReduction planned(rank.dist.get(), rank.part, columns, i == 0 ? nullptr : &options, rank.own);
        for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_DOT, GPUMEM_MAX}) {
          planned.run(host, GPUMEM_F64, op, rank.shared);
        }
        sent += linked_bytes(planned.plan());
        const Layout any = random_reduction_layout(all, 60000, rank.shared);
        PlannedReduction other(rank.dist.get(), rank.part, any, &options, rank.own);
        const auto [dtype, op] = random_reduction(any.element_bytes, rank.shared);
        other.run(host, dtype, op, rank.shared);
      }
    });
    EXPECT_GT(sent, 0);
  }
}

// Each process decides by itself whether it waits in the call.
TEST_F(Link, MovesBehindTheCall) {
  for (const std::vector<int>& members : kRanks) {
    in_ranks(members, [&](LinkedRank& rank) {
      rank.start();
      RankStreams streams(rank.part, rank.own);
      const auto by = [&]() -> Execute { return rank.own.below(4) == 0 ? gpumem_dist_execute : streams.both(); };
      for (int i = 0; i < (quick_run() ? 6 : 20) && !testing::Test::HasFailure(); ++i) {
        const gpumem_dist_plan_options options = plan_options(int64_t{1} << (18 + rank.shared.below(5)));
        PlannedMove move(rank.dist.get(), rank.part, random_move(rank.part.all, 60000, rank.shared),
                         i % 4 == 0 ? nullptr : &options, rank.own, true);
        Halo halo;
        const Layout layout = random_halo_layout(rank.part.all, 20000, halo, rank.shared);
        PlannedHalo filled(rank.dist.get(), rank.part, layout, halo, &options, rank.own, true);
        for (int turn = 0; turn < 2; ++turn) {
          move.by = by();
          move.run(rank.shared);
          filled.by = by();
          filled.run(rank.shared);
        }
      }
    });
  }
}

// The elements are written before each turn and overwritten behind it. Nothing waits in between, and a plan may go.
TEST_F(Link, MovesBetweenWhatTheStreamsHold) {
  constexpr int64_t kEach = 20000;
  constexpr int32_t kTurns = 40;
  in_ranks({1, 2}, [&](LinkedRank& rank) {
    rank.start();
    const RankStreams streams(rank.part, rank.own);
    const gpumem_dist_plan_options options = plan_options(kWork);
    const Move move = swap_slabs(rank.part.all, kEach);
    const auto members = static_cast<size_t>(rank.part.count());
    const View src(move.src, rank.part.first, rank.part.count()), dst(move.dst, rank.part.first, rank.part.count());
    gpumem_dist_plan* made = nullptr;
    ASSERT_TRUE(ok(gpumem_dist_plan_redistribute(rank.dist.get(), &src.raw, &dst.raw, nullptr, &options, &made)));
    Plan plan(made);
    std::vector<void*> from(members), to(members * kTurns);
    const auto allocate = [&](size_t member, void*& p) {
      ASSERT_TRUE(ok(gpumem_alloc_device(rank.part.contexts[member], kEach * 8, &p)));
    };
    for (size_t i = 0; i < members; ++i) allocate(i, from[i]);
    for (size_t i = 0; i < to.size(); ++i) allocate(i % members, to[i]);
    const auto value_of = [](int32_t turn, int64_t member) { return 100.0 * turn + static_cast<double>(member); };
    for (int32_t turn = 0; turn < kTurns; ++turn) {
      for (size_t i = 0; i < members; ++i) {
        const double value = value_of(turn, rank.part.first + static_cast<int64_t>(i));
        ASSERT_TRUE(ok(gpumem_fill_async(rank.part.contexts[i], from[i], &value, 8, kEach, streams.of(i))));
      }
      ASSERT_TRUE(ok(streams.enqueue(plan.get(), from.data(), &to[members * static_cast<size_t>(turn)])));
    }
    streams.finish();
    plan.reset();
    for (int32_t turn = 0; turn < kTurns; ++turn) {
      for (size_t i = 0; i < members; ++i) {
        const int64_t other = (rank.part.first + static_cast<int64_t>(i) + 1) % rank.part.all;
        std::vector<double> got(kEach);
        ASSERT_TRUE(
            ok(gpumem_copy(rank.part.contexts[i], got.data(), to[members * static_cast<size_t>(turn) + i], kEach * 8)));
        EXPECT_EQ(got, std::vector<double>(kEach, value_of(turn, other))) << turn;
      }
    }
    for (const std::vector<void*>* all : {&from, &to}) {
      for (size_t i = 0; i < all->size(); ++i) EXPECT_TRUE(ok(gpumem_free(rank.part.contexts[i % members], (*all)[i])));
    }
  });
}

// The second one reads what the first one writes, on other streams. A forced variant does not count here.
TEST_F(Link, MovesInTheOrderOfTheCalls) {
  constexpr int64_t kEach = 20000;
  in_ranks({1, 2}, [&](LinkedRank& rank) {
    rank.start();
    const RankStreams first(rank.part, rank.own), second(rank.part, rank.own);
    const Move move = swap_slabs(rank.part.all, kEach);
    const View src(move.src, rank.part.first, rank.part.count()), dst(move.dst, rank.part.first, rank.part.count());
    gpumem_dist_plan* made = nullptr;
    ASSERT_TRUE(ok(gpumem_dist_plan_redistribute(rank.dist.get(), &src.raw, &dst.raw, nullptr, nullptr, &made)));
    const Plan plan(made);
    const auto members = static_cast<size_t>(rank.part.count());
    std::vector<void*> memory[3];
    for (std::vector<void*>& all : memory) {
      for (size_t i = 0; i < members; ++i) {
        ASSERT_TRUE(ok(gpumem_alloc_device(rank.part.contexts[i], kEach * 8, &all.emplace_back())));
        ASSERT_TRUE(ok(gpumem_variant_force(rank.part.contexts[i], GPUMEM_FAMILY_PERMUTE, "tiled")));
      }
    }
    for (int turn = 0; turn < 10 && !testing::Test::HasFailure(); ++turn) {
      for (size_t i = 0; i < members; ++i) {
        const double value = 100.0 * turn + static_cast<double>(rank.part.first) + static_cast<double>(i);
        ASSERT_TRUE(ok(gpumem_fill_async(rank.part.contexts[i], memory[0][i], &value, 8, kEach, first.of(i))));
      }
      ASSERT_TRUE(ok(first.enqueue(plan.get(), memory[0].data(), memory[1].data())));
      ASSERT_TRUE(ok(second.enqueue(plan.get(), memory[1].data(), memory[2].data())));
      second.finish();
      for (size_t i = 0; i < members; ++i) {
        const int64_t from = (rank.part.first + static_cast<int64_t>(i) + 2) % rank.part.all;
        std::vector<double> got(kEach);
        ASSERT_TRUE(ok(gpumem_copy(rank.part.contexts[i], got.data(), memory[2][i], kEach * 8)));
        EXPECT_EQ(got, std::vector<double>(kEach, 100.0 * turn + static_cast<double>(from))) << turn;
      }
      first.finish();
    }
    for (const std::vector<void*>& all : memory) {
      for (size_t i = 0; i < members; ++i) EXPECT_TRUE(ok(gpumem_free(rank.part.contexts[i], all[i])));
    }
  });
}

// Every process has the status, and all can go on.
TEST_F(Link, MovesNoHostMemoryBehindTheCall) {
  in_ranks({1, 2, 1}, [&](LinkedRank& rank) {
    rank.start(30);
    RankStreams streams(rank.part, rank.own);
    PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(4, 20000), nullptr, rank.own, true);
    std::vector<std::vector<double>> on_host(2 * rank.part.contexts.size(), std::vector<double>(20000));
    std::vector<void*> src, dst;
    for (size_t i = 0; i < rank.part.contexts.size(); ++i) {
      src.push_back(on_host[2 * i].data());
      dst.push_back(on_host[2 * i + 1].data());
    }
    const Execute enqueue = streams.both();
    for (int culprit = 0; culprit < 3; ++culprit) {
      planned.by = [&](gpumem_dist_plan* plan, const void* const* from, void* const* to) {
        return rank.rank == culprit ? enqueue(plan, src.data(), dst.data()) : enqueue(plan, from, to);
      };
      EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, planned.execute()));
      planned.by = enqueue;
      planned.run(rank.shared);
    }
  });
}

// Slabs in device memory go as they lie: one operation a packet, and no workspace that a small plan could not have.
TEST_F(Link, SaysWhatItDoes) {
  in_ranks({1, 1}, [&](LinkedRank& rank) {
    rank.start();
    const gpumem_dist_plan_options options = plan_options(kWork);
    PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(2, 20000), &options, rank.own, true);
    planned.run(rank.shared);
    EXPECT_EQ(linked_bytes(planned.plan()), 160000);
    char text[2048];
    EXPECT_TRUE(ok(gpumem_dist_explain(planned.plan(), GPUMEM_FORMAT_TEXT, text, sizeof text, nullptr)));
    EXPECT_TRUE(contains_word(text, "nccl")) << text;
    EXPECT_NE(std::string(text).find("160000 bytes, nccl, rounds: 6"), std::string::npos) << text;
    char json[2048];
    EXPECT_TRUE(ok(gpumem_dist_explain(planned.plan(), GPUMEM_FORMAT_JSON, json, sizeof json, nullptr)));
    EXPECT_LE(std::stoll(parse_json(json)->member("workspace_bytes").text), kWork) << json;
  });
  EXPECT_EQ(fake_nccl_traffic().operations, 12);
}

// A plan that moves elements uses only the link, so that it can be enqueued. For the few terms of a reduction, a message is cheaper.
TEST_F(Link, LeavesFewTermsToMessages) {
  in_ranks({1, 1}, [&](LinkedRank& rank) {
    rank.start();
    PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(2, 1), nullptr, rank.own);
    planned.run(rank.shared);
    EXPECT_EQ(linked_bytes(planned.plan()), 8);
    const Context host(On::host, 1);
    Layout slabs{8, {3000}, {}};  // 476 terms of the first leave it, or 548 of the second
    for (int64_t m = 0; m < 2; ++m) slabs.boxes.push_back({m, {1500 * m}, {1500 * (m + 1)}, 0, {1}});
    PlannedReduction sum(rank.dist.get(), rank.part, slabs, nullptr, rank.own);
    sum.run(host, GPUMEM_F64, GPUMEM_SUM, rank.shared);
    EXPECT_EQ(linked_bytes(sum.plan()), 0);
  });
}

TEST_F(Link, IsTurnedOffByAVariable) {
  const ScopedVariable off("GPUMEM_DIST_LINK", "staged");
  in_ranks({1, 1}, [&](LinkedRank& rank) {
    rank.start();
    PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(2, 20000), nullptr, rank.own);
    planned.run(rank.shared);
    EXPECT_EQ(linked_bytes(planned.plan()), 0);
    EXPECT_EQ(rank.warnings, "");
  });
}

// Where a member works on the host, or two share a device, all goes by messages.
TEST_F(Link, IsOnlyWhereEachMemberHasADevice) {
  for (const bool shares : {false, true}) {
    in_ranks({1, 1}, [&](LinkedRank& rank) {
      if (rank.rank == 1) {
        rank.contexts.clear();
        rank.part.contexts.clear();
        rank.add(shares ? options_for_device(On::cuda, 0) : options_for(On::host));
      }
      rank.start();
      PlannedMove planned(rank.dist.get(), rank.part, swap_slabs(2, 20000), nullptr, rank.own);
      planned.run(rank.shared);
      EXPECT_EQ(linked_bytes(planned.plan()), 0);
    });
  }
}

}  // namespace
}  // namespace gpumem_test
