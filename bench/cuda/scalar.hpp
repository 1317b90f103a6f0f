// Reductions of device data to values in device memory: what they should give, and sides that enqueue them on one stream.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/cuda_cases.hpp"

namespace bench {

// Where a side leaves a value on the device.
struct Answer {
  void* at;
  gpumem_dtype type;
  Expected expected;
};

// A line of the families reduce and reduce_axis with its operands in the large buffers, and what reductions of them give.
struct Reduction {
  GpuPtr gpu;
  Problem problem;
  tool::Instance instance;
  gpumem_dtype dtype;
  int64_t n;  // elements
  const void* x;
  const void* y;  // the second operand of products; x if there is none
  Expected sum, products, norm, cubes, min, max, argmin, argmax;

  Gpu::Room room;  // what the case has taken

  // `beside`: another one of the same case, whose operands it reads if they are the same.
  Reduction(GpuPtr on, const std::string& line, const Reduction* beside = nullptr);

  const Expected& expected(gpumem_reduce_op op) const;
  void* result() const { return instance.output->get(); }  // two values and an index
  std::vector<Answer> answers() const;
  gpumem_status enqueue() const { return instance.call({gpu->shared_stream, nullptr}); }
};
using ReductionPtr = std::shared_ptr<Reduction>;

// "reduce dtype=i32 op=sum n=1024 x=device".
std::string reduce_line(const std::string& op, gpumem_dtype dtype, int64_t n);

// A side that enqueues on gpu->peer_stream, or on gpu->shared_stream, which is the same: one call a sample.
Side scalar_side(const GpuPtr& gpu, std::function<void()> enqueue, std::vector<Answer> answers, const Gated& how);

// Our side.
Side reduce_side(const ReductionPtr& r, const Gated& how);

// A row of a table of reductions.
struct Scalar {
  std::string family, name, line, peer_name;
  Bar bar = {};
  bool quick = false;
};

// Adds its case; where its bytes may lie in L2, warm and cold. `open` gives both sides, timed as `how` says.
using OpenScalar = std::function<Pair(const ReductionPtr& r, const Gated& how)>;
void add_scalar(std::vector<Case>& cases, const GpuPtr& gpu, const Scalar& row, const OpenScalar& open);

}  // namespace bench
