#include "support/pool_cases.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "measure/host_clock.hpp"

namespace bench {
namespace {

constexpr int kThreads = 16;
constexpr int64_t kManyBlocks = 1000000;
constexpr int64_t kKiB = 1024;
constexpr HostClock kClock{};

using StreamPtr = std::shared_ptr<gpumem_stream>;

StreamPtr make_stream(const Context& ctx) {
  gpumem_stream* stream = nullptr;
  check(gpumem_stream_create(ctx.get(), &stream));
  return {stream, [ctx](gpumem_stream* s) { gpumem_stream_destroy(s); }};
}

std::function<void()> pair_on(const Context& ctx, StreamPtr stream, int64_t bytes) {
  return [ctx, stream = std::move(stream), bytes] {
    void* p = nullptr;
    check(gpumem_alloc_async(ctx.get(), bytes, 256, stream.get(), &p));
    check(gpumem_free_async(ctx.get(), p, stream.get()));
  };
}

Side timed(std::function<void()> call) { return {host_sampler(std::move(call), kClock), {}, {}}; }

// Blocks that stay alive on a stream, freed with the last copy.
std::shared_ptr<std::vector<void*>> live_blocks(const Context& ctx, const StreamPtr& stream, int64_t count) {
  auto blocks = std::shared_ptr<std::vector<void*>>(new std::vector<void*>, [ctx, stream](std::vector<void*>* all) {
    const std::unique_ptr<std::vector<void*>> owned(all);
    for (void* p : *all) gpumem_free_async(ctx.get(), p, stream.get());
  });
  for (int64_t i = 0; i < count; ++i) {
    void* p = nullptr;
    check(gpumem_alloc_async(ctx.get(), 1 + i % 2048, 256, stream.get(), &p));
    blocks->push_back(p);
  }
  return blocks;
}

Case pool_case(std::string name, std::string peer, Bar bar, std::function<Pair()> open) {
  return {.family = "pool",
          .name = std::move(name),
          .peer = std::move(peer),
          .bar = bar,
          .quick = true,
          .open = std::move(open)};
}

// Seconds per pair if one thread per pair makes `calls` calls, all at the same time.
double seconds_together(const std::vector<std::function<void()>>& pairs, int calls) {
  std::atomic<size_t> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (const auto& pair : pairs) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) pair();
      ++ready;
      while (!go) std::this_thread::yield();
      for (int i = 0; i < calls; ++i) pair();
    });
  }
  while (ready != pairs.size()) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  go = true;
  for (std::thread& thread : threads) thread.join();
  return Seconds(std::chrono::steady_clock::now() - begin).count() /
         static_cast<double>(calls * static_cast<int64_t>(pairs.size()));
}

Pair open_threads(const Context& ctx) {
  if (std::thread::hardware_concurrency() < kThreads) throw Skip("fewer than 16 processors");
  constexpr int kCalls = 20000;
  std::vector<std::function<void()>> pairs;
  for (int i = 0; i < kThreads; ++i) pairs.push_back(pair_on(ctx, make_stream(ctx), 64 * kKiB));
  return {{[pairs] { return seconds_together(pairs, kCalls); }, {}, {}},
          {[pairs] { return seconds_together({pairs[0]}, kCalls); }, {}, {}}};
}

}  // namespace

void add_pool_pairs(std::vector<Case>& cases, const Context& ctx, const PairPeer& peer) {
  struct Size {
    const char* name;
    int64_t bytes;
  };
  for (const Size& size :
       {Size{"256B", 256}, Size{"64KiB", 64 * kKiB}, Size{"1MiB", kKiB * kKiB}, Size{"256MiB", 256 * kKiB * kKiB}}) {
    cases.push_back(pool_case(std::string("pair/") + size.name, peer.name, at_least(2), [=] {
      return Pair{timed(pair_on(ctx, make_stream(ctx), size.bytes)), timed(peer.make(size.bytes))};
    }));
  }
  cases.push_back(pool_case("pair/64KiB", "", at_most_us(0.25), [ctx] {
    return Pair{timed(pair_on(ctx, make_stream(ctx), 64 * kKiB)), {}};
  }));
  cases.push_back(pool_case("pair/64KiB/1e6 alive", "", at_most_us(0.25), [ctx] {
    const StreamPtr stream = make_stream(ctx);
    const auto blocks = live_blocks(ctx, stream, kManyBlocks);
    return Pair{timed([blocks, pair = pair_on(ctx, stream, 64 * kKiB)] { pair(); }), {}};
  }));
  cases.push_back(pool_case("pair/64KiB/16 threads", "one thread", at_least(6), [ctx] { return open_threads(ctx); }));
}

void add_pinned_pairs(std::vector<Case>& cases, const Context& ctx, const ColdPeer& peer) {
  constexpr int64_t kBytes = kKiB * kKiB * kKiB;
  const auto pair = [ctx] {
    void* p = nullptr;
    check(gpumem_alloc_pinned(ctx.get(), kBytes, &p));
    check(gpumem_free(ctx.get(), p));
  };
  const auto cold = [ctx] {
    check(gpumem_memory_trim(ctx.get(), 0));
    const auto begin = std::chrono::steady_clock::now();
    void* p = nullptr;
    check(gpumem_alloc_pinned(ctx.get(), kBytes, &p));
    const double taken = Seconds(std::chrono::steady_clock::now() - begin).count();
    check(gpumem_free(ctx.get(), p));
    return taken;
  };
  cases.push_back(pool_case("pinned/1GiB/warm", "", at_most_us(5), [pair] { return Pair{timed(pair), {}}; }));
  if (peer.make == nullptr) return;
  cases.push_back(pool_case("pinned/1GiB/cold", peer.name, at_least(7), [=] {
    return Pair{{cold, {}, {}}, {peer.make(kBytes), {}, {}}};
  }));
}

}  // namespace bench
