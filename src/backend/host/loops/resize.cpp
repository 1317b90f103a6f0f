// Resizing, a row of an image at a time; compiled once for each instruction set (loops.hpp). Pixels are gathered along a row of
// src, one or two for each of dst; lines are blended down columns, side by side as they lie.
#include "backend/host/loops/loops.hpp"

#include <cstring>

#include "backend/host/loops/common.hpp"
#include "kernels/resize/coordinates.hpp"

namespace gpumem {
namespace {

template <int kBytes>
void take(const void* row, const ResizeColumn* columns, int64_t n, void* dst) {
  const auto* from = static_cast<const char*>(row);
  auto* to = static_cast<char*>(dst);
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * kBytes, from + columns[i].at, kBytes);
}

// The pixels are brought together first, so that vectors blend them.
template <class T, int kChannels>
void across(const void* row, const ResizeColumn* columns, const uint32_t* weights, int64_t n, void* line) {
  using Line = typename ResizeBlend<T>::Line;
  constexpr int64_t kAtOnce = 64;
  T left[kAtOnce * kChannels];
  T right[kAtOnce * kChannels];
  const auto* from = static_cast<const char*>(row);
  auto* to = static_cast<Line*>(line);
  for (int64_t first = 0; first < n; first += kAtOnce) {
    const int64_t count = n - first < kAtOnce ? n - first : kAtOnce;
    for (int64_t i = 0; i < count; ++i) {
      const ResizeColumn column = columns[first + i];
      std::memcpy(left + i * kChannels, from + column.at, kChannels * sizeof(T));
      std::memcpy(right + i * kChannels, from + column.at + column.step, kChannels * sizeof(T));
    }
    const uint32_t* weight = weights + first * kChannels;
    Line* at = to + first * kChannels;
    for (int64_t k = 0; k < count * kChannels; ++k) at[k] = ResizeBlend<T>::across(left[k], right[k], weight[k]);
  }
}

template <class T>
void down(const void* upper, const void* lower, uint32_t weight, int64_t n, void* dst) {
  using Line = typename ResizeBlend<T>::Line;
  const auto* a = static_cast<const Line*>(upper);
  const auto* b = static_cast<const Line*>(lower);
  auto* to = static_cast<char*>(dst);
  for (int64_t i = 0; i < n; ++i) {
    const T value = ResizeBlend<T>::down(a[i], b[i], weight);
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &value, sizeof value);
  }
}

}  // namespace

namespace GPUMEM_LOOPS {
const ResizeLoops resizes = {{{take<1>, take<2>, take<4>},
                              {take<2>, take<4>, take<8>},
                              {take<3>, take<6>, take<12>},
                              {take<4>, take<8>, take<16>}},
                             {{across<uint8_t, 1>, across<uint16_t, 1>, across<float, 1>},
                              {across<uint8_t, 2>, across<uint16_t, 2>, across<float, 2>},
                              {across<uint8_t, 3>, across<uint16_t, 3>, across<float, 3>},
                              {across<uint8_t, 4>, across<uint16_t, 4>, across<float, 4>}},
                             {down<uint8_t>, down<uint16_t>, down<float>}};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
