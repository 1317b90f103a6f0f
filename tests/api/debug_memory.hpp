// Contexts in debug mode, what they told, and accesses to memory that no function of the library sees.
#pragma once

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
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {

inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kEnd = 256;  // bytes on each side that are looked at in any case
inline constexpr int64_t kSizes[] = {1, 255, 256, 257, 1000003};
inline constexpr unsigned char kFreed = 0xFD;

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
  bool on_gpu(gpumem_memory_kind kind) const { return on_device(kind) && !on_emulated_device(ctx_); }
  std::unique_ptr<OpenPages> opened(gpumem_memory_kind kind, const void* p, size_t bytes) const {
    return on_device(kind) ? std::make_unique<OpenPages>(p, bytes) : nullptr;
  }

  gpumem_ctx* ctx_;
  gpumem_device_info device_;
};

inline gpumem_status alloc_on_stream(gpumem_ctx* ctx, int64_t bytes, void** p) {
  return gpumem_alloc_async(ctx, bytes, 1, nullptr, p);
}
inline gpumem_status free_on_stream(gpumem_ctx* ctx, void* p) { return gpumem_free_async(ctx, p, nullptr); }

struct Allocator {
  const char* name;
  gpumem_memory_kind kind;
  gpumem_status (*allocate)(gpumem_ctx*, int64_t, void**);
  gpumem_status (*free)(gpumem_ctx*, void*);
};
inline constexpr Allocator kAllocators[] = {{"device", GPUMEM_MEMORY_DEVICE, gpumem_alloc_device, gpumem_free},
                                            {"pinned", GPUMEM_MEMORY_PINNED, gpumem_alloc_pinned, gpumem_free},
                                            {"managed", GPUMEM_MEMORY_MANAGED, gpumem_alloc_managed, gpumem_free},
                                            {"on a stream", GPUMEM_MEMORY_DEVICE, alloc_on_stream, free_on_stream}};

using Words = std::initializer_list<std::string>;

inline bool has_words(const std::string& sentence, Words words) {
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

inline gpumem_ctx_options debug_options(On on) {
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

inline std::string describe(const Allocator& by, int64_t bytes, int64_t offset) {
  return std::string(by.name) + ", " + std::to_string(bytes) + " bytes, written at " + std::to_string(offset);
}

}  // namespace gpumem_test
