// Operands that touch a page nobody can access, before their first byte or after their last: whatever reads or writes
// one byte too far is ended by a signal. Wide loads at ragged ends are what this is for.
#include <cstring>
#include <numeric>

#include "conformance/conformance.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

class Bounds : public Conformance {
 protected:
  static constexpr size_t kBytes = size_t{1} << 20;

  // Where an operand of so many bytes lies: at the start of the pages or at their end.
  static char* place(const FencedPages& pages, size_t bytes, bool at_end) {
    return at_end ? pages.end() - bytes : pages.first();
  }

  FencedPages first{kBytes};
  FencedPages second{kBytes};
};

TEST_P(Bounds, OfReduce) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE);
  for (int64_t n = 1; n < (quick_run() ? 40 : 300); ++n) {
    for (const int64_t stride : {1, 2, 5}) {
      for (const bool at_end : {false, true}) {
        const auto span = static_cast<size_t>((n - 1) * stride + 1);
        auto* const x = reinterpret_cast<int32_t*>(place(first, span * 4, at_end));
        std::iota(x, x + span, 1);
        const int64_t sum = n + stride * (n * (n - 1) / 2);
        variants.for_each(reduce_problem(GPUMEM_SUM, x, n, stride), false, [&](bool accepted, const char* variant) {
          int64_t result = 0;
          const gpumem_status status = gpumem_reduce_i32(ctx, GPUMEM_SUM, x, n, stride, &result);
          EXPECT_TRUE(gives(accepted ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant;
          EXPECT_EQ(result, accepted ? sum : 0) << variant << ", n " << n << ", stride " << stride;
        });
      }
    }
    if (enough()) break;
  }
}

TEST_P(Bounds, OfTranspose) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_TRANSPOSE);
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (const int64_t rows : {1, 2, 5, 15, 16, 17, 33, 64, 100}) {
      for (const int64_t cols : {1, 3, 8, 16, 31, 32, 65}) {
        for (const bool at_end : {false, true}) {
          const auto bytes = static_cast<size_t>(rows * cols * element);
          char* const src = place(first, bytes, at_end);
          char* const dst = place(second, bytes, at_end);
          for (size_t i = 0; i < bytes; ++i) src[i] = static_cast<char>(poison_at(i));
          const gpumem_problem problem = transpose_problem(element, rows, cols, src, cols, dst, rows);
          variants.for_each(problem, false, [&](bool accepted, const char* variant) {
            std::memset(dst, 0, bytes);
            const gpumem_status status = gpumem_transpose(ctx, element, rows, cols, src, cols, dst, rows);
            EXPECT_TRUE(gives(accepted ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant;
            const size_t last = bytes - static_cast<size_t>(element);
            EXPECT_EQ(std::memcmp(dst + last, src + last, static_cast<size_t>(element)) == 0, accepted) << variant;
          });
        }
      }
    }
    if (enough()) break;
  }
}

TEST_P(Bounds, OfFill) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_FILL);
  const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    for (int64_t count = 1; count < (quick_run() ? 20 : 150); ++count) {
      for (const bool at_end : {false, true}) {
        const auto bytes = static_cast<size_t>(size * count);
        char* const dst = place(first, bytes, at_end);
        variants.for_each(fill_problem(dst, size, count), false, [&](bool accepted, const char* variant) {
          std::memset(dst, 0, bytes);
          const gpumem_status status = gpumem_fill(ctx, dst, pattern, size, count);
          EXPECT_TRUE(gives(accepted ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant;
          EXPECT_EQ(dst[bytes - 1], accepted ? pattern[size - 1] : 0) << variant;
        });
      }
    }
    if (enough()) break;
  }
}

TEST_P(Bounds, OfCopy) {
  for (size_t bytes = 1; bytes < (quick_run() ? 100u : 2000u); ++bytes) {
    for (const bool at_end : {false, true}) {
      char* const src = place(first, bytes, at_end);
      char* const dst = place(second, bytes, at_end);
      std::memset(src, static_cast<int>(bytes % 251), bytes);
      ASSERT_TRUE(ok(gpumem_copy(ctx, dst, src, static_cast<int64_t>(bytes))));
      EXPECT_EQ(std::memcmp(dst, src, bytes), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Bounds, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
