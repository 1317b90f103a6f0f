// Reductions of many lines in one call, of a matrix or of segments, as plain data: called in both forms, described, and
// compared with the reference line by line.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "gpumem.h"
#include "support/dtypes.hpp"
#include "support/explain.hpp"
#include "support/reference.hpp"

namespace gpumem_test {

// The operations of lines of a matrix.
inline const std::vector<gpumem_reduce_op>& axis_ops() {
  static const std::vector<gpumem_reduce_op> ops = [] {
    std::vector<gpumem_reduce_op> all(std::begin(kReduceOps), std::end(kReduceOps));
    std::copy_if(std::begin(kAllOps), std::end(kAllOps), std::back_inserter(all), is_arg);
    return all;
  }();
  return ops;
}

struct Axis {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  gpumem_axis axis;
  const void* x;
  int64_t rows;
  int64_t cols;
  int64_t ld;
  int64_t batches;
  int64_t batch_stride;
};

struct Segmented {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  const void* x;
  int64_t n;
  const int64_t* offsets;
  int64_t segments;
};

// The status, and the words of all results, written or not as the status says. A search has all values, then all
// indices.
struct LinesOutcome {
  gpumem_status status = GPUMEM_OK;
  bool written = true;
  std::vector<uint64_t> words;
};

inline int64_t lines_of(const Axis& a) { return a.batches * (a.axis == GPUMEM_AXIS_ROWS ? a.rows : a.cols); }
inline int64_t lines_of(const Segmented& s) { return s.segments; }

// Elements from the first to the last that any line has.
inline int64_t extent_of(const Axis& a) {
  if (a.rows == 0 || a.cols == 0 || a.batches == 0) return 0;
  return (a.batches - 1) * a.batch_stride + (a.rows - 1) * a.ld + a.cols;
}

inline std::string line_of(gpumem_ctx* ctx, const Axis& a) {
  Line line(ctx, "reduce_axis");
  line.with("dtype", a.dtype).with("op", a.op).with("axis", a.axis).with("rows", a.rows).with("cols", a.cols);
  return line.with("ld", a.ld).with("batches", a.batches).with("batch_stride", a.batch_stride).at("x", a.x);
}

inline std::string line_of(gpumem_ctx* ctx, const Segmented& s) {
  Line line(ctx, "reduce_segments");
  line.with("dtype", s.dtype).with("op", s.op).with("n", s.n).with("segments", s.segments);
  return line.at("x", s.x).at("offsets", s.offsets);
}

// The op that gpumem_argreduce_axis() takes.
inline gpumem_reduce_op sought(const Axis& a) { return sought(a.op); }
// Behind the values of a search.
inline int64_t* index_of(const Axis& a, void* result) {
  return result == nullptr ? nullptr : static_cast<int64_t*>(result) + lines_of(a);
}

inline gpumem_status run(gpumem_ctx* ctx, const Axis& a, void* result) {
  if (is_arg(a.op)) {
    return gpumem_argreduce_axis(ctx, a.dtype, sought(a), a.axis, a.x, a.rows, a.cols, a.ld, a.batches, a.batch_stride,
                                 result, index_of(a, result));
  }
  return gpumem_reduce_axis(ctx, a.dtype, a.op, a.axis, a.x, a.rows, a.cols, a.ld, a.batches, a.batch_stride, result);
}
inline gpumem_status run(gpumem_ctx* ctx, const Segmented& s, void* result) {
  return gpumem_reduce_segments(ctx, s.dtype, s.op, s.x, s.n, s.offsets, s.segments, result);
}
inline gpumem_status run_async(gpumem_ctx* ctx, const Axis& a, void* result, gpumem_status* status,
                               gpumem_stream* stream) {
  if (is_arg(a.op)) {
    return gpumem_argreduce_axis_async(ctx, a.dtype, sought(a), a.axis, a.x, a.rows, a.cols, a.ld, a.batches,
                                       a.batch_stride, result, index_of(a, result), status, stream);
  }
  return gpumem_reduce_axis_async(ctx, a.dtype, a.op, a.axis, a.x, a.rows, a.cols, a.ld, a.batches, a.batch_stride,
                                  result, status, stream);
}
inline gpumem_status run_async(gpumem_ctx* ctx, const Segmented& s, void* result, gpumem_status* status,
                               gpumem_stream* stream) {
  return gpumem_reduce_segments_async(ctx, s.dtype, s.op, s.x, s.n, s.offsets, s.segments, result, status, stream);
}

// For x in ordinary memory.
inline LinesOutcome reference(const Axis& a) {
  LinesOutcome all;
  const bool by_rows = a.axis == GPUMEM_AXIS_ROWS;
  const int64_t lines = by_rows ? a.rows : a.cols;
  const int64_t length = by_rows ? a.cols : a.rows;
  if (lines_of(a) > 0 && length == 0 && needs_elements(a.op)) {
    all.written = false;
    all.status = GPUMEM_EMPTY;
    return all;
  }
  const size_t element_bytes = info_of(a.dtype).bytes;
  std::vector<uint64_t> indices;
  for (int64_t b = 0; b < a.batches; ++b) {
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t first = b * a.batch_stride + line * (by_rows ? a.ld : 1);
      const char* start = static_cast<const char*>(a.x) + static_cast<size_t>(first) * element_bytes;
      const Outcome one = reference(a.op, {a.dtype, start, length, by_rows ? 1 : a.ld});
      if (one.status != GPUMEM_OK) all.status = one.status;
      all.words.insert(all.words.end(), one.words, one.words + (is_arg(a.op) ? 1 : words_of(a.op)));
      if (is_arg(a.op)) indices.push_back(one.words[1]);
    }
  }
  all.words.insert(all.words.end(), indices.begin(), indices.end());
  return all;
}

inline LinesOutcome reference(const Segmented& s) {
  LinesOutcome all;
  for (int64_t i = 0; i < s.segments; ++i) {
    const int64_t first = s.offsets[i];
    const int64_t end = s.offsets[i + 1];
    Outcome one{GPUMEM_OUT_OF_RANGE, {}};
    if (first >= 0 && first <= end && end <= s.n) {
      const char* start = static_cast<const char*>(s.x) + static_cast<size_t>(first) * info_of(s.dtype).bytes;
      one = reference(s.op, {s.dtype, start, end - first, 1});
    }
    all.status = std::max(all.status, one.status);
    all.words.insert(all.words.end(), one.words, one.words + words_of(s.op));
  }
  return all;
}

inline std::string describe(const Axis& a) {
  return std::string(op_name(a.op)) + " of the " + (a.axis == GPUMEM_AXIS_ROWS ? "rows of " : "columns of ") +
         std::to_string(a.rows) + " x " + std::to_string(a.cols) + ' ' + info_of(a.dtype).name + ", ld " +
         std::to_string(a.ld) + ", batches " + std::to_string(a.batches) + " each " + std::to_string(a.batch_stride);
}

inline std::string describe(const Segmented& s) {
  return std::string(op_name(s.op)) + " of " + std::to_string(s.segments) + " segments of " + std::to_string(s.n) +
         ' ' + info_of(s.dtype).name;
}

// The first result that differs, by its line.
inline std::string difference(const LinesOutcome& expected, const uint64_t* got, gpumem_reduce_op op) {
  for (size_t i = 0; i < expected.words.size(); ++i) {
    if (expected.words[i] == got[i]) continue;
    char text[96];
    const size_t each = is_arg(op) ? 1 : static_cast<size_t>(words_of(op));
    std::snprintf(text, sizeof text, "line %zu is 0x%016llx, expected 0x%016llx", i / each,
                  static_cast<unsigned long long>(got[i]), static_cast<unsigned long long>(expected.words[i]));
    return text;
  }
  return "";
}

}  // namespace gpumem_test
