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

// The other side's allocation of so many bytes: the seconds that it took, without its free.
struct ColdPeer {
  std::string name;
  std::function<std::function<double()>(int64_t bytes)> make;
};

// Device memory on a stream: pairs of one thread beside the peer's, with many blocks alive, and of 16 threads.
void add_pool_pairs(std::vector<Case>& cases, const Context& ctx, const PairPeer& peer);

// A GiB of pinned memory: from the cache, and cold. The peer allocates anew each time.
void add_pinned_pairs(std::vector<Case>& cases, const Context& ctx, const ColdPeer& peer);

}  // namespace bench
