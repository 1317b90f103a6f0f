#include "tests/gpu/device_memory.hpp"

#include "fault/lost_device.hpp"

namespace gpumem_test {

void lose_device() {
  gpumem::gpu_tests::fault(nullptr);
  cudaDeviceSynchronize();
}

void reset_device() { cudaDeviceReset(); }

}  // namespace gpumem_test
