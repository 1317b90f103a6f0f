// gpumem_resize_2d: known images and the outcomes. Shapes, layouts and kinds of memory are the conformance tests' matter.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "support/contexts.hpp"
#include "support/images.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

using ResizeCall = gpumem_status (*)(gpumem_ctx*, const Resize&);

gpumem_status enqueued(gpumem_ctx* ctx, const Resize& r) {
  const gpumem_status status = run_async(ctx, r, nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
constexpr ResizeCall kCalls[] = {run, enqueued};

class ResizeApi : public OnEachContext {
 protected:
  // 4 x 4 to 4 x 4 pixels of one byte, in the first and the last 64 bytes of 128.
  Resize sound(void* block) const {
    return {GPUMEM_FILTER_BILINEAR, GPUMEM_U8, 1, block, 4, 4, 4, static_cast<char*>(block) + 64, 4, 4, 4};
  }
};

TEST_P(ResizeApi, AKnownImage) {
  // 1 x 2 pixels of 2 channels, to 2 x 4: the centres lie at -0.25, 0.25, 0.75, 1.25.
  const unsigned char src[4] = {0, 100, 200, 20};
  unsigned char dst[24];
  for (const ResizeCall call : kCalls) {
    std::memset(dst, 9, sizeof dst);
    ASSERT_TRUE(ok(call(ctx, {GPUMEM_FILTER_BILINEAR, GPUMEM_U8, 2, src, 1, 2, 4, dst, 2, 4, 12})));
    const unsigned char rows[24] = {0, 100, 50, 80, 150, 40, 200, 20, 9, 9, 9, 9,
                                    0, 100, 50, 80, 150, 40, 200, 20, 9, 9, 9, 9};
    EXPECT_EQ(std::memcmp(dst, rows, 24), 0);
    std::memset(dst, 9, sizeof dst);
    ASSERT_TRUE(ok(call(ctx, {GPUMEM_FILTER_NEAREST, GPUMEM_U8, 2, src, 1, 2, 4, dst, 1, 3, 6})));
    const unsigned char nearest[8] = {0, 100, 200, 20, 200, 20, 9, 9};
    EXPECT_EQ(std::memcmp(dst, nearest, 8), 0);
  }
}

TEST_P(ResizeApi, HalvesAreRoundedUp) {
  const uint16_t src[2] = {1, 2};
  uint16_t dst = 0;
  ASSERT_TRUE(ok(run(ctx, {GPUMEM_FILTER_BILINEAR, GPUMEM_U16, 1, src, 1, 2, 4, &dst, 1, 1, 2})));
  EXPECT_EQ(dst, 2);
}

TEST_P(ResizeApi, NanIsCanonicalWhereItIsBlendedAndKeptWhereItIsMoved) {
  const uint32_t src[2] = {0xffc12345, 0x3f800000};
  uint32_t dst[2] = {};
  ASSERT_TRUE(ok(run(ctx, {GPUMEM_FILTER_BILINEAR, GPUMEM_F32, 1, src, 1, 2, 8, dst, 1, 2, 8})));
  EXPECT_EQ(dst[0], 0x7fc00000u);
  EXPECT_EQ(dst[1], src[1]) << "what has no weight has no effect";
  ASSERT_TRUE(ok(run(ctx, {GPUMEM_FILTER_NEAREST, GPUMEM_F32, 1, src, 1, 2, 8, dst, 1, 2, 8})));
  EXPECT_EQ(dst[0], src[0]);
}

TEST_P(ResizeApi, OfNothingIsANoOp) {
  Bytes bytes(128, 3);
  for (const ResizeCall call : kCalls) {
    for (const int64_t src_extent : {int64_t{0}, int64_t{4}}) {
      Resize r = sound(bytes.data());
      r.src_rows = src_extent;
      r.dst_rows = 0;
      EXPECT_TRUE(ok(call(ctx, r)));
      r.src = nullptr;
      r.dst = nullptr;
      EXPECT_TRUE(ok(call(ctx, r)));
      r.dst_rows = 4;
      r.dst_cols = 0;
      EXPECT_TRUE(ok(call(ctx, r)));
    }
  }
  EXPECT_EQ(bytes, Bytes(128, 3));
}

TEST_P(ResizeApi, RefusesBadArguments) {
  Bytes bytes(128, 3);
  const Resize good = sound(bytes.data());
  const auto refuses = [&](gpumem_status status, std::initializer_list<std::string> words, auto change,
                           bool of_a_line = true) {
    for (const ResizeCall call : kCalls) {
      Resize r = good;
      change(r);
      EXPECT_TRUE(refused(status, call(ctx, r), words));
      if (!of_a_line) continue;
      EXPECT_TRUE(refused(status, explain(ctx, last_problem()), words)) << last_problem();
    }
  };
  const gpumem_status kInvalid = GPUMEM_INVALID_ARGUMENT;
  refuses(kInvalid, {"filter", "2"}, [](Resize& r) { r.filter = 2; });
  refuses(kInvalid, {"filter", "-1"}, [](Resize& r) { r.filter = -1; });
  refuses(kInvalid, {"dtype", "12"}, [](Resize& r) { r.dtype = 12; });
  refuses(kInvalid, {"dtype", "-1"}, [](Resize& r) { r.dtype = -1; });
  refuses(GPUMEM_UNSUPPORTED, {"dtype", "i32"}, [](Resize& r) { r.dtype = GPUMEM_I32; });
  refuses(GPUMEM_UNSUPPORTED, {"dtype", "f64"}, [](Resize& r) { r.dtype = GPUMEM_F64; });
  refuses(kInvalid, {"channels", "0"}, [](Resize& r) { r.channels = 0; });
  refuses(kInvalid, {"channels", "5"}, [](Resize& r) { r.channels = 5; });
  refuses(kInvalid, {"src_rows", "-1"}, [](Resize& r) { r.src_rows = -1; });
  refuses(kInvalid, {"src_cols", "-2"}, [](Resize& r) { r.src_cols = -2; });
  refuses(kInvalid, {"dst_rows", "-3"}, [](Resize& r) { r.dst_rows = -3; });
  refuses(kInvalid, {"dst_cols", "-4"}, [](Resize& r) { r.dst_cols = -4; });
  refuses(kInvalid, {"src_pitch_bytes", "3", "4"}, [](Resize& r) { r.src_pitch = 3; });
  refuses(kInvalid, {"dst_pitch_bytes", "-1", "4"}, [](Resize& r) { r.dst_pitch = -1; });
  refuses(kInvalid, {"src_rows", "0"}, [](Resize& r) { r.src_rows = 0; });
  refuses(kInvalid, {"src_cols", "0"}, [](Resize& r) { r.src_cols = 0; });
  refuses(
      kInvalid, {"src", "NULL"}, [](Resize& r) { r.src = nullptr; }, false);
  refuses(
      kInvalid, {"dst", "NULL"}, [](Resize& r) { r.dst = nullptr; }, false);
  refuses(kInvalid, {"src", "dst"}, [](Resize& r) { r.dst = const_cast<void*>(r.src); });
  refuses(
      kInvalid, {"src", "dst"}, [](Resize& r) { r.src_pitch = 21; }, false);
  refuses(kInvalid, {"dst_cols"}, [](Resize& r) {
    r.dtype = GPUMEM_F32;
    r.channels = 4;
    r.src_pitch = 64;
    r.dst_cols = INT64_MAX / 8;
  });
  refuses(kInvalid, {"src"}, [](Resize& r) { r.src_pitch = INT64_MAX; });
  refuses(kInvalid, {"dst"}, [](Resize& r) { r.dst_pitch = INT64_MAX / 2; });
  EXPECT_TRUE(refused(kInvalid, run(nullptr, good), {"ctx", "NULL"}));
  EXPECT_EQ(bytes, Bytes(128, 3));
}

TEST_P(ResizeApi, NeighboursDoNotOverlapAndASingleRowMayHaveAnyPitch) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory block(ctx, kind, 128);
    const Bytes threes(128, 3);
    upload(ctx, block.get(), threes.data(), 128);
    Resize r = sound(block.get());
    r.dst = block.bytes() + 16;
    EXPECT_TRUE(ok(run(ctx, r))) << kind_name(kind);
    r.src_rows = r.dst_rows = 1;
    r.src_pitch = r.dst_pitch = INT64_MAX;
    EXPECT_TRUE(ok(run(ctx, r))) << kind_name(kind);
    EXPECT_EQ(download(ctx, block.get(), 128), threes);
  }
}

TEST_P(ResizeApi, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory src(ctx, kind, 100);
    const Memory dst(ctx, kind, 100);
    const Bytes twos(100, 2);
    upload(ctx, src.get(), twos.data(), 100);
    upload(ctx, dst.get(), twos.data(), 100);
    Resize r{GPUMEM_FILTER_NEAREST, GPUMEM_U8, 1, src.get(), 10, 10, 10, dst.get(), 10, 10, 10};
    for (const ResizeCall call : kCalls) {
      EXPECT_TRUE(ok(call(ctx, r)));
      r.src_rows = 11;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(ctx, r), {"src", "110", "100"}));
      r.src_rows = 10;
      r.dst_pitch = 11;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(ctx, r), {"dst", "109", "100"}));
      r.dst_pitch = 10;
      r.dst_rows = 4;
      r.dst_pitch = 30;
      EXPECT_TRUE(ok(call(ctx, r))) << "the last row ends with its pixels, not its pitch";
      r.dst_rows = r.dst_pitch = 10;
    }
    EXPECT_EQ(download(ctx, dst.get(), 100), twos);
  }
}

TEST_P(ResizeApi, UnreadableAndUnwritableMemoryIsRefused) {
  FencedPages pages(4096);
  Bytes heap(4096, 2);
  const auto call = [&](const void* src, void* dst) {
    return run(ctx, {GPUMEM_FILTER_BILINEAR, GPUMEM_U8, 1, src, 8, 8, 8, dst, 8, 8, 8});
  };
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, call(pages.end(), heap.data()), {"src"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, call(heap.data(), pages.end()), {"dst"}));
  pages.protect(PROT_READ);
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, call(heap.data(), pages.first()), {"dst"}));
  EXPECT_EQ(heap, Bytes(4096, 2));
}

TEST_P(ResizeApi, TheEnqueuedFormMovesNothing) {
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 64);
  Bytes heap(64, 5);
  upload(ctx, device.get(), heap.data(), 64);
  Resize r = sound(heap.data());
  r.dst = device.get();
  EXPECT_TRUE(ok(run(ctx, r)));
  if (on_cuda()) {
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, run_async(ctx, r, nullptr), {"src", "dst", "pageable", "device"}));
  } else {
    EXPECT_TRUE(ok(enqueued(ctx, r)));
  }
}

TEST_P(ResizeApi, StreamsOfOtherContextsAreRefused) {
  const Context other(GetParam());
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(other, &stream)));
  Bytes bytes(128, 3);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run_async(ctx, sound(bytes.data()), stream), {"stream"}));
  EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
}

// Behind work that stands at a gate: what is enqueued is not done, and takes its turn.
TEST_P(ResizeApi, TheEnqueuedFormKeepsTheOrderOfItsStream) {
  Gate gate;
  const Context gated(gate.options(GetParam()));
  const Memory big(gated, GPUMEM_MEMORY_PINNED, 16 << 20);
  Bytes bytes(128, 3);
  const Memory out(gated, GPUMEM_MEMORY_PINNED, 64);
  std::memset(out.get(), 1, 64);
  Resize r = sound(bytes.data());
  r.dst = out.get();
  const OpenAtEnd open(gate);
  gate.close();
  const unsigned char pattern = 7;
  ASSERT_TRUE(ok(gpumem_fill_async(gated, big.get(), &pattern, 1, 16 << 20, nullptr)));
  ASSERT_TRUE(gate.reached());
  ASSERT_TRUE(ok(run_async(gated, r, nullptr)));
  EXPECT_EQ(out.bytes()[0], 1);
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(gated, nullptr)));
  bytes[0] = 200;  // not promised, but seen by what has not run yet
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(gated, nullptr)));
  EXPECT_EQ(static_cast<unsigned char>(out.bytes()[0]), 200);
}

TEST_P(ResizeApi, IsExplained) {
  const Memory block(ctx, GPUMEM_MEMORY_DEVICE, 128);
  Resize r = sound(block.get());
  std::string text;
  ASSERT_TRUE(ok(explain(ctx, line_of(ctx, r), GPUMEM_FORMAT_TEXT, text)));
  EXPECT_NE(text.find("resize filter=bilinear dtype=u8 src_rows=4 src_cols=4 dst_rows=4 dst_cols=4 src=device"),
            std::string::npos)
      << text;
  Explained explained;
  ASSERT_TRUE(ok(explain(ctx, line_of(ctx, r), explained)));
  EXPECT_EQ(explained.variant, on_cuda() ? "global" : "host_parallel");
  r.filter = GPUMEM_FILTER_NEAREST;
  r.dst_rows = 0;
  ASSERT_TRUE(ok(explain(ctx, line_of(ctx, r), GPUMEM_FORMAT_TEXT, text)));
  EXPECT_NE(text.find("nothing to do"), std::string::npos) << text;
}

TEST_P(ResizeApi, AForcedVariantThatDoesNotFitIsRefused) {
  const Memory block(ctx, GPUMEM_MEMORY_DEVICE, 128);
  const Bytes threes(128, 3);
  upload(ctx, block.get(), threes.data(), 128);
  const Resize r = sound(block.get());
  const char* const other = on_cuda() ? "host_serial" : "global";
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, other)));
  for (const ResizeCall call : kCalls) EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(ctx, r), {other, "resize"}));
  // A pitch of 4 bytes is none of a texture.
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, "texture")));
  for (const ResizeCall call : kCalls) EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(ctx, r), {"texture"}));
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, nullptr)));
  EXPECT_EQ(download(ctx, block.get(), 128), threes);
}

// Many at once on two streams, so that textures of running kernels are alive while others are made.
TEST_P(ResizeApi, TexturesOutliveTheirCalls) {
  if (!on_cuda()) GTEST_SKIP() << "a host context has no textures";
  constexpr int64_t kPitch = 512;
  const Memory src(ctx, GPUMEM_MEMORY_DEVICE, 64 * kPitch);
  const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, 40 * 32 * 32);
  const Bytes sevens(64 * kPitch, 7);
  upload(ctx, src.get(), sevens.data(), sevens.size());
  if (reinterpret_cast<uintptr_t>(src.get()) % 512 != 0)
    GTEST_SKIP() << "the allocation is not at a texture's alignment";
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, "texture")));
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  for (int64_t i = 0; i < 40; ++i) {
    const Resize r{i % 3 == 0 ? GPUMEM_FILTER_NEAREST : GPUMEM_FILTER_BILINEAR,
                   GPUMEM_U8,
                   1,
                   src.get(),
                   64,
                   500,
                   kPitch,
                   dst.bytes() + i * 1024,
                   32,
                   32,
                   32};
    ASSERT_TRUE(ok(run_async(ctx, r, i % 2 == 0 ? stream : nullptr)));
  }
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
  EXPECT_EQ(download(ctx, dst.get(), 40 * 1024), Bytes(40 * 1024, 7));
}

INSTANTIATE_TEST_SUITE_P(On, ResizeApi, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
