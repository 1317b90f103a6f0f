// Processes with a CUDA device for each: what they exchange goes over NCCL where it is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "dist/rank_streams.hpp"
#include "dist/ranks.hpp"
#include "dist/worker.hpp"

namespace gpumem_test {
namespace {

int devices_of_a_child() {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(cuda_devices());
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

class DistDevices : public testing::TestWithParam<On> {
 protected:
  // f(dist, part, the same numbers in every process, numbers of its own), in a process for each device.
  static void run(const std::function<void(gpumem_dist*, const Part&, Random&, Random&)>& f) {
    const int size = std::min(devices_of_a_child(), 4);
    if (size < 2) GTEST_SKIP() << "there are fewer than two CUDA devices";
    test_seed();
    Mesh mesh(size);
    Processes processes(size, 200, [&](int number) -> std::string {
      mesh.keep(number);
      SocketTransport transport(mesh, number);
      const Context ctx(options_for_device(On::cuda, number, 1));
      const Part part{{ctx}, number, size};
      const gpumem_dist_transport table = transport.table();
      const Dist dist = make_dist(part, &table);
      Random shared(0x5C), own(0xC000 + static_cast<uint64_t>(number));
      if (dist != nullptr) f(dist.get(), part, shared, own);
      return "";
    });
    mesh.close_all();
    EXPECT_TRUE(processes.all_well());
  }
};

TEST_P(DistDevices, ExchangeInMemoryOfAnyKind) {
  run([](gpumem_dist* dist, const Part& part, Random& shared, Random& own) {
    for (int i = 0; i < 12 && !testing::Test::HasFailure(); ++i) {
      const gpumem_dist_plan_options options = plan_options(int64_t{1} << (17 + i));
      PlannedMove move(dist, part, all_to_all(part, 20000), i % 3 == 0 ? nullptr : &options, own, i % 2 == 0);
      if (i == 0) {
        char text[2048];
        EXPECT_TRUE(ok(gpumem_dist_explain(move.plan(), GPUMEM_FORMAT_TEXT, text, sizeof text, nullptr)));
        if (part.first == 0) std::fputs(text, stderr);  // whether it is NCCL
      }
      move.run(shared);
      move.run(shared);
      PlannedMove(dist, part, random_move(part.all, 200000, shared), &options, own).run(shared);
      Halo halo;
      const Layout layout = random_halo_layout(part.all, 100000, halo, shared);
      PlannedHalo(dist, part, layout, halo, &options, own).run(shared);
    }
  });
}

bool is_linked(gpumem_dist_plan* plan) {
  char text[4096];
  EXPECT_TRUE(ok(gpumem_dist_explain(plan, GPUMEM_FORMAT_TEXT, text, sizeof text, nullptr)));
  return contains_word(text, "nccl");
}

// Each process decides by itself whether it waits in the call.
TEST_P(DistDevices, ExchangeBehindTheCall) {
  run([](gpumem_dist* dist, const Part& part, Random& shared, Random& own) {
    RankStreams streams(part, own);
    const auto by = [&](gpumem_dist_plan* plan) -> Execute {
      return is_linked(plan) && own.below(4) != 0 ? streams.both() : gpumem_dist_execute;
    };
    for (int i = 0; i < 20 && !testing::Test::HasFailure(); ++i) {
      const gpumem_dist_plan_options options = plan_options(int64_t{1} << (18 + i % 6));
      PlannedMove move(dist, part, random_move(part.all, 200000, shared), &options, own, true);
      Halo halo;
      const Layout layout = random_halo_layout(part.all, 100000, halo, shared);
      PlannedHalo filled(dist, part, layout, halo, &options, own, true);
      for (int turn = 0; turn < 2; ++turn) {
        move.by = by(move.plan());
        move.run(shared);
        filled.by = by(filled.plan());
        filled.run(shared);
      }
    }
  });
}

TEST_P(DistDevices, ReduceToTheBitsOfOneSequence) {
  run([](gpumem_dist* dist, const Part& part, Random& shared, Random& own) {
    for (int i = 0; i < 4 && !testing::Test::HasFailure(); ++i) {
      Layout columns{8, {800, 50 * part.all}, {}};
      for (int64_t m = 0; m < part.all; ++m) columns.boxes.push_back({m, {0, 50 * m}, {800, 50 * m + 50}, 0, {}});
      place_boxes(columns, shared);
      PlannedReduction(dist, part, columns, nullptr, own).run(part.contexts[0], GPUMEM_F64, GPUMEM_SUM, shared);
      PlannedReduction(dist, part, columns, nullptr, own).run(part.contexts[0], GPUMEM_F64, GPUMEM_DOT, shared);
    }
  });
}

// One process is gone in the middle: the others get a status in time, and end.
TEST_P(DistDevices, OneThatIsLost) {
  run([](gpumem_dist* dist, const Part& part, Random& shared, Random& own) {
    PlannedMove move(dist, part, all_to_all(part, 20000), nullptr, own, true);
    move.run(shared);
    if (part.first == 1) {
      EXPECT_TRUE(ok(gpumem_dist_abort(dist)));
      return;
    }
    EXPECT_TRUE(lost(move.execute()));
  });
}

INSTANTIATE_TEST_SUITE_P(On, DistDevices, testing::Values(On::cuda), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
