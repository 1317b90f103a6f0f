// A batch of images in a graph: the arrays of the call are read when it is captured, the images when the graph runs.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using ResizeCapture = ReduceCapture;

// Three launches of up to 112 images.
TEST_F(ResizeCapture, ABatchReadsItsImagesAnewInEachRun) {
  constexpr int64_t kImages = 250;
  constexpr int64_t kSide = 40;
  constexpr int64_t kBytes = kSide * kSide;
  Captured captured(ctx);
  auto* const src = device<unsigned char>(kImages * kBytes);
  auto* const dst = device<unsigned char>(kImages * kBytes);
  std::vector<const void*> images;
  for (int64_t k = 0; k < kImages; ++k) images.push_back(src + k * kBytes);
  std::vector<int64_t> sides(kImages, kSide);
  captured.begin();
  ASSERT_EQ(
      gpumem_resize_2d_batch_async(ctx, GPUMEM_FILTER_BILINEAR, GPUMEM_U8, 1, kImages, images.data(), sides.data(),
                                   sides.data(), nullptr, dst, kSide, kSide, kSide, kBytes, captured.stream),
      GPUMEM_OK)
      << last_error();
  captured.end();
  std::fill(images.begin(), images.end(), nullptr);
  std::fill(sides.begin(), sides.end(), -1);
  std::vector<unsigned char> pixels(kImages * kBytes);
  std::vector<unsigned char> now(pixels.size());
  for (const size_t run : {size_t{1}, size_t{2}}) {
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<unsigned char>(i * run * 0x9E3779B97F4A7C15u >> 56);
    put(src, pixels.data(), pixels.size());
    captured.launch();
    captured.wait();
    put(now.data(), dst, now.size());
    EXPECT_TRUE(now == pixels) << "run " << run;  // the same sizes give the same image
  }
}

}  // namespace
}  // namespace gpumem::gpu_tests
