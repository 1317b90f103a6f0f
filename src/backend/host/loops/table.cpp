// The table of loops; compiled once per instruction set (loops.hpp).
#include "backend/host/loops/loops.hpp"

namespace gpumem::GPUMEM_LOOPS {

const Loops loops = kParts;

}  // namespace gpumem::GPUMEM_LOOPS
