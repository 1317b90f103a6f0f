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

TEST(CudaStatus, SaysWhatIsWrongWithADriver) {
  const CudaDevices missing = unusable_driver(0, 13000, "libcuda.so.1: file too short");
  EXPECT_EQ(missing.status, GPUMEM_NO_DRIVER);
  EXPECT_EQ(missing.reason, "no CUDA driver can be loaded: libcuda.so.1: file too short");
  EXPECT_EQ(unusable_driver(0, 13000, nullptr).status, GPUMEM_NO_DRIVER);
  const CudaDevices old = unusable_driver(12080, 13010, nullptr);
  EXPECT_EQ(old.status, GPUMEM_DRIVER_TOO_OLD);
  EXPECT_EQ(old.reason, "the CUDA driver is of version 12080; expected 13000 or newer, which is driver 580 or newer");
  const CudaDevices incomplete = unusable_driver(13000, 13010, nullptr);
  EXPECT_EQ(incomplete.status, GPUMEM_DRIVER_TOO_OLD);
  EXPECT_EQ(incomplete.reason.find("expected"), std::string::npos) << incomplete.reason;
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
