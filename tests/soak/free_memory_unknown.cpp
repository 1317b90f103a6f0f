// Stands in for free_memory.cpp in a build without CUDA, or with an emulated device.
#include "soak/free_memory.hpp"

namespace gpumem_test {

int64_t free_device_memory() { return -1; }

}  // namespace gpumem_test
