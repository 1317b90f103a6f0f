// Processes that die, stop, are late or fail alone: each of those that live on gets a status in time, which sticks, and can destroy
// everything.
#include <gtest/gtest.h>

#include "dist/worker.hpp"

namespace gpumem_test {
namespace {

// Three processes work until one of them does what was ordered; which one follows from the number of the call.
int victim(const Fault& fault) { return static_cast<int>(fault.at % 3); }

std::unique_ptr<Processes> work_with(const Fault& fault, bool ends_are_seen = true) {
  return in_processes(On::host, 3, [=](Rank& rank) {
    if (!ends_are_seen) rank.transport.see_no_ends();
    if (rank.rank == victim(fault)) rank.transport.order(fault);
    // The end of a process ends the calls that wait for it. Of the one that is stopped for some time, no call is in time.
    const bool ends = fault.what == Fault::kill && ends_are_seen;
    const bool stops = fault.what == Fault::stop && rank.rank == victim(fault);
    // All must come as far as the fault.
    const double silence = fault.what == Fault::kill || fault.what == Fault::stop ? kEnough : kSilence;
    EXPECT_TRUE(lost(Worker(rank, ends || stops ? kLong : silence).work()));
  });
}

void expect_survivors(Processes& processes, int without) {
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(rank == without || processes.well(rank));
  }
}

TEST(DistFaults, AProcessThatIsKilledAnywhere) {
  for (int64_t at = 1; at < 80; at += at < 10 ? 1 : quick_run() ? 11 : 2) {
    SCOPED_TRACE("at message " + std::to_string(at));
    const Fault fault{Fault::kill, at};
    const auto processes = work_with(fault);
    EXPECT_TRUE(processes->killed(victim(fault)));
    expect_survivors(*processes, victim(fault));
  }
}

// Over a network nobody may say so.
TEST(DistFaults, AProcessThatIsKilledAndOnlySilent) {
  for (const int64_t at : {1, 5, 33}) {
    SCOPED_TRACE("at message " + std::to_string(at));
    const Fault fault{Fault::kill, at};
    const auto processes = work_with(fault, false);
    EXPECT_TRUE(processes->killed(victim(fault)));
    expect_survivors(*processes, victim(fault));
  }
}

// One that goes on when the others have given up is told so, too.
TEST(DistFaults, AProcessThatStopsAndGoesOnTooLate) {
  for (const int64_t at : {2, 28}) {
    SCOPED_TRACE("at message " + std::to_string(at));
    const Fault fault{Fault::stop, at};
    const auto processes = work_with(fault);
    EXPECT_TRUE(processes->stopped(victim(fault)));
    expect_survivors(*processes, victim(fault));
    processes->send(victim(fault), SIGCONT);
    EXPECT_TRUE(processes->well(victim(fault)));
  }
}

TEST(DistFaults, AProcessThatStopsForGood) {
  const Fault fault{Fault::stop, 16};
  const auto processes = work_with(fault, false);
  EXPECT_TRUE(processes->stopped(victim(fault)));
  expect_survivors(*processes, victim(fault));
  processes->send(victim(fault), SIGKILL);
  EXPECT_TRUE(processes->killed(victim(fault)));
}

// Late, but by less than the deadline: the program is, the system, or the network.
TEST(DistFaults, WhatIsLateWorks) {
  const auto processes = in_processes(On::host, 3, [](Rank& rank) {
    if (rank.rank == 1) rank.transport.order({Fault::stop, 20});
    if (rank.rank == 0) rank.transport.order({Fault::delay, 25, 0.3});
    Worker worker(rank, 10);
    EXPECT_TRUE(ok(worker.work(30)));
    if (rank.rank == 2) sleep_for(0.3);
    EXPECT_TRUE(ok(worker.move()));
    EXPECT_TRUE(ok(worker.sum()));
  });
  EXPECT_TRUE(processes->stopped(1));
  sleep_for(0.3);
  processes->send(1, SIGCONT);
  EXPECT_TRUE(processes->all_well());
}

TEST(DistFaults, AMessageThatIsLost) {
  for (const int64_t at : {1, 6, 23}) {
    SCOPED_TRACE("message " + std::to_string(at));
    EXPECT_TRUE(work_with({Fault::lose, at})->all_well());
  }
}

TEST(DistFaults, AMessageThatIsLaterThanTheDeadline) {
  EXPECT_TRUE(work_with({Fault::delay, 22, 3 * kSilence})->all_well());
}

TEST(DistFaults, ATransportThatFails) {
  for (const Fault::What what : {Fault::fail_isend, Fault::fail_irecv, Fault::fail_test}) {
    for (const int64_t at : {1, 9, 50}) {
      SCOPED_TRACE("function " + std::to_string(what) + ", call " + std::to_string(at));
      EXPECT_TRUE(work_with({what, at})->all_well());
    }
  }
}

// The process whose transport fails knows at once that it is not late, but broken.
TEST(DistFaults, ATransportThatFailsIsAPeerThatIsLost) {
  const auto processes = in_processes(On::host, 2, [](Rank& rank) {
    Worker worker(rank, kEnough);
    ASSERT_TRUE(ok(worker.start()));
    ASSERT_TRUE(ok(worker.plan()));
    if (rank.rank == 0) rank.transport.order({Fault::fail_isend, 1});
    const gpumem_status status = worker.move();
    EXPECT_TRUE(rank.rank == 0 ? gives(GPUMEM_PEER_LOST, status) : lost(status));
  });
  EXPECT_TRUE(processes->all_well());
}

// The deadline is a time, however long the transport takes for each call.
TEST(DistFaults, ATransportThatTakesItsTime) {
  const Signal over;
  const auto processes = in_processes(On::host, 2, [&](Rank& rank) {
    rank.start(kEnough);
    rank.transport.order({Fault::slow, 1, 0.005});
    PlannedMove move(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own);
    if (rank.rank == 1) return over.await();
    EXPECT_TRUE(gives(GPUMEM_TIMED_OUT, in_time(kEnough, [&] { return move.execute(); })));
    over.give();
  });
  EXPECT_TRUE(processes->all_well());
}

TEST(DistFaults, AProcessThatNeverComes) {
  const auto processes = in_processes(On::host, 3, [](Rank& rank) {
    if (rank.rank == 2) {
      sleep_for(3 * kSilence);
      rank.transport.table().release(&rank.transport);
      return;
    }
    EXPECT_TRUE(lost(Worker(rank).work()));
  });
  EXPECT_TRUE(processes->all_well());
}

// What one process finds on the way: it has its own status, the others know that it is lost.
TEST(DistFaults, AMistakeOfOneProcessOnTheWay) {
  const auto processes = in_processes(On::host, 3, [](Rank& rank) {
    Worker worker(rank, kEnough);
    ASSERT_TRUE(ok(worker.start()));
    ASSERT_TRUE(ok(worker.plan()));
    ASSERT_TRUE(ok(worker.sum()));
    const Layout layout = slabs(rank.part, 5000);
    PlannedReduction sum(rank.dist.get(), rank.part, layout, nullptr, rank.own);
    const std::vector<const void*> nothing(static_cast<size_t>(rank.part.count()), nullptr);
    double result = 42;
    const gpumem_status status = in_time(kEnough, [&] {
      return rank.rank == 1 ? gpumem_dist_reduce(sum.plan(), GPUMEM_F64, GPUMEM_SUM, nothing.data(), &result)
                            : sum.execute(GPUMEM_F64, GPUMEM_SUM);
    });
    if (rank.rank == 1) {
      EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, status));
      EXPECT_EQ(result, 42);
    } else {
      EXPECT_TRUE(lost(status));
    }
    worker.expect_all_stuck(status);
  });
  EXPECT_TRUE(processes->all_well());
}

// Before it has sent anything: nobody waits for the deadline, and all go on.
TEST(DistFaults, AnArgumentOfOneProcess) {
  const auto processes = in_processes(On::host, 3, [](Rank& rank) {
    Worker worker(rank, kLong);
    ASSERT_TRUE(ok(worker.start()));
    const Layout layout = slabs(rank.part, 1024 * rank.part.all);  // whole leaves: no terms travel
    PlannedReduction sum(rank.dist.get(), rank.part, layout, nullptr, rank.own);
    ASSERT_TRUE(ok(sum.execute(GPUMEM_F64, GPUMEM_SUM)));
    const gpumem_status status = in_time(kEnough, [&] {
      return rank.rank == 1 ? gpumem_dist_reduce(sum.plan(), GPUMEM_F64, GPUMEM_SUM, nullptr, nullptr)
                            : sum.execute(GPUMEM_F64, GPUMEM_SUM);
    });
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, status));
    EXPECT_TRUE(ok(sum.execute(GPUMEM_F64, GPUMEM_SUM)));
  });
  EXPECT_TRUE(processes->all_well());
}

TEST(DistFaults, AnAbortFromAnotherThread) {
  const Signal over;
  const auto processes = in_processes(On::host, 2, [&](Rank& rank) {
    rank.start(kLong);
    PlannedMove move(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own);
    move.run(rank.shared);
    if (rank.rank == 1) over.await();
    const Clock::time_point start = Clock::now();
    std::thread aborts([&] {
      sleep_for(0.2);
      EXPECT_TRUE(rank.rank != 0 || ok(gpumem_dist_abort(rank.dist.get())));
    });
    gpumem_status status = move.execute();
    // What process 0 sent before may be all that process 1 waits for. There is nothing for its next call.
    if (rank.rank == 1 && status == GPUMEM_OK) status = move.execute();
    EXPECT_LT(seconds_since(start), kLong / 2) << "long before the deadline";
    aborts.join();
    if (rank.rank == 0) over.give();
    EXPECT_TRUE(rank.rank == 0 ? gives(GPUMEM_PEER_LOST, status) : lost(status));
    expect_stuck(rank, status);
  });
  EXPECT_TRUE(processes->all_well());
}

// A process that has failed can begin anew with the others, over a new transport.
TEST(DistFaults, TheSameProcessesBeginAnew) {
  test_seed();
  Mesh broken(2), sound(2);
  Processes processes(2, 30, [&](int number) -> std::string {
    broken.keep(number);
    sound.keep(number);
    {
      Rank rank(On::host, broken, number);
      if (number == 0) rank.transport.order({Fault::fail_isend, 12});
      EXPECT_TRUE(lost(Worker(rank).work()));
    }
    Rank rank(On::host, sound, number);
    rank.start();
    PlannedMove(rank.dist.get(), rank.part, all_to_all(rank.part), nullptr, rank.own).run(rank.shared);
    return "";
  });
  broken.close_all();
  sound.close_all();
  EXPECT_TRUE(processes.all_well());
}

}  // namespace
}  // namespace gpumem_test
