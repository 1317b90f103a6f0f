// Problem lines: what is written is read back, whatever the problem; what can't be read is named.
#include "ops/problem_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "ops/problem_fields.hpp"
#include "tests/support/random.hpp"

namespace gpumem {
namespace {

using gpumem_test::quick_run;
using gpumem_test::Random;

// All that a line has to tell of a call, but for the addresses.
auto told(const ReduceParams& c) {
  std::string view;
  for (int32_t d = 0; d < c.view.rank; ++d) {
    for (const int64_t number : {c.view.extents[d], c.view.strides[d], takes_y(c.op) ? c.view.y_strides[d] : 0}) {
      view += std::to_string(number) + ' ';
    }
  }
  return std::tuple(c.dtype, c.op, c.n, c.stride, c.y_stride, view);
}
auto told(const ReduceAxisParams& c) {
  return std::tuple(c.dtype, c.op, c.axis, c.rows, c.cols, c.ld, c.batches, c.batch_stride);
}
auto told(const ReduceSegmentsParams& c) { return std::tuple(c.dtype, c.op, c.n, c.segments); }
auto told(const TransposeParams& c) {
  return std::tuple(c.element_bytes, c.rows, c.cols, c.src_ld, c.dst_ld, c.batches, c.src_batch_stride,
                    c.dst_batch_stride);
}
auto told(const FillParams& c) { return std::tuple(c.pattern_bytes, c.count, c.rank, c.rows, c.pitch, c.uniform()); }
auto told(const CopyParams& c) {
  return std::tuple(c.row_bytes, c.rows, c.slices, c.src_pitch, c.src_slice, c.dst_pitch, c.dst_slice);
}
auto told(const AxpbyParams& c) { return std::tuple(c.dtype, c.n, c.alpha, c.beta); }
auto told(const ConvertParams& c) { return std::tuple(c.src_type, c.dst_type, c.n); }
auto told(const SortParams& c) {
  const bool order = c.order != nullptr;
  return std::tuple(c.dtype, c.n, c.descending, c.segments, c.sorted != nullptr, order, order ? c.order_type : 0);
}
auto told(const ScanParams& c) {
  std::string view;
  for (int32_t d = 0; d < c.view.rank; ++d) {
    for (const int64_t number : {c.view.extents[d], c.view.x_strides[d], c.view.result_strides[d]}) {
      view += std::to_string(number) + ' ';
    }
  }
  return std::tuple(c.dtype, c.op, c.n, c.segments, c.result_type, c.exclusive, c.view.axis, view);
}
auto told(const ArithmeticParams& c) {
  std::string views;
  const auto add = [&](const int64_t* list) {
    for (int32_t d = 0; d < c.rank; ++d) views += std::to_string(list[d]) + ' ';
  };
  add(c.extents);
  add(c.z_strides);
  for (int32_t k = 0; k < c.terms; ++k) {
    add(c.x_strides[k]);
    views += c.factors[k] == 0 ? "none " : "some ";
  }
  for (int32_t k = 0; k < c.dots; ++k) add(c.w_strides[k]);
  return std::tuple(c.op, c.dtype, c.rank, c.terms, c.dots, views);
}
auto told(const MapParams& c) {
  std::string views;
  const auto add = [&](const int64_t* list) {
    for (int32_t d = 0; d < c.rank; ++d) views += std::to_string(list[d]) + ' ';
  };
  add(c.extents);
  add(c.z_strides);
  for (int32_t k = 0; k < c.sources; ++k) {
    const bool absent = c.kind == MapKind::convert_scaled && k > 0 && c.x[k] == nullptr;
    views += absent ? "none " : "some ";
    if (!absent) add(c.x_strides[k]);
  }
  const bool has_op = c.kind == MapKind::map || c.kind == MapKind::compare;
  return std::tuple(c.kind, has_op ? c.op : 0, c.dtype, c.dst_type, c.element_bytes, c.rank, c.sources, views);
}
auto told(const GatherScatterParams& c) {
  return std::tuple(c.row_bytes, c.n, c.src_rows, c.dst_rows, c.src_pitch, c.dst_pitch, c.index_type);
}
std::string axes_of(const auto& c) {
  std::string axes;
  const auto add = [&](bool given, const auto& list) {
    axes += given ? "given " : "none ";
    for (int32_t d = 0; given && d < c.rank; ++d) axes += std::to_string(list[d]) + ' ';
  };
  add(c.has_extents, c.extents);
  if constexpr (requires { c.order; }) add(c.has_order, c.order);
  add(c.has_src_strides, c.src_strides);
  add(c.has_dst_strides, c.dst_strides);
  return axes;
}
auto told(const PermuteParams& c) { return std::tuple(c.element_bytes, c.rank, axes_of(c)); }
auto told(const CopyBoxesParams& c) { return std::tuple(c.element_bytes, c.count, c.rank, axes_of(c)); }
auto told(const SelectParams& c) {
  return std::tuple(c.places, c.n, c.dst_rows, c.places ? c.index_type : 0, c.row_bytes, c.src_pitch, c.dst_pitch);
}
auto told(const ReduceByIndexParams& c) {
  return std::tuple(c.dtype, c.op, c.n, c.cols, c.ld, c.bins, c.index_type, c.x != nullptr);
}
auto told(const ResizeParams& c) {
  return std::tuple(c.filter, c.dtype, c.channels, c.src_rows, c.src_cols, c.src_pitch, c.dst_rows, c.dst_cols,
                    c.dst_pitch);
}

int64_t any(Random& random) {
  switch (random.below(8)) {
    case 0:
      return static_cast<int64_t>(random.bits());
    case 1:
      return -static_cast<int64_t>(random.below(10));
    case 2:
      return 1;
    default:
      return static_cast<int64_t>(random.below(1000));
  }
}
int32_t any_of(Random& random, int32_t last) { return static_cast<int32_t>(random.below(last + 3)) - 1; }

// Addresses a little past multiples of 4096, now and then the same one.
char* address(Random& random) {
  const uint64_t page = 1 + random.below(6);
  return reinterpret_cast<char*>(static_cast<uintptr_t>(page << 20 | (random.below(2) * random.below(4096))));
}

// A random call, with what it leaves unused as a line would: 0.
ReduceParams random_call(Random& r, std::type_identity<ReduceParams>) {
  ReduceParams c{any_of(r, GPUMEM_F64), any_of(r, GPUMEM_DOT_ORDER_FREE), address(r), any(r), any(r)};
  if (takes_y(c.op)) {
    c.y = address(r);
    c.y_stride = any(r);
  }
  if (r.below(2) == 0) return c;
  c.view.rank = static_cast<int32_t>(r.below(8)) + 1;
  c.stride = c.y_stride = 1;
  for (int32_t d = 0; d < c.view.rank; ++d) {
    c.view.extents[d] = any(r);
    c.view.strides[d] = any(r);
    c.view.y_strides[d] = any(r);
  }
  c.n = product_of(c.view.extents, c.view.rank);
  return c;
}
ReduceAxisParams random_call(Random& r, std::type_identity<ReduceAxisParams>) {
  return {any_of(r, GPUMEM_F64),
          any_of(r, GPUMEM_ARG_MAX_VALID),
          any_of(r, 1),
          address(r),
          any(r),
          any(r),
          any(r),
          any(r),
          any(r)};
}
ReduceSegmentsParams random_call(Random& r, std::type_identity<ReduceSegmentsParams>) {
  return {any_of(r, GPUMEM_F64),
          any_of(r, GPUMEM_ARG_MAX_VALID),
          address(r),
          any(r),
          reinterpret_cast<int64_t*>(address(r)),
          any(r)};
}
TransposeParams random_call(Random& r, std::type_identity<TransposeParams>) {
  return {any(r), any(r), any(r), address(r), any(r), address(r), any(r), any(r), any(r), any(r)};
}
FillParams random_call(Random& r, std::type_identity<FillParams>) {
  FillParams c{.dst = address(r), .pattern_bytes = any(r), .count = any(r), .rows = any(r)};
  if (r.below(2) != 0) c.word[1] = 1;
  c.rank = c.rows != 1 ? 2 : 1;
  if (c.rank == 2) c.pitch = any(r);
  return c;
}
CopyParams random_call(Random& r, std::type_identity<CopyParams>) {
  CopyParams c{.dst = address(r), .src = address(r), .row_bytes = any(r), .rows = any(r), .slices = any(r)};
  for (int64_t* pitch : {&c.src_pitch, &c.dst_pitch}) *pitch = c.rows != 1 ? any(r) : 0;
  for (int64_t* slice : {&c.src_slice, &c.dst_slice}) *slice = c.slices != 1 ? any(r) : 0;
  return c;
}
AxpbyParams random_call(Random& r, std::type_identity<AxpbyParams>) {
  return {any_of(r, GPUMEM_F64), r.below(2), address(r), r.below(2), address(r), address(r), any(r)};
}
ConvertParams random_call(Random& r, std::type_identity<ConvertParams>) {
  return {any_of(r, GPUMEM_F64), address(r), any_of(r, GPUMEM_F64), address(r), any(r)};
}
SortParams random_call(Random& r, std::type_identity<SortParams>) {
  SortParams c{any_of(r, GPUMEM_F64), address(r), any(r), any_of(r, 2)};
  if (r.below(3) != 0) c.sorted = address(r);
  if (r.below(3) != 0) c.order = address(r);
  c.order_type = any_of(r, GPUMEM_F64);
  if (r.below(2) == 0) c.segments = any(r), c.offsets = reinterpret_cast<const int64_t*>(address(r));
  return c;
}
ScanParams random_call(Random& r, std::type_identity<ScanParams>) {
  ScanParams c{any_of(r, GPUMEM_F64), any_of(r, GPUMEM_MIN), any_of(r, 1), address(r), any(r), address(r),
               any_of(r, GPUMEM_F64)};
  if (r.below(3) == 0) c.segments = any(r), c.offsets = reinterpret_cast<const int64_t*>(address(r));
  if (c.offsets != nullptr || r.below(2) == 0) return c;
  c.view.rank = static_cast<int32_t>(r.below(kMaxScanRank)) + 1;
  c.view.axis = any_of(r, c.view.rank - 1);
  for (int32_t d = 0; d < c.view.rank; ++d) {
    c.view.extents[d] = any(r);
    c.view.x_strides[d] = any(r);
    c.view.result_strides[d] = any(r);
  }
  c.n = product_of(c.view.extents, c.view.rank);
  return c;
}
ArithmeticParams random_call(Random& r, std::type_identity<ArithmeticParams>) {
  ArithmeticParams c{.op = r.below(3) == 0 ? Arithmetic::multiply : Arithmetic::lincomb,
                     .dtype = any_of(r, GPUMEM_F64),
                     .rank = static_cast<int32_t>(r.below(kMaxViewRank + 1)),
                     .terms = 1 + static_cast<int32_t>(r.below(kMaxTerms)),
                     .z = address(r)};
  if (c.op == Arithmetic::multiply) c.terms = 2;
  for (int32_t d = 0; d < c.rank; ++d) {
    c.extents[d] = any(r);
    c.z_strides[d] = any(r);
  }
  if (c.op == Arithmetic::lincomb && r.below(3) == 0) c.in_memory = static_cast<uint32_t>(r.below(1u << c.terms));
  for (int32_t k = 0; k < c.terms; ++k) {
    c.x[k] = address(r);
    c.factors[k] = c.op == Arithmetic::lincomb && r.below(5) == 0 && !c.has_factor_in_memory(k) ? 0 : 1;
    std::copy_n(c.z_strides, c.rank, c.x_strides[k]);
    if (c.rank > 0 && r.below(3) == 0) c.x_strides[k][0] = any(r);
  }
  if (c.op == Arithmetic::lincomb && r.below(3) == 0) c.dots = 1 + static_cast<int32_t>(r.below(kMaxDots));
  for (int32_t k = 0; k < c.dots; ++k) {
    c.w[k] = r.below(3) == 0 ? c.z : address(r);
    std::copy_n(c.z_strides, c.rank, c.w_strides[k]);
    if (c.rank > 0 && r.below(3) == 0) c.w_strides[k][0] = any(r);
  }
  return c;
}
MapParams random_call(Random& r, std::type_identity<MapParams>) {
  MapParams c{.kind = static_cast<MapKind>(r.below(4)),
              .rank = static_cast<int32_t>(r.below(kMaxMapRank + 1)),
              .z = address(r)};
  c.op = c.kind == MapKind::compare ? static_cast<int32_t>(r.below(6)) : static_cast<int32_t>(r.below(kMapOps));
  if (c.kind == MapKind::map && r.below(4) != 0 && !is_map_op(c.op)) c.op = GPUMEM_MAP_ADD;
  if (c.kind != MapKind::where) c.dtype = any_of(r, GPUMEM_F64);
  if (c.kind == MapKind::where) c.element_bytes = any(r);
  if (c.kind == MapKind::convert_scaled) c.dst_type = any_of(r, GPUMEM_F64);
  c.sources = c.kind == MapKind::map && !takes_two(c.op)             ? 1
              : c.kind == MapKind::map || c.kind == MapKind::compare ? 2
                                                                     : 3;
  for (int32_t d = 0; d < c.rank; ++d) {
    c.extents[d] = any(r);
    c.z_strides[d] = any(r);
  }
  for (int32_t k = 0; k < c.sources; ++k) {
    const bool absent = c.kind == MapKind::convert_scaled && k > 0 && r.below(3) == 0;
    c.x[k] = absent ? nullptr : address(r);
    for (int32_t d = 0; !absent && d < c.rank; ++d) c.x_strides[k][d] = any(r);
  }
  return c;
}
template <class Call>
requires std::derived_from<Call, GatherScatterParams> Call random_call(Random& r, std::type_identity<Call>) {
  constexpr bool kGathers = std::same_as<Call, GatherParams>;
  Call c{{any(r), address(r), any(r), 0, any_of(r, GPUMEM_F64), address(r), any(r), address(r), any(r), 0}};
  (kGathers ? c.dst_rows : c.src_rows) = c.n;
  if (c.src_rows > 1) c.src_pitch = any(r);
  if (c.dst_rows > 1) c.dst_pitch = any(r);
  return c;
}
SelectParams random_call(Random& r, std::type_identity<SelectParams>) {
  SelectParams c{.places = r.below(2) != 0, .mask = reinterpret_cast<uint8_t*>(address(r)), .n = any(r)};
  c.dst_rows = r.below(3) != 0 ? any(r) : 0;
  if (c.dst_rows != 0) c.dst = address(r);
  if (c.places) {
    c.index_type = any_of(r, GPUMEM_F64);
    return c;
  }
  c.row_bytes = any(r);
  if (c.n > 1) c.src_pitch = any(r);
  if (c.dst_rows > 1) c.dst_pitch = any(r);
  if (c.dst_rows != 0) c.src = address(r);
  return c;
}
ReduceByIndexParams random_call(Random& r, std::type_identity<ReduceByIndexParams>) {
  ReduceByIndexParams c{any_of(r, GPUMEM_F64), any_of(r, GPUMEM_SUM_COMPENSATED)};
  if (r.below(3) != 0) c.x = address(r);
  c.index_type = any_of(r, GPUMEM_F64);
  c.index = address(r);
  c.n = any(r);
  c.bins = any(r);
  if (r.below(2) == 0) c.cols = any(r);
  c.ld = r.below(2) == 0 ? c.cols : any(r);
  return c;
}
template <class Call>
requires std::same_as<Call, PermuteParams> || std::same_as<Call, CopyBoxesParams> Call
random_call(Random& r, std::type_identity<Call>) {
  Call c{.element_bytes = any(r), .rank = static_cast<int32_t>(r.below(10))};
  if constexpr (requires { c.count; }) c.count = any(r);
  c.src = address(r);
  c.dst = address(r);
  const auto some = [&](bool& has, auto& list, const auto& value) {
    has = c.rank > 0 && c.rank <= kMaxPermuteRank && r.below(4) != 0;
    for (int32_t d = 0; has && d < c.rank; ++d) list[d] = value();
  };
  const auto number = [&] { return any(r); };
  some(c.has_extents, c.extents, number);
  if constexpr (requires { c.order; }) some(c.has_order, c.order, [&] { return any_of(r, 7); });
  some(c.has_src_strides, c.src_strides, number);
  some(c.has_dst_strides, c.dst_strides, number);
  return c;
}
ResizeParams random_call(Random& r, std::type_identity<ResizeParams>) {
  return {
      any_of(r, 1), any_of(r, GPUMEM_F64), any_of(r, 4), address(r), any(r), any(r), any(r), address(r), any(r), any(r),
      any(r)};
}

template <class Family>
class ProblemLine : public testing::Test {};
template <class... Family>
testing::Types<Family...> types_of(FamilyList<Family...>);
using Tested = decltype(types_of(Families{}));
TYPED_TEST_SUITE(ProblemLine, Tested);

void note_all(CallRecord& record, Random& random, std::initializer_list<const void*> operands) {
  for (const void* p : operands) {
    if (record.find(p) != nullptr || random.below(6) == 0) continue;
    const auto kind = static_cast<gpumem_memory_kind>(random.below(4));
    const bool elsewhere = kind == GPUMEM_MEMORY_DEVICE && random.below(3) == 0;
    record.note({p, kind, elsewhere ? 3 : kOwnDevice, kind == GPUMEM_MEMORY_PAGEABLE && random.below(3) == 0});
  }
}

TYPED_TEST(ProblemLine, IsReadAsItWasWritten) {
  constexpr auto kIndex = static_cast<size_t>(TypeParam::id);
  using Call = std::variant_alternative_t<kIndex, CallRecord::Call>;
  Random random(20 + kIndex);
  for (int i = 0; i < (quick_run() ? 2000 : 20000); ++i) {
    CallRecord record;
    const Call& call = record.call.emplace<kIndex>(random_call(random, std::type_identity<Call>{}));
    record.completion = random.below(2) == 0 ? Completion::blocking : Completion::asynchronous;
    if constexpr (requires { call.src; }) note_all(record, random, {call.src});
    if constexpr (requires { call.index; }) note_all(record, random, {call.index});
    if constexpr (requires { call.dst; }) note_all(record, random, {call.dst});
    if constexpr (requires { call.offsets; }) note_all(record, random, {call.offsets});
    if constexpr (requires { call.sorted; }) note_all(record, random, {call.keys});
    if constexpr (requires { call.z; }) note_all(record, random, {call.z});
    if constexpr (std::same_as<Call, ArithmeticParams>) {
      for (int32_t k = 0; k < call.terms; ++k) note_all(record, random, {call.x[k]});
      for (int32_t k = 0; k < call.dots; ++k) note_all(record, random, {call.w[k]});
    } else if constexpr (std::same_as<Call, MapParams>) {
      for (int32_t k = 0; k < call.sources; ++k) {
        if (call.x[k] != nullptr) note_all(record, random, {call.x[k]});
      }
    } else if constexpr (requires { call.x; }) {
      note_all(record, random, {call.x});
    }
    const std::string line = line_of(record);
    ASSERT_EQ(line.find(TypeParam::name), 0u) << line;
    const CallRecord read = parse_line(line);
    ASSERT_EQ(read.call.index(), kIndex) << line;
    EXPECT_EQ(told(std::get<kIndex>(read.call)), told(call)) << line;
    EXPECT_EQ(read.completion, record.completion) << line;
    ASSERT_EQ(line_of(read), line);
  }
}

// What the sentence says of a line that can't be read.
std::string refusal(const std::string& line) {
  try {
    parse_line(line);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), GPUMEM_INVALID_ARGUMENT) << line;
    return error.what();
  }
  return "none";
}

TEST(ProblemLines, ThatCantBeReadAreNamed) {
  const struct {
    const char* line;
    const char* word;
    const char* expected;
  } kCases[] = {
      {"", "''", "transpose"},
      {"turn rows=1", "'turn'", "reduce_axis"},
      {"transpose bytes=4 rows=8", "no cols", "integer"},
      {"transpose bytes=4 rows=8 columns=8", "'columns'", "cols"},
      {"reduce dtyp=f32 op=sum n=1", "'dtyp'", "dtype"},
      {"transpose bytes=4 rows=8 cols=8 columns=8", "'columns'", "src_ld"},
      {"transpose bytes=4 rows=8 cols=8 rows=8", "'rows=8'", "once"},
      {"transpose bytes=4 rows=8 cols=eight", "'eight'", "integer"},
      {"transpose bytes=4 rows=8 cols=9223372036854775808", "'9223372036854775808'", "64 bits"},
      {"transpose bytes=4 rows=8 cols=8.", "'8.'", "integer"},
      {"transpose bytes=4 rows=8 cols= 8", "'8'", "key=value"},
      {"transpose bytes 4", "'bytes'", "key=value"},
      {"transpose bytes=4 rows=8 cols=8 src=gpu", "'gpu'", "managed"},
      {"transpose bytes=4 rows=8 cols=8 src=device:", "'device:'", "device:0"},
      {"transpose bytes=4 rows=8 cols=8 src=device:-1", "'device:-1'", "device:0"},
      {"transpose bytes=4 rows=8 cols=8 src=pinned:0", "'pinned:0'", "device:0"},
      {"transpose bytes=4 rows=8 cols=8 src=dst dst=device", "'dst'", "before it"},
      {"transpose bytes=4 rows=8 cols=8 src=device src_misaligned=4096", "'4096'", "4095"},
      {"transpose bytes=4 rows=8 cols=8 form=later", "'later'", "plain, async"},
      {"reduce dtype=f31 op=sum n=1", "'f31'", "bf16"},
      {"reduce dtype=f32 op=mean n=1", "'mean'", "sum_compensated"},
      {"reduce dtype=f32 op=sum n=1 y=device", "'y'", "stride"},
      {"reduce_axis dtype=f32 op=sum axis=diagonal rows=1 cols=1", "'diagonal'", "rows, cols"},
      {"resize filter=cubic dtype=u8", "'cubic'", "bilinear"},
      {"arithmetic op=add dtype=f32 terms=1", "'add'", "lincomb, multiply"},
      {"map kind=map op=plus dtype=f32", "'plus'", "add"},
      {"map kind=compare op=add dtype=f32", "'add'", "less_equal"},
      {"map kind=maps op=add dtype=f32", "'maps'", "convert_scaled"},
      {"arithmetic op=lincomb dtype=f32 extents=2x2", "no terms", "integer"},
      {"arithmetic op=lincomb dtype=f32 extents=2x2 terms=1 x0_strides=1", "'1'", "each of the extents"},
      {"permute bytes=4 extents=2x3x order=0,1,2", "''", "integer"},
      {"permute bytes=4 extents=1x2x3x4x5x6x7x8x9 order=0", "'1x2x3x4x5x6x7x8x9'", "8"},
      {"permute bytes=4 extents=2x3 order=1,0,2", "'1,0,2'", "each of the extents"},
      {"fill bytes=4 n=1 uniform=2", "'2'", "0 or 1"},
      {"axpby dtype=f32 n=1 z=none", "'none'", "pageable"},
  };
  for (const auto& c : kCases) {
    const std::string sentence = refusal(c.line);
    EXPECT_NE(sentence.find(c.word), std::string::npos) << c.line << ": " << sentence;
    EXPECT_NE(sentence.find("expected"), std::string::npos) << c.line << ": " << sentence;
    EXPECT_NE(sentence.find(c.expected), std::string::npos) << c.line << ": " << sentence;
  }
}

TEST(ProblemLines, HaveDefaultsAndAShortestForm) {
  const auto shortest = [](const char* line) { return line_of(parse_line(line)); };
  EXPECT_EQ(
      shortest("transpose\tdst=device  src=device cols=8 batches=1 rows=4 src_ld=8 dst_ld=4 bytes=2 form=plain\n"),
      "transpose bytes=2 rows=4 cols=8 src=device dst=device");
  EXPECT_EQ(shortest("reduce dtype=10 op=18 n=5 stride=2 y_stride=1 x=pinned x_misaligned=20 y=x"),
            "reduce dtype=f32 op=dot n=5 stride=2 x=pinned x_misaligned=4 y=x");
  EXPECT_EQ(shortest("copy bytes=8 rows=2 slices=3 src_pitch=8 src_slice=16 dst_pitch=9 dst_slice=18 src=mixed"),
            "copy bytes=8 rows=2 slices=3 dst_pitch=9 src=mixed");
  EXPECT_EQ(shortest("permute bytes=4 extents=2x3 rank=2 order=1,0"), "permute bytes=4 extents=2x3 order=1,0");
  EXPECT_EQ(line_of(CallRecord{}), "");
}

}  // namespace
}  // namespace gpumem
