// Each family on memory of the device. Whatever fails, an output is as it was, or as the call makes it.
#include <array>
#include <cstring>

#include "fault/resources.hpp"
#include "fault/tour.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kBytes = 4096;
constexpr int64_t kIndex = 2048, kOffsets = 3072;  // where the operands that are numbers begin
constexpr unsigned char kPoison = 0x5a;

using Block = std::array<unsigned char, kBytes>;

struct Operands {
  gpumem_ctx* ctx;
  const char* src;
  char* dst;
  const int32_t* index() const { return reinterpret_cast<const int32_t*>(src + kIndex); }
  const int64_t* offsets() const { return reinterpret_cast<const int64_t*>(src + kOffsets); }
  template <class T>
  const T* x() const {
    return reinterpret_cast<const T*>(src);
  }
  template <class T>
  T* z() const {
    return reinterpret_cast<T*>(dst);
  }
};

struct Operation {
  const char* name;
  gpumem_status (*run)(const Operands&);
  enum {
    plain,
    enqueued,
    two_results
  } how = plain;  // what it finds out only when it runs is not in an enqueued one's status
};

constexpr int64_t kExtents[3] = {4, 6, 10};
constexpr int64_t kViewStrides[3] = {80, 12, 1};
constexpr int64_t kTwoStrides[6] = {60, 10, 1, 0, 0, 1};
constexpr int32_t kOrder[3] = {2, 0, 1};

gpumem_status resize_batch(const Operands& o, gpumem_stream* stream, bool enqueued) {
  const void* const src[] = {o.src, o.src + 500, o.src + 1000};
  constexpr int64_t kRows[] = {9, 5, 12};
  constexpr int64_t kCols[] = {11, 13, 8};
  if (!enqueued) {
    return gpumem_resize_2d_batch(o.ctx, GPUMEM_FILTER_BILINEAR, GPUMEM_U8, 3, 3, src, kRows, kCols, nullptr, o.dst, 20,
                                  17, 60, 1200);
  }
  return gpumem_resize_2d_batch_async(o.ctx, GPUMEM_FILTER_NEAREST, GPUMEM_U8, 3, 3, src, kRows, kCols, nullptr, o.dst,
                                      20, 17, 60, 1200, stream);
}

gpumem_status copy_boxes(const Operands& o, gpumem_stream* stream, bool enqueued) {
  const void* const src[] = {o.src, o.src + 500, o.src + 1000};
  void* const dst[] = {o.dst, o.dst + 600, o.dst + 1100};
  constexpr int64_t kBoxes[] = {5, 11, 7, 9, 0, 4};
  constexpr int64_t kStrides[] = {20, 1, 30, 2, 1, 1};
  return enqueued ? gpumem_copy_boxes_async(o.ctx, 2, 2, 3, kBoxes, src, kStrides, dst, nullptr, stream)
                  : gpumem_copy_boxes(o.ctx, 2, 2, 3, kBoxes, src, kStrides, dst, nullptr);
}

constexpr float kFactors[2] = {2, 3};
constexpr char kPattern[4] = {1, 2, 3, 4};

gpumem_status lincomb(const Operands& o, gpumem_stream* stream, bool async) {
  const float* x[2] = {o.x<float>(), o.x<float>()};
  return async
             ? gpumem_lincomb_f32_async(o.ctx, 3, kExtents, 2, kFactors, x, kTwoStrides, o.z<float>(), nullptr, stream)
             : gpumem_lincomb_f32(o.ctx, 3, kExtents, 2, kFactors, x, kTwoStrides, o.z<float>(), nullptr);
}

gpumem_status lincomb_at(const Operands& o, gpumem_stream* stream, bool async) {
  const float* x[2] = {o.x<float>(), o.x<float>()};
  const double* numerators[2] = {o.x<double>(), nullptr};
  return async ? gpumem_lincomb_at_f32_async(o.ctx, 3, kExtents, 2, kFactors, numerators, nullptr, x, kTwoStrides,
                                             o.z<float>(), nullptr, stream)
               : gpumem_lincomb_at_f32(o.ctx, 3, kExtents, 2, kFactors, numerators, nullptr, x, kTwoStrides,
                                       o.z<float>(), nullptr);
}

gpumem_status lincomb_dot(const Operands& o, gpumem_stream* stream, bool async) {
  const float* x[2] = {o.x<float>(), o.x<float>()};
  const float* w[2] = {o.x<float>(), nullptr};
  return async ? gpumem_lincomb_dot_f32_async(o.ctx, 3, kExtents, 2, kFactors, nullptr, nullptr, x, kTwoStrides,
                                              o.z<float>(), nullptr, 2, w, nullptr, o.z<double>() + 120, stream)
               : gpumem_lincomb_dot_f32(o.ctx, 3, kExtents, 2, kFactors, nullptr, nullptr, x, kTwoStrides, o.z<float>(),
                                        nullptr, 2, w, nullptr, o.z<double>() + 120);
}

using O = Operands;
constexpr Operation kOperations[] = {
    {"gpumem_copy", [](const O& o) { return gpumem_copy(o.ctx, o.dst, o.src, 1000); }},
    {"gpumem_copy_2d", [](const O& o) { return gpumem_copy_2d(o.ctx, o.dst, 40, o.src, 50, 33, 20); }},
    {"gpumem_copy_3d", [](const O& o) { return gpumem_copy_3d(o.ctx, o.dst, 40, 400, o.src, 50, 500, 33, 9, 3); }},
    {"gpumem_copy_boxes", [](const O& o) { return copy_boxes(o, nullptr, false); }},
    {"gpumem_fill", [](const O& o) { return gpumem_fill(o.ctx, o.dst, kPattern, 4, 250); }},
    {"gpumem_fill_2d", [](const O& o) { return gpumem_fill_2d(o.ctx, o.dst, 100, kPattern, 4, 20, 20); }},
    {"gpumem_transpose", [](const O& o) { return gpumem_transpose(o.ctx, 4, 20, 24, o.src, 24, o.dst, 20); }},
    {"gpumem_transpose_batched",
     [](const O& o) { return gpumem_transpose_batched(o.ctx, 8, 5, 7, o.src, 7, 35, o.dst, 5, 35, 6); }},
    {"gpumem_permute",
     [](const O& o) { return gpumem_permute(o.ctx, 4, 3, kExtents, kOrder, o.src, nullptr, o.dst, nullptr); }},
    {"gpumem_gather",
     [](const O& o) { return gpumem_gather(o.ctx, 60, o.src, 16, 64, GPUMEM_I32, o.index(), 16, o.dst, 70); }},
    {"gpumem_scatter",
     [](const O& o) { return gpumem_scatter(o.ctx, 60, o.src, 64, GPUMEM_I32, o.index(), 16, o.dst, 16, 70); }},
    {"gpumem_sort",
     [](const O& o) { return gpumem_sort(o.ctx, GPUMEM_F32, o.src, 700, 0, o.dst, nullptr, GPUMEM_I64); }},
    {"gpumem_sort_segments",
     [](const O& o) {
       return gpumem_sort_segments(o.ctx, GPUMEM_I32, o.src, 400, o.offsets(), 3, 0, o.dst, nullptr, GPUMEM_I64);
     }},
    {"gpumem_select",
     [](const O& o) {
       return gpumem_select(o.ctx, 60, o.src, 64, o.x<uint8_t>(), 16, o.dst, 16, 70, o.z<int64_t>() + 400);
     },
     Operation::two_results},
    {"gpumem_resize_2d",
     [](const O& o) {
       return gpumem_resize_2d(o.ctx, GPUMEM_FILTER_BILINEAR, GPUMEM_U8, 3, o.src, 9, 11, 40, o.dst, 20, 17, 60);
     }},
    {"gpumem_resize_2d_batch", [](const O& o) { return resize_batch(o, nullptr, false); }},
    {"gpumem_axpby_f32",
     [](const O& o) { return gpumem_axpby_f32(o.ctx, 2, o.x<float>(), 3, o.x<float>(), o.z<float>(), 300); }},
    {"gpumem_scan",
     [](const O& o) { return gpumem_scan(o.ctx, GPUMEM_I16, GPUMEM_SUM, 0, o.src, 500, o.dst, GPUMEM_I64); }},
    {"gpumem_scan_axis",
     [](const O& o) {
       return gpumem_scan_axis(o.ctx, GPUMEM_I16, GPUMEM_SUM, 0, 3, kExtents, 1, o.src, nullptr, o.dst, nullptr,
                               GPUMEM_I64);
     }},
    {"gpumem_scan_segments",
     [](const O& o) {
       return gpumem_scan_segments(o.ctx, GPUMEM_I16, GPUMEM_SUM, 0, o.src, 500, o.offsets(), 2, o.dst, GPUMEM_I64);
     }},
    {"gpumem_convert", [](const O& o) { return gpumem_convert(o.ctx, GPUMEM_I16, o.src, GPUMEM_F32, o.dst, 500); }},
    {"gpumem_lincomb_f32", [](const O& o) { return lincomb(o, nullptr, false); }},
    {"gpumem_lincomb_at_f32", [](const O& o) { return lincomb_at(o, nullptr, false); }},
    {"gpumem_lincomb_dot_f32", [](const O& o) { return lincomb_dot(o, nullptr, false); }, Operation::two_results},
    {"gpumem_multiply_f64",
     [](const O& o) {
       return gpumem_multiply_f64(o.ctx, 3, kExtents, o.x<double>(), nullptr, o.x<double>(), nullptr, o.z<double>(),
                                  nullptr);
     }},
    {"gpumem_map",
     [](const O& o) {
       return gpumem_map(o.ctx, GPUMEM_MAP_ADD, GPUMEM_I16, 3, kExtents, o.src, nullptr, o.src, kTwoStrides + 3, o.dst,
                         nullptr);
     }},
    {"gpumem_map of divisors",
     [](const O& o) {
       return gpumem_map(o.ctx, GPUMEM_MAP_DIVIDE, GPUMEM_I32, 3, kExtents, o.src, nullptr, o.index() + 1,
                         kTwoStrides + 3, o.dst, nullptr);
     }},
    {"gpumem_compare",
     [](const O& o) {
       return gpumem_compare(o.ctx, GPUMEM_LESS, GPUMEM_I32, 3, kExtents, o.src, nullptr, o.src, kTwoStrides + 3,
                             o.z<uint8_t>(), nullptr);
     }},
    {"gpumem_where",
     [](const O& o) {
       return gpumem_where(o.ctx, 4, 3, kExtents, o.x<uint8_t>(), nullptr, o.src, nullptr, o.src, kTwoStrides + 3,
                           o.dst, nullptr);
     }},
    {"gpumem_convert_scaled",
     [](const O& o) {
       return gpumem_convert_scaled(o.ctx, 3, kExtents, GPUMEM_I16, o.src, nullptr, o.x<double>(), kTwoStrides + 3,
                                    nullptr, nullptr, 0, GPUMEM_F32, o.dst, nullptr);
     }},
    {"gpumem_reduce", [](const O& o) { return gpumem_reduce(o.ctx, GPUMEM_F16, GPUMEM_MIN, o.src, 700, 1, o.dst); }},
    {"gpumem_reduce_i32",
     [](const O& o) { return gpumem_reduce_i32(o.ctx, GPUMEM_SUM_ABS, o.x<int32_t>(), 400, 1, o.z<int64_t>()); }},
    {"gpumem_argreduce_i32",
     [](const O& o) {
       return gpumem_argreduce_i32(o.ctx, GPUMEM_MAX, o.x<int32_t>(), 400, 1, o.z<int64_t>(), o.z<int64_t>() + 1);
     },
     Operation::two_results},
    {"gpumem_dot_f32",
     [](const O& o) { return gpumem_dot_f32(o.ctx, o.x<float>(), o.x<float>(), 200, 1, 2, o.z<double>()); }},
    {"gpumem_nrm2_f64", [](const O& o) { return gpumem_nrm2_f64(o.ctx, o.x<double>(), 200, 1, o.z<double>()); }},
    {"gpumem_reduce_view",
     [](const O& o) {
       return gpumem_reduce_view(o.ctx, GPUMEM_F32, GPUMEM_SUM, 3, kExtents, o.src, kViewStrides, o.dst);
     }},
    {"gpumem_argreduce_view",
     [](const O& o) {
       return gpumem_argreduce_view(o.ctx, GPUMEM_I32, GPUMEM_MAX, 3, kExtents, o.src, kViewStrides, o.z<int64_t>(),
                                    o.z<int64_t>() + 1);
     },
     Operation::two_results},
    {"gpumem_dot_view_f32",
     [](const O& o) {
       return gpumem_dot_view_f32(o.ctx, 3, kExtents, o.x<float>(), kViewStrides, o.x<float>(), nullptr, o.z<double>());
     }},
    {"gpumem_nrm2_view_f64",
     [](const O& o) {
       return gpumem_nrm2_view_f64(o.ctx, 2, kExtents, o.x<double>(), kViewStrides + 1, o.z<double>());
     }},
    {"gpumem_reduce_axis",
     [](const O& o) {
       return gpumem_reduce_axis(o.ctx, GPUMEM_I32, GPUMEM_SUM, GPUMEM_AXIS_COLS, o.src, 20, 20, 20, 1, 0, o.dst);
     }},
    {"gpumem_reduce_axes of a copy",
     [](const O& o) {
       return gpumem_reduce_axes(o.ctx, GPUMEM_F32, GPUMEM_SUM, 3, kExtents, o.src, kViewStrides, 0b101, o.dst,
                                 GPUMEM_F32);
     }},
    {"gpumem_argreduce_axis",
     [](const O& o) {
       return gpumem_argreduce_axis(o.ctx, GPUMEM_I32, GPUMEM_MIN, GPUMEM_AXIS_COLS, o.src, 20, 20, 20, 1, 0, o.dst,
                                    o.z<int64_t>() + 20);
     },
     Operation::two_results},
    {"gpumem_reduce_segments",
     [](const O& o) {
       return gpumem_reduce_segments(o.ctx, GPUMEM_I32, GPUMEM_SUM, o.src, 400, o.offsets(), 3, o.dst);
     }},
    {"gpumem_reduce_by_index",
     [](const O& o) {
       return gpumem_reduce_by_index(o.ctx, GPUMEM_F32, GPUMEM_SUM, o.src, GPUMEM_I32, o.index(), 16, o.dst, 16);
     }},
    {"gpumem_reduce_by_index of counts",
     [](const O& o) {
       return gpumem_reduce_by_index(o.ctx, GPUMEM_I64, GPUMEM_SUM, nullptr, GPUMEM_I32, o.index(), 16, o.dst, 16);
     }},
    {"gpumem_reduce_rows_by_index",
     [](const O& o) {
       return gpumem_reduce_rows_by_index(o.ctx, GPUMEM_F32, GPUMEM_SUM, o.src, 16, 4, 5, GPUMEM_I32, o.index(), o.dst,
                                          16);
     }},
    {"gpumem_copy_async", [](const O& o) { return gpumem_copy_async(o.ctx, o.dst, o.src, 1000, nullptr); },
     Operation::enqueued},
    {"gpumem_copy_2d_async",
     [](const O& o) { return gpumem_copy_2d_async(o.ctx, o.dst, 40, o.src, 50, 33, 20, nullptr); },
     Operation::enqueued},
    {"gpumem_copy_3d_async",
     [](const O& o) { return gpumem_copy_3d_async(o.ctx, o.dst, 40, 400, o.src, 50, 500, 33, 9, 3, nullptr); },
     Operation::enqueued},
    {"gpumem_fill_async", [](const O& o) { return gpumem_fill_async(o.ctx, o.dst, kPattern, 4, 250, nullptr); },
     Operation::enqueued},
    {"gpumem_fill_2d_async",
     [](const O& o) { return gpumem_fill_2d_async(o.ctx, o.dst, 100, kPattern, 4, 20, 20, nullptr); },
     Operation::enqueued},
    {"gpumem_transpose_async",
     [](const O& o) { return gpumem_transpose_async(o.ctx, 4, 20, 24, o.src, 24, o.dst, 20, nullptr); },
     Operation::enqueued},
    {"gpumem_transpose_batched_async",
     [](const O& o) { return gpumem_transpose_batched_async(o.ctx, 8, 5, 7, o.src, 7, 35, o.dst, 5, 35, 6, nullptr); },
     Operation::enqueued},
    {"gpumem_gather_async",
     [](const O& o) {
       return gpumem_gather_async(o.ctx, 60, o.src, 16, 64, GPUMEM_I32, o.index(), 16, o.dst, 70, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_scatter_async",
     [](const O& o) {
       return gpumem_scatter_async(o.ctx, 60, o.src, 64, GPUMEM_I32, o.index(), 16, o.dst, 16, 70, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_sort_async",
     [](const O& o) {
       return gpumem_sort_async(o.ctx, GPUMEM_I16, o.src, 900, 1, o.dst, nullptr, GPUMEM_I64, nullptr);
     },
     Operation::enqueued},
    {"gpumem_sort_segments_async",
     [](const O& o) {
       return gpumem_sort_segments_async(o.ctx, GPUMEM_F32, o.src, 400, o.offsets(), 3, 1, o.dst, nullptr, GPUMEM_I64,
                                         nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_resize_2d_async",
     [](const O& o) {
       return gpumem_resize_2d_async(o.ctx, GPUMEM_FILTER_NEAREST, GPUMEM_U16, 1, o.src, 9, 11, 40, o.dst, 20, 17, 60,
                                     nullptr);
     },
     Operation::enqueued},
    {"gpumem_copy_boxes_async", [](const O& o) { return copy_boxes(o, nullptr, true); }, Operation::enqueued},
    {"gpumem_resize_2d_batch_async", [](const O& o) { return resize_batch(o, nullptr, true); }, Operation::enqueued},
    {"gpumem_permute_async",
     [](const O& o) {
       return gpumem_permute_async(o.ctx, 4, 3, kExtents, kOrder, o.src, nullptr, o.dst, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_scan_async",
     [](const O& o) {
       return gpumem_scan_async(o.ctx, GPUMEM_F32, GPUMEM_SUM, 0, o.src, 500, o.dst, GPUMEM_F64, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_scan_axis_async",
     [](const O& o) {
       return gpumem_scan_axis_async(o.ctx, GPUMEM_F32, GPUMEM_SUM, 0, 3, kExtents, 0, o.src, nullptr, o.dst, nullptr,
                                     GPUMEM_F64, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_convert_async",
     [](const O& o) { return gpumem_convert_async(o.ctx, GPUMEM_I16, o.src, GPUMEM_F32, o.dst, 500, nullptr); },
     Operation::enqueued},
    {"gpumem_axpby_f64_async",
     [](const O& o) {
       return gpumem_axpby_f64_async(o.ctx, 2, o.x<double>(), 3, o.x<double>(), o.z<double>(), 150, nullptr);
     },
     Operation::enqueued},
    {"gpumem_lincomb_f32_async", [](const O& o) { return lincomb(o, nullptr, true); }, Operation::enqueued},
    {"gpumem_lincomb_at_f32_async", [](const O& o) { return lincomb_at(o, nullptr, true); }, Operation::enqueued},
    {"gpumem_lincomb_dot_f32_async", [](const O& o) { return lincomb_dot(o, nullptr, true); }, Operation::enqueued},
    {"gpumem_multiply_f32_async",
     [](const O& o) {
       return gpumem_multiply_f32_async(o.ctx, 3, kExtents, o.x<float>(), nullptr, o.x<float>(), nullptr, o.z<float>(),
                                        nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_map_async",
     [](const O& o) {
       return gpumem_map_async(o.ctx, GPUMEM_MAP_XOR, GPUMEM_U8, 3, kExtents, o.src, nullptr, o.src, nullptr, o.dst,
                               nullptr, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_convert_scaled_async",
     [](const O& o) {
       return gpumem_convert_scaled_async(o.ctx, 3, kExtents, GPUMEM_I16, o.src, nullptr, o.x<double>(), nullptr,
                                          nullptr, nullptr, 0, GPUMEM_F32, o.dst, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_argreduce_f64_async",
     [](const O& o) {
       return gpumem_argreduce_f64_async(o.ctx, GPUMEM_MIN, o.x<double>(), 200, 1, o.z<double>(), o.z<int64_t>() + 1,
                                         nullptr);
     },
     Operation::enqueued},
    {"gpumem_dot_f64_async",
     [](const O& o) {
       return gpumem_dot_f64_async(o.ctx, o.x<double>(), o.x<double>(), 200, 1, 1, o.z<double>(), nullptr);
     },
     Operation::enqueued},
    {"gpumem_nrm2_f32_async",
     [](const O& o) { return gpumem_nrm2_f32_async(o.ctx, o.x<float>(), 200, 1, o.z<double>(), nullptr); },
     Operation::enqueued},
    {"gpumem_reduce_segments_async",
     [](const O& o) {
       return gpumem_reduce_segments_async(o.ctx, GPUMEM_I32, GPUMEM_SUM, o.src, 400, o.offsets(), 3, o.dst, nullptr,
                                           nullptr);
     },
     Operation::enqueued},
    {"gpumem_reduce_f32_async",
     [](const O& o) {
       return gpumem_reduce_f32_async(o.ctx, GPUMEM_SUM, o.x<float>(), 400, 1, o.z<double>(), nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_reduce_view_async",
     [](const O& o) {
       return gpumem_reduce_view_async(o.ctx, GPUMEM_F32, GPUMEM_SUM, 3, kExtents, o.src, kViewStrides, o.dst, nullptr,
                                       nullptr);
     },
     Operation::enqueued},
    {"gpumem_reduce_axis_async",
     [](const O& o) {
       return gpumem_reduce_axis_async(o.ctx, GPUMEM_I32, GPUMEM_MIN_MAX, GPUMEM_AXIS_ROWS, o.src, 20, 20, 20, 1, 0,
                                       o.dst, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_reduce_axes_async of a copy",
     [](const O& o) {
       return gpumem_reduce_axes_async(o.ctx, GPUMEM_BF16, GPUMEM_SUM, 3, kExtents, o.src, kViewStrides, 0b101, o.dst,
                                       GPUMEM_BF16, nullptr, nullptr);
     },
     Operation::enqueued},
    {"gpumem_argreduce_axis_async",
     [](const O& o) {
       return gpumem_argreduce_axis_async(o.ctx, GPUMEM_I32, GPUMEM_MAX, GPUMEM_AXIS_ROWS, o.src, 20, 20, 20, 1, 0,
                                          o.dst, o.z<int64_t>() + 20, nullptr, nullptr);
     },
     Operation::enqueued},
};
constexpr size_t kCount = std::size(kOperations);

Block g_src, g_dst;
struct Outcome {
  bool known = false;
  Block bytes;
};
// What each operation made of its output, by where its operands lie.
Outcome g_outcomes[4][kCount];

void fill_src() noexcept {
  for (size_t i = 0; i < kBytes; ++i) g_src[i] = static_cast<unsigned char>(i * 37 % 61);
  for (int32_t i = 0; i < 16; ++i) {
    const int32_t row = i * 5 % 16;
    std::memcpy(&g_src[kIndex + static_cast<size_t>(i) * 4], &row, 4);
  }
  const int64_t offsets[4] = {0, 7, 7, 400};
  std::memcpy(&g_src[kOffsets], offsets, sizeof offsets);
}

bool poisoned(const Block& block) noexcept {
  for (const unsigned char byte : block) {
    if (byte != kPoison) return false;
  }
  return true;
}

// Moves a block without refusals. False: the device is lost.
bool move_quietly(gpumem_ctx* ctx, void* to, const void* from) noexcept {
  pause_refusals(true);
  const bool moved = gpumem_copy(ctx, to, from, kBytes) == GPUMEM_OK && gpumem_ctx_synchronize(ctx) == GPUMEM_OK;
  pause_refusals(false);
  return moved;
}

void run_one(Tour& tour, const Operands& operands, const Operation& operation, Outcome& outcome) noexcept {
  g_dst.fill(kPoison);
  if (operands.dst != reinterpret_cast<char*>(g_dst.data()) &&
      !move_quietly(operands.ctx, operands.dst, g_dst.data())) {
    return;
  }
  const bool good = tour.good(operation.name, operation.run(operands));
  Block seen;
  if (!move_quietly(operands.ctx, seen.data(), operands.dst)) return;
  if (poisoned(seen)) {
    if (good && operation.how != Operation::enqueued) tour.wrong_result(operation.name);
  } else if (!good && operation.how == Operation::two_results) {
    return;  // one of them may be there
  } else if (!outcome.known) {
    outcome = {true, seen};
  } else if (seen != outcome.bytes) {
    tour.wrong_result(operation.name);
  }
}

}  // namespace

void run_families(Tour& tour, gpumem_ctx* ctx) noexcept {
  fill_src();
  void* device[2] = {};
  for (void*& p : device) {
    if (!tour.good("gpumem_alloc_device", gpumem_alloc_device(ctx, kBytes, &p))) break;
  }
  // On the device, from the host, to the host; a host context has but one side, and the device's runs nothing enqueued on two.
  const int placements = tour.setting().device == GPUMEM_DEVICE_HOST ? 1 : 3;
  for (int placement = 0; device[1] != nullptr && placement < placements; ++placement) {
    const Operands operands{ctx, static_cast<const char*>(placement == 1 ? g_src.data() : device[0]),
                            static_cast<char*>(placement == 2 ? g_dst.data() : device[1])};
    if (placement != 1 && !move_quietly(ctx, device[0], g_src.data())) break;
    for (size_t i = 0; i < kCount; ++i) {
      if (placement != 0 && kOperations[i].how == Operation::enqueued) continue;
      run_one(tour, operands, kOperations[i], g_outcomes[placement][i]);
    }
  }
  for (void* p : device) tour.free(ctx, p);
}

}  // namespace gpumem_test
