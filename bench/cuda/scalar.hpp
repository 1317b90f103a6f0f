// Reductions of device data to values in device memory: what they should give, and sides that enqueue them on one stream.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda/cuda_cases.hpp"
#include "support/expected.hpp"

namespace bench {

// Where a side leaves a value on the device.
struct Answer {
  void* at;
  gpumem_dtype type;
  Expected expected;
};

// Random numbers on the device, and what their reductions give.
struct Input {
  gpumem_dtype dtype;
  const void* x;
  const void* y;  // the second operand of products; x where there is none
  int64_t n;
  Expected sum, products, norm, cubes, min, max, argmin, argmax;
};

// Fills n elements at x, and at y unless it is NULL. The dtypes of Reference.
Input make_input(gpumem_dtype dtype, void* x, void* y, int64_t n, uint32_t limit = 0);

// How sides of one case are timed: one call a sample, on the stream that both enqueue on.
Gated on_one_stream(const Gpu& gpu, bool cold);

// A side that enqueues on gpu->peer_stream, or on gpu->shared_stream, which is the same.
Side scalar_side(const GpuPtr& gpu, std::function<void()> enqueue, std::vector<Answer> answers, Gated how);

// Our side: gpumem_reduce_async with the result in device memory.
Side reduce_side(const GpuPtr& gpu, const Input& in, gpumem_reduce_op op, const Expected& expected, Gated how);
gpumem_status enqueue_reduce(const Gpu& gpu, const Input& in, gpumem_reduce_op op);

// The fields of a case that follow from the bytes it reads: the name's ending, ceiling, effort. Sizes that may lie in L2 are
// measured cold as well as warm.
Case scalar_case(std::string family, std::string name, const std::string& peer, double bytes, bool cold);
inline bool may_lie_in_l2(double bytes) { return bytes <= 4.0 * static_cast<double>(kCacheableElements); }

// Adds make(false), and make(true) where the bytes may lie in L2.
template <class Make>
void add_warm_and_cold(std::vector<Case>& cases, double bytes, const Make& make) {
  cases.push_back(make(false));
  if (may_lie_in_l2(bytes)) cases.push_back(make(true));
}

}  // namespace bench
