// In the place of kernels/reduce/cluster.cuh. Blocks run one after the other here: the last of a cluster, which may be any of them,
// has all nodes.
#pragma once

#include <cstring>

#include "emulation/device.hpp"
#include "emulation/grid.hpp"

namespace gpumem::kernels {

template <class Node, int kBlocks>
class ClusterNodes {
 public:
  void begin() {}

  bool gather(const Node& node) {
    if (threadIdx.x == 0) {
      std::memcpy(left().nodes[blockIdx.y], &node, sizeof(Node));
      ++left().came;
    }
    __syncthreads();
    return left().came == gridDim.y && threadIdx.x < 32;
  }

  Node operator[](unsigned block) const {
    Node node;
    std::memcpy(static_cast<void*>(&node), left().nodes[block], sizeof(Node));
    return node;
  }

 private:
  struct Left {
    unsigned char nodes[kBlocks][sizeof(Node)];
    unsigned came;
  };
  static_assert(sizeof(Left) <= gpumem_emulation::kClusterBytes);

  static Left& left() { return *static_cast<Left*>(gpumem_emulation::cluster_memory()); }
};

}  // namespace gpumem::kernels
