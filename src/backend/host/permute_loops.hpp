// The inner loops of the host's permutations that no transpose of a plane covers.
#pragma once

#include "backend/backend.hpp"

namespace gpumem {

// count runs of run_bytes, the pitches apart. stream: dst is larger than the caches and is written around them.
struct RunsBlock {
  const char* src;
  int64_t src_pitch;  // bytes
  char* dst;
  int64_t dst_pitch;
  int64_t run_bytes;
  int64_t count;
  bool stream;
};
void move_runs(const RunsBlock& block) noexcept;

// x by y elements with any strides on both sides, in blocks that stay in L1.
struct StridedBlock {
  const char* src;
  int64_t src_x;  // bytes
  int64_t src_y;
  char* dst;
  int64_t dst_x;
  int64_t dst_y;
  int64_t x;
  int64_t y;
};
void move_strided(int64_t element_bytes, const StridedBlock& block) noexcept;

// Element by element, the fastest axis of dst first: the plain form that the others are held against.
void permute_strided_scalar(const PermuteParams& args) noexcept;

}  // namespace gpumem
