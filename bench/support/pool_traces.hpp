// Traces of allocations and frees on one or several threads, each with its own stream, on any allocator.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace bench {

enum class Sizes { random, few, growing };

// Each operation draws a place and a size. It frees the block in that place, or allocates one there. If the thread's live
// bytes would exceed the limit, it frees another block instead.
struct Trace {
  const char* name;
  Sizes sizes;
  double smallest;   // bytes
  double doublings;  // random sizes: uniform in their logarithm, up to smallest * 2^doublings
  int places;
  double live;  // the limit, in bytes
  bool shared;  // places and limit are divided among the threads
};

inline constexpr double kKiB = 1024;
inline constexpr double kMiB = 1024 * kKiB;

inline constexpr Trace kTraces[] = {
    {"up to 1 MiB", Sizes::random, 256, 12, 2000, 128 * kMiB, false},
    {"64 KiB to 256 MiB", Sizes::random, 64 * kKiB, 12, 1056, 16 * 1024 * kMiB, true},
    {"six sizes again and again", Sizes::few, kMiB, 0, 1056, 16 * 1024 * kMiB, true},
    {"sizes that grow slowly", Sizes::growing, kMiB, 0, 1056, 16 * 1024 * kMiB, true},
};

// A generator of one thread (splitmix64).
class Draw {
 public:
  explicit Draw(uint64_t seed) noexcept : state_(seed) {}
  uint64_t next() noexcept {
    uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  size_t below(size_t n) noexcept { return static_cast<size_t>(next() % n); }
  double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// progress: from 0 to 1, through the trace.
inline size_t draw_bytes(const Trace& trace, double progress, Draw& draw) {
  constexpr std::array<double, 6> kFew{1, 4, 12, 24, 48, 96};
  constexpr std::array<double, 6> kGrowing{1, 2, 6, 12, 24, 48};
  switch (trace.sizes) {
    case Sizes::random:
      return static_cast<size_t>(trace.smallest * std::exp2(trace.doublings * draw.fraction()));
    case Sizes::few:
      return static_cast<size_t>(trace.smallest * kFew[draw.below(kFew.size())]);
    case Sizes::growing:
      return static_cast<size_t>(trace.smallest * kGrowing[draw.below(kGrowing.size())] * (1 + progress / 4));
  }
  return 0;
}

// Counts of one thread or of all.
struct TraceResult {
  double seconds = 0;  // of the slowest thread
  double longest_seconds = 0;
  double allocating = 0;  // thread-seconds
  double freeing = 0;
  int64_t operations = 0;
  int64_t allocations = 0;
  int64_t failures = 0;
  double live_peak = 0;  // bytes; the sum over the threads' own peaks
};

// allocate(thread, bytes) returns nullptr on failure; release(thread, p, bytes). After the operations and before the
// blocks that are left are freed, the thread calls done().
template <class Allocate, class Release, class Done>
TraceResult run_thread(const Trace& trace, int threads, int thread, int operations, const Allocate& allocate,
                       const Release& release, const Done& done) {
  struct Held {
    void* p = nullptr;
    size_t bytes = 0;
  };
  using Clock = std::chrono::steady_clock;
  const int share = trace.shared ? threads : 1;
  const double limit = trace.live / share;
  std::vector<Held> places(static_cast<size_t>(trace.places / share));
  Draw draw(static_cast<uint64_t>(thread) + 1);
  TraceResult result;
  double live = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < operations; ++i) {
    size_t place = draw.below(places.size());
    const size_t bytes = draw_bytes(trace, i / static_cast<double>(operations), draw);
    if (live + static_cast<double>(bytes) > limit) {
      while (places[place].p == nullptr) place = (place + 1) % places.size();
    }
    Held& at = places[place];
    const bool frees = at.p != nullptr;
    const auto from = Clock::now();
    if (frees) {
      release(thread, at.p, at.bytes);
    } else {
      at = {allocate(thread, bytes), bytes};
    }
    const double taken = std::chrono::duration<double>(Clock::now() - from).count();
    (frees ? result.freeing : result.allocating) += taken;
    result.longest_seconds = std::max(result.longest_seconds, taken);
    if (!frees) ++result.allocations;
    if (at.p == nullptr) ++result.failures;
    if (at.p != nullptr) live += frees ? -static_cast<double>(at.bytes) : static_cast<double>(bytes);
    if (frees) at.p = nullptr;
    result.live_peak = std::max(result.live_peak, live);
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  result.operations = operations;
  done();
  for (const Held& at : places) {
    if (at.p != nullptr) release(thread, at.p, at.bytes);
  }
  return result;
}

// at_end() is called once, when all threads have done their operations.
template <class Allocate, class Release, class AtEnd>
TraceResult run_trace(const Trace& trace, int threads, int operations, const Allocate& allocate, const Release& release,
                      const AtEnd& at_end) {
  std::vector<TraceResult> results(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  std::atomic<int> ready{0};
  std::atomic<int> finished{0};
  std::atomic<bool> measured{false};
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      results[static_cast<size_t>(i)] = run_thread(trace, threads, i, operations, allocate, release, [&] {
        ++finished;
        while (!measured) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    });
  }
  while (finished < threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  at_end();
  measured = true;
  for (std::thread& thread : running) thread.join();
  TraceResult all;
  for (const TraceResult& one : results) {
    all.seconds = std::max(all.seconds, one.seconds);
    all.longest_seconds = std::max(all.longest_seconds, one.longest_seconds);
    all.allocating += one.allocating;
    all.freeing += one.freeing;
    all.operations += one.operations;
    all.allocations += one.allocations;
    all.failures += one.failures;
    all.live_peak += one.live_peak;
  }
  return all;
}

}  // namespace bench
