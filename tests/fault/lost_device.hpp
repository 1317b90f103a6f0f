// How a device is lost: by a kernel of the program's on a GPU, by what its calls return on the emulated device; or by a reset.
#pragma once

namespace gpumem_test {

// The library is not told.
void lose_device();
// cudaDeviceReset(). What is made afterwards works.
void reset_device();

}  // namespace gpumem_test
