// gpumem_transpose against the formula of the header, over the list of cases, by every variant.
#include <cstring>

#include "conformance/conformance.hpp"

namespace gpumem_test {
namespace {

// dst[j*dst_ld + i] = src[i*src_ld + j]
template <size_t kElement>
void transpose_elements(const TransposeCase& c, const unsigned char* src, unsigned char* dst) {
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.cols; ++j) {
      std::memcpy(dst + static_cast<size_t>(j * c.dst_ld + i) * kElement,
                  src + static_cast<size_t>(i * c.src_ld + j) * kElement, kElement);
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

// Bytes from the first element of a rows x cols matrix to the end of its last.
size_t extent(int64_t rows, int64_t cols, int64_t ld, int64_t element_bytes) {
  return rows == 0 || cols == 0 ? 0 : static_cast<size_t>(((rows - 1) * ld + cols) * element_bytes);
}

std::string describe(const TransposeCase& c) {
  return std::to_string(c.rows) + " x " + std::to_string(c.cols) + " of " + std::to_string(c.element_bytes) +
         " bytes, leading dimensions " + std::to_string(c.src_ld) + " and " + std::to_string(c.dst_ld) + ", offsets " +
         std::to_string(c.src_offset) + " and " + std::to_string(c.dst_offset) + ", from " + kind_name(c.src) + " to " +
         kind_name(c.dst);
}

class TransposeConformance : public Conformance {
 protected:
  void run(const TransposeCase& c, EveryVariant& variants, Random& random) {
    GuardedBuffer src = blocks.buffer(0, c.src, extent(c.rows, c.cols, c.src_ld, c.element_bytes), c.src_offset);
    GuardedBuffer dst = blocks.buffer(1, c.dst, extent(c.cols, c.rows, c.dst_ld, c.element_bytes), c.dst_offset);
    random.fill(src.whole_image());
    src.write();
    const Bytes poisoned = dst.whole_image();
    transpose_reference(c, src.image(), dst.image());
    const Bytes expected = dst.whole_image();
    const gpumem_problem problem =
        transpose_problem(c.element_bytes, c.rows, c.cols, src.data(), c.src_ld, dst.data(), c.dst_ld);
    const bool empty = c.rows == 0 || c.cols == 0;
    variants.for_each(problem, empty, [&](bool accepted, const char* variant) {
      dst.whole_image() = poisoned;
      dst.write();
      const gpumem_status status =
          gpumem_transpose(ctx, c.element_bytes, c.rows, c.cols, src.data(), c.src_ld, dst.data(), c.dst_ld);
      if (accepted) dst.whole_image() = expected;
      ASSERT_TRUE(gives(accepted ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant << ", " << describe(c);
      ASSERT_TRUE(dst.intact()) << variant << ", " << describe(c);
    });
    EXPECT_TRUE(src.intact()) << "the input changed: " << describe(c);
  }
};

TEST_P(TransposeConformance, MovesEveryElementByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_TRANSPOSE);
  Random random;
  for (const TransposeCase& c : transpose_cases(quick_run())) {
    run(c, variants, random);
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda());
}

INSTANTIATE_TEST_SUITE_P(On, TransposeConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
