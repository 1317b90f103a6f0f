// What a device has left.
#pragma once

#include <cstdint>

namespace gpumem_test {

// Bytes of the current CUDA device; -1 where only the library can reach it.
int64_t free_device_memory();

}  // namespace gpumem_test
