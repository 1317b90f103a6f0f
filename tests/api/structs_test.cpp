// Structs that carry their size: an older caller's are shorter than the library's, a newer caller's longer. No byte
// past the caller's size is read or written.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

constexpr unsigned char kPoison = 0xC3;
constexpr size_t kTail = 32;

// A struct of T with room behind it for what a newer caller would have there.
template <class T>
struct Roomy {
  alignas(T) unsigned char bytes[sizeof(T) + kTail + 8];

  Roomy() { std::memset(bytes, kPoison, sizeof bytes); }
  T* get() { return reinterpret_cast<T*>(bytes); }
  bool untouched_from(size_t at) const {
    for (; at < sizeof bytes; ++at) {
      if (bytes[at] != kPoison) return false;
    }
    return true;
  }
};

template <class T>
using Init = gpumem_status (*)(T*, int64_t);

template <class T>
void check_init(Init<T> init, const char* argument) {
  for (const size_t size : {size_t{8}, size_t{12}, size_t{16}, sizeof(T) - 4, sizeof(T), sizeof(T) + kTail}) {
    Roomy<T> roomy;
    ASSERT_TRUE(ok(init(roomy.get(), static_cast<int64_t>(size)))) << argument << ", size " << size;
    EXPECT_EQ(roomy.get()->struct_size, static_cast<int64_t>(size));
    EXPECT_TRUE(roomy.untouched_from(size)) << argument << ": wrote past size " << size;
    for (size_t at = sizeof(T); at < size; ++at) {
      ASSERT_EQ(roomy.bytes[at], 0) << argument << ": what the library does not know must be zero";
    }
  }
  Roomy<T> roomy;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, init(nullptr, sizeof(T)), {argument, "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, init(roomy.get(), 0), {"size", "0"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, init(roomy.get(), 7), {"size", "7"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, init(roomy.get(), -1), {"size", "-1"}));
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, init(roomy.get(), INT64_MIN)));
  EXPECT_TRUE(roomy.untouched_from(0)) << argument << ": a refused init wrote";
}

TEST(Structs, InitWritesTheCallersSizeAndNoMore) {
  check_init<gpumem_ctx_options>(gpumem_ctx_options_init, "options");
  check_init<gpumem_device_info>(gpumem_device_info_init, "info");
  check_init<gpumem_pointer_info>(gpumem_pointer_info_init, "info");
  check_init<gpumem_managed_info>(gpumem_managed_info_init, "info");
  check_init<gpumem_memory_stats_info>(gpumem_memory_stats_init, "stats");
  check_init<gpumem_ceiling_info>(gpumem_ceiling_info_init, "info");
  check_init<gpumem_profile_row>(gpumem_profile_row_init, "row");
  check_init<gpumem_tune_options>(gpumem_tune_options_init, "options");
  check_init<gpumem_tune_info>(gpumem_tune_info_init, "info");
}

TEST(Structs, OptionsDefaultToWhatTheHeaderSays) {
  const gpumem_ctx_options options = default_options();
  EXPECT_EQ(options.device, GPUMEM_DEVICE_BEST);
  EXPECT_EQ(options.host_threads, 0);
  EXPECT_EQ(options.non_blocking_stream, 0);
  EXPECT_EQ(options.reserved0, 0);
  EXPECT_EQ(options.parallel_for, nullptr);
  EXPECT_EQ(options.parallel_for_user, nullptr);
  EXPECT_EQ(options.stream_host_data, 0);
  EXPECT_EQ(options.reserved1, 0);
  EXPECT_EQ(options.debug_memory, 0);
  EXPECT_EQ(options.reserved2, 0);
  EXPECT_EQ(options.strict_host, 0);
  EXPECT_EQ(options.reserved3, 0);
}

TEST(Structs, AnOlderCallersOptionsAreReadUpToTheirEnd) {
  for (const int64_t size : {int64_t{12}, int64_t{16}}) {
    Roomy<gpumem_ctx_options> roomy;  // everything past the caller's size is poison, which nobody may read
    ASSERT_TRUE(ok(gpumem_ctx_options_init(roomy.get(), size)));
    roomy.get()->device = GPUMEM_DEVICE_HOST;
    if (size >= 16) roomy.get()->host_threads = 3;
    gpumem_ctx* ctx = nullptr;
    ASSERT_TRUE(ok(gpumem_ctx_create(roomy.get(), &ctx))) << size;
    gpumem_device_info info;
    ASSERT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
    ASSERT_TRUE(ok(gpumem_ctx_device(ctx, &info)));
    EXPECT_EQ(info.backend, GPUMEM_BACKEND_HOST);
    EXPECT_TRUE(size < 16 || info.multiprocessors == 3);
    EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
  }
}

TEST(Structs, ANewerCallersOptionsMustBeZeroWhereTheLibraryEnds) {
  Roomy<gpumem_ctx_options> roomy;
  ASSERT_TRUE(ok(gpumem_ctx_options_init(roomy.get(), sizeof(gpumem_ctx_options) + kTail)));
  roomy.get()->device = GPUMEM_DEVICE_HOST;
  gpumem_ctx* ctx = nullptr;
  ASSERT_TRUE(ok(gpumem_ctx_create(roomy.get(), &ctx)));
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
  for (const size_t at : {sizeof(gpumem_ctx_options), sizeof(gpumem_ctx_options) + kTail - 1}) {
    roomy.bytes[at] = 1;
    ctx = reinterpret_cast<gpumem_ctx*>(&roomy);
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_ctx_create(roomy.get(), &ctx), {"options"}));
    EXPECT_EQ(ctx, nullptr);
    roomy.bytes[at] = 0;
  }
}

TEST(Structs, OptionsWithoutASizeAreRefused) {
  gpumem_ctx_options options = default_options();
  for (const int64_t size : {int64_t{0}, int64_t{7}, int64_t{-1}, INT64_MIN, (int64_t{1} << 20) + 1, INT64_MAX}) {
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_options_init(&options, size), {"size", std::to_string(size)}));
    options.struct_size = size;
    gpumem_ctx* ctx = nullptr;
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &ctx), {"struct_size", std::to_string(size)}));
  }
}

// Calls `write` with structs of several sizes and compares each with what the whole struct gets.
template <class T, class Write>
void check_output(Init<T> init, Write write, const char* what) {
  Roomy<T> whole;
  ASSERT_TRUE(ok(init(whole.get(), sizeof(T))));
  ASSERT_TRUE(ok(write(whole.get())));
  EXPECT_TRUE(whole.untouched_from(sizeof(T))) << what;
  for (const size_t size : {size_t{8}, size_t{16}, size_t{24}, sizeof(T) + kTail}) {
    Roomy<T> roomy;
    ASSERT_TRUE(ok(init(roomy.get(), static_cast<int64_t>(size))));
    ASSERT_TRUE(ok(write(roomy.get()))) << what << ", size " << size;
    EXPECT_EQ(roomy.get()->struct_size, static_cast<int64_t>(size)) << what;
    EXPECT_TRUE(roomy.untouched_from(size)) << what << ": wrote past size " << size;
    const size_t known = std::min(size, sizeof(T));
    EXPECT_EQ(std::memcmp(roomy.bytes + 8, whole.bytes + 8, known - 8), 0) << what << ", size " << size;
  }
  Roomy<T> sizeless;
  sizeless.get()->struct_size = 0;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, write(sizeless.get()), {"struct_size", "0"})) << what;
  sizeless.get()->struct_size = -8;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, write(sizeless.get()), {"struct_size", "-8"})) << what;
  EXPECT_TRUE(sizeless.untouched_from(8)) << what;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, write(static_cast<T*>(nullptr)), {"NULL"})) << what;
}

class StructsOn : public OnEachContext {};

TEST_P(StructsOn, OutputsEndWhereTheCallersStructEnds) {
  const Memory memory(ctx, GPUMEM_MEMORY_PINNED, 100);
  check_output<gpumem_device_info>(
      gpumem_device_info_init, [](auto* info) { return gpumem_device_query(GPUMEM_DEVICE_HOST, info); },
      "device_query");
  check_output<gpumem_device_info>(
      gpumem_device_info_init, [&](auto* info) { return gpumem_ctx_device(ctx, info); }, "ctx_device");
  check_output<gpumem_pointer_info>(
      gpumem_pointer_info_init, [&](auto* info) { return gpumem_pointer_query(ctx, memory.get(), info); },
      "pointer_query");
  const Memory managed(ctx, GPUMEM_MEMORY_MANAGED, 100);
  check_output<gpumem_managed_info>(
      gpumem_managed_info_init, [&](auto* info) { return gpumem_managed_query(ctx, managed.get(), 0, info); },
      "managed_query");
  check_output<gpumem_memory_stats_info>(
      gpumem_memory_stats_init, [&](auto* stats) { return gpumem_memory_stats(ctx, stats); }, "memory_stats");
  check_output<gpumem_ceiling_info>(
      gpumem_ceiling_info_init, [&](auto* info) { return gpumem_ceiling(ctx, info); }, "ceiling");
  check_output<gpumem_tune_info>(
      gpumem_tune_info_init,
      [&](auto* info) { return gpumem_tune(ctx, "fill bytes=1 n=0 dst=pageable", nullptr, info); }, "tune");
}

INSTANTIATE_TEST_SUITE_P(On, StructsOn, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
