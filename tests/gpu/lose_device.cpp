#include "tests/gpu/device_memory.hpp"

#include "fault/lost_device.hpp"

namespace gpumem_test {

void lose_device() {
  gpumem::gpu_tests::fault(nullptr);
  cudaDeviceSynchronize();
}

// A runtime that has not used the device has nothing to reset.
void reset_device() {
  cudaFree(nullptr);
  cudaDeviceReset();
}

}  // namespace gpumem_test
