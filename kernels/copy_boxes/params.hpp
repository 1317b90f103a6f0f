// Parameters of a copy of many boxes.
#pragma once

#include <cstdint>

#include "kernels/permute/pieces.hpp"

namespace gpumem {

// The arguments of a call. Each array has `count` elements, or `rank` of them per box.
struct CopyBoxesCall {
  int64_t element_bytes = 8;
  int32_t rank = 0;
  int64_t count = 0;
  const int64_t* extents = nullptr;
  const void* const* src = nullptr;
  const int64_t* src_strides = nullptr;  // nullptr: row-major without padding
  void* const* dst = nullptr;
  const int64_t* dst_strides = nullptr;
};

// A box that has elements.
struct CopyBox {
  const void* src = nullptr;
  void* dst = nullptr;
  StridedRuns runs{};
};

// The first box describes the others in operation descriptors, where all boxes are equal.
struct CopyBoxesParams {
  int64_t element_bytes = 8;
  int32_t rank = 0;
  bool has_extents = false;
  bool has_src_strides = false;
  bool has_dst_strides = false;
  int64_t count = 1;
  int64_t extents[kMaxPermuteRank] = {};
  int64_t src_strides[kMaxPermuteRank] = {};
  int64_t dst_strides[kMaxPermuteRank] = {};
  const void* src = nullptr;
  void* dst = nullptr;
  int64_t all_elements = 0;  // of all boxes; 0: they are equal

  // Set by the plan of a call.
  int64_t listed = 0;                  // boxes that have elements
  const CopyBox* boxes = nullptr;      // all of them
  const MovedPiece* pieces = nullptr;  // all of them, for a device; nullptr unless all are pieces
  bool are_pieces = false;

  constexpr int64_t elements() const noexcept {
    if (all_elements != 0) return all_elements;
    int64_t product = count;
    for (int32_t d = 0; d < rank; ++d) product *= extents[d];
    return product;
  }
  constexpr int64_t bytes() const noexcept { return elements() * element_bytes; }
};

}  // namespace gpumem
