// The members of a dist, and what joins them.
#pragma once

#include "context/context.hpp"
#include "dist/device_transport.hpp"
#include "dist/layout.hpp"
#include "dist/peers.hpp"

namespace gpumem {

struct Group {
  Communicator& communicator;
  const std::vector<Context*>& contexts;  // of the members of this process
  const Members& members;
  const Peers& peers;
  const std::unique_ptr<DeviceTransport>& wire;  // nullptr on all processes: there is none

  Context& context_of(int32_t member) const noexcept { return *contexts[members.local(member)]; }
  // Of members of this process.
  bool reads(int32_t reader, int32_t owner) const noexcept {
    return peers.reads(members.local(reader), members.local(owner));
  }
};

}  // namespace gpumem
