#include "host/openmp_peers.hpp"

#include <vector>

namespace bench::openmp {
namespace {

struct Tap {
  int64_t low;
  int64_t high;
  uint32_t weight;  // of the second, in units of 2^-12
};

Tap tap(int64_t i, int64_t src, int64_t dst) {
  const int64_t centre = (2 * i + 1) * src - dst;
  if (centre <= 0) return {0, 0, 0};
  const int64_t low = centre / (2 * dst);
  if (low >= src - 1) return {src - 1, src - 1, 0};
  return {low, low + 1, static_cast<uint32_t>((centre % (2 * dst) * 4096 + dst) / (2 * dst))};
}

}  // namespace

void resize_bilinear(const Resize& r) {
  std::vector<Tap> columns(static_cast<std::size_t>(r.dst_cols));
  for (int64_t j = 0; j < r.dst_cols; ++j) columns[static_cast<std::size_t>(j)] = tap(j, r.src_cols, r.dst_cols);
#pragma omp parallel for
  for (int64_t i = 0; i < r.dst_rows; ++i) {
    const Tap y = tap(i, r.src_rows, r.dst_rows);
    const uint8_t* upper = r.src + y.low * r.src_cols * r.channels;
    const uint8_t* lower = r.src + y.high * r.src_cols * r.channels;
    uint8_t* to = r.dst + i * r.dst_cols * r.channels;
    for (int64_t j = 0; j < r.dst_cols; ++j) {
      const Tap x = columns[static_cast<std::size_t>(j)];
      for (int64_t c = 0; c < r.channels; ++c) {
        const int64_t left = x.low * r.channels + c;
        const int64_t right = x.high * r.channels + c;
        const uint32_t a = upper[left] * (4096 - x.weight) + upper[right] * x.weight;
        const uint32_t b = lower[left] * (4096 - x.weight) + lower[right] * x.weight;
        to[j * r.channels + c] = static_cast<uint8_t>((a * (4096 - y.weight) + b * y.weight + (1u << 23)) >> 24);
      }
    }
  }
}

}  // namespace bench::openmp
