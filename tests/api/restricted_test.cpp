// Where the system gives less than usual: no pages to lock, no huge pages, no file to open, and so nothing to read in /proc. Each
// call works or says which resource it lacks, and nothing is lost.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

class Restriction {
 public:
  Restriction() = default;
  Restriction(const Restriction&) = delete;
  Restriction& operator=(const Restriction&) = delete;
  virtual ~Restriction() = default;
};

// Down to `most` of a resource; back at the end.
class Limited final : public Restriction {
 public:
  Limited(decltype(RLIMIT_NOFILE) resource, rlim_t most) : resource_(resource) {
    EXPECT_EQ(getrlimit(resource, &before_), 0);
    const rlimit less{std::min(most, before_.rlim_cur), before_.rlim_max};
    EXPECT_EQ(setrlimit(resource, &less), 0);
  }
  ~Limited() override { EXPECT_EQ(setrlimit(resource_, &before_), 0); }

 private:
  decltype(RLIMIT_NOFILE) resource_;
  rlimit before_{};
};

// No descriptor is free. The limit stays above those in use: poll(), by which the driver waits, refuses more descriptors than it.
class NoFilesLeft final : public Restriction {
 public:
  NoFilesLeft() {
    int last = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      last = std::max(last, std::stoi(entry.path().filename()));
    }
    limit_ = std::make_unique<Limited>(RLIMIT_NOFILE, static_cast<rlim_t>(last) + 1);
    for (int file = open("/dev/null", O_RDONLY); file >= 0; file = open("/dev/null", O_RDONLY))
      used_up_.push_back(file);
    EXPECT_EQ(errno, EMFILE);
  }
  ~NoFilesLeft() override {
    for (const int file : used_up_) close(file);
  }

 private:
  std::unique_ptr<Limited> limit_;
  std::vector<int> used_up_;
};

class NoHugePages final : public Restriction {
 public:
  NoHugePages() { EXPECT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0); }
  ~NoHugePages() override { EXPECT_EQ(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0); }
};

// Waits for the device fail; only the emulated one can be told so.
class BrokenWaits final : public Restriction {
 public:
  BrokenWaits() { EXPECT_EQ(setenv("GPUMEM_EMULATION_BROKEN_WAITS", "1", 1), 0); }
  ~BrokenWaits() override { EXPECT_EQ(unsetenv("GPUMEM_EMULATION_BROKEN_WAITS"), 0); }
};

struct Case {
  const char* name;
  bool with_sanitizers;  // false: their own run-time needs what is taken away
  std::unique_ptr<Restriction> (*begin)();
};
const Case kCases[] = {
    {"no pages to lock", true, [] { return std::unique_ptr<Restriction>(new Limited(RLIMIT_MEMLOCK, 0)); }},
    {"no huge pages", true, [] { return std::unique_ptr<Restriction>(new NoHugePages); }},
    {"no waits", true, [] { return std::unique_ptr<Restriction>(new BrokenWaits); }},
    {"no files", false, [] { return std::unique_ptr<Restriction>(new NoFilesLeft); }},
};

bool is_resource_or_driver(gpumem_status status) { return status >= 100 && status < 300 && !last_error().empty(); }

// Before a call and at once, so that the last line tells where a driver that lacks something ended the process or did not come back.
void announce(const char* call) {
  std::printf("%s\n", call);
  std::fflush(stdout);
}

std::string sentence(const char* call, gpumem_status status) {
  return std::string(call) + " gave " + gpumem_status_name(status) + ": " + last_error();
}

// Work with all kinds of memory. What can't be had is left out, and what can't be given back is kept to be given back later.
class Work {
 public:
  explicit Work(gpumem_ctx* ctx) : ctx_(ctx), heap_(kCount, 2) {}

  void run() {
    allocate("gpumem_alloc_device", gpumem_alloc_device);
    allocate("gpumem_alloc_pinned", gpumem_alloc_pinned);
    allocate("gpumem_alloc_managed", gpumem_alloc_managed);
    registered_ = bearable("gpumem_host_register", [&] { return gpumem_host_register(ctx_, heap_.data(), kBytes); });
    for (void* p : blocks_) {
      int64_t sum = 0;
      if (!bearable("gpumem_copy", [&] { return gpumem_copy(ctx_, p, heap_.data(), kBytes); })) continue;
      if (!bearable("gpumem_reduce_i32",
                    [&] { return gpumem_reduce_i32(ctx_, GPUMEM_SUM, static_cast<int32_t*>(p), kCount, 1, &sum); })) {
        continue;
      }
      EXPECT_EQ(sum, 2 * kCount);
    }
  }

  void give_back() {
    if (registered_) {
      registered_ = !bearable("gpumem_host_unregister", [&] { return gpumem_host_unregister(ctx_, heap_.data()); });
    }
    const auto freed = [&](void* p) { return bearable("gpumem_free", [&] { return gpumem_free(ctx_, p); }); };
    blocks_.erase(std::remove_if(blocks_.begin(), blocks_.end(), freed), blocks_.end());
    EXPECT_TRUE(gives(GPUMEM_INVALID_POINTER, gpumem_free(ctx_, &ctx_)));
  }

  bool has_given_back() const { return blocks_.empty() && !registered_; }
  // A line for each call that was refused.
  const std::string& refusals() const { return refusals_; }

 private:
  using Allocate = gpumem_status(gpumem_ctx*, int64_t, void**);
  void allocate(const char* call, Allocate* function) {
    void* p = nullptr;
    if (bearable(call, [&] { return function(ctx_, kBytes, &p); })) blocks_.push_back(p);
  }

  // Success, or a status for what ran out, with its sentence. Which calls a driver can't make without files is its own affair.
  template <class Call>
  bool bearable(const char* name, Call call) {
    announce(name);
    const gpumem_status status = call();
    if (status == GPUMEM_OK) return true;
    EXPECT_TRUE(is_resource_or_driver(status)) << sentence(name, status);
    refusals_ += sentence(name, status) + '\n';
    return false;
  }

  static constexpr int64_t kCount = int64_t{3} << 20;
  static constexpr int64_t kBytes = kCount * 4;
  gpumem_ctx* ctx_;
  std::vector<int32_t> heap_;
  std::vector<void*> blocks_;
  bool registered_ = false;
  std::string refusals_;
};

// Nothing is in the way: all of it is done.
void expect_work_done(gpumem_ctx* ctx) {
  Work work(ctx);
  work.run();
  work.give_back();
  EXPECT_EQ(work.refusals(), "");
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(live_blocks(stats), 0);
  EXPECT_EQ(stats.registered_ranges, 0);
}

class Restricted : public testing::TestWithParam<On> {};

TEST_P(Restricted, AContextThatIsThereGoesOn) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    if (kSanitized && !c.with_sanitizers) continue;
    const Context ctx(GetParam());
    expect_work_done(ctx);
    Work work(ctx);
    {
      const auto restriction = c.begin();
      work.run();
      work.give_back();
    }
    work.give_back();
    EXPECT_TRUE(work.has_given_back()) << work.refusals();
    expect_work_done(ctx);
  }
}

TEST_P(Restricted, AContextIsMadeOrSaysWhatIsMissing) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    if (kSanitized && !c.with_sanitizers) continue;
    gpumem_ctx* ctx = nullptr;
    const gpumem_ctx_options options = options_for(GetParam());
    std::unique_ptr<Work> work;
    {
      const auto restriction = c.begin();
      announce(c.name);
      announce("gpumem_ctx_create");
      const gpumem_status status = gpumem_ctx_create(&options, &ctx);
      if (status != GPUMEM_OK) {
        EXPECT_TRUE(is_resource_or_driver(status)) << sentence("gpumem_ctx_create", status);
        EXPECT_EQ(ctx, nullptr);
        continue;
      }
      work = std::make_unique<Work>(ctx);
      work->run();
      work->give_back();
    }
    work->give_back();
    EXPECT_TRUE(work->has_given_back()) << work->refusals();
    announce("nothing is in the way any more");
    expect_work_done(ctx);
    announce("gpumem_ctx_destroy");
    EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
  }
}

// Work that can't be waited for may still use the memory, which is not another's before.
TEST_P(Restricted, WhatCantBeWaitedForStaysLive) {
  for (const int32_t debug : {0, 1}) {
    SCOPED_TRACE(debug);
    gpumem_ctx_options options = options_for(GetParam());
    options.debug_memory = debug;
    const Context ctx(options);
    if (!on_emulated_device(ctx)) GTEST_SKIP() << "it needs the emulated device, whose waits can be made to fail";
    Work work(ctx);
    work.run();
    void* in_order = nullptr;
    EXPECT_TRUE(ok(gpumem_alloc_async(ctx, 1000, 1, nullptr, &in_order)));
    const auto expect_all_live = [&] {
      EXPECT_EQ(live_blocks(stats_of(ctx)), 4);
      EXPECT_EQ(stats_of(ctx).registered_ranges, 1);
    };
    expect_all_live();
    {
      const BrokenWaits broken;
      work.give_back();
      EXPECT_NE(work.refusals(), "");
      if (debug == 1) {  // nothing is pooled: it waits
        EXPECT_TRUE(gives(GPUMEM_DRIVER_ERROR, gpumem_free_async(ctx, in_order, nullptr)));
      }
      expect_all_live();
    }
    work.give_back();
    EXPECT_TRUE(work.has_given_back()) << work.refusals();
    EXPECT_TRUE(ok(gpumem_free_async(ctx, in_order, nullptr)));
    expect_work_done(ctx);
  }
}

// A range that runs into nothing is a status even where the system's list of mappings can't be opened.
TEST_P(Restricted, ARangeThatEndsNowhereIsAStatus) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' run-time opens files of its own";
  const Context ctx(GetParam());
  const Memory to(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const std::vector<char> heap(100);
  const Limited no_files(RLIMIT_NOFILE, 0);
  EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_copy(ctx, to.get(), heap.data(), int64_t{1} << 46)));
}

INSTANTIATE_TEST_SUITE_P(On, Restricted, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
