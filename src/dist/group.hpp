// The participants of a dist, and their connections.
#pragma once

#include "context/context.hpp"
#include "dist/device_transport.hpp"
#include "dist/layout.hpp"
#include "dist/peers.hpp"

namespace gpumem {

struct Group {
  Communicator& communicator;
  const std::vector<Context*>& contexts;
  const Members& members;
  const Peers& peers;
  const std::unique_ptr<DeviceTransport>& wire;  // nullptr on all processes without a link

  Context& context_of(int32_t member) const noexcept { return *contexts[members.local(member)]; }
  bool reads(int32_t reader, int32_t owner) const noexcept {
    return peers.reads(members.local(reader), members.local(owner));
  }
};

}  // namespace gpumem
