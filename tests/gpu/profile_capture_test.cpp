// Profiles and tuning beside graph capture.
#include <atomic>

#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using ProfileCapture = ReduceCapture;

TEST_F(ProfileCapture, CapturedCallsAreCountedAndNotTimed) {
  Captured captured(ctx);
  char* const src = device(4096);
  char* const dst = device(4096);
  ASSERT_EQ(gpumem_profile_begin(ctx, 10), GPUMEM_OK) << last_error();
  captured.begin();
  EXPECT_EQ(gpumem_copy_async(ctx, dst, src, 4096, captured.stream), GPUMEM_OK) << last_error();
  gpumem_tune_info info;
  EXPECT_EQ(gpumem_tune_info_init(&info, sizeof info), GPUMEM_OK);
  EXPECT_EQ(gpumem_tune(ctx, "copy bytes=4096 src=device dst=device", nullptr, &info), GPUMEM_CAPTURING);
  captured.end();
  captured.launch();
  captured.wait();
  EXPECT_EQ(gpumem_copy_async(ctx, dst, src, 4096, captured.stream), GPUMEM_OK) << last_error();
  captured.wait();
  gpumem_profile_row rows[3];
  int64_t count = 0;
  EXPECT_EQ(gpumem_profile_row_init(rows, sizeof rows[0]), GPUMEM_OK);
  ASSERT_EQ(gpumem_profile_report(ctx, rows, 3, &count), GPUMEM_OK) << last_error();
  ASSERT_EQ(count, 2) << "a problem, and its kinds of memory";
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].timed, 1);
  EXPECT_EQ(gpumem_profile_end(ctx), GPUMEM_OK);
}

TEST_F(ProfileCapture, AReportWaitsForNothing) {
  Captured held(ctx);
  char* const p = device(4096);
  ASSERT_EQ(gpumem_profile_begin(ctx, 10), GPUMEM_OK) << last_error();
  static std::atomic<bool> open;
  open = false;
  ASSERT_EQ(cudaLaunchHostFunc(
                held.native,
                [](void*) {
                  while (!open) {
                  }
                },
                nullptr),
            cudaSuccess);
  const unsigned char pattern = 1;
  EXPECT_EQ(gpumem_fill_async(ctx, p, &pattern, 1, 4096, held.stream), GPUMEM_OK) << last_error();
  gpumem_profile_row rows[3];
  int64_t count = 0;
  EXPECT_EQ(gpumem_profile_row_init(rows, sizeof rows[0]), GPUMEM_OK);
  EXPECT_EQ(gpumem_profile_report(ctx, rows, 3, &count), GPUMEM_OK) << last_error();
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[0].timed, 0) << "it still runs";
  open = true;
  held.wait();
  EXPECT_EQ(gpumem_profile_report(ctx, rows, 3, &count), GPUMEM_OK) << last_error();
  EXPECT_EQ(rows[0].timed, 1);
  EXPECT_EQ(gpumem_profile_end(ctx), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem::gpu_tests
