// Kernels by themselves, on fewer blocks than the library would take: each block comes round several times, which the library's
// own launches do only at sizes that no test reaches.
#undef __noinline__  // CUDA's macro; the standard headers mean the attribute
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/convert/element.hpp"
#include "kernels/cuda_launchers.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/resize/resize.hpp"
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
  EXPECT_EQ(cudaMemcpyAsync(p, image.data(), image.size(), cudaMemcpyDefault, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  return DeviceBytes(static_cast<unsigned char*>(p));
}

Bytes from_device(const DeviceBytes& memory, size_t bytes) {
  Bytes image(bytes);
  EXPECT_EQ(cudaMemcpyAsync(image.data(), memory.get(), bytes, cudaMemcpyDefault, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  return image;
}

Bytes random_bytes(size_t count, uint64_t stream) {
  Bytes bytes(count);
  gpumem_test::Random random(stream);
  random.fill(bytes);
  return bytes;
}

TEST(FewBlocks, Transpose) {
  constexpr int64_t kRows = 197;
  constexpr int64_t kCols = 301;
  constexpr int64_t kLd = 304;  // a multiple of 16 bytes for every element
  for (auto* const launcher : {transpose_tile_vec16, transpose_tile_bytes}) {
    for (const int64_t size : {1, 2, 4, 8, 16}) {
      const Bytes src = random_bytes(static_cast<size_t>(kRows * kLd * size), 1);
      Bytes expected = random_bytes(static_cast<size_t>(kCols * kLd * size), 2);
      const DeviceBytes from = on_device(src);
      const DeviceBytes to = on_device(expected);
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < kCols; ++j) {
          std::memcpy(expected.data() + (j * kLd + i) * size, src.data() + (i * kLd + j) * size, size);
        }
      }
      const TransposeParams params{.element_bytes = size,
                                   .rows = kRows,
                                   .cols = kCols,
                                   .src = from.get(),
                                   .src_ld = kLd,
                                   .dst = to.get(),
                                   .dst_ld = kLd};
      EXPECT_EQ(launcher(params, {.grid = 2}, nullptr), cudaSuccess);
      EXPECT_EQ(from_device(to, expected.size()), expected) << size << " bytes an element";
    }
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

TEST(FewBlocks, Permute) {
  for (auto* const launcher :
       {permute_packed, permute_contiguous_boxes, permute_contiguous_runs, permute_tiled, permute_strided_scalar}) {
    const bool by_rows = launcher == permute_contiguous_boxes || launcher == permute_contiguous_runs;
    for (const int64_t size : {1, 2, 4, 8, 16}) {
      const PermuteAxes axes = by_rows ? cube(size, {61, 67, 71}, {1, 0, 2}) : cube(size, {61, 67, 71}, {2, 1, 0});
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
        EXPECT_EQ(launcher({.src = from.get(), .dst = to.get(), .axes = axes}, {.grid = grid}, nullptr), cudaSuccess);
        EXPECT_EQ(from_device(to, expected.size()), expected) << size << " bytes an element, grid " << grid;
      }
    }
  }
}

struct Shape {
  int64_t rows;
  int64_t cols;
};

// Matrices of `shape` with a gap between them, in place. room: what a block has of shared memory.
void transpose_in_place(bool whole, int64_t size, const Shape& shape, size_t offset, int64_t room) {
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
  const LaunchShape launch{.grid = 3, .shared_bytes = room};
  const int64_t scratch_bytes = whole ? 0 : transpose_in_place_c2r_scratch(params, launch);
  EXPECT_LE(scratch_bytes, shape.rows * shape.cols * size / 2);
  const DeviceBytes scratch = on_device(Bytes(static_cast<size_t>(scratch_bytes) + 1));
  EXPECT_EQ(whole ? transpose_in_place_shared(params, launch, nullptr)
                  : transpose_in_place_c2r(params, launch, scratch.get(), nullptr),
            cudaSuccess);
  EXPECT_EQ(from_device(data, expected.size()), expected)
      << shape.rows << " x " << shape.cols << " of " << size << " bytes, " << room << " of shared memory";
}

// With less and less shared memory: rows go through scratch memory first, then columns, which are as long or shorter.
TEST(FewBlocks, TransposeInPlace) {
  constexpr Shape kShapes[] = {{2, 3}, {101, 103}, {60, 84}, {64, 96}, {300, 7}, {7, 512}, {320, 200}};
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    for (const Shape& shape : kShapes) {
      if (shape.rows * shape.cols * size <= 227 << 10) transpose_in_place(true, size, shape, 0, 227 << 10);
      for (const int64_t room : {227 << 10, 4 << 10, 128}) {
        for (const size_t offset : {size_t{0}, static_cast<size_t>(size / 2)}) {
          transpose_in_place(false, size, shape, offset, room);
        }
      }
    }
  }
}

// Several thousand rows: the blocks that take columns in scratch memory take a part of them each.
TEST(FewBlocks, TransposeInPlaceOfLongLines) {
  for (const Shape& shape : {Shape{513, 8203}, Shape{8208, 520}}) {
    transpose_in_place(false, 2, shape, 0, 1024);
    transpose_in_place(false, 4, shape, 0, 40 << 10);
  }
}

TEST(FewBlocks, Fill) {
  const Bytes pattern = random_bytes(16, 3);
  for (const auto& [name, launcher] : FillFamily::on_cuda().all) {
    if (name != std::string_view("vec16") && name != std::string_view("bytes")) continue;
    Bytes expected = random_bytes(20011, 4);
    const DeviceBytes to = on_device(expected);
    FillParams params{.dst = to.get() + 5, .count = 19999};
    std::memcpy(params.word, pattern.data(), 16);
    for (int64_t i = 0; i < params.count; ++i)
      expected[static_cast<size_t>(i + 5)] = pattern[static_cast<size_t>(i % 16)];
    EXPECT_EQ(launcher(params, {.grid = 2}, nullptr), cudaSuccess);
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
      const auto resized = [&](ResizeLauncher* launcher, int64_t rows_per_thread, int64_t grid) {
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
        EXPECT_EQ(launcher(params, {.grid = grid, .tile = rows_per_thread}, nullptr), cudaSuccess);
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
  for (const auto& launcher : ConvertFamily::on_cuda().all) {
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
        ASSERT_EQ(launcher.launch(params, {.grid = 2, .block = kConvertThreads}, {}), cudaSuccess);
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_TRUE(from_device(far, expected.size()) == expected)
            << launcher.name << ", " << traits_of(from).name << " to " << traits_of(to).name;
      }
    }
  }
}

}  // namespace
}  // namespace gpumem::kernels
