// Clusters: blocks that run at the same time and access each other's shared memory. It is a separate header because
// tests/emulation replaces it in builds that run kernels on the processor.
#pragma once

#include <cstdint>

namespace gpumem::kernels {

// The blocks of a grid's y axis are a cluster of at most kBlocks. The object is in shared memory, and the first block's
// one receives a node from every block. The last store to arrive releases the first block. A barrier of the cluster
// would take 0.2 us more, because of its fence (H200).
template <class Node, int kBlocks>
class ClusterNodes {
  static_assert(sizeof(Node) % 8 == 0);

 public:
  // Every thread calls it at the start.
  __device__ __forceinline__ void begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (blockIdx.y == 0 && threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&arrived_)) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&arrived_)),
                   "r"(static_cast<unsigned>(gridDim.y * sizeof(Node)))
                   : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  }

  // Every thread calls it once. `node` is read in thread 0. True in the first warp of one block, which may read all
  // nodes.
  __device__ __forceinline__ bool gather([[maybe_unused]] const Node& node) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __syncwarp();
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");  // the first block's object is initialized
    if (threadIdx.x == 0) {
      uint64_t words[sizeof(Node) / 8];
      memcpy(words, &node, sizeof(Node));
      const unsigned arrived = in_first_block(&arrived_);
#pragma unroll
      for (unsigned i = 0; i < sizeof(Node) / 8; ++i) {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                         in_first_block(words_ + blockIdx.y * (sizeof(Node) / 8) + i)),
                     "l"(words[i]), "r"(arrived)
                     : "memory");
      }
    }
    if (blockIdx.y != 0 || threadIdx.x >= 32) return false;
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(address(&arrived_))
          : "memory");
    }
    return true;
#else
    return false;  // never launched there
#endif
  }

  __device__ __forceinline__ Node operator[](unsigned block) const {
    Node node;
    memcpy(&node, words_ + block * (sizeof(Node) / 8), sizeof(Node));
    return node;
  }

 private:
  __device__ static __forceinline__ unsigned address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
  }
  __device__ static __forceinline__ unsigned in_first_block(const void* p) {
    unsigned there = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(address(p)));
    return there;
  }

  uint64_t words_[kBlocks * sizeof(Node) / 8];
  uint64_t arrived_;
};

}  // namespace gpumem::kernels
