// Random calls of every family on two contexts, bit for bit: statuses, results, and all memory that they may and may not write.
// What a call writes is what later ones read. GPUMEM_SOAK_OPERATIONS says how many.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "soak/operations.hpp"
#include "soak/soak.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

constexpr int kThreads = 4;
constexpr int kBetweenComparisons = 8;

// A context's two areas, which begin with the same random bytes everywhere.
class Areas {
 public:
  Areas(gpumem_ctx* ctx, gpumem_memory_kind second, Random random)
      : memory_{Memory(ctx, GPUMEM_MEMORY_DEVICE, kAreaBytes), Memory(ctx, second, kAreaBytes)} {
    side.ctx = ctx;
    EXPECT_TRUE(ok(gpumem_stream_create(ctx, &stream_)));
    Bytes bytes(kAreaBytes);
    for (size_t i = 0; i < 2; ++i) {
      random.fill(bytes);
      side.areas[i] = memory_[i].bytes();
      upload(ctx, side.areas[i], bytes.data(), bytes.size());
    }
  }
  ~Areas() { EXPECT_TRUE(ok(gpumem_stream_destroy(stream_))); }
  Areas(const Areas&) = delete;
  Areas& operator=(const Areas&) = delete;

  void enqueue(bool enqueued) { side.stream = enqueued ? stream_ : nullptr; }
  void wait() { EXPECT_TRUE(ok(gpumem_stream_synchronize(side.ctx, side.stream))); }
  Bytes area(int i) { return download(side.ctx, side.areas[static_cast<size_t>(i)], kAreaBytes); }

  Side side;

 private:
  std::array<Memory, 2> memory_;
  gpumem_stream* stream_ = nullptr;
};

class RandomOperations : public OnEachContext {};

// One thread's calls on the context under test, and its own model on the host.
class Caller {
 public:
  Caller(gpumem_ctx* ctx, uint64_t number) : ctx_(ctx), number_(number), random_(number) {}

  void make(int64_t operations) {
    for (uint64_t round = 0; made < operations && !testing::Test::HasFailure(); ++round) {
      // Managed memory that both sides use is moved at each use, which takes long.
      const gpumem_memory_kind second = round % 2 == 0 ? GPUMEM_MEMORY_PINNED : GPUMEM_MEMORY_PAGEABLE;
      const Random contents(100 * round + number_);
      Areas here(ctx_, second, contents);
      Areas model(host_, second, contents);
      for (int i = 0; i < 500 && made < operations && agree(here, model); ++i) made += kBetweenComparisons;
    }
  }

  int64_t made = 0;
  int64_t refused = 0;

 private:
  // Some calls in a row, all plain or all enqueued on one stream; then nothing may differ.
  bool agree(Areas& here, Areas& model) {
    const bool enqueued = random_.below(2) == 0;
    here.enqueue(enqueued);
    model.enqueue(enqueued);
    std::string calls;
    for (int i = 0; i < kBetweenComparisons; ++i) {
      const Operation operation = random_operation(random_, enqueued);
      calls += (enqueued ? "enqueued: " : "plain: ") + operation.what + "\n";
      const gpumem_status expected = operation.run(model.side);
      const gpumem_status got = operation.run(here.side);
      EXPECT_STREQ(gpumem_status_name(got), gpumem_status_name(expected)) << calls << last_error();
      refused += expected == GPUMEM_OK ? 0 : 1;
      if (got != expected) return false;
    }
    here.wait();
    model.wait();
    return same_area(here, model, 0, calls) && same_area(here, model, 1, calls);
  }

  static bool same_area(Areas& here, Areas& model, int i, const std::string& calls) {
    const Bytes got = here.area(i);
    const Bytes expected = model.area(i);
    if (std::memcmp(got.data(), expected.data(), got.size()) == 0) return true;
    size_t at = 0;
    while (got[at] == expected[at]) ++at;
    ADD_FAILURE() << "byte " << at << " of area " << i << " is " << int{got[at]} << ", expected " << int{expected[at]}
                  << " after\n"
                  << calls;
    return false;
  }

  gpumem_ctx* const ctx_;
  const uint64_t number_;
  const Context host_{On::host, 1};
  Random random_;
};

TEST_P(RandomOperations, GiveTheBitsOfTheHost) {
  const int64_t operations = soak_operations(quick_run() ? 800 : 40000);
  std::fflush(stdout);  // a crash is to leave the seed behind
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    callers.push_back(std::make_unique<Caller>(ctx, i));
    threads.emplace_back([&caller = *callers.back(), operations] { caller.make(operations / kThreads); });
  }
  int64_t made = 0;
  int64_t refused = 0;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    made += callers[i]->made;
    refused += callers[i]->refused;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%lld operations in %.1f s, %lld of them refused\n", static_cast<long long>(made), seconds.count(),
              static_cast<long long>(refused));
  if (!HasFailure()) {
    EXPECT_GE(made, operations / kThreads * kThreads);
  }
}

INSTANTIATE_TEST_SUITE_P(On, RandomOperations, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
