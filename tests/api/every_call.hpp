// Every function that takes a handle, with sound other arguments: what is done with a handle that is none.
#pragma once

#include <functional>
#include <vector>

#include "gpumem.h"
#include "support/arithmetic.hpp"
#include "support/axpby.hpp"
#include "support/boxes.hpp"
#include "support/by_index.hpp"
#include "support/convert.hpp"
#include "support/explain.hpp"
#include "support/image_batch.hpp"
#include "support/images.hpp"
#include "support/lines.hpp"
#include "support/map.hpp"
#include "support/reductions.hpp"
#include "support/rows.hpp"
#include "support/scan.hpp"
#include "support/selected.hpp"
#include "support/sort.hpp"

namespace gpumem_test {

template <class Handle>
struct Call {
  const char* name;
  const char* argument;  // what the handle is called in the function
  std::function<gpumem_status(Handle*)> run;
};

// What the calls read. A test may put it into other memory before its first call.
struct Operands {
  double numbers[4] = {1, 2, 3, 4};
  int64_t offsets[3] = {0, 1, 4};
  int32_t index[2] = {1, 0};
};
inline const Operands*& operands() {
  static const Operands own;
  static const Operands* at = &own;
  return at;
}
template <class T>
const T* numbers() {
  return reinterpret_cast<const T*>(operands()->numbers);
}

// Where the calls put their outputs. untouched() tells whether they are as they were made.
struct Outputs {
  int64_t* results = words;  // of reductions: two words, which a test may put into memory that enqueued calls can write
  int64_t words[2] = {77, 77};
  void* p = this;
  gpumem_stream* stream = reinterpret_cast<gpumem_stream*>(this);
  gpumem_event* event = reinterpret_cast<gpumem_event*>(this);
  int64_t value = 77;
  double seconds = 77;
  unsigned char own_bytes[64] = {77, 77, 77, 77};
  unsigned char* bytes = own_bytes;  // as results
  gpumem_device_info device;
  gpumem_pointer_info pointer;
  gpumem_managed_info managed;
  gpumem_memory_stats_info stats;
  gpumem_ceiling_info ceiling;
  gpumem_tune_info tune;

  Outputs() {
    EXPECT_TRUE(ok(gpumem_device_info_init(&device, sizeof device)));
    EXPECT_TRUE(ok(gpumem_pointer_info_init(&pointer, sizeof pointer)));
    EXPECT_TRUE(ok(gpumem_managed_info_init(&managed, sizeof managed)));
    EXPECT_TRUE(ok(gpumem_memory_stats_init(&stats, sizeof stats)));
    EXPECT_TRUE(ok(gpumem_ceiling_info_init(&ceiling, sizeof ceiling)));
    EXPECT_TRUE(ok(gpumem_tune_info_init(&tune, sizeof tune)));
    device.compute_major = 77;
    pointer.ours = 77;
    managed.host_bytes = 77;
    stats.frees = 77;
    ceiling.read = 77;
    tune.candidates = 77;
  }
  // Addresses and handles are NULL after a failure; everything else is untouched.
  bool untouched() const {
    return (p == this || p == nullptr) &&
           (stream == nullptr || stream == reinterpret_cast<const gpumem_stream*>(this)) &&
           (event == nullptr || event == reinterpret_cast<const gpumem_event*>(this)) && value == 77 && seconds == 77 &&
           bytes[0] == 77 && bytes[3] == 77 && bytes[4] == 0 && device.compute_major == 77 && pointer.ours == 77 &&
           managed.host_bytes == 77 && stats.frees == 77 && ceiling.read == 77 && tune.candidates == 77 &&
           results[0] == 77 && results[1] == 77;
  }
};

// The reductions of one sequence, a function each: those of any type, and those of one.
struct NamedReduction {
  const char* name;
  const char* async_name;
  Reduction reduction;
  bool typed;
};

inline const std::vector<NamedReduction>& every_reduction() {
  static const double* const x = numbers<double>();
  static const auto of = [](gpumem_dtype dtype, gpumem_reduce_op op) { return Reduction{dtype, op, x, 4, 1, x, 1}; };
  static const std::vector<NamedReduction> all = {
      {"reduce", "reduce_async", of(GPUMEM_F16, GPUMEM_SUM), false},
      {"reduce_i32", "reduce_i32_async", of(GPUMEM_I32, GPUMEM_SUM), true},
      {"reduce_i64", "reduce_i64_async", of(GPUMEM_I64, GPUMEM_SUM), true},
      {"reduce_u32", "reduce_u32_async", of(GPUMEM_U32, GPUMEM_SUM), true},
      {"reduce_u64", "reduce_u64_async", of(GPUMEM_U64, GPUMEM_SUM), true},
      {"reduce_f32", "reduce_f32_async", of(GPUMEM_F32, GPUMEM_SUM), true},
      {"reduce_f64", "reduce_f64_async", of(GPUMEM_F64, GPUMEM_SUM), true},
      {"argreduce", "argreduce_async", of(GPUMEM_U8, GPUMEM_ARG_MAX), false},
      {"argreduce_i32", "argreduce_i32_async", of(GPUMEM_I32, GPUMEM_ARG_MIN), true},
      {"argreduce_i64", "argreduce_i64_async", of(GPUMEM_I64, GPUMEM_ARG_MIN), true},
      {"argreduce_u32", "argreduce_u32_async", of(GPUMEM_U32, GPUMEM_ARG_MIN), true},
      {"argreduce_u64", "argreduce_u64_async", of(GPUMEM_U64, GPUMEM_ARG_MIN), true},
      {"argreduce_f32", "argreduce_f32_async", of(GPUMEM_F32, GPUMEM_ARG_MIN), true},
      {"argreduce_f64", "argreduce_f64_async", of(GPUMEM_F64, GPUMEM_ARG_MIN), true},
      {"dot_f32", "dot_f32_async", of(GPUMEM_F32, GPUMEM_DOT), false},
      {"dot_f64", "dot_f64_async", of(GPUMEM_F64, GPUMEM_DOT), false},
      {"nrm2_f32", "nrm2_f32_async", of(GPUMEM_F32, GPUMEM_NRM2), false},
      {"nrm2_f64", "nrm2_f64_async", of(GPUMEM_F64, GPUMEM_NRM2), false}};
  return all;
}

inline const Axis& sound_axis() {
  static const Axis axis{GPUMEM_I32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, numbers<int32_t>(), 2, 2, 2, 1, 0};
  return axis;
}

inline Axis sound_search() {
  Axis axis = sound_axis();
  axis.op = GPUMEM_ARG_MAX;
  return axis;
}

inline AxesReduction sound_axes() {
  static constexpr int64_t kExtents[] = {2, 2};
  return {GPUMEM_I32, GPUMEM_SUM, 2, kExtents, numbers<int32_t>(), nullptr, 1, GPUMEM_I64};
}

inline ViewReduction sound_view(gpumem_dtype dtype, gpumem_reduce_op op) {
  static constexpr int64_t kExtents[] = {2, 2};
  static constexpr int64_t kStrides[] = {1, 1};
  return {dtype, op, 2, kExtents, numbers<double>(), kStrides, numbers<double>(), nullptr};
}

// Those of views, a function each.
struct NamedView {
  const char* name;
  const char* async_name;
  ViewReduction reduction;
};
inline const std::vector<NamedView>& every_view_reduction() {
  static const std::vector<NamedView> all = {
      {"reduce_view", "reduce_view_async", sound_view(GPUMEM_F16, GPUMEM_SUM)},
      {"argreduce_view", "argreduce_view_async", sound_view(GPUMEM_U8, GPUMEM_ARG_MAX)},
      {"dot_view_f32", "dot_view_f32_async", sound_view(GPUMEM_F32, GPUMEM_DOT)},
      {"dot_view_f64", "dot_view_f64_async", sound_view(GPUMEM_F64, GPUMEM_DOT)},
      {"dot_order_free", "dot_order_free_async", sound_view(GPUMEM_F64, GPUMEM_DOT_ORDER_FREE)},
      {"nrm2_view_f32", "nrm2_view_f32_async", sound_view(GPUMEM_F32, GPUMEM_NRM2)},
      {"nrm2_view_f64", "nrm2_view_f64_async", sound_view(GPUMEM_F64, GPUMEM_NRM2)}};
  return all;
}

inline const Segmented& sound_segments() {
  static const Segmented segments{GPUMEM_I32, GPUMEM_SUM, numbers<int32_t>(), 4, operands()->offsets, 2};
  return segments;
}

inline ByIndex sound_by_index() {
  return {GPUMEM_I32, GPUMEM_SUM, numbers<int32_t>(), GPUMEM_I32, operands()->index, 2, 2};
}

inline ByIndex sound_rows_by_index() {
  return {GPUMEM_I32, GPUMEM_SUM, numbers<int32_t>(), GPUMEM_I32, operands()->index, 2, 2, 1, 1};
}

inline Axpby sound_axpby(gpumem_dtype dtype, void* z) {
  return {dtype, bits_of(dtype, 2), numbers<double>(), 0, nullptr, z, 2};
}

inline Sort sound_sort(void* sorted) { return {GPUMEM_I32, numbers<int32_t>(), 2, 0, sorted}; }
inline Sort sound_segments_sort(void* sorted) {
  Sort sort = sound_sort(sorted);
  sort.offsets = operands()->offsets, sort.segments = 1;
  return sort;
}

inline Convert sound_convert(void* dst) { return {GPUMEM_I32, numbers<int32_t>(), GPUMEM_F32, dst, 2}; }

inline Scan sound_scan(void* result) { return {GPUMEM_I32, GPUMEM_SUM, 0, numbers<int32_t>(), 2, result, GPUMEM_I32}; }

inline AxisScan sound_axis_scan(void* result) {
  static constexpr int64_t kExtents[] = {1, 2};
  return {sound_scan(result), 2, kExtents, 1};
}
inline SegmentsScan sound_segments_scan(void* result) { return {sound_scan(result), operands()->offsets, 1}; }

inline Arithmetic sound_arithmetic(bool product, gpumem_dtype dtype, void* z) {
  auto* const x = const_cast<double*>(numbers<double>());  // a view's, which the call only reads
  return {product, dtype, {2}, {bits_of(dtype, 2), bits_of(dtype, 3)}, {{x, {1}}, {x, {0}}}, {z, {1}}};
}

inline Arithmetic sound_lincomb_at(gpumem_dtype dtype, void* z) {
  Arithmetic c = sound_arithmetic(false, dtype, z);
  c.numerators = {numbers<double>(), nullptr};
  c.denominators = {nullptr, numbers<double>()};
  return c;
}

inline Arithmetic sound_lincomb_dot(gpumem_dtype dtype, void* z, int64_t* results) {
  Arithmetic c = sound_arithmetic(false, dtype, z);
  c.w = {c.x[0], {nullptr, {1}}};
  c.results = reinterpret_cast<double*>(results);
  return c;
}

inline MapCall sound_map(MapFunction kind, void* z) {
  auto* const x = const_cast<double*>(numbers<double>());
  MapCall c{.kind = kind, .op = 0, .dtype = GPUMEM_I32, .extents = {2}, .x = {{x, {1}}, {x, {0}}}, .z = {z, {1}}};
  if (kind == MapFunction::map) c.op = GPUMEM_MAP_ADD;
  if (kind == MapFunction::where || kind == MapFunction::convert_scaled) c.x.push_back({x, {0}});
  return c;
}

// Keeps the first of two.
inline Selected sound_selection(void* dst, bool places) {
  const auto* const mask = reinterpret_cast<const uint8_t*>(operands()->index);
  return {8, numbers<int64_t>(), 8, mask, 2, dst, 2, 8, places, GPUMEM_I32};
}

// Two boxes of 2 x 1 elements of 4 bytes.
inline Boxes sound_boxes(void* dst) {
  static const int32_t* const x = numbers<int32_t>();
  Boxes b{.element_bytes = 4, .ndim = 2};
  for (int k = 0; k < 2; ++k) b.add({2, 1}, x, static_cast<char*>(dst) + 8 * k);
  return b;
}

inline Rows sound_rows(gpumem_family family, void* dst) {
  return {family, 8, numbers<int32_t>(), 8, GPUMEM_I32, operands()->index, 2, dst, 8, 2};
}

// 2 x 2 elements of 4 bytes.
inline gpumem_status sound_permutation(gpumem_ctx* ctx, const void* src, void* dst) {
  static const int64_t extents[2] = {2, 2};
  static const int32_t order[2] = {1, 0};
  return gpumem_permute(ctx, 4, 2, extents, order, src, nullptr, dst, nullptr);
}
inline gpumem_status sound_permutation_async(gpumem_ctx* ctx, const void* src, void* dst, gpumem_stream* stream) {
  static const int64_t extents[2] = {2, 2};
  static const int32_t order[2] = {1, 0};
  return gpumem_permute_async(ctx, 4, 2, extents, order, src, nullptr, dst, nullptr, stream);
}

inline Resize sound_resize(void* dst) {
  static const unsigned char* const x = numbers<unsigned char>();
  return {GPUMEM_FILTER_NEAREST, GPUMEM_U8, 1, x, 2, 2, 2, dst, 2, 2, 2};
}

inline ResizeBatch sound_batch(void* dst) {
  static const unsigned char* const x = numbers<unsigned char>();
  ResizeBatch b{.src = {x, x}, .rows = {2, 2}, .cols = {2, 2}, .dst = dst};
  b.dst_rows = b.dst_cols = b.dst_pitch = 2;
  b.dst_stride = 4;
  return b;
}

// Two members, whose array changes its sides and is added up: the first failure, after which all is destroyed.
inline gpumem_status sound_dist(gpumem_ctx* ctx, unsigned char* bytes) {
  gpumem_ctx* const contexts[] = {ctx, ctx};
  gpumem_dist_options options;
  gpumem_dist_layout src;
  gpumem_dist_layout dst;
  EXPECT_TRUE(ok(gpumem_dist_options_init(&options, sizeof options)));
  EXPECT_TRUE(ok(gpumem_dist_layout_init(&src, sizeof src)));
  options.contexts = contexts;
  options.members = 2;
  const int64_t extent = 4;
  const int64_t lower[] = {0, 2};
  const int64_t upper[] = {2, 4};
  const int32_t exchanged[] = {1, 0};
  src.element_bytes = 4;
  src.rank = 1;
  src.extents = &extent;
  src.boxes = 2;
  src.lower = lower;
  src.upper = upper;
  dst = src;
  dst.members = exchanged;
  const void* const from[] = {numbers<int32_t>(), numbers<int32_t>() + 2};
  void* const to[] = {bytes + 16, bytes + 24};
  gpumem_dist* dist = nullptr;
  gpumem_dist_plan* move = nullptr;
  gpumem_dist_plan* add = nullptr;
  int64_t sum = 0;
  gpumem_status status = gpumem_dist_create(&options, &dist);
  const auto then = [&](gpumem_status next) { status = status == GPUMEM_OK ? next : status; };
  if (status == GPUMEM_OK) then(gpumem_dist_plan_redistribute(dist, &src, &dst, nullptr, nullptr, &move));
  if (status == GPUMEM_OK) then(gpumem_dist_execute(move, from, to));
  if (status == GPUMEM_OK) then(gpumem_dist_execute_async(move, from, to, nullptr));
  if (status == GPUMEM_OK) then(gpumem_dist_plan_reduce(dist, &src, nullptr, &add));
  if (status == GPUMEM_OK) then(gpumem_dist_reduce(add, GPUMEM_I32, GPUMEM_SUM, from, &sum));
  EXPECT_TRUE(ok(gpumem_dist_plan_destroy(move)));
  EXPECT_TRUE(ok(gpumem_dist_plan_destroy(add)));
  EXPECT_TRUE(ok(gpumem_dist_destroy(dist)));
  return status;
}

inline std::vector<Call<gpumem_ctx>> calls_with_context(Outputs& out) {
  static const int32_t* const x = numbers<int32_t>();
  static const unsigned char pattern = 9;
  using C = gpumem_ctx*;
  std::vector<Call<gpumem_ctx>> calls = {
      {"ctx_destroy", "ctx", [](C c) { return gpumem_ctx_destroy(c); }},
      {"ctx_device", "ctx", [&](C c) { return gpumem_ctx_device(c, &out.device); }},
      {"ctx_status", "ctx", [](C c) { return gpumem_ctx_status(c); }},
      {"ctx_synchronize", "ctx", [](C c) { return gpumem_ctx_synchronize(c); }},
      {"ctx_set_log", "ctx", [](C c) { return gpumem_ctx_set_log(c, nullptr, nullptr); }},
      {"ctx_warmup", "ctx", [](C c) { return gpumem_ctx_warmup(c); }},
      {"dist", "contexts", [&](C c) { return sound_dist(c, out.bytes); }},
      {"alloc_device", "ctx", [&](C c) { return gpumem_alloc_device(c, 64, &out.p); }},
      {"alloc_pinned", "ctx", [&](C c) { return gpumem_alloc_pinned(c, 64, &out.p); }},
      {"alloc_managed", "ctx", [&](C c) { return gpumem_alloc_managed(c, 64, &out.p); }},
      {"free", "ctx", [&](C c) { return gpumem_free(c, out.bytes); }},
      {"alloc_async", "ctx", [&](C c) { return gpumem_alloc_async(c, 64, 256, nullptr, &out.p); }},
      {"free_async", "ctx", [&](C c) { return gpumem_free_async(c, out.bytes, nullptr); }},
      {"memory_used_on", "ctx", [&](C c) { return gpumem_memory_used_on(c, out.bytes, nullptr); }},
      {"memory_trim", "ctx", [](C c) { return gpumem_memory_trim(c, 0); }},
      {"memory_check", "ctx", [](C c) { return gpumem_memory_check(c); }},
      {"memory_trace", "ctx", [](C c) { return gpumem_memory_trace(c, nullptr); }},
      {"host_register", "ctx", [&](C c) { return gpumem_host_register(c, out.bytes, 16); }},
      {"host_unregister", "ctx", [&](C c) { return gpumem_host_unregister(c, out.bytes); }},
      {"memory_label", "ctx", [&](C c) { return gpumem_memory_label(c, out.bytes, "label"); }},
      {"pointer_query", "ctx", [&](C c) { return gpumem_pointer_query(c, x, &out.pointer); }},
      {"memory_stats", "ctx", [&](C c) { return gpumem_memory_stats(c, &out.stats); }},
      {"ceiling", "ctx", [&](C c) { return gpumem_ceiling(c, &out.ceiling); }},
      {"profile_begin", "ctx", [](C c) { return gpumem_profile_begin(c, 16); }},
      {"profile_end", "ctx", [](C c) { return gpumem_profile_end(c); }},
      {"profile_report", "ctx", [&](C c) { return gpumem_profile_report(c, nullptr, 0, &out.value); }},
      {"profile_write", "ctx", [](C c) { return gpumem_profile_write(c, GPUMEM_FORMAT_CSV, "/nonexistent/profile"); }},
      {"tune", "ctx",
       [&](C c) { return gpumem_tune(c, "reduce dtype=i32 op=sum n=0 x=pageable", nullptr, &out.tune); }},
      {"tuning_load", "ctx", [](C c) { return gpumem_tuning_load(c, "/nonexistent/tuning", nullptr, nullptr); }},
      {"tuning_save", "ctx", [](C c) { return gpumem_tuning_save(c, "/nonexistent/tuning"); }},
      {"tuning_clear", "ctx", [](C c) { return gpumem_tuning_clear(c); }},
      {"managed_prefetch", "ctx", [&](C c) { return gpumem_managed_prefetch(c, out.bytes, 8, GPUMEM_DEVICE_HOST); }},
      {"managed_prefetch_async", "ctx",
       [&](C c) { return gpumem_managed_prefetch_async(c, out.bytes, 8, GPUMEM_DEVICE_HOST, nullptr); }},
      {"managed_advise", "ctx",
       [&](C c) { return gpumem_managed_advise(c, out.bytes, 8, GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_DEVICE_HOST); }},
      {"managed_query", "ctx", [&](C c) { return gpumem_managed_query(c, out.bytes, 8, &out.managed); }},
      {"copy", "ctx", [&](C c) { return gpumem_copy(c, out.bytes, x, 16); }},
      {"copy_async", "ctx", [&](C c) { return gpumem_copy_async(c, out.bytes, x, 16, nullptr); }},
      {"copy_2d", "ctx", [&](C c) { return gpumem_copy_2d(c, out.bytes, 8, x, 4, 4, 2); }},
      {"copy_2d_async", "ctx", [&](C c) { return gpumem_copy_2d_async(c, out.bytes, 8, x, 4, 4, 2, nullptr); }},
      {"copy_3d", "ctx", [&](C c) { return gpumem_copy_3d(c, out.bytes, 8, 16, x, 4, 8, 4, 2, 2); }},
      {"copy_3d_async", "ctx",
       [&](C c) { return gpumem_copy_3d_async(c, out.bytes, 8, 16, x, 4, 8, 4, 2, 2, nullptr); }},
      {"fill_2d", "ctx", [&](C c) { return gpumem_fill_2d(c, out.bytes, 8, &pattern, 1, 4, 2); }},
      {"fill_2d_async", "ctx", [&](C c) { return gpumem_fill_2d_async(c, out.bytes, 8, &pattern, 1, 4, 2, nullptr); }},
      {"fill", "ctx", [&](C c) { return gpumem_fill(c, out.bytes, &pattern, 1, 16); }},
      {"fill_async", "ctx", [&](C c) { return gpumem_fill_async(c, out.bytes, &pattern, 1, 16, nullptr); }},
      {"stream_create", "ctx", [&](C c) { return gpumem_stream_create(c, &out.stream); }},
      {"stream_wrap", "ctx", [&](C c) { return gpumem_stream_wrap(c, nullptr, &out.stream); }},
      {"stream_native", "ctx", [&](C c) { return gpumem_stream_native(c, nullptr, &out.p); }},
      {"stream_synchronize", "ctx", [](C c) { return gpumem_stream_synchronize(c, nullptr); }},
      {"stream_query", "ctx", [](C c) { return gpumem_stream_query(c, nullptr); }},
      {"event_create", "ctx", [&](C c) { return gpumem_event_create(c, &out.event); }},
      {"reduce_axis", "ctx", [&](C c) { return run(c, sound_axis(), out.results); }},
      {"reduce_axis_async", "ctx", [&](C c) { return run_async(c, sound_axis(), out.results, nullptr, nullptr); }},
      {"reduce_axes", "ctx", [&](C c) { return run(c, sound_axes(), out.results); }},
      {"reduce_axes_async", "ctx", [&](C c) { return run_async(c, sound_axes(), out.results, nullptr, nullptr); }},
      {"argreduce_axis", "ctx", [&](C c) { return run(c, sound_search(), out.results); }},
      {"argreduce_axis_async", "ctx", [&](C c) { return run_async(c, sound_search(), out.results, nullptr, nullptr); }},
      {"reduce_segments", "ctx", [&](C c) { return run(c, sound_segments(), out.results); }},
      {"reduce_segments_async", "ctx",
       [&](C c) { return run_async(c, sound_segments(), out.results, nullptr, nullptr); }},
      {"reduce_by_index", "ctx", [&](C c) { return run(c, sound_by_index(), out.results); }},
      {"reduce_by_index_async", "ctx",
       [&](C c) { return run_async(c, sound_by_index(), out.results, nullptr, nullptr); }},
      {"reduce_rows_by_index", "ctx", [&](C c) { return run(c, sound_rows_by_index(), out.results); }},
      {"reduce_rows_by_index_async", "ctx",
       [&](C c) { return run_async(c, sound_rows_by_index(), out.results, nullptr, nullptr); }},
      {"transpose", "ctx", [&](C c) { return gpumem_transpose(c, 4, 2, 2, x, 2, out.bytes, 2); }},
      {"axpby_f32", "ctx", [&](C c) { return run(c, sound_axpby(GPUMEM_F32, out.results)); }},
      {"axpby_f64", "ctx", [&](C c) { return run(c, sound_axpby(GPUMEM_F64, out.results)); }},
      {"axpby_f32_async", "ctx", [&](C c) { return run_async(c, sound_axpby(GPUMEM_F32, out.results), nullptr); }},
      {"axpby_f64_async", "ctx", [&](C c) { return run_async(c, sound_axpby(GPUMEM_F64, out.results), nullptr); }},
      {"convert", "ctx", [&](C c) { return run(c, sound_convert(out.results)); }},
      {"convert_async", "ctx", [&](C c) { return run_async(c, sound_convert(out.results), nullptr); }},
      {"scan", "ctx", [&](C c) { return run(c, sound_scan(out.results)); }},
      {"scan_async", "ctx", [&](C c) { return run_async(c, sound_scan(out.results), nullptr, nullptr); }},
      {"scan_axis", "ctx", [&](C c) { return run(c, sound_axis_scan(out.results)); }},
      {"scan_axis_async", "ctx", [&](C c) { return run_async(c, sound_axis_scan(out.results), nullptr, nullptr); }},
      {"scan_segments", "ctx", [&](C c) { return run(c, sound_segments_scan(out.results)); }},
      {"scan_segments_async", "ctx",
       [&](C c) { return run_async(c, sound_segments_scan(out.results), nullptr, nullptr); }},
      {"lincomb_f32", "ctx", [&](C c) { return run(c, sound_arithmetic(false, GPUMEM_F32, out.results)); }},
      {"lincomb_f32_async", "ctx",
       [&](C c) { return run_async(c, sound_arithmetic(false, GPUMEM_F32, out.results), nullptr); }},
      {"lincomb_f64", "ctx", [&](C c) { return run(c, sound_arithmetic(false, GPUMEM_F64, out.results)); }},
      {"lincomb_f64_async", "ctx",
       [&](C c) { return run_async(c, sound_arithmetic(false, GPUMEM_F64, out.results), nullptr); }},
      {"lincomb_at_f32", "ctx", [&](C c) { return run(c, sound_lincomb_at(GPUMEM_F32, out.results)); }},
      {"lincomb_at_f32_async", "ctx",
       [&](C c) { return run_async(c, sound_lincomb_at(GPUMEM_F32, out.results), nullptr); }},
      {"lincomb_at_f64", "ctx", [&](C c) { return run(c, sound_lincomb_at(GPUMEM_F64, out.results)); }},
      {"lincomb_at_f64_async", "ctx",
       [&](C c) { return run_async(c, sound_lincomb_at(GPUMEM_F64, out.results), nullptr); }},
      {"lincomb_dot_f32", "ctx", [&](C c) { return run(c, sound_lincomb_dot(GPUMEM_F32, out.bytes, out.results)); }},
      {"lincomb_dot_f32_async", "ctx", [&](C c) { return run_async(c, sound_lincomb_dot(GPUMEM_F32, out.bytes, out.results), nullptr); }},
      {"lincomb_dot_f64", "ctx", [&](C c) { return run(c, sound_lincomb_dot(GPUMEM_F64, out.bytes, out.results)); }},
      {"lincomb_dot_f64_async", "ctx", [&](C c) { return run_async(c, sound_lincomb_dot(GPUMEM_F64, out.bytes, out.results), nullptr); }},
      {"multiply_f32", "ctx", [&](C c) { return run(c, sound_arithmetic(true, GPUMEM_F32, out.results)); }},
      {"multiply_f32_async", "ctx",
       [&](C c) { return run_async(c, sound_arithmetic(true, GPUMEM_F32, out.results), nullptr); }},
      {"multiply_f64", "ctx", [&](C c) { return run(c, sound_arithmetic(true, GPUMEM_F64, out.results)); }},
      {"multiply_f64_async", "ctx",
       [&](C c) { return run_async(c, sound_arithmetic(true, GPUMEM_F64, out.results), nullptr); }},
      {"map", "ctx", [&](C c) { return run(c, sound_map(MapFunction::map, out.results)); }},
      {"map_async", "ctx", [&](C c) { return run(c, sound_map(MapFunction::map, out.results), {true}); }},
      {"compare", "ctx", [&](C c) { return run(c, sound_map(MapFunction::compare, out.results)); }},
      {"compare_async", "ctx", [&](C c) { return run(c, sound_map(MapFunction::compare, out.results), {true}); }},
      {"where", "ctx", [&](C c) { return run(c, sound_map(MapFunction::where, out.results)); }},
      {"where_async", "ctx", [&](C c) { return run(c, sound_map(MapFunction::where, out.results), {true}); }},
      {"convert_scaled", "ctx", [&](C c) { return run(c, sound_map(MapFunction::convert_scaled, out.results)); }},
      {"convert_scaled_async", "ctx",
       [&](C c) { return run(c, sound_map(MapFunction::convert_scaled, out.results), {true}); }},
      {"gather", "ctx", [&](C c) { return run(c, sound_rows(GPUMEM_FAMILY_GATHER, out.bytes)); }},
      {"gather_async", "ctx",
       [&](C c) { return run_async(c, sound_rows(GPUMEM_FAMILY_GATHER, out.bytes), nullptr, nullptr); }},
      {"scatter", "ctx", [&](C c) { return run(c, sound_rows(GPUMEM_FAMILY_SCATTER, out.bytes)); }},
      {"scatter_async", "ctx",
       [&](C c) { return run_async(c, sound_rows(GPUMEM_FAMILY_SCATTER, out.bytes), nullptr, nullptr); }},
      {"sort", "ctx", [&](C c) { return run(c, sound_sort(out.results)); }},
      {"sort_async", "ctx", [&](C c) { return run_async(c, sound_sort(out.results), nullptr); }},
      {"sort_segments", "ctx", [&](C c) { return run(c, sound_segments_sort(out.results)); }},
      {"sort_segments_async", "ctx", [&](C c) { return run_async(c, sound_segments_sort(out.results), nullptr); }},
      {"select", "ctx", [&](C c) { return run(c, sound_selection(out.bytes, false), out.results); }},
      {"select_async", "ctx",
       [&](C c) { return run_async(c, sound_selection(out.bytes, false), out.results, nullptr); }},
      {"select_places", "ctx", [&](C c) { return run(c, sound_selection(out.bytes, true), out.results); }},
      {"select_places_async", "ctx",
       [&](C c) { return run_async(c, sound_selection(out.bytes, true), out.results, nullptr); }},
      {"copy_boxes", "ctx", [&](C c) { return run(c, sound_boxes(out.bytes)); }},
      {"copy_boxes_async", "ctx", [&](C c) { return run_async(c, sound_boxes(out.bytes), nullptr); }},
      {"permute", "ctx", [&](C c) { return sound_permutation(c, x, out.bytes); }},
      {"permute_async", "ctx", [&](C c) { return sound_permutation_async(c, x, out.bytes, nullptr); }},
      {"resize_2d", "ctx", [&](C c) { return run(c, sound_resize(out.bytes)); }},
      {"resize_2d_async", "ctx", [&](C c) { return run_async(c, sound_resize(out.bytes), nullptr); }},
      {"resize_2d_batch", "ctx", [&](C c) { return run(c, sound_batch(out.bytes)); }},
      {"resize_2d_batch_async", "ctx", [&](C c) { return run_async(c, sound_batch(out.bytes), nullptr); }},
      {"transpose_async", "ctx", [&](C c) { return gpumem_transpose_async(c, 4, 2, 2, x, 2, out.bytes, 2, nullptr); }},
      {"transpose_batched", "ctx",
       [&](C c) { return gpumem_transpose_batched(c, 4, 1, 2, x, 2, 2, out.bytes, 1, 2, 2); }},
      {"transpose_batched_async", "ctx",
       [&](C c) { return gpumem_transpose_batched_async(c, 4, 1, 2, x, 2, 2, out.bytes, 1, 2, 2, nullptr); }},
      {"variant_force", "ctx", [](C c) { return gpumem_variant_force(c, GPUMEM_FAMILY_REDUCE, nullptr); }},
      {"explain", "ctx",
       [&](C c) {
         return gpumem_explain(c, "reduce dtype=i32 op=sum n=4 x=pageable", GPUMEM_FORMAT_TEXT, nullptr, 0, &out.value);
       }},
  };
  for (const NamedReduction& r : every_reduction()) {
    calls.push_back({r.name, "ctx", [&](C c) { return run(c, r.reduction, out.results, r.typed); }});
    calls.push_back(
        {r.async_name, "ctx", [&](C c) { return run_async(c, r.reduction, out.results, nullptr, nullptr, r.typed); }});
  }
  for (const NamedView& r : every_view_reduction()) {
    calls.push_back({r.name, "ctx", [&](C c) { return run(c, r.reduction, out.results); }});
    calls.push_back(
        {r.async_name, "ctx", [&](C c) { return run_async(c, r.reduction, out.results, nullptr, nullptr); }});
  }
  return calls;
}

// The calls that take a stream or an event beside a sound context. `event` is one of that context.
inline std::vector<Call<gpumem_stream>> calls_with_stream(gpumem_ctx* ctx, gpumem_event* event, Outputs& out) {
  static const unsigned char pattern = 9;
  static const int32_t* const x = numbers<int32_t>();
  using S = gpumem_stream*;
  std::vector<Call<gpumem_stream>> calls = {
      {"stream_destroy", "stream", [](S s) { return gpumem_stream_destroy(s); }},
      {"stream_synchronize", "stream", [=](S s) { return gpumem_stream_synchronize(ctx, s); }},
      {"stream_query", "stream", [=](S s) { return gpumem_stream_query(ctx, s); }},
      {"stream_wait_event", "stream", [=](S s) { return gpumem_stream_wait_event(ctx, s, event); }},
      {"event_record", "stream", [=](S s) { return gpumem_event_record(ctx, event, s); }},
      {"alloc_async", "stream", [=, &out](S s) { return gpumem_alloc_async(ctx, 64, 256, s, &out.p); }},
      {"free_async", "stream", [=](S s) { return gpumem_free_async(ctx, nullptr, s); }},
      {"memory_used_on", "stream", [=, &out](S s) { return gpumem_memory_used_on(ctx, out.bytes, s); }},
      {"copy_async", "stream", [=, &out](S s) { return gpumem_copy_async(ctx, out.bytes, x, 16, s); }},
      {"fill_async", "stream", [=, &out](S s) { return gpumem_fill_async(ctx, out.bytes, &pattern, 1, 16, s); }},
      {"permute_async", "stream", [=, &out](S s) { return sound_permutation_async(ctx, x, out.bytes, s); }},
      {"copy_2d_async", "stream", [=, &out](S s) { return gpumem_copy_2d_async(ctx, out.bytes, 8, x, 4, 4, 2, s); }},
      {"copy_3d_async", "stream",
       [=, &out](S s) { return gpumem_copy_3d_async(ctx, out.bytes, 8, 16, x, 4, 8, 4, 2, 2, s); }},
      {"fill_2d_async", "stream",
       [=, &out](S s) { return gpumem_fill_2d_async(ctx, out.bytes, 8, &pattern, 1, 4, 2, s); }},
      {"transpose_async", "stream",
       [=, &out](S s) { return gpumem_transpose_async(ctx, 1, 4, 4, x, 4, out.bytes, 4, s); }},
      {"transpose_batched_async", "stream",
       [=, &out](S s) { return gpumem_transpose_batched_async(ctx, 1, 2, 4, x, 4, 8, out.bytes, 2, 8, 2, s); }},
      {"managed_prefetch_async", "stream",
       [=, &out](S s) { return gpumem_managed_prefetch_async(ctx, out.bytes, 0, GPUMEM_DEVICE_HOST, s); }},
      {"reduce_axis_async", "stream", [=, &out](S s) { return run_async(ctx, sound_axis(), out.results, nullptr, s); }},
      {"reduce_axes_async", "stream", [=, &out](S s) { return run_async(ctx, sound_axes(), out.results, nullptr, s); }},
      {"argreduce_axis_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_search(), out.results, nullptr, s); }},
      {"reduce_segments_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_segments(), out.results, nullptr, s); }},
      {"reduce_by_index_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_by_index(), out.results, nullptr, s); }},
      {"reduce_rows_by_index_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_rows_by_index(), out.results, nullptr, s); }},
      {"axpby_f32_async", "stream", [=, &out](S s) { return run_async(ctx, sound_axpby(GPUMEM_F32, out.results), s); }},
      {"axpby_f64_async", "stream", [=, &out](S s) { return run_async(ctx, sound_axpby(GPUMEM_F64, out.results), s); }},
      {"convert_async", "stream", [=, &out](S s) { return run_async(ctx, sound_convert(out.results), s); }},
      {"scan_async", "stream", [=, &out](S s) { return run_async(ctx, sound_scan(out.results), nullptr, s); }},
      {"scan_axis_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_axis_scan(out.results), nullptr, s); }},
      {"scan_segments_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_segments_scan(out.results), nullptr, s); }},
      {"lincomb_f32_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_arithmetic(false, GPUMEM_F32, out.results), s); }},
      {"lincomb_f64_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_arithmetic(false, GPUMEM_F64, out.results), s); }},
      {"lincomb_at_f32_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_lincomb_at(GPUMEM_F32, out.results), s); }},
      {"lincomb_at_f64_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_lincomb_at(GPUMEM_F64, out.results), s); }},
      {"lincomb_dot_f32_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_lincomb_dot(GPUMEM_F32, out.bytes, out.results), s); }},
      {"lincomb_dot_f64_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_lincomb_dot(GPUMEM_F64, out.bytes, out.results), s); }},
      {"multiply_f32_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_arithmetic(true, GPUMEM_F32, out.results), s); }},
      {"multiply_f64_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_arithmetic(true, GPUMEM_F64, out.results), s); }},
      {"map_async", "stream",
       [=, &out](S s) {
         return run(ctx, sound_map(MapFunction::map, out.results), {true, s});
       }},
      {"compare_async", "stream",
       [=, &out](S s) {
         return run(ctx, sound_map(MapFunction::compare, out.results), {true, s});
       }},
      {"where_async", "stream",
       [=, &out](S s) {
         return run(ctx, sound_map(MapFunction::where, out.results), {true, s});
       }},
      {"convert_scaled_async", "stream",
       [=, &out](S s) {
         return run(ctx, sound_map(MapFunction::convert_scaled, out.results), {true, s});
       }},
      {"gather_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_rows(GPUMEM_FAMILY_GATHER, out.bytes), nullptr, s); }},
      {"scatter_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_rows(GPUMEM_FAMILY_SCATTER, out.bytes), nullptr, s); }},
      {"sort_async", "stream", [=, &out](S s) { return run_async(ctx, sound_sort(out.results), s); }},
      {"sort_segments_async", "stream", [=, &out](S s) { return run_async(ctx, sound_segments_sort(out.results), s); }},
      {"select_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_selection(out.bytes, false), out.results, s); }},
      {"select_places_async", "stream",
       [=, &out](S s) { return run_async(ctx, sound_selection(out.bytes, true), out.results, s); }},
      {"copy_boxes_async", "stream", [=, &out](S s) { return run_async(ctx, sound_boxes(out.bytes), s); }},
      {"resize_2d_async", "stream", [=, &out](S s) { return run_async(ctx, sound_resize(out.bytes), s); }},
      {"resize_2d_batch_async", "stream", [=, &out](S s) { return run_async(ctx, sound_batch(out.bytes), s); }},
  };
  for (const NamedReduction& r : every_reduction()) {
    calls.push_back({r.async_name, "stream",
                     [=, &r, &out](S s) { return run_async(ctx, r.reduction, out.results, nullptr, s, r.typed); }});
  }
  for (const NamedView& r : every_view_reduction()) {
    calls.push_back(
        {r.async_name, "stream", [=, &r, &out](S s) { return run_async(ctx, r.reduction, out.results, nullptr, s); }});
  }
  return calls;
}

inline std::vector<Call<gpumem_event>> calls_with_event(gpumem_ctx* ctx, gpumem_event* event, Outputs& out) {
  using E = gpumem_event*;
  return {
      {"event_destroy", "event", [](E e) { return gpumem_event_destroy(e); }},
      {"event_synchronize", "event", [](E e) { return gpumem_event_synchronize(e); }},
      {"event_record", "event", [=](E e) { return gpumem_event_record(ctx, e, nullptr); }},
      {"stream_wait_event", "event", [=](E e) { return gpumem_stream_wait_event(ctx, nullptr, e); }},
      {"event_elapsed", "start", [=, &out](E e) { return gpumem_event_elapsed(e, event, &out.seconds); }},
      {"event_elapsed", "end", [=, &out](E e) { return gpumem_event_elapsed(event, e, &out.seconds); }},
  };
}

}  // namespace gpumem_test
