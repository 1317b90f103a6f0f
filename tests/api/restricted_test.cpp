// Where the system gives less than usual: no pages to lock, no huge pages, no file to open, and so nothing to read in /proc. Each
// call works or says which resource it lacks, and nothing is lost.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
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

class NoHugePages final : public Restriction {
 public:
  NoHugePages() { EXPECT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0); }
  ~NoHugePages() override { EXPECT_EQ(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0); }
};

struct Case {
  const char* name;
  bool with_sanitizers;  // false: their own run-time needs what is taken away
  std::unique_ptr<Restriction> (*begin)();
};
const Case kCases[] = {
    {"no pages to lock", true, [] { return std::unique_ptr<Restriction>(new Limited(RLIMIT_MEMLOCK, 0)); }},
    {"no huge pages", true, [] { return std::unique_ptr<Restriction>(new NoHugePages); }},
    {"no files", false, [] { return std::unique_ptr<Restriction>(new Limited(RLIMIT_NOFILE, 0)); }},
};

// Success, or a status for what ran out, with its sentence.
bool bearable(gpumem_status status) {
  if (status == GPUMEM_OK) return true;
  const bool ran_out = status >= 100 && status < 200;
  EXPECT_TRUE(ran_out) << gpumem_status_name(status) << ": " << last_error();
  EXPECT_FALSE(last_error().empty());
  return false;
}

class Restricted : public testing::TestWithParam<On> {
 protected:
  static constexpr int64_t kCount = int64_t{3} << 20;
  static constexpr int64_t kBytes = kCount * 4;

  // Work with all kinds of memory. What can't be had is left out.
  static void work(gpumem_ctx* ctx) {
    std::vector<int32_t> heap(kCount, 2);
    std::vector<void*> blocks;
    for (const auto allocate : {gpumem_alloc_device, gpumem_alloc_pinned, gpumem_alloc_managed}) {
      void* p = nullptr;
      if (bearable(allocate(ctx, kBytes, &p))) blocks.push_back(p);
    }
    const bool registered = bearable(gpumem_host_register(ctx, heap.data(), kBytes));
    for (void* p : blocks) {
      int64_t sum = 0;
      if (!bearable(gpumem_copy(ctx, p, heap.data(), kBytes))) continue;
      if (!bearable(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), kCount, 1, &sum))) continue;
      EXPECT_EQ(sum, 2 * kCount);
    }
    if (registered) {
      EXPECT_TRUE(ok(gpumem_host_unregister(ctx, heap.data())));
    }
    for (void* p : blocks) EXPECT_TRUE(ok(gpumem_free(ctx, p)));
    EXPECT_TRUE(gives(GPUMEM_INVALID_POINTER, gpumem_free(ctx, heap.data())));
  }

  static void expect_nothing_lost(gpumem_ctx* ctx) {
    const gpumem_memory_stats_info stats = stats_of(ctx);
    EXPECT_EQ(live_blocks(stats), 0);
    EXPECT_EQ(stats.registered_ranges, 0);
  }
};

TEST_P(Restricted, AContextThatIsThereGoesOn) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    if (kSanitized && !c.with_sanitizers) continue;
    const Context ctx(GetParam());
    work(ctx);
    {
      const auto restriction = c.begin();
      work(ctx);
    }
    work(ctx);
    expect_nothing_lost(ctx);
  }
}

TEST_P(Restricted, AContextIsMadeOrSaysWhatIsMissing) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    if (kSanitized && !c.with_sanitizers) continue;
    gpumem_ctx* ctx = nullptr;
    const gpumem_ctx_options options = options_for(GetParam());
    {
      const auto restriction = c.begin();
      const gpumem_status status = gpumem_ctx_create(&options, &ctx);
      if (status == GPUMEM_OK) {
        work(ctx);
        expect_nothing_lost(ctx);
      } else {
        EXPECT_TRUE(status >= 100 && status < 300) << gpumem_status_name(status) << ": " << last_error();
        EXPECT_EQ(ctx, nullptr);
      }
    }
    EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
  }
}

// A range that runs into nothing is a status even where the system's list of mappings can't be opened.
TEST_P(Restricted, ARangeThatEndsNowhereIsAStatus) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' run-time opens files of its own";
  const Limited no_files(RLIMIT_NOFILE, 0);
  const Context ctx(options_for(GetParam()));
  const Memory to(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const std::vector<char> heap(100);
  EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_copy(ctx, to.get(), heap.data(), int64_t{1} << 46)));
}

INSTANTIATE_TEST_SUITE_P(On, Restricted, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
