// Each operation on a context and in a stream: that the arguments reach the library in their places.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "fixture.hpp"

namespace {

using namespace gpumem_test;
using gpumem::axis;
using gpumem::every;
using gpumem::matrix_view;
using gpumem::reduce_op;
using gpumem::status;

class CppOperations : public CppOnEachContext {};
INSTANTIATE_TEST_SUITE_P(Contexts, CppOperations, testing::ValuesIn(contexts_here()), OnEachContext::name);

// What lies anywhere, as a vector.
template <class X>
auto fetched(gpumem::context_ref ctx, const X& x) {
  std::vector<typename X::element_type> values(static_cast<std::size_t>(x.size()));
  ctx.copy(values, x);
  return values;
}

TEST_P(CppOperations, CopyAndFill) {
  const auto host = counting<int>(10);
  auto memory = ctx.alloc_device<int>(10);
  ctx.copy(memory, host);
  ctx.fill(memory.subview(3, 2), -1);
  EXPECT_EQ(fetched(ctx, memory), (std::vector<int>{1, 2, 3, -1, -1, 6, 7, 8, 9, 10}));
  EXPECT_TRUE(throws(status::invalid_argument, "copy: dst is 9", [&] { ctx.copy(memory.subview(0, 9), host); }));

  std::vector<std::complex<double>> numbers(3);
  ctx.fill(numbers, {1, 2});
  EXPECT_EQ(numbers[2], std::complex<double>(1, 2));

  auto stream = ctx.create_stream();
  auto pinned = ctx.alloc_pinned<int>(10);
  stream.fill(memory, 5);
  stream.copy(pinned, memory);
  stream.synchronize();
  EXPECT_EQ(pinned[9], 5);
}

TEST_P(CppOperations, CopyAndFillMatrices) {
  const auto host = counting<int>(12);
  std::vector<int> into(12, 0);
  ctx.copy(matrix_view(into, 2, 2, 6), matrix_view(host, 2, 2, 4));
  EXPECT_EQ(into, (std::vector<int>{1, 2, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0}));
  ctx.fill(matrix_view(into, 2, 3, 6), 9);
  EXPECT_EQ(into, (std::vector<int>{9, 9, 9, 0, 0, 0, 9, 9, 9, 0, 0, 0}));
  ctx.copy(matrix_view(into, 1, 2, 2).batched(3, 4), matrix_view(host, 1, 2, 2).batched(3, 2));
  EXPECT_EQ(into, (std::vector<int>{1, 2, 9, 0, 3, 4, 9, 9, 5, 6, 0, 0}));
  EXPECT_TRUE(throws(status::invalid_argument, "rows of dst is 2, of src is 3",
                     [&] { ctx.copy(matrix_view(into, 2, 2), matrix_view(host, 3, 2)); }));
  EXPECT_TRUE(throws(status::invalid_argument, "batches", [&] { ctx.fill(matrix_view(into, 1, 2).batched(3, 2), 1); }));
}

TEST_P(CppOperations, ReduceSequences) {
  const auto numbers = counting<std::int32_t>(1000, -300);
  EXPECT_EQ(ctx.reduce(reduce_op::sum, numbers), 199500);
  EXPECT_EQ(ctx.reduce(reduce_op::max, every(numbers, 7)), -300 + 994);
  EXPECT_EQ(ctx.min_max(numbers), (std::pair<std::int64_t, std::int64_t>(-300, 699)));
  const auto place = ctx.argreduce(reduce_op::min, numbers);
  EXPECT_EQ(place.value, -300);
  EXPECT_EQ(place.index, 0);
  EXPECT_EQ(ctx.argreduce(reduce_op::max, every(numbers, 2)).index, 499);
  EXPECT_EQ(ctx.argreduce(reduce_op::max_abs, every(numbers, 2)).index, 499);
  EXPECT_EQ(ctx.argreduce(reduce_op::max, every(numbers, 2)).value, 698);
  const std::array<std::uint8_t, 3> bytes{255, 255, 255};
  EXPECT_EQ(ctx.reduce(reduce_op::sum_cubes, bytes), 3U * 255 * 255 * 255);
  EXPECT_EQ(ctx.reduce(reduce_op::prod, bytes), 255U * 255 * 255);
  const std::array<float, 4> gaps{NAN, 3, NAN, -1};
  EXPECT_EQ(ctx.reduce(reduce_op::sum_valid, gaps), 2);
  EXPECT_EQ(ctx.reduce(reduce_op::count_valid, gaps), 2);
  EXPECT_EQ(ctx.reduce(reduce_op::max_valid, gaps), 3);
  EXPECT_EQ(ctx.argreduce(reduce_op::min_valid, gaps).index, 3);
  const std::vector<gpumem::f16> halves(3, gpumem::f16{0x3e00});  // 1.5
  EXPECT_EQ(ctx.reduce(reduce_op::sum, halves), 4.5);
  const std::vector<gpumem::bf16> brains(2, gpumem::bf16{0x3fc0});  // 1.5
  EXPECT_EQ(ctx.reduce(reduce_op::sum_squares, brains), 4.5);
  EXPECT_TRUE(throws(status::empty, "", [&] { (void)ctx.reduce(reduce_op::min, gpumem::host_view<int>()); }));
  EXPECT_TRUE(throws(status::invalid_argument, "min_max", [&] { (void)ctx.reduce(reduce_op::min_max, numbers); }));
}

TEST_P(CppOperations, ReductionsOfViews) {
  std::vector<float> x(20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const gpumem::matrix_view left(x, 4, 2, 5);
  const auto inside = gpumem::grid_view(x, {4, 5}).part({1, 1}, {2, 3});
  EXPECT_EQ(ctx.reduce(reduce_op::sum, left), 0 + 1 + 5 + 6 + 10 + 11 + 15 + 16);
  EXPECT_EQ(ctx.reduce(reduce_op::sum, inside), 6 + 7 + 8 + 11 + 12 + 13);
  EXPECT_EQ(ctx.min_max(inside).second, 13);
  EXPECT_EQ(ctx.argreduce(reduce_op::max, inside).index, 5);
  EXPECT_EQ(ctx.dot(inside, inside), 36 + 49 + 64 + 121 + 144 + 169);
  EXPECT_EQ(ctx.dot_order_free(inside, inside), 36 + 49 + 64 + 121 + 144 + 169);
  EXPECT_EQ(ctx.nrm2(gpumem::grid_view(x, {2, 1}, {1, 1}).part({0, 0}, {2, 1})), 1);
  EXPECT_TRUE(throws(status::invalid_argument, "dot: x and y", [&] { (void)ctx.dot(inside, left); }));
}

TEST_P(CppOperations, DotAndNorm) {
  const std::vector<double> x{3, 1, 4, 1}, y{1, 2, 3, 4};
  const std::vector<float> z{3, 4};
  EXPECT_EQ(ctx.dot(x, y), 21);
  EXPECT_EQ(ctx.dot(every(x, 2), every(y, 3)), 3 * 1 + 4 * 4);
  EXPECT_EQ(ctx.dot_order_free(every(x, 2), every(y, 3)), 3 * 1 + 4 * 4);
  EXPECT_EQ(ctx.dot(z, z), 25);
  const std::vector<float> a{1, 2, 3, 4};
  EXPECT_EQ(ctx.dot(every(a, 2), every(a, 3)), 1 * 1 + 3 * 4);
  EXPECT_EQ(ctx.dot(every(a, 3), every(z, 1)), 1 * 3 + 4 * 4);
  EXPECT_EQ(ctx.nrm2(z), 5);
  EXPECT_EQ(ctx.nrm2(every(x, 2)), 5);
  EXPECT_TRUE(throws(status::invalid_argument, "dot: x is 4, y is 2", [&] { (void)ctx.dot(x, every(y, 2)); }));
}

TEST_P(CppOperations, ReduceInAStream) {
  auto stream = ctx.create_stream();
  auto x = ctx.alloc_device<float>(4);
  const std::vector<float> values{3, 4, -12, 0};
  ctx.copy(x, values);
  auto results = ctx.alloc_pinned<double>(6);
  auto index = ctx.alloc_pinned<std::int64_t>(1);
  auto word = ctx.alloc_pinned<gpumem_status>(1);
  word[0] = -1;
  stream.reduce(reduce_op::min_max, x, results.subview(0, 2), word);
  stream.nrm2(x, results.subview(2, 1));
  stream.dot(x, every(x, 1), gpumem::device_view<double>(results.data() + 3, 1));
  stream.dot_order_free(x, x, results.subview(3, 1));
  stream.dot(x, x, results.subview(3, 1));
  stream.argreduce(reduce_op::min, x, results.subview(4, 1), index);
  stream.reduce(reduce_op::sum, every(x, 2), results.subview(5, 1));
  stream.synchronize();
  EXPECT_EQ(std::vector<double>(results.begin(), results.end()), (std::vector<double>{-12, 4, 13, 169, -12, -9}));
  EXPECT_EQ(index[0], 2);
  EXPECT_EQ(word[0], GPUMEM_OK);
  EXPECT_TRUE(
      throws(status::invalid_argument, "result", [&] { stream.reduce(reduce_op::min_max, x, results.subview(0, 1)); }));
  EXPECT_TRUE(throws(status::invalid_argument, "dot: result", [&] { stream.dot(x, x, results.subview(0, 0)); }));
  EXPECT_TRUE(throws(status::invalid_argument, "nrm2: result", [&] { stream.nrm2(x, results.subview(0, 0)); }));
  ctx.reduce(reduce_op::max, x, results.subview(1, 1));
  EXPECT_EQ(results[1], 4);
}

TEST_P(CppOperations, WhatOnlyTheRunFindsGoesToTheStatusWord) {
  auto stream = ctx.create_stream();
  auto x = ctx.alloc_device<std::int64_t>(2);
  ctx.fill(x, INT64_MAX);
  auto result = ctx.alloc_pinned<std::int64_t>(1);
  auto word = ctx.alloc_pinned<gpumem_status>(1);
  word[0] = GPUMEM_OK;
  stream.reduce(reduce_op::sum, x, result, word);
  stream.synchronize();
  EXPECT_EQ(word[0], GPUMEM_OVERFLOW);
}

TEST_P(CppOperations, ReduceLines) {
  const auto m = counting<std::int32_t>(12);  // 3 x 4
  std::vector<std::int64_t> rows(3), cols(4), both(8);
  ctx.reduce_axis(reduce_op::sum, axis::rows, matrix_view(m, 3, 4), rows);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{10, 26, 42}));
  ctx.reduce_axis(reduce_op::max, axis::cols, matrix_view(m, 3, 4), cols);
  EXPECT_EQ(cols, (std::vector<std::int64_t>{9, 10, 11, 12}));
  ctx.reduce_axis(reduce_op::min_max, axis::cols, matrix_view(m, 2, 2).batched(2, 4), both);
  EXPECT_EQ(both, (std::vector<std::int64_t>{1, 3, 2, 4, 5, 7, 6, 8}));
  EXPECT_TRUE(throws(status::invalid_argument, "reduce_axis: result has 3 elements; expected 4 or more",
                     [&] { ctx.reduce_axis(reduce_op::sum, axis::cols, matrix_view(m, 3, 4), rows); }));
  std::vector<std::int64_t> places(4);
  ctx.argreduce_axis(reduce_op::max, axis::cols, matrix_view(m, 3, 4), cols, places);
  EXPECT_EQ(cols, (std::vector<std::int64_t>{9, 10, 11, 12}));
  EXPECT_EQ(places, (std::vector<std::int64_t>{2, 2, 2, 2}));
  EXPECT_TRUE(throws(status::invalid_argument, "argreduce_axis: value or index has 3 elements; expected 4 or more",
                     [&] { ctx.argreduce_axis(reduce_op::max, axis::cols, matrix_view(m, 3, 4), rows, places); }));

  ctx.reduce_axes(reduce_op::sum, m, {3, 2, 2}, {0, 2}, places);
  EXPECT_EQ(places, (std::vector<std::int64_t>{33, 45, 2, 2}));
  ctx.reduce_axes(reduce_op::sum, m, {2, 3}, {1}, places, {6, 2});
  EXPECT_EQ(places, (std::vector<std::int64_t>{9, 27, 2, 2}));
  std::vector<float> halves{0.5F, 1.5F, 2.5F, 3.5F}, rounded(2);
  ctx.reduce_axes(reduce_op::sum, halves, {1, 2, 2}, {0, 1}, rounded);
  EXPECT_EQ(rounded, (std::vector<float>{3, 5}));
  EXPECT_TRUE(throws(status::invalid_argument, "reduce_axes: result has 4 elements; expected 12 or more", [&] {
    ctx.reduce_axes(reduce_op::sum, m, {3, 4}, {}, places);
  }));
  EXPECT_TRUE(throws(status::invalid_argument, "reduce_axes: an axis is 2", [&] {
    ctx.reduce_axes(reduce_op::sum, m, {3, 4}, {2}, places);
  }));
  EXPECT_TRUE(throws(status::invalid_argument, "reduce_axes: x reaches past its 12 elements", [&] {
    ctx.reduce_axes(reduce_op::sum, m, {3, 5}, {0, 1}, places);
  }));

  const std::vector<std::int64_t> offsets{0, 2, 2, 12};
  std::vector<std::int64_t> sums(3);
  ctx.reduce_segments(reduce_op::sum, m, offsets, sums);
  EXPECT_EQ(sums, (std::vector<std::int64_t>{3, 0, 75}));
  EXPECT_TRUE(throws(status::invalid_argument, "result has 3 elements; expected 6 or more",
                     [&] { ctx.reduce_segments(reduce_op::min_max, m, offsets, sums); }));
  EXPECT_TRUE(throws(status::empty, "", [&] { ctx.reduce_segments(reduce_op::min, m, offsets, sums); }));
  EXPECT_EQ(sums, (std::vector<std::int64_t>{1, 0, 3}));  // the others are right

  auto stream = ctx.create_stream();
  auto x = ctx.alloc_device<std::int32_t>(12);
  auto ends = ctx.alloc_device<std::int64_t>(4);
  auto results = ctx.alloc_pinned<std::int64_t>(6);
  ctx.copy(x, m);
  ctx.copy(ends, offsets);
  stream.reduce_axis(reduce_op::sum, axis::rows, matrix_view(x, 3, 4), results.subview(0, 3));
  stream.reduce_segments(reduce_op::sum, x, ends, results.subview(3, 3));
  auto word = ctx.alloc_pinned<gpumem_status>(1);
  auto halved = ctx.alloc_pinned<std::int64_t>(2);
  stream.reduce_axes(reduce_op::sum, x, {3, 2, 2}, {0, 2}, halved, {}, word);
  auto found = ctx.alloc_pinned<std::int64_t>(6);
  stream.argreduce_axis(reduce_op::min, axis::rows, matrix_view(x, 3, 4), found.subview(0, 3), found.subview(3, 3));
  stream.synchronize();
  EXPECT_EQ(std::vector<std::int64_t>(results.begin(), results.end()),
            (std::vector<std::int64_t>{10, 26, 42, 3, 0, 75}));
  EXPECT_EQ(std::vector<std::int64_t>(found.begin(), found.end()), (std::vector<std::int64_t>{1, 5, 9, 0, 0, 0}));
  EXPECT_EQ(std::vector<std::int64_t>(halved.begin(), halved.end()), (std::vector<std::int64_t>{33, 45}));
  EXPECT_EQ(word[0], GPUMEM_OK);
}

TEST_P(CppOperations, ReduceByIndex) {
  const std::vector<float> x{1, 2, 4, 8};
  const std::vector<std::int32_t> index{2, 0, 2, 0};
  std::vector<double> sums(3);
  ctx.reduce_by_index(reduce_op::sum, x, index, sums);
  EXPECT_EQ(sums, (std::vector<double>{10, 0, 5}));
  std::vector<std::int64_t> counts(4);
  ctx.count_by_index(index, counts);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{2, 0, 2, 0}));
  EXPECT_TRUE(throws(status::empty, "", [&] { ctx.reduce_by_index(reduce_op::max, x, index, sums); }));
  EXPECT_EQ(sums, (std::vector<double>{8, 0, 4}));  // the others are right
  EXPECT_TRUE(throws(status::out_of_range, "index[0] is 2", [&] {
    ctx.reduce_by_index(reduce_op::sum, x, index, gpumem::device_view<double>(sums.data(), 2));
  }));
  const std::vector<std::int32_t> three{0, 1, 2};
  EXPECT_TRUE(throws(status::invalid_argument, "reduce_by_index: x",
                     [&] { ctx.reduce_by_index(reduce_op::sum, x, three, sums); }));
  const std::vector<std::int32_t> two{1, 0};
  std::vector<double> pairs(8);
  ctx.reduce_rows_by_index(reduce_op::min_max, matrix_view(x, 2, 2), two, pairs);
  EXPECT_EQ(pairs, (std::vector<double>{4, 4, 8, 8, 1, 1, 2, 2}));
  EXPECT_TRUE(throws(status::invalid_argument, "reduce_rows_by_index: rows of x",
                     [&] { ctx.reduce_rows_by_index(reduce_op::sum, matrix_view(x, 2, 2), three, pairs); }));

  auto stream = ctx.create_stream();
  auto elements = ctx.alloc_device<float>(4);
  auto bins = ctx.alloc_device<std::int32_t>(4);
  auto results = ctx.alloc_pinned<double>(3);
  auto numbers = ctx.alloc_pinned<std::int64_t>(3);
  ctx.copy(elements, x);
  ctx.copy(bins, index);
  stream.reduce_by_index(reduce_op::sum, elements, bins, results);
  stream.count_by_index(bins, numbers);
  auto of_rows = ctx.alloc_pinned<double>(3);
  stream.reduce_rows_by_index(reduce_op::sum, matrix_view(elements, 4, 1), bins, of_rows);
  stream.synchronize();
  EXPECT_EQ(std::vector<double>(of_rows.begin(), of_rows.end()), (std::vector<double>{10, 0, 5}));
  EXPECT_EQ(std::vector<double>(results.begin(), results.end()), (std::vector<double>{10, 0, 5}));
  EXPECT_EQ(std::vector<std::int64_t>(numbers.begin(), numbers.end()), (std::vector<std::int64_t>{2, 0, 2}));
}

TEST_P(CppOperations, Scan) {
  const std::vector<std::int32_t> x{3, 1, 4};
  std::vector<std::int64_t> sums(3);
  ctx.scan(reduce_op::sum, x, sums);
  EXPECT_EQ(sums, (std::vector<std::int64_t>{3, 4, 8}));
  ctx.scan(reduce_op::prod, x, sums, true);
  EXPECT_EQ(sums, (std::vector<std::int64_t>{1, 3, 3}));
  std::vector<int> two(2);
  EXPECT_TRUE(throws(status::invalid_argument, "scan: x", [&] { ctx.scan(reduce_op::sum, x, two); }));
  auto stream = ctx.create_stream();
  auto there = ctx.alloc_device<std::int32_t>(3);
  auto most = ctx.alloc_device<std::int32_t>(3);
  ctx.copy(there, x);
  stream.scan(reduce_op::max, there, most);
  stream.synchronize();
  std::vector<std::int32_t> back(3);
  ctx.copy(back, most);
  EXPECT_EQ(back, (std::vector<std::int32_t>{3, 3, 4}));
}

TEST_P(CppOperations, ScanAxis) {
  const std::vector<std::int32_t> x{1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> sums(6);
  ctx.scan_axis(reduce_op::sum, x, {2, 3}, 0, sums);
  EXPECT_EQ(sums, (std::vector<std::int64_t>{1, 2, 3, 5, 7, 9}));
  ctx.scan_axis(reduce_op::sum, x, {2, 3}, 1, sums, true, {1, 2}, {3, 1});
  EXPECT_EQ(sums, (std::vector<std::int64_t>{0, 1, 4, 0, 2, 6}));
  EXPECT_TRUE(throws(status::invalid_argument, "scan_axis: x", [&] {
    ctx.scan_axis(reduce_op::sum, x, {3, 3}, 0, sums);
  }));
  EXPECT_TRUE(throws(status::invalid_argument, "scan_axis: size of strides", [&] {
    ctx.scan_axis(reduce_op::sum, x, {2, 3}, 0, sums, false, {}, {1});
  }));
  EXPECT_TRUE(throws(status::invalid_argument, "axis is 2", [&] {
    ctx.scan_axis(reduce_op::sum, x, {2, 3}, 2, sums);
  }));
  auto stream = ctx.create_stream();
  auto there = ctx.alloc_device<std::int32_t>(6);
  auto done = ctx.alloc_pinned<std::int32_t>(1);
  ctx.copy(there, x);
  stream.scan_axis(reduce_op::max, there, {2, 3}, 1, there, false, {}, {}, done);
  stream.synchronize();
  std::vector<std::int32_t> back(6);
  ctx.copy(back, there);
  EXPECT_EQ(back, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(done[0], 0);
}

TEST_P(CppOperations, ScanSegments) {
  const std::vector<std::int32_t> x{3, 1, 4, 1, 5};
  const std::vector<std::int64_t> ends{0, 2, 2, 4};
  std::vector<std::int64_t> sums(5, 9);
  ctx.scan_segments(reduce_op::sum, x, ends, sums);
  EXPECT_EQ(sums, (std::vector<std::int64_t>{3, 4, 4, 5, 9}));
  const std::vector<std::int64_t> none;
  EXPECT_TRUE(throws(status::invalid_argument, "scan_segments: offsets",
                     [&] { ctx.scan_segments(reduce_op::sum, x, none, sums); }));
  std::vector<std::int64_t> few(4);
  EXPECT_TRUE(
      throws(status::invalid_argument, "scan_segments: x", [&] { ctx.scan_segments(reduce_op::sum, x, ends, few); }));
  auto stream = ctx.create_stream();
  auto there = ctx.alloc_device<std::int32_t>(5);
  auto parts = ctx.alloc_device<std::int64_t>(4);
  ctx.copy(there, x);
  ctx.copy(parts, ends);
  stream.scan_segments(reduce_op::prod, there, parts, there, true);
  stream.synchronize();
  std::vector<std::int32_t> back(5);
  ctx.copy(back, there);
  EXPECT_EQ(back, (std::vector<std::int32_t>{1, 3, 1, 4, 5}));
}

TEST_P(CppOperations, Transpose) {
  const auto m = counting<double>(6);  // 2 x 3
  std::vector<double> t(6);
  ctx.transpose(matrix_view(m, 2, 3), matrix_view(t, 3, 2));
  EXPECT_EQ(t, (std::vector<double>{1, 4, 2, 5, 3, 6}));
  std::vector<double> wide(9, 0);
  ctx.transpose(matrix_view(m, 2, 2, 3), matrix_view(wide, 2, 2, 5));
  EXPECT_EQ(wide, (std::vector<double>{1, 4, 0, 0, 0, 2, 5, 0, 0}));
  std::vector<double> many(12);
  const auto twice = counting<double>(12);
  ctx.transpose(matrix_view(twice, 2, 3).batched(2, 6), matrix_view(many, 3, 2).batched(2, 6));
  EXPECT_EQ(many, (std::vector<double>{1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12}));
  ctx.transpose(matrix_view(many, 3, 2), matrix_view(many, 2, 3));  // in place
  EXPECT_EQ(many[1], 2);
  EXPECT_TRUE(throws(status::invalid_argument, "rows of dst is 2, cols of src is 3",
                     [&] { ctx.transpose(matrix_view(m, 2, 3), matrix_view(t, 2, 3)); }));
  auto x = ctx.alloc_device<double>(6), y = ctx.alloc_device<double>(6);
  ctx.copy(x, m);
  auto stream = ctx.create_stream();
  stream.transpose(matrix_view(x, 2, 3), matrix_view(y, 3, 2));
  stream.synchronize();
  EXPECT_EQ(fetched(ctx, y), t);
}

TEST_P(CppOperations, Permute) {
  const auto a = counting<int>(6);  // 1 x 2 x 3
  std::vector<int> b(6);
  ctx.permute(a, {1, 2, 3}, {2, 0, 1}, b);
  EXPECT_EQ(b, (std::vector<int>{1, 4, 2, 5, 3, 6}));
  std::vector<int> apart(11, 0);
  ctx.permute(a, {2, 3}, {1, 0}, apart, {}, {4, 2});  // 3 x 2 with strides 4 and 2: the last at 2 * 4 + 2
  EXPECT_EQ(apart, (std::vector<int>{1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6}));
  const std::vector<std::int64_t> extents{2, 2};
  ctx.permute(a, extents, {0, 1}, b, {0, 1}, {});  // the first row again
  EXPECT_EQ(b[2], 1);
  EXPECT_TRUE(throws(status::invalid_argument, "dst", [&] { ctx.permute(a, {2, 3}, {1, 0}, apart, {}, {5, 2}); }));
  EXPECT_TRUE(throws(status::invalid_argument, "src", [&] { ctx.permute(a, {2, 4}, {1, 0}, apart); }));
  EXPECT_TRUE(throws(status::invalid_argument, "axis", [&] { ctx.permute(a, {2, 3}, {1, 2}, b); }));
  EXPECT_TRUE(throws(status::invalid_argument, "order", [&] { ctx.permute(a, {2, 3}, {0}, b); }));
  EXPECT_TRUE(throws(status::invalid_argument, "strides", [&] { ctx.permute(a, {2, 3}, {0, 1}, b, {3}); }));
}

TEST_P(CppOperations, SizesThatLeaveTheirTypeAreRefused) {
  std::vector<int> x{1, 2}, y{0, 0};
  std::vector<std::int64_t> sums(1);
  const gpumem::device_view<int> boundless(x.data(), INT64_MIN);
  EXPECT_EQ(ctx.attempt().permute(boundless, {1, 2}, {1, 0}, y, {2, 1}).code(), status::invalid_argument);
  const gpumem::device_view<const std::int64_t> offsets(sums.data(), INT64_MIN);
  EXPECT_EQ(ctx.attempt().reduce_segments(reduce_op::sum, x, offsets, sums).error().sentence,
            "reduce_segments: offsets has -9223372036854775808 elements; expected 1 or more");
  // The pitch of one row is never taken, so it may be anything.
  ctx.copy(matrix_view(y, 1, 2, INT64_MAX / 2), matrix_view(x, 1, 2));
  EXPECT_EQ(y, x);
}

TEST_P(CppOperations, GatherAndScatter) {
  const auto m = counting<float>(6);  // 3 x 2
  const std::vector<std::int32_t> index{2, 0};
  std::vector<float> taken(4), put(6, 0);
  ctx.gather(matrix_view(m, 3, 2), index, matrix_view(taken, 2, 2));
  EXPECT_EQ(taken, (std::vector<float>{5, 6, 1, 2}));
  ctx.scatter(matrix_view(taken, 2, 2), index, matrix_view(put, 3, 2));
  EXPECT_EQ(put, (std::vector<float>{1, 2, 0, 0, 5, 6}));
  const std::vector<std::uint64_t> wrong{0, 3};
  EXPECT_TRUE(
      throws(status::out_of_range, "3", [&] { ctx.gather(matrix_view(m, 3, 2), wrong, matrix_view(taken, 2, 2)); }));
  EXPECT_TRUE(throws(status::invalid_argument, "rows of dst is 1",
                     [&] { ctx.gather(matrix_view(m, 3, 2), index, matrix_view(taken, 1, 2)); }));
  EXPECT_TRUE(throws(status::invalid_argument, "rows of src is 1",
                     [&] { ctx.scatter(matrix_view(m, 1, 2), index, matrix_view(put, 3, 2)); }));

  auto stream = ctx.create_stream();
  auto src = ctx.alloc_device<float>(6), dst = ctx.alloc_device<float>(4);
  auto rows = ctx.alloc_device<std::uint64_t>(2);
  auto word = ctx.alloc_pinned<gpumem_status>(2);
  ctx.copy(src, m);
  ctx.copy(rows, wrong);
  ctx.fill(dst, 7.0F);
  stream.gather(matrix_view(src, 3, 2), rows, matrix_view(dst, 2, 2), word);
  stream.scatter(matrix_view(dst, 2, 2), rows, matrix_view(src, 3, 2), word.subview(1, 1));
  stream.synchronize();
  EXPECT_EQ(word[0], GPUMEM_OUT_OF_RANGE);
  EXPECT_EQ(word[1], GPUMEM_OUT_OF_RANGE);
  EXPECT_EQ(fetched(ctx, dst), std::vector<float>(4, 7));
}

TEST_P(CppOperations, Select) {
  const auto m = counting<float>(6);  // 3 x 2
  const std::vector<std::uint8_t> mask{1, 0, 9};
  std::vector<float> kept(4);
  EXPECT_EQ(ctx.select(matrix_view(m, 3, 2), mask, matrix_view(kept, 2, 2)), 2);
  EXPECT_EQ(kept, (std::vector<float>{1, 2, 5, 6}));
  std::vector<std::uint32_t> places(3, 7);
  EXPECT_EQ(ctx.select_places(mask, places), 2);
  EXPECT_EQ(places, (std::vector<std::uint32_t>{0, 2, 7}));
  EXPECT_EQ(ctx.count(mask), 2);
  EXPECT_TRUE(throws(status::out_of_range, "dst_rows is 1",
                     [&] { ctx.select(matrix_view(m, 3, 2), mask, matrix_view(kept, 1, 2)); }));
  EXPECT_TRUE(throws(status::invalid_argument, "rows of src is 2",
                     [&] { ctx.select(matrix_view(m, 2, 2), mask, matrix_view(kept, 2, 2)); }));

  auto stream = ctx.create_stream();
  auto src = ctx.alloc_device<float>(6), dst = ctx.alloc_device<float>(6);
  auto flags = ctx.alloc_device<std::uint8_t>(3);
  auto at = ctx.alloc_device<std::int64_t>(3);
  auto numbers = ctx.alloc_device<std::int64_t>(2);
  ctx.copy(src, m);
  ctx.copy(flags, mask);
  stream.select(matrix_view(src, 3, 2), flags, matrix_view(dst, 3, 2), numbers);
  stream.select_places(flags, at, numbers.subview(1, 1));
  stream.synchronize();
  EXPECT_EQ(fetched(ctx, numbers), (std::vector<std::int64_t>{2, 2}));
  const auto rows = fetched(ctx, dst);
  EXPECT_EQ((std::vector<float>(rows.begin(), rows.begin() + 4)), kept);
}

TEST_P(CppOperations, Convert) {
  const std::vector<float> x{1.5, -3, 300};
  std::vector<std::int8_t> y(3);
  ctx.convert(x, y);
  EXPECT_EQ(y, (std::vector<std::int8_t>{2, -3, 127}));
  auto in = ctx.alloc_device<float>(3);
  auto out = ctx.alloc_device<std::uint64_t>(3);
  ctx.copy(in, x);
  auto stream = ctx.create_stream();
  stream.convert(in, out);
  stream.synchronize();
  EXPECT_EQ(fetched(ctx, out), (std::vector<std::uint64_t>{2, 0, 300}));
  EXPECT_TRUE(
      throws(status::invalid_argument, "convert: src is 3, dst is 1", [&] { ctx.convert(in, out.subview(0, 1)); }));
}

TEST_P(CppOperations, Sort) {
  std::vector<float> x{3, -1, 2, -1};
  std::vector<float> sorted(4);
  std::vector<std::int32_t> order(4);
  ctx.sort_with_order(x, sorted, order);
  EXPECT_EQ(sorted, (std::vector<float>{-1, -1, 2, 3}));
  EXPECT_EQ(order, (std::vector<std::int32_t>{1, 3, 2, 0}));
  ctx.argsort(x, order, true);
  EXPECT_EQ(order, (std::vector<std::int32_t>{0, 2, 1, 3}));
  ctx.sort(x, x, true);
  EXPECT_EQ(x, (std::vector<float>{3, 2, -1, -1}));
  const std::vector<std::uint8_t> bytes{200, 7, 100};
  auto keys = ctx.alloc_device<std::uint8_t>(3);
  auto places = ctx.alloc_device<std::uint64_t>(3);
  ctx.copy(keys, bytes);
  auto stream = ctx.create_stream();
  stream.argsort(keys, places);
  stream.sort(keys, keys);
  stream.synchronize();
  EXPECT_EQ(fetched(ctx, places), (std::vector<std::uint64_t>{1, 2, 0}));
  EXPECT_EQ(fetched(ctx, keys), (std::vector<std::uint8_t>{7, 100, 200}));
  const std::vector<float> rows{3, 1, 2, 9, 8};
  const std::vector<std::int64_t> offsets{0, 3, 5};
  std::vector<float> by_rows(5);
  std::vector<std::uint32_t> numbers(5);
  ctx.sort_segments(rows, offsets, by_rows);
  EXPECT_EQ(by_rows, (std::vector<float>{1, 2, 3, 8, 9}));
  ctx.argsort_segments(rows, offsets, numbers, true);
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 2, 1, 3, 4}));
  auto ends = ctx.alloc_device<std::int64_t>(2);
  const std::vector<std::int64_t> one_segment{0, 3};
  ctx.copy(ends, one_segment);
  stream.sort_segments(keys, ends, keys, true);
  stream.argsort_segments(keys, ends, places);
  stream.synchronize();
  EXPECT_EQ(fetched(ctx, keys), (std::vector<std::uint8_t>{200, 100, 7}));
  EXPECT_EQ(fetched(ctx, places), (std::vector<std::uint64_t>{2, 1, 0}));
  const std::vector<std::int64_t> too_long{0, 6};
  EXPECT_TRUE(throws(status::out_of_range, "offsets[1] is 6", [&] { ctx.sort_segments(rows, too_long, by_rows); }));
  sorted.resize(3);
  EXPECT_TRUE(throws(status::invalid_argument, "sort: keys is 4, sorted is 3", [&] { ctx.sort(x, sorted); }));
}

TEST_P(CppOperations, Axpby) {
  const std::vector<float> x{1, 2, 3};
  std::vector<float> y{10, 20, 30};
  ctx.axpby(2, x, 1, y, y);
  EXPECT_EQ(y, (std::vector<float>{12, 24, 36}));
  ctx.axpby(0.5F, x, 0, nullptr, y);
  EXPECT_EQ(y, (std::vector<float>{0.5, 1, 1.5}));
  const std::vector<double> d{1, 2};
  auto z = ctx.alloc_device<double>(2), in = ctx.alloc_device<double>(2);
  ctx.copy(in, d);
  auto stream = ctx.create_stream();
  stream.axpby(3, in, -1, in, z);
  stream.synchronize();
  EXPECT_EQ(fetched(ctx, z), (std::vector<double>{2, 4}));
  EXPECT_TRUE(
      throws(status::invalid_argument, "axpby: x is 2, z is 1", [&] { ctx.axpby(1, d, 1, d, z.subview(0, 1)); }));
  EXPECT_TRUE(
      throws(status::invalid_argument, "axpby: y is 1, z is 2", [&] { ctx.axpby(1, in, 1, in.subview(0, 1), z); }));
}

TEST_P(CppOperations, SumsAndProductsOfViews) {
  using gpumem::grid_view;
  auto u = counting<double>(20);  // 4 x 5
  std::vector<double> v(20, -1);
  const grid_view from(u, {4, 5});
  const auto inner = grid_view(v, {4, 5}).part({1, 1}, {2, 3});
  ctx.lincomb({{0.5, from.part({1, 1}, {2, 3})}, {2, from.part({0, 1}, {2, 3})}, {0, inner}}, inner);
  const auto stencil = [&](std::size_t i) { return 0.5 * u[i] + 2 * u[i - 5]; };
  EXPECT_EQ(v, (std::vector<double>{-1,         -1,         -1, -1, -1,          -1,          stencil(6),
                                    stencil(7), stencil(8), -1, -1, stencil(11), stencil(12), stencil(13),
                                    -1,         -1,         -1, -1, -1,          -1}));
  const std::vector<float> x{1, 2, 3, 4};
  std::vector<float> z(4);
  ctx.multiply(grid_view(x, {2, 2}), grid_view(x, {2, 2}, {0, 2}), grid_view(z, {2, 2}));
  EXPECT_EQ(z, (std::vector<float>{1, 6, 3, 12}));
  ctx.lincomb({{3, matrix_view(x, 2, 1).batched(2, 2)}}, grid_view(matrix_view(z, 2, 1).batched(2, 2)));
  EXPECT_EQ(z, (std::vector<float>{3, 6, 9, 12}));

  auto d = ctx.alloc_device<float>(4), e = ctx.alloc_device<float>(4);
  ctx.copy(d, x);
  auto stream = ctx.create_stream();
  stream.lincomb({{1, grid_view(d, {4})}, {1, grid_view(d, {4})}}, grid_view(d, {4}));
  stream.multiply(grid_view(d, {4}), grid_view(d, {4}, {0}), grid_view(e, {4}));
  stream.synchronize();
  EXPECT_EQ(fetched(ctx, e), (std::vector<float>{4, 8, 12, 16}));

  const std::vector<std::int16_t> a{7, -7, 9, 1};
  std::vector<std::int16_t> b{2, 2, 3, 4};
  std::vector<std::uint8_t> mask(4);
  ctx.compare(gpumem::compare_op::less, grid_view(a, {4}), grid_view(b, {4}), grid_view(mask, {4}));
  EXPECT_EQ(mask, (std::vector<std::uint8_t>{0, 1, 0, 1}));
  ctx.map(gpumem::map_op::divide, grid_view(a, {4}), grid_view(b, {4}), grid_view(b, {4}));
  EXPECT_EQ(b, (std::vector<std::int16_t>{3, -3, 3, 0}));
  ctx.map(gpumem::map_op::absolute, grid_view(a, {4}), grid_view(b, {4}));
  std::vector<std::int16_t> c(4);
  ctx.where(grid_view(mask, {4}), grid_view(a, {4}), grid_view(b, {4}, {0}), grid_view(c, {4}));
  EXPECT_EQ(c, (std::vector<std::int16_t>{7, -7, 7, 1}));
  const double half = 0.5, two = 2;
  const std::vector<double> scale{half}, offset{two};
  ctx.convert_scaled(grid_view(a, {4}), grid_view(scale, {4}, {0}), grid_view(offset, {4}, {0}), grid_view(z, {4}));
  EXPECT_EQ(z, (std::vector<float>{4.5f, -2.5f, 5.5f, 1.5f}));

  EXPECT_TRUE(throws(status::invalid_argument, "a term", [&] { ctx.lincomb({{1, from}}, inner); }));
  std::vector<double> some{1, 2}, numbers{6, 4};
  ctx.lincomb({{2, grid_view(some, {2}), &numbers[0], &numbers[1]}, {1, grid_view(some, {2})}}, grid_view(some, {2}));
  EXPECT_EQ(some, (std::vector<double>{4, 8}));
  const auto of_some = grid_view(some, {2}), of_numbers = grid_view(numbers, {2});
  std::vector<double> sums(2);
  ctx.lincomb_dot({{-1, of_some}, {1, of_numbers}}, of_some, {of_some, of_numbers}, sums);
  EXPECT_EQ(some, (std::vector<double>{2, -4}));
  EXPECT_EQ(sums, (std::vector<double>{20, -4}));
  std::vector<double> too_few(1);
  EXPECT_TRUE(throws(status::invalid_argument, "lincomb_dot: results", [&] {
    ctx.lincomb_dot({{1, of_numbers}}, of_some, {of_some, of_numbers}, too_few);
  }));
  EXPECT_TRUE(throws(status::invalid_argument, "lincomb_dot: the extents of a w", [&] {
    ctx.lincomb_dot({{1, of_numbers}}, of_some, {of_some.part({0}, {1})}, sums);
  }));
  EXPECT_TRUE(throws(status::invalid_argument, "terms", [&] { ctx.lincomb({}, inner); }));
  EXPECT_TRUE(throws(status::invalid_argument, "multiply", [&] { ctx.multiply(from, inner, inner); }));
  EXPECT_TRUE(throws(status::out_of_range, "part", [&] { (void)from.part({3, 0}, {2, 5}); }));
  EXPECT_TRUE(throws(status::out_of_range, "20 elements", [&] { (void)grid_view(u, {4, 5}, {6, 1}); }));
  EXPECT_TRUE(throws(status::out_of_range, "20 elements", [&] { (void)grid_view(u, {INT64_MAX, 2}, {2, 1}); }));
  EXPECT_TRUE(throws(status::invalid_argument, "stride", [&] { (void)grid_view(u, {4, 5}, {5}); }));
  EXPECT_TRUE(throws(status::invalid_argument, "stride", [&] { (void)grid_view(u, {1, INT64_MAX, INT64_MAX}); }));
}

TEST_P(CppOperations, Resize) {
  const std::vector<std::uint8_t> image{0, 100, 200, 10, 110, 210};  // 2 pixels of 3 channels in a row
  std::vector<std::uint8_t> larger(12), nearest(12);
  ctx.resize(gpumem::filter::bilinear, matrix_view(image, 1, 6), matrix_view(larger, 1, 12), 3);
  EXPECT_EQ(larger, (std::vector<std::uint8_t>{0, 100, 200, 3, 103, 203, 8, 108, 208, 10, 110, 210}));
  ctx.resize(gpumem::filter::nearest, matrix_view(image, 1, 6), matrix_view(nearest, 2, 6), 3);
  EXPECT_EQ(std::vector<std::uint8_t>(nearest.begin() + 6, nearest.end()), image);
  EXPECT_TRUE(throws(status::invalid_argument, "channels is 4", [&] {
    ctx.resize(gpumem::filter::nearest, matrix_view(image, 1, 6), matrix_view(larger, 1, 12), 4);
  }));
}

TEST_P(CppOperations, CopyBoxes) {
  std::vector<std::int32_t> field(16);
  std::iota(field.begin(), field.end(), 0);
  std::vector<std::int32_t> packed(6, -1);
  const gpumem::grid_view<const std::int32_t> whole(field, {4, 4});
  const std::vector<gpumem::grid_view<const std::int32_t>> src{whole.part({1, 1}, {2, 2}), whole.part({3, 2}, {1, 2})};
  const gpumem::grid_view<std::int32_t> rows(packed, {3, 2});
  const std::vector<gpumem::grid_view<std::int32_t>> dst{rows.part({0, 0}, {2, 2}), rows.part({2, 0}, {1, 2})};
  ctx.copy_boxes(src, dst);
  EXPECT_EQ(packed, (std::vector<std::int32_t>{5, 6, 9, 10, 14, 15}));
  ctx.copy_boxes(std::vector<gpumem::grid_view<const std::int32_t>>{}, std::vector<gpumem::grid_view<std::int32_t>>{});
  EXPECT_TRUE(throws(status::invalid_argument, "box 1", [&] {
    ctx.copy_boxes(src, std::vector<gpumem::grid_view<std::int32_t>>{dst[0], dst[0]});
  }));
  EXPECT_TRUE(throws(status::invalid_argument, "src has more boxes",
                     [&] { ctx.copy_boxes(src, std::vector<gpumem::grid_view<std::int32_t>>{dst[0]}); }));
}

TEST_P(CppOperations, ResizeBatch) {
  const std::vector<std::uint8_t> first{0, 100, 200, 10, 110, 210};  // 2 pixels of 3 channels in a row
  const std::vector<std::uint8_t> second{1, 2, 3};
  const std::vector<matrix_view<const std::uint8_t>> images{matrix_view(first, 1, 6), matrix_view(second, 1, 3)};
  std::vector<std::uint8_t> batch(24);
  const auto results = matrix_view(batch, 1, 12).batched(2, 12);
  ctx.resize_batch(gpumem::filter::bilinear, images, results, 3);
  EXPECT_EQ(batch, (std::vector<std::uint8_t>{0, 100, 200, 3, 103, 203, 8, 108, 208, 10, 110, 210,
                                              1, 2,   3,   1, 2,   3,   1, 2,   3,   1,  2,   3}));
  EXPECT_TRUE(throws(status::invalid_argument, "channels is 4",
                     [&] { ctx.resize_batch(gpumem::filter::nearest, images, results, 4); }));
  EXPECT_TRUE(throws(status::invalid_argument, "3 batches",
                     [&] { ctx.resize_batch(gpumem::filter::nearest, images, results.batched(3, 3), 3); }));
}

}  // namespace
