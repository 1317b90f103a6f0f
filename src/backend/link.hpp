// The seam to what moves bytes between the devices of several processes. Nothing here waits: whoever calls polls, with a deadline.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace gpumem {

// Of all members that a link joins; one process makes it and the others are told.
using LinkId = std::array<char, 128>;

// One operation of a member of this process.
struct Transfer {
  size_t member;  // of this process
  int32_t peer;   // among all members
  bool sends;
  void* p;  // memory of the member's device
  size_t bytes;
};

class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  // Begins all of them as one, each on its member's stream, so that none waits for another. Between two members at most one each way.
  virtual void begin(const std::vector<Transfer>& transfers, const std::vector<NativeStream>& streams) = 0;
  // Whether what was begun, the link itself at first, is there: transfers then are on their streams. Throws PEER_LOST, also for one of
  // those that has failed.
  virtual bool ready() = 0;
  // Ends what is under way. False: it does not end, and the memory of its transfers must stay.
  virtual bool abort() noexcept = 0;
  // Before it is destroyed; returns soon, whatever the other processes do. False: calls of it have not returned, and may use its streams.
  virtual bool close() noexcept = 0;
};

// Why this process can't have one; empty: it can.
std::string why_no_link();
// Of a device among all of a machine.
std::string bus_id(int32_t ordinal);
LinkId make_link_id();
// Members first, first + 1 and so on, of `all`. Only begun on return: see ready().
std::unique_ptr<Link> begin_link(const LinkId& id, const std::vector<int32_t>& ordinals, int32_t first, int32_t all);

}  // namespace gpumem
