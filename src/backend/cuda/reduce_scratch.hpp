// Scratch memory of the reductions. Launches on one stream are ordered, so each stream keeps one block. Captured
// launches get blocks of their own, which the graph returns when it is destroyed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "backend/cuda/cuda_check.hpp"
#include "kernels/reduce/launch.hpp"

namespace gpumem {

class ReduceScratchPool {
 public:
  ReduceScratchPool() = default;
  ReduceScratchPool(const ReduceScratchPool&) = delete;
  ReduceScratchPool& operator=(const ReduceScratchPool&) = delete;

  void open();
  // After all work is done. Frees blocks of live graphs too, because no graph outlives its context.
  void close() noexcept;

  // Scratch for the next launches on the stream until they are done. The lease blocks other threads that launch on the
  // same stream, so that one call's launches stay together.
  struct Lease {
    kernels::ReduceScratch scratch;
    std::unique_lock<std::mutex> lock;
  };
  Lease for_stream(cudaStream_t stream);
  // Call before the stream ends or returns to the program. Its block is reused after its work.
  void stream_ends(cudaStream_t stream) noexcept;

 private:
  struct ScratchBlock {
    kernels::ReduceScratch scratch;
    cudaEvent_t passed = nullptr;  // its last use by a stream that has ended
    bool waited = true;
    std::mutex launching;
  };
  // Graphs return their blocks here. It may outlive the pool.
  struct Shelf {
    std::mutex mutex;
    std::vector<ScratchBlock*> idle;
  };
  struct OfGraph {
    std::shared_ptr<Shelf> shelf;
    ScratchBlock* block;
  };

  static void give_back(void* of_graph) noexcept;
  ScratchBlock* of_stream(cudaStream_t stream);
  ScratchBlock* idle_block(cudaStream_t stream, bool capturing);
  ScratchBlock* new_block();
  void attach(ScratchBlock* block, cudaGraph_t graph);

  std::shared_mutex mutex_;
  cudaStream_t housekeeping_ = nullptr;  // never captures, never waits
  std::vector<std::unique_ptr<ScratchBlock>> blocks_;
  std::map<cudaStream_t, ScratchBlock*> of_stream_;
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace gpumem
