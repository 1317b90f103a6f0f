// gpumem_convert(): known values and the outcomes. Bits, alignments and kinds of memory are the conformance tests' matter.
#include "support/convert.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

using Floats = std::vector<float>;

gpumem_status plain(gpumem_ctx* ctx, gpumem_dtype from, const void* src, gpumem_dtype to, void* dst, int64_t n) {
  return gpumem_convert(ctx, from, src, to, dst, n);
}
gpumem_status enqueued(gpumem_ctx* ctx, gpumem_dtype from, const void* src, gpumem_dtype to, void* dst, int64_t n) {
  const gpumem_status status = gpumem_convert_async(ctx, from, src, to, dst, n, nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
constexpr decltype(&plain) kForms[] = {plain, enqueued};

class ConvertCalls : public OnEachContext {};

TEST_P(ConvertCalls, KnownValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = -std::numeric_limits<float>::quiet_NaN();
  const Floats x = {0,    -0.0f,    1,         0.5f, 1.5f,  2.5f,  -2.5f,    300,
                    -300, infinity, -infinity, nan,  65519, 65520, 0x1p-24f, 0x1p-25f};
  const auto n = static_cast<int64_t>(x.size());
  for (const auto form : kForms) {
    std::vector<int8_t> bytes(x.size(), 99);
    ASSERT_TRUE(ok(form(ctx, GPUMEM_F32, x.data(), GPUMEM_I8, bytes.data(), n)));
    EXPECT_EQ(bytes, (std::vector<int8_t>{0, 0, 1, 0, 2, 2, -2, 127, -128, 127, -128, 0, 127, 127, 0, 0}));
    std::vector<uint16_t> halves(x.size(), 99);
    ASSERT_TRUE(ok(form(ctx, GPUMEM_F32, x.data(), GPUMEM_F16, halves.data(), n)));
    EXPECT_EQ(halves, (std::vector<uint16_t>{0, 0x8000, 0x3c00, 0x3800, 0x3e00, 0x4100, 0xc100, 0x5cb0, 0xdcb0, 0x7c00,
                                             0xfc00, 0x7e00, 0x7bff, 0x7c00, 1, 0}));
    Floats back(x.size(), 99);
    ASSERT_TRUE(ok(form(ctx, GPUMEM_F16, halves.data(), GPUMEM_F32, back.data(), 9)));
    EXPECT_EQ(Floats(back.begin(), back.begin() + 9), Floats(x.begin(), x.begin() + 9));
    EXPECT_TRUE(std::signbit(back[1]));
    const std::vector<int64_t> wide = {-1, 256, INT64_MIN, INT64_MAX, 2049, 65519, 65520};
    std::vector<uint8_t> saturated(7);
    ASSERT_TRUE(ok(form(ctx, GPUMEM_I64, wide.data(), GPUMEM_U8, saturated.data(), 7)));
    EXPECT_EQ(saturated, (std::vector<uint8_t>{0, 255, 0, 255, 255, 255, 255}));
    ASSERT_TRUE(ok(form(ctx, GPUMEM_I64, wide.data(), GPUMEM_F16, halves.data(), 7)));
    halves.resize(7);
    EXPECT_EQ(halves, (std::vector<uint16_t>{0xbc00, 0x5c00, 0xfc00, 0x7c00, 0x6800, 0x7bff, 0x7c00}));
  }
}

// 2^24 + 1 is half way between two floats, and a double rounding would go the other way for what lies just above.
TEST_P(ConvertCalls, RoundOnce) {
  const std::vector<uint64_t> x = {(uint64_t{1} << 24) + 1, (uint64_t{1} << 60) + (uint64_t{1} << 36) + 1, UINT64_MAX};
  const std::vector<double> y = {1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, 0x1p-134, 0x1p-134 + 0x1p-180};
  for (const auto form : kForms) {
    Floats f(3);
    ASSERT_TRUE(ok(form(ctx, GPUMEM_U64, x.data(), GPUMEM_F32, f.data(), 3)));
    EXPECT_EQ(f, (Floats{0x1p24f, 0x1p60f + 0x1p37f, 0x1p64f}));
    std::vector<uint16_t> brains(4);
    ASSERT_TRUE(ok(form(ctx, GPUMEM_F64, y.data(), GPUMEM_BF16, brains.data(), 4)));
    EXPECT_EQ(brains, (std::vector<uint16_t>{0x3f80, 0x3f81, 0, 1}));
  }
}

TEST_P(ConvertCalls, OfOneTypeToItselfIsACopy) {
  const std::vector<uint32_t> x = {0x7fa00001, 0xffc12345, 0x80000000, 1};
  std::vector<uint32_t> z(4);
  for (const auto form : kForms) {
    z.assign(4, 9);
    ASSERT_TRUE(ok(form(ctx, GPUMEM_F32, x.data(), GPUMEM_F32, z.data(), 4)));
    EXPECT_EQ(z, x);
    ASSERT_TRUE(ok(form(ctx, GPUMEM_F32, z.data(), GPUMEM_F32, z.data(), 4)));
    EXPECT_EQ(z, x);
  }
}

TEST_P(ConvertCalls, OfNothingIsANoOp) {
  Floats z(4, -9);
  for (const auto form : kForms) {
    EXPECT_TRUE(ok(form(ctx, GPUMEM_F32, nullptr, GPUMEM_I8, nullptr, 0)));
    EXPECT_TRUE(ok(form(ctx, GPUMEM_F32, z.data(), GPUMEM_F64, z.data() + 1, 0)));
  }
  EXPECT_EQ(z, Floats(4, -9));
}

TEST_P(ConvertCalls, RefusesBadSizesAndTypes) {
  Floats x(16, 1), z(16, -9);
  for (const auto form : kForms) {
    for (const int64_t n : {int64_t{-1}, INT64_MIN}) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, GPUMEM_F32, x.data(), GPUMEM_F32, z.data(), n),
                          {"n", std::to_string(n)}));
    }
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                        form(ctx, GPUMEM_F32, x.data(), GPUMEM_I8, z.data(), INT64_MAX / 4 + 1), {"src"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                        form(ctx, GPUMEM_I8, x.data(), GPUMEM_F32, z.data(), INT64_MAX / 4 + 1), {"dst"}));
    for (const gpumem_dtype dtype : {-1, 12, INT32_MAX}) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, dtype, x.data(), GPUMEM_F32, z.data(), 2),
                          {"src_type", std::to_string(dtype)}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, GPUMEM_F32, x.data(), dtype, z.data(), 0),
                          {"dst_type", std::to_string(dtype)}));
    }
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(nullptr, GPUMEM_F32, x.data(), GPUMEM_F32, z.data(), 4),
                        {"ctx", "NULL"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, form(ctx, GPUMEM_F32, nullptr, GPUMEM_I8, z.data(), 4), {"src", "NULL"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, form(ctx, GPUMEM_F32, x.data(), GPUMEM_I8, nullptr, 4), {"dst", "NULL"}));
  }
  EXPECT_EQ(z, Floats(16, -9));
}

TEST_P(ConvertCalls, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory small(ctx, kind, 200);
    const Memory large(ctx, kind, 400);
    for (const auto form : kForms) {
      EXPECT_TRUE(
          refused(GPUMEM_OUT_OF_RANGE, form(ctx, GPUMEM_I32, small.get(), GPUMEM_F32, large.get(), 51), {"src"}));
      EXPECT_TRUE(
          refused(GPUMEM_OUT_OF_RANGE, form(ctx, GPUMEM_F32, large.get(), GPUMEM_I32, small.get(), 51), {"dst"}));
      EXPECT_TRUE(ok(form(ctx, GPUMEM_U8, large.get(), GPUMEM_I32, small.get(), 50)));
    }
  }
}

TEST_P(ConvertCalls, OverlapOtherThanInPlaceIsAMistake) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 4096);
    const std::vector<int32_t> ones(1024, 1);
    buffer.set(ones.data());
    char* const p = buffer.data() + 1000;
    for (const auto form : kForms) {
      for (const int64_t off : {-399, -4, -1, 1, 4, 399}) {
        EXPECT_TRUE(
            refused(GPUMEM_INVALID_ARGUMENT, form(ctx, GPUMEM_I32, p + off, GPUMEM_U32, p, 100), {"src", "dst"}))
            << off;
      }
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, GPUMEM_I32, p, GPUMEM_U16, p, 100), {"src", "dst"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, GPUMEM_I32, p, GPUMEM_F64, p, 100), {"src", "dst"}));
      EXPECT_TRUE(buffer.intact()) << kind_name(kind);
      EXPECT_TRUE(ok(form(ctx, GPUMEM_I32, p, GPUMEM_U32, p, 100))) << kind_name(kind);
      EXPECT_TRUE(ok(form(ctx, GPUMEM_I32, p, GPUMEM_U32, p + 400, 100))) << kind_name(kind);
      EXPECT_TRUE(ok(form(ctx, GPUMEM_U32, p + 400, GPUMEM_I32, p, 100))) << kind_name(kind);
      EXPECT_TRUE(buffer.intact()) << kind_name(kind);
    }
  }
}

TEST_P(ConvertCalls, UnreadableAndUnwritableMemoryIsRefused) {
  const FencedPages pages(4096);
  FencedPages constant(4096);
  constant.protect(PROT_READ);
  Floats heap(1024, 2);
  for (const auto form : kForms) {
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_POINTER, form(ctx, GPUMEM_F32, pages.end(), GPUMEM_I8, heap.data(), 8), {"src"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_POINTER, form(ctx, GPUMEM_F32, heap.data(), GPUMEM_I8, pages.end(), 8), {"dst"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_POINTER, form(ctx, GPUMEM_F32, heap.data(), GPUMEM_I8, constant.first(), 8), {"dst"}));
    EXPECT_EQ(heap, Floats(1024, 2));
    EXPECT_TRUE(ok(form(ctx, GPUMEM_I32, constant.first(), GPUMEM_F32, heap.data(), 1024)));
    EXPECT_EQ(heap, Floats(1024, 0));
    heap.assign(1024, 2);
  }
}

TEST_P(ConvertCalls, BetweenEveryTwoKinds) {
  constexpr int64_t kN = 1001;
  std::vector<int16_t> ramp(kN);
  for (int64_t i = 0; i < kN; ++i) ramp[i] = static_cast<int16_t>(i);
  const Floats expected(ramp.begin(), ramp.end());
  for (const gpumem_memory_kind of_src : kAllKinds) {
    for (const gpumem_memory_kind of_dst : kAllKinds) {
      GuardedBuffer src(ctx, of_src, kN * 2, 2);
      src.set(ramp.data());
      for (const auto form : kForms) {
        const std::string what = std::string(kind_name(of_src)) + " to " + kind_name(of_dst);
        GuardedBuffer dst(ctx, of_dst, kN * 4, 8);
        const bool across = on_cuda() && (of_src >= GPUMEM_MEMORY_DEVICE) != (of_dst >= GPUMEM_MEMORY_DEVICE);
        const gpumem_status status = form(ctx, GPUMEM_I16, src.data(), GPUMEM_F32, dst.data(), kN);
        if (across && form == enqueued) {
          EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {"src", "dst"})) << what;
        } else {
          ASSERT_TRUE(ok(status)) << what;
          std::memcpy(dst.image(), expected.data(), kN * 4);
        }
        EXPECT_TRUE(dst.intact()) << what;
        EXPECT_TRUE(src.intact()) << what;
      }
    }
  }
}

TEST_P(ConvertCalls, RunsInTheOrderOfItsStream) {
  constexpr int64_t kN = 1 << 20;
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE}) {
    const Memory a(ctx, kind, kN * 4);
    const Memory b(ctx, kind, kN * 8);
    const float three = 3;
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, a.get(), &three, 4, kN, stream)));
    ASSERT_TRUE(ok(gpumem_convert_async(ctx, GPUMEM_F32, a.get(), GPUMEM_I64, b.get(), kN, stream)));
    ASSERT_TRUE(ok(gpumem_convert_async(ctx, GPUMEM_I64, b.get(), GPUMEM_I32, a.get(), kN, stream)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    int64_t sum = 0;
    ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<const int32_t*>(a.get()), kN, 1, &sum)));
    EXPECT_EQ(sum, 3 * kN) << kind_name(kind);
  }
  EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_P(ConvertCalls, ExplainsWhereItRunsAndWhatItReads) {
  const Memory src(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const auto explained_of = [&](size_t offset) {
    Explained explained;
    EXPECT_TRUE(
        ok(explain(ctx, line_of(ctx, {GPUMEM_F32, src.bytes() + offset, GPUMEM_F16, dst.get(), 500}), explained)));
    return explained;
  };
  EXPECT_EQ(explained_of(4).variant, on_cuda() ? "vec16" : "host_parallel");
  EXPECT_EQ(explained_of(1).variant, on_cuda() ? "bytes" : "host_parallel");
  EXPECT_EQ(explained_of(1).not_taken["vec16"], on_cuda() ? "it needs src aligned to its elements"
                                                          : "it runs on a CUDA device, and this work runs on the host");
  ASSERT_TRUE(ok(gpumem_convert(ctx, GPUMEM_F32, src.get(), GPUMEM_F16, dst.get(), 500)));
  EXPECT_EQ(last_problem(), "convert from=f32 to=f16 n=500 src=device dst=device");
}

TEST_P(ConvertCalls, AForcedVariantThatDoesNotFitIsRefused) {
  const Memory src(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Bytes before = download(ctx, dst.get(), 4096);
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_CONVERT, "vec16")));
  for (const auto form : kForms) {
    EXPECT_TRUE(
        refused(GPUMEM_UNSUPPORTED, form(ctx, GPUMEM_F32, src.bytes() + 1, GPUMEM_F16, dst.get(), 100), {"vec16"}));
    EXPECT_TRUE(
        refused(GPUMEM_UNSUPPORTED, form(ctx, GPUMEM_F32, src.get(), GPUMEM_F16, dst.bytes() + 1, 100), {"vec16"}));
  }
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_CONVERT, on_cuda() ? "host_serial" : "bytes")));
  EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, gpumem_convert(ctx, GPUMEM_F32, src.get(), GPUMEM_F16, dst.get(), 100)));
  EXPECT_EQ(download(ctx, dst.get(), 4096), before);
}

INSTANTIATE_TEST_SUITE_P(On, ConvertCalls, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
