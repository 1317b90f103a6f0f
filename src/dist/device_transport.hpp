// A link between the devices of all participants, if available, and its state for those of this process.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "backend/link.hpp"
#include "dist/layout.hpp"
#include "dist/member_fences.hpp"

namespace gpumem {

class DeviceTransport {
 public:
  DeviceTransport(std::unique_ptr<Link> joined, const std::vector<Context*>& contexts);
  ~DeviceTransport();
  DeviceTransport(const DeviceTransport&) = delete;
  DeviceTransport& operator=(const DeviceTransport&) = delete;

  // Per local participant: the stream of its transfers, the fence of its own stream, the fences of the last two rounds.
  std::vector<NativeStream> streams;
  std::deque<MemberFence> ready;
  std::deque<MemberFence> done[2];
  std::unique_ptr<Link> link;

 private:
  void end_streams() noexcept;

  const std::vector<Context*>& contexts_;
};

// Collective. nullptr on all processes unless all can join: each participant needs a device of its own.
std::unique_ptr<DeviceTransport> join_link(Communicator& communicator, const std::vector<Context*>& contexts,
                                           const Members& members);

}  // namespace gpumem
