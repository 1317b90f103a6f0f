// gpumem_dot and gpumem_nrm2 against cuBLAS, results in device memory on both sides, by device time. Ours accumulate in
// double and give a double; cuBLAS gives the elements' type.
#include <utility>

#include "cuda/scalar.hpp"

namespace bench {
namespace {

constexpr int kFirst = 10, kLast = 28;
constexpr int kSmall = 20;  // up to here one launch against two shows

struct Problem {
  bool dot;
  gpumem_dtype dtype;
  int64_t n;

  std::size_t vector_bytes() const { return bytes_of(dtype, n); }
  double bytes() const { return (dot ? 2.0 : 1.0) * static_cast<double>(vector_bytes()); }
  std::string name(int log2) const {
    return std::string(dot ? "dot/" : "nrm2/") + dtype_name(dtype) + "/" + power_name(log2);
  }
};

struct Elements {
  const Problem problem;
  const Input in;
  const GpuPtr gpu;

  const Expected& expected() const { return problem.dot ? in.products : in.norm; }

  template <class T>
  void enqueue_peer() const {
    const auto *x = static_cast<const T*>(in.x), *y = static_cast<const T*>(in.y);
    auto* result = static_cast<T*>(gpu->result(1));
    if (problem.dot) {
      gpu->blas->enqueue_dot(x, y, in.n, result);
    } else {
      gpu->blas->enqueue_nrm2(x, in.n, result);
    }
  }

  gpumem_status enqueue() const {
    gpumem_ctx* ctx = gpu->ctx.get();
    auto* result = static_cast<double*>(gpu->result(0));
    gpumem_stream* stream = gpu->shared_stream;
    if (in.dtype == GPUMEM_F32) {
      const auto *x = static_cast<const float*>(in.x), *y = static_cast<const float*>(in.y);
      return problem.dot ? gpumem_dot_f32_async(ctx, x, y, in.n, 1, 1, result, stream)
                         : gpumem_nrm2_f32_async(ctx, x, in.n, 1, result, stream);
    }
    const auto *x = static_cast<const double*>(in.x), *y = static_cast<const double*>(in.y);
    return problem.dot ? gpumem_dot_f64_async(ctx, x, y, in.n, 1, 1, result, stream)
                       : gpumem_nrm2_f64_async(ctx, x, in.n, 1, result, stream);
  }
};

Pair open_blas(const GpuPtr& gpu, const Problem& problem, bool cold) {
  const Gated how = on_one_stream(*gpu, cold);
  void* y = problem.dot ? gpu->dst(problem.vector_bytes()) : nullptr;
  const auto e = std::make_shared<Elements>(
      Elements{problem, make_input(problem.dtype, gpu->src(problem.vector_bytes()), y, problem.n), gpu});
  const auto peer = [e] {
    if (e->in.dtype == GPUMEM_F32) {
      e->enqueue_peer<float>();
    } else {
      e->enqueue_peer<double>();
    }
  };
  return {scalar_side(
              gpu, [e] { check(e->enqueue()); }, {{gpu->result(0), GPUMEM_F64, e->expected()}}, how),
          scalar_side(gpu, peer, {{gpu->result(1), problem.dtype, e->expected()}}, how)};
}

Case blas_case(const GpuPtr& gpu, const Problem& problem, int log2, bool cold) {
  Case c = scalar_case("blas1", problem.name(log2), problem.dot ? "cuBLAS dot" : "cuBLAS nrm2", problem.bytes(), cold);
  c.bar = at_least(log2 <= kSmall ? 1.3 : 1.0);
  c.quick = problem.dtype == GPUMEM_F32 && (log2 == 20 || log2 == 28);
  c.open = [=] { return open_blas(gpu, problem, cold); };
  return c;
}

}  // namespace

void add_cuda_blas1(std::vector<Case>& cases, const GpuPtr& gpu) {
  if (!gpu->blas) return;
  for (const bool dot : {true, false}) {
    for (int log2 = kFirst; log2 <= kLast; ++log2) {
      for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
        const Problem problem{dot, dtype, int64_t{1} << log2};
        add_warm_and_cold(cases, problem.bytes(), [&](bool cold) { return blas_case(gpu, problem, log2, cold); });
      }
    }
  }
}

}  // namespace bench
