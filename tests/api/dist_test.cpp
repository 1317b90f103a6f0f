// Members of one process, and a transport that fails: what is refused, how the values of neighbours come, and what a plan says of itself. Processes that
// do meet are in tests/mpi.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/json.hpp"

namespace gpumem_test {
namespace {

constexpr int32_t kRows = 8, kCols = 6;

// Slabs of four rows, each with a row of room on both sides.
struct Slabs {
  int64_t extents[2] = {kRows, kCols};
  int64_t lower[4] = {0, 0, 4, 0};
  int64_t upper[4] = {4, kCols, kRows, kCols};
  int64_t offsets[2] = {kCols, kCols};
  int64_t strides[4] = {kCols, 1, kCols, 1};
  gpumem_dist_layout layout{};

  Slabs() {
    EXPECT_TRUE(ok(gpumem_dist_layout_init(&layout, sizeof layout)));
    layout.element_bytes = 4;
    layout.rank = 2;
    layout.extents = extents;
    layout.boxes = 2;
    layout.lower = lower;
    layout.upper = upper;
    layout.offsets = offsets;
    layout.strides = strides;
  }
};

class Dist : public testing::Test {
 protected:
  Dist() {
    EXPECT_TRUE(ok(gpumem_dist_options_init(&options, sizeof options)));
    options.contexts = contexts;
    options.members = 2;
    EXPECT_TRUE(ok(gpumem_dist_create(&options, &dist)));
    for (size_t i = 0; i < 2; ++i) {
      memory[i].resize(6 * kCols, -1);
      std::iota(memory[i].begin() + kCols, memory[i].end() - kCols, static_cast<int32_t>(i) * 4 * kCols);
      pointers[i] = memory[i].data();
    }
  }
  ~Dist() override { EXPECT_TRUE(ok(gpumem_dist_destroy(dist))); }

  std::string explained(gpumem_dist_plan* plan, gpumem_format format) {
    char text[4096] = "";
    EXPECT_TRUE(ok(gpumem_dist_explain(plan, format, text, sizeof text, nullptr)));
    return text;
  }

  const Context own{On::host, 2};
  gpumem_ctx* const contexts[2] = {own, own};
  gpumem_dist_options options{};
  gpumem_dist* dist = nullptr;
  std::array<std::vector<int32_t>, 2> memory;
  void* pointers[2] = {};
};

TEST_F(Dist, BoxesThatAreNoneAreRefused) {
  const auto bad = [&](const std::function<void(Slabs&)>& change, std::initializer_list<std::string> words) {
    Slabs slabs;
    change(slabs);
    gpumem_dist_plan* plan = nullptr;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_dist_plan_reduce(dist, &slabs.layout, nullptr, &plan), words));
    EXPECT_EQ(plan, nullptr);
  };
  bad([](Slabs& s) { s.lower[2] = -1; }, {"box", "member", "lower", "-1"});
  bad([](Slabs& s) { s.upper[2] = 3; }, {"box", "member", "upper", "3"});
  bad([](Slabs& s) { s.upper[2] = kRows + 1; }, {"box", "member", "upper", "9"});
  bad([](Slabs& s) { s.strides[1] = 0; }, {"box", "member", "stride", "0"});
  bad([](Slabs& s) { s.offsets[1] = -1; }, {"box", "member", "offset", "-1"});
  bad([](Slabs& s) { s.lower[2] = 3; }, {"box"});
  bad([](Slabs& s) { s.lower[2] = 5; }, {});
}

TEST_F(Dist, AnAxisNamedTwiceIsRefused) {
  const Slabs slabs;
  const int32_t order[2] = {1, 1};
  gpumem_dist_plan* plan = nullptr;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                      gpumem_dist_plan_redistribute(dist, &slabs.layout, &slabs.layout, order, nullptr, &plan),
                      {"order"}));
}

TEST_F(Dist, HalosHaveTheRowsOfNeighbours) {
  const Slabs slabs;
  const int64_t one_row[2] = {1, 0};
  for (const int32_t around : {0, 1}) {
    const int32_t periodic[2] = {around, 0};
    gpumem_dist_plan* plan = nullptr;
    ASSERT_TRUE(ok(gpumem_dist_plan_halo(dist, &slabs.layout, one_row, one_row, periodic, nullptr, &plan)));
    ASSERT_TRUE(ok(gpumem_dist_execute(plan, pointers, around == 0 ? nullptr : pointers)));
    const int32_t before[2] = {around == 0 ? -1 : 7 * kCols, 3 * kCols};
    const int32_t behind[2] = {4 * kCols, around == 0 ? -1 : 0};
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(memory[i][0], before[i]) << "periodic " << around << ", member " << i;
      EXPECT_EQ(memory[i][5 * kCols], behind[i]) << "periodic " << around << ", member " << i;
      EXPECT_EQ(memory[i][kCols], static_cast<int32_t>(i) * 4 * kCols) << "its own";
    }
    void* const others[2] = {memory[1].data(), memory[0].data()};
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_dist_execute(plan, pointers, others), {"dst"}));
    void* const none[2] = {pointers[0], nullptr};
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_dist_execute(plan, none, nullptr), {"NULL"}));
    EXPECT_TRUE(ok(gpumem_dist_plan_destroy(plan)));
  }
}

TEST_F(Dist, PlansSayWhatTheyDo) {
  const Slabs slabs;
  const int64_t one_row[2] = {1, 0};
  const int32_t periodic[2] = {0, 0};
  gpumem_dist_plan* plans[3] = {};
  ASSERT_TRUE(ok(gpumem_dist_plan_redistribute(dist, &slabs.layout, &slabs.layout, nullptr, nullptr, &plans[0])));
  ASSERT_TRUE(ok(gpumem_dist_plan_halo(dist, &slabs.layout, one_row, one_row, periodic, nullptr, &plans[1])));
  ASSERT_TRUE(ok(gpumem_dist_plan_reduce(dist, &slabs.layout, nullptr, &plans[2])));
  for (gpumem_dist_plan* plan : plans) {
    EXPECT_NE(explained(plan, GPUMEM_FORMAT_TEXT), "");
    const std::string json = explained(plan, GPUMEM_FORMAT_JSON);
    EXPECT_TRUE(JsonReader(json).read()) << json;
  }
  EXPECT_TRUE(gives(GPUMEM_BUSY, gpumem_dist_destroy(dist)));
  for (gpumem_dist_plan* plan : plans) EXPECT_TRUE(ok(gpumem_dist_plan_destroy(plan)));
  EXPECT_TRUE(gives(GPUMEM_BUSY, gpumem_ctx_destroy(own)));
}

TEST_F(Dist, AReductionTakesItsTypeAndEveryPointer) {
  const Slabs slabs;
  gpumem_dist_plan* plan = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_plan_reduce(dist, &slabs.layout, nullptr, &plan)));
  int64_t sum = 0;
  int64_t index = -1;
  EXPECT_TRUE(ok(gpumem_dist_reduce(plan, GPUMEM_I32, GPUMEM_SUM, pointers, &sum)));
  EXPECT_EQ(sum, kRows * kCols * (kRows * kCols - 1) / 2);
  EXPECT_TRUE(ok(gpumem_dist_argreduce(plan, GPUMEM_I32, GPUMEM_MAX, pointers, nullptr, &index)));
  EXPECT_EQ(index, kRows * kCols - 1);
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_dist_reduce(plan, GPUMEM_F64, GPUMEM_SUM, pointers, &sum), {"f64"}));
  const void* const none[2] = {pointers[0], nullptr};
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_dist_reduce(plan, GPUMEM_I32, GPUMEM_SUM, none, &sum), {"NULL"}));
  EXPECT_TRUE(ok(gpumem_dist_plan_destroy(plan)));
}

TEST_F(Dist, AfterAnAbortEachCallSaysSo) {
  const Slabs slabs;
  gpumem_dist_plan* plan = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_plan_reduce(dist, &slabs.layout, nullptr, &plan)));
  ASSERT_TRUE(ok(gpumem_dist_abort(dist)));
  int64_t sum = 0;
  EXPECT_TRUE(gives(GPUMEM_PEER_LOST, gpumem_dist_reduce(plan, GPUMEM_I32, GPUMEM_SUM, pointers, &sum)));
  gpumem_dist_plan* another = nullptr;
  EXPECT_TRUE(gives(GPUMEM_PEER_LOST, gpumem_dist_plan_reduce(dist, &slabs.layout, nullptr, &another)));
  gpumem_dist_info info;
  ASSERT_TRUE(ok(gpumem_dist_info_init(&info, sizeof info)));
  ASSERT_TRUE(ok(gpumem_dist_query(dist, &info)));
  EXPECT_EQ(info.status, GPUMEM_PEER_LOST);
  EXPECT_TRUE(ok(gpumem_dist_plan_destroy(plan)));
}

// Of the first of two processes, where the other does not answer, or nothing can be sent.
class Alone : public Dist {
 protected:
  Alone() {
    EXPECT_TRUE(ok(gpumem_dist_transport_init(&transport, sizeof transport)));
    transport.user = &released;
    transport.size = 2;
    transport.isend = [](void*, const void*, int64_t, int32_t, void**) -> int32_t { return 0; };
    transport.irecv = [](void*, void*, int64_t, int32_t, void**) -> int32_t { return 0; };
    transport.test = [](void*, void*, int32_t* done) -> int32_t { return *done = 0; };
    transport.release = [](void* user) { ++*static_cast<int*>(user); };
    options.transport = &transport;
    options.deadline_s = 0.05;
  }
  gpumem_status created() {
    gpumem_dist* none = nullptr;
    const gpumem_status status = gpumem_dist_create(&options, &none);
    EXPECT_EQ(none, nullptr);
    return status;
  }

  gpumem_dist_transport transport{};
  int released = 0;
};

TEST_F(Alone, TransportsThatAreNoneAreRefused) {
  const gpumem_dist_transport sound = transport;
  const auto bad = [&](const std::function<void()>& change, std::initializer_list<std::string> words) {
    transport = sound;
    change();
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, created(), words));
  };
  bad([&] { transport.size = 0; }, {"transport", "size"});
  bad([&] { transport.rank = -1; }, {"transport", "-1"});
  bad([&] { transport.rank = 2; }, {"transport", "2"});
  bad([&] { transport.isend = nullptr; }, {"transport", "NULL"});
  bad([&] { transport.irecv = nullptr; }, {"transport", "NULL"});
  bad([&] { transport.test = nullptr; }, {"transport", "NULL"});
}

TEST_F(Alone, ASilentProcessIsGivenUp) {
  EXPECT_TRUE(gives(GPUMEM_TIMED_OUT, created()));
  EXPECT_EQ(released, 1);
}

TEST_F(Alone, ATransportThatFailsLosesTheOther) {
  transport.test = [](void*, void*, int32_t*) -> int32_t { return 1; };
  EXPECT_TRUE(gives(GPUMEM_PEER_LOST, created()));
  transport.irecv = [](void*, void*, int64_t, int32_t, void**) -> int32_t { return 1; };
  EXPECT_TRUE(gives(GPUMEM_PEER_LOST, created()));
  EXPECT_EQ(released, 2);
}

}  // namespace
}  // namespace gpumem_test
