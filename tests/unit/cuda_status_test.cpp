// CUDA's errors as the library's statuses, and a driver that is missing, without any GPU.
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_check.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

TEST(CudaStatus, MapsEachKindOfError) {
  EXPECT_EQ(status_of(cudaSuccess), GPUMEM_OK);
  EXPECT_EQ(status_of(cudaErrorMemoryAllocation), GPUMEM_OUT_OF_MEMORY);
  EXPECT_EQ(status_of(cudaErrorNoDevice), GPUMEM_NO_DEVICE);
  EXPECT_EQ(status_of(cudaErrorStubLibrary), GPUMEM_NO_DRIVER);
  EXPECT_EQ(status_of(cudaErrorInsufficientDriver), GPUMEM_DRIVER_TOO_OLD);
  EXPECT_EQ(status_of(cudaErrorNoKernelImageForDevice), GPUMEM_UNSUPPORTED);
  EXPECT_EQ(status_of(cudaErrorStreamCaptureUnsupported), GPUMEM_CAPTURING);
  EXPECT_EQ(status_of(cudaErrorIllegalAddress), GPUMEM_DEVICE_FAULT);
  EXPECT_EQ(status_of(cudaErrorECCUncorrectable), GPUMEM_DEVICE_FAULT);
  EXPECT_EQ(status_of(cudaErrorLaunchFailure), GPUMEM_DEVICE_FAULT);
  EXPECT_EQ(status_of(cudaErrorInvalidValue), GPUMEM_DRIVER_ERROR);
  EXPECT_EQ(status_of(cudaErrorUnknown), GPUMEM_DRIVER_ERROR);
}

TEST(CudaStatus, SentencesNameTheCallAndTheError) {
  try {
    check_cuda(cudaErrorInvalidValue, "cudaMemcpyAsync(dst, src, bytes)");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cudaMemcpyAsync failed with cudaErrorInvalidValue: invalid argument");
  }
}

TEST(CudaDevices, EitherSomeOrAReason) {
  const CudaDevices devices = cuda_devices();
  if (devices.status == GPUMEM_OK) {
    EXPECT_GE(devices.count, 1);
  } else {
    EXPECT_EQ(devices.count, 0);
    EXPECT_FALSE(devices.reason.empty());
    EXPECT_GE(devices.status, 200);
  }
}

}  // namespace
}  // namespace gpumem
