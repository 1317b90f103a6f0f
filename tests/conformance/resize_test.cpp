// gpumem_resize_2d against the text of the header: over the list of cases by every variant, and in what it promises of the exact
// value, of constants, of ramps and of threads.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "conformance/conformance.hpp"
#include "conformance/resize_cases.hpp"
#include "support/images.hpp"
#include "support/odd_environments.hpp"

namespace gpumem_test {
namespace {

constexpr const char* kTexture = "texture";

// An image on the heap, without gaps between its rows.
struct Image {
  int64_t rows;
  int64_t cols;
  int64_t pixel;
  Bytes bytes;

  Image(int64_t rows_, int64_t cols_, gpumem_dtype dtype, int32_t channels)
      : rows(rows_),
        cols(cols_),
        pixel(channels * element_bytes_of(dtype)),
        bytes(static_cast<size_t>(rows * cols * pixel)) {}
};

Resize between(gpumem_filter filter, gpumem_dtype dtype, int32_t channels, const Image& src, Image& dst) {
  return {filter,           dtype,    channels, src.bytes.data(),    src.rows, src.cols, src.cols * src.pixel,
          dst.bytes.data(), dst.rows, dst.cols, dst.cols * dst.pixel};
}

template <class T>
T get(const unsigned char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void put_at(unsigned char* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

float moderate(Random& random) {
  return static_cast<float>(static_cast<int64_t>(random.below(2000001)) - 1000000) * 0.001f;
}

float special(Random& random) {
  static constexpr uint32_t kBits[] = {0x7fc00001, 0xffc00000, 0x7f800001, 0x7f800000, 0xff800000, 0x80000000,
                                       0,          1,          0x807fffff, 0x7f7fffff, 0xff7fffff, 0x00800000};
  const uint32_t bits =
      random.below(3) == 0 ? kBits[random.below(std::size(kBits))] : static_cast<uint32_t>(random.bits());
  return get<float>(reinterpret_cast<const unsigned char*>(&bits));
}

void fill_pixels(Random& random, gpumem_dtype dtype, bool any_bits, unsigned char* p, size_t bytes) {
  for (size_t at = 0; at < bytes; ++at) p[at] = static_cast<unsigned char>(random.bits() >> 56);
  if (dtype != GPUMEM_F32) return;
  for (size_t at = 0; at + 4 <= bytes; at += 4) put_at(p + at, any_bits ? special(random) : moderate(random));
}

// Row by row, so that each float lies where the resize finds it, whatever the pitch.
void fill_rows(Random& random, const Resize& r, bool any_bits, unsigned char* image) {
  for (int64_t row = 0; row < r.src_rows; ++row) {
    fill_pixels(random, r.dtype, any_bits, image + row * r.src_pitch, static_cast<size_t>(row_bytes(r, r.src_cols)));
  }
}

double value_of(gpumem_dtype dtype, const unsigned char* p) {
  return dtype == GPUMEM_U8 ? get<uint8_t>(p) : dtype == GPUMEM_U16 ? get<uint16_t>(p) : double{get<float>(p)};
}

class ResizeConformance : public Conformance {
 protected:
  // Where textures could read src, if it asks for that.
  GuardedBuffer source(const ResizeCase& c, size_t bytes) {
    size_t offset = c.src_offset;
    if (c.src_pad < 0) {
      const auto address = reinterpret_cast<uintptr_t>(blocks.buffer(0, c.src, bytes + 512, 0).data());
      offset = (512 - address % 512) % 512;
    }
    return blocks.buffer(0, c.src, bytes, offset);
  }

  // What the texture unit gives: the gaps and guards as they were, and each value near the exact one.
  void expect_near(const Resize& r, const GuardedBuffer& dst, const Bytes& expected, const std::string& what) {
    const Bytes got = download(ctx, dst.data(), dst.size());
    for (int64_t i = 0; i < r.dst_rows; ++i) {
      for (int64_t k = 0; k < r.dst_cols * r.channels; ++k) {
        const auto at = static_cast<size_t>(i * r.dst_pitch + k * element_bytes_of(r.dtype));
        const Between b = exact_bilinear(r, i, k / r.channels, k % r.channels);
        const long double magnitude = std::max(std::fabs(b.least), std::fabs(b.most));
        const long double bound = (b.most - b.least) / 128 + (r.dtype == GPUMEM_F32 ? magnitude * 0x1p-20L : 1.0L);
        const double value = value_of(r.dtype, got.data() + at);
        ASSERT_LE(std::fabs(static_cast<long double>(value) - b.value), bound)
            << what << ", row " << i << ", element " << k;
      }
    }
    static_cast<void>(expected);
  }

  void run_case(const ResizeCase& c, EveryVariant& variants, Random& random) {
    Resize r{c.filter, c.dtype, c.channels, nullptr, c.src_rows, c.src_cols, 0, nullptr, c.dst_rows, c.dst_cols, 0};
    const int64_t src_row = row_bytes(r, c.src_cols);
    r.src_pitch = c.src_pad < 0 ? (src_row + 31) / 32 * 32 : src_row + c.src_pad;
    r.dst_pitch = row_bytes(r, c.dst_cols) + c.dst_pad;
    const bool empty = c.dst_rows == 0 || c.dst_cols == 0;
    GuardedBuffer src = source(c, c.src_rows == 0 ? 0 : static_cast<size_t>(src_bytes(r)));
    GuardedBuffer dst = blocks.buffer(1, c.dst, static_cast<size_t>(dst_bytes(r)), c.dst_offset);
    fill_rows(random, r, c.any_bits, src.image());
    src.write();
    const Bytes poisoned = dst.whole_image();
    Resize on_heap = r;
    on_heap.src = src.image();
    on_heap.dst = dst.image();
    resize_reference(on_heap);
    const Bytes expected = dst.whole_image();
    r.src = src.data();
    r.dst = dst.data();
    const bool host_side[2] = {on_host(c.src), on_host(c.dst)};
    const bool moved = on_cuda() && host_side[0] != host_side[1];
    const std::string what = describe(r) + ", from " + kind_name(c.src) + " to " + kind_name(c.dst);
    variants.for_each(line_of(ctx, r), empty, [&](bool accepted, const char* variant) {
      const bool near = std::strcmp(variant, kTexture) == 0 && c.filter == GPUMEM_FILTER_BILINEAR && !empty;
      for (const bool async : {false, true}) {
        dst.whole_image() = poisoned;
        dst.write();
        const bool runs = accepted && (empty || !async || !moved);
        const gpumem_status status = async ? run_async(ctx, r, nullptr) : run(ctx, r);
        ASSERT_TRUE(gives(runs ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant << ", " << what;
        ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        if (runs && near) {
          if (!c.any_bits || c.dtype != GPUMEM_F32) expect_near(on_heap, dst, expected, what);
          continue;
        }
        if (runs) dst.whole_image() = expected;
        ASSERT_TRUE(dst.intact()) << variant << (async ? ", enqueued, " : ", ") << what;
      }
    });
    EXPECT_TRUE(src.intact()) << "the input changed: " << what;
  }

  static bool on_host(gpumem_memory_kind kind) {
    return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED;
  }

  // In host memory, or where the device works on it.
  void resize_here(const Resize& on_heap) {
    if (!on_cuda()) {
      ASSERT_TRUE(ok(run(ctx, on_heap)));
      return;
    }
    GuardedBuffer src = blocks.buffer(0, GPUMEM_MEMORY_DEVICE, static_cast<size_t>(src_bytes(on_heap)), 0);
    GuardedBuffer dst = blocks.buffer(1, GPUMEM_MEMORY_DEVICE, static_cast<size_t>(dst_bytes(on_heap)), 0);
    src.set(on_heap.src);
    Resize r = on_heap;
    r.src = src.data();
    r.dst = dst.data();
    ASSERT_TRUE(ok(run(ctx, r)));
    const Bytes got = download(ctx, dst.data(), dst.size());
    std::memcpy(on_heap.dst, got.data(), got.size());
  }
};

TEST_P(ResizeConformance, GivesTheHeadersPixelsByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_RESIZE);
  Random random;
  for (const ResizeCase& c : resize_cases(quick_run())) {
    run_case(c, variants, random);
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda());
}

// The bounds that the header states.
TEST_P(ResizeConformance, IsAsNearTheExactValueAsTheHeaderSays) {
  Random random(1);
  long double largest[3] = {};
  for (int round = 0; round < (quick_run() ? 12 : 60); ++round) {
    const gpumem_dtype dtype = cases::kPixelTypes[round % 3];
    const auto channels = static_cast<int32_t>(1 + random.below(4));
    Image src(random.between(1, 60), random.between(1, 60), dtype, channels);
    Image dst(random.between(1, 130), random.between(1, 130), dtype, channels);
    fill_pixels(random, dtype, false, src.bytes.data(), src.bytes.size());
    // The largest differences: black and white pixels.
    if (round % 2 == 0 && dtype != GPUMEM_F32) {
      for (unsigned char& byte : src.bytes) byte = static_cast<unsigned char>(byte % 2 == 0 ? 0 : 255);
    }
    const Resize r = between(GPUMEM_FILTER_BILINEAR, dtype, channels, src, dst);
    resize_here(r);
    for (int64_t k = 0; k < dst.rows * dst.cols * channels; ++k) {
      const int64_t pixel = k / channels;
      const Between b = exact_bilinear(r, pixel / dst.cols, pixel % dst.cols, k % channels);
      const double got = value_of(dtype, dst.bytes.data() + k * element_bytes_of(dtype));
      const long double range = b.most - b.least;
      const long double magnitude = std::max(std::fabs(b.least), std::fabs(b.most));
      const long double bound = dtype == GPUMEM_U8    ? 0.5L + range * 0x1p-12L
                                : dtype == GPUMEM_U16 ? 0.5L + range * (0x1p-17L + 0x1p-25L)
                                                      : magnitude * 0x1p-20L + 0x1p-147L;
      const long double error = std::fabs(static_cast<long double>(got) - b.value);
      ASSERT_LE(error, bound * (1 + 1e-12L)) << describe(r) << ", element " << k;
      if (dtype != GPUMEM_F32) {
        ASSERT_LE(std::fabs(static_cast<long double>(got) - std::floor(b.value + 0.5L)), 1);
      }
      long double& most = largest[round % 3];
      most = std::max(most, dtype == GPUMEM_F32 ? error / std::max(magnitude, 1e-30L) : error);
    }
  }
  std::printf("largest error: u8 %.4Lf, u16 %.4Lf, f32 %.3Lg of the largest pixel\n", largest[0], largest[1],
              largest[2]);
  EXPECT_GT(largest[0], 0.4L);
  EXPECT_GT(largest[1], 0.4L);
  EXPECT_GT(largest[2], 0x1p-27L);
}

TEST_P(ResizeConformance, OfTheSameSizesIsTheSameImage) {
  Random random(2);
  for (const gpumem_filter filter : cases::kFilters) {
    for (const gpumem_dtype dtype : cases::kPixelTypes) {
      for (int32_t channels = 1; channels <= 4; ++channels) {
        Image src(random.between(1, 80), random.between(1, 80), dtype, channels);
        Image dst(src.rows, src.cols, dtype, channels);
        fill_pixels(random, dtype, true, src.bytes.data(), src.bytes.size());
        for (size_t at = 0; dtype == GPUMEM_F32 && at < src.bytes.size(); at += 4) {
          if (std::isnan(get<float>(&src.bytes[at]))) put_at(&src.bytes[at], -0.0f);
        }
        const Resize r = between(filter, dtype, channels, src, dst);
        resize_here(r);
        EXPECT_EQ(dst.bytes, src.bytes) << describe(r);
      }
    }
  }
}

TEST_P(ResizeConformance, OfAConstantIsTheConstant) {
  Random random(3);
  static constexpr uint32_t kFloats[] = {0x80000000, 0x7f800000, 0xff800000, 0x7f7fffff, 0x00000001, 0x3eaaaaab};
  for (const gpumem_filter filter : cases::kFilters) {
    for (const gpumem_dtype dtype : cases::kPixelTypes) {
      for (const uint32_t bits : kFloats) {
        Image src(random.between(1, 40), random.between(1, 40), dtype, 1);
        Image dst(random.between(1, 90), random.between(1, 90), dtype, 1);
        const auto element = static_cast<size_t>(src.pixel);
        const auto is_constant = [&](const Bytes& bytes) {
          for (size_t at = 0; at < bytes.size(); at += element) {
            if (std::memcmp(&bytes[at], &bits, element) != 0) return false;
          }
          return true;
        };
        for (size_t at = 0; at < src.bytes.size(); at += element) std::memcpy(&src.bytes[at], &bits, element);
        const Resize r = between(filter, dtype, 1, src, dst);
        resize_here(r);
        EXPECT_TRUE(is_constant(dst.bytes)) << describe(r) << ", " << bits;
      }
    }
  }
}

// Along the rows of an image whose rows are all the same, or down such columns.
TEST_P(ResizeConformance, OfARampIsMonotone) {
  Random random(4);
  for (int round = 0; round < 120; ++round) {
    const gpumem_dtype dtype = cases::kPixelTypes[round % 3];
    const gpumem_filter filter = cases::kFilters[round / 3 % 2];
    const bool down = round % 2 == 0;
    const int64_t length = random.between(1, 300);
    const int64_t made = random.between(1, 900);
    const Image shape(down ? length : 3, down ? 3 : length, dtype, 1);
    Image src = shape;
    Image dst(down ? made : 5, down ? 5 : made, dtype, 1);
    std::vector<double> ramp(static_cast<size_t>(length));
    for (double& step : ramp) {
      Bytes one(4);
      fill_pixels(random, dtype, false, one.data(), static_cast<size_t>(src.pixel));
      step = value_of(dtype, one.data());
      if (dtype == GPUMEM_F32 && round % 4 < 2) step *= std::ldexp(1.0, static_cast<int>(random.between(-60, 60)));
    }
    std::sort(ramp.begin(), ramp.end());
    for (int64_t i = 0; i < src.rows * src.cols; ++i) {
      const double value = ramp[static_cast<size_t>(down ? i / src.cols : i % src.cols)];
      unsigned char* to = src.bytes.data() + i * src.pixel;
      if (dtype == GPUMEM_U8) put_at(to, static_cast<uint8_t>(value));
      if (dtype == GPUMEM_U16) put_at(to, static_cast<uint16_t>(value));
      if (dtype == GPUMEM_F32) put_at(to, static_cast<float>(value));
    }
    const Resize r = between(filter, dtype, 1, src, dst);
    resize_here(r);
    const int64_t step = down ? dst.cols : 1;
    for (int64_t i = 0; i < dst.rows * dst.cols; ++i) {
      if (down ? i < dst.cols : i % dst.cols == 0) continue;
      const double before = value_of(dtype, dst.bytes.data() + (i - step) * dst.pixel);
      ASSERT_LE(before, value_of(dtype, dst.bytes.data() + i * dst.pixel)) << describe(r) << ", pixel " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ResizeConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

// As many pieces of work as the host cuts it into, and any of its instruction sets.
TEST(ResizeBits, AreTheSameWithAnyThreadsAndInstructions) {
  Random random(5);
  for (const gpumem_filter filter : cases::kFilters) {
    for (const gpumem_dtype dtype : cases::kPixelTypes) {
      const int32_t channels = dtype == GPUMEM_U16 ? 4 : 3;
      Image src(random.between(200, 400), random.between(400, 900), dtype, channels);
      Image dst(random.between(200, 500), random.between(1200, 2500), dtype, channels);
      fill_pixels(random, dtype, true, src.bytes.data(), src.bytes.size());
      Image expected = dst;
      resize_reference(between(filter, dtype, channels, src, expected));
      for (const char* simd : {"base", "avx2", "avx512"}) {
        ASSERT_EQ(setenv("GPUMEM_HOST_SIMD", simd, 1), 0);
        for (const int32_t threads : {1, 2, 3, 7}) {
          const Context ctx(On::host, threads);
          std::fill(dst.bytes.begin(), dst.bytes.end(), static_cast<unsigned char>(0xA5));
          const Resize r = between(filter, dtype, channels, src, dst);
          ASSERT_TRUE(ok(run(ctx, r)));
          EXPECT_TRUE(dst.bytes == expected.bytes) << simd << ", " << threads << " threads, " << describe(r);
        }
      }
      ASSERT_EQ(unsetenv("GPUMEM_HOST_SIMD"), 0);
    }
  }
}

#if defined(__x86_64__) || defined(__aarch64__)
// A program that flushes subnormals, rounds to zero and traps.
TEST(ResizeBits, DoNotDependOnTheFloatingPointEnvironment) {
  Random random(6);
  Image src(40, 50, GPUMEM_F32, 2);
  Image dst(70, 90, GPUMEM_F32, 2);
  for (size_t at = 0; at < src.bytes.size(); at += 4) {
    put_at(&src.bytes[at], at % 3 == 0 ? special(random) : std::ldexp(moderate(random), -140));
  }
  Image expected = dst;
  resize_reference(between(GPUMEM_FILTER_BILINEAR, GPUMEM_F32, 2, src, expected));
  for (const char* variant : {"host_parallel", "host_serial"}) {
    const Context ctx(On::host);
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, variant)));
    const Resize r = between(GPUMEM_FILTER_BILINEAR, GPUMEM_F32, 2, src, dst);
    gpumem_status status = -1;
    EXPECT_EQ(in({"odd", kOddAndTrapping}, [&] { status = run(ctx, r); }), kOddAndTrapping);
    ASSERT_TRUE(ok(status));
    EXPECT_TRUE(dst.bytes == expected.bytes) << variant;
  }
}
#endif

}  // namespace
}  // namespace gpumem_test
