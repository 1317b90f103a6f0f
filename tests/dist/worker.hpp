// The work of a process until a call fails, and the checks after that.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "dist/ranks.hpp"

namespace gpumem_test {

// Deadlines in seconds.
inline constexpr double kSilence = 2;  // another process is waited for in vain
inline constexpr double kEnough = 5;   // what comes before must not fail, on a machine that does much else
inline constexpr double kLong = 30;

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// One process or thread waits for another one. Made before the fork.
class Signal {
 public:
  Signal() { EXPECT_EQ(pipe(ends_), 0); }
  ~Signal() {
    for (const int end : ends_) close(end);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void give() const { EXPECT_EQ(write(ends_[1], "", 1), 1); }
  void await() const {
    pollfd given{ends_[0], POLLIN, 0};
    char byte = 1;
    EXPECT_TRUE(poll(&given, 1, 60'000) == 1 && read(ends_[0], &byte, 1) == 1) << "the signal never came";
  }

 private:
  int ends_[2] = {-1, -1};
};

// A call that may take as long as the deadline, and the time in which a busy machine comes to it. kLong is not waited for.
template <class Call>
gpumem_status in_time(double deadline_s, Call call) {
  const Clock::time_point start = Clock::now();
  const gpumem_status status = call();
  EXPECT_LT(seconds_since(start), deadline_s < kLong ? deadline_s + 10 : kLong / 2) << gpumem_status_name(status);
  return status;
}

// Every member sends to every other one.
inline Move all_to_all(const Part& part, int64_t per_member = 50) {
  const int64_t all = part.all, n = all * per_member;
  Move move{{8, {n, all}, {}}, {8, {n, all}, {}}, {}};
  for (int64_t i = 0; i < all; ++i) {
    move.src.boxes.push_back({i, {n * i / all, 0}, {n * (i + 1) / all, all}, 0, {all, 1}});
    move.dst.boxes.push_back({i, {0, i}, {n, i + 1}, 0, {1, 1}});
  }
  return move;
}

inline Layout slabs(const Part& part, int64_t n) {
  Layout layout{8, {n}, {}};
  for (int64_t i = 0; i < part.all; ++i) {
    layout.boxes.push_back({i, {n * i / part.all}, {n * (i + 1) / part.all}, 0, {1}});
  }
  return layout;
}

inline gpumem_status plan_sum(Rank& rank, gpumem_dist_plan** plan) {
  const Layout layout = slabs(rank.part, 100);
  const View view(layout, rank.part.first, rank.part.count());
  return gpumem_dist_plan_reduce(rank.dist.get(), &view.raw, nullptr, plan);
}

// Every call gives the status at once, and a sentence. Two waits for a deadline would be noticed.
inline void expect_stuck(Rank& rank, gpumem_status status) {
  forget_last_error();  // the first time it may have to ask the CUDA driver, which takes its time
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(info_of(rank.dist.get()).status, status);
  for (int times = 0; times < 2; ++times) {
    auto* plan = reinterpret_cast<gpumem_dist_plan*>(&rank);
    forget_last_error();
    EXPECT_TRUE(gives(status, plan_sum(rank, &plan)));
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(last_error().find("424242"), std::string::npos) << "no sentence: " << last_error();
  }
  EXPECT_LT(seconds_since(start), 2 * kSilence) << "nothing is waited for any more";
}

// What a process has, and does until a call fails.
class Worker {
 public:
  explicit Worker(Rank& rank, double deadline_s = kSilence) : rank_(rank), deadline_s_(deadline_s) {}

  gpumem_status start() {
    gpumem_dist* made = nullptr;
    const gpumem_status status = in_time(deadline_s_, [&] { return rank_.create(deadline_s_, &made); });
    rank_.dist.reset(made);
    if (status == GPUMEM_OK) return status;
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(rank_.transport.released(), 1);
    return status;
  }
  gpumem_status plan() {
    const gpumem_dist_plan_options small = plan_options(4096);
    const gpumem_status status = in_time(deadline_s_, [&] {
      return move_.emplace(rank_.dist.get(), rank_.part, all_to_all(rank_.part), &small, rank_.own).status();
    });
    if (status != GPUMEM_OK) return status;
    return in_time(deadline_s_, [&] {
      return sum_.emplace(rank_.dist.get(), rank_.part, slabs(rank_.part, 9001), nullptr, rank_.own).status();
    });
  }
  gpumem_status move() {
    return in_time(deadline_s_, [&] { return move_->execute(); });
  }
  gpumem_status sum(gpumem_dtype dtype = GPUMEM_F64, gpumem_reduce_op op = GPUMEM_SUM) {
    return in_time(deadline_s_, [&] { return sum_->execute(dtype, op); });
  }

  // All of it, until a call fails.
  gpumem_status work(int rounds = 300) {
    gpumem_status status = start();
    if (status != GPUMEM_OK) return status;
    status = plan();
    for (int i = 0; i < rounds && status == GPUMEM_OK; ++i) status = i % 2 == 0 ? move() : sum();
    if (status != GPUMEM_OK) expect_all_stuck(status);
    return status;
  }
  // Planned calls give the same status, and the plans can be destroyed.
  void expect_all_stuck(gpumem_status status) {
    expect_stuck(rank_, status);
    EXPECT_TRUE(!move_ || move_->plan() == nullptr || gives(status, move()));
    EXPECT_TRUE(!sum_ || sum_->plan() == nullptr || gives(status, sum()));
  }

 private:
  Rank& rank_;
  double deadline_s_;
  std::optional<PlannedMove> move_;
  std::optional<PlannedReduction> sum_;
};

}  // namespace gpumem_test
