// gpumem_axpby_*: known values and the outcomes. Bits, alignments and kinds of memory are the conformance tests' matter.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/axpby.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

using Floats = std::vector<float>;

gpumem_status plain(gpumem_ctx* ctx, float alpha, const void* x, float beta, const void* y, void* z, int64_t n) {
  return gpumem_axpby_f32(ctx, alpha, static_cast<const float*>(x), beta, static_cast<const float*>(y),
                          static_cast<float*>(z), n);
}
gpumem_status enqueued(gpumem_ctx* ctx, float alpha, const void* x, float beta, const void* y, void* z, int64_t n) {
  const gpumem_status status = gpumem_axpby_f32_async(ctx, alpha, static_cast<const float*>(x), beta,
                                                      static_cast<const float*>(y), static_cast<float*>(z), n, nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
constexpr decltype(&plain) kForms[] = {plain, enqueued};

class AxpbyCalls : public OnEachContext {
 protected:
  gpumem_status explained(const Axpby& call) { return explain(ctx, line_of(ctx, call)); }
};

TEST_P(AxpbyCalls, KnownValues) {
  const Floats x = {1, 2, 3, -4};
  const Floats y = {10, 20, 30, 0.5f};
  for (const auto form : kForms) {
    Floats z(4, -9);
    ASSERT_TRUE(ok(form(ctx, 2, x.data(), 0.5f, y.data(), z.data(), 4)));
    EXPECT_EQ(z, (Floats{7, 14, 21, -7.75f}));
    ASSERT_TRUE(ok(form(ctx, 1, x.data(), 1, y.data(), z.data(), 4)));
    EXPECT_EQ(z, (Floats{11, 22, 33, -3.5f}));
    ASSERT_TRUE(ok(form(ctx, 3, x.data(), 1, z.data(), z.data(), 4))) << "SAXPY";
    EXPECT_EQ(z, (Floats{14, 28, 42, -15.5f}));
    ASSERT_TRUE(ok(form(ctx, 1, z.data(), 1, z.data(), z.data(), 4))) << "one operand three times";
    EXPECT_EQ(z, (Floats{28, 56, 84, -31}));
  }
  const std::vector<double> a = {1, 2};
  const std::vector<double> b = {0.1, 0.2};
  std::vector<double> c(2);
  ASSERT_TRUE(ok(gpumem_axpby_f64(ctx, 1, a.data(), 3, b.data(), c.data(), 2)));
  EXPECT_EQ(c, (std::vector<double>{1 + 0.1 * 3, 2 + 0.2 * 3}));
  ASSERT_TRUE(ok(gpumem_axpby_f64_async(ctx, 1, a.data(), -1, a.data(), c.data(), 2, nullptr)));
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_EQ(c, std::vector<double>(2));
}

TEST_P(AxpbyCalls, AnOperandWhoseFactorIsZeroIsNotRead) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Floats x = {1, -2, -0.0f, nan};
  const Floats nans(4, nan);
  for (const auto form : kForms) {
    for (const float zero : {0.0f, -0.0f}) {
      for (const void* unread : {static_cast<const void*>(nullptr), static_cast<const void*>(nans.data())}) {
        Floats z(4, -9);
        ASSERT_TRUE(ok(form(ctx, -1, x.data(), zero, unread, z.data(), 3)));
        EXPECT_EQ(z, (Floats{-1, 2, 0, -9}));
        EXPECT_FALSE(std::signbit(z[2])) << "no addition took the sign";
        ASSERT_TRUE(ok(form(ctx, zero, unread, 1, x.data(), z.data(), 3)));
        EXPECT_EQ(z, (Floats{1, -2, 0, -9}));
        EXPECT_TRUE(std::signbit(z[2])) << "no addition took the sign";
        ASSERT_TRUE(ok(form(ctx, zero, unread, -zero, unread, z.data(), 4)));
        EXPECT_EQ(z, Floats(4, 0));
        for (const float each : z) EXPECT_FALSE(std::signbit(each)) << "zeros are +0";
      }
    }
    Floats z(4, -9);
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, 1, nullptr, 0, nullptr, z.data(), 4), {"x", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, 0, nullptr, 1, nullptr, z.data(), 4), {"y", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, nan, nullptr, 1, z.data(), z.data(), 4), {"x", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, 1, x.data(), 0, nullptr, nullptr, 4), {"z", "NULL"}));
    EXPECT_EQ(z, Floats(4, -9));
  }
}

TEST_P(AxpbyCalls, OfNothingIsANoOp) {
  Floats z(4, -9);
  for (const auto form : kForms) {
    EXPECT_TRUE(ok(form(ctx, 1, nullptr, 1, nullptr, nullptr, 0)));
    EXPECT_TRUE(ok(form(ctx, 1, z.data(), 1, z.data() + 1, z.data() + 2, 0)));
  }
  EXPECT_EQ(z, Floats(4, -9));
  std::string text;
  const Axpby nothing{GPUMEM_F32, 1, nullptr, 1, nullptr, nullptr, 0};
  ASSERT_TRUE(ok(explain(ctx, line_of(ctx, nothing), GPUMEM_FORMAT_TEXT, text)));
  EXPECT_NE(text.find("nothing to do"), std::string::npos) << text;
}

TEST_P(AxpbyCalls, RefusesBadSizes) {
  Floats x(16, 1), z(16, -9);
  for (const auto form : kForms) {
    for (const int64_t n : {int64_t{-1}, INT64_MIN}) {
      EXPECT_TRUE(
          refused(GPUMEM_INVALID_ARGUMENT, form(ctx, 1, x.data(), 0, nullptr, z.data(), n), {"n", std::to_string(n)}));
    }
    for (const int64_t n : {INT64_MAX, INT64_MAX / 4 + 1}) {
      EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, form(ctx, 1, x.data(), 1, x.data(), z.data(), n)));
    }
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(nullptr, 1, x.data(), 0, nullptr, z.data(), 4), {"ctx", "NULL"}));
  }
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, gpumem_axpby_f64(ctx, 0, nullptr, 0, nullptr,
                                                              reinterpret_cast<double*>(z.data()), INT64_MAX / 8 + 1)));
  EXPECT_EQ(z, Floats(16, -9));
}

TEST_P(AxpbyCalls, RangesEndWithTheirAllocation) {
  const Floats fives(100, 5);
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory small(ctx, kind, 200);
    const Memory large(ctx, kind, 400);
    const Memory other(ctx, kind, 400);
    for (const Memory* each : {&large, &other}) upload(ctx, each->get(), fives.data(), 400);
    for (const auto form : kForms) {
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, form(ctx, 1, small.get(), 1, other.get(), large.get(), 51), {"x"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, form(ctx, 1, other.get(), 1, small.get(), large.get(), 51), {"y"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, form(ctx, 1, other.get(), 1, large.get(), small.get(), 51), {"z"}));
      EXPECT_TRUE(ok(form(ctx, 1, other.get(), 0, small.get(), large.get(), 100))) << "y is not looked at";
    }
    EXPECT_EQ(download(ctx, other.get(), 400), download(ctx, large.get(), 400));
  }
}

TEST_P(AxpbyCalls, PartialOverlapWithWhatIsReadIsAMistake) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 4096);
    const Floats ones(1024, 1);
    buffer.set(ones.data());
    char* const p = buffer.data();
    for (const auto form : kForms) {
      for (const int64_t off : {int64_t{-399}, int64_t{-4}, int64_t{-1}, int64_t{1}, int64_t{4}, int64_t{399}}) {
        char* const z = p + 1000;
        EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, 1, z + off, 1, p, z, 100), {"x", "z"})) << off;
        EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, 1, p, 1, z + off, z, 100), {"y", "z"})) << off;
        EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, 1, z, 1, z + off, z, 100), {"y", "z"})) << "z is x";
      }
      EXPECT_TRUE(buffer.intact()) << kind_name(kind);
      // Neighbours, operands over each other, and what is not read.
      EXPECT_TRUE(ok(form(ctx, 1, p + 400, 0, nullptr, p, 100))) << kind_name(kind);
      EXPECT_TRUE(ok(form(ctx, 1, p, 0, nullptr, p + 400, 100))) << kind_name(kind);
      EXPECT_TRUE(ok(form(ctx, 0.5f, p, 0.5f, p + 4, p + 1000, 100))) << kind_name(kind);
      EXPECT_TRUE(ok(form(ctx, 1, p, 0, p + 1004, p + 1000, 100))) << kind_name(kind);
      EXPECT_TRUE(buffer.intact()) << kind_name(kind);
    }
  }
}

TEST_P(AxpbyCalls, UnreadableAndUnwritableMemoryIsRefused) {
  const FencedPages pages(4096);
  Floats heap(1024, 2);
  for (const auto form : kForms) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, form(ctx, 1, pages.end(), 0, nullptr, heap.data(), 8), {"x"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, form(ctx, 0, nullptr, 1, pages.end(), heap.data(), 8), {"y"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, form(ctx, 1, heap.data(), 0, nullptr, pages.end(), 8), {"z"}));
    EXPECT_EQ(heap, Floats(1024, 2));
  }
  FencedPages constant(4096);
  constant.protect(PROT_READ);
  for (const auto form : kForms) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, form(ctx, 0, nullptr, 0, nullptr, constant.first(), 8), {"z"}));
    EXPECT_TRUE(ok(form(ctx, 1, constant.first(), 1, constant.end() - 64, heap.data(), 16)));
  }
}

TEST_P(AxpbyCalls, BetweenEveryTwoKinds) {
  constexpr int64_t kN = 1001;
  Floats ramp(kN);
  for (int64_t i = 0; i < kN; ++i) ramp[i] = static_cast<float>(i);
  for (const gpumem_memory_kind of_x : kAllKinds) {
    for (const gpumem_memory_kind of_z : kAllKinds) {
      GuardedBuffer x(ctx, of_x, kN * 4, 4);
      x.set(ramp.data());
      for (const auto form : kForms) {
        const std::string what = std::string(kind_name(of_x)) + " to " + kind_name(of_z);
        GuardedBuffer z(ctx, of_z, kN * 4, 8);
        z.set(ramp.data());
        const bool across = on_cuda() && (of_x >= GPUMEM_MEMORY_DEVICE) != (of_z >= GPUMEM_MEMORY_DEVICE);
        const gpumem_status status = form(ctx, 2, x.data(), 1, z.data(), z.data(), kN);
        if (across && form == enqueued) {
          EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {"x", "z"})) << what;
        } else {
          ASSERT_TRUE(ok(status)) << what;
          Floats thrice = ramp;
          for (float& each : thrice) each *= 3;
          std::memcpy(z.image(), thrice.data(), kN * 4);
        }
        EXPECT_TRUE(z.intact()) << what;
        EXPECT_TRUE(x.intact()) << what;
      }
    }
  }
}

TEST_P(AxpbyCalls, RunsInTheOrderOfItsStream) {
  constexpr int64_t kN = 1 << 20;
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE}) {
    const Memory z(ctx, kind, kN * 4);
    auto* const p = static_cast<float*>(z.get());
    const float one = 1;
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, &one, 4, kN, stream)));
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(ok(gpumem_axpby_f32_async(ctx, 1, p, 1, p, p, kN, stream)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    double sum = 0;
    ASSERT_TRUE(ok(gpumem_reduce_f32(ctx, GPUMEM_SUM, p, kN, 1, &sum)));
    EXPECT_EQ(sum, 1024.0 * kN) << kind_name(kind);
  }
  EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_P(AxpbyCalls, ExplainsWhereItRunsAndWhatItReads) {
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory z(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const auto explained_of = [&](size_t x_offset, const void* y) {
    const Axpby call{GPUMEM_F32, 1, x.bytes() + x_offset, y != nullptr, y, z.get(), 500};
    Explained explained;
    EXPECT_TRUE(ok(explain(ctx, line_of(ctx, call), explained)));
    return explained;
  };
  EXPECT_EQ(explained_of(0, nullptr).variant, on_cuda() ? "vec16" : "host_parallel");
  EXPECT_EQ(explained_of(4, nullptr).variant, on_cuda() ? "vec16_store" : "host_parallel");
  EXPECT_EQ(explained_of(4, nullptr).not_taken["vec16"],
            on_cuda() ? "it needs x as far from a 16-byte boundary as z"
                      : "it runs on a CUDA device, and this work runs on the host");
  EXPECT_EQ(explained_of(1, nullptr).variant, on_cuda() ? "bytes" : "host_parallel");
  const Floats y(500);
  const Explained across = explained_of(0, y.data());
  EXPECT_EQ(across.json.member("runs_on").text, on_cuda() ? "cuda" : "host");
  std::string text;
  const Axpby call{GPUMEM_F64, 0, nullptr, 1, x.get(), z.get(), 500};
  ASSERT_TRUE(ok(explain(ctx, line_of(ctx, call), GPUMEM_FORMAT_TEXT, text)));
  EXPECT_NE(text.find("dtype=f64 n=500 x=none y=device z=device"), std::string::npos) << text;
}

TEST_P(AxpbyCalls, ExplainRefusesWhatTheCallRefuses) {
  Floats z(16), x(16);
  EXPECT_TRUE(gives(GPUMEM_OK, explained({GPUMEM_F32, 1, x.data(), 0, nullptr, z.data(), 16})));
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, explained({GPUMEM_F32, 1, x.data(), 0, nullptr, z.data(), -1})));
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, explained({GPUMEM_F32, 1, x.data(), 0, nullptr, nullptr, 16})));
  for (const gpumem_dtype dtype : {GPUMEM_F16, GPUMEM_BF16, GPUMEM_I32, GPUMEM_U64}) {
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, explained({dtype, 1, x.data(), 0, nullptr, z.data(), 2}), {"dtype"}));
  }
  for (const gpumem_dtype dtype : {-1, 12, INT32_MAX}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, explained({dtype, 1, x.data(), 0, nullptr, z.data(), 2}), {"dtype"}));
  }
}

TEST_P(AxpbyCalls, AForcedVariantThatDoesNotFitIsRefused) {
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory z(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Bytes before = download(ctx, z.get(), 4096);
  for (const char* variant : {"vec16", "vec16_store", "coalesced", "strided"}) {
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_AXPBY, variant)));
    for (const auto form : kForms) {
      EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, form(ctx, 1, x.bytes() + 1, 0, nullptr, z.get(), 100), {variant}));
    }
  }
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_AXPBY, on_cuda() ? "host_serial" : "bytes")));
  EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, plain(ctx, 1, x.get(), 0, nullptr, z.get(), 100)));
  EXPECT_EQ(download(ctx, z.get(), 4096), before);
}

INSTANTIATE_TEST_SUITE_P(On, AxpbyCalls, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
