// Which device a context gets: every combination of what the program asks, the environment says and the machine has.
#include "context/devices.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gpumem {
namespace {

CudaDevices three_devices() { return {GPUMEM_OK, 3, 1, {}}; }
CudaDevices none(gpumem_status status) { return {status, 0, 0, "there is none today"}; }

gpumem_status status_of_choice(int32_t wanted, const char* environment, const CudaDevices& cuda,
                               std::string* sentence) {
  try {
    choose_device(wanted, environment, cuda);
    return GPUMEM_OK;
  } catch (const Error& error) {
    *sentence = error.what();
    return error.status();
  }
}

TEST(ChooseDevice, BestIsTheCallersCurrentDevice) {
  const DeviceChoice choice = choose_device(GPUMEM_DEVICE_BEST, nullptr, three_devices());
  EXPECT_EQ(choice.backend, ExecutionSpace::cuda);
  EXPECT_EQ(choice.ordinal, 1);
  EXPECT_EQ(choice.code, GPUMEM_OK);
  EXPECT_TRUE(choice.may_fall_back);
}

TEST(ChooseDevice, BestFallsBackToTheHostAndSaysWhy) {
  for (const int why : {GPUMEM_NO_DRIVER, GPUMEM_NO_DEVICE, GPUMEM_DRIVER_TOO_OLD, GPUMEM_NOT_BUILT}) {
    const DeviceChoice choice = choose_device(GPUMEM_DEVICE_BEST, nullptr, none(why));
    EXPECT_EQ(choice.backend, ExecutionSpace::host);
    EXPECT_EQ(choice.code, why);
    EXPECT_NE(choice.reason.find("there is none today"), std::string::npos) << choice.reason;
  }
}

TEST(ChooseDevice, AskingForCudaGivesTheStatusInsteadOfTheHost) {
  std::string sentence;
  for (const int32_t wanted : {int32_t{GPUMEM_DEVICE_CUDA}, 0, 7}) {
    EXPECT_EQ(status_of_choice(wanted, nullptr, none(GPUMEM_DRIVER_TOO_OLD), &sentence), GPUMEM_DRIVER_TOO_OLD);
    EXPECT_NE(sentence.find("there is none today"), std::string::npos) << sentence;
  }
  EXPECT_FALSE(choose_device(GPUMEM_DEVICE_CUDA, nullptr, three_devices()).may_fall_back);
}

TEST(ChooseDevice, OrdinalsAreTakenLiterally) {
  EXPECT_EQ(choose_device(2, "host", three_devices()).ordinal, 2);
  std::string sentence;
  EXPECT_EQ(status_of_choice(3, nullptr, three_devices(), &sentence), GPUMEM_NOT_FOUND);
  EXPECT_NE(sentence.find("below 3"), std::string::npos) << sentence;
  EXPECT_EQ(status_of_choice(-4, nullptr, three_devices(), &sentence), GPUMEM_INVALID_ARGUMENT);
}

TEST(ChooseDevice, EnvironmentDecidesOnlyWhereTheProgramDoesNot) {
  EXPECT_EQ(choose_device(GPUMEM_DEVICE_BEST, "host", three_devices()).backend, ExecutionSpace::host);
  EXPECT_EQ(choose_device(GPUMEM_DEVICE_BEST, "2", three_devices()).ordinal, 2);
  EXPECT_EQ(choose_device(GPUMEM_DEVICE_BEST, "cuda", three_devices()).ordinal, 1);
  EXPECT_EQ(choose_device(GPUMEM_DEVICE_BEST, "", three_devices()).ordinal, 1);
  EXPECT_EQ(choose_device(GPUMEM_DEVICE_HOST, "2", three_devices()).backend, ExecutionSpace::host);
  EXPECT_EQ(choose_device(GPUMEM_DEVICE_CUDA, "host", three_devices()).backend, ExecutionSpace::cuda);
  std::string sentence;
  for (const char* bad : {"gpu", "-1", "1x", "99999999999"}) {
    EXPECT_EQ(status_of_choice(GPUMEM_DEVICE_BEST, bad, three_devices(), &sentence), GPUMEM_INVALID_ARGUMENT) << bad;
    EXPECT_NE(sentence.find(bad), std::string::npos) << sentence;
  }
}

}  // namespace
}  // namespace gpumem
