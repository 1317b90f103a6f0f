// Reductions of device data to values in device memory: expected values, and sides that enqueue them on one stream.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/cuda_cases.hpp"

namespace bench {

struct Answer {
  void* at;
  gpumem_dtype type;
  Expected expected;
};

// A line of the operations reduce and reduce_axis, its operands in the large buffers, and the expected values.
struct Reduction {
  GpuPtr gpu;
  Problem problem;
  tool::Instance instance;
  gpumem_dtype dtype;
  int64_t n;  // elements
  const void* x;
  const void* y;  // the second operand of products, or x
  Expected sum, products, norm, cubes, min, max, argmin, argmax;

  Gpu::Room room;

  // `beside`: another one of the same case, whose operands are shared if they are equal.
  Reduction(GpuPtr on, const std::string& line, const Reduction* beside = nullptr);

  const Expected& expected(gpumem_reduce_op op) const;
  void* result() const { return instance.output->get(); }  // two values and an index
  std::vector<Answer> answers() const;
  gpumem_status enqueue() const { return instance.call({gpu->shared_stream, nullptr}); }
};
using ReductionPtr = std::shared_ptr<Reduction>;

// "reduce dtype=i32 op=sum n=1024 x=device".
std::string reduce_line(const std::string& op, gpumem_dtype dtype, int64_t n);

// Enqueues on gpu->peer_stream, or on gpu->shared_stream, which is the same: one call per sample.
Side scalar_side(const GpuPtr& gpu, std::function<void()> enqueue, std::vector<Answer> answers, const Gated& how);

Side reduce_side(const ReductionPtr& r, const Gated& how);

struct Scalar {
  std::string family, name, line, peer_name;
  Bar bar = {};
  bool quick = false;
};

// Adds the case, warm and cold if L2 may hold its bytes. `open` returns both sides, timed as `how` says.
using OpenScalar = std::function<Pair(const ReductionPtr& r, const Gated& how)>;
void add_scalar(std::vector<Case>& cases, const GpuPtr& gpu, const Scalar& row, const OpenScalar& open);

}  // namespace bench
