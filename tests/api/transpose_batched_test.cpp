// The batched and the enqueued transposes: outcomes. Shapes, alignments and kinds of memory are the conformance tests' matter.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

// Both forms of the batched call, the second complete too.
struct Batched {
  int64_t element_bytes, rows, cols, src_ld, src_batch_stride, dst_ld, dst_batch_stride, batches;

  gpumem_status plain(gpumem_ctx* ctx, const void* src, void* dst) const {
    return gpumem_transpose_batched(ctx, element_bytes, rows, cols, src, src_ld, src_batch_stride, dst, dst_ld,
                                    dst_batch_stride, batches);
  }
  gpumem_status async(gpumem_ctx* ctx, const void* src, void* dst) const {
    const gpumem_status status = gpumem_transpose_batched_async(
        ctx, element_bytes, rows, cols, src, src_ld, src_batch_stride, dst, dst_ld, dst_batch_stride, batches, nullptr);
    return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
  }
};

constexpr gpumem_status (Batched::*kForms[])(gpumem_ctx*, const void*, void*) const = {&Batched::plain,
                                                                                       &Batched::async};

class TransposeBatched : public OnEachContext {};

TEST_P(TransposeBatched, KnownMatrices) {
  // Two of 2 x 3, one element between them, to 3 x 2 with leading dimension 3 and one element between them.
  const std::vector<int32_t> src = {1, 2, 3, 4, 5, 6, -1, 7, 8, 9, 10, 11, 12};
  for (const auto form : kForms) {
    std::vector<int32_t> dst(18, -9);
    ASSERT_TRUE(ok((Batched{4, 2, 3, 3, 7, 3, 9, 2}.*form)(ctx, src.data(), dst.data())));
    EXPECT_EQ(dst, (std::vector<int32_t>{1, 4, -9, 2, 5, -9, 3, 6, -9, 7, 10, -9, 8, 11, -9, 9, 12, -9}));
  }
}

TEST_P(TransposeBatched, OneSourceForAll) {
  const std::vector<int16_t> src = {1, 2, 3, 4};
  for (const auto form : kForms) {
    std::vector<int16_t> dst(12);
    ASSERT_TRUE(ok((Batched{2, 2, 2, 2, 0, 2, 4, 3}.*form)(ctx, src.data(), dst.data())));
    EXPECT_EQ(dst, (std::vector<int16_t>{1, 3, 2, 4, 1, 3, 2, 4, 1, 3, 2, 4}));
  }
}

TEST_P(TransposeBatched, OfNothingIsANoOp) {
  for (const auto form : kForms) {
    EXPECT_TRUE(ok((Batched{4, 2, 2, 2, 4, 2, 4, 0}.*form)(ctx, nullptr, nullptr)));
    EXPECT_TRUE(ok((Batched{4, 0, 2, 2, 0, 0, 0, 5}.*form)(ctx, nullptr, nullptr)));
    EXPECT_TRUE(ok((Batched{4, 2, 0, 0, 0, 2, 0, 5}.*form)(ctx, nullptr, nullptr)));
  }
}

TEST_P(TransposeBatched, StridesOfASingleMatrixAreNotUsed) {
  const std::vector<int32_t> src = {1, 2, 3, 4};
  for (const auto form : kForms) {
    std::vector<int32_t> dst(4);
    ASSERT_TRUE(ok((Batched{4, 2, 2, 2, INT64_MAX, 2, 0, 1}.*form)(ctx, src.data(), dst.data())));
    EXPECT_EQ(dst, (std::vector<int32_t>{1, 3, 2, 4}));
  }
}

TEST_P(TransposeBatched, RefusesBadArguments) {
  Bytes src(1024, 1), dst(1024, 2);
  const auto expect = [&](const Batched& b, std::initializer_list<std::string> words) {
    for (const auto form : kForms) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, (b.*form)(ctx, src.data(), dst.data()), words));
    }
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, explain(ctx, last_problem())));
  };
  expect({3, 4, 4, 4, 16, 4, 16, 2}, {"element_bytes", "3"});
  expect({4, -4, 4, 4, 16, 4, 16, 2}, {"rows", "-4"});
  expect({4, 4, -4, 4, 16, 4, 16, 2}, {"cols", "-4"});
  expect({4, 4, 4, 3, 16, 4, 16, 2}, {"src_ld", "3", "4"});
  expect({4, 4, 4, 4, 16, 3, 16, 2}, {"dst_ld", "3", "4"});
  expect({4, 4, 4, 4, -1, 4, 16, 2}, {"src_batch_stride", "-1"});
  expect({4, 4, 4, 4, 16, 4, -1, 2}, {"dst_batch_stride", "-1"});
  expect({4, 4, 4, 4, 16, 4, 15, 2}, {"dst_batch_stride", "15", "16"});
  expect({4, 4, 4, 4, 16, 5, 18, 2}, {"dst_batch_stride", "18", "19"});
  expect({4, 4, 4, 4, 16, 4, 16, -2}, {"batches", "-2"});
  expect({4, 4, 4, 4, INT64_MAX / 2, 4, 16, 4}, {"src"});
  expect({4, 4, 4, 4, 16, 4, INT64_MAX / 2, 4}, {"dst"});
  expect({16, 4, 4, 4, 16, 4, 16, INT64_MAX}, {"src"});
  EXPECT_EQ(dst, Bytes(1024, 2));
  for (const auto form : kForms) {
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, (Batched{4, 2, 2, 2, 4, 2, 4, 2}.*form)(ctx, nullptr, dst.data()), {"src"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, (Batched{4, 2, 2, 2, 4, 2, 4, 2}.*form)(ctx, src.data(), nullptr), {"dst"}));
  }
}

TEST_P(TransposeBatched, RangesEndWithTheLastMatrix) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory s(ctx, kind, 400);
    const Memory d(ctx, kind, 400);
    const Bytes ones(400, 1);
    upload(ctx, s.get(), ones.data(), 400);
    for (const auto form : kForms) {
      // 10 matrices of 2 x 5 elements of 4 bytes fill 400 bytes.
      EXPECT_TRUE(ok((Batched{4, 2, 5, 5, 10, 2, 10, 10}.*form)(ctx, s.get(), d.get())));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, (Batched{4, 2, 5, 5, 10, 2, 10, 11}.*form)(ctx, s.get(), d.get()),
                          {"src", "440", "400"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, (Batched{4, 2, 5, 5, 11, 2, 10, 10}.*form)(ctx, s.get(), d.get()),
                          {"src", "436"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, (Batched{4, 2, 5, 5, 10, 2, 11, 10}.*form)(ctx, s.get(), d.get()),
                          {"dst", "436"}));
    }
  }
}

TEST_P(TransposeBatched, OverlapIsAMistakeUnlessTheTwoAreBlocksOfColumns) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 4096);
    char* const p = buffer.data();
    for (const auto form : kForms) {
      // The second matrix of src is the first of dst.
      EXPECT_TRUE(
          refused(GPUMEM_INVALID_ARGUMENT, (Batched{4, 4, 4, 4, 16, 4, 16, 2}.*form)(ctx, p, p + 64), {"src", "dst"}));
      // Columns 0-3 and 4-7 of a matrix of 8 columns, batch by batch of 4 rows; then 17 elements on, where columns meet.
      EXPECT_TRUE(ok((Batched{4, 4, 4, 8, 32, 8, 32, 3}.*form)(ctx, p, p + 16)));
      EXPECT_TRUE(
          refused(GPUMEM_INVALID_ARGUMENT, (Batched{4, 4, 4, 8, 33, 8, 32, 3}.*form)(ctx, p, p + 16), {"src", "dst"}));
    }
  }
}

TEST_P(TransposeBatched, ExplainTellsOfTheBatches) {
  const Memory src(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, 8192);
  std::string text;
  for (const auto form : kForms) {
    ASSERT_TRUE(ok((Batched{4, 8, 16, 16, 128, 8, 130, 8}.*form)(ctx, src.get(), dst.get())));
    ASSERT_TRUE(ok(explain(ctx, last_problem(), GPUMEM_FORMAT_TEXT, text)));
    EXPECT_NE(text.find("rows=8 cols=16 batches=8 dst_batch_stride=130 src=device"), std::string::npos) << text;
  }
}

TEST_P(TransposeBatched, RunsInTheOrderOfItsStream) {
  constexpr int64_t kRows = 300, kCols = 500;
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory a(ctx, kind, kRows * kCols * 4);
    const Memory b(ctx, kind, kRows * kCols * 4);
    std::vector<int32_t> matrix(kRows * kCols);
    std::iota(matrix.begin(), matrix.end(), 0);
    std::vector<int32_t> back(matrix.size());
    gpumem_stream* stream = nullptr;
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, a.get(), matrix.data(), kRows * kCols * 4, stream)));
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(ok(gpumem_transpose_async(ctx, 4, kRows, kCols, a.get(), kCols, b.get(), kRows, stream)));
      ASSERT_TRUE(ok(gpumem_transpose_async(ctx, 4, kCols, kRows, b.get(), kRows, a.get(), kCols, stream)));
    }
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, back.data(), a.get(), kRows * kCols * 4, stream)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    EXPECT_EQ(back, matrix) << kind_name(kind);
    ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
  }
}

INSTANTIATE_TEST_SUITE_P(On, TransposeBatched, testing::ValuesIn(contexts_here()), OnEachContext::name);

// The call comes back while the work waits, and reads the data only when the stream comes to it.
TEST(TransposeAsyncHost, OnlyEnqueues) {
  constexpr int64_t kSide = 1500;
  Gate gate;
  std::vector<int32_t> src(kSide * kSide, 1);
  std::vector<int32_t> dst(kSide * kSide, -7);
  const Context ctx(gate.options(On::host));
  {
    const OpenAtEnd open(gate);
    gate.close();
    ASSERT_TRUE(ok(gpumem_transpose_async(ctx, 4, kSide, kSide, src.data(), kSide, dst.data(), kSide, nullptr)));
    ASSERT_TRUE(gate.reached());
    EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(ctx, nullptr)));
    EXPECT_EQ(dst[0], -7);
    src[1] = 5;
    gate.open();
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    EXPECT_EQ(dst[kSide], 5);
    EXPECT_EQ(dst[0], 1);
  }
}

}  // namespace
}  // namespace gpumem_test
