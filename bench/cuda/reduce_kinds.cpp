// Other kinds of reductions, compared with our simplest one that reads the same bytes, by device time. Positions are
// also compared with CUB, dot products and norms with cuBLAS. cuBLAS returns the elements' type; ours accumulate in
// double and return a double.
#include <utility>

#include "cuda/kernels.hpp"
#include "cuda/peers_cub.hpp"
#include "cuda/scalar.hpp"

namespace bench {
namespace {

// Compared with another line of ours. Equal operands are shared.
OpenScalar beside(const std::string& peer_line) {
  return [peer_line](const ReductionPtr& r, const Gated& how) {
    return Pair{reduce_side(r, how), reduce_side(std::make_shared<Reduction>(r->gpu, peer_line, r.get()), how)};
  };
}

Pair beside_cub_arg_min(const ReductionPtr& r, const Gated& how) {
  const auto cub = std::make_shared<CubReduce>(CubOp::arg_min, r->dtype, r->x, r->n);
  return {reduce_side(r, how),
          scalar_side(
              r->gpu, [r, cub] { cub->enqueue(r->gpu->peer_stream.get()); },
              {{cub->result(), cub->result_type(), r->min}, {cub->index(), GPUMEM_I64, r->argmin}}, how)};
}

// ----------------------------------------------------------------------------------------------- rows and columns

Side lines_side(const ReductionPtr& r, const Gated& how) {
  const int64_t rows = r->problem.number("rows"), cols = r->problem.number("cols");
  const bool of_columns = r->problem.text("axis") == "cols";
  const int64_t lines = of_columns ? cols : rows;
  const std::size_t bytes = bytes_of(GPUMEM_F64, lines);
  auto* const result = static_cast<double*>(r->result());
  const auto expected = std::make_shared<DeviceBytes>(bytes);
  reference_line_sums(static_cast<const float*>(r->x), rows, cols, of_columns, expected->as<double>());
  const double tolerance = 1e-10 * static_cast<double>(r->n / lines);
  return {r->gpu->device_time([r] { check(r->enqueue()); }, how),
          [result, bytes] { check_cuda(cudaMemset(result, 0x5A, bytes)); },
          [=] { return wrong_count(count_different(result, expected->as<const double>(), lines, tolerance)); }};
}

void add_axis(std::vector<Case>& cases, const GpuPtr& gpu, int64_t rows, int64_t cols, const std::string& axis) {
  const std::string line = "reduce_axis dtype=f32 op=sum axis=" + axis + " rows=" + std::to_string(rows) +
                           " cols=" + std::to_string(cols) + " x=device";
  const std::string name = axis + "_sum_f32/" + std::to_string(rows) + "x" + std::to_string(cols);
  add_scalar(cases, gpu, {"axis", name, line, "gpumem sum of it all", at_least(0.93), rows == cols},
             [whole = reduce_line("sum", GPUMEM_F32, rows * cols)](const ReductionPtr& r, const Gated& how) {
               return Pair{lines_side(r, how), reduce_side(std::make_shared<Reduction>(r->gpu, whole, r.get()), how)};
             });
}

// Some lines, each against the search of one sequence.
std::string wrong_places(const Reduction& r, int64_t lines) {
  const int64_t rows = r.problem.number("rows"), cols = r.problem.number("cols");
  const bool of_columns = r.problem.text("axis") == "cols";
  const auto* const value = static_cast<const double*>(r.result());
  const auto* const index = reinterpret_cast<const int64_t*>(value + lines);
  for (int64_t line = 0; line < lines; line += lines / 50 + 1) {
    const float* const x = static_cast<const float*>(r.x) + line * (of_columns ? 1 : cols);
    double found[2] = {}, expected = 0;
    int64_t places[2] = {};
    check_cuda(cudaMemcpy(found, value + line, 8, cudaMemcpyDeviceToHost));
    check_cuda(cudaMemcpy(places, index + line, 8, cudaMemcpyDeviceToHost));
    check(gpumem_argreduce_f32(r.gpu->ctx.get(), GPUMEM_MAX, x, of_columns ? rows : cols, of_columns ? cols : 1,
                               &expected, &places[1]));
    if (found[0] != expected || places[0] != places[1]) return "line " + std::to_string(line) + " is wrong";
  }
  return "";
}

// The maxima and their places, compared with the maxima alone.
void add_search(std::vector<Case>& cases, const GpuPtr& gpu, int64_t rows, int64_t cols, const std::string& axis) {
  const auto line = [&](const char* op) {
    return std::string("reduce_axis dtype=f32 op=") + op + " axis=" + axis + " rows=" + std::to_string(rows) +
           " cols=" + std::to_string(cols) + " x=device";
  };
  const int64_t lines = axis == "cols" ? cols : rows;
  const auto side = [lines](const ReductionPtr& r, int64_t words, const Gated& how,
                            std::function<std::string()> verify) {
    return Side{r->gpu->device_time([r] { check(r->enqueue()); }, how),
                [r, lines, words] { check_cuda(cudaMemset(r->result(), 0x5A, bytes_of(GPUMEM_F64, words * lines))); },
                std::move(verify)};
  };
  const std::string name = axis + "_argmax_f32/" + std::to_string(rows) + "x" + std::to_string(cols);
  add_scalar(cases, gpu, {"axis", name, line("arg_max"), "gpumem maxima", at_least(0.9), rows == cols},
             [=, alone = line("max")](const ReductionPtr& r, const Gated& how) {
               const auto maxima = std::make_shared<Reduction>(r->gpu, alone, r.get());
               return Pair{side(r, 2, how, [r, lines] { return wrong_places(*r, lines); }),
                           side(maxima, 1, how, [] { return std::string(); })};
             });
}

// -------------------------------------------------------------------------------------------------- against cuBLAS

template <class T>
Side blas_side(const ReductionPtr& r, const Gated& how) {
  const bool dot = r->problem.op() == GPUMEM_DOT;
  auto* const result = reinterpret_cast<T*>(static_cast<double*>(r->result()) + 1);  // after our result
  const auto *x = static_cast<const T*>(r->x), *y = static_cast<const T*>(r->y);
  const auto enqueue = [=] {
    if (dot) {
      r->gpu->blas->dot(x, y, r->n, result);
    } else {
      r->gpu->blas->nrm2(x, r->n, result);
    }
  };
  return scalar_side(r->gpu, enqueue, {{result, r->dtype, r->expected(r->problem.op())}}, how);
}

Pair beside_blas(const ReductionPtr& r, const Gated& how) {
  return {reduce_side(r, how), r->dtype == GPUMEM_F32 ? blas_side<float>(r, how) : blas_side<double>(r, how)};
}

}  // namespace

void add_cuda_reduce_kinds(std::vector<Case>& cases, const GpuPtr& gpu) {
  const auto add = [&](const Scalar& row, const OpenScalar& open) { add_scalar(cases, gpu, row, open); };
  const auto line = [](const std::string& op, gpumem_dtype dtype, int log2) {
    return reduce_line(op, dtype, int64_t{1} << log2);
  };
  const auto typed = [](gpumem_dtype dtype, const std::string& size) {
    return std::string(kDtypes[dtype]) + "/" + size;
  };
  for (const gpumem_dtype dtype : {GPUMEM_U8, GPUMEM_I8}) {
    add({"small_types", "sum/" + typed(dtype, "2GiB"), line("sum", dtype, 31), "gpumem i32 sum, same bytes",
         at_least(0.95)},
        beside(line("sum", GPUMEM_I32, 29)));
  }
  for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_F32}) {
    for (const std::string op : {"min", "max"}) {
      add({"positions", "arg" + op + "/" + typed(dtype, "2^28"), line("arg_" + op, dtype, 28), "gpumem min",
           at_least(0.97)},
          beside(line("min", dtype, 28)));
    }
    for (int log2 = 10; log2 <= 24; ++log2) {
      add({"positions", "argmin/" + typed(dtype, power_name(log2)), line("arg_min", dtype, log2), "CUB ArgMin",
           at_least(1.5)},
          beside_cub_arg_min);
    }
  }
  for (int log2 = 20; log2 <= 28; ++log2) {
    add({"compensated", "sum/f64/" + power_name(log2), line("sum_compensated", GPUMEM_F64, log2), "gpumem sum",
         at_least(0.90), log2 == 28},
        beside(line("sum", GPUMEM_F64, log2)));
  }
  for (int log2 = 24; log2 <= 28; ++log2) {
    for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_F32, GPUMEM_F64}) {
      const std::string aligned = line("sum", dtype, log2);
      add({"misaligned", "sum/" + typed(dtype, power_name(log2)),
           aligned + " x_misaligned=" + std::to_string(kDtypeBytes[dtype]), "gpumem sum, aligned", at_least(0.93)},
          beside(aligned));
    }
  }
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{16384, 16384}, {1000000, 64}, {64, 1000000}}) {
    for (const char* const axis : {"rows", "cols"}) {
      add_axis(cases, gpu, rows, cols, axis);
      add_search(cases, gpu, rows, cols, axis);
    }
  }
  for (const std::string op : {"dot", "nrm2"}) {
    for (int log2 = 10; gpu->blas && log2 <= 28; ++log2) {
      for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
        add({"blas1", op + "/" + typed(dtype, power_name(log2)), line(op, dtype, log2), "cuBLAS " + op,
             at_least(log2 <= 20 ? 1.3 : 1.0),
             dtype == GPUMEM_F32 && (log2 == 20 || log2 == 28)},  // one launch against two
            beside_blas);
      }
    }
  }
}

}  // namespace bench
