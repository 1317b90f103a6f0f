// Linear combinations with dot products in a graph: two steps of an iteration whose factors are results of the step before.
#include <vector>

#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using LincombDotCapture = ReduceCapture;

TEST_F(LincombDotCapture, AGraphPassesItsResultsOn) {
  constexpr int64_t kCount = 300000;
  Captured captured(ctx);
  auto* const x = device<double>(kCount * 8);
  auto* const z = device<double>(kCount * 8);
  auto* const sums = device<double>(4 * 8);
  const int64_t extents[] = {kCount};
  const double two = 2;
  const double factors[] = {1, -1};
  const double* of_x[] = {x};
  const double* w[] = {x, nullptr};
  const double* both[] = {z, x};
  const double* numerators[] = {nullptr, sums};
  const double* denominators[] = {nullptr, sums + 1};
  captured.begin();
  // z = 2 x, and z = z - x (z.x / z.z) = 1.5 x.
  ASSERT_EQ(gpumem_lincomb_dot_f64_async(ctx, 1, extents, 1, &two, nullptr, nullptr, of_x, nullptr, z, nullptr, 2, w,
                                         nullptr, sums, captured.stream),
            GPUMEM_OK)
      << last_error();
  ASSERT_EQ(gpumem_lincomb_dot_f64_async(ctx, 1, extents, 2, factors, numerators, denominators, both, nullptr, z,
                                         nullptr, 1, nullptr, nullptr, sums + 2, captured.stream),
            GPUMEM_OK)
      << last_error();
  captured.end();
  for (const double value : {1.0, 4.0, -2.0}) {
    const std::vector<double> given(kCount, value);
    put(x, given.data(), kCount * 8);
    captured.launch();
    captured.wait();
    double found[3] = {};
    put(found, sums, sizeof found);
    EXPECT_EQ(found[0], 2 * value * value * kCount);
    EXPECT_EQ(found[1], 4 * value * value * kCount);
    EXPECT_EQ(found[2], 2.25 * value * value * kCount);
  }
}

}  // namespace
}  // namespace gpumem::gpu_tests
