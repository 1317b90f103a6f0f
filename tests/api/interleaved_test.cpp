// Operands in each other's padding: fields of an array of structures, and columns of a matrix. They do not overlap if
// strides and addresses show that they share no byte.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kCount = 3001;
constexpr int64_t kFields = 6;  // of 4 bytes
constexpr int64_t kStride[] = {kFields};

using Floats = std::vector<float>;

Floats structures() {
  Floats all(kCount * kFields);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i * 7 % 1000) - 250;
  return all;
}

const std::vector<int32_t>& places() {
  static const std::vector<int32_t> kPlaces = [] {
    std::vector<int32_t> all(kCount);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  return kPlaces;
}

struct Call {
  const char* name;
  gpumem_family family;
  std::function<gpumem_status(gpumem_ctx*, float*)> run;  // writes field 2 of each structure from fields 0, 1 and 5
  std::function<float(const float*)> value;               // of field 2
};

const std::vector<Call>& calls() {
  static constexpr int64_t kN[] = {kCount};
  static const std::vector<Call> kCalls = {
      {"map", GPUMEM_FAMILY_MAP,
       [](gpumem_ctx* ctx, float* s) {
         return gpumem_map(ctx, GPUMEM_MAP_MULTIPLY, GPUMEM_F32, 1, kN, s, kStride, s + 5, kStride, s + 2, kStride);
       },
       [](const float* s) { return s[0] * s[5]; }},
      {"where", GPUMEM_FAMILY_MAP,
       [](gpumem_ctx* ctx, float* s) {  // the lowest byte of field 1 is the mask
         return gpumem_where(ctx, 4, 1, kN, reinterpret_cast<const uint8_t*>(s + 1), std::vector<int64_t>{24}.data(), s,
                             kStride, s + 5, kStride, s + 2, kStride);
       },
       [](const float* s) { return *reinterpret_cast<const uint8_t*>(s + 1) != 0 ? s[0] : s[5]; }},
      {"convert_scaled", GPUMEM_FAMILY_MAP,
       [](gpumem_ctx* ctx, float* s) {
         constexpr int64_t kOnce[] = {0};
         constexpr double kHalf = 0.5;
         return gpumem_convert_scaled(ctx, 1, kN, GPUMEM_F32, s, kStride, &kHalf, kOnce, nullptr, nullptr, 0,
                                      GPUMEM_F32, s + 2, kStride);
       },
       [](const float* s) { return s[0] / 2; }},
      {"lincomb", GPUMEM_FAMILY_ARITHMETIC,
       [](gpumem_ctx* ctx, float* s) {
         constexpr float kFactors[] = {2, -1, 3};
         constexpr int64_t kStrides[] = {kFields, kFields, kFields};
         const float* const x[] = {s, s + 1, s + 5};
         return gpumem_lincomb_f32(ctx, 1, kN, 3, kFactors, x, kStrides, s + 2, kStride);
       },
       [](const float* s) { return 2 * s[0] - s[1] + 3 * s[5]; }},
      {"multiply", GPUMEM_FAMILY_ARITHMETIC,
       [](gpumem_ctx* ctx, float* s) {
         return gpumem_multiply_f32(ctx, 1, kN, s, kStride, s + 1, kStride, s + 2, kStride);
       },
       [](const float* s) { return s[0] * s[1]; }},
      {"permute", GPUMEM_FAMILY_PERMUTE,
       [](gpumem_ctx* ctx, float* s) {
         constexpr int32_t kSame[] = {0};
         return gpumem_permute(ctx, 4, 1, kN, kSame, s + 5, kStride, s + 2, kStride);
       },
       [](const float* s) { return s[5]; }},
      {"copy_2d", GPUMEM_FAMILY_COPY,
       [](gpumem_ctx* ctx, float* s) { return gpumem_copy_2d(ctx, s + 2, 4 * kFields, s + 1, 4 * kFields, 4, kCount); },
       [](const float* s) { return s[1]; }},
      {"gather", GPUMEM_FAMILY_GATHER,
       [](gpumem_ctx* ctx, float* s) {
         return gpumem_gather(ctx, 4, s, kCount, 4 * kFields, GPUMEM_I32, places().data(), kCount, s + 2, 4 * kFields);
       },
       [](const float* s) { return s[0]; }},
      {"scatter", GPUMEM_FAMILY_SCATTER,
       [](gpumem_ctx* ctx, float* s) {
         return gpumem_scatter(ctx, 4, s + 5, 4 * kFields, GPUMEM_I32, places().data(), kCount, s + 2, kCount,
                               4 * kFields);
       },
       [](const float* s) { return s[5]; }},
      {"select", GPUMEM_FAMILY_SELECT,
       [](gpumem_ctx* ctx, float* s) {
         const std::vector<uint8_t> all(kCount, 1);
         int64_t kept = 0;
         const gpumem_status status =
             gpumem_select(ctx, 4, s + 1, 4 * kFields, all.data(), kCount, s + 2, kCount, 4 * kFields, &kept);
         return status == GPUMEM_OK && kept != kCount ? GPUMEM_INTERNAL : status;
       },
       [](const float* s) { return s[1]; }},
      {"transpose_batched", GPUMEM_FAMILY_TRANSPOSE,
       [](gpumem_ctx* ctx, float* s) {
         return gpumem_transpose_batched(ctx, 4, 1, 1, s + 5, 1, kFields, s + 2, 1, kFields, kCount);
       },
       [](const float* s) { return s[5]; }},
  };
  return kCalls;
}

class Interleaved : public OnEachContext {};

// By the default choice, and by each variant that accepts the call.
TEST_P(Interleaved, FieldsOfStructuresDoNotOverlap) {
  const Floats before = structures();
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory memory(ctx, kind, kCount * kFields * 4);
    auto* const all = static_cast<float*>(memory.get());
    for (const Call& call : calls()) {
      Floats expected = before;
      for (size_t i = 0; i < kCount; ++i) expected[i * kFields + 2] = call.value(&before[i * kFields]);
      std::vector<std::string> variants = variant_names(call.family);
      variants.emplace_back();  // none by name
      for (const std::string& variant : variants) {
        SCOPED_TRACE(std::string(call.name) + " by '" + variant + "', " + kind_name(kind));
        ASSERT_TRUE(ok(gpumem_copy(ctx, all, before.data(), kCount * kFields * 4)));
        ASSERT_TRUE(ok(gpumem_variant_force(ctx, call.family, variant.empty() ? nullptr : variant.c_str())));
        const gpumem_status status = call.run(ctx, all);
        ASSERT_TRUE(ok(gpumem_variant_force(ctx, call.family, nullptr)));
        if (status == GPUMEM_UNSUPPORTED && !variant.empty()) continue;
        ASSERT_EQ(status, GPUMEM_OK);
        Floats after(before.size());
        ASSERT_TRUE(ok(gpumem_copy(ctx, after.data(), all, kCount * kFields * 4)));
        EXPECT_EQ(after, expected);
      }
    }
  }
}

// The first three fields are a position, and the others a velocity.
TEST_P(Interleaved, RowsOfFieldsDoNotOverlap) {
  constexpr int64_t kExtents[] = {kCount, 3};
  constexpr int64_t kStrides[] = {kFields, 1, kFields, 1};
  constexpr float kFactors[] = {1, 0.5f};
  const Floats before = structures();
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory memory(ctx, kind, kCount * kFields * 4);
    auto* const all = static_cast<float*>(memory.get());
    const float* const x[] = {all, all + 3};
    ASSERT_TRUE(ok(gpumem_copy(ctx, all, before.data(), kCount * kFields * 4)));
    ASSERT_TRUE(ok(gpumem_lincomb_f32(ctx, 2, kExtents, 2, kFactors, x, kStrides, all, kStrides))) << kind_name(kind);
    Floats expected = before;
    for (size_t i = 0; i < kCount * kFields; ++i) {
      if (i % kFields < 3) expected[i] = before[i] + before[i + 3] / 2;
    }
    Floats after(before.size());
    ASSERT_TRUE(ok(gpumem_copy(ctx, after.data(), all, kCount * kFields * 4)));
    EXPECT_EQ(after, expected) << kind_name(kind);
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                        gpumem_multiply_f32(ctx, 2, kExtents, all, kStrides, all + 3, kStrides, all + 2, kStrides),
                        {"z", "x", "overlap"}));
  }
}

TEST_P(Interleaved, StridesThatMeetAreRefused) {
  Floats memory(384);
  float* const p = memory.data();
  const auto add = [&](int64_t x_stride, int64_t z_stride, float* z) {
    constexpr int64_t kN[] = {32};
    return gpumem_map(ctx, GPUMEM_MAP_NEGATE, GPUMEM_F32, 1, kN, p, &x_stride, nullptr, nullptr, z, &z_stride);
  };
  EXPECT_TRUE(ok(add(2, 6, p + 1)));
  EXPECT_TRUE(ok(add(2, 6, p + 35)));
  const auto meets = [&](gpumem_status status) {
    return refused(GPUMEM_INVALID_ARGUMENT, status, {"z", "x", "overlap"});
  };
  EXPECT_TRUE(meets(add(2, 6, p + 2)));
  EXPECT_TRUE(meets(add(2, 3, p + 1))) << "element 2 of x is element 1 of z";
  EXPECT_TRUE(meets(add(1, 2, p + 1)));
  EXPECT_TRUE(meets(add(2, 1, p + 1)));
  // Two bytes on, each element of z shares bytes with one of x.
  std::vector<char> bytes(32 * 8 + 8);
  constexpr int64_t kN[] = {32};
  constexpr int64_t kTwo[] = {2};
  const auto at = [&](int64_t offset) {
    return gpumem_where(ctx, 4, 1, kN, reinterpret_cast<const uint8_t*>(p), nullptr, bytes.data(), kTwo, bytes.data(),
                        kTwo, bytes.data() + offset, kTwo);
  };
  EXPECT_TRUE(ok(at(4)));
  for (const int64_t offset : {1, 2, 3, 5, 6, 7}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, at(offset), {"z", "overlap"})) << offset;
  }
}

INSTANTIATE_TEST_SUITE_P(On, Interleaved, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
