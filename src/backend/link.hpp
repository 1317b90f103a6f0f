// The interface that moves bytes between devices of several processes. No call waits: the caller polls with a deadline.
// Any thread may call it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace gpumem {

// Shared by all participants of a link. One process makes it and sends it to the others.
using LinkId = std::array<char, 128>;

struct Transfer {
  size_t member;  // of this process
  int32_t peer;   // among all participants
  bool sends;
  void* p;  // memory of the participant's device
  size_t bytes;
};

class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  // Begins all transfers as one group, so that none waits for another. At most one per ordered pair of participants.
  virtual void begin(const std::vector<Transfer>& transfers, const std::vector<NativeStream>& streams) = 0;
  // Whether the begun work, at first the link itself, is complete: transfers are then on their streams. Throws
  // PEER_LOST, also if a begun transfer failed.
  virtual bool ready() = 0;
  // Ends pending work. False: it does not end, and the memory of its transfers must be kept.
  virtual bool abort() noexcept = 0;
  // Call before destruction. Returns soon in any case. False: calls have not returned, and may use the streams.
  virtual bool close() noexcept = 0;
};

// Why this process can't have a link; empty: it can.
std::string why_no_link();
// Identifies a device within the machine.
std::string bus_id(int32_t ordinal);
LinkId make_link_id();
// For participants first, first + 1 and so on, of `all`. Only begun on return: see ready().
std::unique_ptr<Link> begin_link(const LinkId& id, const std::vector<int32_t>& ordinals, int32_t first, int32_t all);

}  // namespace gpumem
