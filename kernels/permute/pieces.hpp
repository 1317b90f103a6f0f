// Pieces of arrays of any shape that one launch moves, such as the faces, edges and corners of a box or the blocks of a
// cyclic layout. Each is words along up to four axes. Plain C++, no CUDA.
#pragma once

#include <cstdint>

namespace gpumem {

constexpr int32_t kPieceAxes = 4;

// A word is 2^shift bytes, at most 16. Strides are in words. Neighbouring threads take neighbours along the first axis.
struct MovedPiece {
  const char* src = nullptr;
  char* dst = nullptr;
  uint32_t words = 0;
  uint32_t first_block = 0;  // within the launch; set by the launcher
  int32_t shift = 0;
  int32_t rank = 0;  // at least 1
  uint32_t extent[kPieceAxes] = {};
  uint32_t src_stride[kPieceAxes] = {};
  uint32_t dst_stride[kPieceAxes] = {};
};

}  // namespace gpumem
