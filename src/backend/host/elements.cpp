#include "backend/host/elements.hpp"

#include <cstring>

namespace gpumem {

void transpose_elements(const TransposeParams& a) noexcept {
  const auto bytes = static_cast<size_t>(a.element_bytes);
  for (int64_t batch = 0; batch < a.batches; ++batch) {
    const auto* src = static_cast<const char*>(a.src) + batch * a.src_batch_stride * a.element_bytes;
    auto* dst = static_cast<char*>(a.dst) + batch * a.dst_batch_stride * a.element_bytes;
    for (int64_t r = 0; r < a.rows; ++r) {
      for (int64_t c = 0; c < a.cols; ++c) {
        std::memcpy(dst + (c * a.dst_ld + r) * a.element_bytes, src + (r * a.src_ld + c) * a.element_bytes, bytes);
      }
    }
  }
}

}  // namespace gpumem
