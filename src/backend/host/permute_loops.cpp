#include "backend/host/permute_loops.hpp"

#include <algorithm>
#include <cstring>

#include "backend/host/stream_stores.hpp"
#include "kernels/sizes.hpp"

namespace gpumem {
namespace {

// A run of kHalf to 2 * kHalf bytes: its first and its last kHalf, which may overlap.
template <int kHalf>
void move_short_runs(const RunsBlock& b) noexcept {
  const char* src = b.src;
  char* dst = b.dst;
  for (int64_t i = 0; i < b.count; ++i) {
    unsigned char first[kHalf];
    unsigned char last[kHalf];
    std::memcpy(first, src, kHalf);
    std::memcpy(last, src + b.run_bytes - kHalf, kHalf);
    std::memcpy(dst, first, kHalf);
    std::memcpy(dst + b.run_bytes - kHalf, last, kHalf);
    src += b.src_pitch;
    dst += b.dst_pitch;
  }
}

constexpr int64_t kBlock = 32;  // elements a side

template <int kBytes>
void move_strided_of(const StridedBlock& b) noexcept {
  for (int64_t x0 = 0; x0 < b.x; x0 += kBlock) {
    for (int64_t y0 = 0; y0 < b.y; y0 += kBlock) {
      const int64_t x1 = std::min(x0 + kBlock, b.x);
      const int64_t y1 = std::min(y0 + kBlock, b.y);
      for (int64_t x = x0; x < x1; ++x) {
        const char* src = b.src + x * b.src_x;
        char* dst = b.dst + x * b.dst_x;
        for (int64_t y = y0; y < y1; ++y) std::memcpy(dst + y * b.dst_y, src + y * b.src_y, kBytes);
      }
    }
  }
}

}  // namespace

void move_runs(const RunsBlock& b) noexcept {
  const int64_t bytes = b.run_bytes;
  if (b.stream) {
    for (int64_t i = 0; i < b.count; ++i) stream_row(b.dst + i * b.dst_pitch, b.src + i * b.src_pitch, bytes);
    return stream_fence();
  }
  if (bytes < 2) return move_short_runs<1>(b);
  if (bytes < 4) return move_short_runs<2>(b);
  if (bytes < 8) return move_short_runs<4>(b);
  if (bytes < 16) return move_short_runs<8>(b);
  if (bytes < 32) return move_short_runs<16>(b);
  if (bytes < 64) return move_short_runs<32>(b);
  if (bytes <= 128) return move_short_runs<64>(b);
  for (int64_t i = 0; i < b.count; ++i) {
    std::memcpy(b.dst + i * b.dst_pitch, b.src + i * b.src_pitch, static_cast<size_t>(bytes));
  }
}

void move_strided(int64_t element_bytes, const StridedBlock& block) noexcept {
  for_size(element_bytes, [&]<int kBytes>() { move_strided_of<kBytes>(block); });
}

void permute_strided_scalar(const PermuteParams& args) noexcept {
  const PermuteAxes& a = args.axes;
  const int64_t elements = a.elements();
  for (int64_t i = 0; i < elements; ++i) {
    int64_t rest = i;
    int64_t from = 0;
    int64_t to = 0;
    for (int32_t d = 0; d < a.rank; ++d) {
      from += rest % a.extent[d] * a.src_stride[d];
      to += rest % a.extent[d] * a.dst_stride[d];
      rest /= a.extent[d];
    }
    std::memcpy(static_cast<char*>(args.dst) + to * a.element_bytes,
                static_cast<const char*>(args.src) + from * a.element_bytes, static_cast<size_t>(a.element_bytes));
  }
}

}  // namespace gpumem
