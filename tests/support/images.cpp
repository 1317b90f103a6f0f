#include "support/images.hpp"

#include <algorithm>
#include <cmath>

namespace gpumem_test {
namespace {

__extension__ typedef __int128 Wide;

template <class T>
T element(const Resize& r, int64_t row, int64_t col, int64_t channel) {
  T value;
  std::memcpy(&value,
              static_cast<const char*>(r.src) + row * r.src_pitch +
                  (col * r.channels + channel) * static_cast<int64_t>(sizeof(T)),
              sizeof value);
  return value;
}

int64_t clamped(Wide i, int64_t extent) { return static_cast<int64_t>(std::clamp<Wide>(i, 0, extent - 1)); }

Wide floor_div(Wide a, Wide b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// The two neighbours of a centre, and the second one's weight in units of 2^-bits, halves up.
struct Neighbours {
  int64_t low;
  int64_t high;
  Wide weight;
};
Neighbours neighbours(int64_t i, int64_t src, int64_t dst, int bits) {
  const Wide centre = (2 * Wide{i} + 1) * src - dst;
  const Wide low = floor_div(centre, 2 * Wide{dst});
  const Wide fraction = centre - low * 2 * dst;
  return {clamped(low, src), clamped(low + 1, src), ((fraction << bits) + dst) / (2 * Wide{dst})};
}

// Integers: one sum of four products.
template <class T>
T blend(const Resize& r, const Neighbours& down, const Neighbours& across, int64_t c, int down_bits, int across_bits) {
  const Wide wy[2] = {(Wide{1} << down_bits) - down.weight, down.weight};
  const Wide wx[2] = {(Wide{1} << across_bits) - across.weight, across.weight};
  Wide sum = Wide{1} << (down_bits + across_bits - 1);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 2; ++x) {
      sum += wy[y] * wx[x] * element<T>(r, y == 0 ? down.low : down.high, x == 0 ? across.low : across.high, c);
    }
  }
  return static_cast<T>(sum >> (down_bits + across_bits));
}

// volatile: each operation by itself.
float blend(float a, float b, Wide weight) {
  if (weight == 0) b = a;
  if (weight == 1 << 24) a = b;
  if (a == b) return a;
  const volatile float w = std::ldexp(static_cast<float>(weight), -24);
  const volatile float difference = b - a;
  const volatile float product = w * difference;
  const volatile float sum = a + product;
  return sum;
}

template <class T>
T bilinear(const Resize& r, int64_t i, int64_t j, int64_t c);

template <>
uint8_t bilinear(const Resize& r, int64_t i, int64_t j, int64_t c) {
  return blend<uint8_t>(r, neighbours(i, r.src_rows, r.dst_rows, 12), neighbours(j, r.src_cols, r.dst_cols, 12), c, 12,
                        12);
}
template <>
uint16_t bilinear(const Resize& r, int64_t i, int64_t j, int64_t c) {
  return blend<uint16_t>(r, neighbours(i, r.src_rows, r.dst_rows, 24), neighbours(j, r.src_cols, r.dst_cols, 16), c, 24,
                         16);
}
template <>
float bilinear(const Resize& r, int64_t i, int64_t j, int64_t c) {
  const Neighbours y = neighbours(i, r.src_rows, r.dst_rows, 24);
  const Neighbours x = neighbours(j, r.src_cols, r.dst_cols, 24);
  const float upper = blend(element<float>(r, y.low, x.low, c), element<float>(r, y.low, x.high, c), x.weight);
  const float lower = blend(element<float>(r, y.high, x.low, c), element<float>(r, y.high, x.high, c), x.weight);
  const float value = blend(upper, lower, y.weight);
  if (!std::isnan(value)) return value;
  const uint32_t nan = 0x7fc00000;
  float canonical;
  std::memcpy(&canonical, &nan, sizeof nan);
  return canonical;
}

// Nearest: the one pixel whose extent [k, k + 1) holds the centre, by its definition.
int64_t nearest(int64_t i, int64_t src, int64_t dst) {
  return static_cast<int64_t>((2 * Wide{i} + 1) * src / (2 * Wide{dst}));
}

template <class T>
void resize_elements(const Resize& r) {
  for (int64_t i = 0; i < r.dst_rows; ++i) {
    for (int64_t j = 0; j < r.dst_cols; ++j) {
      for (int64_t c = 0; c < r.channels; ++c) {
        char* to = static_cast<char*>(r.dst) + i * r.dst_pitch + (j * r.channels + c) * static_cast<int64_t>(sizeof(T));
        if (r.filter == GPUMEM_FILTER_NEAREST) {
          std::memcpy(to,
                      static_cast<const char*>(r.src) + nearest(i, r.src_rows, r.dst_rows) * r.src_pitch +
                          (nearest(j, r.src_cols, r.dst_cols) * r.channels + c) * static_cast<int64_t>(sizeof(T)),
                      sizeof(T));
        } else {
          const T value = bilinear<T>(r, i, j, c);
          std::memcpy(to, &value, sizeof value);
        }
      }
    }
  }
}

long double number(const Resize& r, int64_t row, int64_t col, int64_t channel) {
  if (r.dtype == GPUMEM_U8) return element<uint8_t>(r, row, col, channel);
  if (r.dtype == GPUMEM_U16) return element<uint16_t>(r, row, col, channel);
  return element<float>(r, row, col, channel);
}

}  // namespace

void resize_reference(const Resize& r) {
  if (r.dtype == GPUMEM_U8) return resize_elements<uint8_t>(r);
  if (r.dtype == GPUMEM_U16) return resize_elements<uint16_t>(r);
  resize_elements<float>(r);
}

Between exact_bilinear(const Resize& r, int64_t i, int64_t j, int64_t channel) {
  const auto centre = [](int64_t k, int64_t src, int64_t dst) {
    const long double at =
        (static_cast<long double>(k) + 0.5L) * static_cast<long double>(src) / static_cast<long double>(dst);
    return std::clamp(at - 0.5L, 0.0L, static_cast<long double>(src - 1));
  };
  const long double y = centre(i, r.src_rows, r.dst_rows);
  const long double x = centre(j, r.src_cols, r.dst_cols);
  const auto row = static_cast<int64_t>(y);
  const auto col = static_cast<int64_t>(x);
  const int64_t below = std::min(row + 1, r.src_rows - 1);
  const int64_t right = std::min(col + 1, r.src_cols - 1);
  const long double p[4] = {number(r, row, col, channel), number(r, row, right, channel),
                            number(r, below, col, channel), number(r, below, right, channel)};
  const long double wy = y - static_cast<long double>(row);
  const long double wx = x - static_cast<long double>(col);
  const long double upper = p[0] * (1 - wx) + p[1] * wx;
  const long double lower = p[2] * (1 - wx) + p[3] * wx;
  return {upper * (1 - wy) + lower * wy, *std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

}  // namespace gpumem_test
