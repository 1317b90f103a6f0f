// Gathers, scatters and selections in a graph: index and mask are read when the graph runs, and a bad index in one run spoils no
// other.
#include <algorithm>
#include <numeric>

#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using RowsCapture = ReduceCapture;

constexpr int64_t kRows = 5000;
constexpr int64_t kRowBytes = 48;

TEST_F(RowsCapture, AGraphReadsItsIndexAnewEachTime) {
  Captured captured(ctx);
  std::vector<int64_t> numbers(kRows);
  std::iota(numbers.rbegin(), numbers.rend(), int64_t{0});
  std::vector<char> rows(kRows * kRowBytes);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>(i * 31 + i / 48);
  char* const x = device(rows.size());
  char* const there = device(rows.size());
  char* const back = device(rows.size());
  auto* const index = device<int64_t>(kRows * 8);
  auto* const status = reinterpret_cast<gpumem_status*>(pinned_words(1));
  put(x, rows.data(), rows.size());
  put(index, numbers.data(), kRows * 8);
  captured.begin();
  ASSERT_EQ(gpumem_gather_async(ctx, kRowBytes, x, kRows, kRowBytes, GPUMEM_I64, index, kRows, there, kRowBytes, status,
                                captured.stream),
            GPUMEM_OK)
      << last_error();
  ASSERT_EQ(gpumem_scatter_async(ctx, kRowBytes, there, kRowBytes, GPUMEM_I64, index, kRows, back, kRows, kRowBytes,
                                 status + 1, captured.stream),
            GPUMEM_OK)
      << last_error();
  captured.end();
  const std::vector<char> zeros(rows.size(), 0);
  const auto contents = [&](const char* p) {
    std::vector<char> now(rows.size());
    put(now.data(), p, now.size());
    return now;
  };
  for (const bool bad : {false, true, false}) {
    const int64_t last = bad ? kRows : 0;
    put(index + kRows - 1, &last, 8);
    put(there, zeros.data(), zeros.size());
    put(back, zeros.data(), zeros.size());
    captured.launch();
    captured.wait();
    EXPECT_EQ(status[0], bad ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK);
    EXPECT_EQ(status[1], bad ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK);
    EXPECT_EQ(contents(back), bad ? zeros : rows);
  }
}

TEST_F(RowsCapture, AGraphReadsItsMaskAnewEachTime) {
  Captured captured(ctx);
  std::vector<int32_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), 7);
  auto* const x = device<int32_t>(kRows * 4);
  auto* const dst = device<int32_t>(kRows * 4);
  auto* const places = device<int32_t>(kRows * 4);
  auto* const mask = device<uint8_t>(kRows);
  auto* const kept = reinterpret_cast<int64_t*>(pinned_words(2));
  put(x, rows.data(), kRows * 4);
  captured.begin();
  ASSERT_EQ(gpumem_select_async(ctx, 4, x, 4, mask, kRows, dst, kRows, 4, kept, captured.stream), GPUMEM_OK)
      << last_error();
  ASSERT_EQ(gpumem_select_places_async(ctx, mask, kRows, GPUMEM_I32, places, kRows, kept + 1, captured.stream),
            GPUMEM_OK)
      << last_error();
  captured.end();
  for (const int32_t step : {1, 2, 7}) {
    std::vector<uint8_t> bits(kRows);
    std::vector<int32_t> expected;
    for (int32_t i = 0; i < kRows; i += step) {
      bits[static_cast<size_t>(i)] = 1;
      expected.push_back(i);
    }
    put(mask, bits.data(), kRows);
    captured.launch();
    captured.wait();
    EXPECT_EQ(kept[0], static_cast<int64_t>(expected.size()));
    EXPECT_EQ(kept[1], kept[0]);
    std::vector<int32_t> found(expected.size());
    put(found.data(), places, found.size() * 4);
    EXPECT_EQ(found, expected);
    put(found.data(), dst, found.size() * 4);
    for (int32_t& number : expected) number += 7;
    EXPECT_EQ(found, expected);
  }
}

// Counts by tables, sums of floats by a sort. A bad index of one execution leaves no trace in the next.
TEST_F(RowsCapture, AGraphReducesByItsIndexAnewEachTime) {
  Captured captured(ctx);
  constexpr int64_t kBins = 10;
  auto* const x = device<float>(kRows * 4);
  auto* const index = device<int32_t>(kRows * 4);
  auto* const counts = reinterpret_cast<int64_t*>(pinned_words(kBins));
  auto* const sums = reinterpret_cast<double*>(pinned_words(kBins));
  auto* const status = reinterpret_cast<gpumem_status*>(pinned_words(2));
  const std::vector<float> halves(kRows, 0.5f);
  put(x, halves.data(), kRows * 4);
  captured.begin();
  ASSERT_EQ(gpumem_reduce_by_index_async(ctx, GPUMEM_I64, GPUMEM_SUM, nullptr, GPUMEM_I32, index, kRows, counts, kBins,
                                         status, captured.stream),
            GPUMEM_OK)
      << last_error();
  ASSERT_EQ(gpumem_reduce_by_index_async(ctx, GPUMEM_F32, GPUMEM_SUM, x, GPUMEM_I32, index, kRows, sums, kBins,
                                         status + 1, captured.stream),
            GPUMEM_OK)
      << last_error();
  captured.end();
  for (const int32_t step : {1, 0, 3, 4}) {  // 0: a bad index
    std::vector<int32_t> bins(kRows);
    std::vector<int64_t> expected(kBins);
    for (int32_t i = 0; i < kRows; ++i) {
      bins[static_cast<size_t>(i)] = i * step % kBins;
      ++expected[static_cast<size_t>(i * step % kBins)];
    }
    if (step == 0) bins[5] = kBins;
    std::fill_n(counts, kBins, -1);
    std::fill_n(sums, kBins, -1);
    put(index, bins.data(), kRows * 4);
    captured.launch();
    captured.wait();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(status[i], step == 0 ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK);
    for (size_t bin = 0; bin < kBins; ++bin) {
      EXPECT_EQ(counts[bin], step == 0 ? -1 : expected[bin]) << step << ", " << bin;
      EXPECT_EQ(sums[bin], step == 0 ? -1 : static_cast<double>(expected[bin]) / 2) << step << ", " << bin;
    }
  }
}

TEST_F(RowsCapture, WhatCanNotBeCapturedIsRefusedAndTheCaptureGoesOn) {
  Captured captured(ctx);
  char* const x = device(64);
  char* const y = device(64);
  auto* const index = device<int64_t>(64);
  std::vector<char> heap(64);
  alignas(8) int64_t numbers[1] = {0};
  put(index, numbers, 8);
  captured.begin();
  EXPECT_EQ(gpumem_gather_async(ctx, 8, heap.data(), 1, 8, GPUMEM_I64, numbers, 1, heap.data() + 8, 8, nullptr,
                                captured.stream),
            GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_gather_async(ctx, 8, x, 1, 8, GPUMEM_I64, index, 1, y, 8, nullptr, captured.stream), GPUMEM_OK)
      << last_error();
  captured.end();
  captured.launch();
  captured.wait();
}

}  // namespace
}  // namespace gpumem::gpu_tests
