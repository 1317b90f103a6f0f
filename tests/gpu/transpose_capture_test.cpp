// Transposes in place in a graph: their scratch memory belongs to the graph, and each run has it anew.
#include <cstddef>
#include <vector>

#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using TransposeCapture = ReduceCapture;

struct Shape {
  int64_t rows;
  int64_t cols;
};

// A matrix that fits into a block, passes through shared memory, rows through scratch memory, columns through scratch memory.
TEST_F(TransposeCapture, InPlaceThereAndBackInEachRun) {
  for (const Shape& shape : {Shape{300, 200}, Shape{3000, 2000}, Shape{20, 300000}, Shape{14700, 14600}}) {
    Captured captured(ctx);
    const auto bytes = static_cast<size_t>(shape.rows * shape.cols);
    std::vector<unsigned char> before(bytes);
    for (size_t i = 0; i < bytes; ++i) before[i] = static_cast<unsigned char>(i * 0x9E3779B97F4A7C15u >> 56);
    std::vector<unsigned char> after(bytes);
    for (int64_t i = 0; i < shape.rows; ++i) {
      for (int64_t j = 0; j < shape.cols; ++j) after[j * shape.rows + i] = before[i * shape.cols + j];
    }
    char* const x = device(bytes);
    const auto transpose = [&](int64_t rows, int64_t cols) {
      EXPECT_EQ(gpumem_transpose_async(ctx, 1, rows, cols, x, cols, x, rows, captured.stream), GPUMEM_OK)
          << last_error();
    };
    captured.begin();
    transpose(shape.rows, shape.cols);
    transpose(shape.cols, shape.rows);
    transpose(shape.rows, shape.cols);
    captured.end();
    std::vector<unsigned char> now(bytes);
    for (const char* run : {"first", "second"}) {
      put(x, before.data(), bytes);
      captured.launch();
      captured.wait();
      put(now.data(), x, bytes);
      EXPECT_TRUE(now == after) << shape.rows << " x " << shape.cols << ", the " << run << " run";
    }
  }
}

}  // namespace
}  // namespace gpumem::gpu_tests
