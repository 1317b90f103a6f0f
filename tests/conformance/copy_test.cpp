// gpumem_copy_2d and gpumem_copy_3d (and gpumem_copy, their case of one row) against the formula of the header, over the list
// of cases, in both forms, by every variant.
#include "conformance/conformance.hpp"

namespace gpumem_test {
namespace {

// Every byte of row r of slice s, one at a time.
void copy_reference(const PitchedCase& c, const unsigned char* src, unsigned char* dst) {
  for (int64_t s = 0; s < c.slices; ++s) {
    for (int64_t r = 0; r < c.rows; ++r) {
      for (int64_t b = 0; b < c.row_bytes; ++b) {
        dst[s * c.dst_slice + r * c.dst_pitch + b] = src[s * c.src_slice + r * c.src_pitch + b];
      }
    }
  }
}

size_t extent(const PitchedCase& c, int64_t pitch, int64_t slice) {
  return static_cast<size_t>((c.slices - 1) * slice + (c.rows - 1) * pitch + c.row_bytes);
}

std::string describe(const PitchedCase& c) {
  const auto pair = [](int64_t a, int64_t b) { return std::to_string(a) + " and " + std::to_string(b); };
  return std::to_string(c.slices) + " x " + std::to_string(c.rows) + " rows of " + std::to_string(c.row_bytes) +
         " bytes, pitches " + pair(c.src_pitch, c.dst_pitch) + ", slices " + pair(c.src_slice, c.dst_slice) +
         ", offsets " + std::to_string(c.src_offset) + " and " + std::to_string(c.dst_offset) + ", from " +
         kind_name(c.src) + " to " + kind_name(c.dst);
}

bool in_host_memory(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED; }

class CopyConformance : public Conformance {
 protected:
  // What is forced on the context under test is no matter of the copies that the test itself makes.
  Context keeper{GetParam()};
  Blocks kept{keeper};

  // By the function of the fewest dimensions that the case has.
  gpumem_status call(const PitchedCase& c, char* dst, const char* src, bool async) {
    if (c.slices > 1) {
      return async ? gpumem_copy_3d_async(ctx, dst, c.dst_pitch, c.dst_slice, src, c.src_pitch, c.src_slice,
                                          c.row_bytes, c.rows, c.slices, nullptr)
                   : gpumem_copy_3d(ctx, dst, c.dst_pitch, c.dst_slice, src, c.src_pitch, c.src_slice, c.row_bytes,
                                    c.rows, c.slices);
    }
    if (c.rows > 1) {
      return async ? gpumem_copy_2d_async(ctx, dst, c.dst_pitch, src, c.src_pitch, c.row_bytes, c.rows, nullptr)
                   : gpumem_copy_2d(ctx, dst, c.dst_pitch, src, c.src_pitch, c.row_bytes, c.rows);
    }
    return async ? gpumem_copy_async(ctx, dst, src, c.row_bytes, nullptr) : gpumem_copy(ctx, dst, src, c.row_bytes);
  }

  std::string line_of(const PitchedCase& c, const char* dst, const char* src) {
    Line line(ctx, "copy");
    line.with("bytes", c.row_bytes).with("rows", c.rows).with("slices", c.slices).at("src", src).at("dst", dst);
    if (c.rows > 1) line.with("src_pitch", c.src_pitch).with("dst_pitch", c.dst_pitch);
    if (c.slices > 1) line.with("src_slice", c.src_slice).with("dst_slice", c.dst_slice);
    return line;
  }

  void run(const PitchedCase& c, EveryVariant& variants, Random& random) {
    GuardedBuffer src = kept.buffer(0, c.src, extent(c, c.src_pitch, c.src_slice), c.src_offset);
    GuardedBuffer dst = kept.buffer(1, c.dst, extent(c, c.dst_pitch, c.dst_slice), c.dst_offset);
    random.fill(src.whole_image());
    src.write();
    const Bytes poisoned = dst.whole_image();
    copy_reference(c, src.image(), dst.image());
    const Bytes expected = dst.whole_image();
    const auto once = [&](bool async, bool accepted, const char* variant) {
      dst.whole_image() = poisoned;
      dst.write();
      ASSERT_TRUE(gives(accepted ? GPUMEM_OK : GPUMEM_UNSUPPORTED, call(c, dst.data(), src.data(), async)))
          << variant << ", " << describe(c);
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      if (accepted) dst.whole_image() = expected;
      ASSERT_TRUE(dst.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(c);
    };
    const std::string line = line_of(c, dst.data(), src.data());
    if (!on_cuda() || in_host_memory(c.src) == in_host_memory(c.dst)) {
      variants.for_each(line, false, [&](bool accepted, const char* variant) {
        once(false, accepted, variant);
        once(true, accepted, variant);
      });
    } else {
      over_the_link(c, line, variants, once);
    }
    EXPECT_TRUE(src.intact()) << "the source changed: " << describe(c);
  }

  // Two variants move between host and device; others that are forced say nothing of such copies.
  template <class Once>
  void over_the_link(const PitchedCase& c, const std::string& line, EveryVariant& variants, const Once& once) {
    const bool pageable = c.src == GPUMEM_MEMORY_PAGEABLE || c.dst == GPUMEM_MEMORY_PAGEABLE;
    const bool range = c.rows == 1 && c.slices == 1;
    for (const char* forced : {"vec16", "host_serial", "driver", "rings"}) {
      ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY, forced)));
      const std::string name = forced;
      for (const bool async : {false, true}) {
        const bool fits = explain(ctx, line + (async ? " form=async" : "")) == GPUMEM_OK;
        if (name == "rings") {
          EXPECT_EQ(fits, pageable) << describe(c);
        } else if (name != "driver" || !pageable || (range && !async)) {
          EXPECT_TRUE(fits) << name << ", " << describe(c);
        }
        if (fits && (name == "rings" || name == "driver")) variants.note_accepted(name);
        once(async, fits, forced);
      }
    }
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY, nullptr)));
  }
};

TEST_P(CopyConformance, MovesEveryRowAndNothingBetweenByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_COPY);
  Random random;
  for (const PitchedCase& c : pitched_cases(quick_run())) {
    run(c, variants, random);
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda());
}

INSTANTIATE_TEST_SUITE_P(On, CopyConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
