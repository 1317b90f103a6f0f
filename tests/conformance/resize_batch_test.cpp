// gpumem_resize_2d_batch by every variant: each image has the pixels of the reference of one image, and nothing else is
// written.
#include <algorithm>
#include <cstring>

#include "conformance/conformance.hpp"
#include "conformance/resize_cases.hpp"
#include "support/image_batch.hpp"

namespace gpumem_test {
namespace {

struct Layout {
  int64_t count;
  int64_t least_cols;  // of dst; from 32 on, images of bytes are resized by words
  int64_t most;        // rows or columns
  bool aligned;
};

void fill_moderate(Random& random, gpumem_dtype dtype, unsigned char* p, size_t bytes) {
  for (size_t at = 0; at < bytes; ++at) p[at] = static_cast<unsigned char>(random.bits() >> 56);
  for (size_t at = 0; dtype == GPUMEM_F32 && at + 4 <= bytes; at += 4) {
    const auto value = static_cast<float>(static_cast<int64_t>(random.below(20001)) - 10000);
    std::memcpy(p + at, &value, sizeof value);
  }
}

bool on_host(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED; }

class ResizeBatchConformance : public Conformance {
 protected:
  // Two buffers of images, of two kinds of memory.
  struct Sources {
    gpumem_memory_kind kind[2];
    std::vector<int64_t> at;  // in its buffer
    std::vector<int> in;
  };

  void draw_images(const Layout& layout, Random& random, ResizeBatch& b, Sources& sources, int64_t (&bytes)[2]) {
    const int64_t element = element_bytes_of(b.dtype);
    const auto some = [&](int64_t most) {
      return layout.aligned ? element * random.between(0, most) : random.between(0, most);
    };
    const bool tight = random.below(3) == 0;
    const bool alike = random.below(3) == 0;  // of one size, at one distance
    const int64_t gap = some(5);
    for (int64_t k = 0; k < layout.count; ++k) {
      const bool repeats = alike && k > 0;
      b.src.push_back(nullptr);
      b.rows.push_back(repeats ? b.rows[0] : random.between(1, layout.most));
      b.cols.push_back(repeats ? b.cols[0] : random.between(1, layout.most));
      const int64_t row = b.cols.back() * b.channels * element;
      if (!tight) b.pitches.push_back(repeats ? b.pitches[0] : row + some(9));
      const int in = repeats ? sources.in[0] : static_cast<int>(random.below(2));
      sources.in.push_back(in);
      bytes[in] += alike ? gap : some(5);
      sources.at.push_back(bytes[in]);
      bytes[in] += src_bytes(b.image(k));
    }
    b.dst_rows = random.between(1, layout.most);
    b.dst_cols = random.between(layout.least_cols, layout.least_cols + layout.most);
    b.dst_pitch = b.dst_cols * b.channels * element + some(9);
    b.dst_stride = dst_bytes(b.image(0)) + some(20);
  }

  void run_layout(const Layout& layout, ResizeBatch b, const std::vector<std::string>& variants, Random& random) {
    Sources sources{{cases::kind(random.below(cases::kKinds)), cases::kind(random.below(cases::kKinds))}, {}, {}};
    const gpumem_memory_kind dst_kind = cases::kind(random.below(cases::kKinds));
    if (random.below(2) == 0) sources.kind[0] = sources.kind[1] = dst_kind;
    int64_t bytes[2] = {0, 0};
    draw_images(layout, random, b, sources, bytes);
    const auto element = static_cast<size_t>(element_bytes_of(b.dtype));
    const auto offset = [&] { return (layout.aligned ? element : 1) * random.below(4); };
    std::vector<GuardedBuffer> from;
    for (const int i : {0, 1}) {
      from.push_back(blocks.buffer(i, sources.kind[i], static_cast<size_t>(bytes[i]), offset()));
      fill_moderate(random, GPUMEM_U8, from[static_cast<size_t>(i)].image(), static_cast<size_t>(bytes[i]));
    }
    const auto dst_size = static_cast<size_t>((layout.count - 1) * b.dst_stride + dst_bytes(b.image(0)));
    GuardedBuffer dst = blocks.buffer(2, dst_kind, dst_size, offset());
    bool moved = false;
    for (size_t k = 0; k < b.src.size(); ++k) {
      GuardedBuffer& source = from[static_cast<size_t>(sources.in[k])];
      b.src[k] = source.image() + sources.at[k];
      const Resize r = b.image(static_cast<int64_t>(k));
      for (int64_t row = 0; row < r.src_rows; ++row) {
        fill_moderate(random, b.dtype, source.image() + sources.at[k] + row * r.src_pitch,
                      static_cast<size_t>(row_bytes(r, r.src_cols)));
      }
      moved = moved || (on_cuda() && on_host(sources.kind[sources.in[k]]) != on_host(dst_kind));
    }
    for (GuardedBuffer& source : from) source.write();
    const Bytes poisoned = dst.whole_image();
    b.dst = dst.image();
    for (int64_t k = 0; k < layout.count; ++k) resize_reference(b.image(k));
    const Bytes expected = dst.whole_image();
    for (size_t k = 0; k < b.src.size(); ++k)
      b.src[k] = from[static_cast<size_t>(sources.in[k])].data() + sources.at[k];
    b.dst = dst.data();
    const std::string what = std::to_string(layout.count) + " images, the first " + describe(b.image(0)) + ", from " +
                             kind_name(sources.kind[0]) + " and " + kind_name(sources.kind[1]) + " to " +
                             kind_name(dst_kind);
    for (const std::string& variant : variants) {
      ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, variant.empty() ? nullptr : variant.c_str())));
      for (const bool async : {false, true}) {
        dst.whole_image() = poisoned;
        dst.write();
        const gpumem_status status = async ? run_async(ctx, b, nullptr) : run(ctx, b);
        ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        if (async && moved) {
          ASSERT_TRUE(gives(GPUMEM_UNSUPPORTED, status)) << what;
        } else if (status != GPUMEM_OK) {
          ASSERT_TRUE(gives(GPUMEM_UNSUPPORTED, status)) << what;
          ASSERT_FALSE(variant.empty()) << what;
        } else {
          ++ran[variant];
          dst.whole_image() = expected;
        }
        ASSERT_TRUE(dst.intact()) << variant << (async ? ", enqueued, " : ", ") << what;
      }
    }
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_RESIZE, nullptr)));
    for (const GuardedBuffer& source : from) EXPECT_TRUE(source.intact()) << "the input changed: " << what;
  }

  std::map<std::string, int64_t> ran;
};

TEST_P(ResizeBatchConformance, GivesThePixelsOfEachImageByEveryVariant) {
  static constexpr Layout kLayouts[] = {{1, 1, 40, true},   {2, 32, 30, true},   {3, 32, 200, false},
                                        {5, 1, 20, true},   {7, 33, 60, true},   {4, 1, 9, false},
                                        {40, 32, 12, true}, {2, 300, 150, true}, {113, 32, 8, true},
                                        {230, 1, 4, false}, {6, 40, 90, true},   {112, 1, 6, true}};
  std::vector<std::string> variants = variant_names(GPUMEM_FAMILY_RESIZE);
  variants.erase(std::remove(variants.begin(), variants.end(), "texture"), variants.end());  // it takes one image
  variants.insert(variants.begin(), "");
  Random random;
  size_t next = 0;
  for (int round = 0; round < (quick_run() ? 1 : 3); ++round) {
    for (const gpumem_filter filter : cases::kFilters) {
      for (const gpumem_dtype dtype : cases::kPixelTypes) {
        for (int32_t channels = 1; channels <= 4; ++channels) {
          for (int i = 0; i < 4; ++i) {
            ResizeBatch b{.filter = filter, .dtype = dtype, .channels = channels};
            run_layout(kLayouts[next++ % std::size(kLayouts)], b, variants, random);
            if (enough()) return;
          }
          next += 1 + random.below(3);
        }
      }
    }
  }
  for (const std::string& variant : variants) {
    const bool runs_here = variant.empty() || variant.rfind("host_", 0) == 0 || on_cuda();
    EXPECT_EQ(ran[variant] > 0, runs_here) << variant;
    std::printf("%-20s %8lld runs\n", variant.c_str(), static_cast<long long>(ran[variant]));
  }
}

// Many threads and few, with bands of rows of several images.
TEST(ResizeBatchBits, AreTheSameWithAnyThreads) {
  Random random(1);
  constexpr int64_t kImages = 5;
  std::vector<Bytes> images;
  ResizeBatch b{.channels = 3};
  b.dst_rows = 60;
  b.dst_cols = 1100;
  b.dst_pitch = b.dst_cols * 3;
  b.dst_stride = b.dst_rows * b.dst_pitch;
  for (int64_t k = 0; k < kImages; ++k) {
    b.rows.push_back(random.between(100, 300));
    b.cols.push_back(random.between(100, 500));
    images.emplace_back(static_cast<size_t>(b.rows.back() * b.cols.back() * 3));
    random.fill(images.back());
  }
  for (const Bytes& image : images) b.src.push_back(image.data());
  Bytes expected(static_cast<size_t>(kImages * b.dst_stride));
  b.dst = expected.data();
  for (int64_t k = 0; k < kImages; ++k) resize_reference(b.image(k));
  for (const int32_t threads : {1, 2, 7}) {
    const Context ctx(On::host, threads);
    Bytes dst(expected.size(), 0xA5);
    b.dst = dst.data();
    ASSERT_TRUE(ok(run(ctx, b)));
    EXPECT_TRUE(dst == expected) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(On, ResizeBatchConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
