// Processes that do not tell the same: mistakes that are found before anything is sent, which all of them get and nothing is lost by,
// and plans that are not the same one.
#include <gtest/gtest.h>

#include "dist/worker.hpp"

namespace gpumem_test {
namespace {

// Whether the messages of the two plans are of the same lengths or not.
TEST(DistDisagreements, AProcessThatCarriesOutAnotherPlan) {
  for (const bool same_lengths : {false, true}) {
    SCOPED_TRACE(same_lengths);
    const auto processes = in_processes(On::host, 2, [=](Rank& rank) {
      rank.transport.allow_longer();
      rank.start(kEnough);
      const Move one = all_to_all(rank.part, 50);
      Move other = all_to_all(rank.part, same_lengths ? 50 : 70);
      if (same_lengths) {
        for (Box& box : other.dst.boxes) box.member = rank.part.all - 1 - box.member;
      }
      PlannedMove mine(rank.dist.get(), rank.part, one, nullptr, rank.own);
      PlannedMove theirs(rank.dist.get(), rank.part, other, nullptr, rank.own);
      mine.run(rank.shared);
      theirs.run(rank.shared);
      const gpumem_status status = in_time(kEnough, [&] { return (rank.rank == 0 ? mine : theirs).execute(); });
      EXPECT_TRUE(status == GPUMEM_INVALID_ARGUMENT || lost(status)) << gpumem_status_name(status);
      expect_stuck(rank, status);
    });
    EXPECT_TRUE(processes->all_well());
  }
}

TEST(DistDisagreements, AProcessThatReducesByAnotherOperation) {
  struct Other {
    gpumem_dtype dtype;
    gpumem_reduce_op op;
  };
  for (const Other& other :
       {Other{GPUMEM_F64, GPUMEM_MAX}, Other{GPUMEM_I64, GPUMEM_SUM}, Other{GPUMEM_F64, GPUMEM_ARG_MAX},
        Other{GPUMEM_F64, GPUMEM_NRM2}, Other{GPUMEM_F64, GPUMEM_SUM_SQUARES}}) {
    SCOPED_TRACE(op_name(other.op));
    const auto processes = in_processes(On::host, 2, [=](Rank& rank) {
      Worker worker(rank, kEnough);
      ASSERT_TRUE(ok(worker.start()));
      ASSERT_TRUE(ok(worker.plan()));
      const gpumem_status status = rank.rank == 0 ? worker.sum() : worker.sum(other.dtype, other.op);
      if (status == GPUMEM_INVALID_ARGUMENT) {  // seen by both before anything was lost
        EXPECT_TRUE(ok(worker.sum()));
      } else {
        EXPECT_TRUE(lost(status));
        worker.expect_all_stuck(status);
      }
    });
    EXPECT_TRUE(processes->all_well());
  }
}

// Each process plans, with rank 1 doing what `mistake` makes of it; then all of them do it right.
template <class Plan_, class Expect>
void expect_refused_everywhere(Plan_ plan, Expect expect) {
  const auto processes = in_processes(On::host, 3, [=](Rank& rank) {
    rank.start(kLong);
    auto* made = reinterpret_cast<gpumem_dist_plan*>(&rank);
    forget_last_error();
    const Clock::time_point start = Clock::now();
    const gpumem_status status = plan(rank, rank.rank == 1, &made);
    EXPECT_LT(seconds_since(start), kLong / 2) << "it is not the deadline that ends it";
    expect(status);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(info_of(rank.dist.get()).status, GPUMEM_OK);
    ASSERT_TRUE(ok(plan(rank, false, &made)));
    const Plan destroyed(made);
    PlannedMove(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own).run(rank.shared);
  });
  EXPECT_TRUE(processes->all_well());
}

// A mistake in a layout, as one process tells it.
void expect_layout_refused(const std::function<void(gpumem_dist_layout&, Index& extents)>& mistake,
                           std::initializer_list<std::string> words) {
  const std::vector<std::string> all(words);
  expect_refused_everywhere(
      [=](Rank& rank, bool wrong, gpumem_dist_plan** plan) {
        const Layout layout = slabs(rank.part, 600);
        View view(layout, rank.part.first, rank.part.count());
        Index extents = layout.extents;
        view.raw.extents = extents.data();
        if (wrong) mistake(view.raw, extents);
        return gpumem_dist_plan_reduce(rank.dist.get(), &view.raw, nullptr, plan);
      },
      [=](gpumem_status status) {
        const std::string sentence = last_error();
        EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, status, {}));
        for (const std::string& word : all) EXPECT_TRUE(contains_word(sentence, word)) << word << ": " << sentence;
      });
}

TEST(DistDisagreements, OtherExtentsAreRefusedEverywhere) {
  expect_layout_refused([](gpumem_dist_layout&, Index& extents) { extents[0] = 601; }, {"extents"});
}

TEST(DistDisagreements, AnotherSizeOfElementsIsRefusedEverywhere) {
  expect_layout_refused([](gpumem_dist_layout& layout, Index&) { layout.element_bytes = 4; }, {"element_bytes"});
}

TEST(DistDisagreements, ALayoutThatIsWrongByItselfIsRefusedEverywhere) {
  expect_layout_refused([](gpumem_dist_layout& layout, Index&) { layout.rank = 0; }, {"rank"});
  expect_layout_refused([](gpumem_dist_layout& layout, Index&) { layout.lower = nullptr; }, {"lower"});
}

// Member 2 is the only one of rank 1; its slab is 200 to 300.
TEST(DistDisagreements, BoxesThatOverlapOrLeaveHolesAreRefusedEverywhere) {
  static const int64_t kEarlier[] = {199}, kLater[] = {201}, kPast[] = {601};
  ASSERT_EQ(members_of(0), 2);
  ASSERT_EQ(members_of(1), 1);
  expect_layout_refused([](gpumem_dist_layout& layout, Index&) { layout.lower = kEarlier; }, {"box", "member"});
  expect_layout_refused([](gpumem_dist_layout& layout, Index&) { layout.lower = kLater; }, {});
  expect_layout_refused([](gpumem_dist_layout& layout, Index&) { layout.upper = kPast; }, {"box", "member", "601"});
}

TEST(DistDisagreements, OtherMarginsAreRefusedEverywhere) {
  for (const char* which : {"low", "high", "periodic"}) {
    SCOPED_TRACE(which);
    const std::string name = which;
    expect_refused_everywhere(
        [=](Rank& rank, bool wrong, gpumem_dist_plan** plan) {
          Layout layout = slabs(rank.part, 600);
          for (Box& box : layout.boxes) box.offset = 3;
          const View view(layout, rank.part.first, rank.part.count());
          const int64_t low = wrong && name == "low" ? 2 : 1, high = wrong && name == "high" ? 2 : 1;
          const int32_t periodic = wrong && name == "periodic" ? 1 : 0;
          return gpumem_dist_plan_halo(rank.dist.get(), &view.raw, &low, &high, &periodic, nullptr, plan);
        },
        [=](gpumem_status status) {
          const std::string sentence = last_error();
          EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, status, {}));
          EXPECT_TRUE(contains_word(sentence, name)) << sentence;
        });
  }
}

TEST(DistDisagreements, AnotherOrderOrKindOfPlanIsRefusedEverywhere) {
  expect_refused_everywhere(
      [](Rank& rank, bool wrong, gpumem_dist_plan** plan) {
        Layout layout{4, {6, 6}, {cutting::whole_array({6, 6}, 0)}};
        layout.boxes[0].strides = {6, 1};
        const View view(layout, rank.part.first, rank.part.count());
        const int32_t order[] = {wrong ? 1 : 0, wrong ? 0 : 1};
        return gpumem_dist_plan_redistribute(rank.dist.get(), &view.raw, &view.raw, order, nullptr, plan);
      },
      [](gpumem_status status) { EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, status, {"order"})); });
  expect_refused_everywhere(
      [](Rank& rank, bool wrong, gpumem_dist_plan** plan) {
        const Layout layout = slabs(rank.part, 600);
        const View view(layout, rank.part.first, rank.part.count());
        if (!wrong) return gpumem_dist_plan_reduce(rank.dist.get(), &view.raw, nullptr, plan);
        return gpumem_dist_plan_redistribute(rank.dist.get(), &view.raw, &view.raw, nullptr, nullptr, plan);
      },
      [](gpumem_status status) { EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, status, {})); });
}

TEST(DistDisagreements, AWorkspaceTooSmallIsRefusedEverywhere) {
  expect_refused_everywhere(
      [](Rank& rank, bool wrong, gpumem_dist_plan** plan) {
        const Layout layout = slabs(rank.part, 600);
        const View view(layout, rank.part.first, rank.part.count());
        const gpumem_dist_plan_options options = plan_options(wrong ? 4095 : 4096);
        return gpumem_dist_plan_reduce(rank.dist.get(), &view.raw, &options, plan);
      },
      [](gpumem_status status) {
        EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, status, {"workspace_bytes", "4095"}));
      });
}

}  // namespace
}  // namespace gpumem_test
