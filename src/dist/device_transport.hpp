// A link between the devices of all members of a dist, where there is one, and what the members of this process have for it.
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

  // Of each member here: the stream of its transfers, what says that its own stream is ready for them, and that those of the last two
  // rounds are done.
  std::vector<NativeStream> streams;
  std::deque<MemberFence> ready;
  std::deque<MemberFence> done[2];
  std::unique_ptr<Link> link;

 private:
  void end_streams() noexcept;

  const std::vector<Context*>& contexts_;
};

// Collective. nullptr on all processes, unless all of them can: each member on a device of its own.
std::unique_ptr<DeviceTransport> join_link(Communicator& communicator, const std::vector<Context*>& contexts,
                                           const Members& members);

}  // namespace gpumem
