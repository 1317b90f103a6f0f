// Moves runs of bytes at constant distances, for copies of rows and permutations. Everything has internal linkage, like
// the stores around the caches.
#pragma once

#include <cstdint>
#include <cstring>

#include "backend/host/stream_stores.hpp"

namespace gpumem {
namespace {

// stream: dst is larger than the caches and is written around them.
struct RunsBlock {
  const char* src;
  int64_t src_pitch;  // bytes
  char* dst;
  int64_t dst_pitch;
  int64_t run_bytes;
  int64_t count;
  bool stream;
};

constexpr int64_t kLongestShortRun = 128;

// A run of kHalf to 2 * kHalf bytes: its first and last kHalf bytes, which may overlap; one move if they are the same.
template <int kHalf>
void move_short_runs(const RunsBlock& b) noexcept {
  const RunsBlock runs = b;  // a copy in registers, which stores cannot alias
  const int64_t second = runs.run_bytes - kHalf;
  const char* src = runs.src;
  char* dst = runs.dst;
  if (second == 0) {
    for (int64_t i = 0; i < runs.count; ++i, src += runs.src_pitch, dst += runs.dst_pitch) std::memcpy(dst, src, kHalf);
    return;
  }
  for (int64_t i = 0; i < runs.count; ++i, src += runs.src_pitch, dst += runs.dst_pitch) {
    unsigned char first[kHalf];
    unsigned char last[kHalf];
    std::memcpy(first, src, kHalf);
    std::memcpy(last, src + second, kHalf);
    std::memcpy(dst, first, kHalf);
    std::memcpy(dst + second, last, kHalf);
  }
}

inline void move_runs(const RunsBlock& b) noexcept {
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
  if (bytes <= kLongestShortRun) return move_short_runs<64>(b);
  for (int64_t i = 0; i < b.count; ++i) {
    std::memcpy(b.dst + i * b.dst_pitch, b.src + i * b.src_pitch, static_cast<size_t>(bytes));
  }
}

}  // namespace
}  // namespace gpumem
