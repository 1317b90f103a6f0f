// Sums by index on the host without a sort. Each bin has a leaf of the reproducible order (kernels/order.hpp), and each
// element is added to a lane of its bin's leaf at once. Full leaves become nodes of the bin's tree.
// Moves: reads x and index once. The leaves are in a core's caches, as far as they fit.
#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/host/by_index.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/reduce.hpp"
#include "base/float_environment.hpp"
#include "kernels/nodes.hpp"
#include "kernels/order.hpp"

namespace gpumem::host {
namespace {

struct Leaf {
  double lanes[kLeafLanes];
};

// Of a bin with so many elements.
int64_t levels_of(int64_t n) noexcept {
  return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(n / kLeafTerms))) + 1;
}

class Leaves {
 public:
  Leaves(const ReduceByIndexParams& p, char* workspace) noexcept
      : p_(p),
        levels_(levels_of(p.n)),
        leaves_(reinterpret_cast<Leaf*>(workspace)),
        nodes_(reinterpret_cast<ReduceNode*>(leaves_ + p.bins)),
        counts_(reinterpret_cast<int64_t*>(nodes_ + levels_ * p.bins)) {
    std::fill_n(leaves_, p.bins, Leaf{});
    std::fill_n(counts_, p.bins, 0);
  }

  template <class Index, class T>
  void add_all(FirstBad& bad) noexcept {
    const auto* const x = static_cast<const char*>(p_.x);
    for_bins<Index>(p_, 0, p_.n, bad, [&, x, leaves = leaves_, counts = counts_](uint64_t bin, int64_t i) {
      T term;
      std::memcpy(&term, x + i * int64_t{sizeof term}, sizeof term);
      const int64_t number = counts[bin]++;
      leaves[bin].lanes[number % kLeafLanes] += static_cast<double>(term);
      if (number % kLeafTerms == kLeafTerms - 1) [[unlikely]]
        push(static_cast<int64_t>(bin), number / kLeafTerms);
    });
  }

  ReduceNode node_of(int64_t bin) noexcept {
    int64_t leaves = counts_[bin] / kLeafTerms;
    if (counts_[bin] % kLeafTerms != 0) push(bin, leaves++);
    return fold_nodes(NodeKind::sum, nodes_ + bin * levels_, 1, leaves);
  }

 private:
  // The leaf has this number among those of its bin.
  void push(int64_t bin, int64_t number) noexcept {
    Leaf& leaf = leaves_[bin];
    for (int half = kLeafLanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) leaf.lanes[lane] += leaf.lanes[lane + half];
    }
    const ReduceNode node{{std::bit_cast<uint64_t>(leaf.lanes[0]), 0, 0, 0}};
    push_node(NodeKind::sum, nodes_ + bin * levels_, 1, number, node);
    leaf = {};
  }

  const ReduceByIndexParams& p_;
  const int64_t levels_;
  Leaf* const leaves_;
  ReduceNode* const nodes_;
  int64_t* const counts_;
};

}  // namespace

int64_t by_index_leaves_workspace_bytes(const ReduceByIndexParams& p) noexcept {
  return p.bins * (int64_t{sizeof(Leaf)} + levels_of(p.n) * int64_t{sizeof(ReduceNode)} + 8);
}

void reduce_by_index_leaves(const HostTeam&, const ReduceByIndexParams& p, const Config&, char* workspace) {
  const DefaultFloatEnvironment environment;
  Leaves leaves(p, workspace);
  FirstBad bad(p);
  for_index(p, [&]<class Index>() {
    p.dtype == GPUMEM_F32 ? leaves.add_all<Index, float>(bad) : leaves.add_all<Index, double>(bad);
  });
  if (bad.any()) return bad.report(GPUMEM_OK);
  for (int64_t bin = 0; bin < p.bins; ++bin) {
    const ReduceValue value = value_of_node(p.dtype, p.op, leaves.node_of(bin));
    std::memcpy(result_at(p, bin), value.word, sizeof(uint64_t));
  }
  bad.report(GPUMEM_OK);
}

}  // namespace gpumem::host
