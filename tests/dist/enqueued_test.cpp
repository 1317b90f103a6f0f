// Exchanges that are only enqueued: what they move, in whose order, and where they are refused.
#include <gtest/gtest.h>

#include "dist/two_members.hpp"

namespace gpumem_test {
namespace {

class DistEnqueued : public testing::TestWithParam<On> {
 protected:
  DistEnqueued() {
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(ok(gpumem_stream_create(contexts_[i % 3], &made_[i])));
    for (int i = 6; i < 9; ++i) EXPECT_TRUE(ok(gpumem_stream_wrap(contexts_[i % 3], nullptr, &made_[i])));
  }
  ~DistEnqueued() override {
    for (gpumem_stream* stream : made_) EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
  }
  void TearDown() override {
    for (const Context& ctx : contexts_) EXPECT_EQ(live_blocks(stats_of(ctx)), 0) << "the test left memory behind";
  }

  // Each member has one of three contexts, and the context's own stream or one of three others, of which one is the legacy one.
  Part part(int64_t members) {
    Part part{{}, 0, members};
    streams_.clear();
    for (int64_t i = 0; i < members; ++i) {
      const uint64_t which = random_.below(3);
      const uint64_t stream = random_.below(4);
      part.contexts.push_back(contexts_[which]);
      streams_.push_back(stream == 3 ? nullptr : made_[which + 3 * stream]);
    }
    return part;
  }
  // All members' streams have to be waited for, as each has pieces of its own.
  Execute enqueue(const Part& part) {
    return [this, &part](gpumem_dist_plan* plan, const void* const* src, void* const* dst) {
      const bool all_own =
          std::all_of(streams_.begin(), streams_.end(), [](auto* stream) { return stream == nullptr; });
      const gpumem_status status = gpumem_dist_execute_async(plan, src, dst, all_own ? nullptr : streams_.data());
      for (size_t i = 0; i < streams_.size(); ++i) {
        EXPECT_TRUE(ok(gpumem_stream_synchronize(part.contexts[i], streams_[i])));
      }
      return status;
    };
  }
  static int cases(int all) { return quick_run() || GetParam() == On::cuda ? all / 20 : all; }
  static int64_t elements(int64_t most) { return GetParam() == On::cuda ? most / 4 : most; }

  Context contexts_[3] = {Context(options_for_device(GetParam(), 0, 2)), Context(options_for_device(GetParam(), 1, 1)),
                          Context(options_for_device(GetParam(), 0, 1))};
  gpumem_stream* made_[9] = {};
  std::vector<gpumem_stream*> streams_;
  Random random_{0xE9};
};

TEST_P(DistEnqueued, MoveAnyLayoutToAnyOther) {
  for (int i = 0; i < cases(1000) && !HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    const Part members = part(random_.between(1, 5));
    const Dist dist = make_dist(members);
    PlannedMove move(dist.get(), members, random_move(members.all, elements(20000), random_), nullptr, random_,
                     GetParam() == On::cuda);
    move.by = enqueue(members);
    move.run(random_);
    move.run(random_);
  }
}

TEST_P(DistEnqueued, FillHalos) {
  for (int i = 0; i < cases(500) && !HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    const Part members = part(random_.between(1, 5));
    const Dist dist = make_dist(members);
    Halo halo;
    const Layout layout = random_halo_layout(members.all, elements(10000), halo, random_);
    PlannedHalo planned(dist.get(), members, layout, halo, nullptr, random_, GetParam() == On::cuda);
    planned.by = enqueue(members);
    planned.run(random_);
  }
}

TEST_P(DistEnqueued, FillHalosOfBoxesThatAreNeighboursInOneArray) {
  const Part members = part(1);
  const Dist dist = make_dist(members);
  PlannedHalo planned(dist.get(), members, quarters_of_one_array(), {{1, 1}, {1, 1}, {1, 0}}, nullptr, random_,
                      GetParam() == On::cuda);
  planned.by = enqueue(members);
  planned.run(random_);
}

// Between two devices rows are copied, and longer pieces fetched in parts and transposed.
TEST_P(DistEnqueued, ExchangeLongRows) {
  Part members = part(2);
  members.contexts[0] = contexts_[0];
  members.contexts[1] = contexts_[1];
  streams_ = {made_[0], nullptr};
  const Dist dist = make_dist(members);
  const bool two = GetParam() == On::cuda && cuda_devices() > 1 && !on_emulated_device(contexts_[0]);
  for (const Move& move : moves_of_long_rows(two)) {
    PlannedMove planned(dist.get(), members, move, nullptr, random_, GetParam() == On::cuda);
    planned.by = enqueue(members);
    planned.run(random_);
  }
}

TEST_P(DistEnqueued, FillHalosAlongTheFastestAxis) {
  for (int i = 0; i < 4; ++i) {
    Part members = part(2);
    members.contexts[0] = contexts_[0];
    members.contexts[1] = contexts_[1];
    streams_ = {made_[3 * (i % 2)], made_[1 + 3 * (i / 2)]};
    const Dist dist = make_dist(members);
    PlannedHalo planned(dist.get(), members, halves_along_the_fastest_axis(), {{0, 0, 2}, {0, 0, 2}, {0, 0, 1}},
                        nullptr, random_, GetParam() == On::cuda);
    planned.by = enqueue(members);
    planned.run(random_);
  }
}

// Each member's stream has the numbers written before, and its memory overwritten behind: in turns, nobody waiting in between.
TEST_P(DistEnqueued, RunBetweenWhatTheStreamsHold) {
  constexpr int64_t kEach = 1 << 18;
  constexpr int kTurns = 20;
  const Part members{{contexts_[0], contexts_[1]}, 0, 2};
  const Dist dist = make_dist(members);
  const Layout slabs{4, {2 * kEach}, {{0, {0}, {kEach}, 0, {1}}, {1, {kEach}, {2 * kEach}, 0, {1}}}};
  const Layout swapped{4, {2 * kEach}, {{1, {0}, {kEach}, 0, {1}}, {0, {kEach}, {2 * kEach}, 0, {1}}}};
  const View from(slabs, 0, 2), to(swapped, 0, 2);
  gpumem_dist_plan* made = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_plan_redistribute(dist.get(), &from.raw, &to.raw, nullptr, nullptr, &made)));
  Plan plan(made);
  gpumem_stream* const streams[] = {made_[0], made_[1]};
  std::deque<Memory> memory;
  for (int i = 0; i < 2; ++i) memory.emplace_back(contexts_[i], GPUMEM_MEMORY_DEVICE, kEach * 4);
  for (int i = 0; i < 2 * kTurns; ++i) memory.emplace_back(contexts_[i % 2], GPUMEM_MEMORY_DEVICE, kEach * 4);
  const void* const src[] = {memory[0].get(), memory[1].get()};
  for (int32_t turn = 0; turn < kTurns; ++turn) {
    void* const dst[] = {memory[static_cast<size_t>(2 + 2 * turn)].get(),
                         memory[static_cast<size_t>(3 + 2 * turn)].get()};
    for (int i = 0; i < 2; ++i) {
      const int32_t value = 100 * turn + i;
      ASSERT_TRUE(
          ok(gpumem_fill_async(contexts_[i], memory[static_cast<size_t>(i)].get(), &value, 4, kEach, streams[i])));
    }
    ASSERT_TRUE(ok(gpumem_dist_execute_async(plan.get(), src, dst, streams)));
  }
  plan.reset();  // what was enqueued does not need it
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(ok(gpumem_stream_synchronize(contexts_[i], streams[i])));
  for (int32_t turn = 0; turn < kTurns; ++turn) {
    for (int i = 0; i < 2; ++i) {
      std::vector<int32_t> got(kEach);
      upload(contexts_[i], got.data(), memory[static_cast<size_t>(2 + 2 * turn + i)].get(), got.size() * 4);
      ASSERT_EQ(got, std::vector<int32_t>(kEach, 100 * turn + 1 - i)) << "turn " << turn << ", member " << i;
    }
  }
}

class DistEnqueuedRefusals : public TwoMembers {};

TEST_P(DistEnqueuedRefusals, BadCalls) {
  Context same(GetParam(), 1);
  {
    const Part members{{ctx, same}, 0, 2};
    dist_.reset();
    dist_ = make_dist(members);
    const Plan plan = make_redistribution(), sum = make_reduction();
    GuardedBuffer from(ctx, GPUMEM_MEMORY_DEVICE, 96), to(ctx, GPUMEM_MEMORY_DEVICE, 96);
    const void* const src[] = {from.data(), from.data() + 48};
    void* const dst[] = {to.data(), to.data() + 48};
    void* const hole[] = {to.data(), nullptr};
    void* const over[] = {to.data(), from.data()};
    gpumem_stream* stream = nullptr;
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    gpumem_stream* const foreign[] = {nullptr, stream};
    gpumem_stream* const garbage[] = {no_handle<gpumem_stream>(), nullptr};
    const auto run = [&](gpumem_dist_plan* of, const void* const* x, void* const* y, gpumem_stream* const* streams) {
      return gpumem_dist_execute_async(of, x, y, streams);
    };
    EXPECT_TRUE(refused(kBad, run(nullptr, src, dst, nullptr), {"plan", "NULL"}));
    EXPECT_TRUE(refused(kBad, run(sum.get(), src, dst, nullptr), {"plan"}));
    EXPECT_TRUE(refused(kBad, run(plan.get(), nullptr, dst, nullptr), {"src", "NULL"}));
    EXPECT_TRUE(refused(kBad, run(plan.get(), src, nullptr, nullptr), {"dst", "NULL"}));
    EXPECT_TRUE(refused(kBad, run(plan.get(), src, hole, nullptr), {"dst", "1", "NULL"}));
    EXPECT_TRUE(refused(kBad, run(plan.get(), src, over, nullptr), {"dst", "src"}));
    EXPECT_TRUE(refused(kBad, run(plan.get(), src, dst, foreign), {"streams[1]"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, run(plan.get(), src, dst, garbage), {"streams[0]"}));
    EXPECT_TRUE(from.intact() && to.intact());
    EXPECT_TRUE(ok(run(plan.get(), src, dst, nullptr))) << "none of this is the end of it";
    EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
    EXPECT_TRUE(ok(gpumem_ctx_synchronize(same)));
    EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
  }
  dist_.reset();
}

// What a device would have to bring from the host, also where a strict host context stands for one.
TEST_P(DistEnqueuedRefusals, TwoSides) {
  gpumem_ctx_options options = options_for(GetParam(), 1);
  options.strict_host = 1;
  const Context strict(options);
  dist_.reset();
  dist_ = make_dist({{strict, strict}, 0, 2});
  {
    const Plan plan = make_redistribution();
    GuardedBuffer from(strict, GPUMEM_MEMORY_PINNED, 96), to(strict, GPUMEM_MEMORY_DEVICE, 96);
    const void* const src[] = {from.data(), from.data() + 48};
    void* const dst[] = {to.data(), to.data() + 48};
    EXPECT_TRUE(
        refused(GPUMEM_UNSUPPORTED, gpumem_dist_execute_async(plan.get(), src, dst, nullptr), {"src[0]", "dst[0]"}));
    EXPECT_TRUE(from.intact() && to.intact());
    EXPECT_TRUE(ok(gpumem_dist_execute(plan.get(), src, dst)));
  }
  dist_.reset();
}

// One member works on the device, the other on the host.
TEST_P(DistEnqueuedRefusals, TwoKindsOfContext) {
  const Plan plan = make_redistribution();
  Bytes from(96, 1), to(96, 2);
  const void* const src[] = {from.data(), from.data() + 48};
  void* const dst[] = {to.data(), to.data() + 48};
  const gpumem_status status = gpumem_dist_execute_async(plan.get(), src, dst, nullptr);
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(other_)));
  if (GetParam() == On::host) {
    EXPECT_TRUE(ok(status));
    EXPECT_EQ(to, from);
  } else {
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {"member", "host"}));
    EXPECT_EQ(to, Bytes(96, 2));
  }
}

INSTANTIATE_TEST_SUITE_P(On, DistEnqueued, testing::ValuesIn(contexts_here()), OnEachContext::name);
INSTANTIATE_TEST_SUITE_P(On, DistEnqueuedRefusals, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
