// The keys of each operation's descriptor, described once for reading and writing. fields() visits the members of a
// call with a reader or a writer. Later defaults may depend on members visited before.
//   number(key, value)             a required integer.
//   number(key, value, otherwise)  `otherwise`: its default.
//   stride(key, value, otherwise)  a distance between neighbours.
//   word(key, value, words)        a name for a number; with a default too.
//   numbers(key, list, sep, count) up to kMaxPermuteRank integers; false: not given.
//   operand(key, p, modulus)       its kind of memory, and its address modulo `modulus`.
//   factor(key, p, factor, dtype)  an operand that is absent if its factor is 0.
#pragma once

#include <algorithm>
#include <array>

#include "base/names.hpp"
#include "kernels/elements.hpp"
#include "kernels/scan/limits.hpp"
#include "ops/call_record.hpp"
#include "ops/map/names.hpp"
#include "ops/strides.hpp"

namespace gpumem {

// Names of the numbers 0 to last; nullptr for a number without a name.
struct Words {
  int32_t last;
  const char* (*name)(int32_t) noexcept;
};
inline constexpr Words kDtypeWords{kDtypes - 1, dtype_name};
inline constexpr Words kOpWords{kLastOperation, op_word};
inline constexpr Words kAxisWords{GPUMEM_AXIS_COLS, [](int32_t axis) noexcept { return axis == 0 ? "rows" : "cols"; }};
inline constexpr Words kFilterWords{GPUMEM_FILTER_BILINEAR,
                                    [](int32_t filter) noexcept { return filter == 0 ? "nearest" : "bilinear"; }};
inline constexpr Words kArithmeticWords{1, [](int32_t op) noexcept { return op == 0 ? "lincomb" : "multiply"; }};
inline constexpr Words kMapKindWords{3, map_kind_name};
inline constexpr Words kMapOpWords{kMapOps - 1, map_op_name};
inline constexpr Words kCompareWords{GPUMEM_GREATER, compare_op_name};
inline constexpr Words kSelectWords{1, [](int32_t of) noexcept { return of == 0 ? "rows" : "places"; }};
inline constexpr Words kFormWords{1, [](int32_t form) noexcept { return form == 0 ? "plain" : "async"; }};

// Base of visitors that need only the operands.
struct OperandsAlone {
  template <class... Ignored>
  void number(Ignored&&...) noexcept {}
  template <class... Ignored>
  void stride(Ignored&&...) noexcept {}
  template <class... Ignored>
  void word(Ignored&&...) noexcept {}
  template <class T>
  bool numbers(std::string_view, const T*, bool given, char, int32_t) noexcept {
    return given;
  }
};

// Their arrays of strides have one length.
static_assert(kMaxReduceRank == kMaxAxes && kMaxScanRank == kMaxAxes && kMaxViewRank == kMaxAxes &&
              kMaxMapRank == kMaxAxes && kMaxPermuteRank == kMaxAxes);

template <class V>
void view_strides(V& v, const char* key, int32_t rank, int64_t (&strides)[kMaxAxes],
                  const int64_t (&otherwise)[kMaxAxes]) {
  const bool given = !std::equal(strides, strides + rank, otherwise);
  if (!v.numbers(key, strides, given, ',', rank)) std::copy_n(otherwise, rank, strides);
}
// The default is row-major without padding.
template <class V>
void row_major_strides(V& v, const char* key, int32_t rank, const int64_t* extents, int64_t (&strides)[kMaxAxes]) {
  int64_t otherwise[kMaxAxes] = {};
  read_strides(nullptr, extents, rank, otherwise);
  view_strides(v, key, rank, strides, otherwise);
}

template <class V>
void fields(V& v, ReduceParams& c) {
  v.word("dtype", c.dtype, kDtypeWords);
  v.word("op", c.op, kOpWords);
  ReduceView& view = c.view;
  int32_t listed = view.rank;
  const bool viewed = v.numbers("extents", view.extents, view.rank > 0, 'x', listed);
  view.rank = viewed ? listed : 0;
  if (viewed) {
    c.n = product_of(view.extents, view.rank);
    row_major_strides(v, "strides", view.rank, view.extents, view.strides);
  } else {
    v.number("n", c.n);
    v.stride("stride", c.stride, 1);
  }
  v.operand("x", c.x);
  if (!takes_y(c.op)) return;
  if (viewed) {
    row_major_strides(v, "y_strides", view.rank, view.extents, view.y_strides);
  } else {
    v.stride("y_stride", c.y_stride, 1);
  }
  v.operand("y", c.y);
}

template <class V>
void fields(V& v, ReduceAxisParams& c) {
  v.word("dtype", c.dtype, kDtypeWords);
  v.word("op", c.op, kOpWords);
  v.word("axis", c.axis, kAxisWords);
  v.number("rows", c.rows);
  v.number("cols", c.cols);
  v.stride("ld", c.ld, c.cols);
  v.number("batches", c.batches, 1);
  v.stride("batch_stride", c.batch_stride, c.batches == 1 ? 0 : saturated_product(c.rows, c.ld));
  v.operand("x", c.x);
}

template <class V>
void fields(V& v, ReduceSegmentsParams& c) {
  v.word("dtype", c.dtype, kDtypeWords);
  v.word("op", c.op, kOpWords);
  v.number("n", c.n);
  v.number("segments", c.segments);
  v.operand("x", c.x);
  v.operand("offsets", c.offsets);
}

template <class V>
void fields(V& v, TransposeParams& c) {
  v.number("bytes", c.element_bytes);
  v.number("rows", c.rows);
  v.number("cols", c.cols);
  v.stride("src_ld", c.src_ld, c.cols);
  v.stride("dst_ld", c.dst_ld, c.rows);
  v.number("batches", c.batches, 1);
  v.stride("src_batch_stride", c.src_batch_stride, c.batches == 1 ? 0 : saturated_product(c.rows, c.src_ld));
  v.stride("dst_batch_stride", c.dst_batch_stride, c.batches == 1 ? 0 : saturated_product(c.cols, c.dst_ld));
  v.operand("src", c.src);
  v.operand("dst", c.dst);
}

template <class V>
void fields(V& v, PermuteParams& c) {
  v.number("bytes", c.element_bytes);
  int32_t listed = c.rank;
  c.has_extents = v.numbers("extents", c.extents, c.has_extents, 'x', listed);
  v.number("rank", c.rank, c.has_extents ? listed : 0);
  c.has_order = v.numbers("order", c.order, c.has_order, ',', c.rank);
  c.has_src_strides = v.numbers("src_strides", c.src_strides, c.has_src_strides, ',', c.rank);
  c.has_dst_strides = v.numbers("dst_strides", c.dst_strides, c.has_dst_strides, ',', c.rank);
  v.operand("src", c.src);
  v.operand("dst", c.dst);
}

template <class V>
void fields(V& v, FillParams& c) {
  v.number("bytes", c.pattern_bytes);
  v.number("n", c.count);
  v.number("rows", c.rows, 1);
  c.rank = c.rows != 1 ? 2 : 1;
  if (c.rank == 2) v.stride("pitch", c.pitch, saturated_product(c.count, c.pattern_bytes));
  bool uniform = c.uniform();
  v.number("uniform", uniform, c.pattern_bytes == 1);
  if (uniform != c.uniform()) {  // any pattern of that kind will do
    for (int i = 0; i < 16; ++i) c.word[i] = static_cast<unsigned char>(uniform ? 0 : i);
  }
  v.operand("dst", c.dst);
}

template <class V>
void fields(V& v, CopyParams& c) {
  v.number("bytes", c.row_bytes);
  v.number("rows", c.rows, 1);
  v.number("slices", c.slices, 1);
  const auto side = [&](const char* pitch_key, int64_t& pitch, const char* slice_key, int64_t& slice) {
    if (c.rows != 1) v.stride(pitch_key, pitch, c.row_bytes);
    if (c.slices != 1) v.stride(slice_key, slice, saturated_product(c.rows, c.rows != 1 ? pitch : c.row_bytes));
  };
  side("src_pitch", c.src_pitch, "src_slice", c.src_slice);
  side("dst_pitch", c.dst_pitch, "dst_slice", c.dst_slice);
  v.operand("src", c.src);
  v.operand("dst", c.dst);
}

template <class V>
void fields(V& v, AxpbyParams& c) {
  v.word("dtype", c.dtype, kDtypeWords);
  v.number("n", c.n);
  v.factor("x", c.x, c.alpha, c.dtype);
  v.factor("y", c.y, c.beta, c.dtype);
  v.operand("z", c.z);
}

template <class V>
void fields(V& v, ConvertParams& c) {
  v.word("from", c.src_type, kDtypeWords);
  v.word("to", c.dst_type, kDtypeWords);
  v.number("n", c.n);
  v.operand("src", c.src);
  v.operand("dst", c.dst);
}

// Sources are x0, x1, .... A factor of 0 removes its source, unless it is in memory. Other factors do not affect the
// plan.
template <class V>
void fields(V& v, ArithmeticParams& c) {
  static constexpr std::array kX = {"x0", "x1", "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                    "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15"};
  static constexpr std::array kStrides = {"x0_strides",  "x1_strides",  "x2_strides",  "x3_strides",
                                          "x4_strides",  "x5_strides",  "x6_strides",  "x7_strides",
                                          "x8_strides",  "x9_strides",  "x10_strides", "x11_strides",
                                          "x12_strides", "x13_strides", "x14_strides", "x15_strides"};
  static constexpr std::array kW = {"w0", "w1", "w2"};
  static constexpr std::array kWStrides = {"w0_strides", "w1_strides", "w2_strides"};
  auto op = static_cast<int32_t>(c.op);
  v.word("op", op, kArithmeticWords);
  c.op = op == 0 ? Arithmetic::lincomb : Arithmetic::multiply;
  v.word("dtype", c.dtype, kDtypeWords);
  int32_t listed = c.rank;
  c.rank = v.numbers("extents", c.extents, c.rank > 0, 'x', listed) ? listed : 0;
  if (c.op == Arithmetic::lincomb) {
    v.number("terms", c.terms);
    v.number("factors_in_memory", c.in_memory, 0);
    v.number("dots", c.dots, 0);
  }
  if (c.op == Arithmetic::multiply) c.terms = 2;
  row_major_strides(v, "z_strides", c.rank, c.extents, c.z_strides);
  for (int32_t k = 0; k < std::clamp(c.terms, 0, kMaxTerms); ++k) {
    const auto at = static_cast<size_t>(k);
    view_strides(v, kStrides[at], c.rank, c.x_strides[k], c.z_strides);
    if (c.op == Arithmetic::lincomb && !c.has_factor_in_memory(k)) {
      v.factor(kX[at], c.x[k], c.factors[k], c.dtype);
    } else {
      c.factors[k] = 1;
      v.operand(kX[at], c.x[k]);
    }
  }
  v.operand("z", c.z);
  for (int32_t k = 0; k < std::clamp(c.dots, 0, kMaxDots); ++k) {
    const auto at = static_cast<size_t>(k);
    view_strides(v, kWStrides[at], c.rank, c.w_strides[k], c.z_strides);
    v.operand(kW[at], c.w[k]);
  }
}

// named: the rows of the matrix that the index names. The other matrix has n.
template <class V>
void rows_fields(V& v, GatherScatterParams& c, const char* key, int64_t& named, int64_t& other) {
  v.number("row_bytes", c.row_bytes);
  v.number("n", c.n);
  v.number(key, named);
  other = c.n;
  if (c.src_rows > 1) v.stride("src_pitch", c.src_pitch, c.row_bytes);
  if (c.dst_rows > 1) v.stride("dst_pitch", c.dst_pitch, c.row_bytes);
  v.word("index_type", c.index_type, kDtypeWords);
  v.operand("src", c.src);
  v.operand("index", c.index);
  v.operand("dst", c.dst);
}
template <class V>
void fields(V& v, GatherParams& c) {
  rows_fields(v, c, "src_rows", c.src_rows, c.dst_rows);
}
template <class V>
void fields(V& v, ScatterParams& c) {
  rows_fields(v, c, "dst_rows", c.dst_rows, c.src_rows);
}

template <class V>
void fields(V& v, ResizeParams& c) {
  v.word("filter", c.filter, kFilterWords);
  v.word("dtype", c.dtype, kDtypeWords);
  v.number("channels", c.channels, 1);
  v.number("src_rows", c.src_rows);
  v.number("src_cols", c.src_cols);
  v.number("dst_rows", c.dst_rows);
  v.number("dst_cols", c.dst_cols);
  v.stride("src_pitch", c.src_pitch, saturated_product(c.src_cols, c.channels, traits_of(c.dtype).bytes));
  v.stride("dst_pitch", c.dst_pitch, saturated_product(c.dst_cols, c.channels, traits_of(c.dtype).bytes));
  v.number("batches", c.batches, 1);
  if (c.batches != 1) v.stride("dst_image_stride", c.dst_image_stride, saturated_product(c.dst_rows, c.dst_pitch));
  v.operand("src", c.src, 4096);  // textures require more than a word's alignment
  v.operand("dst", c.dst);
}

// An operand's key, and the key of its strides.
struct MapKeys {
  const char* operand;
  const char* strides;
};
inline constexpr MapKeys kMapSourceKeys[4][kMaxMapSources] = {
    {{"x", "x_strides"}, {"y", "y_strides"}, {}},
    {{"x", "x_strides"}, {"y", "y_strides"}, {}},
    {{"mask", "mask_strides"}, {"x", "x_strides"}, {"y", "y_strides"}},
    {{"src", "src_strides"}, {"scale", "scale_strides"}, {"offset", "offset_strides"}}};
inline constexpr MapKeys kMapZKeys[4] = {
    {"z", "z_strides"}, {"mask", "mask_strides"}, {"z", "z_strides"}, {"dst", "dst_strides"}};

// Reads and writes the function and its types, and returns the number of sources.
template <class V>
int32_t map_function(V& v, MapParams& c) {
  auto kind = static_cast<int32_t>(c.kind);
  v.word("kind", kind, kMapKindWords);
  c.kind = static_cast<MapKind>(std::clamp(kind, 0, kMapKindWords.last));
  switch (c.kind) {
    case MapKind::map:
      v.word("op", c.op, kMapOpWords);
      v.word("dtype", c.dtype, kDtypeWords);
      return takes_two(c.op) ? 2 : 1;
    case MapKind::compare:
      v.word("op", c.op, kCompareWords);
      v.word("dtype", c.dtype, kDtypeWords);
      return 2;
    case MapKind::where:
      v.number("bytes", c.element_bytes);
      return 3;
    case MapKind::convert_scaled:
      v.word("from", c.dtype, kDtypeWords);
      v.word("to", c.dst_type, kDtypeWords);
      return 3;
  }
  return 0;
}

// Strides are left out if the operand has no padding. A scale or an offset without strides is a single element.
template <class V>
void fields(V& v, MapParams& c) {
  c.sources = map_function(v, c);
  int32_t listed = c.rank;
  const bool given = c.rank > 0 && c.rank <= kMaxMapRank;
  c.rank = v.numbers("extents", c.extents, given, 'x', listed) ? listed : 0;
  int64_t row_major[kMaxAxes] = {};
  read_strides(nullptr, c.extents, c.rank, row_major);
  static constexpr int64_t kSingle[kMaxAxes] = {};
  const auto kind = static_cast<size_t>(c.kind);
  for (int32_t k = 0; k < c.sources; ++k) {
    const MapKeys& keys = kMapSourceKeys[kind][k];
    const bool optional = c.kind == MapKind::convert_scaled && k > 0;
    uint64_t factor = optional && c.x[k] == nullptr ? 0 : 1;
    if (optional) {
      v.factor(keys.operand, c.x[k], factor, GPUMEM_F64);
    } else {
      v.operand(keys.operand, c.x[k]);
    }
    if (factor != 0) view_strides(v, keys.strides, c.rank, c.x_strides[k], optional ? kSingle : row_major);
  }
  v.operand(kMapZKeys[kind].operand, c.z);
  view_strides(v, kMapZKeys[kind].strides, c.rank, c.z_strides, row_major);
}

template <class V>
void fields(V& v, ScanParams& c) {
  v.word("dtype", c.dtype, kDtypeWords);
  v.word("op", c.op, kOpWords);
  ScanView& view = c.view;
  int32_t listed = view.rank;
  const bool viewed = v.numbers("extents", view.extents, view.rank > 0, 'x', listed);
  view.rank = viewed ? listed : 0;
  if (viewed) {
    c.n = product_of(view.extents, view.rank);
    v.number("axis", view.axis, view.rank - 1);
    row_major_strides(v, "x_strides", view.rank, view.extents, view.x_strides);
    row_major_strides(v, "result_strides", view.rank, view.extents, view.result_strides);
  } else {
    v.number("n", c.n);
    v.number("segments", c.segments, 0);
  }
  v.word("result_type", c.result_type, kDtypeWords, is_dtype(c.dtype) ? wide_type(c.dtype) : GPUMEM_F64);
  v.number("exclusive", c.exclusive, 0);
  v.operand("x", c.x);
  v.operand("result", c.result);
  if (c.segments > 0) v.operand("offsets", c.offsets);
}

// "none": an output that is not wanted.
template <class V>
void fields(V& v, SortParams& c) {
  v.word("dtype", c.dtype, kDtypeWords);
  v.number("n", c.n);
  v.number("segments", c.segments, -1);
  v.number("descending", c.descending, 0);
  v.operand("keys", c.keys);
  const auto output = [&](const char* key, void*& p) {
    const void* at = p;
    uint64_t wanted = p != nullptr ? 1 : 0;
    v.factor(key, at, wanted, GPUMEM_F32);
    p = wanted != 0 ? const_cast<void*>(at) : nullptr;
  };
  output("order", c.order);
  if (c.order != nullptr) v.word("order_type", c.order_type, kDtypeWords, GPUMEM_I64);
  output("sorted", c.sorted);
  if (c.in_segments()) v.operand("offsets", c.offsets);
}

template <class V>
void fields(V& v, SelectParams& c) {
  auto of = static_cast<int32_t>(c.places);
  v.word("of", of, kSelectWords, 0);
  c.places = of == 1;
  v.number("n", c.n);
  v.number("dst_rows", c.dst_rows, c.n);
  if (c.places) {
    v.word("index_type", c.index_type, kDtypeWords);
  } else {
    v.number("row_bytes", c.row_bytes);
    if (c.n > 1) v.stride("src_pitch", c.src_pitch, c.row_bytes);
    if (c.dst_rows > 1) v.stride("dst_pitch", c.dst_pitch, c.row_bytes);
    if (c.dst_rows != 0) v.operand("src", c.src);
  }
  v.operand("mask", c.mask);
  if (c.dst_rows != 0) v.operand("dst", c.dst);
}

// "none" as x: the elements are counted.
template <class V>
void fields(V& v, ReduceByIndexParams& c) {
  v.word("dtype", c.dtype, kDtypeWords, GPUMEM_I64);
  v.word("op", c.op, kOpWords, GPUMEM_SUM);
  v.number("n", c.n);
  v.number("cols", c.cols, 1);
  v.stride("ld", c.ld, c.cols);
  v.number("bins", c.bins);
  v.word("index_type", c.index_type, kDtypeWords);
  uint64_t given = c.x != nullptr ? 1 : 0;
  v.factor("x", c.x, given, GPUMEM_F64);
  v.operand("index", c.index);
}

// The first box. All of a descriptor's boxes are equal.
template <class V>
void fields(V& v, CopyBoxesParams& c) {
  v.number("bytes", c.element_bytes);
  v.number("count", c.count, 1);
  int32_t listed = c.rank;
  c.has_extents = v.numbers("extents", c.extents, c.has_extents, 'x', listed);
  v.number("rank", c.rank, c.has_extents ? listed : 0);
  c.has_src_strides = v.numbers("src_strides", c.src_strides, c.has_src_strides, ',', c.rank);
  c.has_dst_strides = v.numbers("dst_strides", c.dst_strides, c.has_dst_strides, ',', c.rank);
  v.operand("src", c.src);
  v.operand("dst", c.dst);
}

template <class V, class Call>
void all_fields(V& v, Call& call, Completion& completion) {
  fields(v, call);
  auto form = static_cast<int32_t>(completion == Completion::asynchronous);
  v.word("form", form, kFormWords, 0);
  completion = form == 0 ? Completion::blocking : Completion::asynchronous;
}

}  // namespace gpumem
