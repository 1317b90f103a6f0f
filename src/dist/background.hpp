// Runs exchanges with other processes while the program goes on: in the order of their calls, on a stream of the host
// whose thread sends and receives. Work streams of its own pack and unpack, so that the participants' later work on
// other streams is not waited for.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dist/exchange.hpp"
#include "dist/member_fences.hpp"

namespace gpumem {

class Background {
 public:
  // The contexts are on the host.
  explicit Background(const Group& group);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Enqueues a run after the earlier work of the participants' streams and before their later work. Collective. An
  // error of the run is persistent. If the arguments are wrong, the other processes are told.
  using ReadStreams = std::function<std::vector<NativeStream>()>;  // one per participant
  void enqueue(Exchange& exchange, int64_t plan, const void* const* src, void* const* dst,
               const ReadStreams& read_streams);
  // Waits for all runs.
  void finish() noexcept;

 private:
  struct Run;
  Host& host() const noexcept { return group_.contexts.front()->host(); }
  void run(const Run& what) noexcept;
  void end() noexcept;

  const Group group_;
  NativeStream queue_ = nullptr;
  std::vector<WorkStream> work_;  // per participant
  std::optional<MemberFences> earlier_;
  std::optional<MemberFence> done_;
};

}  // namespace gpumem
