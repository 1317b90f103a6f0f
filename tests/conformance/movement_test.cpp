// Copy and fill, blocking and enqueued, over the list of cases; fill by every variant.
#include <cstring>

#include "conformance/conformance.hpp"

namespace gpumem_test {
namespace {

std::string describe(const CopyCase& c) {
  return std::to_string(c.bytes) + " bytes, offsets " + std::to_string(c.src_offset) + " and " +
         std::to_string(c.dst_offset) + ", from " + kind_name(c.src) + " to " + kind_name(c.dst);
}

std::string describe(const FillCase& c) {
  return std::to_string(c.count) + " patterns of " + std::to_string(c.pattern_bytes) + " bytes, " +
         (c.uniform ? "all the same" : "all different") + ", offset " + std::to_string(c.offset) + ", in " +
         kind_name(c.dst) + ", " + std::to_string(c.rows) + " rows, pitch " + std::to_string(c.pitch);
}

class MovementConformance : public Conformance {};

TEST_P(MovementConformance, CopyMovesEveryByte) {
  Random random;
  for (const CopyCase& c : copy_cases(quick_run())) {
    GuardedBuffer src = blocks.buffer(0, c.src, c.bytes, c.src_offset);
    GuardedBuffer dst = blocks.buffer(1, c.dst, c.bytes, c.dst_offset);
    const auto bytes = static_cast<int64_t>(c.bytes);
    for (const bool async : {false, true}) {
      random.fill(src.whole_image());
      src.write();
      if (async) {
        ASSERT_TRUE(ok(gpumem_copy_async(ctx, dst.data(), src.data(), bytes, nullptr))) << describe(c);
        ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr))) << describe(c);
      } else {
        ASSERT_TRUE(ok(gpumem_copy(ctx, dst.data(), src.data(), bytes))) << describe(c);
      }
      std::memcpy(dst.image(), src.image(), c.bytes);
      EXPECT_TRUE(dst.intact()) << (async ? "enqueued, " : "") << describe(c);
      EXPECT_TRUE(src.intact()) << "the source changed: " << describe(c);
    }
    if (enough()) break;
  }
}

class FillConformance : public Conformance {
 protected:
  struct Images {
    Bytes before;
    Bytes after;
  };

  gpumem_status call(const FillCase& c, void* dst, const unsigned char* pattern, bool async) {
    if (c.rows == 1) {
      return async ? gpumem_fill_async(ctx, dst, pattern, c.pattern_bytes, c.count, nullptr)
                   : gpumem_fill(ctx, dst, pattern, c.pattern_bytes, c.count);
    }
    return async ? gpumem_fill_2d_async(ctx, dst, c.pitch, pattern, c.pattern_bytes, c.count, c.rows, nullptr)
                 : gpumem_fill_2d(ctx, dst, c.pitch, pattern, c.pattern_bytes, c.count, c.rows);
  }

  // One case with the variant that is forced now, in both forms.
  void run(const FillCase& c, GuardedBuffer& dst, const Images& images, const unsigned char* pattern, bool accepted,
           const char* variant) {
    for (const bool async : {false, true}) {
      dst.whole_image() = images.before;
      dst.write();
      const gpumem_status status = call(c, dst.data(), pattern, async);
      ASSERT_TRUE(gives(accepted ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant << ", " << describe(c);
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      if (accepted) dst.whole_image() = images.after;
      ASSERT_TRUE(dst.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(c);
    }
  }
};

TEST_P(FillConformance, WritesEveryPatternByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_FILL);
  Random random;
  for (const FillCase& c : fill_cases(quick_run())) {
    unsigned char pattern[16];
    for (unsigned char& byte : pattern) byte = static_cast<unsigned char>(random.bits());
    pattern[1] = static_cast<unsigned char>(~pattern[0]);
    if (c.uniform) std::memset(pattern, pattern[0], sizeof pattern);
    const int64_t width = c.pattern_bytes * c.count;
    GuardedBuffer dst = blocks.buffer(0, c.dst, static_cast<size_t>((c.rows - 1) * c.pitch + width), c.offset);
    Images images{dst.whole_image(), {}};
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t at = 0; at < width; ++at) dst.image()[row * c.pitch + at] = pattern[at % c.pattern_bytes];
    }
    images.after = dst.whole_image();
    std::string line = fill_line(ctx, dst.data(), c.pattern_bytes, c.count);
    if (c.rows > 1) line += " rows=" + std::to_string(c.rows) + " pitch=" + std::to_string(c.pitch);
    if (c.uniform) line += " uniform=1";
    variants.for_each(line, c.count == 0,
                      [&](bool accepted, const char* variant) { run(c, dst, images, pattern, accepted, variant); });
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda());
}

INSTANTIATE_TEST_SUITE_P(On, MovementConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);
INSTANTIATE_TEST_SUITE_P(On, FillConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
