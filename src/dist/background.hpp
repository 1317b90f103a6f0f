// Runs exchanges with other processes while the program goes on, in the order of their calls. Between hosts, a stream
// of the host sends and receives in its thread. Between devices, everything is enqueued, and that thread watches it.
// Work streams of its own pack and unpack, so that the participants' later work on other streams is not waited for.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "dist/exchange.hpp"
#include "dist/member_fences.hpp"

namespace gpumem {

class Background {
 public:
  // The contexts are on the host, or have a link.
  explicit Background(const Group& group);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Enqueues a run after the earlier work of the participants' streams and before their later work. Collective. An
  // error of the run is persistent. If the arguments are wrong, the other processes are told.
  void enqueue(Exchange& exchange, int64_t plan, const void* const* src, void* const* dst,
               const Exchange::ReadStreams& read_streams);
  // The same between devices. Wrong arguments of one process are told to all, and are not persistent.
  void enqueue_linked(Exchange& exchange, int64_t plan, const void* const* src, void* const* dst,
                      const Exchange::ReadStreams& read_streams);
  // Waits for all runs.
  void finish() noexcept;

 private:
  struct Run;
  Host& host() const noexcept { return group_.contexts.front()->host(); }
  void run(const Run& what) noexcept;
  void watch(const Exchange::Progress& progress) noexcept;
  void end() noexcept;

  const Group group_;
  NativeStream queue_ = nullptr;
  std::vector<WorkStream> work_;  // per participant
  std::optional<MemberFences> earlier_;
  std::optional<MemberFence> done_;
  std::atomic<int> watched_{0};  // exchanges
};

}  // namespace gpumem
