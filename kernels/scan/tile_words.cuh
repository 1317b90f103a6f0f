// Words through which the tiles of a scan exchange results. A word is 0 until its tile publishes it.
// Few tiles have their words in the stream's scratch memory, which has two areas. A scan uses one area, and sets the words
// of the previous scan, in the other area, to 0. The last tile changes the turn of the areas. All other tiles have read the
// turn by then, because it has seen their words. So no launch is needed to clear words. Many tiles use the workspace.
// A tile waits only for earlier ones, and blocks start in the order of block_number().
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/reduce/launch.hpp"
#include "kernels/scan/limits.hpp"

namespace gpumem::kernels {
namespace {

// The only communication is by whole words, so their accesses need no order among each other.
__device__ __forceinline__ uint64_t read_word(const uint64_t* p) { return *static_cast<const volatile uint64_t*>(p); }
__device__ __forceinline__ void write_word(uint64_t* p, uint64_t v) { *static_cast<volatile uint64_t*>(p) = v; }

// A tile reads the turn before it publishes a word. head: nullptr if there is only one tile.
struct TileWords {
  ScanHead* head;
  unsigned turn = 0;
  unsigned used_before = 0;

  explicit __device__ TileWords(ScanHead* of_scan) : head(of_scan) {
    if (head == nullptr) return;
    const volatile ScanHead& now = *head;
    turn = now.turn;
    const unsigned used[2] = {now.used[0], now.used[1]};
    used_before = turn == 0 ? used[1] : used[0];
  }
  __device__ uint64_t* area(unsigned of_turn) const {
    return reinterpret_cast<uint64_t*>(head + 1) + (of_turn == 0 ? 0 : kScanAreaWords);
  }
  __device__ uint64_t* own() const { return area(turn); }
  // Called by a warp of each tile.
  __device__ void clear_before(unsigned tile, unsigned tiles, int lane) const {
    uint64_t* const before = area(turn ^ 1);
    for (unsigned w = tile * 32 + static_cast<unsigned>(lane); w < used_before; w += tiles * 32) {
      write_word(before + w, 0);
    }
  }
  // Called by a thread of the last tile, when all others have published words.
  __device__ void end_turn(unsigned used) const {
    volatile ScanHead& next = *head;
    next.used[turn] = used;
    next.turn = turn ^ 1;
  }
};

// head: nullptr if there is only one tile.
inline LaunchResult tile_words(const Config& config, const Launch& launch, ScanHead*& head) {
  head = nullptr;
  if (config.grid == 1) return cudaSuccess;
  if (config.workspace_bytes == 0) {
    head = static_cast<ScanHead*>(launch.reduce_scratch->scan);
    return cudaSuccess;
  }
  head = static_cast<ScanHead*>(launch.workspace);
  return set_bytes(head, config.workspace_bytes, 0, launch);
}

}  // namespace
}  // namespace gpumem::kernels
