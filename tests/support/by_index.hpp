// A reduction by index as data: one description serves the call, its enqueued form, its explanation and the reference.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "support/lines.hpp"
#include "support/rows.hpp"

namespace gpumem_test {

struct ByIndex {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  const void* x;  // nullptr: elements are counted
  gpumem_dtype index_type;
  const void* index;
  int64_t n;
  int64_t bins;
  int64_t cols = 1;
  int64_t ld = 0;  // 0: a vector. Otherwise, rows for gpumem_reduce_rows_by_index()

  bool of_rows() const { return ld != 0; }
};

inline gpumem_status run(gpumem_ctx* ctx, const ByIndex& b, void* result) {
  if (b.of_rows()) {
    return gpumem_reduce_rows_by_index(ctx, b.dtype, b.op, b.x, b.n, b.cols, b.ld, b.index_type, b.index, result,
                                       b.bins);
  }
  return gpumem_reduce_by_index(ctx, b.dtype, b.op, b.x, b.index_type, b.index, b.n, result, b.bins);
}
inline gpumem_status run_async(gpumem_ctx* ctx, const ByIndex& b, void* result, gpumem_status* status,
                               gpumem_stream* stream) {
  if (b.of_rows()) {
    return gpumem_reduce_rows_by_index_async(ctx, b.dtype, b.op, b.x, b.n, b.cols, b.ld, b.index_type, b.index, result,
                                             b.bins, status, stream);
  }
  return gpumem_reduce_by_index_async(ctx, b.dtype, b.op, b.x, b.index_type, b.index, b.n, result, b.bins, status,
                                      stream);
}

inline std::string line_of(gpumem_ctx* ctx, const ByIndex& b) {
  Line line(ctx, "reduce_by_index");
  line.with("dtype", b.dtype).with("op", b.op).with("n", b.n).with("bins", b.bins).with("index_type", b.index_type);
  if (b.of_rows()) line.with("cols", b.cols).with("ld", b.ld);
  b.x == nullptr ? line.with("x", "none") : line.at("x", b.x);
  return line.at("index", b.index);
}

inline std::string describe(const ByIndex& b) {
  const std::string rows = b.of_rows() ? " x " + std::to_string(b.cols) + ", ld " + std::to_string(b.ld) + "," : "";
  return (b.x == nullptr ? std::string("counts") : std::string(op_name(b.op)) + " of " + info_of(b.dtype).name) + ", " +
         std::to_string(b.n) + rows + " in " + std::to_string(b.bins) + " bins by " + info_of(b.index_type).name +
         ", x at " + std::to_string(reinterpret_cast<uintptr_t>(b.x) % 16);
}

// The number of the bin, or -1 for none. In host memory, as the reference.
inline int64_t bin_at(const ByIndex& b, int64_t i) {
  const size_t width = info_of(b.index_type).bytes;
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(b.index) + static_cast<size_t>(i) * width, width);
  const bool negative = info_of(b.index_type).what == Class::signed_integer && (bits >> (8 * width - 1) & 1) != 0;
  return negative || bits >= static_cast<uint64_t>(b.bins) ? -1 : static_cast<int64_t>(bits);
}

// Collects the elements of each bin, or of each column of its rows, and reduces them by their own.
inline LinesOutcome reference(const ByIndex& b) {
  std::vector<Bytes> bins(static_cast<size_t>(b.bins * b.cols));
  const size_t width = b.x == nullptr ? 1 : info_of(b.dtype).bytes;
  for (int64_t i = 0; i < b.n; ++i) {
    const int64_t bin = bin_at(b, i);
    if (bin < 0) return {GPUMEM_OUT_OF_RANGE, false, {}};
    for (int64_t c = 0; c < b.cols; ++c) {
      Bytes& own = bins[static_cast<size_t>(bin * b.cols + c)];
      const auto at = static_cast<size_t>(b.of_rows() ? i * b.ld + c : i) * width;
      const auto* x = static_cast<const unsigned char*>(b.x) + (b.x == nullptr ? 0 : at);
      b.x == nullptr ? own.push_back(1) : static_cast<void>(own.insert(own.end(), x, x + width));
    }
  }
  LinesOutcome all;
  for (const Bytes& own : bins) {
    const auto count = static_cast<int64_t>(own.size() / width);
    Outcome one{GPUMEM_OK, {static_cast<uint64_t>(count), 0}};
    if (b.x != nullptr) one = reference(b.op, {b.dtype, own.data(), count, 1});
    all.status = std::max(all.status, one.status);
    all.words.insert(all.words.end(), one.words, one.words + words_of(b.op));
  }
  return all;
}

}  // namespace gpumem_test
