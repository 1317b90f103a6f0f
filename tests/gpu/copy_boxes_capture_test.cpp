// Boxes in a graph: the arrays of the call are read when it is captured, the elements when the graph runs.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/boxes.hpp"
#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using CopyBoxesCapture = ReduceCapture;

// Three launches of up to 128 boxes.
TEST_F(CopyBoxesCapture, ReadsItsElementsAnewInEachRun) {
  constexpr int64_t kBoxes = 300;
  constexpr int64_t kRows = 7;
  constexpr int64_t kCols = 9;
  constexpr int64_t kPitch = 12;
  Captured captured(ctx);
  auto* const src = device<uint32_t>(kBoxes * kRows * kPitch * 4);
  auto* const dst = device<uint32_t>(kBoxes * kRows * kCols * 4);
  gpumem_test::Boxes b{.element_bytes = 4, .ndim = 2};
  for (int64_t k = 0; k < kBoxes; ++k) {
    b.add({kRows, kCols}, src + k * kRows * kPitch, dst + k * kRows * kCols);
    b.src_strides.insert(b.src_strides.end(), {kPitch, 1});
  }
  captured.begin();
  ASSERT_EQ(run_async(ctx, b, captured.stream), GPUMEM_OK) << last_error();
  captured.end();
  std::fill(b.src.begin(), b.src.end(), nullptr);
  std::fill(b.extents.begin(), b.extents.end(), -1);
  std::vector<uint32_t> values(kBoxes * kRows * kPitch);
  std::vector<uint32_t> now(kBoxes * kRows * kCols);
  for (const uint32_t round : {1u, 2u}) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i) * round;
    put(src, values.data(), values.size() * 4);
    captured.launch();
    captured.wait();
    put(now.data(), dst, now.size() * 4);
    int64_t wrong = 0;
    for (size_t i = 0; i < now.size(); ++i) wrong += now[i] != (i / kCols * kPitch + i % kCols) * round;
    EXPECT_EQ(wrong, 0) << "run " << round;
  }
}

}  // namespace
}  // namespace gpumem::gpu_tests
