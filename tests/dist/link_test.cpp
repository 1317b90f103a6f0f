// Exchanges between processes over the link of their devices: ranks that are threads, on emulated devices, with a fake NCCL.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <numeric>

#include "dist/fake_nccl.hpp"
#include "dist/rank_streams.hpp"
#include "dist/worker.hpp"
#include "emulation/gates.hpp"
#include "emulation/memory.hpp"
#include "support/environment.hpp"
#include "support/json.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kWork = 1 << 17;

// Members of a rank on devices of its own, unless `devices` says otherwise.
class LinkedRank {
 public:
  LinkedRank(const std::vector<int>& members, Mesh& mesh, int number)
      : rank(number), transport(mesh, number), own(0xB000 + static_cast<uint64_t>(number)) {
    part.first = std::accumulate(members.begin(), members.begin() + number, 0);
    part.all = std::accumulate(members.begin(), members.end(), 0);
    for (int i = 0; i < members[static_cast<size_t>(number)]; ++i) {
      add(options_for_device(On::cuda, static_cast<int32_t>(part.first) + i, 1));
    }
  }
  void add(const gpumem_ctx_options& options) {
    contexts.emplace_back(options);
    part.contexts.push_back(contexts.back());
    const auto keep = [](void* user, gpumem_log_level level, const char* sentence) {
      auto& self = *static_cast<LinkedRank*>(user);
      const std::lock_guard<std::mutex> lock(self.mutex_);
      if (level == GPUMEM_LOG_WARNING) self.warnings += std::string(sentence) + '\n';
    };
    EXPECT_TRUE(ok(gpumem_ctx_set_log(contexts.back(), keep, this)));
  }
  void start(double deadline_s = 60) {
    const gpumem_dist_transport table = transport.table();
    dist = make_dist(part, &table, deadline_s);
    ASSERT_NE(dist, nullptr);
  }

  int rank;
  SocketTransport transport;
  std::string warnings;
  std::mutex mutex_;
  std::deque<Context> contexts;
  Part part;
  Dist dist;
  Random shared{0x5B};
  Random own;
};

int64_t linked_bytes(gpumem_dist_plan* plan, const char* direction = "sends") {
  char json[8192];
  EXPECT_TRUE(ok(gpumem_dist_explain(plan, GPUMEM_FORMAT_JSON, json, sizeof json, nullptr)));
  const std::optional<Json> parsed = parse_json(json);
  EXPECT_TRUE(parsed.has_value()) << json;
  int64_t bytes = 0;
  for (const Json& peer : parsed ? parsed->member(direction).items : std::vector<Json>()) {
    if (peer.member("variant").text != "nccl") continue;
    EXPECT_GE(std::stoll(peer.member("rounds").text), 1) << json;
    bytes += std::stoll(peer.member("bytes").text);
  }
  return bytes;
}

class Link : public testing::Test {
 protected:
  Link() {
    const FakeNcclDevice device = {
        [](void* stream, void (*task)(void*), void* argument) {
          return static_cast<int>(cudaLaunchHostFunc(static_cast<cudaStream_t>(stream), task, argument));
        },
        [](void* dst, const void* src, size_t bytes) {
          const gpumem_emulation::DeviceWorks works;
          std::memcpy(dst, src, bytes);
        },
        gpumem_emulation::current_device};
    fake_nccl_use(&device);
    fake_nccl_traffic();
  }
  void TearDown() override {
    EXPECT_STREQ(fake_nccl_misuse(), "");
    const Clock::time_point start = Clock::now();
    while (fake_nccl_comms() > 0 && seconds_since(start) < 10) sleep_for(0.01);
    EXPECT_EQ(fake_nccl_comms(), 0);
  }

  // f(rank) in a thread for each; before: what comes to its members.
  static void in_ranks(const std::vector<int>& members, const std::function<void(LinkedRank&)>& f) {
    if (cuda_devices() < 4) GTEST_SKIP() << "there are fewer than 4 devices: set GPUMEM_EMULATION_DEVICES=4";
    test_seed();
    Mesh mesh(static_cast<int>(members.size()));
    std::vector<std::thread> threads;
    for (int number = 0; number < mesh.size(); ++number) {
      threads.emplace_back([&, number] {
        LinkedRank rank(members, mesh, number);
        f(rank);
        rank.dist.reset();
        // What a transfer that never ends may still write to stays.
        const char* fails = std::getenv("FAKE_NCCL");
        if (fails != nullptr && (std::string(fails) == "stuck" || std::string(fails) == "connect")) return;
        for (const Context& ctx : rank.contexts) EXPECT_EQ(live_blocks(stats_of(ctx)), 0);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Executes a plan over a link that breaks.
  static void lose_the_peer(LinkedRank& rank);
  // Of a call that breaks the link: it ends in time, and the status sticks.
  static void expect_lost(LinkedRank& rank, const std::function<gpumem_status()>& call) {
    const Clock::time_point start = Clock::now();
    gpumem_status status = GPUMEM_OK;
    for (int i = 0; i < 20 && status == GPUMEM_OK; ++i) status = call();
    EXPECT_TRUE(lost(status));
    EXPECT_LT(seconds_since(start), kEnough + 10);
    EXPECT_EQ(info_of(rank.dist.get()).status, status);
    EXPECT_TRUE(gives(status, call()));
  }
};

const std::vector<std::vector<int>> kRanks = {{1, 1}, {2, 1}, {1, 2, 1}, {2, 2}, {1, 1, 1, 1}};

gpumem_dist_plan_options some_workspace(Random& shared) { return plan_options(int64_t{1} << (16 + shared.below(7))); }

// Two slabs of doubles change places.
Move swap_slabs(int64_t all, int64_t each) {
  Move move{{8, {all * each}, {}}, {8, {all * each}, {}}, {}};
  for (int64_t i = 0; i < all; ++i) {
    move.src.boxes.push_back({i, {each * i}, {each * (i + 1)}, 0, {1}});
    const int64_t from = (i + 1) % all;
    move.dst.boxes.push_back({i, {each * from}, {each * (from + 1)}, 0, {1}});
  }
  return move;
}

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
void Link::lose_the_peer(LinkedRank& rank) {
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
