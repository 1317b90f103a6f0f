// Every mistake in a plan: its status, a sentence that names argument, member and box, and no plan.
#include <gtest/gtest.h>

#include "dist/two_members.hpp"

namespace gpumem_test {
namespace {

class DistLayouts : public TwoMembers {};

TEST_P(DistLayouts, LayoutsByTheirNumbers) {
  for (const int64_t bytes : {int64_t{0}, int64_t{3}, int64_t{32}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    expect_layout_refused({"element_bytes", std::to_string(bytes)}, [&](auto& l) { l.element_bytes = bytes; });
  }
  for (const int32_t rank : {0, -1, 9, INT32_MAX, INT32_MIN}) {
    expect_layout_refused({"rank", std::to_string(rank)}, [&](auto& l) { l.rank = rank; });
  }
  for (const int64_t boxes : {int64_t{-1}, INT64_MIN}) {
    expect_layout_refused({"boxes", std::to_string(boxes)}, [&](auto& l) { l.boxes = boxes; });
  }
  expect_layout_refused({"extents", "NULL"}, [](auto& l) { l.extents = nullptr; });
  expect_layout_refused({"lower", "NULL"}, [](auto& l) { l.lower = nullptr; });
  expect_layout_refused({"upper", "NULL"}, [](auto& l) { l.upper = nullptr; });
  expect_layout_refused({"reserved0", "9"}, [](auto& l) { l.reserved0 = 9; });
  for (const int64_t size : {int64_t{0}, int64_t{7}, int64_t{-1}}) {
    expect_layout_refused({"struct_size", std::to_string(size)}, [&](auto& l) { l.struct_size = size; });
  }
}

TEST_P(DistLayouts, LayoutsByTheirBoxes) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const int64_t negative[] = {4, -6}, huge[] = {kHuge, kHuge};
  expect_layout_refused({"extents", "-6"}, [&](auto& l) { l.extents = negative; });
  expect_layout_refused({std::to_string(kHuge)}, [&](auto& l) { l.extents = huge; });
  // Box 1 is member 1's.
  const int64_t below[] = {0, 0, -2, 0}, above[] = {2, 6, 5, 6}, reversed[] = {2, 6, 1, 6};
  expect_layout_refused({"lower", "box", "1", "-2"}, [&](auto& l) { l.lower = below; });
  expect_layout_refused({"upper", "box", "1", "5"}, [&](auto& l) { l.upper = above; });
  expect_layout_refused({"upper", "box", "1"}, [&](auto& l) { l.upper = reversed; });
  const int32_t past[] = {0, 2}, before[] = {0, -1};
  expect_layout_refused({"box", "1", "2"}, [&](auto& l) { l.members = past; });
  expect_layout_refused({"box", "1", "-1"}, [&](auto& l) { l.members = before; });
  const int64_t three[] = {0, 0, 2, 0, 3, 0}, three_ends[] = {2, 6, 3, 6, 4, 6};
  expect_layout_refused({"box", "2"}, [&](auto& l) {
    l.members = nullptr;
    l.offsets = l.strides = nullptr;
    l.boxes = 3;
    l.lower = three;
    l.upper = three_ends;
  });
  const int64_t none[] = {6, 1, 0, 1}, back[] = {6, 1, 6, -1}, far[] = {6, 1, INT64_MAX, 1};
  expect_layout_refused({"stride", "box", "1", "0"}, [&](auto& l) { l.strides = none; });
  expect_layout_refused({"stride", "box", "1", "-1"}, [&](auto& l) { l.strides = back; });
  expect_layout_refused({"box", "1"}, [&](auto& l) { l.strides = far; });
  const int64_t before_it[] = {0, -1}, far_away[] = {0, INT64_MAX};
  expect_layout_refused({"offset", "box", "1", "-1"}, [&](auto& l) { l.offsets = before_it; });
  expect_layout_refused({"box", "1"}, [&](auto& l) { l.offsets = far_away; });
}

TEST_P(DistLayouts, BoxesThatOverlapOrLeaveHoles) {
  const Layout sound = two_slabs();
  const View good(sound, 0, 2);
  // Row 1 is both members', then row 2 nobody's.
  Layout shared = sound;
  shared.boxes[1].lower[0] = 1;
  Layout hole = sound;
  hole.boxes[1].lower[0] = 3;
  const View overlapping(shared, 0, 2), holes(hole, 0, 2);
  expect_refused(kBad, {"src", "box", "member", "0", "1"},
                 [&](auto plan) { return redistribute(&overlapping.raw, &good.raw, plan); });
  expect_refused(kBad, {"layout", "box", "member", "0", "1"}, [&](auto plan) { return halo(&overlapping.raw, plan); });
  expect_refused(kBad, {"layout", "box", "member", "0", "1"},
                 [&](auto plan) { return reduce(&overlapping.raw, plan); });
  expect_refused(kBad, {"dst", "box", "member"}, [&](auto plan) { return redistribute(&holes.raw, &good.raw, plan); });
  expect_refused(kBad, {"layout", "halo", "2:3", "member 0", "none of the 2 boxes"},
                 [&](auto plan) { return halo(&holes.raw, plan); });
  expect_refused(kBad, {"layout"}, [&](auto plan) { return reduce(&holes.raw, plan); });
  // Of dst both are sound.
  for (const View* dst : {&overlapping, &holes}) {
    gpumem_dist_plan* plan = nullptr;
    EXPECT_TRUE(ok(redistribute(&good.raw, &dst->raw, &plan)));
    EXPECT_TRUE(ok(gpumem_dist_plan_destroy(plan)));
  }
  // The two boxes of one member, too.
  Layout same = shared;
  same.boxes[1].member = 0;
  same.boxes[1].offset = 100;
  const View of_one(same, 0, 2);
  expect_refused(kBad, {"src", "box", "member", "0"},
                 [&](auto plan) { return redistribute(&of_one.raw, &good.raw, plan); });
}

TEST_P(DistLayouts, Redistribute) {
  const Layout from = two_slabs(), to = two_columns();
  const View src(from, 0, 2), dst(to, 0, 2);
  expect_refused(kBad, {"src", "NULL"}, [&](auto plan) { return redistribute(nullptr, &dst.raw, plan); });
  expect_refused(kBad, {"dst", "NULL"}, [&](auto plan) { return redistribute(&src.raw, nullptr, plan); });
  EXPECT_TRUE(refused(kBad, redistribute(&src.raw, &dst.raw, nullptr), {"plan", "NULL"}));
  expect_refused(kBad, {"dist", "NULL"}, [&](auto plan) {
    return gpumem_dist_plan_redistribute(nullptr, &src.raw, &dst.raw, nullptr, nullptr, plan);
  });
  const auto with_order = [&](std::initializer_list<std::string> words, int32_t first, int32_t second) {
    const int32_t order[] = {first, second};
    expect_refused(kBad, words, [&](auto plan) { return redistribute(&src.raw, &dst.raw, plan, order); });
  };
  with_order({"order", "0", "-1"}, -1, 0);
  with_order({"order", "1", "2"}, 0, 2);
  with_order({"order", "1"}, 1, 1);
  with_order({"extents", "4", "6"}, 1, 0);  // the extents of dst are not those of src in that order
  Layout other_elements = to, other_rank{4, {24}, {{0, {0}, {24}, 0, {1}}}}, longer = to;
  other_elements.element_bytes = 8;
  longer.extents[1] = 7;
  const View of_eight(other_elements, 0, 2), of_one_axis(other_rank, 0, 2), of_more(longer, 0, 2);
  expect_refused(kBad, {"dst", "src", "4", "8"},
                 [&](auto plan) { return redistribute(&src.raw, &of_eight.raw, plan); });
  expect_refused(kBad, {"rank", "2", "1"}, [&](auto plan) { return redistribute(&src.raw, &of_one_axis.raw, plan); });
  expect_refused(kBad, {"extents", "6", "7"}, [&](auto plan) { return redistribute(&src.raw, &of_more.raw, plan); });
}

TEST_P(DistLayouts, PlanOptions) {
  const Layout slabs = two_slabs();
  const View view(slabs, 0, 2);
  const auto expect_none = [&](std::initializer_list<std::string> words, const gpumem_dist_plan_options& options) {
    expect_refused(kBad, words, [&](auto plan) { return redistribute(&view.raw, &view.raw, plan, nullptr, &options); });
    expect_refused(kBad, words, [&](auto plan) {
      return gpumem_dist_plan_halo(dist_.get(), &view.raw, kOnes, kOnes, kEnds, &options, plan);
    });
    expect_refused(kBad, words,
                   [&](auto plan) { return gpumem_dist_plan_reduce(dist_.get(), &view.raw, &options, plan); });
  };
  for (const int64_t bytes : {int64_t{0}, int64_t{-1}, int64_t{4095}, INT64_MIN}) {
    expect_none({"workspace_bytes", std::to_string(bytes)}, plan_options(bytes));
  }
  gpumem_dist_plan_options sizeless = plan_options(4096);
  sizeless.struct_size = 0;
  expect_none({"struct_size", "0"}, sizeless);
}

TEST_P(DistLayouts, Halo) {
  const Layout slabs = two_slabs();
  const View view(slabs, 0, 2);
  const auto plan_halo = [&](const int64_t* low, const int64_t* high, const int32_t* periodic) {
    return [=, this, &view](gpumem_dist_plan** plan) {
      return gpumem_dist_plan_halo(dist_.get(), &view.raw, low, high, periodic, nullptr, plan);
    };
  };
  expect_refused(kBad, {"low", "NULL"}, plan_halo(nullptr, kOnes, kEnds));
  expect_refused(kBad, {"high", "NULL"}, plan_halo(kOnes, nullptr, kEnds));
  expect_refused(kBad, {"periodic", "NULL"}, plan_halo(kOnes, kOnes, nullptr));
  const int64_t negative[] = {1, -1};
  expect_refused(kBad, {"low", "1", "-1"}, plan_halo(negative, kOnes, kEnds));
  expect_refused(kBad, {"high", "1", "-1"}, plan_halo(kOnes, negative, kEnds));
  const int64_t far[] = {INT64_MAX, 1};
  expect_refused(kBad, {"low"}, plan_halo(far, kOnes, kEnds));
  expect_refused(kBad, {"high"}, plan_halo(kOnes, far, kEnds));
  expect_refused(kBad, {"layout", "NULL"}, [&](auto plan) { return halo(nullptr, plan); });
  EXPECT_TRUE(refused(kBad, halo(&view.raw, nullptr), {"plan", "NULL"}));
  EXPECT_TRUE(refused(kBad, reduce(&view.raw, nullptr), {"plan", "NULL"}));
  expect_refused(kBad, {"layout", "NULL"}, [&](auto plan) { return reduce(nullptr, plan); });
}

// Columns of a matrix without gaps: what lies round one row would be written into the next one.
TEST_P(DistLayouts, AHaloHasRoomInsideItsBoxToo) {
  Layout layout{4, {2, 4}, {{0, {0, 0}, {2, 2}, 1, {2, 1}}, {1, {0, 2}, {2, 4}, 1, {2, 1}}}};
  const int64_t none[] = {0, 0}, columns[] = {0, 1};
  const int32_t round[] = {0, 1}, ends[] = {0, 0};
  const auto plan_halo = [&](const int32_t* periodic) {
    return [&, periodic](gpumem_dist_plan** plan) {
      const View view(layout, 0, 2);
      return gpumem_dist_plan_halo(dist_.get(), &view.raw, none, columns, periodic, nullptr, plan);
    };
  };
  expect_refused(kBad, {"box 0 and its halo", "strides[0]", "2"}, plan_halo(round));
  expect_refused(kBad, {"box 0 and its halo", "strides[0]", "2"}, plan_halo(ends));
  layout.boxes[0].strides = {3, 1};  // that of the other ends with the array, where nothing is written behind
  gpumem_dist_plan* made = nullptr;
  ASSERT_TRUE(ok(plan_halo(ends)(&made)));
  const Plan plan(made);
  expect_refused(kBad, {"box 1 and its halo", "strides[0]", "2"}, plan_halo(round));
}

// Ghosts before the first element that the program points to.
TEST_P(DistLayouts, AHaloRoundAnInterior) {
  const Layout layout{4, {8}, {{0, {0}, {4}, 0, {1}}, {1, {4}, {8}, 0, {1}}}};
  const View view(layout, 0, 2);
  gpumem_dist_plan* made = nullptr;
  ASSERT_TRUE(ok(halo(&view.raw, &made)));
  const Plan plan(made);
  int32_t memory[2][6] = {{-1, 0, 1, 2, 3, -1}, {-1, 4, 5, 6, 7, -1}};
  const void* const interior[] = {&memory[0][1], &memory[1][1]};
  ASSERT_TRUE(ok(gpumem_dist_execute(plan.get(), interior, nullptr)));
  EXPECT_EQ(memory[0][5], 4);
  EXPECT_EQ(memory[1][0], 3);
}

TEST_P(DistLayouts, HalosAtTheEndOfWhatCanBeCounted) {
  constexpr int64_t kMost = INT64_MAX;
  const Layout layout{1, {kMost}, {{0, {kMost - 20}, {kMost - 10}, 0, {1}}, {1, {kMost - 10}, {kMost}, 0, {1}}}};
  const View view(layout, 0, 2);
  const int64_t none = 0;
  const int32_t ends = 0;
  const int32_t around = 1;
  const auto plan_halo = [&](int64_t high, const int32_t* periodic) {
    return [&, high, periodic](gpumem_dist_plan** plan) {
      return gpumem_dist_plan_halo(dist_.get(), &view.raw, &none, &high, periodic, nullptr, plan);
    };
  };
  expect_refused(kBad, {"high"}, plan_halo(20, &ends));
  expect_refused(kBad, {"periodic"}, plan_halo(1, &around));
  expect_refused(kBad, {"high"}, plan_halo(kMost, &ends));
}

TEST_P(DistLayouts, PlacesThatAreWrittenTwiceAreRefused) {
  Layout twice = two_slabs();
  for (auto& box : twice.boxes) box.strides = {1, 1};
  const Layout sound = two_slabs();
  const View bad(twice, 0, 2);
  const View good(sound, 0, 2);
  expect_refused(kBad, {"dst", "member", "strides"},
                 [&](gpumem_dist_plan** plan) { return redistribute(&good.raw, &bad.raw, plan); });
  gpumem_dist_plan* made = nullptr;
  EXPECT_TRUE(ok(redistribute(&bad.raw, &good.raw, &made)));  // what is read may be read twice
  EXPECT_TRUE(ok(gpumem_dist_plan_destroy(made)));
}

// Boxes of one member that are written to the same places.
TEST_P(DistLayouts, BoxesThatOverlapInMemoryAreRefused) {
  const auto expect = [&](bool refused, const Layout& from, const Layout& to) {
    const View src(from, 0, 2), dst(to, 0, 2);
    if (refused) {
      expect_refused(kBad, {"dst", "boxes", "0", "1", "member"},
                     [&](auto plan) { return redistribute(&src.raw, &dst.raw, plan); });
      return;
    }
    gpumem_dist_plan* made = nullptr;
    EXPECT_TRUE(ok(redistribute(&src.raw, &dst.raw, &made))) << last_error();
    const Plan plan(made);
  };
  const Layout line{4, {8}, {{0, {0}, {8}, 0, {1}}}};
  const auto of_line = [](Box one, Box other) { return Layout{4, {8}, {one, other}}; };
  for (const int64_t member : {0, 1}) {
    const auto halves = [&](int64_t offset, int64_t stride = 1) {
      return of_line({member, {0}, {4}, 0, {stride}}, {member, {4}, {8}, offset, {stride}});
    };
    expect(true, line, halves(0));
    expect(true, line, halves(2));
    expect(true, line, halves(3));
    expect(false, line, halves(4));
    expect(false, line, halves(1, 2));  // between each other
    expect(true, line, halves(2, 2));
    expect(true, line, halves(6, 2));
    expect(false, line, halves(7, 2));
    expect(true, line, of_line({member, {4}, {8}, 2, {1}}, {member, {0}, {4}, 0, {1}}));
    // Every third place from 0 and every second from 1: 3 is of both.
    expect(true, line, of_line({member, {0}, {4}, 0, {3}}, {member, {4}, {8}, 1, {2}}));
    expect(false, line, of_line({member, {0}, {2}, 0, {4}}, {member, {4}, {8}, 2, {4}}));
  }
  expect(false, line, of_line({0, {0}, {4}, 0, {1}}, {1, {4}, {8}, 0, {1}}));  // of two members
  expect(false, line, of_line({0, {0}, {4}, 0, {1}}, {0, {4}, {4}, 0, {1}}));  // empty
  // The same elements at the same places; and at others.
  expect(false, line, of_line({0, {0}, {5}, 0, {1}}, {0, {3}, {8}, 3, {1}}));
  expect(true, line, of_line({0, {0}, {5}, 0, {1}}, {0, {3}, {8}, 4, {1}}));
  // Columns of one array in rows of 6, then of 5.
  const Layout rows{4, {4, 6}, {{0, {0, 0}, {4, 6}, 0, {6, 1}}}};
  const auto columns = [](int64_t stride) {
    return Layout{4, {4, 6}, {{1, {0, 0}, {4, 3}, 0, {stride, 1}}, {1, {0, 3}, {4, 6}, 3, {stride, 1}}}};
  };
  expect(false, rows, columns(6));
  expect(true, rows, columns(5));
  // A halo's boxes, too.
  const int64_t none[] = {0};
  const int32_t ends[] = {0};
  const Layout halves = of_line({0, {0}, {4}, 0, {1}}, {0, {4}, {8}, 2, {1}});
  const View view(halves, 0, 2);
  expect_refused(kBad, {"layout", "boxes", "0", "1", "member"}, [&](auto plan) {
    return gpumem_dist_plan_halo(dist_.get(), &view.raw, none, none, ends, nullptr, plan);
  });
}

// Against every place of two boxes of a few elements.
TEST_P(DistLayouts, BoxesThatOverlapInMemoryAreFound) {
  if (GetParam() != On::host) GTEST_SKIP() << "layouts are the same on every context";
  Random random{0x0BE};
  const int cases = quick_run() ? 1000 : 10000;
  int with = 0;
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    // Two boxes of their own elements, one behind the other along the first axis.
    const int64_t a = random.between(1, 4), b = random.between(1, 4), cols = random.between(1, 4);
    const auto strides = [&](int64_t rows) {
      const bool turned = random.below(2) == 0;
      const int64_t inner = random.between(1, 4);
      const int64_t outer = inner * ((turned ? rows : cols) - 1) + random.between(1, 9);
      return turned ? std::vector<int64_t>{inner, outer} : std::vector<int64_t>{outer, inner};
    };
    const Layout from{4, {a + b, cols}, {{0, {0, 0}, {a + b, cols}, 0, {cols, 1}}}};
    Layout to{4, {a + b, cols}, {}};
    to.boxes.push_back({1, {0, 0}, {a, cols}, random.between(0, 12), strides(a)});
    to.boxes.push_back(
        {1, {a, 0}, {a + b, cols}, random.between(0, 12), random.below(2) == 0 ? to.boxes[0].strides : strides(b)});
    if (to.boxes[1].strides == to.boxes[0].strides && b > a) continue;
    std::vector<int> written(200);
    bool twice = false;
    for (const Box& box : to.boxes) {
      for (int64_t y = box.lower[0]; y < box.upper[0]; ++y) {
        for (int64_t x = 0; x < cols; ++x) twice = ++written[static_cast<size_t>(box.place({y, x}))] > 1 || twice;
      }
    }
    const View src(from, 0, 2), dst(to, 0, 2);
    gpumem_dist_plan* made = nullptr;
    const gpumem_status status = redistribute(&src.raw, &dst.raw, &made);
    const Plan plan(made);
    EXPECT_TRUE(gives(twice ? kBad : GPUMEM_OK, status)) << describe(to);
    with += twice ? 1 : 0;
  }
  EXPECT_GT(with, cases / 20);
}

// Where no two elements lie along an axis, its stride is not looked at: NumPy gives 0 for those of an empty array.
TEST_P(DistLayouts, StridesOfAxesWithoutASecondElement) {
  for (const int64_t any : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    SCOPED_TRACE(any);
    Layout layout{
        4,
        {3, 4},
        {{0, {0, 0}, {1, 4}, 0, {any, 1}}, {1, {1, 0}, {3, 4}, 0, {4, 1}}, {0, {2, 2}, {2, 4}, 0, {any, any}}}};
    layout.spelled_out = true;
    Random random{0x57};
    PlannedMove(dist_.get(), part_, {layout, layout, {}}, nullptr, random).run(random);
    PlannedReduction(dist_.get(), part_, layout, nullptr, random)
        .run(part_.contexts[0], GPUMEM_F32, GPUMEM_SUM, random);
    const View view(layout, 0, 2);
    const int64_t none[] = {0, 0}, rows[] = {1, 0};
    const int32_t ends[] = {0, 0};
    gpumem_dist_plan* made = nullptr;
    EXPECT_TRUE(ok(gpumem_dist_plan_halo(dist_.get(), &view.raw, none, none, ends, nullptr, &made)));
    const Plan plan(made);
    // Here something is written along it.
    expect_refused(kBad, {"box"}, [&](auto to) {
      return gpumem_dist_plan_halo(dist_.get(), &view.raw, none, rows, ends, nullptr, to);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(On, DistLayouts, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
