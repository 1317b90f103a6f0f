// How the resize kernels divide dst among threads: a thread makes some neighbouring pixels of a few consecutive rows.
#pragma once

#include "kernels/division.hpp"
#include "kernels/limits.hpp"
#include "kernels/resize/limits.hpp"
#include "kernels/resize/resize.hpp"

namespace gpumem::kernels {

// `down` describes the rows of dst and src, `across` the columns.
struct ResizeWork : ResizeParams {
  ResizeAxis down;
  ResizeAxis across;
  int64_t rows_per_thread;
};

inline ResizeWork resize_work(const ResizeParams& params, const Config& shape) {
  return {params, resize_axis(params.src_rows, params.dst_rows), resize_axis(params.src_cols, params.dst_cols),
          shape.tile};
}

struct ResizePlace {
  int64_t col;
  int64_t row;
  int64_t end;

  __device__ ResizePlace(const ResizeWork& work, const ResizeTiles& tiles, int64_t tile, int pixels) {
    const Quotient in(tile, tiles.across);
    const unsigned lane = threadIdx.x & ((1u << tiles.log2_lanes) - 1);
    const unsigned below = threadIdx.x >> tiles.log2_lanes;
    const int64_t rows_at_once = kResizeThreads >> tiles.log2_lanes;
    col = ((in.rest << tiles.log2_lanes) + lane) * pixels;
    row = (in.quotient * rows_at_once + below) * work.rows_per_thread;
    end = row + work.rows_per_thread;
    if (end > work.down.dst) end = work.down.dst;
    if (col >= work.across.dst) end = row;  // no rows
  }
};

// channels: 1 to 4.
template <class F>
constexpr auto for_channels(int64_t channels, const F& f) {
  if (channels == 1) return f.template operator()<1>();
  if (channels == 2) return f.template operator()<2>();
  if (channels == 3) return f.template operator()<3>();
  return f.template operator()<4>();
}

}  // namespace gpumem::kernels
