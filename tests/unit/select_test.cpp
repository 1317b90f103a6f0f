// The choice of variants: golden decisions over recorded devices, and the rules that hold for every table.
#include "select/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include <fstream>
#include <random>
#include <set>

#include "ops/permute/permute_fuse.hpp"
#include "tests/fixtures/devices.hpp"
#include "tests/unit/decisions.hpp"

namespace gpumem {
namespace {

using fixtures::kDevices;

TEST(GoldenDecisions, AreWhatSelectGives) {
  std::ifstream file(GPUMEM_DECISIONS);
  ASSERT_TRUE(file) << GPUMEM_DECISIONS;
  int lines = 0;
  std::set<std::string> chosen;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    ++lines;
    const auto golden = fixtures::split(line);
    EXPECT_EQ(fixtures::answer(golden.question), golden.answer) << golden.question;
    chosen.insert(golden.answer.substr(0, golden.answer.find(' ')));
  }
  EXPECT_GE(lines, 60);
  EXPECT_GE(chosen.size(), 8u) << "the golden decisions should show most variants";
}

template <class Problem>
Problem random_problem(std::mt19937_64& random, Runs runs);

int64_t log_uniform(std::mt19937_64& random, int bits) {
  return static_cast<int64_t>(random() >> (64 - 1 - static_cast<int>(random() % static_cast<unsigned>(bits))));
}

template <>
ReduceProblem random_problem(std::mt19937_64& random, Runs runs) {
  return {runs,
          GPUMEM_I32,
          static_cast<gpumem_reduce_op>(random() % 7),
          1 + log_uniform(random, 36),
          random() % 2 == 0 ? 1 : 1 + log_uniform(random, 10),
          static_cast<int32_t>(random() % 16)};
}
template <>
TransposeProblem random_problem(std::mt19937_64& random, Runs runs) {
  TransposeProblem p{
      runs, int64_t{1} << (random() % 5),        1 + log_uniform(random, 18),        1 + log_uniform(random, 18), 0,
      0,    static_cast<int32_t>(random() % 16), static_cast<int32_t>(random() % 16)};
  p.src_ld = p.cols + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  p.dst_ld = p.rows + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  return p;
}
template <>
FillProblem random_problem(std::mt19937_64& random, Runs runs) {
  const int64_t pattern = int64_t{1} << (random() % 5);
  FillProblem p{runs, pattern, pattern * (1 + log_uniform(random, 32)), random() % 2 == 0};
  if (random() % 2 == 0) {
    p.rows = 2 + log_uniform(random, 20);
    p.access = int64_t{1} << (random() % 5);
  }
  return p;
}

template <>
CopyProblem random_problem(std::mt19937_64& random, Runs runs) {
  CopyProblem p{runs, 1 + log_uniform(random, random() % 2 == 0 ? 8 : 36)};
  if (random() % 2 == 0) p.rows = 2 + log_uniform(random, 12);
  if (p.rows > 1 && random() % 2 == 0) p.slices = 2 + log_uniform(random, 8);
  p.access = int64_t{1} << (random() % 5);
  p.src_misalignment = static_cast<int32_t>(p.access * (random() % 2));
  p.dst_misalignment = static_cast<int32_t>(p.access * (random() % 2));
  return p;
}

template <>
AxpbyProblem random_problem(std::mt19937_64& random, Runs runs) {
  AxpbyProblem p{runs, random() % 2 == 0 ? GPUMEM_F32 : GPUMEM_F64, 1 + log_uniform(random, 40)};
  p.reads_x = random() % 4 != 0;
  p.reads_y = random() % 4 != 0;
  p.z_misalignment = static_cast<int32_t>(random() % 16);
  p.x_misalignment = random() % 2 == 0 ? p.z_misalignment : static_cast<int32_t>(random() % 16);
  p.y_misalignment = random() % 2 == 0 ? p.z_misalignment : static_cast<int32_t>(random() % 16);
  return p;
}

template <>
GatherScatterProblem random_problem(std::mt19937_64& random, Runs runs) {
  GatherScatterProblem p{runs, 1 + log_uniform(random, 24), 1 + log_uniform(random, 36)};
  for (int64_t* pitch : {&p.src_pitch, &p.dst_pitch}) {
    if (random() % 4 != 0) *pitch = random() % 2 == 0 ? (p.row_bytes + 15) / 16 * 16 : p.row_bytes;
  }
  for (int32_t* misalignment : {&p.src_misalignment, &p.dst_misalignment}) {
    *misalignment = static_cast<int32_t>(random() % 3 == 0 ? random() % 16 : random() % 4 * 4);
  }
  return p;
}

template <>
PermuteProblem random_problem(std::mt19937_64& random, Runs runs) {
  PermuteAxes axes;
  axes.element_bytes = int64_t{1} << (random() % 5);
  int64_t dst_stride = random() % 8 == 0 ? 2 : 1;
  for (int d = static_cast<int>(random() % 9); d > 0; --d) {
    const int64_t extent = 1 + log_uniform(random, 7);
    axes.add(extent, random() % 4 == 0 ? log_uniform(random, 8) : 1, dst_stride);
    dst_stride = dst_stride * extent + (random() % 4 == 0 ? log_uniform(random, 4) : 0);
  }
  const auto src = static_cast<int32_t>(random() % 2 == 0 ? 0 : random() % 16);
  const auto dst = static_cast<int32_t>(random() % 2 == 0 ? 0 : random() % 16);
  return {runs, fuse(axes, src, dst), src, dst};
}

template <>
ResizeProblem random_problem(std::mt19937_64& random, Runs runs) {
  constexpr gpumem_dtype kTypes[] = {GPUMEM_U8, GPUMEM_U16, GPUMEM_F32};
  ResizeProblem p{};
  p.runs = runs;
  p.filter = static_cast<gpumem_filter>(random() % 2);
  p.dtype = kTypes[random() % 3];
  p.channels = static_cast<int32_t>(1 + random() % 4);
  p.src_rows = 1 + log_uniform(random, 18);
  p.src_cols = 1 + log_uniform(random, 18);
  p.dst_rows = 1 + log_uniform(random, 18);
  p.dst_cols = 1 + log_uniform(random, 18);
  p.src_pitch = p.src_cols * p.pixel_bytes() + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  p.dst_pitch = p.dst_cols * p.pixel_bytes() + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  p.src_misalignment = random() % 2 == 0 ? 0 : static_cast<int32_t>(random() % 4096);
  p.dst_misalignment = static_cast<int32_t>(random() % 16);
  return p;
}

template <class Family>
class Table : public testing::Test {};
using Families = testing::Types<ReduceFamily, TransposeFamily, FillFamily, CopyFamily, AxpbyFamily, GatherFamily,
                                ScatterFamily, PermuteFamily, ResizeFamily>;
TYPED_TEST_SUITE(Table, Families);

TYPED_TEST(Table, HasUniqueNamesAndTwoVariantsABackend) {
  std::set<std::string> names;
  int of_backend[2] = {};
  for (const auto& row : TypeParam::table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GE(row.revision, 1);
    ++of_backend[static_cast<int>(row.runs)];
  }
  EXPECT_GE(of_backend[0], 2);
  EXPECT_GE(of_backend[1], 2);
}

TYPED_TEST(Table, LastRowOfEachBackendAcceptsEverything) {
  std::mt19937_64 random(1);
  const auto table = TypeParam::table();
  for (const auto& device : kDevices) {
    const Variant<typename TypeParam::Problem>* last = nullptr;
    for (const auto& row : table) {
      if (row.runs == device.props.backend) last = &row;
    }
    ASSERT_NE(last, nullptr);
    for (int i = 0; i < 2000; ++i) {
      const auto problem = random_problem<typename TypeParam::Problem>(random, device.props.backend);
      EXPECT_EQ(rejection(*last, device.props, problem), nullptr) << last->name << " on " << device.name;
    }
  }
}

// Whatever is selected fits, covers the problem and can be launched.
TYPED_TEST(Table, SelectsWhatFits) {
  static_assert(noexcept(select<TypeParam>(DeviceProps{}, typename TypeParam::Problem{}, Override{}, TuningView{})));
  std::mt19937_64 random(2);
  for (const auto& device : kDevices) {
    for (int i = 0; i < 2000; ++i) {
      const auto problem = random_problem<typename TypeParam::Problem>(random, device.props.backend);
      const Decision d = select<TypeParam>(device.props, problem, {}, {});
      ASSERT_GE(d.row, 0);
      EXPECT_EQ(d.by, ChosenBy::table);
      EXPECT_EQ(rejection(TypeParam::table()[d.row], device.props, problem), nullptr);
      EXPECT_GE(d.shape.grid, 1);
      EXPECT_LE(d.shape.grid, 0x7fffffff);
      EXPECT_GE(d.shape.block, 1);
      EXPECT_LE(d.shape.block, 1024);
    }
  }
}

TYPED_TEST(Table, ForcedRowIsTakenOrRefusedNeverReplaced) {
  std::mt19937_64 random(3);
  const auto table = TypeParam::table();
  int taken = 0;
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto& device = kDevices[random() % std::size(kDevices)];
    const auto problem = random_problem<typename TypeParam::Problem>(random, device.props.backend);
    const auto row = static_cast<int32_t>(random() % table.size());
    const Decision d = select<TypeParam>(device.props, problem, {row, ChosenBy::program}, {});
    if (rejection(table[row], device.props, problem) == nullptr) {
      EXPECT_EQ(d.row, row);
      ++taken;
    } else {
      EXPECT_EQ(d.row, -1);
      EXPECT_NE(d.rejected, nullptr);
      ++refused;
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 100);
}

TEST(Transpose, InPlaceHasItsRowsAndNoOthers) {
  std::mt19937_64 random(4);
  const std::set<std::string_view> rows_in_place = {
      "in_place_tiles_vec16", "in_place_tiles",       "in_place_shared",  "in_place_c2r",
      "host_in_place_tiles",  "host_in_place_buffer", "host_in_place_c2r"};
  std::set<std::string_view> chosen;
  for (const auto& device : kDevices) {
    for (int i = 0; i < 500; ++i) {
      auto problem = random_problem<TransposeProblem>(random, device.props.backend);
      for (const bool in_place : {false, true}) {
        problem.in_place = in_place;
        if (random() % 4 == 0) problem.cols = problem.rows;
        const Decision d = select<TransposeFamily>(device.props, problem, {}, {});
        ASSERT_GE(d.row, 0) << device.name << ' ' << problem.rows << " x " << problem.cols;
        EXPECT_EQ(rows_in_place.count(TransposeFamily::table()[d.row].name), in_place ? 1u : 0u);
        if (in_place) chosen.insert(TransposeFamily::table()[d.row].name);
      }
    }
  }
  EXPECT_EQ(chosen, rows_in_place);
}

TEST(Transpose, InPlaceIsWholeAsLongAsItFits) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  const DeviceProps host = fixtures::find_device("host2")->props;
  const auto chosen = [](const DeviceProps& device, int64_t bytes, int64_t rows, int64_t cols) {
    TransposeProblem p{device.backend, bytes, rows, cols, cols, rows, 0, 0};
    p.in_place = true;
    return std::string_view(TransposeFamily::table()[select<TransposeFamily>(device, p, {}, {}).row].name);
  };
  EXPECT_EQ(chosen(h200, 4, 2, 29056), "in_place_shared") << "227 KiB";
  EXPECT_EQ(chosen(h200, 4, 2, 29057), "in_place_c2r");
  EXPECT_EQ(chosen(h200, 16, 14528, 1), "in_place_shared");
  EXPECT_EQ(chosen(host, 8, 2, 65536), "host_in_place_buffer") << "1 MiB";
  EXPECT_EQ(chosen(host, 8, 65537, 2), "host_in_place_c2r");
}

// No launch is empty, and no grid is larger than a device takes.
TEST(Transpose, HugeProblemsStayInsideTheGrid) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  for (const int64_t side : {int64_t{1}, int64_t{16}, int64_t{17}, int64_t{1} << 20, int64_t{1} << 40}) {
    for (const int64_t element : {1, 2, 4, 8, 16}) {
      const int64_t other = std::min(int64_t{1} << 40, INT64_MAX / 32 / side);
      for (const bool tall : {false, true}) {
        TransposeProblem p{Runs::cuda, element, tall ? other : side, tall ? side : other, 0, 0, 0, 0};
        p.src_ld = p.cols;
        p.dst_ld = p.rows;
        for (const bool in_place : {false, true}) {
          p.in_place = in_place;
          for (const auto& row : TransposeFamily::table()) {
            if (rejection(row, h200, p) != nullptr) continue;
            const LaunchShape shape = row.shape(h200, p);
            EXPECT_GE(shape.grid, 1) << row.name;
            EXPECT_LE(shape.grid, 0x7fffffff) << row.name;
          }
        }
      }
    }
  }
}

TEST(Tuning, ComesBeforeTheTableAndAfterForce) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  const ReduceProblem problem{Runs::cuda, GPUMEM_I32, GPUMEM_SUM, 1 << 20, 1, 0};
  const auto& names = family_names(GPUMEM_FAMILY_REDUCE);
  const int32_t elements = find_variant(names, "strided_scalar");
  const int32_t host = find_variant(names, "host_vector");
  const int32_t revision = ReduceFamily::table()[elements].revision;
  const TunedChoice tuned[] = {{GPUMEM_FAMILY_REDUCE, 20, elements, revision}};
  EXPECT_EQ(select<ReduceFamily>(h200, problem, {}, tuned).row, elements);
  EXPECT_EQ(select<ReduceFamily>(h200, problem, {}, tuned).by, ChosenBy::tuning);
  const int32_t last_block = find_variant(names, "last_block");
  EXPECT_EQ(select<ReduceFamily>(h200, problem, {last_block, ChosenBy::program}, tuned).row, last_block);

  // What no longer holds is passed over: another size, an older kernel, a row of another backend, no row at all.
  const TunedChoice stale[] = {{GPUMEM_FAMILY_REDUCE, 21, elements, revision},
                               {GPUMEM_FAMILY_REDUCE, 20, elements, revision + 1},
                               {GPUMEM_FAMILY_REDUCE, 20, host, 1},
                               {GPUMEM_FAMILY_REDUCE, 20, 99, 1},
                               {GPUMEM_FAMILY_REDUCE, 20, -1, 1},
                               {GPUMEM_FAMILY_FILL, 20, elements, revision}};
  EXPECT_EQ(select<ReduceFamily>(h200, problem, {}, stale).by, ChosenBy::table);
}

// Whatever the operands, up to the largest n whose bytes fit int64_t.
TEST(Axpby, LaunchesCoverZOrGoOn) {
  for (const auto& device : kDevices) {
    for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
      const int64_t largest = INT64_MAX / (dtype == GPUMEM_F32 ? 4 : 8);
      for (int64_t n = 1; n <= largest / 3; n = n * 3 + 1) {
        const AxpbyProblem problem{device.props.backend, dtype, n, true, true, 8, 8, 8};
        for (const auto& row : AxpbyFamily::table()) {
          if (rejection(row, device.props, problem) != nullptr) continue;
          const LaunchShape shape = row.shape(device.props, problem);
          EXPECT_GE(shape.grid, 1) << row.name << ' ' << n;
          EXPECT_LE(shape.grid, 0x7fffffff) << row.name << ' ' << n;
          EXPECT_TRUE(shape.grid == 0x7fffffff || shape.tile >= (n + shape.grid - 1) / shape.grid) << row.name << n;
        }
      }
    }
  }
}

TEST(Axpby, WideAccessesGoByWhatIsRead) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  const auto chosen = [&](gpumem_dtype dtype, bool reads_x, bool reads_y, int32_t x, int32_t y, int32_t z) {
    const AxpbyProblem problem{Runs::cuda, dtype, 1000, reads_x, reads_y, x, y, z};
    return std::string_view(AxpbyFamily::table()[select<AxpbyFamily>(h200, problem, {}, {}).row].name);
  };
  EXPECT_EQ(chosen(GPUMEM_F32, true, true, 0, 0, 0), "vec16");
  EXPECT_EQ(chosen(GPUMEM_F32, true, true, 12, 12, 12), "vec16");
  EXPECT_EQ(chosen(GPUMEM_F32, true, true, 12, 8, 12), "vec16_store");
  EXPECT_EQ(chosen(GPUMEM_F32, true, false, 12, 1, 12), "vec16") << "y is not read";
  EXPECT_EQ(chosen(GPUMEM_F32, false, false, 0, 0, 4), "vec16") << "nothing is read";
  EXPECT_EQ(chosen(GPUMEM_F32, true, true, 2, 2, 2), "bytes");
  EXPECT_EQ(chosen(GPUMEM_F32, true, true, 0, 1, 0), "bytes");
  EXPECT_EQ(chosen(GPUMEM_F64, true, true, 8, 0, 8), "vec16_store");
  EXPECT_EQ(chosen(GPUMEM_F64, true, true, 4, 4, 4), "bytes") << "a multiple of 4 is none of 8";
  EXPECT_EQ(chosen(GPUMEM_F64, false, false, 0, 0, 4), "bytes");
}

// The pieces, tiles and elements that the blocks take, from the problem alone.
TEST(Permute, CoversArraysBeyond32Bits) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  for (const int64_t e : {1, 2, 4, 8, 16}) {
    PermuteAxes axes;
    axes.element_bytes = e;
    axes.add(70001, int64_t{70001} * 3, 1);
    axes.add(70001, 1, int64_t{70001} * 3);
    axes.add(3, 70001, 70001);
    const PermuteProblem planes{Runs::cuda, fuse(axes, 0, 0), 0, 0};
    const Decision transposed = select<PermuteFamily>(h200, planes, {}, {});
    EXPECT_STREQ(PermuteFamily::table()[transposed.row].name, "transpose");
    const int32_t by_boxes = find_variant(family_names(GPUMEM_FAMILY_PERMUTE), "packed");
    const Decision packed = select<PermuteFamily>(h200, planes, {by_boxes, ChosenBy::program}, {});
    EXPECT_GE(packed.shape.grid, 4 * 132 - 1) << "each block takes as many boxes as the others";
    const int32_t forced = find_variant(family_names(GPUMEM_FAMILY_PERMUTE), "tiled");
    const Decision tiles = select<PermuteFamily>(h200, planes, {forced, ChosenBy::program}, {});
    EXPECT_GE(tiles.shape.grid * tiles.shape.tile * tiles.shape.tile, planes.elements());

    axes.src_stride[0] = 1;
    axes.src_stride[1] = int64_t{70001} * 3 + 1;  // a gap
    const PermuteProblem lines{Runs::cuda, fuse(axes, static_cast<int32_t>(e % 16), 0), static_cast<int32_t>(e % 16),
                               0};
    const Decision boxes = select<PermuteFamily>(h200, lines, {}, {});
    EXPECT_STREQ(PermuteFamily::table()[boxes.row].name, "contiguous_boxes");
    EXPECT_GE(boxes.shape.grid * boxes.shape.tile, lines.elements());
    const int32_t by_rows = find_variant(family_names(GPUMEM_FAMILY_PERMUTE), "contiguous_runs");
    const Decision rows = select<PermuteFamily>(h200, lines, {by_rows, ChosenBy::program}, {});
    EXPECT_GE(rows.shape.grid * (256 / 32) * rows.shape.tile, lines.elements());

    const int32_t elements = find_variant(family_names(GPUMEM_FAMILY_PERMUTE), "strided_scalar");
    EXPECT_GE(select<PermuteFamily>(h200, lines, {elements, ChosenBy::program}, {}).shape.grid * 256, lines.elements());
  }
}

TEST(Reduce, NeverLaunchesMoreBlocksThanTheScratchHolds) {
  for (const auto& device : kDevices) {
    for (int64_t n = 1; n <= int64_t{1} << 36; n = n * 3 + 1) {
      const ReduceProblem problem{device.props.backend, GPUMEM_I32, GPUMEM_SUM, n, 1, 4};
      for (const auto& row : ReduceFamily::table()) {
        if (row.runs != Runs::cuda || rejection(row, device.props, problem) != nullptr) continue;
        const LaunchShape shape = row.shape(device.props, problem);
        EXPECT_LE(shape.grid, 16384) << row.name << ' ' << n;
        // The textbook's blocks go on to the next part of x where there are more parts than blocks.
        const bool goes_on = shape.grid == 16384 && std::string_view(row.name) != "last_block";
        EXPECT_TRUE(goes_on || shape.grid * shape.tile >= n) << row.name << ' ' << n;
      }
    }
  }
}

// Past 2^31 and 2^32 in rows, in words and in bytes of a row.
TEST(Rows, EveryWordOfHugeMatricesHasItsThread) {
  for (const auto& device : kDevices) {
    for (const int64_t n : {int64_t{1}, (int64_t{1} << 31) + 1, (int64_t{1} << 32) + 5, int64_t{1} << 38}) {
      for (const int64_t row_bytes : {int64_t{1}, int64_t{100}, int64_t{1} << 20, (int64_t{1} << 24) + 3}) {
        const GatherScatterProblem problem{device.props.backend, row_bytes, n, 0, 0, 0, 0};
        EXPECT_GT(problem.elements(), 0);
        for (const auto& row : GatherFamily::table()) {
          if (row.runs != device.props.backend) continue;
          const LaunchShape shape = row.shape(device.props, problem);
          const std::string_view name = row.name;
          if (row.runs == Runs::cuda) {
            const int64_t word = name == "vec16" ? 16 : name == "words" ? 4 : 1;
            EXPECT_EQ(shape.tile, 1024 * word);
            const int64_t tiles = (n * ((row_bytes + word - 1) / word) + 1023) / 1024;
            EXPECT_EQ(shape.grid, std::min<int64_t>(tiles, 0x7fffffff)) << name << ' ' << n << ' ' << row_bytes;
          } else if (shape.grid > n) {
            EXPECT_EQ(shape.grid % n, 0) << name << ": each row is cut into as many pieces";
          } else {
            EXPECT_GE(shape.tile, (n + shape.grid - 1) / shape.grid) << name << ' ' << n << ' ' << row_bytes;
          }
        }
      }
    }
  }
}

// A short row can't be cut into pieces of a size that is worth a task.
TEST(Rows, OnlyRowsThatAreFewAndLongAreCut) {
  const DeviceProps props = fixtures::find_device("host64")->props;
  const auto grid = [&](int64_t n, int64_t row_bytes) {
    return select<GatherFamily>(props, {Runs::host, row_bytes, n, 0, 0, 0, 0}, {}, {}).shape.grid;
  };
  EXPECT_EQ(grid(2, 1000), 1);
  EXPECT_EQ(grid(2, 128 << 10), 2);
  EXPECT_EQ(grid(2, 1 << 20), 16);
  EXPECT_EQ(grid(1, int64_t{1} << 34), 512);
  EXPECT_EQ(grid(1000, 1 << 20), 512);
}

}  // namespace
}  // namespace gpumem
