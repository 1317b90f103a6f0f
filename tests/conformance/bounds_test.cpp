// Operands that touch a page nobody can access, before their first byte or after their last: whatever reads or writes
// one byte too far is ended by a signal. Wide loads at ragged ends are what this is for.
#include <cstring>

#include "conformance/conformance.hpp"
#include "support/lines.hpp"
#include "support/pages.hpp"
#include "support/reductions.hpp"

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
  Random random;
  for (int64_t n = 1; n < (quick_run() ? 40 : 300); ++n) {
    for (const int64_t stride : {1, 2, 5}) {
      for (const bool at_end : {false, true}) {
        // All types and operations come up, a few with each length.
        const gpumem_dtype dtype = kAllTypes[random.below(12)];
        const gpumem_reduce_op op = kAllOps[random.below(13)];
        if (!has(dtype, op)) continue;
        const Bytes elements = random_elements(dtype, Numbers::small, n, stride, random);
        char* const x = place(first, elements.size(), at_end);
        char* const y = place(second, elements.size(), !at_end);
        std::memcpy(x, elements.data(), elements.size());
        std::memcpy(y, elements.data(), elements.size());
        const Reduction r{dtype, op, x, n, stride, y, stride};
        const Outcome expected = reference(r);
        variants.for_each(line_of(ctx, r), false, [&](bool accepted, const char* variant) {
          const Outcome want = accepted ? expected : Outcome{GPUMEM_UNSUPPORTED, {}};
          EXPECT_TRUE(same(want, outcome_of(ctx, r))) << variant << ", " << describe(r);
        });
      }
    }
    if (enough()) break;
  }
}

TEST_P(Bounds, OfReduceAxis) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_AXIS);
  Random random;
  for (const int64_t rows : {1, 2, 5, 16, 33, 100}) {
    for (const int64_t cols : {1, 3, 8, 31, 65, 130}) {
      for (const bool at_end : {false, true}) {
        const gpumem_dtype dtype = kAllTypes[random.below(12)];
        const gpumem_reduce_op op = kReduceOps[random.below(9)];
        for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
          Axis a{dtype, op, axis, nullptr, rows, cols, cols + random.between(0, 2), 2, 0};
          a.batch_stride = a.rows * a.ld;
          const Bytes elements = random_elements(dtype, Numbers::small, extent_of(a), 1, random);
          char* const x = place(first, elements.size(), at_end);
          std::memcpy(x, elements.data(), elements.size());
          a.x = x;
          const LinesOutcome expected = reference(a);
          const size_t bytes = expected.words.size() * 8;
          auto* const result = reinterpret_cast<uint64_t*>(place(second, bytes, at_end));
          variants.for_each(line_of(ctx, a), false, [&](bool accepted, const char* variant) {
            std::memset(result, 0x5A, bytes);
            const gpumem_status want = accepted ? expected.status : gpumem_status{GPUMEM_UNSUPPORTED};
            EXPECT_TRUE(gives(want, run(ctx, a, result))) << variant;
            if (!accepted) return;
            EXPECT_EQ(difference(expected, result, op), "") << variant << ", " << describe(a);
          });
        }
      }
    }
    if (enough()) break;
  }
}

TEST_P(Bounds, OfReduceSegments) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_SEGMENTS);
  Random random;
  for (int64_t segments = 1; segments < (quick_run() ? 10 : 60); ++segments) {
    for (const bool at_end : {false, true}) {
      const gpumem_dtype dtype = kAllTypes[random.below(12)];
      const gpumem_reduce_op op = kReduceOps[random.below(9)];
      std::vector<int64_t> offsets = {0};
      for (int64_t s = 0; s < segments; ++s) offsets.push_back(offsets.back() + log_uniform(1, 40, random));
      const int64_t n = offsets.back();
      const Bytes elements = random_elements(dtype, Numbers::small, n, 1, random);
      char* const x = place(first, elements.size(), at_end);
      std::memcpy(x, elements.data(), elements.size());
      const Segmented s{dtype, op, x, n, offsets.data(), segments};
      const LinesOutcome expected = reference(s);
      const size_t bytes = expected.words.size() * 8;
      auto* const result = reinterpret_cast<uint64_t*>(place(second, bytes, at_end));
      variants.for_each(line_of(ctx, s), false, [&](bool accepted, const char* variant) {
        const gpumem_status want = accepted ? expected.status : gpumem_status{GPUMEM_UNSUPPORTED};
        EXPECT_TRUE(gives(want, run(ctx, s, result))) << variant << ", " << describe(s);
        if (accepted) {
          EXPECT_EQ(difference(expected, result, op), "") << variant << ", " << describe(s);
        }
      });
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
          const std::string line = transpose_line(ctx, element, rows, cols, src, cols, dst, rows);
          variants.for_each(line, false, [&](bool accepted, const char* variant) {
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
        variants.for_each(fill_line(ctx, dst, size, count), false, [&](bool accepted, const char* variant) {
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
