// Transposes in place: outcomes. Shapes are the conformance tests' matter.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

class TransposeInPlace : public OnEachContext {};

TEST_P(TransposeInPlace, AKnownSquare) {
  std::vector<int32_t> x = {1, 2, -9, 3, 4};
  ASSERT_TRUE(ok(gpumem_transpose(ctx, 4, 2, 2, x.data(), 3, x.data(), 3)));
  EXPECT_EQ(x, (std::vector<int32_t>{1, 3, -9, 2, 4}));
}

TEST_P(TransposeInPlace, AKnownRectangleAndBack) {
  std::vector<int16_t> x = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(ok(gpumem_transpose(ctx, 2, 2, 4, x.data(), 4, x.data(), 2)));
  EXPECT_EQ(x, (std::vector<int16_t>{1, 5, 2, 6, 3, 7, 4, 8}));
  ASSERT_TRUE(ok(gpumem_transpose(ctx, 2, 4, 2, x.data(), 2, x.data(), 4)));
  EXPECT_EQ(x, (std::vector<int16_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_P(TransposeInPlace, ThePassesAndTheirUndoingByEachVariant) {
  const std::initializer_list<const char*> on_device = {"in_place_chunks", "in_place_shared", "in_place_scratch",
                                                        "in_place_c2r", "in_place_slots"};
  const std::initializer_list<const char*> on_host = {"host_in_place_buffer", "host_in_place_c2r"};
  for (const char* variant : on_cuda() ? on_device : on_host) {
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_TRANSPOSE, variant)));
    GuardedBuffer x(ctx, GPUMEM_MEMORY_DEVICE, size_t{12} * 18);
    Random random;
    random.fill(x.whole_image());
    x.write();
    ASSERT_TRUE(ok(gpumem_transpose(ctx, 1, 12, 18, x.data(), 18, x.data(), 12)));
    EXPECT_FALSE(x.intact()) << variant << " moves something";
    ASSERT_TRUE(ok(gpumem_transpose(ctx, 1, 18, 12, x.data(), 12, x.data(), 18)));
    EXPECT_TRUE(x.intact()) << variant;
  }
}

TEST_P(TransposeInPlace, EveryMatrixOfABatch) {
  std::vector<int32_t> x = {1, 2, 3, 4, -9, 5, 6, 7, 8};
  ASSERT_TRUE(ok(gpumem_transpose_batched(ctx, 4, 2, 2, x.data(), 2, 5, x.data(), 2, 5, 2)));
  EXPECT_EQ(x, (std::vector<int32_t>{1, 3, 2, 4, -9, 5, 7, 6, 8}));
}

TEST_P(TransposeInPlace, ASingleRowOrColumnStaysAsItIs) {
  std::vector<int64_t> x = {1, 2, 3};
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 8, 1, 3, x.data(), 3, x.data(), 1)));
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 8, 3, 1, x.data(), 1, x.data(), 3)));
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 8, 1, 1, x.data(), 9, x.data(), 7)));
  EXPECT_EQ(x, (std::vector<int64_t>{1, 2, 3}));
}

TEST_P(TransposeInPlace, WhatDoesNotFitIsUnsupported) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 4096);
    char* const p = buffer.data();
    EXPECT_TRUE(
        refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 8, 8, p, 8, p, 9), {"src_ld", "8", "dst_ld", "9"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 8, 4, p, 8, p, 8),
                        {"dst is src", "src_ld", "cols", "rows"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 8, 4, p, 5, p, 8),
                        {"src_ld is 5 and dst_ld is 8", "cols = 4 and rows = 8", "without padding"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 8, 4, p, 4, p, 9), {"dst_ld is 9", "rows = 8"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose_async(ctx, 4, 8, 4, p, 8, p, 8, nullptr), {"src_ld"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose_batched(ctx, 4, 8, 4, p, 4, 32, p, 8, 33, 3),
                        {"src_batch_stride", "32", "dst_batch_stride", "33"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 1, 4, p, 4, p, 2), {"dst is src"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose_batched(ctx, 4, 4, 4, p, 4, 16, p, 4, 17, 3),
                        {"src_batch_stride", "16", "dst_batch_stride", "17"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose_batched(ctx, 4, 4, 4, p, 4, 0, p, 4, 16, 3),
                        {"src_batch_stride", "0"}));
    EXPECT_TRUE(buffer.intact()) << kind_name(kind);
  }
}

TEST_P(TransposeInPlace, VariantsForOperandsApartDoNotFitAndTheOtherWayRound) {
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory y(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const std::string swap = on_cuda() ? "in_place_tiles_vec16" : "host_in_place_tiles";
  const std::string tiles = on_cuda() ? "tile_vec16" : "host_tiled";
  Explained in_place;
  ASSERT_TRUE(ok(explain(ctx, transpose_line(ctx, 4, 20, 20, x.get(), 20, x.get(), 20), in_place)));
  EXPECT_EQ(in_place.variant, on_cuda() ? "in_place_chunks" : swap);
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_TRANSPOSE, swap.c_str())));
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 20, 20, x.get(), 20, y.get(), 20),
                      {swap, "dst is not src"}));
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_TRANSPOSE, tiles.c_str())));
  EXPECT_TRUE(
      refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 20, 20, x.get(), 20, x.get(), 20), {tiles, "in place"}));
  for (const std::string& forced : {swap, tiles}) {
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_TRANSPOSE, forced.c_str())));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 20, 30, x.get(), 30, x.get(), 20), {forced}));
  }
  const std::string passes = on_cuda() ? "in_place_c2r" : "host_in_place_c2r";
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_TRANSPOSE, passes.c_str())));
  EXPECT_TRUE(
      refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 20, 20, x.get(), 20, x.get(), 20), {passes, "square"}));
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_transpose(ctx, 4, 20, 30, x.get(), 30, y.get(), 20),
                      {passes, "dst is not src"}));
  std::string text;
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_TRANSPOSE, nullptr)));
  ASSERT_TRUE(ok(explain(ctx, transpose_line(ctx, 4, 20, 30, x.get(), 30, x.get(), 20), in_place)));
  EXPECT_EQ(in_place.variant, on_cuda() ? "in_place_chunks" : "host_in_place_buffer");
  ASSERT_TRUE(ok(explain(ctx, transpose_line(ctx, 4, 20, 30, x.get(), 30, x.get(), 20), GPUMEM_FORMAT_TEXT, text)));
  EXPECT_NE(text.find("it needs a square matrix"), std::string::npos) << text;
  ASSERT_TRUE(ok(explain(ctx, transpose_line(ctx, 4, 20, 20, x.get(), 20, x.get(), 20), GPUMEM_FORMAT_TEXT, text)));
  EXPECT_NE(text.find("dst=src"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(On, TransposeInPlace, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
