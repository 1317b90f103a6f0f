// Version, statuses, the last error, devices, and that the library keeps quiet.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "support/contexts.hpp"

namespace gpumem_test {
namespace {

TEST(Library, VersionIsTheHeaders) {
  int32_t major = -1, minor = -1, patch = -1;
  ASSERT_TRUE(ok(gpumem_version(&major, &minor, &patch)));
  EXPECT_EQ(major, GPUMEM_VERSION_MAJOR);
  EXPECT_EQ(minor, GPUMEM_VERSION_MINOR);
  EXPECT_EQ(patch, GPUMEM_VERSION_PATCH);
}

TEST(Library, VersionTakesNullForAnyOfItsOutputs) {
  int32_t value = -1;
  EXPECT_TRUE(ok(gpumem_version(nullptr, nullptr, nullptr)));
  EXPECT_TRUE(ok(gpumem_version(nullptr, &value, nullptr)));
  EXPECT_EQ(value, GPUMEM_VERSION_MINOR);
}

TEST(Library, EveryStatusHasItsName) {
  struct Named {
    gpumem_status status;
    const char* name;
  };
  static constexpr Named kAll[] = {{GPUMEM_OK, "GPUMEM_OK"},
                                   {GPUMEM_INVALID_ARGUMENT, "GPUMEM_INVALID_ARGUMENT"},
                                   {GPUMEM_INVALID_HANDLE, "GPUMEM_INVALID_HANDLE"},
                                   {GPUMEM_INVALID_POINTER, "GPUMEM_INVALID_POINTER"},
                                   {GPUMEM_OUT_OF_RANGE, "GPUMEM_OUT_OF_RANGE"},
                                   {GPUMEM_EMPTY, "GPUMEM_EMPTY"},
                                   {GPUMEM_OVERFLOW, "GPUMEM_OVERFLOW"},
                                   {GPUMEM_UNSUPPORTED, "GPUMEM_UNSUPPORTED"},
                                   {GPUMEM_BUSY, "GPUMEM_BUSY"},
                                   {GPUMEM_NOT_READY, "GPUMEM_NOT_READY"},
                                   {GPUMEM_NOT_FOUND, "GPUMEM_NOT_FOUND"},
                                   {GPUMEM_CAPTURING, "GPUMEM_CAPTURING"},
                                   {GPUMEM_FORKED, "GPUMEM_FORKED"},
                                   {GPUMEM_CORRUPTED, "GPUMEM_CORRUPTED"},
                                   {GPUMEM_OUT_OF_MEMORY, "GPUMEM_OUT_OF_MEMORY"},
                                   {GPUMEM_OUT_OF_RESOURCES, "GPUMEM_OUT_OF_RESOURCES"},
                                   {GPUMEM_FILE_ERROR, "GPUMEM_FILE_ERROR"},
                                   {GPUMEM_NO_DEVICE, "GPUMEM_NO_DEVICE"},
                                   {GPUMEM_NO_DRIVER, "GPUMEM_NO_DRIVER"},
                                   {GPUMEM_DRIVER_TOO_OLD, "GPUMEM_DRIVER_TOO_OLD"},
                                   {GPUMEM_DEVICE_FAULT, "GPUMEM_DEVICE_FAULT"},
                                   {GPUMEM_DRIVER_ERROR, "GPUMEM_DRIVER_ERROR"},
                                   {GPUMEM_NOT_BUILT, "GPUMEM_NOT_BUILT"},
                                   {GPUMEM_PEER_LOST, "GPUMEM_PEER_LOST"},
                                   {GPUMEM_TIMED_OUT, "GPUMEM_TIMED_OUT"},
                                   {GPUMEM_INTERNAL, "GPUMEM_INTERNAL"}};
  std::set<gpumem_status> values;
  for (const Named& named : kAll) {
    EXPECT_STREQ(gpumem_status_name(named.status), named.name);
    values.insert(named.status);
  }
  EXPECT_EQ(values.size(), std::size(kAll)) << "two statuses share a value";
  for (gpumem_status status = -10; status < 1000; ++status) {
    if (values.count(status) != 0) continue;
    EXPECT_STREQ(gpumem_status_name(status), "GPUMEM_UNKNOWN_STATUS") << status;
  }
  EXPECT_STREQ(gpumem_status_name(INT32_MIN), "GPUMEM_UNKNOWN_STATUS");
  EXPECT_STREQ(gpumem_status_name(INT32_MAX), "GPUMEM_UNKNOWN_STATUS");
}

TEST(LastError, IsEmptyInAThreadThatHasNotFailed) {
  forget_last_error();
  std::thread([] {
    char text[8] = "poison";
    int64_t needed = -1;
    EXPECT_EQ(gpumem_last_error(text, sizeof text, &needed), GPUMEM_OK);
    EXPECT_STREQ(text, "");
    EXPECT_EQ(needed, 1);
    EXPECT_EQ(gpumem_alloc_device(nullptr, 1, nullptr), GPUMEM_INVALID_ARGUMENT);
    EXPECT_NE(last_error(), "");
  }).join();
  EXPECT_TRUE(contains_word(last_error(), "-424242")) << "another thread's failure replaced this one's sentence";
}

TEST(LastError, IsCutAtCapAndSaysHowMuchItTakes) {
  forget_last_error();
  const std::string whole = last_error();
  ASSERT_GT(whole.size(), 10u);
  for (const size_t cap : {size_t{1}, size_t{2}, size_t{10}, whole.size(), whole.size() + 1, whole.size() + 50}) {
    std::string buffer(whole.size() + 60, '\x7f');
    int64_t needed = -1;
    ASSERT_EQ(gpumem_last_error(buffer.data(), static_cast<int64_t>(cap), &needed), GPUMEM_OK);
    EXPECT_EQ(needed, static_cast<int64_t>(whole.size()) + 1);
    const size_t length = std::min(cap - 1, whole.size());
    EXPECT_EQ(std::string(buffer.c_str()), whole.substr(0, length));
    EXPECT_EQ(buffer.find_first_not_of('\x7f', cap), std::string::npos) << "wrote past cap = " << cap;
  }
  EXPECT_EQ(gpumem_last_error(nullptr, 0, nullptr), GPUMEM_OK);
}

TEST(LastError, NeverChangesItself) {
  forget_last_error();
  const std::string before = last_error();
  char text[4];
  EXPECT_EQ(gpumem_last_error(text, -1, nullptr), GPUMEM_INVALID_ARGUMENT);
  EXPECT_EQ(gpumem_last_error(nullptr, 8, nullptr), GPUMEM_INVALID_ARGUMENT);
  EXPECT_EQ(last_error(), before);
}

TEST(LastError, StaysAfterACallThatSucceeds) {
  forget_last_error();
  const std::string before = last_error();
  { const Context ctx(On::host); }
  EXPECT_EQ(last_error(), before);
}

TEST(LastError, SpeaksOfAContextThatCouldNotBeCreated) {
  gpumem_ctx_options options = default_options();
  options.device = -77;
  auto* ctx = reinterpret_cast<gpumem_ctx*>(&options);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &ctx), {"device", "-77"}));
  EXPECT_EQ(ctx, nullptr);
}

TEST(LastError, RepeatedWordsAreFound) {
  for (const char* said : {"the work runs on the on the device", "the the device", "expected a status status"}) {
    EXPECT_TRUE(repeats_words(said)) << said;
  }
  for (const char* said : {"on the host and on the device", "src is src_rows", "a stream streams", "0 0", ""}) {
    EXPECT_FALSE(repeats_words(said)) << said;
  }
}

TEST(Devices, CountAgreesWithTheQuery) {
  int32_t count = -1;
  ASSERT_TRUE(ok(gpumem_device_count(&count)));
  ASSERT_GE(count, 0);
  gpumem_device_info info;
  ASSERT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
  for (int32_t device = 0; device < count; ++device) {
    ASSERT_TRUE(ok(gpumem_device_query(device, &info)));
    EXPECT_EQ(info.backend, GPUMEM_BACKEND_CUDA);
    EXPECT_EQ(info.device, device);
    EXPECT_GT(info.compute_major, 0);
    EXPECT_GT(info.multiprocessors, 0);
    EXPECT_GT(info.driver_version, 0);
    EXPECT_GT(info.memory_bytes, 0);
    EXPECT_NE(info.name[0], '\0');
    EXPECT_NE(info.reason[0], '\0');
  }
  const gpumem_status past = gpumem_device_query(count, &info);
  if (count > 0) {
    EXPECT_TRUE(refused(GPUMEM_NOT_FOUND, past, {"device", std::to_string(count)}));
  } else {
    EXPECT_NE(past, GPUMEM_OK);
  }
}

TEST(Devices, TheHostIsAlwaysThere) {
  gpumem_device_info info;
  ASSERT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
  ASSERT_TRUE(ok(gpumem_device_query(GPUMEM_DEVICE_HOST, &info)));
  EXPECT_EQ(info.struct_size, static_cast<int64_t>(sizeof info));
  EXPECT_EQ(info.backend, GPUMEM_BACKEND_HOST);
  EXPECT_EQ(info.device, GPUMEM_DEVICE_HOST);
  EXPECT_EQ(info.reason_code, GPUMEM_OK);
  EXPECT_EQ(info.compute_major, 0);
  EXPECT_EQ(info.compute_minor, 0);
  EXPECT_EQ(info.driver_version, 0);
  EXPECT_GE(info.multiprocessors, 1);
  EXPECT_EQ(info.managed_memory, 1);
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_GE(info.l2_bytes, 0);
  EXPECT_GE(info.bandwidth_bytes_per_s, 0);
  EXPECT_NE(info.name[0], '\0');
  EXPECT_NE(info.reason[0], '\0');
}

TEST(Devices, BestIsCudaOrTheHostWithTheReason) {
  gpumem_device_info best, cuda;
  ASSERT_TRUE(ok(gpumem_device_info_init(&best, sizeof best)));
  ASSERT_TRUE(ok(gpumem_device_info_init(&cuda, sizeof cuda)));
  ASSERT_TRUE(ok(gpumem_device_query(GPUMEM_DEVICE_BEST, &best)));
  const gpumem_status status = gpumem_device_query(GPUMEM_DEVICE_CUDA, &cuda);
  if (status == GPUMEM_OK) {
    EXPECT_EQ(best.device, cuda.device);
    EXPECT_EQ(best.reason_code, GPUMEM_OK);
  } else {
    EXPECT_EQ(best.device, GPUMEM_DEVICE_HOST);
    EXPECT_EQ(best.reason_code, status);
    EXPECT_NE(last_error(), "");
    EXPECT_GE(status, 200) << "no CUDA device is not the caller's mistake";
  }
}

TEST(Devices, RefusesWhatIsNoDevice) {
  gpumem_device_info info;
  std::memset(&info, 0x5A, sizeof info);
  info.struct_size = sizeof info;
  const gpumem_device_info before = info;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_device_query(-4, &info), {"device", "-4"}));
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, gpumem_device_query(INT32_MIN, &info)));
  EXPECT_NE(gpumem_device_query(INT32_MAX, &info), GPUMEM_OK);
  EXPECT_EQ(std::memcmp(&info, &before, sizeof info), 0) << "a failed query wrote to its output";
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_device_query(GPUMEM_DEVICE_HOST, nullptr), {"info", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_device_count(nullptr), {"count", "NULL"}));
}

}  // namespace
}  // namespace gpumem_test
