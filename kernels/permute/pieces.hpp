// Pieces of arrays that one launch moves, whatever their shapes: the faces, edges and corners round a box, the blocks of a cyclic layout.
// Each as words, in up to four axes. Plain C++, no CUDA.
#pragma once

#include <cstdint>

namespace gpumem {

constexpr int32_t kPieceAxes = 4;

// A word is 2^shift bytes, at most 16; strides are in words, the first axis is the one that neighbouring threads go along.
struct MovedPiece {
  const char* src = nullptr;
  char* dst = nullptr;
  uint32_t words = 0;
  uint32_t first_block = 0;  // of the launch: the launcher's own
  int32_t shift = 0;
  int32_t rank = 0;  // at least 1
  uint32_t extent[kPieceAxes] = {};
  uint32_t src_stride[kPieceAxes] = {};
  uint32_t dst_stride[kPieceAxes] = {};
};

}  // namespace gpumem
