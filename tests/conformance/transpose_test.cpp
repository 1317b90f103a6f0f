// gpumem_transpose against the formula of the header, over the list of cases, by every variant.
#include <algorithm>
#include <cstring>

#include "conformance/conformance.hpp"
#include "conformance/transpose_cases.hpp"

namespace gpumem_test {
namespace {

// dst[b*dst_batch_stride + j*dst_ld + i] = src[b*src_batch_stride + i*src_ld + j]
template <size_t kElement>
void transpose_elements(const TransposeCase& c, const unsigned char* src, unsigned char* dst) {
  for (int64_t b = 0; b < c.batches; ++b) {
    for (int64_t i = 0; i < c.rows; ++i) {
      for (int64_t j = 0; j < c.cols; ++j) {
        std::memcpy(dst + static_cast<size_t>(b * c.dst_batch_stride + j * c.dst_ld + i) * kElement,
                    src + static_cast<size_t>(b * c.src_batch_stride + i * c.src_ld + j) * kElement, kElement);
      }
    }
  }
}

void transpose_reference(const TransposeCase& c, const unsigned char* src, unsigned char* dst) {
  switch (c.element_bytes) {
    case 1:
      return transpose_elements<1>(c, src, dst);
    case 2:
      return transpose_elements<2>(c, src, dst);
    case 4:
      return transpose_elements<4>(c, src, dst);
    case 8:
      return transpose_elements<8>(c, src, dst);
    default:
      return transpose_elements<16>(c, src, dst);
  }
}

bool empty(const TransposeCase& c) { return c.rows == 0 || c.cols == 0 || c.batches == 0; }

// Bytes from the first element of a rows x cols matrix to the end of the last one of the last matrix.
size_t extent(const TransposeCase& c, int64_t rows, int64_t cols, int64_t ld, int64_t batch_stride) {
  if (empty(c)) return 0;
  return static_cast<size_t>(((c.batches - 1) * batch_stride + (rows - 1) * ld + cols) * c.element_bytes);
}
size_t src_extent(const TransposeCase& c) { return extent(c, c.rows, c.cols, c.src_ld, c.src_batch_stride); }
size_t dst_extent(const TransposeCase& c) { return extent(c, c.cols, c.rows, c.dst_ld, c.dst_batch_stride); }

std::string describe(const TransposeCase& c) {
  return std::to_string(c.batches) + " x " + std::to_string(c.rows) + " x " + std::to_string(c.cols) + " of " +
         std::to_string(c.element_bytes) + " bytes, leading dimensions " + std::to_string(c.src_ld) + " and " +
         std::to_string(c.dst_ld) + ", batch strides " + std::to_string(c.src_batch_stride) + " and " +
         std::to_string(c.dst_batch_stride) + ", offsets " + std::to_string(c.src_offset) + " and " +
         std::to_string(c.dst_offset) + ", from " + kind_name(c.src) + " to " + kind_name(c.dst);
}

class TransposeConformance : public Conformance {
 protected:
  // Plain forms for single matrices where there is one, so that all four functions are run.
  gpumem_status call(const TransposeCase& c, const void* src, void* dst, bool async) {
    const bool single = c.batches == 1 && c.src_batch_stride == 0;
    if (!async && single) {
      return gpumem_transpose(ctx, c.element_bytes, c.rows, c.cols, src, c.src_ld, dst, c.dst_ld);
    }
    if (!async) {
      return gpumem_transpose_batched(ctx, c.element_bytes, c.rows, c.cols, src, c.src_ld, c.src_batch_stride, dst,
                                      c.dst_ld, c.dst_batch_stride, c.batches);
    }
    const gpumem_status status =
        single ? gpumem_transpose_async(ctx, c.element_bytes, c.rows, c.cols, src, c.src_ld, dst, c.dst_ld, nullptr)
               : gpumem_transpose_batched_async(ctx, c.element_bytes, c.rows, c.cols, src, c.src_ld, c.src_batch_stride,
                                                dst, c.dst_ld, c.dst_batch_stride, c.batches, nullptr);
    const gpumem_status synchronized = gpumem_stream_synchronize(ctx, nullptr);
    return status == GPUMEM_OK ? synchronized : status;
  }

  std::string line_of(const TransposeCase& c, const void* src, void* dst) {
    return transpose_line(ctx, c.element_bytes, c.rows, c.cols, src, c.src_ld, dst, c.dst_ld) +
           " batches=" + std::to_string(c.batches) + " src_batch_stride=" + std::to_string(c.src_batch_stride) +
           " dst_batch_stride=" + std::to_string(c.dst_batch_stride);
  }

  // What lies on two sides goes over in the plain form only.
  bool on_one_side(const TransposeCase& c) const {
    const auto on_host = [](gpumem_memory_kind kind) {
      return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED;
    };
    return !on_cuda() || on_host(c.src) == on_host(c.dst);
  }

  void run(const TransposeCase& c, EveryVariant& variants, Random& random) {
    GuardedBuffer src = blocks.buffer(0, c.src, src_extent(c), c.src_offset);
    GuardedBuffer dst = blocks.buffer(1, c.dst, dst_extent(c), c.dst_offset);
    random.fill(src.whole_image());
    src.write();
    const Bytes poisoned = dst.whole_image();
    transpose_reference(c, src.image(), dst.image());
    const Bytes expected = dst.whole_image();
    const auto once = [&](bool async, gpumem_status wanted, const char* variant) {
      dst.whole_image() = poisoned;
      dst.write();
      const gpumem_status status = call(c, src.data(), dst.data(), async);
      if (wanted == GPUMEM_OK) dst.whole_image() = expected;
      ASSERT_TRUE(gives(wanted, status)) << variant << (async ? ", enqueued, " : ", ") << describe(c);
      ASSERT_TRUE(dst.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(c);
    };
    const bool two_sides = !empty(c) && !on_one_side(c);
    once(true, two_sides ? GPUMEM_UNSUPPORTED : GPUMEM_OK, "no variant forced");
    variants.for_each(line_of(c, src.data(), dst.data()), empty(c), [&](bool accepted, const char* variant) {
      once(false, accepted ? GPUMEM_OK : GPUMEM_UNSUPPORTED, variant);
    });
    EXPECT_TRUE(src.intact()) << "the input changed: " << describe(c);
  }

  void run_in_place(const TransposeCase& c, EveryVariant& variants, Random& random) {
    GuardedBuffer data = blocks.buffer(0, c.src, std::max(src_extent(c), dst_extent(c)), c.src_offset);
    random.fill(data.whole_image());
    const Bytes before = data.whole_image();
    const Bytes source(data.image(), data.image() + data.size());
    transpose_reference(c, source.data(), data.image());
    const Bytes after = data.whole_image();
    const auto once = [&](bool async, bool accepted, const char* variant) {
      data.whole_image() = before;
      data.write();
      const gpumem_status status = call(c, data.data(), data.data(), async);
      if (accepted) data.whole_image() = after;
      ASSERT_TRUE(gives(accepted ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant << ", in place, " << describe(c);
      ASSERT_TRUE(data.intact()) << variant << (async ? ", enqueued" : "") << ", in place, " << describe(c);
    };
    once(true, true, "no variant forced");
    const bool nothing = empty(c) || std::min(c.rows, c.cols) == 1;  // a row is the same as a column
    variants.for_each(line_of(c, data.data(), data.data()), nothing,
                      [&](bool accepted, const char* variant) { once(false, accepted, variant); });
  }
};

TEST_P(TransposeConformance, MovesEveryElementByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_TRANSPOSE);
  Random random;
  for (const TransposeCase& c : transpose_cases(quick_run())) {
    run(c, variants, random);
    if (enough()) break;
  }
  for (const TransposeCase& c : transpose_in_place_cases(quick_run())) {
    run_in_place(c, variants, random);
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda());
}

TEST_P(TransposeConformance, CrossesTheLinkInPieces) {
  Random random;
  for (const TransposeCase& c : transpose_across_cases(on_cuda())) {
    GuardedBuffer src = blocks.buffer(0, c.src, src_extent(c), c.src_offset);
    GuardedBuffer dst = blocks.buffer(1, c.dst, dst_extent(c), c.dst_offset);
    random.fill(src.whole_image());
    src.write();
    dst.write();
    transpose_reference(c, src.image(), dst.image());
    ASSERT_TRUE(ok(call(c, src.data(), dst.data(), false))) << describe(c);
    ASSERT_TRUE(dst.intact()) << describe(c);
    ASSERT_TRUE(src.intact()) << "the input changed: " << describe(c);
  }
}

// What was enqueued on the context's own stream comes first, whichever way it goes and however many pieces there are.
TEST_P(TransposeConformance, CrossesBehindWhatWasEnqueued) {
  constexpr int64_t kRows = 1000;
  constexpr int64_t kCols = 1100;
  constexpr int64_t kElement = 16;
  constexpr int64_t kBytes = kRows * kCols * kElement;
  const TransposeCase c{kElement, kRows, kCols, kCols, kRows, 0, 0, GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_PAGEABLE};
  Random random;
  const Memory before(ctx, GPUMEM_MEMORY_DEVICE, kBytes);
  for (const auto& [from, to] :
       {std::pair{GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE}, std::pair{GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE},
        std::pair{GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_PINNED},
        std::pair{GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_PAGEABLE}}) {
    Bytes values(kBytes);
    random.fill(values);
    Bytes expected(kBytes);
    Bytes got(kBytes);
    transpose_reference(c, values.data(), expected.data());
    const Memory src(ctx, from, kBytes);
    const Memory dst(ctx, to, kBytes);
    ASSERT_TRUE(ok(gpumem_copy(ctx, before.bytes(), values.data(), kBytes)));
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, src.bytes(), before.bytes(), kBytes, nullptr)));
    ASSERT_TRUE(ok(gpumem_transpose(ctx, kElement, kRows, kCols, src.bytes(), kCols, dst.bytes(), kRows)));
    ASSERT_TRUE(ok(gpumem_copy(ctx, got.data(), dst.bytes(), kBytes)));
    EXPECT_TRUE(got == expected) << kind_name(from) << " to " << kind_name(to);
  }
}

INSTANTIATE_TEST_SUITE_P(On, TransposeConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
