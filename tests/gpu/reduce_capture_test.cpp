// Reductions in CUDA graphs: enqueued calls on data of the device become part of the graph, everything else is refused and
// the capture is still valid; replays with data that changes.
#include <cstring>
#include <vector>

#include "support/bit_cases.hpp"
#include "support/lines.hpp"
#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using gpumem_test::Axis;
using gpumem_test::bit_case;
using gpumem_test::BitCase;
using gpumem_test::describe;
using gpumem_test::hex;
using gpumem_test::LinesOutcome;
using gpumem_test::Outcome;
using gpumem_test::quick_run;
using gpumem_test::Random;
using gpumem_test::Reduction;
using gpumem_test::Segmented;

TEST_F(ReduceCapture, HostDataIsRefusedUnharmed) {
  auto* x = device<double>(8192);
  const std::vector<double> ones(1024, 1);
  put(x, ones.data(), 8192);
  uint64_t* out = pinned_words(32);
  auto* d = reinterpret_cast<double*>(out);
  auto* s = reinterpret_cast<int64_t*>(out);
  Captured capture(ctx);
  capture.begin();
  std::vector<double> heap(1024, 1);
  EXPECT_EQ(gpumem_reduce_f64_async(ctx, GPUMEM_SUM, heap.data(), 1024, 1, d, nullptr, capture.stream),
            GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_argreduce_f64_async(ctx, GPUMEM_MIN, heap.data(), 1024, 1, d, s + 1, capture.stream),
            GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_dot_f64_async(ctx, heap.data(), heap.data(), 1024, 1, 1, d, capture.stream), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_nrm2_f64_async(ctx, heap.data(), 1024, 1, d, capture.stream), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_reduce_axis_async(ctx, GPUMEM_F64, GPUMEM_SUM, GPUMEM_AXIS_ROWS, heap.data(), 8, 128, 128, 1, 0, out,
                                     nullptr, capture.stream),
            GPUMEM_CAPTURING);
  const int64_t extents[] = {8, 32, 4};
  EXPECT_EQ(gpumem_reduce_axes_async(ctx, GPUMEM_F64, GPUMEM_SUM, 3, extents, heap.data(), nullptr, 0b101, out,
                                     GPUMEM_F64, nullptr, capture.stream),
            GPUMEM_CAPTURING);
  const int64_t offsets[] = {0, 1024};
  EXPECT_EQ(gpumem_reduce_segments_async(ctx, GPUMEM_F64, GPUMEM_SUM, heap.data(), 1024, offsets, 1, out, nullptr,
                                         capture.stream),
            GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_nrm2_f64_async(ctx, x, 1024, 1, d, capture.stream), GPUMEM_OK) << last_error();
  // Another stream is free to run.
  double sum = 0;
  EXPECT_EQ(gpumem_reduce_f64(ctx, GPUMEM_SUM, x, 1024, 1, &sum), GPUMEM_OK) << last_error();
  EXPECT_EQ(sum, 1024);
  ASSERT_NO_FATAL_FAILURE(capture.end());
  EXPECT_EQ(out[0], 0x5A5A5A5A5A5A5A5A) << "captured, not run";
  capture.launch();
  capture.wait();
  EXPECT_EQ(*d, 32);
}

// The plain forms run on the context's own stream: where that one is drawn into a capture, they are refused.
TEST_F(ReduceCapture, PlainFormsOnACapturingStreamAreRefused) {
  auto* x = device<double>(8192);
  const std::vector<double> ones(1024, 1);
  put(x, ones.data(), 8192);
  auto* offsets = device<int64_t>(16);
  const int64_t ends[] = {0, 1024};
  put(offsets, ends, 16);
  gpumem_event* event = nullptr;
  ASSERT_EQ(gpumem_event_create(ctx, &event), GPUMEM_OK);
  Captured capture(ctx);
  double heap[4] = {77, 77, 77, 77};
  int64_t index = 77;
  capture.begin();
  // The context's own stream joins the capture by an event, and comes back to it by another.
  ASSERT_EQ(gpumem_event_record(ctx, event, capture.stream), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_stream_wait_event(ctx, nullptr, event), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_reduce_f64(ctx, GPUMEM_SUM, x, 1024, 1, heap), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_argreduce_f64(ctx, GPUMEM_MIN, x, 1024, 1, heap, &index), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_dot_f64(ctx, x, x, 1024, 1, 1, heap), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_nrm2_f64(ctx, x, 1024, 1, heap), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_reduce_axis(ctx, GPUMEM_F64, GPUMEM_SUM, GPUMEM_AXIS_COLS, x, 256, 4, 4, 1, 0, heap),
            GPUMEM_CAPTURING);
  const int64_t extents[] = {16, 4, 16};
  EXPECT_EQ(gpumem_reduce_axes(ctx, GPUMEM_F64, GPUMEM_SUM, 3, extents, x, nullptr, 0b101, heap, GPUMEM_F64),
            GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_reduce_segments(ctx, GPUMEM_F64, GPUMEM_SUM, x, 1024, offsets, 1, heap), GPUMEM_CAPTURING);
  ASSERT_EQ(gpumem_event_record(ctx, event, nullptr), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_stream_wait_event(ctx, capture.stream, event), GPUMEM_OK) << last_error();
  ASSERT_NO_FATAL_FAILURE(capture.end());
  EXPECT_TRUE(heap[0] == 77 && heap[3] == 77 && index == 77);
  EXPECT_EQ(gpumem_reduce_f64(ctx, GPUMEM_SUM, x, 1024, 1, heap), GPUMEM_OK) << "after the capture: " << last_error();
  EXPECT_EQ(heap[0], 1024);
  EXPECT_EQ(gpumem_event_destroy(event), GPUMEM_OK);
}

// Random sums, each captured once and replayed with data that changes under it: the bits of the plain order each time.
TEST_F(ReduceCapture, ReplaysHaveTheReferencesBits) {
  const size_t count = quick_run() ? 21 : 210;
  Captured capture(ctx);
  for (size_t i = 0; i < count && !HasFailure(); ++i) {
    Random random(i + 40000);
    BitCase first = bit_case(i, 100000, random);
    if (first.n == 0) continue;
    char* x = device(first.x.size() + 16);
    char* y = device(first.y.size() + 16);
    uint64_t* out = pinned_words(2);
    const Reduction r = first.on(x + first.offset, y + first.y_offset);
    capture.begin();
    ASSERT_EQ(gpumem_test::run_async(ctx, r, out, nullptr, capture.stream), GPUMEM_OK) << last_error();
    ASSERT_NO_FATAL_FAILURE(capture.end());
    for (int replay = 0; replay < 3; ++replay) {
      put(x + first.offset, first.x.data(), first.x.size());
      put(y + first.y_offset, first.y.data(), first.y.size());
      capture.launch();
      capture.wait();
      EXPECT_EQ(hex(out[0]), hex(first.expected.words[0])) << "replay " << replay << ", " << describe(first);
      // New numbers of the same shape.
      first.x = gpumem_test::random_elements(first.dtype, gpumem_test::Numbers::medium, first.n, first.stride, random);
      first.expected = gpumem_test::reference(first.on(first.x.data(), first.y.data()));
    }
    capture.drop();
  }
}

TEST_F(ReduceCapture, StatusWordsAndLinesInAGraph) {
  auto* x = device<int64_t>(6 * 8);
  auto* offsets = device<int64_t>(4 * 8);
  uint64_t* out = pinned_words(32);
  auto* status = reinterpret_cast<gpumem_status*>(out + 24);
  Captured capture(ctx);
  capture.begin();
  EXPECT_EQ(gpumem_reduce_async(ctx, GPUMEM_I64, GPUMEM_SUM, x, 6, 1, out, status, capture.stream), GPUMEM_OK);
  EXPECT_EQ(gpumem_reduce_axis_async(ctx, GPUMEM_I64, GPUMEM_MAX_ABS, GPUMEM_AXIS_COLS, x, 2, 3, 3, 1, 0, out + 4,
                                     status + 1, capture.stream),
            GPUMEM_OK);
  EXPECT_EQ(
      gpumem_reduce_segments_async(ctx, GPUMEM_I64, GPUMEM_MIN, x, 6, offsets, 3, out + 8, status + 2, capture.stream),
      GPUMEM_OK);
  const Axis places{GPUMEM_I64, GPUMEM_ARG_MAX_ABS, GPUMEM_AXIS_ROWS, x, 2, 3, 3, 1, 0};
  EXPECT_EQ(gpumem_test::run_async(ctx, places, out + 16, status + 3, capture.stream), GPUMEM_OK);
  EXPECT_EQ(gpumem_argreduce_async(ctx, GPUMEM_I64, GPUMEM_MAX, x, 6, 1, out + 12, reinterpret_cast<int64_t*>(out + 13),
                                   capture.stream),
            GPUMEM_OK);
  ASSERT_NO_FATAL_FAILURE(capture.end());
  const std::vector<std::vector<int64_t>> inputs = {
      {1, 2, 3, -4, 5, 6}, {INT64_MAX, 1, 2, 3, 4, 5}, {INT64_MIN, 1, 2, 3, 4, -5}, {9, 8, 7, 6, 5, 4}};
  const std::vector<std::vector<int64_t>> ends = {{0, 2, 4, 6}, {0, 0, 1, 6}, {0, 7, 1, 2}, {3, 4, 5, 6}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::memset(out, 0x5A, 32 * 8);
    put(x, inputs[i].data(), 48);
    put(offsets, ends[i].data(), 32);
    capture.launch();
    capture.wait();
    const Outcome sum = gpumem_test::reference(Reduction{GPUMEM_I64, GPUMEM_SUM, inputs[i].data(), 6});
    EXPECT_EQ(status[0], sum.status) << i;
    EXPECT_EQ(out[0], sum.status == GPUMEM_OK ? sum.words[0] : 0x5A5A5A5A5A5A5A5A) << i;
    const LinesOutcome columns =
        gpumem_test::reference(Axis{GPUMEM_I64, GPUMEM_MAX_ABS, GPUMEM_AXIS_COLS, inputs[i].data(), 2, 3, 3, 1, 0});
    EXPECT_EQ(status[1], columns.status) << i;
    EXPECT_EQ(gpumem_test::difference(columns, out + 4, GPUMEM_MAX_ABS), "") << i;
    const LinesOutcome rows =
        gpumem_test::reference(Axis{GPUMEM_I64, GPUMEM_ARG_MAX_ABS, GPUMEM_AXIS_ROWS, inputs[i].data(), 2, 3, 3, 1, 0});
    EXPECT_EQ(status[3], rows.status) << i;
    EXPECT_EQ(gpumem_test::difference(rows, out + 16, GPUMEM_ARG_MAX_ABS), "") << i;
    const LinesOutcome segments =
        gpumem_test::reference(Segmented{GPUMEM_I64, GPUMEM_MIN, inputs[i].data(), 6, ends[i].data(), 3});
    EXPECT_EQ(status[2], segments.status) << i;
    EXPECT_EQ(gpumem_test::difference(segments, out + 8, GPUMEM_MIN), "") << i;
    const Outcome arg = gpumem_test::reference(Reduction{GPUMEM_I64, GPUMEM_ARG_MAX, inputs[i].data(), 6});
    EXPECT_EQ(out[12], arg.words[0]) << i;
    EXPECT_EQ(out[13], arg.words[1]) << i;
  }
}

// The copy of x and the unrounded results belong to the graph.
TEST_F(ReduceCapture, ReplaysOfAxesHaveTheBitsOfTheCall) {
  const int64_t extents[] = {20, 30, 50};
  const int64_t strides[] = {1600, 51, 1};
  constexpr int64_t kElements = 20 * 1600;
  constexpr size_t kMost = 1500;  // results
  auto* x = device<float>(kElements * sizeof(float));
  uint64_t* out = pinned_words(kMost + 1);
  auto* status = reinterpret_cast<gpumem_status*>(out + kMost);
  Captured capture(ctx);
  for (const gpumem_dtype type : {GPUMEM_F64, GPUMEM_F32}) {
    for (const int32_t axes : {0b101, 0b100, 0b001, 0b111}) {
      capture.begin();
      ASSERT_EQ(gpumem_reduce_axes_async(ctx, GPUMEM_F32, GPUMEM_SUM, 3, extents, x, strides, axes, out, type, status,
                                         capture.stream),
                GPUMEM_OK)
          << last_error();
      ASSERT_NO_FATAL_FAILURE(capture.end());
      for (uint64_t replay = 0; replay < 3; ++replay) {
        Random random(replay);
        const auto elements =
            gpumem_test::random_elements(GPUMEM_F32, gpumem_test::Numbers::medium, kElements, 1, random);
        put(x, elements.data(), elements.size());
        std::memset(out, 0x5A, (kMost + 1) * 8);
        std::vector<uint64_t> expected(kMost, out[0]);
        capture.launch();
        capture.wait();
        EXPECT_EQ(*status, GPUMEM_OK);
        ASSERT_EQ(gpumem_reduce_axes(ctx, GPUMEM_F32, GPUMEM_SUM, 3, extents, x, strides, axes, expected.data(), type),
                  GPUMEM_OK)
            << last_error();
        EXPECT_EQ(std::vector<uint64_t>(out, out + kMost), expected) << "axes " << axes << ", replay " << replay;
      }
      capture.drop();
    }
  }
}

}  // namespace
}  // namespace gpumem::gpu_tests
