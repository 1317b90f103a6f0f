// Allocations and frees from the pools, on any context.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/library.hpp"

namespace bench {

// Returns the baseline's call, which allocates and frees `bytes`.
struct PairPeer {
  std::string name;
  std::function<std::function<void()>(int64_t bytes)> make;
};

// Allocates `bytes` by the baseline: the seconds without the free.
struct ColdPeer {
  std::string name;
  std::function<std::function<double()>(int64_t bytes)> make;
};

// Device memory on a stream: pairs of one thread compared with the baseline's, with many live blocks, and of 16
// threads.
void add_pool_pairs(std::vector<Case>& cases, const Context& ctx, const PairPeer& peer);

// A GiB of pinned memory: from the cache, and cold. The baseline allocates anew each time.
void add_pinned_pairs(std::vector<Case>& cases, const Context& ctx, const ColdPeer& peer);

}  // namespace bench
