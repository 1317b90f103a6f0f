// Operations that move bytes: a call of ours beside a call of a peer, both enqueued on one stream and timed there, each held
// against the bytes that it should leave.
#pragma once

#include <functional>
#include <memory>

#include "cuda/cuda_cases.hpp"

namespace bench {

// Memory of the device that is filled once, by `write`, with what an operation should leave.
std::shared_ptr<DeviceBytes> expected_bytes(std::size_t bytes, const std::function<void(void*)>& write);

// `enqueue` works on gpu->peer_stream; afterwards `dst` must be what `expected` is.
Side moved_side(const GpuPtr& gpu, std::function<void()> enqueue, void* dst, std::size_t bytes, const void* expected,
                bool cold);

// The yardstick: cudaMemcpyAsync of so many bytes between the large buffers.
Side memcpy_side(const GpuPtr& gpu, std::size_t bytes, bool cold);

// A case of `bytes` read plus written, which may lie in L2 or must not.
Case moved_case(const std::string& family, const std::string& name, const std::string& peer, double bytes, bool cold);

// Adds the case cold, and warm as well where the bytes lie in L2.
void add_moved(std::vector<Case>& cases, double bytes, const std::function<Case(bool cold)>& make);

// The same operations, simply: what ours are held against. They block.
void permute_simply(void* dst, const void* src, int element_bytes, int rank, const int64_t* extents,
                    const int32_t* order);
void gather_simply(void* dst, const void* src, const int64_t* index, int64_t n, int64_t row_bytes, bool scatter);
void axpby_simply(gpumem_dtype dtype, double alpha, const void* x, double beta, const void* y, void* z, int64_t n);

// A permutation of 0 ... n - 1, n a power of two.
void shuffled_index(int64_t* index, int64_t n);

int64_t count_different(const void* a, const void* b, std::size_t bytes);

}  // namespace bench
