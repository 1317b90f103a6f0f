// The choice of variants: golden decisions over recorded devices, and the rules that hold for every table.
#include "select/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

#include <fstream>
#include <random>
#include <set>

#include "kernels/alignment.hpp"
#include "kernels/arithmetic/limits.hpp"
#include "kernels/scan/limits.hpp"
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

template <class Params>
Params random_params(std::mt19937_64& random);

int64_t log_uniform(std::mt19937_64& random, int bits) {
  return static_cast<int64_t>(random() >> (64 - 1 - static_cast<int>(random() % static_cast<unsigned>(bits))));
}

using fixtures::made_up_address;
// Anywhere in the first `range` bytes of a page.
char* anywhere(std::mt19937_64& random, int number, unsigned range = 16) {
  return made_up_address(static_cast<int64_t>(random() % range), number);
}

template <>
ReduceParams random_params(std::mt19937_64& random) {
  ReduceParams p{.dtype = GPUMEM_I32,
                 .op = static_cast<gpumem_reduce_op>(random() % 7),
                 .x = anywhere(random, 0),
                 .n = 1 + log_uniform(random, 36),
                 .stride = random() % 2 == 0 ? 1 : 1 + log_uniform(random, 10)};
  if (random() % 4 != 0) return p;
  p.view.rank = 2;
  p.view.extents[0] = 1 + log_uniform(random, 18);
  p.view.extents[1] = 1 + log_uniform(random, 18);
  p.view.strides[0] = p.view.extents[1] + 1;
  p.view.strides[1] = p.stride = 1;
  p.n = p.view.extents[0] * p.view.extents[1];
  return p;
}
template <>
TransposeParams random_params(std::mt19937_64& random) {
  TransposeParams p{.element_bytes = int64_t{1} << (random() % 5),
                    .rows = 1 + log_uniform(random, 18),
                    .cols = 1 + log_uniform(random, 18),
                    .src = anywhere(random, 1),
                    .dst = anywhere(random, 0)};
  p.src_ld = p.cols + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  p.dst_ld = p.rows + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  return p;
}
template <>
FillParams random_params(std::mt19937_64& random) {
  FillParams p{
      .dst = anywhere(random, 0), .pattern_bytes = int64_t{1} << (random() % 5), .count = 1 + log_uniform(random, 32)};
  p.word[0] = random() % 2 == 0;
  if (random() % 2 == 0) {
    p.rows = 2 + log_uniform(random, 20);
    p.pitch = p.row_bytes() + log_uniform(random, 8);
  }
  return p;
}

template <>
CopyParams random_params(std::mt19937_64& random) {
  CopyParams p{.row_bytes = 1 + log_uniform(random, random() % 2 == 0 ? 8 : 36)};
  if (random() % 2 == 0) p.rows = 2 + log_uniform(random, 12);
  if (p.rows > 1 && random() % 2 == 0) p.slices = 2 + log_uniform(random, 8);
  const int64_t access = int64_t{1} << (random() % 5);
  p.src = made_up_address(access * static_cast<int64_t>(random() % 2), 1);
  p.dst = made_up_address(access * static_cast<int64_t>(random() % 2), 0);
  p.src_pitch = p.dst_pitch = (p.row_bytes / access + 1) * access;
  p.src_slice = p.dst_slice = p.rows * p.dst_pitch;
  return p;
}

template <>
AxpbyParams random_params(std::mt19937_64& random) {
  AxpbyParams p{.dtype = random() % 2 == 0 ? GPUMEM_F32 : GPUMEM_F64, .n = 1 + log_uniform(random, 40)};
  p.z = anywhere(random, 0);
  const int32_t as_z = misalignment(p.z);
  if (random() % 4 != 0) p.x = random() % 2 == 0 ? made_up_address(as_z, 1) : anywhere(random, 1);
  if (random() % 4 != 0) p.y = random() % 2 == 0 ? made_up_address(as_z, 2) : anywhere(random, 2);
  return p;
}

template <>
ScanParams random_params(std::mt19937_64& random) {
  static constexpr gpumem_reduce_op kOps[] = {GPUMEM_SUM, GPUMEM_MIN, GPUMEM_MAX, GPUMEM_PROD};
  const auto dtype = static_cast<gpumem_dtype>(random() % 12);
  ScanParams p{dtype,
               kOps[random() % 4],
               static_cast<int32_t>(random() % 2),
               anywhere(random, 1),
               1 + log_uniform(random, 40),
               anywhere(random, 0),
               random() % 2 == 0 ? dtype : wide_type(dtype)};
  if (random() % 3 == 0) {
    p.segments = 1 + log_uniform(random, 30);
    p.offsets = reinterpret_cast<const int64_t*>(made_up_address(0, 2));
  } else if (random() % 2 == 0) {
    const int64_t n = 1 + log_uniform(random, 20);
    const int64_t lines = 1 + log_uniform(random, 20);
    p.n = n * lines;
    p.view = {2, 0, {n, lines}, {1, n}, {lines, 1}};
  }
  return p;
}
template <>
ConvertParams random_params(std::mt19937_64& random) {
  return {static_cast<gpumem_dtype>(random() % 12), anywhere(random, 1), static_cast<gpumem_dtype>(random() % 12),
          anywhere(random, 0), 1 + log_uniform(random, 40)};
}

template <>
SortParams random_params(std::mt19937_64& random) {
  SortParams p{.dtype = static_cast<gpumem_dtype>(random() % 12),
               .keys = anywhere(random, 1),
               .n = 1 + log_uniform(random, 40),
               .descending = static_cast<int32_t>(random() % 2)};
  if (random() % 3 != 0) p.sorted = random() % 3 == 0 ? const_cast<void*>(p.keys) : anywhere(random, 0);
  if (p.sorted == nullptr || random() % 2 == 0) p.order = made_up_address(0, 2);
  p.order_type = random() % 2 == 0 ? GPUMEM_I64 : GPUMEM_U32;
  if (random() % 2 == 0) {
    p.offsets = reinterpret_cast<const int64_t*>(made_up_address(0, 3));
    p.segments = 1 + log_uniform(random, 40);
  }
  return p;
}

template <>
GatherScatterParams random_params(std::mt19937_64& random) {
  GatherScatterParams p{.row_bytes = 1 + log_uniform(random, 24), .n = 1 + log_uniform(random, 36)};
  const auto side = [&](int64_t& rows, int64_t& pitch) {
    rows = random() % 4 != 0 ? 2 : 1;
    pitch = random() % 2 == 0 ? (p.row_bytes + 15) / 16 * 16 : p.row_bytes;
  };
  side(p.src_rows, p.src_pitch);
  side(p.dst_rows, p.dst_pitch);
  const auto place = [&] { return static_cast<int64_t>(random() % 3 == 0 ? random() % 16 : random() % 4 * 4); };
  p.src = made_up_address(place(), 1);
  p.dst = made_up_address(place(), 0);
  return p;
}

template <>
SelectParams random_params(std::mt19937_64& random) {
  SelectParams p{
      .places = random() % 4 == 0, .row_bytes = 1 + log_uniform(random, 24), .n = 1 + log_uniform(random, 36)};
  if (p.places) p.row_bytes = random() % 2 == 0 ? 4 : 8;
  p.dst_rows = random() % 4 == 0 ? 0 : 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(p.n));
  const auto pitch = [&] { return random() % 2 == 0 ? (p.row_bytes + 15) / 16 * 16 : p.row_bytes; };
  p.src_pitch = pitch();
  p.dst_pitch = pitch();
  const auto place = [&] { return static_cast<int64_t>(random() % 3 == 0 ? random() % 16 : random() % 4 * 4); };
  p.mask = static_cast<const uint8_t*>(static_cast<const void*>(made_up_address(place(), 2)));
  if (p.dst_rows == 0) return p;
  if (!p.places) p.src = made_up_address(place(), 1);
  p.dst = made_up_address(p.places ? 8 : place(), 0);
  return p;
}

template <>
CopyBoxesParams random_params(std::mt19937_64& random) {
  CopyBoxesParams p{.element_bytes = int64_t{1} << (random() % 5), .rank = 1, .has_extents = true};
  p.count = 1 + log_uniform(random, 12);
  p.extents[0] = 1 + log_uniform(random, 30);
  p.are_pieces = random() % 2 == 0;
  return p;
}

template <>
PermuteParams random_params(std::mt19937_64& random) {
  PermuteAxes axes;
  axes.element_bytes = int64_t{1} << (random() % 5);
  int64_t dst_stride = random() % 8 == 0 ? 2 : 1;
  for (int d = static_cast<int>(random() % 9); d > 0; --d) {
    const int64_t extent = 1 + log_uniform(random, 7);
    axes.add(extent, random() % 4 == 0 ? log_uniform(random, 8) : 1, dst_stride);
    dst_stride = dst_stride * extent + (random() % 4 == 0 ? log_uniform(random, 4) : 0);
  }
  PermuteParams p{.src = anywhere(random, 1, random() % 2 == 0 ? 1 : 16),
                  .dst = anywhere(random, 0, random() % 2 == 0 ? 1 : 16)};
  p.axes = fuse(axes, misalignment(p.src), misalignment(p.dst));
  return p;
}

template <>
ResizeParams random_params(std::mt19937_64& random) {
  constexpr gpumem_dtype kTypes[] = {GPUMEM_U8, GPUMEM_U16, GPUMEM_F32};
  ResizeParams p{};
  p.filter = static_cast<gpumem_filter>(random() % 2);
  p.dtype = kTypes[random() % 3];
  p.channels = static_cast<int32_t>(1 + random() % 4);
  p.src_rows = 1 + log_uniform(random, 18);
  p.src_cols = 1 + log_uniform(random, 18);
  p.dst_rows = 1 + log_uniform(random, 18);
  p.dst_cols = 1 + log_uniform(random, 18);
  p.src_pitch = p.src_cols * p.pixel_bytes() + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  p.dst_pitch = p.dst_cols * p.pixel_bytes() + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  p.src = anywhere(random, 1, random() % 2 == 0 ? 1 : 4096);
  p.dst = anywhere(random, 0);
  return p;
}

constexpr gpumem_reduce_op kSumsAndExtremes = 7;  // they begin the enumeration, and every type has them

template <>
ReduceAxisParams random_params(std::mt19937_64& random) {
  ReduceAxisParams p{.dtype = static_cast<gpumem_dtype>(random() % 12),
                     .op = static_cast<gpumem_reduce_op>(random() % kSumsAndExtremes),
                     .axis = static_cast<gpumem_axis>(random() % 2),
                     .x = anywhere(random, 0),
                     .rows = 1 + log_uniform(random, 22),
                     .cols = 1 + log_uniform(random, 22)};
  p.ld = p.cols + (random() % 2 == 0 ? 0 : log_uniform(random, 8));
  if (random() % 4 == 0) p.batches = 1 + log_uniform(random, 6);
  p.batch_stride = p.rows * p.ld;
  return p;
}
template <>
ReduceSegmentsParams random_params(std::mt19937_64& random) {
  return {.dtype = static_cast<gpumem_dtype>(random() % 12),
          .op = static_cast<gpumem_reduce_op>(random() % kSumsAndExtremes),
          .x = anywhere(random, 0),
          .n = log_uniform(random, 36),
          .segments = 1 + log_uniform(random, 30)};
}
template <>
ReduceByIndexParams random_params(std::mt19937_64& random) {
  ReduceByIndexParams p{
      .index = made_up_address(0, 1), .n = 1 + log_uniform(random, 36), .bins = 1 + log_uniform(random, 30)};
  if (random() % 4 == 0) return p;
  p.dtype = static_cast<gpumem_dtype>(random() % 12);
  p.op = static_cast<gpumem_reduce_op>(random() % kSumsAndExtremes);
  p.x = anywhere(random, 0);
  if (random() % 2 == 0) return p;
  p.cols = 1 + log_uniform(random, 8);
  p.ld = p.cols + random() % 3;
  return p;
}
template <>
ArithmeticParams random_params(std::mt19937_64& random) {
  ArithmeticParams p{.op = static_cast<Arithmetic>(random() % 2), .dtype = random() % 2 == 0 ? GPUMEM_F32 : GPUMEM_F64};
  p.terms = p.op == Arithmetic::multiply ? 2 : static_cast<int32_t>(1 + random() % kMaxTerms);
  p.rank = static_cast<int32_t>(1 + random() % kMaxViewRank);
  p.z = anywhere(random, 0);
  int64_t stride = 1;
  for (int32_t d = p.rank - 1; d >= 0; --d) {
    p.extents[d] = 1 + log_uniform(random, p.rank <= 3 ? 12 : 36 / p.rank);
    p.z_strides[d] = stride;
    stride *= p.extents[d];
  }
  if (p.op == Arithmetic::lincomb && random() % 4 == 0) p.in_memory = 1;
  for (int32_t k = 0; k < p.terms; ++k) {
    p.factors[k] = 1;
    p.x[k] = random() % 2 == 0 ? made_up_address(misalignment(p.z), k + 1) : anywhere(random, k + 1);
    for (int32_t d = 0; d < p.rank; ++d)
      p.x_strides[k][d] = random() % 4 == 0 ? log_uniform(random, 8) : p.z_strides[d];
  }
  if (p.op == Arithmetic::lincomb && random() % 3 == 0) p.dots = static_cast<int32_t>(1 + random() % kMaxDots);
  for (int32_t k = 0; k < p.dots; ++k) {
    p.w[k] = random() % 2 == 0 ? p.z : p.x[0];
    std::copy_n(p.w[k] == p.z ? p.z_strides : p.x_strides[0], p.rank, p.w_strides[k]);
  }
  return p;
}

template <>
MapParams random_params(std::mt19937_64& random) {
  MapParams p{.kind = static_cast<MapKind>(random() % 4), .op = GPUMEM_LESS};
  p.dtype = static_cast<gpumem_dtype>(random() % 12);
  p.dst_type = static_cast<gpumem_dtype>(random() % 12);
  p.element_bytes = int64_t{1} << random() % 5;
  p.sources = p.kind == MapKind::map || p.kind == MapKind::compare ? 2 : 3;
  p.rank = static_cast<int32_t>(1 + random() % kMaxMapRank);
  p.z = anywhere(random, 0);
  int64_t stride = random() % 4 == 0 ? 2 : 1;
  for (int32_t d = p.rank - 1; d >= 0; --d) {
    p.extents[d] = 1 + log_uniform(random, 30 / p.rank);
    p.z_strides[d] = stride;
    stride *= p.extents[d];
  }
  for (int32_t k = 0; k < p.sources; ++k) {
    p.x[k] = anywhere(random, k + 1);
    for (int32_t d = 0; d < p.rank; ++d) p.x_strides[k][d] = random() % 4 == 0 ? 0 : p.z_strides[d];
  }
  return p;
}

template <class Params>
const char* refusal_of(const Implementation<Params>& row, const DeviceProps& device, const Params& params) {
  Config config;
  return plan_row(row, device, params, config);
}

// Of a row that fits.
template <class Params>
Config config_of(const Implementation<Params>& row, const DeviceProps& device, const Params& params) {
  Config config;
  EXPECT_EQ(row.plan(device, params, config), nullptr) << row.name;
  return config;
}

template <class Family>
class Table : public testing::Test {};
using Families =
    testing::Types<ReduceFamily, ReduceAxisFamily, ReduceSegmentsFamily, ArithmeticFamily, TransposeFamily, FillFamily,
                   CopyFamily, AxpbyFamily, GatherFamily, ScatterFamily, PermuteFamily, ResizeFamily, ConvertFamily,
                   MapFamily, ScanFamily, SortFamily, SelectFamily, ReduceByIndexFamily, CopyBoxesFamily>;
TYPED_TEST_SUITE(Table, Families);

TYPED_TEST(Table, HasUniqueNamesAndTwoVariantsABackend) {
  std::set<std::string> names;
  int of_backend[2] = {};
  for (const auto& row : TypeParam::table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GE(row.revision, 1);
    ++of_backend[static_cast<int>(row.space)];
  }
  EXPECT_GE(of_backend[0], 2);
  EXPECT_GE(of_backend[1], 2);
}

// A problem of these is for one row or another: a scan is ordered or not, a sort has segments or not, and only elements
// are sorted by their bins.
template <class Family>
constexpr bool kHasALastRow = !std::is_same_v<Family, ScanFamily> && !std::is_same_v<Family, SortFamily> &&
                              !std::is_same_v<Family, ReduceByIndexFamily>;

TYPED_TEST(Table, LastRowOfEachBackendAcceptsEverything) {
  if (!kHasALastRow<TypeParam>) return;
  std::mt19937_64 random(1);
  const auto table = TypeParam::table();
  for (const auto& device : kDevices) {
    const Implementation<typename TypeParam::Params>* last = nullptr;
    for (const auto& row : table) {
      if (row.space == device.props.backend) last = &row;
    }
    ASSERT_NE(last, nullptr);
    for (int i = 0; i < 2000; ++i) {
      const auto problem = random_params<typename TypeParam::Params>(random);
      EXPECT_EQ(refusal_of(*last, device.props, problem), nullptr) << last->name << " on " << device.name;
    }
  }
}

// Whatever is selected fits, covers the problem and can be launched.
TYPED_TEST(Table, SelectsWhatFits) {
  static_assert(noexcept(select<TypeParam>(DeviceProps{}, typename TypeParam::Params{}, Override{}, TunedRow{})));
  std::mt19937_64 random(2);
  for (const auto& device : kDevices) {
    for (int i = 0; i < 2000; ++i) {
      const auto problem = random_params<typename TypeParam::Params>(random);
      const auto d = select<TypeParam>(device.props, problem, {}, {});
      ASSERT_GE(d.row, 0);
      EXPECT_EQ(d.by, ChosenBy::table);
      EXPECT_EQ(refusal_of(TypeParam::table()[d.row], device.props, problem), nullptr);
      EXPECT_GE(d.config.grid, 1);
      EXPECT_LE(d.config.grid, 0x7fffffff);
      EXPECT_GE(d.config.block, 1);
      EXPECT_LE(d.config.block, 1024);
    }
  }
}

// On any device, whatever was tuned: there is a choice, always the same one, which fits; a tuned row that fits is taken, others change
// nothing.
TYPED_TEST(Table, IsTotalDeterministicAndEligibleWhateverWasTuned) {
  using Params = typename TypeParam::Params;
  std::mt19937_64 random(7);
  const auto table = TypeParam::table();
  const auto rows = static_cast<int32_t>(table.size());
  int tuned_taken = 0;
  for (int i = 0; i < 100000; ++i) {
    DeviceProps device = kDevices[random() % std::size(kDevices)].props;
    device.multiprocessors = static_cast<int32_t>(1 + random() % 300);
    device.l2_bytes = static_cast<int64_t>(random() % (int64_t{1} << 28));
    device.clusters = device.backend == ExecutionSpace::cuda && random() % 2 == 0;
    if (device.backend == ExecutionSpace::cuda)
      device.shared_bytes_per_block = (48 + static_cast<int64_t>(random() % 180)) << 10;
    const auto problem = random_params<Params>(random);
    TunedRow tuned{static_cast<int32_t>(random() % static_cast<uint64_t>(rows + 2)) - 1, 1};
    const bool there = tuned.row >= 0 && tuned.row < rows;
    if (there) tuned.revision = table[tuned.row].revision + (random() % 4 == 0 ? 1 : 0);
    const auto d = select<TypeParam>(device, problem, {}, tuned);
    const auto again = select<TypeParam>(device, problem, {}, tuned);
    ASSERT_GE(d.row, 0);
    ASSERT_EQ(d.row, again.row);
    ASSERT_EQ(d.config.grid, again.config.grid);
    ASSERT_EQ(refusal_of(table[d.row], device, problem), nullptr) << table[d.row].name;
    ASSERT_NE(table[d.row].deprioritized, &by_name<Params>) << table[d.row].name;
    ASSERT_GE(d.config.grid, 1);
    const bool holds = there && tuned.revision == table[tuned.row].revision &&
                       table[tuned.row].deprioritized != &by_name<Params> &&
                       refusal_of(table[tuned.row], device, problem) == nullptr;
    ASSERT_EQ(d.by, holds ? ChosenBy::tuning : ChosenBy::table);
    ASSERT_EQ(d.row, holds ? tuned.row : select<TypeParam>(device, problem, {}, {}).row);
    tuned_taken += holds;
  }
  EXPECT_GT(tuned_taken, 1000);
}

TYPED_TEST(Table, ForcedRowIsTakenOrRefusedNeverReplaced) {
  std::mt19937_64 random(3);
  const auto table = TypeParam::table();
  int taken = 0;
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto& device = kDevices[random() % std::size(kDevices)];
    const auto problem = random_params<typename TypeParam::Params>(random);
    const auto row = static_cast<int32_t>(random() % table.size());
    const auto d = select<TypeParam>(device.props, problem, {row, ChosenBy::program}, {});
    if (refusal_of(table[row], device.props, problem) == nullptr) {
      EXPECT_EQ(d.row, row);
      ++taken;
    } else {
      EXPECT_EQ(d.row, -1);
      EXPECT_NE(d.refusal, nullptr);
      ++refused;
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 100);
}

TEST(Transpose, InPlaceHasItsRowsAndNoOthers) {
  std::mt19937_64 random(4);
  const std::set<std::string_view> rows_in_place = {
      "in_place_chunks", "in_place_tiles_vec16", "in_place_tiles",      "in_place_shared",      "in_place_scratch",
      "in_place_c2r",    "in_place_slots",       "host_in_place_tiles", "host_in_place_buffer", "host_in_place_c2r"};
  std::set<std::string_view> chosen;
  for (const auto& device : kDevices) {
    for (int i = 0; i < 500; ++i) {
      auto problem = random_params<TransposeParams>(random);
      for (const bool in_place : {false, true}) {
        problem.src = in_place ? problem.dst : made_up_address(0, 1);
        if (random() % 4 == 0) problem.cols = problem.rows;
        const auto d = select<TransposeFamily>(device.props, problem, {}, {});
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
    const TransposeParams p{.element_bytes = bytes, .rows = rows, .cols = cols, .src_ld = cols, .dst_ld = rows};
    return std::string_view(TransposeFamily::table()[select<TransposeFamily>(device, p, {}, {}).row].name);
  };
  EXPECT_EQ(chosen(h200, 4, 2, 29056), "in_place_shared") << "227 KiB";
  EXPECT_EQ(chosen(h200, 4, 2, 29057), "in_place_scratch");
  EXPECT_EQ(chosen(h200, 4, 2, 1 << 22), "in_place_scratch") << "32 MiB";
  EXPECT_EQ(chosen(h200, 4, 2, (1 << 22) + 1), "in_place_slots");
  EXPECT_EQ(chosen(h200, 4, 4000, 5000), "in_place_c2r");
  EXPECT_EQ(chosen(h200, 16, 14528, 1), "in_place_shared");
  EXPECT_EQ(chosen(host, 8, 2, 1 << 21), "host_in_place_buffer") << "32 MiB";
  EXPECT_EQ(chosen(host, 8, (1 << 21) + 1, 2), "host_in_place_c2r");
}

// No launch is empty, and no grid is larger than a device takes.
TEST(Transpose, HugeProblemsStayInsideTheGrid) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  for (const int64_t side : {int64_t{1}, int64_t{16}, int64_t{17}, int64_t{1} << 20, int64_t{1} << 40}) {
    for (const int64_t element : {1, 2, 4, 8, 16}) {
      const int64_t other = std::min(int64_t{1} << 40, INT64_MAX / 32 / side);
      for (const bool tall : {false, true}) {
        TransposeParams p{.element_bytes = element,
                          .rows = tall ? other : side,
                          .cols = tall ? side : other,
                          .dst = made_up_address(0)};
        p.src_ld = p.cols;
        p.dst_ld = p.rows;
        for (const bool in_place : {false, true}) {
          p.src = in_place ? p.dst : made_up_address(0, 1);
          for (const auto& row : TransposeFamily::table()) {
            if (refusal_of(row, h200, p) != nullptr) continue;
            const Config config = config_of(row, h200, p);
            EXPECT_GE(config.grid, 1) << row.name;
            EXPECT_LE(config.grid, 0x7fffffff) << row.name;
          }
        }
      }
    }
  }
}

TEST(Tuning, ComesBeforeTheTableAndAfterForce) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  const ReduceParams problem{.x = made_up_address(0), .n = 1 << 20};
  const auto& names = family_names(GPUMEM_FAMILY_REDUCE);
  const int32_t elements = find_variant(names, "view");
  const int32_t host = find_variant(names, "host_vector");
  const int32_t revision = ReduceFamily::table()[elements].revision;
  const TunedRow tuned{elements, revision};
  EXPECT_EQ(select<ReduceFamily>(h200, problem, {}, tuned).row, elements);
  EXPECT_EQ(select<ReduceFamily>(h200, problem, {}, tuned).by, ChosenBy::tuning);
  const int32_t last_block = find_variant(names, "last_block");
  EXPECT_EQ(select<ReduceFamily>(h200, problem, {last_block, ChosenBy::program}, tuned).row, last_block);

  // What no longer holds is passed over: an older kernel, a row of another backend, one by name only, no row at all.
  const int32_t named = find_variant(names, "neighbored");
  const TunedRow stale[] = {
      {elements, revision + 1}, {host, 1}, {named, ReduceFamily::table()[named].revision}, {99, 1}, {-1, 1}};
  for (const TunedRow& row : stale) EXPECT_EQ(select<ReduceFamily>(h200, problem, {}, row).by, ChosenBy::table);
}

// Whatever the operands, up to the largest n whose bytes fit int64_t.
TEST(Scan, SumsFitTheSharedMemoryOfEveryDevice) {
  for (const auto& [name, device] : kDevices) {
    if (device.backend != ExecutionSpace::cuda) continue;
    for (const gpumem_dtype dtype : {GPUMEM_F16, GPUMEM_F32, GPUMEM_F64}) {
      for (const int64_t lines : {1, 3, 1000}) {
        ScanParams p{.dtype = dtype, .n = lines * 100000, .result_type = dtype};
        p.view = {.rank = lines == 1 ? 0 : 2, .extents = {100000, lines}, .x_strides = {1, 100000}};
        std::copy_n(p.view.x_strides, 2, p.view.result_strides);
        for (const auto& row : ScanFamily::table()) {
          Config config;
          if (plan_row(row, device, p, config) != nullptr || config.shared_bytes == 0) continue;
          const int64_t beside = std::string_view(row.name) == "columns" ? 0 : kScanStaticBytes;
          EXPECT_LE(config.shared_bytes + beside, device.shared_bytes_per_block) << row.name << " on " << name;
        }
      }
    }
  }
}

TEST(Axpby, LaunchesCoverZOrGoOn) {
  for (const auto& device : kDevices) {
    for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
      const int64_t largest = INT64_MAX / (dtype == GPUMEM_F32 ? 4 : 8);
      for (int64_t n = 1; n <= largest / 3; n = n * 3 + 1) {
        const AxpbyParams problem{
            .dtype = dtype, .x = made_up_address(8, 1), .y = made_up_address(8, 2), .z = made_up_address(8, 0), .n = n};
        for (const auto& row : AxpbyFamily::table()) {
          if (refusal_of(row, device.props, problem) != nullptr) continue;
          const Config config = config_of(row, device.props, problem);
          EXPECT_GE(config.grid, 1) << row.name << ' ' << n;
          EXPECT_LE(config.grid, 0x7fffffff) << row.name << ' ' << n;
          EXPECT_TRUE(config.grid == 0x7fffffff || config.tile >= (n + config.grid - 1) / config.grid) << row.name << n;
        }
      }
    }
  }
}

// Sums of five views, whose rows may lie without gaps: no configuration leaves most of a block's threads without elements.
TEST(Arithmetic, TilesGiveThreadsWork) {
  for (const int64_t stride : {1, 2}) {
    for (int64_t cols = 1; cols <= 300; ++cols) {
      for (const int64_t rows : {1, 2, 3, 4, 5, 7, 9, 1000, 100003}) {
        ArithmeticParams p{.rank = 2, .terms = 5, .extents = {rows, cols}, .z_strides = {2 * cols + 1, 1}};
        for (auto& strides : p.x_strides) strides[0] = 2 * cols + 1, strides[1] = stride;
        const bool by_rows = arithmetic_by_rows(p);
        const ViewTiles tiles = view_tiles(p, arithmetic_steps(p, 4, by_rows), by_rows);
        const int64_t threads = tiles.lanes[0] * tiles.lanes[1] * tiles.lanes[2];
        EXPECT_LE(threads, kArithmeticThreads);
        if (rows * cols < kArithmeticThreads * 64) continue;
        const auto at_work = static_cast<double>(rows * cols) /
                             static_cast<double>(tiles.blocks() * kArithmeticThreads * tiles.across * tiles.steps);
        EXPECT_GE(at_work, 0.25) << rows << " x " << cols << ", stride " << stride;
      }
    }
  }
}

// Wherever the long axes are.
TEST(Arithmetic, TilesOfManyAxesGiveThreadsWork) {
  for (int32_t a = 0; a < kMaxViewRank; ++a) {
    for (int32_t b = 0; b < kMaxViewRank; ++b) {
      ArithmeticParams p{.rank = kMaxViewRank, .terms = 1};
      int64_t stride = 1;
      for (int32_t d = p.rank - 1; d >= 0; --d) {
        p.extents[d] = d == a ? 1003 : d == b ? 20 : 2;
        p.z_strides[d] = stride;
        stride *= p.extents[d] + 1;
      }
      const ViewTiles tiles = view_tiles(p, 8, false);
      EXPECT_EQ(tiles.stride(p.z_strides, 0), 1) << "neighbouring threads go along a row";
      EXPECT_GE(static_cast<double>(p.elements()) / static_cast<double>(tiles.blocks() * kArithmeticThreads * 8), 0.25)
          << a << ' ' << b;
    }
  }
}

TEST(Convert, LaunchesCoverDstOrGoOn) {
  for (const auto& device : kDevices) {
    for (const gpumem_dtype from : {GPUMEM_I8, GPUMEM_F16, GPUMEM_F64}) {
      for (const gpumem_dtype to : {GPUMEM_U8, GPUMEM_I32, GPUMEM_U64}) {
        for (int64_t n = 1; n <= INT64_MAX / 24; n = n * 3 + 1) {
          const ConvertParams problem{from, made_up_address(8, 1), to, made_up_address(8, 0), n};
          for (const auto& row : ConvertFamily::table()) {
            if (refusal_of(row, device.props, problem) != nullptr) continue;
            const Config config = config_of(row, device.props, problem);
            EXPECT_GE(config.grid, 1) << row.name << ' ' << n;
            EXPECT_LE(config.grid, 0x7fffffff) << row.name << ' ' << n;
            EXPECT_TRUE(config.grid == 0x7fffffff || config.tile >= (n + config.grid - 1) / config.grid)
                << row.name << n;
          }
        }
      }
    }
  }
}

TEST(Axpby, WideAccessesGoByWhatIsRead) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  const auto chosen = [&](gpumem_dtype dtype, bool reads_x, bool reads_y, int32_t x, int32_t y, int32_t z) {
    const AxpbyParams problem{.dtype = dtype,
                              .x = reads_x ? made_up_address(x, 1) : nullptr,
                              .y = reads_y ? made_up_address(y, 2) : nullptr,
                              .z = made_up_address(z, 0),
                              .n = 1000};
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
    const PermuteParams planes{.src = made_up_address(0, 1), .dst = made_up_address(0, 0), .axes = fuse(axes, 0, 0)};
    const auto transposed = select<PermuteFamily>(h200, planes, {}, {});
    EXPECT_STREQ(PermuteFamily::table()[transposed.row].name, "transpose");
    const int32_t by_boxes = find_variant(family_names(GPUMEM_FAMILY_PERMUTE), "packed");
    const auto packed = select<PermuteFamily>(h200, planes, {by_boxes, ChosenBy::program}, {});
    EXPECT_GE(packed.config.grid, 4 * 132 - 1) << "each block takes as many boxes as the others";
    const int32_t forced = find_variant(family_names(GPUMEM_FAMILY_PERMUTE), "tiled");
    const auto tiles = select<PermuteFamily>(h200, planes, {forced, ChosenBy::program}, {});
    EXPECT_GE(tiles.config.grid * tiles.config.tile * tiles.config.tile, planes.elements());

    axes.src_stride[0] = 1;
    axes.src_stride[1] = int64_t{70001} * 3 + 1;  // a gap
    const PermuteParams lines{.src = made_up_address(e % 16, 1),
                              .dst = made_up_address(0, 0),
                              .axes = fuse(axes, static_cast<int32_t>(e % 16), 0)};
    const auto boxes = select<PermuteFamily>(h200, lines, {}, {});
    EXPECT_STREQ(PermuteFamily::table()[boxes.row].name, e == 16 ? "strided_scalar" : "contiguous_boxes");
    EXPECT_GE(boxes.config.grid * boxes.config.tile, lines.elements());
    const int32_t elements = find_variant(family_names(GPUMEM_FAMILY_PERMUTE), "strided_scalar");
    EXPECT_GE(select<PermuteFamily>(h200, lines, {elements, ChosenBy::program}, {}).config.grid * 256,
              lines.elements());
  }
}

TEST(Reduce, NeverLaunchesMoreBlocksThanTheScratchHolds) {
  for (const auto& device : kDevices) {
    for (int64_t n = 1; n <= int64_t{1} << 36; n = n * 3 + 1) {
      const ReduceParams problem{.x = made_up_address(4), .n = n};
      for (const auto& row : ReduceFamily::table()) {
        if (row.space != ExecutionSpace::cuda || refusal_of(row, device.props, problem) != nullptr) continue;
        const Config config = config_of(row, device.props, problem);
        EXPECT_LE(config.grid, 16384) << row.name << ' ' << n;
        // The textbook's blocks go on to the next part of x where there are more parts than blocks.
        const bool goes_on = config.grid == 16384 && std::string_view(row.name) != "last_block";
        EXPECT_TRUE(goes_on || config.grid * config.tile >= n) << row.name << ' ' << n;
      }
    }
  }
}

// Past 2^31 and 2^32 in rows, in words and in bytes of a row.
TEST(Rows, EveryWordOfHugeMatricesHasItsThread) {
  for (const auto& device : kDevices) {
    for (const int64_t n : {int64_t{1}, (int64_t{1} << 31) + 1, (int64_t{1} << 32) + 5, int64_t{1} << 38}) {
      for (const int64_t row_bytes : {int64_t{1}, int64_t{100}, int64_t{1} << 20, (int64_t{1} << 24) + 3}) {
        const GatherScatterParams problem{.row_bytes = row_bytes, .n = n};
        EXPECT_GT(problem.elements(), 0);
        for (const auto& row : GatherFamily::table()) {
          if (row.space != device.props.backend) continue;
          const Config config = config_of(row, device.props, problem);
          const std::string_view name = row.name;
          if (row.space == ExecutionSpace::cuda) {
            const int64_t word = name == "vec16" ? 16 : name == "vec8" ? 8 : name == "words" ? 4 : 1;
            const int64_t of_block = config.tile / word;
            const int64_t words = n * ((row_bytes + word - 1) / word);
            const int64_t tiles = (words + of_block - 1) / of_block;
            // As large as leaves no multiprocessor without a block.
            EXPECT_TRUE(of_block == 256 || of_block == 512 || of_block == 1024) << config.tile;
            EXPECT_TRUE(of_block == 256 || words >= device.props.multiprocessors * of_block) << words;
            EXPECT_TRUE(of_block == 1024 || words < device.props.multiprocessors * of_block * 2) << words;
            EXPECT_EQ(config.grid, std::min<int64_t>(tiles, 0x7fffffff)) << name << ' ' << n << ' ' << row_bytes;
          } else if (config.grid > n) {
            EXPECT_EQ(config.grid % n, 0) << name << ": each row is cut into as many pieces";
          } else {
            EXPECT_GE(config.tile, (n + config.grid - 1) / config.grid) << name << ' ' << n << ' ' << row_bytes;
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
    return select<GatherFamily>(props, {.row_bytes = row_bytes, .n = n}, {}, {}).config.grid;
  };
  EXPECT_EQ(grid(2, 1000), 1);
  EXPECT_EQ(grid(2, 128 << 10), 2);
  EXPECT_EQ(grid(2, 1 << 20), 16);
  EXPECT_EQ(grid(1, int64_t{1} << 34), 512);
  EXPECT_EQ(grid(1000, 1 << 20), 512);
}

}  // namespace
}  // namespace gpumem
