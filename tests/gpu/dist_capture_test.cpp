// Exchanges of members of one device in a graph: on one stream, on several that are captured together, and where only some are, or into two graphs.
#include <array>

#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

constexpr int64_t kEach = 1 << 16;

// Two members, each with a context, exchange their halves.
class DistCapture : public ReduceCapture {
 protected:
  void SetUp() override {
    ReduceCapture::SetUp();
    if (ctx == nullptr) return;
    other_ = make_context(GPUMEM_DEVICE_CUDA);
    gpumem_ctx* const contexts[] = {ctx, other_};
    gpumem_dist_options options;
    ASSERT_EQ(gpumem_dist_options_init(&options, sizeof options), GPUMEM_OK);
    options.contexts = contexts;
    options.members = 2;
    ASSERT_EQ(gpumem_dist_create(&options, &dist_), GPUMEM_OK) << last_error();
    const int64_t extents[] = {2 * kEach}, lower[] = {0, kEach}, upper[] = {kEach, 2 * kEach};
    const int32_t exchanged[] = {1, 0};
    gpumem_dist_layout src;
    ASSERT_EQ(gpumem_dist_layout_init(&src, sizeof src), GPUMEM_OK);
    src.element_bytes = sizeof(int32_t);
    src.rank = 1;
    src.extents = extents;
    src.boxes = 2;
    src.lower = lower;
    src.upper = upper;
    gpumem_dist_layout dst = src;
    dst.members = exchanged;
    ASSERT_EQ(gpumem_dist_plan_redistribute(dist_, &src, &dst, nullptr, nullptr, &plan_), GPUMEM_OK) << last_error();
    for (size_t i = 0; i < 2; ++i) {
      from_[i] = device(kEach * sizeof(int32_t));
      to_[i] = device(kEach * sizeof(int32_t));
    }
  }
  void TearDown() override {
    EXPECT_EQ(gpumem_dist_plan_destroy(plan_), GPUMEM_OK) << last_error();
    EXPECT_EQ(gpumem_dist_destroy(dist_), GPUMEM_OK) << last_error();
    EXPECT_EQ(gpumem_ctx_destroy(other_), GPUMEM_OK) << last_error();
    ReduceCapture::TearDown();
  }

  gpumem_status enqueue(gpumem_stream* first, gpumem_stream* second) {
    gpumem_stream* const streams[] = {first, second};
    return gpumem_dist_execute_async(plan_, from_.data(), to_.data(), streams);
  }
  void put_numbers(int32_t of_first, int32_t of_second) {
    const int32_t values[] = {of_first, of_second};
    for (size_t i = 0; i < 2; ++i) {
      const std::vector<int32_t> numbers(kEach, values[i]);
      put(const_cast<void*>(from_[i]), numbers.data(), kEach * sizeof(int32_t));
    }
  }
  void expect_numbers(int32_t of_first, int32_t of_second) {
    const int32_t values[] = {of_first, of_second};
    for (size_t i = 0; i < 2; ++i) {
      std::vector<int32_t> got(kEach);
      put(got.data(), to_[i], kEach * sizeof(int32_t));
      EXPECT_EQ(got, std::vector<int32_t>(kEach, values[i])) << "member " << i;
    }
  }
  void replay(Captured& captured) {
    for (int32_t turn = 0; turn < 3; ++turn) {
      put_numbers(10 * turn, 10 * turn + 1);
      captured.launch();
      captured.wait();
      expect_numbers(10 * turn + 1, 10 * turn);
    }
  }

  gpumem_ctx* other_ = nullptr;
  gpumem_dist* dist_ = nullptr;
  gpumem_dist_plan* plan_ = nullptr;
  std::array<const void*, 2> from_{};
  std::array<void*, 2> to_{};
};

TEST_F(DistCapture, OnOneStreamOfBothMembers) {
  Captured captured(ctx);
  gpumem_stream* of_other = nullptr;
  ASSERT_EQ(gpumem_stream_wrap(other_, captured.native, &of_other), GPUMEM_OK) << last_error();
  captured.begin();
  EXPECT_EQ(enqueue(captured.stream, of_other), GPUMEM_OK) << last_error();
  captured.end();
  replay(captured);
  EXPECT_EQ(gpumem_stream_destroy(of_other), GPUMEM_OK);
}

TEST_F(DistCapture, OnStreamsThatAreCapturedTogether) {
  Captured captured(ctx), joined(other_);
  cudaEvent_t fork = nullptr, join = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&join, cudaEventDisableTiming), cudaSuccess);
  captured.begin();
  ASSERT_EQ(cudaEventRecord(fork, captured.native), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(joined.native, fork, 0), cudaSuccess);
  EXPECT_EQ(enqueue(captured.stream, joined.stream), GPUMEM_OK) << last_error();
  ASSERT_EQ(cudaEventRecord(join, joined.native), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(captured.native, join, 0), cudaSuccess);
  captured.end();
  replay(captured);
  EXPECT_EQ(cudaEventDestroy(fork), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(join), cudaSuccess);
}

TEST_F(DistCapture, NotWhereOnlySomeAreCaptured) {
  Captured captured(ctx), outside(other_);
  put_numbers(1, 2);
  captured.begin();
  EXPECT_EQ(enqueue(captured.stream, outside.stream), GPUMEM_CAPTURING);
  EXPECT_NE(last_error().find("one graph for all"), std::string::npos) << last_error();
  captured.end();
  EXPECT_EQ(gpumem_dist_execute(plan_, from_.data(), to_.data()), GPUMEM_OK) << last_error();
  expect_numbers(2, 1);
}

TEST_F(DistCapture, NotIntoTwoGraphs) {
  Captured one(ctx), two(other_);
  put_numbers(1, 2);
  one.begin(cudaStreamCaptureModeRelaxed);  // one ends while the other goes on, and a graph is made of it
  two.begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(enqueue(one.stream, two.stream), GPUMEM_CAPTURING);
  EXPECT_NE(last_error().find("one graph for all"), std::string::npos) << last_error();
  two.end();
  one.end();
  EXPECT_EQ(gpumem_dist_execute(plan_, from_.data(), to_.data()), GPUMEM_OK) << last_error();
  expect_numbers(2, 1);
}

}  // namespace
}  // namespace gpumem::gpu_tests
