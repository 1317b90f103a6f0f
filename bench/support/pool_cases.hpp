// Allocations and frees from the pools, on any context.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/library.hpp"

namespace bench {

// The other side's way: makes a call that allocates and frees so many bytes.
struct PairPeer {
  std::string name;
  std::function<std::function<void()>(int64_t bytes)> make;
};

// Device memory on a stream: pairs of one thread beside the peer's, with many blocks alive, and of 16 threads.
void add_pool_pairs(std::vector<Case>& cases, const Context& ctx, const PairPeer& peer);

}  // namespace bench
