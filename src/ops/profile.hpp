// The calls of a context: what each did and how long its work took. Off, it costs a call one load.
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
  std::string variant;  // "" in the rows of kinds
  int64_t calls = 0;
  int64_t timed = 0;
  int64_t bytes = 0;  // of all calls
  int64_t timed_bytes = 0;
  int64_t flops = 0;  // of a call
  double total_s = 0;
  double median_s = 0;
  int64_t theoretical = 0;  // bytes a second of the memory; 0 where that is not known, or the bytes cross a link
  int64_t ceiling = 0;      // the measured one that holds; 0: none was

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

  // Forgets what was there.
  void begin(int64_t most_records);
  void end() noexcept { on_.store(false, std::memory_order_relaxed); }
  // The thread's last call, whose work the timer has watched.
  void add(CallTimer& timer) noexcept;

  // Problems by their total time, then pairs of kinds. Of calls that still run there is no time yet.
  std::vector<ProfileRow> rows();
  std::string as_text(gpumem_format format);

 private:
  struct Record {
    CallRecord call;
    CallTime time;
    pid_t thread;  // whose work it was; 0: a stream's
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

  // These with the lock held.
  bool read(Record& record) noexcept;
  void fold(Record& record) noexcept;
  void forget() noexcept;
  std::string trace();

  Context& context_;
  EventPool events_;
  std::atomic<bool> on_{false};
  std::mutex mutex_;
  std::vector<Record> records_;  // a ring once it is full
  size_t most_ = 0;
  uint64_t added_ = 0;  // the next record's number, whose place is the rest by most_
  uint64_t read_ = 0;   // the first one's that may have events
  CallTime::Clock::time_point start_;
  NativeEvent base_ = nullptr;  // passed at start_
  Totals folded_{};
};

}  // namespace gpumem
