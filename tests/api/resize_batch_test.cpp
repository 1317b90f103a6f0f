// gpumem_resize_2d_batch: known images and the outcomes.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "support/contexts.hpp"
#include "support/image_batch.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

using BatchCall = gpumem_status (*)(gpumem_ctx*, const ResizeBatch&);

gpumem_status enqueued(gpumem_ctx* ctx, const ResizeBatch& b) {
  const gpumem_status status = run_async(ctx, b, nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
constexpr BatchCall kCalls[] = {run, enqueued};

class ResizeBatchApi : public OnEachContext {
 protected:
  // Four images of 4 x 4 bytes in the first 64 bytes of 128, to 4 x 4 bytes each in the last 64.
  static ResizeBatch sound(void* block) {
    ResizeBatch b;
    auto* const bytes = static_cast<char*>(block);
    for (int64_t k = 0; k < 4; ++k) {
      b.src.push_back(bytes + 16 * k);
      b.rows.push_back(4);
      b.cols.push_back(4);
      b.pitches.push_back(4);
    }
    b.dst = bytes + 64;
    b.dst_rows = b.dst_cols = b.dst_pitch = 4;
    b.dst_stride = 16;
    return b;
  }
};

TEST_P(ResizeBatchApi, KnownImages) {
  // 1 x 2 pixels of 2 channels, and one pixel, to 1 x 4 pixels each, with a gap of 2 bytes.
  const unsigned char first[4] = {0, 100, 200, 20};
  const unsigned char second[2] = {7, 8};
  unsigned char dst[20];
  ResizeBatch b{.channels = 2, .src = {first, second}, .rows = {1, 1}, .cols = {2, 1}};
  b.dst = dst;
  b.dst_rows = 1;
  b.dst_cols = 4;
  b.dst_pitch = 8;
  b.dst_stride = 10;
  for (const BatchCall call : kCalls) {
    std::memset(dst, 9, sizeof dst);
    ASSERT_TRUE(ok(call(ctx, b)));
    const unsigned char expected[20] = {0, 100, 50, 80, 150, 40, 200, 20, 9, 9, 7, 8, 7, 8, 7, 8, 7, 8, 9, 9};
    EXPECT_EQ(std::memcmp(dst, expected, sizeof dst), 0);
  }
}

// Three planes of an image of 2 x 2, as the header's text says.
TEST_P(ResizeBatchApi, PlanesAreImagesOfOneChannel) {
  const unsigned char src[12] = {1, 1, 1, 1, 20, 20, 20, 20, 255, 255, 255, 255};
  unsigned char dst[27];
  ResizeBatch b{.src = {src, src + 4, src + 8}, .rows = {2, 2, 2}, .cols = {2, 2, 2}};
  b.dst = dst;
  b.dst_rows = b.dst_cols = b.dst_pitch = 3;
  b.dst_stride = 9;
  ASSERT_TRUE(ok(run(ctx, b)));
  for (size_t i = 0; i < sizeof dst; ++i) EXPECT_EQ(dst[i], src[i / 9 * 4]) << i;
}

TEST_P(ResizeBatchApi, OfNothingIsANoOp) {
  Bytes bytes(128, 3);
  for (const BatchCall call : kCalls) {
    ResizeBatch b = sound(bytes.data());
    b.dst_rows = 0;
    b.dst = nullptr;
    EXPECT_TRUE(ok(call(ctx, b)));
    EXPECT_TRUE(ok(call(ctx, ResizeBatch{.dst_rows = 4, .dst_cols = 4, .dst_pitch = 4})));
  }
  EXPECT_TRUE(ok(gpumem_resize_2d_batch(ctx, GPUMEM_FILTER_NEAREST, GPUMEM_U8, 1, 0, nullptr, nullptr, nullptr, nullptr,
                                        nullptr, 4, 4, 4, 0)));
  EXPECT_EQ(bytes, Bytes(128, 3));
}

TEST_P(ResizeBatchApi, RefusesBadArgumentsAndNamesTheImage) {
  Bytes bytes(128, 3);
  const ResizeBatch good = sound(bytes.data());
  const auto refuses = [&](gpumem_status status, std::initializer_list<std::string> words, auto change) {
    for (const BatchCall call : kCalls) {
      ResizeBatch b = good;
      change(b);
      EXPECT_TRUE(refused(status, call(ctx, b), words));
    }
  };
  const gpumem_status kInvalid = GPUMEM_INVALID_ARGUMENT;
  refuses(kInvalid, {"filter", "2"}, [](ResizeBatch& b) { b.filter = 2; });
  refuses(GPUMEM_UNSUPPORTED, {"dtype", "f64"}, [](ResizeBatch& b) { b.dtype = GPUMEM_F64; });
  refuses(kInvalid, {"dtype", "12"}, [](ResizeBatch& b) {
    b.dtype = 12;
    b.pitches.clear();
  });
  refuses(kInvalid, {"channels", "5"}, [](ResizeBatch& b) { b.channels = 5; });
  refuses(kInvalid, {"src_rows[3] is -1"}, [](ResizeBatch& b) { b.rows[3] = -1; });
  refuses(kInvalid, {"src_cols[2] is -2"}, [](ResizeBatch& b) { b.cols[2] = -2; });
  refuses(kInvalid, {"src_rows[0] is 0"}, [](ResizeBatch& b) { b.rows[0] = 0; });
  refuses(kInvalid, {"src_cols[1] is 0"}, [](ResizeBatch& b) { b.cols[1] = 0; });
  refuses(kInvalid, {"src_pitch_bytes[1] is 3", "4"}, [](ResizeBatch& b) { b.pitches[1] = 3; });
  refuses(kInvalid, {"src_cols[3]"}, [](ResizeBatch& b) {
    b.channels = 4;
    b.dtype = GPUMEM_F32;
    b.pitches.clear();
    b.cols[3] = INT64_MAX / 8;
  });
  refuses(kInvalid, {"bytes of src[2]"}, [](ResizeBatch& b) { b.pitches[2] = INT64_MAX; });
  refuses(kInvalid, {"dst_rows", "-3"}, [](ResizeBatch& b) { b.dst_rows = -3; });
  refuses(kInvalid, {"dst_pitch_bytes", "3", "4"}, [](ResizeBatch& b) { b.dst_pitch = 3; });
  refuses(kInvalid, {"dst_image_stride_bytes is 15", "16"}, [](ResizeBatch& b) { b.dst_stride = 15; });
  refuses(kInvalid, {"dst_image_stride_bytes is -16"}, [](ResizeBatch& b) { b.dst_stride = -16; });
  refuses(kInvalid, {"bytes of dst"}, [](ResizeBatch& b) { b.dst_stride = INT64_MAX / 2; });
  refuses(kInvalid, {"src[1] is NULL"}, [](ResizeBatch& b) { b.src[1] = nullptr; });
  refuses(kInvalid, {"dst is NULL"}, [](ResizeBatch& b) { b.dst = nullptr; });
  refuses(kInvalid, {"src[2]", "dst"}, [](ResizeBatch& b) { b.src[2] = static_cast<char*>(b.dst) + 63; });
  EXPECT_TRUE(refused(kInvalid, run(nullptr, good), {"ctx", "NULL"}));
  EXPECT_EQ(bytes, Bytes(128, 3));
}

TEST_P(ResizeBatchApi, RefusesBadArrays) {
  Bytes bytes(128, 3);
  const ResizeBatch b = sound(bytes.data());
  const auto call = [&](int64_t count, const void* const* src, const int64_t* rows, const int64_t* cols) {
    return gpumem_resize_2d_batch(ctx, b.filter, b.dtype, b.channels, count, src, rows, cols, nullptr, b.dst, 4, 4, 4,
                                  16);
  };
  const gpumem_status kInvalid = GPUMEM_INVALID_ARGUMENT;
  EXPECT_TRUE(refused(kInvalid, call(-1, b.src.data(), b.rows.data(), b.cols.data()), {"count is -1"}));
  EXPECT_TRUE(refused(kInvalid, call(4, nullptr, b.rows.data(), b.cols.data()), {"src is NULL", "4"}));
  EXPECT_TRUE(refused(kInvalid, call(4, b.src.data(), nullptr, b.cols.data()), {"src_rows is NULL"}));
  EXPECT_TRUE(refused(kInvalid, call(4, b.src.data(), b.rows.data(), nullptr), {"src_cols is NULL"}));
  EXPECT_TRUE(refused(kInvalid, call(INT64_MAX, b.src.data(), b.rows.data(), b.cols.data()), {"count"}));
  EXPECT_EQ(bytes, Bytes(128, 3));
}

TEST_P(ResizeBatchApi, ImagesMayRepeatAndOverlap) {
  Bytes bytes(128, 3);
  for (size_t i = 0; i < 64; ++i) bytes[i] = static_cast<unsigned char>(i);
  ResizeBatch b = sound(bytes.data());
  b.src[1] = b.src[0];
  b.src[2] = bytes.data() + 1;
  ASSERT_TRUE(ok(run(ctx, b)));
  EXPECT_EQ(std::memcmp(&bytes[64], &bytes[0], 16), 0);
  EXPECT_EQ(std::memcmp(&bytes[80], &bytes[0], 16), 0);
  EXPECT_EQ(std::memcmp(&bytes[96], &bytes[1], 16), 0);
}

TEST_P(ResizeBatchApi, RangesEndWithTheirAllocation) {
  const Memory src(ctx, GPUMEM_MEMORY_PINNED, 100);
  const Memory dst(ctx, GPUMEM_MEMORY_PINNED, 100);
  std::memset(src.get(), 2, 100);
  ResizeBatch b{.src = {src.get(), src.bytes() + 50}, .rows = {5, 5}, .cols = {10, 10}};
  b.dst = dst.get();
  b.dst_rows = 5;
  b.dst_cols = b.dst_pitch = 10;
  b.dst_stride = 50;
  for (const BatchCall call : kCalls) {
    EXPECT_TRUE(ok(call(ctx, b)));
    ResizeBatch bad = b;
    bad.rows[1] = 6;
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(ctx, bad), {"src[1]", "60"}));
    bad = b;
    bad.dst_stride = 51;
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(ctx, bad), {"dst", "101", "100"}));
  }
}

// Images on both sides. The blocking form moves them, the other one refuses and names the image.
TEST_P(ResizeBatchApi, TheEnqueuedFormMovesNothing) {
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 128);
  const Memory other(ctx, GPUMEM_MEMORY_DEVICE, 64);
  Bytes heap(128, 5);
  upload(ctx, device.get(), heap.data(), 128);
  for (const bool to_device : {true, false}) {
    ResizeBatch b = sound(heap.data());
    b.src[0] = b.src[2] = device.get();
    b.dst = to_device ? other.get() : static_cast<void*>(heap.data() + 64);
    EXPECT_TRUE(ok(run(ctx, b)));
    if (on_cuda()) {
      EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, run_async(ctx, b, nullptr),
                          {to_device ? "src[1]" : "src[0]", "dst", "pageable", "device"}));
    } else {
      EXPECT_TRUE(ok(enqueued(ctx, b)));
    }
  }
  EXPECT_EQ(download(ctx, other.get(), 64), Bytes(64, 5));
  EXPECT_EQ(heap, Bytes(128, 5));
}

// The arrays are the caller's again once the call returns, even if the work has not begun.
TEST_P(ResizeBatchApi, TheArraysAreReadBeforeTheReturn) {
  Gate gate;
  const Context gated(gate.options(GetParam()));
  const Memory big(gated, GPUMEM_MEMORY_PINNED, 16 << 20);
  const Memory block(gated, GPUMEM_MEMORY_PINNED, 128);
  std::memset(block.get(), 1, 128);
  const OpenAtEnd open(gate);
  gate.close();
  const unsigned char pattern = 7;
  ASSERT_TRUE(ok(gpumem_fill_async(gated, big.get(), &pattern, 1, 16 << 20, nullptr)));
  ASSERT_TRUE(gate.reached());
  {
    auto b = std::make_unique<ResizeBatch>(sound(block.get()));
    ASSERT_TRUE(ok(run_async(gated, *b, nullptr)));
    std::fill(b->src.begin(), b->src.end(), nullptr);
    std::fill(b->rows.begin(), b->rows.end(), -1);
    std::fill(b->cols.begin(), b->cols.end(), -1);
    std::fill(b->pitches.begin(), b->pitches.end(), -1);
  }
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(gated, nullptr)));
  std::memset(block.get(), 200, 64);  // not promised, but seen by what has not run yet
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(gated, nullptr)));
  EXPECT_EQ(std::memcmp(block.bytes(), block.bytes() + 64, 64), 0);
}

TEST_P(ResizeBatchApi, IsRecordedAndExplained) {
  Bytes bytes(128, 3);
  ASSERT_TRUE(ok(run(ctx, sound(bytes.data()))));
  EXPECT_NE(last_problem().find(" dst_cols=4 batches=4 src=pageable "), std::string::npos) << last_problem();
  Explained explained;
  ASSERT_TRUE(ok(explain(ctx, last_problem(), explained)));
  EXPECT_EQ(explained.variant, "host_parallel");
}

TEST_P(ResizeBatchApi, AForcedVariantThatDoesNotFitIsRefused) {
  const Memory block(ctx, GPUMEM_MEMORY_DEVICE, 128);
  const Bytes threes(128, 3);
  upload(ctx, block.get(), threes.data(), 128);
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, "texture")));
  for (const BatchCall call : kCalls) {
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(ctx, sound(block.get())), {"texture"}));
  }
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, nullptr)));
  EXPECT_EQ(download(ctx, block.get(), 128), threes);
}

INSTANTIATE_TEST_SUITE_P(On, ResizeBatchApi, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
