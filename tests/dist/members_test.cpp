// Members of one process: any layout to any other, halos and reductions, against what was written out element by element.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "dist/ranks.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kMembers[] = {1, 2, 3, 4, 7};

class Members : public testing::TestWithParam<On> {
 protected:
  // Each member has one of three contexts, so that some share one.
  Part part(int64_t members) {
    Part part{{}, 0, members};
    for (int64_t i = 0; i < members; ++i) part.contexts.push_back(contexts_[random_.below(3)]);
    return part;
  }
  void TearDown() override {
    for (const Context& ctx : contexts_) EXPECT_EQ(live_blocks(stats_of(ctx)), 0) << "the test left memory behind";
  }
  // The emulated device takes its time for each kernel.
  static int cases(int all) { return quick_run() || GetParam() == On::cuda ? all / 20 : all; }
  static int64_t elements(int64_t most) { return GetParam() == On::cuda ? most / 4 : most; }

  Context contexts_[3] = {Context(options_for_device(GetParam(), 0, 2)), Context(options_for_device(GetParam(), 1, 1)),
                          Context(On::host, 2)};
  Random random_{0xD157};
};

TEST_P(Members, MoveAnyLayoutToAnyOther) {
  for (int i = 0; i < cases(2000) && !HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    const Part members = part(kMembers[i % 5]);
    const Dist dist = make_dist(members);
    const gpumem_dist_plan_options options = random_plan_options(random_);
    PlannedMove move(dist.get(), members, random_move(members.all, elements(20000), random_),
                     random_.below(4) == 0 ? nullptr : &options, random_);
    move.run(random_);
  }
}

TEST_P(Members, FillHalos) {
  for (int i = 0; i < cases(1000) && !HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    const Part members = part(kMembers[i % 5]);
    const Dist dist = make_dist(members);
    const gpumem_dist_plan_options options = random_plan_options(random_);
    Halo halo;
    const Layout layout = random_halo_layout(members.all, elements(4000), halo, random_);
    PlannedHalo planned(dist.get(), members, layout, halo, random_.below(4) == 0 ? nullptr : &options, random_);
    planned.run(random_);
  }
}

TEST_P(Members, ReduceToTheBitsOfOneSequence) {
  for (int i = 0; i < cases(2000) && !HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    const Part members = part(kMembers[i % 5]);
    const Dist dist = make_dist(members);
    const gpumem_dist_plan_options options = random_plan_options(random_);
    const Layout layout = random_reduction_layout(members.all, elements(100000), random_);
    PlannedReduction planned(dist.get(), members, layout, random_.below(4) == 0 ? nullptr : &options, random_);
    const auto [dtype, op] = random_reduction(layout.element_bytes, random_);
    planned.run(contexts_[2], dtype, op, random_);
  }
}

// Every operation of every type on one plan a size of element.
TEST_P(Members, ReduceByEveryOperation) {
  const Part members = part(4);
  const Dist dist = make_dist(members);
  for (const int64_t bytes : {1, 2, 4, 8}) {
    for (const std::vector<Box>& boxes : {cutting::slabs({9000}, 4, random_), cutting::halves({9000}, 4, random_)}) {
      Layout layout{bytes, {9000}, boxes};
      place_boxes(layout, random_);
      PlannedReduction planned(dist.get(), members, layout, nullptr, random_);
      for (const gpumem_dtype dtype : kAllTypes) {
        for (const gpumem_reduce_op op : kAllOps) {
          if (static_cast<int64_t>(info_of(dtype).bytes) != bytes || !has(dtype, op)) continue;
          planned.run(contexts_[2], dtype, op, random_);
        }
      }
    }
  }
}

// Of nothing, and of what leaves its type, as gpumem_reduce() says.
TEST_P(Members, ReduceToTheStatusesOfOneSequence) {
  const Part members = part(3);
  const Dist dist = make_dist(members);
  const Layout none{8, {5, 0}, {}};
  PlannedReduction nothing(dist.get(), members, none, nullptr, random_);
  for (const gpumem_dtype dtype : {GPUMEM_I64, GPUMEM_U64, GPUMEM_F64}) {
    for (const gpumem_reduce_op op : kAllOps) {
      if (has(dtype, op)) nothing.run(contexts_[2], dtype, op, random_);
    }
  }
  const Layout three{8, {3}, {{0, {0}, {1}, 0, {1}}, {1, {1}, {2}, 0, {1}}, {2, {2}, {3}, 0, {1}}}};
  const View view(three, 0, 3);
  gpumem_dist_plan* made = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_plan_reduce(dist.get(), &view.raw, nullptr, &made)));
  const Plan plan(made);
  int64_t values[3] = {INT64_MAX, 0, 0};
  const void* const x[] = {&values[0], &values[1], &values[2]};
  int64_t result = 42, index = 42;
  EXPECT_TRUE(ok(gpumem_dist_reduce(made, GPUMEM_I64, GPUMEM_SUM, x, &result)));
  EXPECT_EQ(result, INT64_MAX);
  values[2] = 1;
  EXPECT_TRUE(gives(GPUMEM_OVERFLOW, gpumem_dist_reduce(made, GPUMEM_I64, GPUMEM_SUM, x, &result)));
  values[1] = -1;
  EXPECT_TRUE(ok(gpumem_dist_reduce(made, GPUMEM_I64, GPUMEM_SUM, x, &result)));
  EXPECT_EQ(result, INT64_MAX);
  values[1] = INT64_MIN;
  result = 42;
  EXPECT_TRUE(gives(GPUMEM_OVERFLOW, gpumem_dist_argreduce(made, GPUMEM_I64, GPUMEM_MAX_ABS, x, &result, &index)));
  EXPECT_TRUE(gives(GPUMEM_OVERFLOW, gpumem_dist_argreduce(made, GPUMEM_I64, GPUMEM_MAX_ABS, x, nullptr, &index)));
  EXPECT_EQ(result, 42);
  EXPECT_EQ(index, 42);
  EXPECT_TRUE(ok(gpumem_dist_argreduce(made, GPUMEM_I64, GPUMEM_MIN, x, nullptr, &index)))
      << "only the index is wanted";
  EXPECT_EQ(index, 1);
}

// The first of equals is the one that comes first in the sequence, whoever has it.
TEST_P(Members, FindTheFirstOfEquals) {
  const Part members = part(2);
  const Dist dist = make_dist(members);
  // Two rows of four: member 0 has the right half, member 1 the left.
  const Layout halves{4, {2, 4}, {{0, {0, 2}, {2, 4}, 0, {2, 1}}, {1, {0, 0}, {2, 2}, 0, {2, 1}}}};
  const View view(halves, 0, 2);
  gpumem_dist_plan* made = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_plan_reduce(dist.get(), &view.raw, nullptr, &made)));
  const Plan plan(made);
  const float right[] = {7, 1, 9, 1}, left[] = {5, 9, 1, 9};  // 5 9 7 1 / 1 9 9 1
  const void* const x[] = {right, left};
  double value = 0;
  int64_t index = -1;
  EXPECT_TRUE(ok(gpumem_dist_argreduce(made, GPUMEM_F32, GPUMEM_MAX, x, &value, &index)));
  EXPECT_EQ(value, 9);
  EXPECT_EQ(index, 1);
  EXPECT_TRUE(ok(gpumem_dist_argreduce(made, GPUMEM_F32, GPUMEM_MIN, x, &value, &index)));
  EXPECT_EQ(value, 1);
  EXPECT_EQ(index, 3);
}

// Some millions of terms, the slabs cut inside leaves, and blocks.
TEST_P(Members, ReduceLongSequences) {
  const int64_t n = quick_run() || GetParam() == On::cuda ? 100003 : 3000017;
  const Part members = part(7);
  const Dist dist = make_dist(members);
  for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_DOT, GPUMEM_DOT_ORDER_FREE, GPUMEM_NRM2_ORDER_FREE}) {
    Layout slabs{8, {n}, cutting::slabs({n}, 7, random_)};
    place_boxes(slabs, random_);
    PlannedReduction(dist.get(), members, slabs, nullptr, random_).run(contexts_[2], GPUMEM_F64, op, random_);
    Layout blocks{4, {n / 1000, 1000}, cutting::blocks({n / 1000, 1000}, 7, random_)};
    place_boxes(blocks, random_);
    const gpumem_dist_plan_options small = plan_options(4096);
    PlannedReduction(dist.get(), members, blocks, &small, random_).run(contexts_[2], GPUMEM_F32, op, random_);
  }
}

// Devices at the same time; of the second one a launch makes the nodes of many subtrees, of several leaves a block.
TEST_P(Members, ReduceOnSeveralDevicesAtOnce) {
  constexpr int64_t kFirst = 5000, kSecond = kFirst + 700 * 1024 + 5, kAll = kSecond + 100000;
  const Part members{{contexts_[0], contexts_[1], contexts_[2]}, 0, 3};
  const Dist dist = make_dist(members);
  const Layout layout{
      4, {kAll}, {{0, {0}, {kFirst}, 0, {1}}, {1, {kFirst}, {kSecond}, 0, {1}}, {2, {kSecond}, {kAll}, 0, {1}}}};
  PlannedReduction planned(dist.get(), members, layout, nullptr, random_);
  for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MAX, GPUMEM_ARG_MIN}) {
    planned.run(contexts_[2], GPUMEM_F32, op, random_);
  }
}

TEST_P(Members, CarryOutPlansInAnyOrderAndManyTimes) {
  const Part members = part(4);
  const Dist dist = make_dist(members);
  const gpumem_dist_plan_options small = plan_options(4096);
  std::deque<PlannedMove> moves;
  std::deque<PlannedHalo> halos;
  std::deque<PlannedReduction> sums;
  for (int i = 0; i < 3; ++i) {
    moves.emplace_back(dist.get(), members, random_move(4, 3000, random_), i == 0 ? &small : nullptr, random_);
    Halo halo;
    const Layout layout = random_halo_layout(4, 2000, halo, random_);
    halos.emplace_back(dist.get(), members, layout, halo, i == 0 ? &small : nullptr, random_);
    Layout summed{8, {5000}, random_partition({5000}, 4, random_)};
    place_boxes(summed, random_);
    sums.emplace_back(dist.get(), members, summed, i == 0 ? &small : nullptr, random_);
  }
  for (int i = 0; i < cases(1000) && !HasFailure(); ++i) {
    const size_t which = random_.below(3);
    const uint64_t kind = random_.below(3);
    if (kind == 0) moves[which].run(random_);
    if (kind == 1) halos[which].run(random_);
    if (kind == 2) sums[which].run(contexts_[2], GPUMEM_F64, GPUMEM_SUM, random_);
  }
}

// Rows that lie in slabs, then columns: what a transform of two axes does between its two halves.
TEST_P(Members, TransposeSlabsThereAndBack) {
  const Part members = part(4);
  const Dist dist = make_dist(members);
  Move there{{16, {257, 129}, cutting::slabs({257, 129}, 4, random_)}, {16, {129, 257}, {}}, {1, 0}};
  for (int64_t i = 0; i < 4; ++i) {
    there.dst.boxes.push_back({i, {129 * i / 4, 0}, {129 * (i + 1) / 4, 257}, 0, {257, 1}});
  }
  place_boxes(there.src, random_);
  const Move back{there.dst, there.src, {1, 0}};
  PlannedMove(dist.get(), members, there, nullptr, random_).run(random_);
  PlannedMove(dist.get(), members, back, nullptr, random_).run(random_);
}

// Where only the slowest axis has margins, slabs without gaps have room for them: no strides need to be given.
TEST_P(Members, FillHalosOfSlabsWithoutStrides) {
  const Part members = part(3);
  const Dist dist = make_dist(members);
  const Halo halo{{2, 0}, {1, 0}, {1, 0}};
  Layout layout{4, {30, 11}, {}};
  for (int64_t i = 0; i < 3; ++i) layout.boxes.push_back({i, {10 * i, 0}, {10 * (i + 1), 11}, 22, {11, 1}});
  const View view(layout, 0, 3);
  EXPECT_EQ(view.raw.strides, nullptr);
  PlannedHalo(dist.get(), members, layout, halo, nullptr, random_).run(random_);
}

// The first piece is a matrix, the second a row.
TEST_P(Members, MovePiecesThatAForcedVariantDoesNotFit) {
  const Part members{{contexts_[0]}, 0, 1};
  const Dist dist = make_dist(members);
  const Move move{{4, {100, 8}, {{0, {0, 0}, {100, 8}, 0, {8, 1}}}},
                  {4, {8, 100}, {{0, {0, 0}, {8, 99}, 0, {100, 1}}, {0, {0, 99}, {8, 100}, 99, {100, 1}}}},
                  {1, 0}};
  const char* const variant = GetParam() == On::cuda ? "transpose" : "host_transpose";
  ASSERT_TRUE(ok(gpumem_variant_force(contexts_[0], GPUMEM_FAMILY_PERMUTE, variant)));
  PlannedMove(dist.get(), members, move, nullptr, random_).run(random_);
}

// What lies round a box is its neighbour there already, but at the ends.
TEST_P(Members, FillHalosOfBoxesThatAreNeighboursInOneArray) {
  const Part members = part(1);
  const Dist dist = make_dist(members);
  PlannedHalo(dist.get(), members, quarters_of_one_array(), {{1, 1}, {1, 1}, {1, 0}}, nullptr, random_).run(random_);
}

// Between two devices rows are copied, and longer pieces fetched in parts and transposed.
TEST_P(Members, ExchangeLongRows) {
  const Part members{{contexts_[0], contexts_[1]}, 0, 2};
  const Dist dist = make_dist(members);
  const bool two = GetParam() == On::cuda && cuda_devices() > 1 && !on_emulated_device(contexts_[0]);
  for (const Move& move : moves_of_long_rows(two)) {
    PlannedMove planned(dist.get(), members, move, nullptr, random_, GetParam() == On::cuda);
    planned.run(random_);
  }
}

// Device or managed memory; between two devices, more of it than is brought together at a time.
TEST_P(Members, ExchangeMoreThanTheWorkspaceHolds) {
  const Part members{{contexts_[0], contexts_[1]}, 0, 2};
  const Dist dist = make_dist(members);
  const int64_t rows = GetParam() == On::cuda && !on_emulated_device(contexts_[0]) ? 1500 : 48;
  const gpumem_dist_plan_options options = plan_options(rows * 2000);
  for (int i = 0; i < 6; ++i) {
    Move move{{8, {rows, 1001}, cutting::slabs({rows, 1001}, 2, random_)}, {8, {1001, rows}, {}}, {1, 0}};
    move.dst.boxes = cutting::slabs(move.dst.extents, 2, random_);
    place_boxes(move.src, random_);
    place_boxes(move.dst, random_);
    PlannedMove planned(dist.get(), members, move, &options, random_, GetParam() == On::cuda);
    planned.run(random_);
    planned.run(random_);
  }
}

// Whole leaves from an odd one on, to the end of a member's memory; elements of 2 bytes have their leaves in pairs.
TEST_P(Members, ReduceFromAnOddLeafOn) {
  constexpr int64_t kFirst = 3 * 1024, kSecond = 9 * 1024, kThird = 700 * 1024, kAll = kThird + 5000;
  const Part members{{contexts_[0], contexts_[1], contexts_[0], contexts_[2]}, 0, 4};
  const Dist dist = make_dist(members);
  for (const gpumem_dtype dtype : {GPUMEM_BF16, GPUMEM_F16, GPUMEM_F32}) {
    const auto bytes = static_cast<int64_t>(info_of(dtype).bytes);
    const Layout layout{bytes,
                        {kAll},
                        {{0, {0}, {kFirst}, 0, {1}},
                         {1, {kFirst}, {kSecond}, 0, {1}},
                         {2, {kSecond}, {kThird}, 0, {1}},
                         {3, {kThird}, {kAll}, 0, {1}}}};
    PlannedReduction planned(dist.get(), members, layout, nullptr, random_);
    for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_SUM_SQUARES}) {
      planned.run(contexts_[2], dtype, op, random_);
    }
  }
}

// Far more pieces than a launch takes, of every size of element, twice in the same memory.
TEST_P(Members, MoveManyPieces) {
  const Part members{{contexts_[0], contexts_[1]}, 0, 2};
  const Dist dist = make_dist(members);
  constexpr int64_t kRows = 300, kCols = 12;
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    Move move{{bytes, {kRows, kCols}, cutting::slabs({kRows, kCols}, 2, random_)}, {bytes, {kRows, kCols}, {}}, {}};
    for (int64_t row = 0; row < kRows; ++row) move.dst.boxes.push_back({row % 2, {row, 0}, {row + 1, kCols}, 0, {}});
    place_boxes(move.src, random_);
    place_boxes(move.dst, random_);
    PlannedMove planned(dist.get(), members, move, nullptr, random_, GetParam() == On::cuda);
    planned.run(random_);
    planned.run(random_);
  }
}

// Narrow matrices transposed; and pieces that are worth a block where one side is the host's and the other a device's.
TEST_P(Members, TransposeBetweenAnyKindsOfMemory) {
  const Part members{{contexts_[0], contexts_[1]}, 0, 2};
  const Dist dist = make_dist(members);
  for (int i = 0; i < 8; ++i) {
    const Index extents = i % 2 == 0 ? Index{24000, 3} : Index{160, 300};
    Move move{{8, extents, cutting::slabs(extents, 2, random_)}, {8, {extents[1], extents[0]}, {}}, {1, 0}};
    move.dst.boxes = cutting::slabs(move.dst.extents, 2, random_);
    place_boxes(move.src, random_);
    place_boxes(move.dst, random_);
    PlannedMove(dist.get(), members, move, nullptr, random_, i < 2 && GetParam() == On::cuda).run(random_);
  }
}

TEST_P(Members, FillHalosAlongTheFastestAxis) {
  const Part members{{contexts_[0], contexts_[1]}, 0, 2};
  const Dist dist = make_dist(members);
  PlannedHalo planned(dist.get(), members, halves_along_the_fastest_axis(), {{0, 0, 2}, {0, 0, 2}, {0, 0, 1}}, nullptr,
                      random_, GetParam() == On::cuda);
  planned.run(random_);
  planned.run(random_);
}

// What no box asks for may be missing: of a halo too.
TEST_P(Members, FillHalosOfAPartOfTheArray) {
  const Part members = part(2);
  const Dist dist = make_dist(members);
  const Halo halo{{3}, {0}, {0}};
  const Layout layout{8, {100}, {{0, {0}, {10}, 3, {1}}, {1, {10}, {20}, 3, {1}}}};
  PlannedHalo(dist.get(), members, layout, halo, nullptr, random_).run(random_);
}

// Layouts and options are read before the call returns, and the array of contexts too.
TEST_P(Members, KeepNothingOfTheCallersStructs) {
  auto members = std::make_unique<Part>(part(3));
  auto options = std::make_unique<gpumem_dist_options>(dist_options(*members));
  gpumem_dist* made = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_create(options.get(), &made)));
  const Dist dist(made);
  const Part kept = *members;
  std::fill(members->contexts.begin(), members->contexts.end(), nullptr);
  std::memset(options.get(), 0x5A, sizeof *options);
  members.reset();
  options.reset();
  for (int i = 0; i < 10; ++i) {  // the layouts of a PlannedMove are gone when it is executed
    PlannedMove(dist.get(), kept, random_move(3, 500, random_), nullptr, random_).run(random_);
  }
}

// Indices and extents of more than 32 bits, of which only a few elements are there.
TEST_P(Members, MoveAFewElementsOfAHugeArray) {
  const Part members = part(2);
  const Dist dist = make_dist(members);
  constexpr int64_t kRows = int64_t{1} << 31, kCols = int64_t{1} << 30;
  // Two rows of the last three columns, far down, become two columns.
  const Layout src{2, {kRows, kCols}, {{0, {kRows - 5, kCols - 3}, {kRows - 3, kCols}, 0, {3, 1}}}};
  const Layout dst{2, {kCols, kRows}, {{1, {kCols - 3, kRows - 5}, {kCols, kRows - 3}, 0, {2, 1}}}};
  const View from(src, 0, 2), to(dst, 0, 2);
  const int32_t order[] = {1, 0};
  gpumem_dist_plan* plan = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_plan_redistribute(dist.get(), &from.raw, &to.raw, order, nullptr, &plan)));
  const Plan destroyed(plan);
  const int16_t rows[] = {1, 2, 3, 4, 5, 6};
  int16_t cols[] = {0, 0, 0, 0, 0, 0, 77};
  const void* const sources[] = {rows, nullptr};
  void* const targets[] = {nullptr, cols};
  ASSERT_TRUE(ok(gpumem_dist_execute(plan, sources, targets)));
  EXPECT_EQ(std::vector<int16_t>(cols, cols + 7), (std::vector<int16_t>{1, 4, 2, 5, 3, 6, 77}));
}

// What was enqueued on the contexts' own streams is done before, and the result is there on return.
TEST_P(Members, RunBehindTheContextsOwnStreams) {
  constexpr int64_t kEach = 1 << 20;
  Part members{{contexts_[0], contexts_[1]}, 0, 2};
  const Dist dist = make_dist(members);
  const Layout slabs{4, {2 * kEach}, {{0, {0}, {kEach}, 0, {1}}, {1, {kEach}, {2 * kEach}, 0, {1}}}};
  const Layout swapped{4, {2 * kEach}, {{1, {0}, {kEach}, 0, {1}}, {0, {kEach}, {2 * kEach}, 0, {1}}}};
  const View from(slabs, 0, 2), to(swapped, 0, 2);
  gpumem_dist_plan *move = nullptr, *sum = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_plan_redistribute(dist.get(), &from.raw, &to.raw, nullptr, nullptr, &move)));
  ASSERT_TRUE(ok(gpumem_dist_plan_reduce(dist.get(), &from.raw, nullptr, &sum)));
  const Plan both[] = {Plan(move), Plan(sum)};
  std::deque<Memory> memory;
  for (int i = 0; i < 4; ++i) memory.emplace_back(contexts_[i % 2], GPUMEM_MEMORY_DEVICE, kEach * 4);
  const void* const src[] = {memory[0].get(), memory[1].get()};
  void* const dst[] = {memory[2].get(), memory[3].get()};
  for (int32_t value = 1; value < 4; ++value) {
    const int32_t patterns[] = {value, 10 * value};
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(
          ok(gpumem_fill_async(contexts_[i], memory[static_cast<size_t>(i)].get(), &patterns[i], 4, kEach, nullptr)));
    }
    int64_t total = 0;
    ASSERT_TRUE(ok(gpumem_dist_reduce(sum, GPUMEM_I32, GPUMEM_SUM, src, &total)));
    EXPECT_EQ(total, 11 * value * kEach);
    const int32_t others[] = {100 * value, 1000 * value};
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(
          ok(gpumem_fill_async(contexts_[i], memory[static_cast<size_t>(i)].get(), &others[i], 4, kEach, nullptr)));
    }
    ASSERT_TRUE(ok(gpumem_dist_execute(move, src, dst)));
    for (int i = 0; i < 2; ++i) {
      std::vector<int32_t> got(kEach);
      upload(contexts_[i], got.data(), dst[i], got.size() * 4);
      EXPECT_EQ(got, std::vector<int32_t>(kEach, others[1 - i]));
    }
  }
}

// A participant reads the last terms of a block in the memory of the next one.
TEST_P(Members, AddBehindTheContextsOwnStreams) {
  constexpr int64_t kEach = (1 << 20) + 100;
  const Part members{{contexts_[0], contexts_[1]}, 0, 2};
  const Dist dist = make_dist(members);
  const Layout slabs{4, {2 * kEach}, {{0, {0}, {kEach}, 0, {1}}, {1, {kEach}, {2 * kEach}, 0, {1}}}};
  const View view(slabs, 0, 2);
  gpumem_dist_plan* made = nullptr;
  ASSERT_TRUE(ok(gpumem_dist_plan_reduce(dist.get(), &view.raw, nullptr, &made)));
  const Plan plan(made);
  std::deque<Memory> memory;
  for (int i = 0; i < 2; ++i) memory.emplace_back(contexts_[i], GPUMEM_MEMORY_DEVICE, kEach * 4);
  const void* const src[] = {memory[0].get(), memory[1].get()};
  for (int turn = 1; turn < 6; ++turn) {
    std::vector<float> all;
    for (int i = 0; i < 2; ++i) {
      const float value = 0.1F * static_cast<float>(turn + 10 * i);
      all.resize(all.size() + kEach, value);
      ASSERT_TRUE(ok(gpumem_fill_async(contexts_[i], memory[static_cast<size_t>(i)].get(), &value, 4, kEach, nullptr)));
    }
    double sum = 0, expected = 0;
    ASSERT_TRUE(ok(gpumem_dist_reduce(plan.get(), GPUMEM_F32, GPUMEM_SUM, src, &sum)));
    ASSERT_TRUE(ok(gpumem_reduce(contexts_[0], GPUMEM_F32, GPUMEM_SUM, all.data(), 2 * kEach, 1, &expected)));
    EXPECT_EQ(sum, expected) << "turn " << turn;
  }
}

// Threads that share contexts, or a dist too: plans of one are carried out one after the other.
TEST_P(Members, WorkInSeveralThreads) {
  const Part members = part(4);
  const Dist shared = make_dist(members);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Random random(0x70 + i);
      const Dist own = i < 2 ? make_dist(members) : nullptr;
      gpumem_dist* const dist = i < 2 ? own.get() : shared.get();
      PlannedMove move(dist, members, random_move(4, 2000, random), nullptr, random);
      Layout layout{8, {4000}, random_partition({4000}, 4, random)};
      place_boxes(layout, random);
      PlannedReduction sum(dist, members, layout, nullptr, random);
      for (int times = 0; times < cases(20) + 1; ++times) {
        move.run(random);
        sum.run(contexts_[2], GPUMEM_F64, GPUMEM_SUM, random);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Members, AreDescribed) {
  const Part members = part(3);
  const Dist dist = make_dist(members);
  const gpumem_dist_info info = info_of(dist.get());
  EXPECT_EQ(info.struct_size, static_cast<int64_t>(sizeof info));
  EXPECT_EQ(info.rank, 0);
  EXPECT_EQ(info.size, 1);
  EXPECT_EQ(info.first_member, 0);
  EXPECT_EQ(info.members, 3);
  EXPECT_EQ(info.all_members, 3);
  EXPECT_EQ(info.status, GPUMEM_OK);
  int32_t on_two_devices = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < i && cuda_devices() > 1 && GetParam() == On::cuda; ++j) {
      const gpumem_ctx *a = members.contexts[static_cast<size_t>(i)], *b = members.contexts[static_cast<size_t>(j)];
      on_two_devices += a != b && a != contexts_[2] && b != contexts_[2] ? 1 : 0;
    }
  }
  const char* const peers = std::getenv("GPUMEM_EMULATION_PEERS");
  EXPECT_EQ(info.staged_pairs, peers != nullptr && std::string(peers) == "0" ? on_two_devices : 0);
  EXPECT_EQ(info.reserved0, 0);
}

// Ranks of one process, each with a transport and a thread of its own: what a thread sanitizer sees of several of them.
TEST(RanksInThreads, MoveAndReduce) {
  in_threads(3, [](Rank& rank) {
    rank.start();
    for (int i = 0; i < 10; ++i) {
      const gpumem_dist_plan_options small = plan_options(4096);
      PlannedMove(rank.dist.get(), rank.part, random_move(rank.part.all, 2000, rank.shared), &small, rank.own)
          .run(rank.shared);
      Layout layout{4, {5000}, random_partition({5000}, rank.part.all, rank.shared)};
      place_boxes(layout, rank.shared);
      PlannedReduction(rank.dist.get(), rank.part, layout, &small, rank.own)
          .run(rank.contexts[1], GPUMEM_F32, GPUMEM_SUM, rank.shared);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(On, Members, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
