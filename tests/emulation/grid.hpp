// How a grid of blocks runs on one processor: blocks one after the other, in shuffled order; the threads of a block as fibers, of
// which any that can go on may be the next. What kernels see of it is in device.hpp.
#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>

namespace gpumem_emulation {

using Site = std::source_location;

struct Kernel {
  const void* function;  // tells kernels apart
  dim3 grid;
  dim3 block;
  std::function<void()> body;  // one thread's
  size_t shared_bytes = 0;     // beside the kernel's own variables
};

// Runs to the end. One at a time: the caller's wait for others is inside.
void run(const Kernel& kernel);

// Limits of a launch, as the driver has them.
bool launchable(const Kernel& kernel);

// The running block's shared memory beside variables.
void* dynamic_shared();

// What the blocks of the running launch leave for each other, in the place of the shared memory of a cluster: zeros at its start.
// (A variable of a kernel's function, static or not, would be taken for shared memory.)
constexpr size_t kClusterBytes = 1024;
void* cluster_memory();

// Blocks of the running launch that started before the calling thread's.
unsigned started_blocks();

// The barrier of the calling thread's block. How many threads came, and for how many the predicate held.
struct Arrivals {
  int threads;
  int held;
};
Arrivals block_barrier(bool predicate, const Site& site);

// What the lanes of a warp hand each other.
enum class Exchange { barrier, vote, shuffle, reduction };

// Values of the lanes in `there`; valid until leave_warp().
struct Gathered {
  uint32_t mask = 0;
  uint32_t there = 0;  // a lane that has returned is not
  uint32_t left = 0;
  bool complete = false;
  Exchange kind = Exchange::barrier;
  Site site;
  uint64_t value[32] = {};
};

// Waits until every lane of the mask that has not returned is here too.
Gathered& meet_warp(uint32_t mask, Exchange kind, uint64_t value, const Site& site);
void leave_warp(Gathered& gathered);
uint32_t lane();

// A number below bound, from the seed.
uint64_t shuffled(uint64_t bound);

}  // namespace gpumem_emulation

// Of the thread that is running. Only a kernel may look.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
