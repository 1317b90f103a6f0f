// The other kinds of reductions, each beside the simplest one of our own that reads the same bytes, by device time: 8-bit
// elements, positions, compensation, misaligned data, rows and columns of a matrix. Positions beside CUB too.
#include <utility>

#include "cuda/peers_cub.hpp"
#include "cuda/reduce_reference.hpp"
#include "cuda/scalar.hpp"

namespace bench {
namespace {

constexpr int64_t kSmallBytes = int64_t{2} << 30;

// Two forms of ours. Where both leave a result, the peer's lies beside.
Side peer_reduce_side(const GpuPtr& gpu, const Input& in, gpumem_reduce_op op, const Expected& expected, Gated how) {
  const auto enqueue = [gpu, in, op] {
    check(
        gpumem_reduce_async(gpu->ctx.get(), in.dtype, op, in.x, in.n, 1, gpu->result(1), nullptr, gpu->shared_stream));
  };
  return scalar_side(gpu, enqueue, {{gpu->result(1), result_type(in.dtype), expected}}, how);
}

// ------------------------------------------------------------------------------------------------- 8-bit elements

// i32 and 8-bit elements of the same bytes, in two buffers.
Case small_case(const GpuPtr& gpu, gpumem_dtype dtype) {
  Case c = scalar_case("small_types", "sum/" + dtype_name(dtype) + "/2GiB", "gpumem i32 sum, same bytes",
                       static_cast<double>(kSmallBytes), false);
  c.bar = at_least(0.95);
  c.open = [=] {
    const Gated how = on_one_stream(*gpu, false);
    const Input small = make_input(dtype, gpu->src(kSmallBytes), nullptr, kSmallBytes);
    const Input plain = make_input(GPUMEM_I32, gpu->dst(kSmallBytes), nullptr, kSmallBytes / 4);
    return Pair{reduce_side(gpu, small, GPUMEM_SUM, small.sum, how),
                peer_reduce_side(gpu, plain, GPUMEM_SUM, plain.sum, how)};
  };
  return c;
}

// ------------------------------------------------------------------------------------------------------ positions

Side position_side(const GpuPtr& gpu, const Input& in, gpumem_reduce_op op, Gated how) {
  const bool min = op == GPUMEM_MIN;
  void* value = gpu->result(2);
  auto* index = static_cast<int64_t*>(gpu->result(3));
  const auto enqueue = [=] {
    check(gpumem_argreduce_async(gpu->ctx.get(), in.dtype, op, in.x, in.n, 1, value, index, gpu->shared_stream));
  };
  return scalar_side(
      gpu, enqueue,
      {{value, result_type(in.dtype), min ? in.min : in.max}, {index, GPUMEM_I64, min ? in.argmin : in.argmax}}, how);
}

Case position_case(const GpuPtr& gpu, gpumem_dtype dtype, gpumem_reduce_op op, int log2, bool cold, bool by_cub) {
  const int64_t n = int64_t{1} << log2;
  const std::string name = (op == GPUMEM_MIN ? "argmin/" : "argmax/") + dtype_name(dtype) + "/" + power_name(log2);
  Case c = scalar_case("positions", name, by_cub ? "CUB ArgMin" : "gpumem min", static_cast<double>(bytes_of(dtype, n)),
                       cold);
  c.bar = at_least(by_cub ? 1.5 : 0.97);
  c.open = [=] {
    const Gated how = on_one_stream(*gpu, cold);
    const Input in = make_input(dtype, gpu->src(bytes_of(dtype, n)), nullptr, n);
    Pair pair;
    pair.ours = position_side(gpu, in, op, how);
    if (by_cub) {
      const auto cub = std::make_shared<CubReduce>(CubOp::arg_min, dtype, in.x, n);
      pair.peer = scalar_side(
          gpu, [gpu, cub] { cub->enqueue(gpu->peer_stream.get()); },
          {{cub->result(), cub->result_type(), in.min}, {cub->index(), GPUMEM_I64, in.argmin}}, how);
    } else {
      pair.peer = peer_reduce_side(gpu, in, GPUMEM_MIN, in.min, how);
    }
    return pair;
  };
  return c;
}

// --------------------------------------------------------------------------------------------------- compensation

Case compensated_case(const GpuPtr& gpu, int log2, bool cold) {
  const int64_t n = int64_t{1} << log2;
  Case c = scalar_case("compensated", "sum/f64/" + power_name(log2), "gpumem sum",
                       static_cast<double>(bytes_of(GPUMEM_F64, n)), cold);
  c.bar = at_least(0.90);
  c.quick = log2 == 28;
  c.open = [=] {
    const Gated how = on_one_stream(*gpu, cold);
    const Input in = make_input(GPUMEM_F64, gpu->src(bytes_of(GPUMEM_F64, n)), nullptr, n);
    return Pair{reduce_side(gpu, in, GPUMEM_SUM_COMPENSATED, in.sum, how),
                peer_reduce_side(gpu, in, GPUMEM_SUM, in.sum, how)};
  };
  return c;
}

// ------------------------------------------------------------------------------------------------ misaligned data

Case misaligned_case(const GpuPtr& gpu, gpumem_dtype dtype, int log2, bool cold) {
  const int64_t n = int64_t{1} << log2;
  Case c = scalar_case("misaligned", "sum/" + dtype_name(dtype) + "/" + power_name(log2), "gpumem sum, aligned",
                       static_cast<double>(bytes_of(dtype, n)), cold);
  c.bar = at_least(0.93);
  c.open = [=] {
    const Gated how = on_one_stream(*gpu, cold);
    auto* base = static_cast<char*>(gpu->src(bytes_of(dtype, n + 1)));
    const Input off = make_input(dtype, base + bytes_of(dtype, 1), nullptr, n);
    const Input on = make_input(dtype, gpu->dst(bytes_of(dtype, n)), nullptr, n);
    return Pair{reduce_side(gpu, off, GPUMEM_SUM, off.sum, how), peer_reduce_side(gpu, on, GPUMEM_SUM, on.sum, how)};
  };
  return c;
}

// ----------------------------------------------------------------------------------------------- rows and columns

struct Matrix {
  int64_t rows, cols;
  gpumem_axis axis;

  int64_t elements() const { return rows * cols; }
  int64_t lines() const { return axis == GPUMEM_AXIS_ROWS ? rows : cols; }
  std::string name() const {
    return std::string(axis == GPUMEM_AXIS_ROWS ? "rows" : "cols") + "_sum_f32/" + std::to_string(rows) + "x" +
           std::to_string(cols);
  }
};

Side axis_side(const GpuPtr& gpu, const Input& in, Matrix m, Gated how) {
  const std::size_t bytes = bytes_of(GPUMEM_F64, m.lines());
  auto* result = static_cast<double*>(gpu->dst(bytes));
  const auto expected = std::make_shared<DeviceBytes>(bytes);
  reference_line_sums(static_cast<const float*>(in.x), m.rows, m.cols, m.axis == GPUMEM_AXIS_COLS,
                      expected->as<double>());
  const double tolerance = 1e-10 * static_cast<double>(m.elements() / m.lines());
  const auto enqueue = [=] {
    check(gpumem_reduce_axis_async(gpu->ctx.get(), GPUMEM_F32, GPUMEM_SUM, m.axis, in.x, m.rows, m.cols, m.cols, 1, 0,
                                   result, nullptr, gpu->shared_stream));
  };
  Side side;
  side.sample = gpu->device_time(enqueue, how);
  side.poison = [result, bytes] { check_cuda(cudaMemset(result, 0x5A, bytes)); };
  side.verify = [=] {
    return wrong_count(count_different(result, expected->as<const double>(), m.lines(), tolerance));
  };
  return side;
}

Case axis_case(const GpuPtr& gpu, Matrix m) {
  const std::size_t bytes = bytes_of(GPUMEM_F32, m.elements());
  Case c = scalar_case("axis", m.name(), "gpumem sum of it all", static_cast<double>(bytes), false);
  c.bar = at_least(0.93);
  c.quick = m.rows == m.cols;
  c.open = [=] {
    const Gated how = on_one_stream(*gpu, false);
    const Input in = make_input(GPUMEM_F32, gpu->src(bytes), nullptr, m.elements());
    return Pair{axis_side(gpu, in, m, how), peer_reduce_side(gpu, in, GPUMEM_SUM, in.sum, how)};
  };
  return c;
}

}  // namespace

void add_cuda_reduce_kinds(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const gpumem_dtype dtype : {GPUMEM_U8, GPUMEM_I8}) cases.push_back(small_case(gpu, dtype));
  for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_F32}) {
    for (const gpumem_reduce_op op : {GPUMEM_MIN, GPUMEM_MAX}) {
      cases.push_back(position_case(gpu, dtype, op, 28, false, false));
    }
    for (int log2 = 10; log2 <= 24; ++log2) {
      add_warm_and_cold(cases, static_cast<double>(bytes_of(dtype, int64_t{1} << log2)),
                        [&](bool cold) { return position_case(gpu, dtype, GPUMEM_MIN, log2, cold, true); });
    }
  }
  for (int log2 = 20; log2 <= 28; ++log2) {
    add_warm_and_cold(cases, static_cast<double>(bytes_of(GPUMEM_F64, int64_t{1} << log2)),
                      [&](bool cold) { return compensated_case(gpu, log2, cold); });
  }
  for (int log2 = 24; log2 <= 28; ++log2) {
    for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_F32, GPUMEM_F64}) {
      add_warm_and_cold(cases, static_cast<double>(bytes_of(dtype, int64_t{1} << log2)),
                        [&](bool cold) { return misaligned_case(gpu, dtype, log2, cold); });
    }
  }
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{16384, 16384}, {1000000, 64}, {64, 1000000}}) {
    for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS})
      cases.push_back(axis_case(gpu, {rows, cols, axis}));
  }
}

}  // namespace bench
