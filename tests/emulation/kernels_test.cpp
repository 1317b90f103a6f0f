// Kernels by themselves, on fewer blocks than the library would take: each block comes round several times, which the library's
// own launches do only at sizes that no test reaches.
#undef __noinline__  // CUDA's macro; the standard headers mean the attribute
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#define __noinline__ __attribute__((noinline))

#include "kernels/convert/convert.hpp"
#include "kernels/convert/element.hpp"
#include "kernels/copy/copy.hpp"
#include "kernels/fill/fill.hpp"
#include "kernels/permute/contiguous_boxes.hpp"
#include "kernels/permute/packed.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/permute/plane.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/reduce/line_plans.hpp"
#include "kernels/reduce/terms.cuh"
#include "kernels/resize/limits.hpp"
#include "kernels/resize/resize.hpp"
#include "kernels/transpose/chunks.hpp"
#include "kernels/transpose/limits.hpp"
#include "kernels/transpose/slots.hpp"
#include "kernels/transpose/transpose.hpp"
#include "support/random.hpp"

namespace gpumem::kernels {
namespace {

using Bytes = std::vector<unsigned char>;

struct Free {
  void operator()(unsigned char* p) const { EXPECT_EQ(cudaFree(p), cudaSuccess); }
};
using DeviceBytes = std::unique_ptr<unsigned char, Free>;

DeviceBytes on_device(const Bytes& image) {
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, image.size()), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(p, image.data(), image.size(), cudaMemcpyDefault, {}), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  return DeviceBytes(static_cast<unsigned char*>(p));
}

Bytes from_device(const DeviceBytes& memory, size_t bytes) {
  Bytes image(bytes);
  EXPECT_EQ(cudaMemcpyAsync(image.data(), memory.get(), bytes, cudaMemcpyDefault, {}), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  return image;
}

Bytes random_bytes(size_t count, uint64_t stream) {
  Bytes bytes(count);
  gpumem_test::Random random(stream);
  random.fill(bytes);
  return bytes;
}

struct Shape {
  int64_t rows;
  int64_t cols;
};

// Matrices of `shape` whose lines begin 16 bytes apart or a multiple of that, for elements of any size.
void transpose_on_few_blocks(Execute<TransposeParams>* launcher, const Shape& shape, int64_t batches, int64_t size,
                             int block) {
  const int64_t src_ld = (shape.cols + 15) / 16 * 16;
  const int64_t dst_ld = (shape.rows + 15) / 16 * 16;
  const Bytes src = random_bytes(static_cast<size_t>(batches * shape.rows * src_ld * size), 1);
  Bytes expected = random_bytes(static_cast<size_t>(batches * shape.cols * dst_ld * size), 2);
  const DeviceBytes from = on_device(src);
  const DeviceBytes to = on_device(expected);
  for (int64_t at = 0; at < batches * shape.rows * shape.cols; ++at) {
    const int64_t batch = at / (shape.rows * shape.cols);
    const int64_t i = at / shape.cols % shape.rows;
    const int64_t j = at % shape.cols;
    std::memcpy(expected.data() + ((batch * shape.cols + j) * dst_ld + i) * size,
                src.data() + ((batch * shape.rows + i) * src_ld + j) * size, static_cast<size_t>(size));
  }
  const TransposeParams params{.element_bytes = size,
                               .rows = shape.rows,
                               .cols = shape.cols,
                               .src = from.get(),
                               .src_ld = src_ld,
                               .dst = to.get(),
                               .dst_ld = dst_ld,
                               .batches = batches,
                               .src_batch_stride = shape.rows * src_ld,
                               .dst_batch_stride = shape.cols * dst_ld};
  const ChunkPlan chunks = chunk_plan(params);
  Config config{.grid = 2, .block = block == 0 ? chunks.threads : block};
  config.own.set(chunks);
  EXPECT_EQ(launcher(params, config, {}), cudaSuccess);
  EXPECT_EQ(from_device(to, expected.size()), expected) << size << " bytes an element";
}

TEST(FewBlocks, Transpose) {
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    for (auto* const launcher :
         {transpose_tile_vec16, transpose_tile_bytes, transpose_naive, transpose_shared, transpose_shared_padded}) {
      transpose_on_few_blocks(launcher, {197, 301}, 1, size, 1);
    }
    if (size <= 2) transpose_on_few_blocks(transpose_byte_perm_vec16, {197, 301}, 1, size, 1);
    if (size == 4 || size == 8) transpose_on_few_blocks(transpose_tile_realigned, {197, 301}, 1, size, 1);
    transpose_on_few_blocks(transpose_aos_soa, {3001, 5}, 2, size, 1);
    transpose_on_few_blocks(transpose_aos_soa, {5, 3001}, 2, size, 1);
    transpose_on_few_blocks(transpose_chunks, {29, 31}, 40, size, 0);
  }
}

TEST(FewBlocks, Copy) {
  const Bytes src = random_bytes(30011, 7);
  const DeviceBytes from = on_device(src);
  const auto copied = [&](Execute<CopyParams>* launcher, const CopyParams& params, int64_t at_src, int64_t at_dst) {
    Bytes expected = random_bytes(src.size(), 8);
    const DeviceBytes to = on_device(expected);
    for (int64_t row = 0; row < params.rows; ++row) {
      std::memcpy(expected.data() + at_dst + row * params.dst_pitch, src.data() + at_src + row * params.src_pitch,
                  static_cast<size_t>(params.row_bytes));
    }
    CopyParams whole = params;
    whole.src = reinterpret_cast<const char*>(from.get()) + at_src;
    whole.dst = reinterpret_cast<char*>(to.get()) + at_dst;
    EXPECT_EQ(launcher(whole, {.grid = 2}, {}), cudaSuccess);
    EXPECT_EQ(from_device(to, expected.size()), expected);
  };
  for (auto* const launcher : {copy_vec16, copy_vec4, copy_vec2, copy_scalar})
    copied(launcher, {.row_bytes = 30005}, 0, 0);
  for (const bool row_by_row : {false, true}) {
    copied(copy_by_driver,
           {.dst_pitch = 217, .src_pitch = 205, .row_bytes = 201, .rows = 130, .row_by_row = row_by_row}, 3, 9);
  }
  copied(copy_vec16, {.row_bytes = 29981}, 19, 6);
  copied(copy_realigned, {.dst_pitch = 217, .src_pitch = 205, .row_bytes = 201, .rows = 130}, 3, 9);
  for (const int64_t row : {400, 1009, 1010, 2033, 2034, 5003}) {  // pieces of a row, up to the last byte of src
    const int64_t rows = 29990 / (row + 1);
    const int64_t at_src = 30011 - (rows - 1) * (row + 1) - row;
    for (const int64_t at_dst : {0, 1, 8, 15}) {
      const CopyParams long_rows{.dst_pitch = row, .src_pitch = row + 1, .row_bytes = row, .rows = rows};
      copied(copy_realigned, long_rows, at_src, at_dst);
      copied(copy_realigned, long_rows, 0, at_dst);
    }
  }
}

// What the tables are told of a leaf is what the kernels make of it.
TEST(Lines, LeafKindIsThatOfTheTerm) {
  for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) {
    for (gpumem_reduce_op op = 0; op <= kLastOperation; ++op) {
      if (!is_operation(op) || operation_traits(op).own_function) continue;
      const NodeKind kind = node_kind(dtype, op);
      if (kind == NodeKind::arg || kind == NodeKind::norm || kind == NodeKind::order_free) continue;  // of no line
      if (kind == NodeKind::compensated && dtype != GPUMEM_F64) continue;
      if (skips_nan(op) && !is_floating(dtype)) continue;
      EXPECT_EQ(for_element(dtype, op,
                            [&]<class Term>() {
                              EXPECT_EQ(leaf_kind_of<Term>().ordered, leaf_kind(dtype, op).ordered)
                                  << dtype << " " << op;
                              EXPECT_EQ(leaf_kind_of<Term>().wide, leaf_kind(dtype, op).wide) << dtype << " " << op;
                              EXPECT_EQ(Term::kBytes, element_bytes(dtype)) << dtype << " " << op;
                              return cudaSuccess;
                            }),
                cudaSuccess);
    }
  }
}

// Rows and segments of i32 by warps that come round several times; the value of a line is the sum of its places.
TEST(FewBlocks, Lines) {
  constexpr int64_t kElements = 90000;
  Bytes image(kElements * 4);
  for (int32_t i = 0; i < kElements; ++i) std::memcpy(image.data() + int64_t{i} * 4, &i, 4);
  const DeviceBytes x = on_device(image);
  const DeviceBytes nodes = on_device(Bytes(kScratchNodeBytes));
  const DeviceBytes counters = on_device(Bytes(kScratchCounters * sizeof(unsigned) + sizeof(gpumem_status)));
  const auto sum = [](int64_t begin, int64_t end) { return (end - begin) * (begin + end - 1) / 2; };
  LineConfig config;
  ReduceLaunch launch;
  launch.config = &config;
  launch.x = x.get();
  launch.grid = 2;
  launch.rest_grid = 2;
  launch.block = 64;
  launch.scratch = {nodes.get(), reinterpret_cast<unsigned*>(counters.get()),
                    reinterpret_cast<gpumem_status*>(counters.get() + kScratchCounters * sizeof(unsigned))};
  const auto results = [&](int64_t lines) {
    const DeviceBytes result = on_device(Bytes(static_cast<size_t>(lines) * 8));
    launch.result = result.get();
    EXPECT_EQ(reduce_warp_lines(launch, {}), cudaSuccess);
    std::vector<int64_t> values(static_cast<size_t>(lines));
    std::memcpy(values.data(), from_device(result, values.size() * 8).data(), values.size() * 8);
    return values;
  };
  for (const int64_t cols : {3, 20, 100, 250, 700, 5000}) {
    const int64_t rows = kElements / cols;
    for (const int64_t tile : {cols, int64_t{kLeafTerms}}) {
      if (tile != cols && cols <= kLeafTerms) continue;
      launch.lines = {.count = rows, .length = cols, .pitch = cols, .per_batch = rows};
      config.longest = longest_row(GPUMEM_I32, GPUMEM_SUM, cols);
      launch.tile = tile;
      launch.blocks_per_line = (cols + tile - 1) / tile;
      const auto values = results(rows);
      for (int64_t row = 0; row < rows; ++row) EXPECT_EQ(values[row], sum(row * cols, (row + 1) * cols)) << cols;
    }
  }
  // Segments of 0, 1, ..., 99 elements, and one that is cut into runs.
  std::vector<int64_t> offsets{0};
  for (int64_t n = 0; n < 100; ++n) offsets.push_back(offsets.back() + n);
  offsets.push_back(kElements);
  Bytes places(offsets.size() * 8);
  std::memcpy(places.data(), offsets.data(), places.size());
  const DeviceBytes ends = on_device(places);
  for (const int longest : {0, 8, 32}) {
    launch.lines = {.count = static_cast<int64_t>(offsets.size()) - 1,
                    .length = kElements,
                    .offsets = reinterpret_cast<const int64_t*>(ends.get())};
    config.longest = longest;
    launch.tile = kLongSegment;
    const auto values = results(launch.lines.count);
    for (size_t i = 0; i + 1 < offsets.size(); ++i) EXPECT_EQ(values[i], sum(offsets[i], offsets[i + 1])) << longest;
  }
}

// Axes 2, 1 and 0 of src are in dst the axes of `order`.
PermuteAxes cube(int64_t element_bytes, const int64_t (&extents)[3], const int (&order)[3]) {
  const int64_t src_strides[3] = {extents[1] * extents[2], extents[2], 1};
  PermuteAxes axes;
  axes.element_bytes = element_bytes;
  int64_t dst_stride = 1;
  for (int d = 2; d >= 0; --d) {
    axes.add(extents[order[d]], src_strides[order[d]], dst_stride);
    dst_stride *= extents[order[d]];
  }
  return axes;
}

template <class Plan>
void permute_on_few_blocks(Execute<PermuteParams>* launcher, const PermuteAxes& axes, const Plan& plan) {
  const int64_t size = axes.element_bytes;
  const Bytes src = random_bytes(static_cast<size_t>(axes.elements() * size), 5);
  Bytes expected = random_bytes(src.size(), 6);
  const DeviceBytes from = on_device(src);
  const DeviceBytes to = on_device(expected);
  for (int64_t i = 0; i < axes.elements(); ++i) {
    int64_t rest = i;
    int64_t at_src = 0;
    int64_t at_dst = 0;
    for (int32_t d = 0; d < axes.rank; ++d) {
      at_src += rest % axes.extent[d] * axes.src_stride[d];
      at_dst += rest % axes.extent[d] * axes.dst_stride[d];
      rest /= axes.extent[d];
    }
    std::memcpy(expected.data() + at_dst * size, src.data() + at_src * size, static_cast<size_t>(size));
  }
  for (const int64_t grid : {1, 3}) {
    Config config{.grid = grid};
    config.own.set(plan);
    EXPECT_EQ(launcher({.src = from.get(), .dst = to.get(), .axes = axes}, config, {}), cudaSuccess);
    EXPECT_EQ(from_device(to, expected.size()), expected) << size << " bytes an element, grid " << grid;
  }
}

TEST(FewBlocks, Permute) {
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    const PermuteAxes planes = cube(size, {61, 67, 71}, {2, 1, 0});
    permute_on_few_blocks(permute_packed, planes, packed_tile(planes));
    permute_on_few_blocks(permute_tiled, planes, permute_plane(planes));
    permute_on_few_blocks(permute_strided_scalar, planes, 0);
    const PermuteAxes several = cube(size, {5, 13, 701}, {2, 1, 0});
    ASSERT_EQ(permute_plane(several).down_axes, 2);
    permute_on_few_blocks(permute_tiled, several, permute_plane(several));
    const PermuteAxes lines = cube(size, {61, 67, 71}, {1, 0, 2});
    permute_on_few_blocks(permute_contiguous_boxes, lines, line_tile(lines));
  }
}

// Matrices of `shape` with a gap between them, in place. room: what a block has of shared memory.
enum class InPlace { whole, lines, slots };
void transpose_in_place(InPlace way, int64_t size, const Shape& shape, size_t offset, int64_t room,
                        int64_t scratch_elements = 1 << 20) {
  constexpr int64_t kBatches = 3;
  const int64_t stride = shape.rows * shape.cols + 5;
  const Bytes before = random_bytes(static_cast<size_t>(kBatches * stride * size) + offset, 5);
  Bytes expected = before;
  for (int64_t at = 0; at < kBatches * shape.rows * shape.cols; ++at) {
    const int64_t matrix = at / (shape.rows * shape.cols) * stride;
    const int64_t i = at / shape.cols % shape.rows;
    const int64_t j = at % shape.cols;
    std::memcpy(expected.data() + offset + (matrix + j * shape.rows + i) * size,
                before.data() + offset + (matrix + i * shape.cols + j) * size, size);
  }
  const DeviceBytes data = on_device(before);
  void* p = data.get() + offset;
  const TransposeParams params{.element_bytes = size,
                               .rows = shape.rows,
                               .cols = shape.cols,
                               .src = p,
                               .src_ld = shape.cols,
                               .dst = p,
                               .dst_ld = shape.rows,
                               .batches = kBatches,
                               .src_batch_stride = stride,
                               .dst_batch_stride = stride};
  Config config{.grid = 3, .shared_bytes = room};
  if (way == InPlace::slots) config.workspace_bytes = slots_workspace(params, scratch_elements, room) * size;
  const DeviceBytes workspace = on_device(Bytes(static_cast<size_t>(config.workspace_bytes) + 1));
  const Launch launch{{}, workspace.get()};
  EXPECT_EQ(way == InPlace::whole   ? transpose_in_place_shared(params, config, launch)
            : way == InPlace::lines ? transpose_in_place_c2r(params, config, launch)
                                    : transpose_in_place_slots(params, config, launch),
            cudaSuccess);
  EXPECT_EQ(from_device(data, expected.size()), expected)
      << shape.rows << " x " << shape.cols << " of " << size << " bytes, " << room << " of shared memory";
}

// With less shared memory lines no longer fit, nor do tiles of slots; with little scratch memory these are transposed in place themselves.
// A quick run has one offset for each room, the other one with the next size.
TEST(FewBlocks, TransposeInPlace) {
  constexpr Shape kShapes[] = {{2, 3}, {101, 103}, {60, 84}, {300, 7}, {7, 512}, {320, 200}};
  int turn = 0;
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    for (const Shape& shape : kShapes) {
      if (shape.rows * shape.cols * size <= 227 << 10) transpose_in_place(InPlace::whole, size, shape, 0, 227 << 10);
      for (const int64_t room : {227 << 10, 8 << 10}) {
        const bool fits = transpose_shared_bytes(std::max(shape.rows, shape.cols), size) <= room &&
                          c2r_columns_log2(std::min(shape.rows, shape.cols), size, room) >= 0;
        ++turn;
        for (const int64_t half : {0, 1}) {
          if (gpumem_test::quick_run() && turn % 2 != half) continue;
          const auto offset = static_cast<size_t>(half * size / 2);
          if (fits) transpose_in_place(InPlace::lines, size, shape, offset, room);
          transpose_in_place(InPlace::slots, size, shape, offset, room);
        }
      }
    }
    ++turn;
    for (const Shape& shape : {Shape{1009, 3}, Shape{5, 2003}, Shape{211, 127}, Shape{90, 240}}) {
      transpose_in_place(InPlace::slots, size, shape, 0, 8 << 10, 1);
    }
  }
}

TEST(FewBlocks, Fill) {
  const Bytes pattern = random_bytes(16, 3);
  for (auto* const execute : {fill_vec16, fill_rows}) {
    Bytes expected = random_bytes(20011, 4);
    const DeviceBytes to = on_device(expected);
    FillParams params{.dst = to.get() + 5, .count = 19999};
    std::memcpy(params.word, pattern.data(), 16);
    for (int64_t i = 0; i < params.count; ++i)
      expected[static_cast<size_t>(i + 5)] = pattern[static_cast<size_t>(i % 16)];
    EXPECT_EQ(execute(params, {.grid = 2}, {}), cudaSuccess);
    EXPECT_EQ(from_device(to, expected.size()), expected);
  }
}

TEST(FewBlocks, Resize) {
  constexpr int64_t kSrcRows = 37;
  constexpr int64_t kSrcCols = 301;
  constexpr int64_t kDstRows = 90;
  constexpr int64_t kDstCols = 397;
  for (const gpumem_filter filter : {GPUMEM_FILTER_NEAREST, GPUMEM_FILTER_BILINEAR}) {
    for (int32_t channels = 1; channels <= 4; ++channels) {
      const Bytes src = random_bytes(static_cast<size_t>(kSrcRows * kSrcCols * channels), 5);
      const DeviceBytes from = on_device(src);
      const auto resized = [&](Execute<ResizeParams>* launcher, int64_t rows_per_thread, int64_t grid) {
        const Bytes poison = random_bytes(static_cast<size_t>(kDstRows * 400 * channels), 6);
        const DeviceBytes to = on_device(poison);
        const ResizeParams params{.filter = filter,
                                  .dtype = GPUMEM_U8,
                                  .channels = channels,
                                  .src = from.get(),
                                  .src_rows = kSrcRows,
                                  .src_cols = kSrcCols,
                                  .src_pitch = kSrcCols * channels,
                                  .dst = to.get(),
                                  .dst_rows = kDstRows,
                                  .dst_cols = kDstCols,
                                  .dst_pitch = 400 * channels};
        Config config{.grid = grid, .tile = rows_per_thread};
        const int pixels = launcher == resize_global ? resize_pixels(channels, 1) : 1;
        config.own.set(resize_tiles(kDstRows, kDstCols, pixels, rows_per_thread));
        EXPECT_EQ(launcher(params, config, {}), cudaSuccess);
        return from_device(to, poison.size());
      };
      const Bytes expected = resized(resize_bytes, 1, 2);
      for (const int64_t rows : {1, 2, 8, 16}) EXPECT_EQ(resized(resize_words, rows, 2), expected) << channels;
      EXPECT_EQ(resized(resize_global, 2, 2), expected) << channels;
    }
  }
}

TEST(FewBlocks, Convert) {
  constexpr int64_t kN = 5001;
  for (auto* const execute : {convert_vec16, convert_scalar, convert_bytes}) {
    for (gpumem_dtype from = 0; from < kDtypes; ++from) {
      for (gpumem_dtype to = 0; to < kDtypes; ++to) {
        const Bytes src = random_bytes(static_cast<size_t>((kN + 1) * element_bytes(from)), 3);
        Bytes expected = random_bytes(static_cast<size_t>((kN + 2) * element_bytes(to)), 4);
        const DeviceBytes near = on_device(src);
        const DeviceBytes far = on_device(expected);
        const ConvertParams params{from, near.get() + element_bytes(from), to, far.get() + element_bytes(to), kN};
        for_types({from, src.data() + element_bytes(from), to, expected.data() + element_bytes(to), kN},
                  [&]<class To, class From>() {
                    for (int64_t i = 1; i <= kN; ++i) {
                      From v;
                      std::memcpy(&v, src.data() + i * static_cast<int64_t>(sizeof v), sizeof v);
                      const To result = converted<To>(v);
                      std::memcpy(expected.data() + i * static_cast<int64_t>(sizeof result), &result, sizeof result);
                    }
                  });
        ASSERT_EQ(execute(params, {.grid = 2, .block = kConvertThreads}, {}), cudaSuccess);
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_TRUE(from_device(far, expected.size()) == expected)
            << traits_of(from).name << " to " << traits_of(to).name;
      }
    }
  }
}

}  // namespace
}  // namespace gpumem::kernels
