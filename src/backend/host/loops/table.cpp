// The loops of an instruction set; compiled once for each (loops.hpp).
#include "backend/host/loops/loops.hpp"

namespace gpumem::GPUMEM_LOOPS {

const Loops loops = kParts;

}  // namespace gpumem::GPUMEM_LOOPS
