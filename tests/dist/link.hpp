// Ranks that are threads, each with emulated devices of its own, joined by a fake NCCL.
#pragma once

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dist/fake_nccl.hpp"
#include "dist/worker.hpp"
#include "emulation/memory.hpp"
#include "support/environment.hpp"
#include "support/json.hpp"

namespace gpumem_test {

inline constexpr int64_t kWork = 1 << 17;

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

inline int64_t linked_bytes(gpumem_dist_plan* plan, const char* direction = "sends") {
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
};

// Two slabs of doubles change places.
inline Move swap_slabs(int64_t all, int64_t each) {
  Move move{{8, {all * each}, {}}, {8, {all * each}, {}}, {}};
  for (int64_t i = 0; i < all; ++i) {
    move.src.boxes.push_back({i, {each * i}, {each * (i + 1)}, 0, {1}});
    const int64_t from = (i + 1) % all;
    move.dst.boxes.push_back({i, {each * from}, {each * (from + 1)}, 0, {1}});
  }
  return move;
}

}  // namespace gpumem_test
