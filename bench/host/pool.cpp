// The pools on the host backend, compared with the C library's allocator.
#include "support/pool_cases.hpp"

#include <cstdlib>

#include "host/host_cases.hpp"

namespace bench {

void add_host_pool(std::vector<Case>& cases, const Context& ctx) {
  const PairPeer peer{"malloc, free", [](int64_t bytes) {
                        return [bytes] {
                          void* volatile p = std::malloc(static_cast<std::size_t>(bytes));
                          std::free(p);
                        };
                      }};
  add_pinned_pairs(cases, ctx, {});
  const std::size_t first = cases.size();
  add_pool_pairs(cases, ctx, peer);
  // Heap memory has no streams and does not track its blocks, so this is only reported.
  for (std::size_t i = first; i < cases.size(); ++i) {
    if (cases[i].peer == peer.name) cases[i].bar = {};
  }
}

}  // namespace bench
