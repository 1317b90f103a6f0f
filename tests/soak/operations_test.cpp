// Random calls of every family on two contexts, bit for bit: statuses, results, and all memory that they may and may not write.
// What a call writes is what later ones read. GPUMEM_SOAK_OPERATIONS says how many.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "soak/operations.hpp"
#include "soak/soak.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

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
  void wait() { EXPECT_TRUE(ok(gpumem_ctx_synchronize(side.ctx))); }
  Bytes area(int i) { return download(side.ctx, side.areas[static_cast<size_t>(i)], kAreaBytes); }

  Side side;

 private:
  std::array<Memory, 2> memory_;
  gpumem_stream* stream_ = nullptr;
};

class RandomOperations : public OnEachContext {
 protected:
  // Some calls in a row, all plain or all enqueued on one stream; then nothing may differ.
  bool agree(Areas& here, Areas& model, Random& random) {
    const bool enqueued = random.below(2) == 0;
    here.enqueue(enqueued);
    model.enqueue(enqueued);
    std::string made;
    for (int i = 0; i < kBetweenComparisons; ++i) {
      const Operation operation = random_operation(random, enqueued);
      made += (enqueued ? "enqueued: " : "plain: ") + operation.what + "\n";
      const gpumem_status expected = operation.run(model.side);
      const gpumem_status got = operation.run(here.side);
      EXPECT_EQ(gpumem_status_name(got), gpumem_status_name(expected)) << made << last_error();
      refused_ += expected == GPUMEM_OK ? 0 : 1;
      if (got != expected) return false;
    }
    here.wait();
    model.wait();
    for (int i = 0; i < 2; ++i) {
      const Bytes got = here.area(i);
      const Bytes expected = model.area(i);
      if (std::memcmp(got.data(), expected.data(), got.size()) == 0) continue;
      size_t at = 0;
      while (got[at] == expected[at]) ++at;
      ADD_FAILURE() << "byte " << at << " of area " << i << " is " << int{got[at]} << ", expected " << int{expected[at]}
                    << " after\n"
                    << made;
      return false;
    }
    return true;
  }

  int64_t refused_ = 0;
};

TEST_P(RandomOperations, GiveTheBitsOfTheHost) {
  const int64_t operations = soak_operations(quick_run() ? 800 : 40000);
  const Context host(On::host, 1);
  Random random(1);
  std::fflush(stdout);  // a crash is to leave the seed behind
  const auto begin = std::chrono::steady_clock::now();
  int64_t made = 0;
  for (uint64_t round = 0; made < operations && !HasFailure(); ++round) {
    // Managed memory that both sides use is moved at each use, which takes long.
    const gpumem_memory_kind second = round % 2 == 0 ? GPUMEM_MEMORY_PINNED : GPUMEM_MEMORY_PAGEABLE;
    Areas here(ctx, second, Random(round));
    Areas model(host, second, Random(round));
    for (int i = 0; i < 500 && made < operations && agree(here, model, random); ++i) made += kBetweenComparisons;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%lld operations in %.1f s, %lld of them refused\n", static_cast<long long>(made), seconds.count(),
              static_cast<long long>(refused_));
  EXPECT_GE(made, HasFailure() ? 0 : operations);
}

INSTANTIATE_TEST_SUITE_P(On, RandomOperations, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
