// Gathers and scatters of rows as data: one description serves the call, its enqueued form, its explanation and the reference.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "gpumem.h"
#include "support/dtypes.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"

namespace gpumem_test {

inline constexpr gpumem_dtype kIndexTypes[] = {GPUMEM_I32, GPUMEM_U32, GPUMEM_I64, GPUMEM_U64};

struct Rows {
  gpumem_family family;  // GPUMEM_FAMILY_GATHER or GPUMEM_FAMILY_SCATTER
  int64_t row_bytes;
  const void* src;
  int64_t src_pitch;
  gpumem_dtype index_type;
  const void* index;
  int64_t n;
  void* dst;
  int64_t dst_pitch;
  int64_t rows;  // of the matrix that the index names: src or dst

  bool gathers() const { return family == GPUMEM_FAMILY_GATHER; }
};

inline gpumem_status run(gpumem_ctx* ctx, const Rows& r) {
  return r.gathers() ? gpumem_gather(ctx, r.row_bytes, r.src, r.rows, r.src_pitch, r.index_type, r.index, r.n, r.dst,
                                     r.dst_pitch)
                     : gpumem_scatter(ctx, r.row_bytes, r.src, r.src_pitch, r.index_type, r.index, r.n, r.dst, r.rows,
                                      r.dst_pitch);
}

inline gpumem_status run_async(gpumem_ctx* ctx, const Rows& r, gpumem_status* status, gpumem_stream* stream) {
  return r.gathers() ? gpumem_gather_async(ctx, r.row_bytes, r.src, r.rows, r.src_pitch, r.index_type, r.index, r.n,
                                           r.dst, r.dst_pitch, status, stream)
                     : gpumem_scatter_async(ctx, r.row_bytes, r.src, r.src_pitch, r.index_type, r.index, r.n, r.dst,
                                            r.rows, r.dst_pitch, status, stream);
}

inline std::string line_of(gpumem_ctx* ctx, const Rows& r) {
  Line line(ctx, r.gathers() ? "gather" : "scatter");
  line.with("row_bytes", r.row_bytes).with("n", r.n).with(r.gathers() ? "src_rows" : "dst_rows", r.rows);
  // A pitch is told where there are two rows.
  if ((r.gathers() ? r.rows : r.n) > 1) line.with("src_pitch", r.src_pitch);
  if ((r.gathers() ? r.n : r.rows) > 1) line.with("dst_pitch", r.dst_pitch);
  return line.with("index_type", r.index_type).at("src", r.src).at("index", r.index).at("dst", r.dst);
}

// Numbers as an index holds them: the low bytes of each.
inline Bytes index_bytes(gpumem_dtype type, const std::vector<int64_t>& numbers) {
  const size_t width = info_of(type).bytes;
  Bytes bytes(numbers.size() * width);
  for (size_t i = 0; i < numbers.size(); ++i) std::memcpy(&bytes[i * width], &numbers[i], width);
  return bytes;
}

// From the first byte of a matrix to the last of its last row.
inline size_t rows_extent(int64_t rows, int64_t pitch, int64_t row_bytes) {
  return rows == 0 ? 0 : static_cast<size_t>((rows > 1 ? (rows - 1) * pitch : 0) + row_bytes);
}

inline const char* name_of_rows(gpumem_family family) { return family == GPUMEM_FAMILY_GATHER ? "gather" : "scatter"; }

inline std::string describe(const Rows& r) {
  return std::string(name_of_rows(r.family)) + " of " + std::to_string(r.n) + " rows of " +
         std::to_string(r.row_bytes) + " bytes by " + info_of(r.index_type).name + ", among " + std::to_string(r.rows) +
         ", pitches " + std::to_string(r.src_pitch) + " and " + std::to_string(r.dst_pitch);
}

}  // namespace gpumem_test
