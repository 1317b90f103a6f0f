// How the emulated device ends a process that misuses it: a sentence on standard error, then abort().
#pragma once

#include <cstdint>
#include <string>

namespace gpumem_emulation {

[[noreturn]] void give_up(const std::string& sentence);

// The seed of everything that is shuffled: GPUMEM_EMULATION_SEED, else a random one. Printed when the process starts.
uint64_t seed();

}  // namespace gpumem_emulation
