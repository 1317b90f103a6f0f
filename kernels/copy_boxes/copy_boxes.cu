// Copies of many boxes, by the kernels of permutations.
// Moves: reads and writes each element once.
// Access: pieces: many boxes per launch (kernels/permute/pieces.cu).
//         one_by_one: one element per thread in the order of dst (kernels/permute/permute.cu).
#include "kernels/copy_boxes/copy_boxes.hpp"

#include <algorithm>

#include "kernels/permute/limits.hpp"
#include "kernels/permute/permute.hpp"

namespace gpumem::kernels {

LaunchResult copy_boxes_pieces(const CopyBoxesParams& params, const Config&, const Launch& launch) {
  return permute_pieces({params.pieces, static_cast<size_t>(params.listed)}, launch);
}

LaunchResult copy_boxes_one_by_one(const CopyBoxesParams& params, const Config&, const Launch& launch) {
  LaunchResult error = 0;
  for (int64_t k = 0; k < params.listed && error == 0; ++k) {
    const CopyBox& box = params.boxes[k];
    PermuteParams one{.src = box.src, .dst = box.dst};
    one.axes = axes_of(box.runs);
    const Config config{std::min(ceil_div(one.axes.elements(), kPermuteThreads), kMaxGrid)};
    error = permute_strided_scalar(one, config, launch);
  }
  return error;
}

}  // namespace gpumem::kernels
