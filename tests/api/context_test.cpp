// Contexts: which device they take, what the environment changes, their end, their log.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/environment.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

gpumem_device_info device_of(gpumem_ctx* ctx) {
  gpumem_device_info info;
  EXPECT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
  EXPECT_TRUE(ok(gpumem_ctx_device(ctx, &info)));
  return info;
}

// The status of a CUDA context here: 0 when there is a device.
gpumem_status cuda_status() {
  gpumem_device_info info;
  EXPECT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
  return gpumem_device_query(GPUMEM_DEVICE_CUDA, &info);
}

void expect_best(const gpumem_device_info& info) {
  const gpumem_status cuda = cuda_status();
  EXPECT_EQ(info.backend, cuda == GPUMEM_OK ? GPUMEM_BACKEND_CUDA : GPUMEM_BACKEND_HOST);
  EXPECT_EQ(info.reason_code, cuda);
  EXPECT_NE(info.reason[0], '\0');
}

TEST(ContextCreate, WithoutOptionsTakesTheBestDevice) {
  gpumem_ctx* ctx = nullptr;
  ASSERT_TRUE(ok(gpumem_ctx_create(nullptr, &ctx)));
  expect_best(device_of(ctx));
  EXPECT_TRUE(ok(gpumem_ctx_status(ctx)));
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
}

TEST(ContextCreate, TheHostCanBeAskedFor) {
  const Context ctx(On::host);
  const gpumem_device_info info = device_of(ctx);
  EXPECT_EQ(info.backend, GPUMEM_BACKEND_HOST);
  EXPECT_EQ(info.device, GPUMEM_DEVICE_HOST);
  EXPECT_EQ(info.reason_code, GPUMEM_OK);
}

TEST(ContextCreate, CudaIsThereOrItsStatusSaysWhyNot) {
  for (const int32_t device : {int32_t{GPUMEM_DEVICE_CUDA}, 0}) {
    gpumem_ctx_options options = default_options();
    options.device = device;
    auto* ctx = reinterpret_cast<gpumem_ctx*>(&options);
    const gpumem_status created = gpumem_ctx_create(&options, &ctx);
    EXPECT_TRUE(gives(cuda_status(), created));
    if (created == GPUMEM_OK) {
      EXPECT_EQ(device_of(ctx).backend, GPUMEM_BACKEND_CUDA);
      EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
    } else {
      EXPECT_EQ(ctx, nullptr);
      EXPECT_NE(last_error(), "");
    }
  }
}

TEST(ContextCreate, RefusesOptionsThatAreNone) {
  gpumem_ctx_options options = options_for(On::host);
  auto* const poison = reinterpret_cast<gpumem_ctx*>(&options);
  gpumem_ctx* ctx = poison;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, nullptr), {"ctx", "NULL"}));
  options.host_threads = -1;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &ctx), {"host_threads", "-1"}));
  EXPECT_EQ(ctx, nullptr);
  options.host_threads = 1025;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &ctx), {"host_threads", "1025", "1024"}));
  EXPECT_EQ(ctx, nullptr);
  options = options_for(On::host);
  options.non_blocking_stream = 2;
  ctx = poison;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &ctx), {"non_blocking_stream", "2"}));
  EXPECT_EQ(ctx, nullptr);
  options = default_options();
  options.device = -4;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &ctx), {"device", "-4"}));
}

TEST(ContextCreate, ReservedFieldsMustBeZero) {
  gpumem_ctx_options options = options_for(On::host);
  options.reserved0 = 5;
  gpumem_ctx* ctx = nullptr;
  const gpumem_status created = gpumem_ctx_create(&options, &ctx);
  EXPECT_TRUE(created == GPUMEM_INVALID_ARGUMENT || created == GPUMEM_UNSUPPORTED) << gpumem_status_name(created);
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
}

TEST(ContextCreate, AnOrdinalPastTheLastDeviceIsNotFound) {
  if (cuda_devices() == 0) GTEST_SKIP() << "there is no CUDA device to count from: " << no_cuda_reason();
  gpumem_ctx_options options = default_options();
  options.device = cuda_devices();
  gpumem_ctx* ctx = nullptr;
  EXPECT_TRUE(refused(GPUMEM_NOT_FOUND, gpumem_ctx_create(&options, &ctx), {"device", std::to_string(options.device)}));
}

TEST(ContextEnvironment, DeviceIsUsedWhereTheOptionsLeaveTheChoice) {
  const ScopedVariable variable("GPUMEM_DEVICE", "host");
  gpumem_ctx* ctx = nullptr;
  ASSERT_TRUE(ok(gpumem_ctx_create(nullptr, &ctx)));
  const gpumem_device_info info = device_of(ctx);
  EXPECT_EQ(info.backend, GPUMEM_BACKEND_HOST);
  EXPECT_EQ(info.reason_code, GPUMEM_OK) << "the host was asked for";
  EXPECT_TRUE(contains_word(info.reason, "GPUMEM_DEVICE")) << info.reason;
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
}

TEST(ContextEnvironment, DeviceAsksForCuda) {
  for (const char* value : {"cuda", "0"}) {
    const ScopedVariable variable("GPUMEM_DEVICE", value);
    gpumem_ctx* ctx = nullptr;
    EXPECT_TRUE(gives(cuda_status(), gpumem_ctx_create(nullptr, &ctx))) << value;
    EXPECT_EQ(ctx != nullptr, cuda_status() == GPUMEM_OK);
    EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
  }
}

TEST(ContextEnvironment, DeviceGivesWayToTheOptions) {
  const ScopedVariable variable("GPUMEM_DEVICE", "cuda");
  const Context ctx(On::host);
  EXPECT_EQ(device_of(ctx).backend, GPUMEM_BACKEND_HOST);
}

TEST(ContextEnvironment, DeviceThatIsNoneIsRefused) {
  for (const char* value : {"banana", "-7", "1x", "99999999999999999999"}) {
    const ScopedVariable variable("GPUMEM_DEVICE", value);
    gpumem_ctx* ctx = nullptr;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(nullptr, &ctx), {"GPUMEM_DEVICE", value}));
    EXPECT_EQ(ctx, nullptr);
  }
}

TEST(ContextEnvironment, EveryInstructionSetGivesTheSameResults) {
  std::vector<int32_t> x(100003);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * 2654435761u) >> 12;
  int64_t expected[7];
  for (const char* simd : {"base", "avx2", "avx512"}) {
    const ScopedVariable variable("GPUMEM_HOST_SIMD", simd);
    const Context ctx(On::host);
    for (gpumem_reduce_op op = 0; op < 7; ++op) {
      int64_t value = 0;
      ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, op, x.data(), static_cast<int64_t>(x.size()), 1, &value)));
      if (std::string(simd) == "base") expected[op] = value;
      EXPECT_EQ(value, expected[op]) << simd << ", op " << op;
    }
  }
}

TEST(ContextEnvironment, AnUnknownInstructionSetIsRefused) {
  const ScopedVariable variable("GPUMEM_HOST_SIMD", "sse9");
  const gpumem_ctx_options options = options_for(On::host);
  gpumem_ctx* ctx = nullptr;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &ctx), {"GPUMEM_HOST_SIMD", "sse9"}));
  EXPECT_EQ(ctx, nullptr);
}

TEST(ContextEnvironment, WhatIsEmptyIsNotSet) {
  const ScopedVariable empty[] = {{"GPUMEM_DEVICE", ""},       {"GPUMEM_HOST_SIMD", ""}, {"GPUMEM_VARIANT_FILL", ""},
                                  {"GPUMEM_DEBUG_MEMORY", ""}, {"GPUMEM_TRACE", ""},     {"GPUMEM_TUNING", ""},
                                  {"GPUMEM_PROFILE", ""}};
  gpumem_ctx* ctx = nullptr;
  ASSERT_TRUE(ok(gpumem_ctx_create(nullptr, &ctx)));
  EXPECT_FALSE(contains_word(device_of(ctx).reason, "GPUMEM_DEVICE"));
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
}

TEST(ContextEnvironment, AnUnknownVariantIsNotFound) {
  for (const char* name : {"GPUMEM_VARIANT_REDUCE", "GPUMEM_VARIANT_TRANSPOSE", "GPUMEM_VARIANT_FILL"}) {
    const ScopedVariable variable(name, "no_such_variant");
    gpumem_ctx_options options = options_for(On::host);
    gpumem_ctx* ctx = nullptr;
    EXPECT_TRUE(refused(GPUMEM_NOT_FOUND, gpumem_ctx_create(&options, &ctx), {name, "no_such_variant"}));
    EXPECT_EQ(ctx, nullptr);
  }
}

class ContextOn : public OnEachContext {};

TEST_P(ContextOn, IsReadyAndSynchronizes) {
  EXPECT_TRUE(ok(gpumem_ctx_status(ctx)));
  EXPECT_TRUE(ok(gpumem_ctx_warmup(ctx)));
  EXPECT_TRUE(ok(gpumem_ctx_warmup(ctx)));
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
}

TEST_P(ContextOn, IsBusyWhileChildrenLive) {
  gpumem_ctx* other = nullptr;
  const gpumem_ctx_options options = options_for(GetParam());
  ASSERT_TRUE(ok(gpumem_ctx_create(&options, &other)));
  gpumem_stream* stream = nullptr;
  gpumem_event* event = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(other, &stream)));
  ASSERT_TRUE(ok(gpumem_event_create(other, &event)));
  EXPECT_TRUE(refused(GPUMEM_BUSY, gpumem_ctx_destroy(other), {"ctx"}));
  ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
  EXPECT_TRUE(refused(GPUMEM_BUSY, gpumem_ctx_destroy(other), {"ctx"}));
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(other))) << "a refused destroy must change nothing";
  ASSERT_TRUE(ok(gpumem_event_destroy(event)));
  EXPECT_TRUE(ok(gpumem_ctx_destroy(other)));
}

TEST_P(ContextOn, AWrappedStreamKeepsItBusyToo) {
  gpumem_ctx* other = nullptr;
  const gpumem_ctx_options options = options_for(GetParam());
  ASSERT_TRUE(ok(gpumem_ctx_create(&options, &other)));
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_wrap(other, nullptr, &stream)));
  EXPECT_TRUE(gives(GPUMEM_BUSY, gpumem_ctx_destroy(other)));
  ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
  EXPECT_TRUE(ok(gpumem_ctx_destroy(other)));
}

struct Logged {
  std::vector<std::string> messages;
  std::vector<gpumem_log_level> levels;
};

void keep(void* user, gpumem_log_level level, const char* message) {
  static_cast<Logged*>(user)->messages.emplace_back(message);
  static_cast<Logged*>(user)->levels.push_back(level);
}

// The messages that the end of a context with two leaked blocks gives.
Logged leak_into_log(On on, bool silence_again) {
  Logged logged;
  gpumem_ctx* ctx = nullptr;
  const gpumem_ctx_options options = options_for(on);
  EXPECT_TRUE(ok(gpumem_ctx_create(&options, &ctx)));
  EXPECT_TRUE(ok(gpumem_ctx_set_log(ctx, keep, &logged)));
  void* p = nullptr;
  EXPECT_TRUE(ok(gpumem_alloc_pinned(ctx, 123457, &p)));
  EXPECT_TRUE(ok(gpumem_alloc_device(ctx, 98765, &p)));
  if (silence_again) {
    EXPECT_TRUE(ok(gpumem_ctx_set_log(ctx, nullptr, nullptr)));
  }
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, gpumem_ctx_status(ctx)));
  return logged;
}

TEST_P(ContextOn, ReportsLeakedMemoryThroughTheLog) {
  const Logged logged = leak_into_log(GetParam(), false);
  std::string all;
  for (const std::string& message : logged.messages) all += message + '\n';
  EXPECT_TRUE(contains_word(all, "123457")) << all;
  EXPECT_TRUE(contains_word(all, "98765")) << all;
  for (const gpumem_log_level level : logged.levels) {
    EXPECT_GE(level, GPUMEM_LOG_ERROR);
    EXPECT_LE(level, GPUMEM_LOG_INFO);
  }
}

TEST_P(ContextOn, IsSilentWithoutALog) { EXPECT_TRUE(leak_into_log(GetParam(), true).messages.empty()); }

TEST_P(ContextOn, LogsNothingWhenNothingLeaks) {
  Logged logged;
  gpumem_ctx* other = nullptr;
  const gpumem_ctx_options options = options_for(GetParam());
  ASSERT_TRUE(ok(gpumem_ctx_create(&options, &other)));
  ASSERT_TRUE(ok(gpumem_ctx_set_log(other, keep, &logged)));
  { const Memory memory(other, GPUMEM_MEMORY_PINNED, 1000); }
  EXPECT_TRUE(ok(gpumem_ctx_destroy(other)));
  for (const gpumem_log_level level : logged.levels) EXPECT_EQ(level, GPUMEM_LOG_INFO);
}

TEST_P(ContextOn, DestroyWaitsForItsWork) {
  Bytes bytes(size_t{32} << 20, 1);
  gpumem_ctx* other = nullptr;
  const gpumem_ctx_options options = options_for(GetParam());
  ASSERT_TRUE(ok(gpumem_ctx_create(&options, &other)));
  const char pattern = 7;
  ASSERT_TRUE(ok(gpumem_fill_async(other, bytes.data(), &pattern, 1, static_cast<int64_t>(bytes.size()), nullptr)));
  ASSERT_TRUE(ok(gpumem_ctx_destroy(other)));
  EXPECT_EQ(bytes, Bytes(bytes.size(), 7));
}

TEST(ContextDestroy, OfNullIsANoOp) { EXPECT_TRUE(ok(gpumem_ctx_destroy(nullptr))); }

INSTANTIATE_TEST_SUITE_P(On, ContextOn, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
