// A function that runs in several processes, forked from one that has never called the library.
#pragma once

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/contexts.hpp"

namespace gpumem_test {

// contexts_here(), without a call of the library in this process.
inline std::vector<On> contexts_of_a_child() {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(cuda_devices() > 0 ? 1 : 0);
  int status = 0;
  const bool cuda = waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 1;
  return cuda ? std::vector<On>{On::host, On::cuda} : std::vector<On>{On::host};
}

class Processes {
 public:
  // f(rank) returns what went wrong, or nothing. A process that takes longer than `seconds` is killed.
  Processes(int count, int seconds, const std::function<std::string(int rank)>& f)
      : end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {
    std::fflush(nullptr);
    for (int rank = 0; rank < count; ++rank) {
      int pipe_ends[2] = {-1, -1};
      EXPECT_EQ(pipe(pipe_ends), 0);
      const pid_t pid = fork();
      if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pipe_ends[0]);
        be_child(pipe_ends[1], rank, f);
      }
      close(pipe_ends[1]);
      EXPECT_GT(pid, 0);
      children_.push_back({pid, pipe_ends[0]});
    }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() {
    for (Child& child : children_) {
      if (!child.ended) kill(child.pid, SIGKILL);
      if (!child.ended) waitpid(child.pid, nullptr, 0);
      close(child.messages);
    }
  }

  void send(int rank, int signal) { kill(children_[static_cast<size_t>(rank)].pid, signal); }

  // Waits until a process has stopped itself.
  testing::AssertionResult stopped(int rank) {
    int status = 0;
    if (!wait_for(rank, WUNTRACED, status))
      return testing::AssertionFailure() << "process " << rank << " never stopped";
    if (WIFSTOPPED(status)) return testing::AssertionSuccess();
    children_[static_cast<size_t>(rank)].ended = true;
    return testing::AssertionFailure() << "process " << rank << " ended: " << message(rank);
  }

  // The process has ended, with nothing wrong.
  testing::AssertionResult well(int rank) {
    int status = 0;
    if (!wait_for(rank, 0, status)) return testing::AssertionFailure() << "process " << rank << " hangs";
    children_[static_cast<size_t>(rank)].ended = true;
    if (WIFSIGNALED(status)) {
      return testing::AssertionFailure() << "process " << rank << " was ended by signal " << WTERMSIG(status);
    }
    if (WEXITSTATUS(status) == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "process " << rank << ": " << message(rank);
  }
  testing::AssertionResult all_well() {
    testing::AssertionResult result = testing::AssertionSuccess();
    for (size_t rank = 0; rank < children_.size(); ++rank) {
      const testing::AssertionResult one = well(static_cast<int>(rank));
      if (!one) result = testing::AssertionFailure() << result.message() << one.message() << '\n';
    }
    return result;
  }

  testing::AssertionResult killed(int rank) {
    int status = 0;
    if (!wait_for(rank, 0, status)) return testing::AssertionFailure() << "process " << rank << " hangs";
    children_[static_cast<size_t>(rank)].ended = true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "process " << rank << " was not killed: " << message(rank);
  }

 private:
  struct Child {
    pid_t pid;
    int messages;
    bool ended = false;
  };

  [[noreturn]] static void be_child(int messages, int rank, const std::function<std::string(int rank)>& f) {
    std::string wrong = f(rank);
    const testing::TestResult* const result = testing::UnitTest::GetInstance()->current_test_info()->result();
    for (int i = 0; i < result->total_part_count() && wrong.empty(); ++i) {
      if (result->GetTestPartResult(i).failed()) wrong = result->GetTestPartResult(i).message();
    }
    const std::string line = wrong.substr(0, 2048);  // no more than the pipe takes at once
    const bool written = write(messages, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    std::fflush(nullptr);
    _exit(wrong.empty() && written ? 0 : 1);
  }

  bool wait_for(int rank, int options, int& status) {
    const pid_t pid = children_[static_cast<size_t>(rank)].pid;
    while (waitpid(pid, &status, options | WNOHANG) != pid) {
      if (std::chrono::steady_clock::now() > end_) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  std::string message(int rank) {
    char text[2049];
    const ssize_t got = read(children_[static_cast<size_t>(rank)].messages, text, sizeof text - 1);
    return {text, static_cast<size_t>(got < 0 ? 0 : got)};
  }

  std::vector<Child> children_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace gpumem_test
