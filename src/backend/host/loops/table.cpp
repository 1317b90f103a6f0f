// The loops of an instruction set; compiled once for each (loops.hpp).
#include "backend/host/loops/loops.hpp"

namespace gpumem::GPUMEM_LOOPS {

const Loops loops = {integers, floats, ranges, moves, float_lines, word_lines, axpby, resizes};

}  // namespace gpumem::GPUMEM_LOOPS
