// A selection as data: one description serves the call, its enqueued form, its explanation and the reference.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gpumem.h"
#include "support/rows.hpp"

namespace gpumem_test {

struct Selected {
  int64_t row_bytes;
  const void* src;
  int64_t src_pitch;
  const uint8_t* mask;
  int64_t n;
  void* dst;
  int64_t dst_rows;
  int64_t dst_pitch;
  bool places = false;  // of places: src and the pitches are unused
  gpumem_dtype index_type = GPUMEM_I64;
};

inline gpumem_status run(gpumem_ctx* ctx, const Selected& s, int64_t* kept) {
  return s.places
             ? gpumem_select_places(ctx, s.mask, s.n, s.index_type, s.dst, s.dst_rows, kept)
             : gpumem_select(ctx, s.row_bytes, s.src, s.src_pitch, s.mask, s.n, s.dst, s.dst_rows, s.dst_pitch, kept);
}

inline gpumem_status run_async(gpumem_ctx* ctx, const Selected& s, int64_t* kept, gpumem_stream* stream) {
  return s.places ? gpumem_select_places_async(ctx, s.mask, s.n, s.index_type, s.dst, s.dst_rows, kept, stream)
                  : gpumem_select_async(ctx, s.row_bytes, s.src, s.src_pitch, s.mask, s.n, s.dst, s.dst_rows,
                                        s.dst_pitch, kept, stream);
}

inline std::string line_of(gpumem_ctx* ctx, const Selected& s) {
  Line line(ctx, "select");
  line.with("of", s.places ? "places" : "rows").with("n", s.n).with("dst_rows", s.dst_rows);
  if (s.places) {
    line.with("index_type", s.index_type);
  } else {
    line.with("row_bytes", s.row_bytes);
    if (s.n > 1) line.with("src_pitch", s.src_pitch);
    if (s.dst_rows > 1) line.with("dst_pitch", s.dst_pitch);
    if (s.dst_rows > 0) line.at("src", s.src);
  }
  line.at("mask", s.mask);
  return s.dst_rows > 0 ? line.at("dst", s.dst) : line;
}

inline std::string describe(const Selected& s) {
  const std::string what = s.places ? std::string("places as ") + info_of(s.index_type).name
                                    : "rows of " + std::to_string(s.row_bytes) + " bytes, pitches " +
                                          std::to_string(s.src_pitch) + " and " + std::to_string(s.dst_pitch);
  return "a selection from " + std::to_string(s.n) + ", with room for " + std::to_string(s.dst_rows) + ", of " + what;
}

}  // namespace gpumem_test
