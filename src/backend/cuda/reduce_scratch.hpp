// Scratch memory of the reductions. Launches on one stream come one after the other, so each stream has one piece and keeps it;
// a launch that is captured gets a piece of its own, which belongs to the graph and comes back when the graph is gone.
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
  // After all work is done. Pieces of graphs that still live are freed too: no graph outlives its context.
  void close() noexcept;

  // What the next launches on the stream may use until they are done. While the lease lasts, other threads that launch on the same
  // stream wait: the launches of one call follow each other.
  struct Lease {
    kernels::ReduceScratch scratch;
    std::unique_lock<std::mutex> lock;
  };
  Lease for_stream(cudaStream_t stream);
  // The stream is about to end, or to be given back to the program: its piece goes to whoever comes next, after its work.
  void stream_ends(cudaStream_t stream) noexcept;

 private:
  struct Piece {
    kernels::ReduceScratch scratch;
    cudaEvent_t passed = nullptr;  // its last use by a stream that has ended
    bool waited = true;            // nothing to wait for
    std::mutex launching;
  };
  // What graphs give their pieces back to: it may outlive the pool.
  struct Shelf {
    std::mutex mutex;
    std::vector<Piece*> idle;
  };
  struct OfGraph {
    std::shared_ptr<Shelf> shelf;
    Piece* piece;
  };

  static void give_back(void* of_graph) noexcept;
  Piece* of_stream(cudaStream_t stream);
  Piece* idle_piece(cudaStream_t stream, bool capturing);
  Piece* new_piece();
  void attach(Piece* piece, cudaGraph_t graph);

  std::shared_mutex mutex_;
  cudaStream_t housekeeping_ = nullptr;  // captures nothing, waits for nobody
  std::vector<std::unique_ptr<Piece>> pieces_;
  std::map<cudaStream_t, Piece*> of_stream_;
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace gpumem
