// Launchers for copies of many boxes.
#pragma once

#include "kernels/config.hpp"
#include "kernels/copy_boxes/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

Execute<CopyBoxesParams> copy_boxes_pieces;      // if all boxes are pieces
Execute<CopyBoxesParams> copy_boxes_one_by_one;  // any: a launch per box

}  // namespace gpumem::kernels
