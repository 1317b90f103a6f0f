// Log of calls, with the work and time of each. While off, it costs each call one load.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "context/ceilings.hpp"
#include "ops/call_record.hpp"
#include "ops/call_timer.hpp"
#include "ops/call_work.hpp"

namespace gpumem {

// Calls of one problem by one variant, or all calls between two kinds of memory.
struct ProfileRow {
  std::string problem;
  std::string variant;  // "" in rows of kinds
  int64_t calls = 0;
  int64_t timed = 0;
  int64_t bytes = 0;  // of all calls
  int64_t timed_bytes = 0;
  int64_t flops = 0;  // per call
  double total_s = 0;
  double median_s = 0;
  int64_t theoretical = 0;  // bytes per second of the memory; 0 if unknown, or if the bytes cross PCIe or NVLink
  int64_t ceiling = 0;      // the measured peak in bytes per second; 0: not measured

  double bytes_per_s() const noexcept { return total_s > 0 ? static_cast<double>(timed_bytes) / total_s : 0; }
  double share_of(int64_t most) const noexcept { return most > 0 ? bytes_per_s() / static_cast<double>(most) : 0; }
  double flops_per_s() const noexcept { return median_s > 0 ? static_cast<double>(flops) / median_s : 0; }
};

class Profile {
 public:
  explicit Profile(Context& context);
  ~Profile();

  bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
  EventPool& events() noexcept { return events_; }

  // Discards earlier records.
  void begin(int64_t most_records);
  void end() noexcept { on_.store(false, std::memory_order_relaxed); }
  // Adds the thread's last call, whose work the timer watched.
  void add(CallTimer& timer) noexcept;

  // Problems by total time, then pairs of kinds. Calls that still run have no time yet.
  std::vector<ProfileRow> rows();
  std::string as_text(gpumem_format format);

 private:
  struct Record {
    CallRecord call;
    CallTime time;
    pid_t thread;  // that did the work; 0: a stream did
  };
  struct Total {
    int64_t calls = 0;
    int64_t timed = 0;
    int64_t bytes = 0;
    int64_t timed_bytes = 0;
    double seconds = 0;

    void add(const CallWork& work, double took) noexcept;
  };
  using Totals = std::array<std::array<Total, 4>, 4>;  // by gpumem_memory_kind, from and to

  // These require the lock.
  bool read(Record& record) noexcept;
  void fold(Record& record) noexcept;
  void forget() noexcept;
  std::string trace();

  Context& context_;
  EventPool events_;
  std::atomic<bool> on_{false};
  std::mutex mutex_;
  std::vector<Record> records_;  // a ring buffer once it is full
  size_t most_ = 0;
  uint64_t added_ = 0;  // number of the next record; its index is added_ % most_
  uint64_t read_ = 0;   // number of the first record that may own events
  CallTime::Clock::time_point start_;
  NativeEvent base_ = nullptr;  // passed at start_
  Totals folded_{};
};

}  // namespace gpumem
