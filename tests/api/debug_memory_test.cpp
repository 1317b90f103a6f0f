// Debug mode: writes past the ends of memory and into what was freed are found, named and told once.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/environment.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kEnd = 256;  // bytes on each side that are looked at in any case
constexpr int64_t kSizes[] = {1, 255, 256, 257, 1000003};
constexpr unsigned char kFreed = 0xFD;

// ------------------------------------------------------------------------------------------------------ stray accesses

// The driver's own copies, which know nothing of gpumem. The tests are not linked with CUDA.
class Driver {
 public:
  explicit Driver(int32_t ordinal) : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
    if (library_ == nullptr) return;
    expect_success(call<int(unsigned)>("cuInit")(0));
    expect_success(call<int(int*, int)>("cuDeviceGet")(&device_, ordinal));
    void* context = nullptr;
    expect_success(call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device_));
    expect_success(call<int(void*)>("cuCtxPushCurrent_v2")(context));
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() {
    if (library_ == nullptr) return;
    void* context = nullptr;
    expect_success(call<int()>("cuCtxSynchronize")());
    expect_success(call<int(void**)>("cuCtxPopCurrent_v2")(&context));
    expect_success(call<int(int)>("cuDevicePrimaryCtxRelease_v2")(device_));
    dlclose(library_);
  }

  void read(void* dst, const void* src, size_t bytes) {
    ASSERT_NE(library_, nullptr) << "there is no driver";
    const auto from = reinterpret_cast<uintptr_t>(src);
    expect_success(call<int(void*, unsigned long long, size_t)>("cuMemcpyDtoH_v2")(dst, from, bytes));
  }
  void write(void* dst, const void* src, size_t bytes) {
    ASSERT_NE(library_, nullptr) << "there is no driver";
    const auto to = reinterpret_cast<uintptr_t>(dst);
    expect_success(call<int(unsigned long long, const void*, size_t)>("cuMemcpyHtoD_v2")(to, src, bytes));
  }

 private:
  static void expect_success(int result) { EXPECT_EQ(result, 0) << "of the driver"; }

  template <class F>
  F* call(const char* name) {
    return reinterpret_cast<F*>(dlsym(library_, name));
  }

  void* library_;
  int device_ = 0;
};

// Memory of the emulated device is closed to the host while the device does not work; here it is open.
class OpenPages {
 public:
  OpenPages(const void* p, size_t bytes) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t first = reinterpret_cast<uintptr_t>(p) / page * page;
    first_ = reinterpret_cast<void*>(first);
    bytes_ = (reinterpret_cast<uintptr_t>(p) + bytes - first + page - 1) / page * page;
    EXPECT_EQ(mprotect(first_, bytes_, PROT_READ | PROT_WRITE), 0);
  }
  OpenPages(const OpenPages&) = delete;
  OpenPages& operator=(const OpenPages&) = delete;
  ~OpenPages() { EXPECT_EQ(mprotect(first_, bytes_, PROT_NONE), 0); }

 private:
  void* first_;
  size_t bytes_;
};

// Reads and writes that no function of the library sees, on an idle context.
class Stray {
 public:
  explicit Stray(gpumem_ctx* ctx) : ctx_(ctx) {
    EXPECT_TRUE(ok(gpumem_device_info_init(&device_, sizeof device_)));
    EXPECT_TRUE(ok(gpumem_ctx_device(ctx, &device_)));
  }

  Bytes read(gpumem_memory_kind kind, const void* p, size_t bytes) const {
    EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx_)));
    Bytes image(bytes);
    if (on_gpu(kind)) {
      Driver(device_.device).read(image.data(), p, bytes);
    } else {
      const auto open = opened(kind, p, bytes);
      std::memcpy(image.data(), p, bytes);
    }
    return image;
  }

  void write(gpumem_memory_kind kind, void* p, unsigned char value) const {
    EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx_)));
    if (on_gpu(kind)) {
      Driver(device_.device).write(p, &value, 1);
    } else {
      const auto open = opened(kind, p, 1);
      *static_cast<volatile unsigned char*>(p) = value;
    }
  }

  // Gives the byte another value than it has, whatever that is.
  void change(gpumem_memory_kind kind, void* p, int64_t offset, unsigned char mask) const {
    char* const at = static_cast<char*>(p) + offset;
    write(kind, at, static_cast<unsigned char>(read(kind, at, 1)[0] ^ mask));
  }

 private:
  bool on_device(gpumem_memory_kind kind) const {
    return device_.backend == GPUMEM_BACKEND_CUDA && kind == GPUMEM_MEMORY_DEVICE;
  }
  bool emulated() const { return std::strstr(device_.name, "emulated") != nullptr; }
  bool on_gpu(gpumem_memory_kind kind) const { return on_device(kind) && !emulated(); }
  std::unique_ptr<OpenPages> opened(gpumem_memory_kind kind, const void* p, size_t bytes) const {
    return on_device(kind) ? std::make_unique<OpenPages>(p, bytes) : nullptr;
  }

  gpumem_ctx* ctx_;
  gpumem_device_info device_;
};

// ------------------------------------------------------------------------------------------------------------- fixture

gpumem_status alloc_on_stream(gpumem_ctx* ctx, int64_t bytes, void** p) {
  return gpumem_alloc_async(ctx, bytes, 1, nullptr, p);
}
gpumem_status free_on_stream(gpumem_ctx* ctx, void* p) { return gpumem_free_async(ctx, p, nullptr); }

struct Allocator {
  const char* name;
  gpumem_memory_kind kind;
  gpumem_status (*allocate)(gpumem_ctx*, int64_t, void**);
  gpumem_status (*free)(gpumem_ctx*, void*);
};
constexpr Allocator kAllocators[] = {{"device", GPUMEM_MEMORY_DEVICE, gpumem_alloc_device, gpumem_free},
                                     {"pinned", GPUMEM_MEMORY_PINNED, gpumem_alloc_pinned, gpumem_free},
                                     {"managed", GPUMEM_MEMORY_MANAGED, gpumem_alloc_managed, gpumem_free},
                                     {"on a stream", GPUMEM_MEMORY_DEVICE, alloc_on_stream, free_on_stream}};

using Words = std::initializer_list<std::string>;

bool has_words(const std::string& sentence, Words words) {
  return std::all_of(words.begin(), words.end(), [&](const auto& word) { return contains_word(sentence, word); });
}

struct Log {
  std::vector<std::string> errors;
  std::string complaints;  // errors and warnings
  std::string all;

  static void keep(void* user, gpumem_log_level level, const char* message) {
    auto& log = *static_cast<Log*>(user);
    if (level == GPUMEM_LOG_ERROR) log.errors.emplace_back(message);
    if (level != GPUMEM_LOG_INFO) log.complaints += std::string(message) + '\n';
    log.all += std::string(message) + '\n';
  }
  bool has(const std::string& sentence) const {
    return std::find(errors.begin(), errors.end(), sentence) != errors.end();
  }
  testing::AssertionResult tells(Words words) const {
    for (const std::string& error : errors) {
      if (has_words(error, words)) return testing::AssertionSuccess();
    }
    auto failure = testing::AssertionFailure() << "no error in the log has all of";
    for (const std::string& word : words) failure << " '" << word << '\'';
    return failure << ":\n" << all;
  }
};

gpumem_ctx_options debug_options(On on) {
  gpumem_ctx_options options = options_for(on);
  options.debug_memory = 1;
  return options;
}

// A context in debug mode, and what it told.
struct DebugContext {
  explicit DebugContext(const gpumem_ctx_options& options) : ctx(options) {
    EXPECT_TRUE(ok(gpumem_ctx_set_log(ctx, Log::keep, &log)));
  }

  void* allocated(const Allocator& by, int64_t bytes, const char* label = nullptr) const {
    void* p = nullptr;
    EXPECT_TRUE(ok(by.allocate(ctx, bytes, &p))) << by.name << ' ' << bytes;
    EXPECT_TRUE(ok(gpumem_memory_label(ctx, p, label)));
    return p;
  }
  // Memory that was freed, and is kept.
  void* freed(const Allocator& by, int64_t bytes, const char* label = nullptr) const {
    void* const p = allocated(by, bytes, label);
    EXPECT_TRUE(ok(by.free(ctx, p)));
    return p;
  }
  void change(const Allocator& by, void* p, int64_t offset, unsigned char mask = 0xFF) const {
    Stray(ctx).change(by.kind, p, offset, mask);
  }
  gpumem_status check() const { return gpumem_memory_check(ctx); }
  // CORRUPTED, with a sentence that has the words and stands in the log as an error.
  testing::AssertionResult found(gpumem_status got, Words words) const {
    if (const auto status = gives(GPUMEM_CORRUPTED, got); !status) return status;
    const std::string sentence = last_error();
    if (!log.has(sentence)) return testing::AssertionFailure() << sentence << "\nis no error in the log:\n" << log.all;
    return refused(GPUMEM_CORRUPTED, got, words);
  }
  int64_t live_bytes() const {
    const gpumem_memory_stats_info stats = stats_of(ctx);
    return stats.device_bytes + stats.pinned_bytes + stats.managed_bytes;
  }

  Log log;  // outlives the context
  Context ctx;
};

class DebugMemory : public testing::TestWithParam<On> {
 protected:
  void TearDown() override { EXPECT_EQ(live_blocks(stats_of(on.ctx)), 0) << "the test left memory behind"; }

  DebugContext on{debug_options(GetParam())};
  gpumem_ctx* ctx = on.ctx;
};

std::string describe(const Allocator& by, int64_t bytes, int64_t offset) {
  return std::string(by.name) + ", " + std::to_string(bytes) + " bytes, written at " + std::to_string(offset);
}

// ----------------------------------------------------------------------------------------------------- what is no harm

TEST_P(DebugMemory, WithoutItTheCheckIsUnsupported) {
  const ScopedVariable variable("GPUMEM_DEBUG", "0");
  const Context plain(GetParam());
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_memory_check(plain), {}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_memory_check(nullptr), {"ctx", "NULL"}));
}

TEST_P(DebugMemory, ACheckOfSoundMemoryIsOk) {
  EXPECT_TRUE(ok(on.check())) << "of none";
  std::vector<void*> blocks;
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : kSizes) {
      void* const p = on.allocated(by, bytes, "sound");
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 256, 0u);
      EXPECT_TRUE(ok(gpumem_fill(ctx, p, "x", 1, bytes))) << "to the last byte";
      blocks.push_back(p);
    }
  }
  EXPECT_TRUE(ok(on.check()));
  for (void* p : blocks) EXPECT_TRUE(ok(gpumem_free(ctx, p)));
  EXPECT_TRUE(ok(on.check()));
  EXPECT_TRUE(ok(on.check()));
  EXPECT_EQ(on.log.complaints, "");
}

TEST_P(DebugMemory, NoBytesAreNullAndFreeingNullIsNothing) {
  for (const Allocator& by : kAllocators) {
    void* p = &p;
    EXPECT_TRUE(ok(by.allocate(ctx, 0, &p))) << by.name;
    EXPECT_EQ(p, nullptr);
    EXPECT_TRUE(ok(by.free(ctx, nullptr)));
  }
  EXPECT_TRUE(ok(on.check()));
}

TEST_P(DebugMemory, MoreThanThereIsRunsOut) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t less : {0, 1, 255, 256, 257, 511, 512, 513, 4096}) {
      const int64_t bytes = INT64_MAX - less;
      void* p = &p;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_MEMORY, by.allocate(ctx, bytes, &p), {std::to_string(bytes)})) << by.name;
      EXPECT_EQ(p, nullptr);
    }
  }
  void* p = &p;
  EXPECT_TRUE(gives(GPUMEM_OUT_OF_MEMORY, gpumem_alloc_async(ctx, INT64_MAX - 2 * kMiB, 2 * kMiB, nullptr, &p)));
  EXPECT_EQ(p, nullptr);
}

TEST_P(DebugMemory, ChecksLeaveLiveMemoryAsItIs) {
  Bytes image(100003);
  poison(image);
  std::vector<std::unique_ptr<Memory>> live;
  for (const Allocator& by : kAllocators) {
    live.push_back(std::make_unique<Memory>(ctx, by.kind, static_cast<int64_t>(image.size())));
    upload(ctx, live.back()->get(), image.data(), image.size());
  }
  for (int round = 0; round < 3; ++round) {
    for (const Allocator& by : kAllocators) on.freed(by, 70000);
    EXPECT_TRUE(ok(on.check()));
    for (const auto& memory : live) EXPECT_EQ(download(ctx, memory->get(), image.size()), image);
  }
}

TEST_P(DebugMemory, StatisticsCountWhatWasAskedFor) {
  for (const Allocator& by : kAllocators) {
    void* const p = on.allocated(by, 1000);
    EXPECT_EQ(on.live_bytes(), 1000) << by.name;
    EXPECT_EQ(live_blocks(stats_of(ctx)), 1);
    EXPECT_TRUE(ok(by.free(ctx, p)));
    on.freed(by, 1000);
    EXPECT_EQ(on.live_bytes(), 0);
  }
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.allocations, 8);
  EXPECT_EQ(stats.frees, 8);
  EXPECT_EQ(stats.device_hits, 0) << "nothing is pooled";
  EXPECT_EQ(stats.device_misses, 4);
  EXPECT_EQ(stats.pinned_hits, 0);
  EXPECT_EQ(stats.pinned_misses, 2);
}

TEST_P(DebugMemory, RegisteredMemoryHasNoEndsOfItsOwn) {
  Bytes own(5000, 1);
  ASSERT_TRUE(ok(gpumem_host_register(ctx, own.data() + 1000, 1000)));
  std::fill(own.begin(), own.end(), static_cast<unsigned char>(2));
  EXPECT_TRUE(ok(on.check()));
  EXPECT_EQ(own, Bytes(5000, 2));
  ASSERT_TRUE(ok(gpumem_host_unregister(ctx, own.data() + 1000)));
  EXPECT_EQ(own, Bytes(5000, 2));
}

TEST_P(DebugMemory, FreeAndCheckWaitForEnqueuedWork) {
  constexpr int64_t kBytes = 8 * kMiB;
  const Stream stream(ctx);
  Bytes result(kBytes);
  for (const Allocator& by : kAllocators) {
    void* const p = on.allocated(by, kBytes);
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, "w", 1, kBytes, stream)));
    ASSERT_TRUE(ok(on.check()));
    EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream))) << "the work was still running after the check";
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, result.data(), p, kBytes, stream)));
    ASSERT_TRUE(ok(by.free(ctx, p)));
    EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream))) << "the work was still running after the free";
    EXPECT_EQ(result, Bytes(kBytes, 'w'));
  }
}

// ------------------------------------------------------------------------------------------------ writes past the ends

TEST_P(DebugMemory, FreeFindsAWritePastAnEndAndFreesAllTheSame) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : kSizes) {
      for (const int64_t offset : {-kEnd, int64_t{-1}, bytes, bytes + kEnd - 1}) {
        SCOPED_TRACE(describe(by, bytes, offset));
        void* const p = on.allocated(by, bytes, "velocity");
        on.change(by, p, offset);
        EXPECT_TRUE(on.found(by.free(ctx, p), {"velocity", kind_name(by.kind), std::to_string(offset)}));
        EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, by.free(ctx, p), {"p", "freed", "before"}));
        EXPECT_EQ(on.live_bytes(), 0);
        EXPECT_TRUE(ok(on.check())) << "it was told";
        ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
      }
    }
  }
}

TEST_P(DebugMemory, ACheckFindsAWritePastAnEnd) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : kSizes) {
      for (const int64_t offset : {-kEnd, int64_t{-1}, bytes, bytes + kEnd - 1}) {
        SCOPED_TRACE(describe(by, bytes, offset));
        void* const p = on.allocated(by, bytes, "density");
        on.change(by, p, offset);
        EXPECT_TRUE(on.found(on.check(), {"density", kind_name(by.kind), std::to_string(offset)}));
        const gpumem_status freed = by.free(ctx, p);
        EXPECT_TRUE(freed == GPUMEM_OK || freed == GPUMEM_CORRUPTED) << gpumem_status_name(freed);
        EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, by.free(ctx, p), {"p", "freed", "before"}));
        EXPECT_EQ(on.live_bytes(), 0);
        ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
      }
    }
  }
}

TEST_P(DebugMemory, EachAlignmentHoldsAndHasEnds) {
  constexpr int64_t kBytes = 777;
  const Stream stream(ctx);
  for (int64_t alignment = 1; alignment <= 2 * kMiB; alignment *= 2) {
    for (const int64_t offset : {-kEnd, int64_t{-1}, kBytes, kBytes + kEnd - 1}) {
      SCOPED_TRACE(describe(kAllocators[3], kBytes, offset) + ", aligned to " + std::to_string(alignment));
      void* p = nullptr;
      ASSERT_TRUE(ok(gpumem_alloc_async(ctx, kBytes, alignment, stream, &p)));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(std::max<int64_t>(alignment, 256)), 0u);
      ASSERT_TRUE(ok(gpumem_memory_label(ctx, p, "aligned")));
      ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, "a", 1, kBytes, stream)));
      EXPECT_TRUE(ok(on.check()));
      on.change(kAllocators[3], p, offset);
      EXPECT_TRUE(on.found(gpumem_free_async(ctx, p, stream), {"aligned", "device", std::to_string(offset)}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, p, stream), {"p", "freed", "before"}));
    }
    ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  }
}

TEST_P(DebugMemory, TheSentenceHasTheFirstAndTheLastByte) {
  for (const Allocator& by : kAllocators) {
    void* const before = on.allocated(by, 1000, "left");
    for (const int64_t offset : {-20, -77, -200}) on.change(by, before, offset);
    EXPECT_TRUE(on.found(by.free(ctx, before), {"left", "-200", "-20"})) << by.name;
    void* const behind = on.allocated(by, 1000, "right");
    for (const int64_t offset : {1003, 1177, 1044}) on.change(by, behind, offset);
    EXPECT_TRUE(on.found(by.free(ctx, behind), {"right", "1003", "1177"})) << by.name;
  }
}

TEST_P(DebugMemory, BothEndsAndEveryBlockAreTold) {
  for (const Allocator& by : kAllocators) {
    void* const first = on.allocated(by, 1000, by.name);
    void* const second = on.allocated(by, 3000, "second");
    on.change(by, first, -33);
    on.change(by, first, 1044);
    on.change(by, second, 3055);
    EXPECT_TRUE(on.found(on.check(), {})) << by.name;
    EXPECT_TRUE(on.log.tells({by.name, "-33"}));
    EXPECT_TRUE(on.log.tells({by.name, "1044"}));
    EXPECT_TRUE(on.log.tells({"second", "3055"}));
    for (void* p : {first, second}) by.free(ctx, p);
    on.log = Log();
  }
}

TEST_P(DebugMemory, TheLatestLabelIsTheName) {
  for (const Allocator& by : kAllocators) {
    void* const renamed = on.allocated(by, 100, "earlier");
    ASSERT_TRUE(ok(gpumem_memory_label(ctx, renamed, "later")));
    on.change(by, renamed, 101);
    EXPECT_TRUE(on.found(by.free(ctx, renamed), {"later", kind_name(by.kind), "101"}));
    void* const nameless = on.allocated(by, 100);
    on.change(by, nameless, 102);
    EXPECT_TRUE(on.found(by.free(ctx, nameless), {kind_name(by.kind), "102"}));
    EXPECT_FALSE(contains_word(on.log.all, "earlier")) << on.log.all;
    on.log = Log();
  }
}

TEST_P(DebugMemory, AnotherContextTellsNothingOfIt) {
  const DebugContext other(debug_options(GetParam()));
  for (const Allocator& by : kAllocators) {
    void* const live = on.allocated(by, 100, "theirs");
    void* const freed = on.freed(by, 100, "theirs");
    on.change(by, live, 100);
    on.change(by, freed, 50);
    EXPECT_TRUE(ok(other.check())) << by.name;
    EXPECT_TRUE(on.found(by.free(ctx, live), {"theirs", "100"}));
    EXPECT_TRUE(on.found(on.check(), {"theirs", "50"}));
  }
  EXPECT_EQ(other.log.complaints, "");
}

// -------------------------------------------------------------------------------------------------- writes after frees

TEST_P(DebugMemory, AWriteAfterTheFreeIsToldOnce) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t offset : {0, 500, 999}) {
      SCOPED_TRACE(describe(by, 1000, offset));
      on.log = Log();
      void* const p = on.freed(by, 1000, "stale");
      EXPECT_TRUE(ok(on.check()));
      on.change(by, p, offset);
      EXPECT_TRUE(on.found(on.check(), {"stale", kind_name(by.kind), std::to_string(offset)}));
      EXPECT_EQ(on.log.errors.size(), 1u) << on.log.all;
      EXPECT_TRUE(ok(on.check()));
      EXPECT_EQ(on.log.errors.size(), 1u) << on.log.all;
      on.change(by, p, offset, 0x0F);
      EXPECT_TRUE(on.found(on.check(), {"stale", kind_name(by.kind), std::to_string(offset)})) << "written again";
      EXPECT_TRUE(ok(on.check()));
      EXPECT_EQ(on.log.errors.size(), 2u) << on.log.all;
    }
  }
}

TEST_P(DebugMemory, AWriteAfterTheFreeHasAFirstAndALastByte) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : {int64_t{1000}, int64_t{1000003}}) {
      void* const p = on.freed(by, bytes, "stale");
      on.change(by, p, 11);
      on.change(by, p, 77);
      on.change(by, p, bytes - 13);
      EXPECT_TRUE(on.found(on.check(), {"stale", "11", std::to_string(bytes - 13)})) << by.name << ' ' << bytes;
    }
  }
}

TEST_P(DebugMemory, WhatWasFreedIsFilledAndNotHandedOutAgain) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : kSizes) {
      void* const p = on.allocated(by, bytes);
      ASSERT_TRUE(ok(gpumem_fill(ctx, p, "z", 1, bytes)));
      ASSERT_TRUE(ok(by.free(ctx, p)));
      const auto size = static_cast<size_t>(bytes);
      EXPECT_EQ(Stray(ctx).read(by.kind, p, size), Bytes(size, kFreed)) << by.name << ' ' << bytes;
      EXPECT_NE(on.freed(by, bytes), p);
    }
  }
}

TEST_P(DebugMemory, AWriteIsFoundWhenTheMemoryIsLetGo) {
  for (const Allocator& by : kAllocators) {
    SCOPED_TRACE(by.name);
    on.log = Log();
    void* const p = on.freed(by, kMiB, "early");
    on.change(by, p, 4321);
    for (int i = 0; i < 4; ++i) on.freed(by, 8 * kMiB);
    EXPECT_EQ(on.log.complaints, "") << "it is still kept";
    for (int i = 0; i < 5; ++i) on.freed(by, 8 * kMiB);
    EXPECT_TRUE(on.log.tells({"early", kind_name(by.kind), "4321"}));
    EXPECT_TRUE(on.found(on.check(), {"early", kind_name(by.kind), "4321"}));
    EXPECT_EQ(on.log.errors.size(), 1u) << on.log.all;
    EXPECT_TRUE(ok(on.check()));
    ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  }
}

TEST_P(DebugMemory, EachKindIsKeptOnItsOwn) {
  void* const p = on.freed(kAllocators[1], 1000, "pinned one");
  for (int i = 0; i < 9; ++i) on.freed(kAllocators[0], 8 * kMiB);
  on.change(kAllocators[1], p, 123);
  EXPECT_TRUE(on.found(on.check(), {"pinned", "123"}));
}

TEST_P(DebugMemory, TrimLetsGoOfWhatIsKept) {
  for (const Allocator& by : kAllocators) {
    SCOPED_TRACE(by.name);
    on.log = Log();
    on.change(by, on.freed(by, 3 * kMiB, "trimmed"), 99);
    EXPECT_GE(stats_of(ctx).device_reserved_bytes, by.kind == GPUMEM_MEMORY_DEVICE ? 3 * kMiB : 0);
    EXPECT_GE(stats_of(ctx).pinned_reserved_bytes, by.kind == GPUMEM_MEMORY_PINNED ? 3 * kMiB : 0);
    EXPECT_TRUE(ok(gpumem_memory_trim(ctx, INT64_MAX)));
    EXPECT_EQ(on.log.complaints, "") << "nothing had to go";
    EXPECT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
    EXPECT_TRUE(on.log.tells({"trimmed", kind_name(by.kind), "99"}));
    EXPECT_EQ(stats_of(ctx).device_reserved_bytes, 0);
    EXPECT_EQ(stats_of(ctx).pinned_reserved_bytes, 0);
    EXPECT_TRUE(on.found(on.check(), {"trimmed", kind_name(by.kind), "99"}));
    EXPECT_TRUE(ok(on.check()));
  }
}

TEST_P(DebugMemory, TheLimitTakesBackWhatIsKept) {
  gpumem_ctx_options options = debug_options(GetParam());
  options.device_memory_limit = 24 * kMiB;
  DebugContext limited(options);
  for (const Allocator& by : {kAllocators[0], kAllocators[3]}) {
    SCOPED_TRACE(by.name);
    limited.log = Log();
    void* const p = limited.allocated(by, 16 * kMiB, "scratch");
    void* q = &q;
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_MEMORY, by.allocate(limited.ctx, 16 * kMiB, &q)));
    EXPECT_EQ(q, nullptr);
    ASSERT_TRUE(ok(by.free(limited.ctx, p)));
    limited.change(by, p, 55);
    EXPECT_EQ(limited.log.complaints, "");
    limited.freed(by, 16 * kMiB);
    EXPECT_TRUE(limited.log.tells({"scratch", "device", "55"}));
    EXPECT_TRUE(limited.found(limited.check(), {"scratch", "device", "55"}));
    EXPECT_TRUE(ok(limited.check()));
    for (int i = 0; i < 4; ++i) limited.freed(by, 16 * kMiB);
  }
}

// ---------------------------------------------------------------------------------------------------- pointers, ranges

TEST_P(DebugMemory, TheEndsAreNoMemoryOfTheProgram) {
  for (const Allocator& by : kAllocators) {
    void* const p = on.allocated(by, 1000);
    gpumem_pointer_info info;
    ASSERT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
    for (const int64_t offset : {-kEnd, int64_t{-1}, int64_t{1000}, 1000 + kEnd - 1}) {
      SCOPED_TRACE(describe(by, 1000, offset));
      void* const at = static_cast<char*>(p) + offset;
      info.ours = 0;
      const gpumem_status status = gpumem_pointer_query(ctx, at, &info);
      EXPECT_TRUE(status == GPUMEM_OK || status == GPUMEM_INVALID_POINTER) << gpumem_status_name(status);
      EXPECT_EQ(info.ours, 0);
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, at), {"p"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_label(ctx, at, "end"), {"p"}));
    }
    ASSERT_TRUE(ok(gpumem_pointer_query(ctx, static_cast<char*>(p) + 999, &info)));
    EXPECT_EQ(info.ours, 1);
    EXPECT_EQ(info.base, p);
    EXPECT_EQ(info.offset_bytes, 999);
    EXPECT_EQ(info.size_bytes, 1000);
    EXPECT_TRUE(ok(by.free(ctx, p)));
  }
}

TEST_P(DebugMemory, RangesStillEndWithTheAllocation) {
  Bytes bytes(1001, 7);
  for (const Allocator& by : kAllocators) {
    void* const p = on.allocated(by, 1000);
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, gpumem_copy(ctx, p, bytes.data(), 1001), {"dst", "1001", "1000"}));
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, gpumem_copy(ctx, bytes.data(), p, 1001), {"src", "1001", "1000"}));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_fill(ctx, p, "f", 1, 1001)));
    EXPECT_TRUE(ok(on.check())) << by.name;
    EXPECT_TRUE(ok(by.free(ctx, p)));
  }
}

TEST_P(DebugMemory, APointerIntoFreedMemoryIsFreedBefore) {
  Bytes bytes(4, 7);
  gpumem_pointer_info info;
  ASSERT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
  for (const Allocator& by : kAllocators) {
    void* const p = on.freed(by, 1000);
    for (const int64_t offset : {0, 500, 996}) {
      SCOPED_TRACE(describe(by, 1000, offset));
      void* const at = static_cast<char*>(p) + offset;
      const auto* x = static_cast<const int32_t*>(at);
      int64_t sum = 0;
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_pointer_query(ctx, at, &info), {"p", "freed", "before"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, at, bytes.data(), 4), {"dst", "freed", "before"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, bytes.data(), at, 4), {"src", "freed", "before"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_fill(ctx, at, "f", 1, 4), {"dst", "freed", "before"}));
      EXPECT_TRUE(
          refused(GPUMEM_INVALID_POINTER, gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 1, 1, &sum), {"x", "freed", "before"}));
      EXPECT_TRUE(gives(GPUMEM_INVALID_POINTER, gpumem_memory_label(ctx, at, "late")));
    }
  }
  EXPECT_EQ(bytes, Bytes(4, 7));
  EXPECT_TRUE(ok(on.check()));
}

// --------------------------------------------------------------------------------------------------- the context's end

TEST_P(DebugMemory, TheEndOfTheContextTellsDamageAndLeaks) {
  for (const Allocator& by : kAllocators) {
    SCOPED_TRACE(by.name);
    DebugContext other(debug_options(GetParam()));
    other.allocated(by, 11111, "forgotten");
    other.change(by, other.allocated(by, 2000, "pressure"), 2044);
    other.change(by, other.allocated(by, 2000, "vorticity"), -44);
    other.change(by, other.freed(by, 2000, "stale"), 1234);
    EXPECT_EQ(other.log.complaints, "");
    other.ctx.destroy();
    EXPECT_TRUE(has_words(other.log.all, {"forgotten", "11111"})) << other.log.all;
    EXPECT_TRUE(other.log.tells({"pressure", kind_name(by.kind), "2044"}));
    EXPECT_TRUE(other.log.tells({"vorticity", kind_name(by.kind), "-44"}));
    EXPECT_TRUE(other.log.tells({"stale", kind_name(by.kind), "1234"}));
  }
}

TEST_P(DebugMemory, TheEndOfASoundContextTellsNothing) {
  DebugContext other(debug_options(GetParam()));
  for (const Allocator& by : kAllocators) other.freed(by, 70000, "sound");
  other.ctx.destroy();
  EXPECT_EQ(other.log.complaints, "");
}

// ------------------------------------------------------------------------------------------------ options, environment

TEST_P(DebugMemory, OptionsThatAreNoneAreRefused) {
  EXPECT_EQ(options_for(GetParam()).debug_memory, 0);
  EXPECT_EQ(options_for(GetParam()).reserved2, 0);
  for (const int32_t value : {2, -1, INT32_MAX, INT32_MIN}) {
    gpumem_ctx_options options = options_for(GetParam());
    options.debug_memory = value;
    auto* none = reinterpret_cast<gpumem_ctx*>(&options);
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"debug_memory", std::to_string(value)}));
    EXPECT_EQ(none, nullptr);
  }
  gpumem_ctx_options options = debug_options(GetParam());
  options.reserved2 = 1;
  gpumem_ctx* none = nullptr;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"reserved2", "1"}));
}

TEST_P(DebugMemory, AnOlderCallersOptionsHaveNoSuchField) {
  const ScopedVariable variable("GPUMEM_DEBUG", "0");
  gpumem_ctx_options options = debug_options(GetParam());
  options.reserved2 = 7;
  options.struct_size = offsetof(gpumem_ctx_options, debug_memory);
  const Context older(options);
  EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, gpumem_memory_check(older)));
}

TEST_P(DebugMemory, TheEnvironmentTurnsItOn) {
  const ScopedVariable variable("GPUMEM_DEBUG", "1");
  DebugContext by_variable(options_for(GetParam()));
  EXPECT_TRUE(ok(by_variable.check()));
  for (const Allocator& by : kAllocators) {
    void* const p = by_variable.allocated(by, 100, "marked");
    by_variable.change(by, p, 100);
    EXPECT_TRUE(by_variable.found(by.free(by_variable.ctx, p), {"marked", "100"})) << by.name;
  }
}

TEST_P(DebugMemory, TheEnvironmentLeavesItOff) {
  for (const char* value : {"0", ""}) {
    const ScopedVariable variable("GPUMEM_DEBUG", value);
    const Context plain(GetParam());
    EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, gpumem_memory_check(plain))) << '\'' << value << '\'';
    const Context asked(debug_options(GetParam()));
    EXPECT_TRUE(ok(gpumem_memory_check(asked))) << "the options ask for it, whatever the variable is";
  }
}

TEST_P(DebugMemory, TheEnvironmentIsRefusedWhereItSaysNeither) {
  for (const char* value : {"yes", "2", "01", "1x"}) {
    const ScopedVariable variable("GPUMEM_DEBUG", value);
    const gpumem_ctx_options options = options_for(GetParam());
    gpumem_ctx* none = nullptr;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"GPUMEM_DEBUG", value}));
    EXPECT_EQ(none, nullptr);
  }
}

// ------------------------------------------------------------------------------------------------- operations, threads

TEST_P(DebugMemory, OperationsWorkAsUsual) {
  constexpr int64_t kRows = 67, kCols = 129, kCount = kRows * kCols;
  std::vector<int32_t> matrix(kCount);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<int32_t>(i * 7 % 1000);
  std::vector<int32_t> turned(kCount);
  for (size_t i = 0; i < matrix.size(); ++i) turned[i % kCols * kRows + i / kCols] = matrix[i];
  int64_t expected = 0;
  for (const int32_t value : matrix) expected += value;
  const Stream stream(ctx);
  for (const gpumem_memory_kind from : kAllKinds) {
    for (const gpumem_memory_kind to : kAllKinds) {
      SCOPED_TRACE(std::string(kind_name(from)) + " to " + kind_name(to));
      const Memory x(ctx, from, kCount * 4);
      const Memory y(ctx, to, kCount * 4);
      const int32_t five = 5;
      ASSERT_TRUE(ok(gpumem_fill(ctx, y.get(), &five, 4, kCount)));
      int64_t sum = 0;
      ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(y.get()), kCount, 1, &sum)));
      EXPECT_EQ(sum, 5 * kCount);
      ASSERT_TRUE(ok(gpumem_copy_async(ctx, x.get(), matrix.data(), kCount * 4, stream)));
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
      ASSERT_TRUE(ok(gpumem_copy(ctx, y.get(), x.get(), kCount * 4)));
      ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(y.get()), kCount, 1, &sum)));
      EXPECT_EQ(sum, expected);
      ASSERT_TRUE(ok(gpumem_transpose(ctx, 4, kRows, kCols, x.get(), kCols, y.get(), kRows)));
      std::vector<int32_t> back(kCount);
      ASSERT_TRUE(ok(gpumem_copy(ctx, back.data(), y.get(), kCount * 4)));
      EXPECT_EQ(back, turned);
    }
  }
  EXPECT_TRUE(ok(on.check()));
  EXPECT_EQ(on.log.complaints, "");
}

template <class F>
void on_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(DebugMemory, ThreadsAllocateFreeAndCheckAtOnce) {
  on_threads(6, [this](int thread) {
    Random random(static_cast<uint64_t>(thread));
    std::vector<void*> blocks;
    for (int i = 0; i < (quick_run() ? 20 : 150); ++i) {
      const Allocator& by = kAllocators[random.below(4)];
      const int64_t bytes = random.between(1, 30000);
      void* const p = on.allocated(by, bytes, by.name);
      ASSERT_TRUE(ok(gpumem_fill(ctx, p, "t", 1, bytes)));
      blocks.push_back(p);
      if (random.below(3) == 0) continue;
      const size_t at = random.below(blocks.size());
      ASSERT_TRUE(ok(gpumem_free(ctx, blocks[at])));
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(at));
      if (random.below(8) == 0) {
        ASSERT_TRUE(ok(on.check()));
      }
      if (random.below(16) == 0) {
        ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 10000)));
      }
    }
    for (void* p : blocks) ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  });
  EXPECT_TRUE(ok(on.check()));
  EXPECT_EQ(on.log.complaints, "");
  EXPECT_EQ(on.live_bytes(), 0);
}

// Pinned memory, into which every thread may store at any time.
TEST_P(DebugMemory, EachThreadFindsWhatItWrote) {
  constexpr int kThreads = 4, kRounds = 20;
  const Allocator& by = kAllocators[1];
  on_threads(kThreads, [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      const std::string label = "block" + std::to_string(thread * kRounds + round);
      void* const p = on.allocated(by, 1000, label.c_str());
      static_cast<char*>(p)[1000 + round] ^= 0x55;
      EXPECT_TRUE(refused(GPUMEM_CORRUPTED, by.free(ctx, p), {label, std::to_string(1000 + round)}));
    }
  });
  EXPECT_EQ(on.log.errors.size(), static_cast<size_t>(kThreads * kRounds)) << on.log.all;
  for (int i = 0; i < kThreads * kRounds; ++i) EXPECT_TRUE(on.log.tells({"block" + std::to_string(i), "pinned"}));
  EXPECT_TRUE(ok(on.check()));
}

INSTANTIATE_TEST_SUITE_P(On, DebugMemory, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
