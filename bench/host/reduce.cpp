// Every reduction of the host backend, blocking, against the plain OpenMP loop of the same precision.
#include <cstring>
#include <utility>

#include "host/host_cases.hpp"
#include "host/numbers.hpp"
#include "host/openmp_reduce.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr int kMaxLog2 = 26;
constexpr int64_t kMaxElements = int64_t{1} << kMaxLog2;
constexpr uint32_t kCubeLimit = 4000;  // 4000^3 * 2^26 < 2^63: even a plain 64-bit sum of cubes is exact

struct Op {
  gpumem_reduce_op op;
  const char* name;
};

// In an order that leaves each type's numbers in memory for as many cases as possible.
constexpr Op kOps[] = {
    {GPUMEM_SUM, "sum"},
    {GPUMEM_SUM_COMPENSATED, "sum_compensated"},
    {GPUMEM_SUM_ABS, "sum_abs"},
    {GPUMEM_MIN, "min"},
    {GPUMEM_MAX, "max"},
    {GPUMEM_MIN_MAX, "min_max"},
    {GPUMEM_MAX_ABS, "max_abs"},
    {GPUMEM_ARG_MIN, "argmin"},
    {GPUMEM_ARG_MAX, "argmax"},
    {GPUMEM_DOT, "dot"},
    {GPUMEM_NRM2, "nrm2"},
    {GPUMEM_SUM_SQUARES, "sum_squares"},
    {GPUMEM_SUM_CUBES, "sum_cubes"},
};

struct Problem {
  Op op;
  gpumem_dtype dtype;
  int64_t n;

  bool powers() const { return op.op == GPUMEM_SUM_SQUARES || op.op == GPUMEM_SUM_CUBES; }
  bool two_operands() const { return op.op == GPUMEM_DOT; }
  std::shared_ptr<const Numbers> numbers() const {
    return bench::numbers(dtype, kMaxElements, powers() && dtype < GPUMEM_F16 ? kCubeLimit : 0, two_operands());
  }
  double bytes() const { return (two_operands() ? 2.0 : 1.0) * static_cast<double>(bytes_of(dtype, n)); }
};

// Room for what any operation gives.
struct Results {
  unsigned char values[16];
  int64_t index;
};

gpumem_status ours(gpumem_ctx* ctx, const Problem& p, const Numbers& in, Results& out) {
  auto* value = reinterpret_cast<double*>(out.values);
  switch (static_cast<decltype(GPUMEM_SUM)>(p.op.op)) {
    case GPUMEM_ARG_MIN:
      return gpumem_argreduce(ctx, p.dtype, GPUMEM_MIN, in.x.as<void>(), p.n, 1, value, &out.index);
    case GPUMEM_ARG_MAX:
      return gpumem_argreduce(ctx, p.dtype, GPUMEM_MAX, in.x.as<void>(), p.n, 1, value, &out.index);
    case GPUMEM_ARG_MAX_ABS:
      return gpumem_argreduce(ctx, p.dtype, GPUMEM_MAX_ABS, in.x.as<void>(), p.n, 1, value, &out.index);
    case GPUMEM_DOT:
      return p.dtype == GPUMEM_F32 ? gpumem_dot_f32(ctx, in.x.as<float>(), in.y.as<float>(), p.n, 1, 1, value)
                                   : gpumem_dot_f64(ctx, in.x.as<double>(), in.y.as<double>(), p.n, 1, 1, value);
    case GPUMEM_NRM2:
      return p.dtype == GPUMEM_F32 ? gpumem_nrm2_f32(ctx, in.x.as<float>(), p.n, 1, value)
                                   : gpumem_nrm2_f64(ctx, in.x.as<double>(), p.n, 1, value);
    case GPUMEM_SUM:
    case GPUMEM_MIN:
    case GPUMEM_MAX:
    case GPUMEM_SUM_ABS:
    case GPUMEM_SUM_SQUARES:
    case GPUMEM_SUM_CUBES:
    case GPUMEM_MAX_ABS:
    case GPUMEM_MIN_MAX:
    case GPUMEM_SUM_COMPENSATED:
    case GPUMEM_PROD:
      break;
  }
  return gpumem_reduce(ctx, p.dtype, p.op.op, in.x.as<void>(), p.n, 1, out.values);
}

std::string verify(const Problem& p, const Results& got, const Reduced& wanted) {
  const gpumem_dtype type = result_type(p.dtype);
  std::string complaint = wanted.value.compare(got.values, type);
  if (!complaint.empty()) return complaint;
  if (p.op.op == GPUMEM_MIN_MAX) return wanted.second.compare(got.values + 8, type);
  if (p.op.op == GPUMEM_ARG_MIN || p.op.op == GPUMEM_ARG_MAX) return wanted.second.compare(&got.index, GPUMEM_I64);
  return "";
}

Side value_side(const Problem& p, std::function<void(Results&)> call, const Reduced& wanted) {
  auto results = std::make_shared<Results>();
  Side side;
  side.sample = host_sampler([call = std::move(call), results] { call(*results); }, kHostClock);
  side.poison = [results] { std::memset(static_cast<void*>(results.get()), kPoison, sizeof *results); };
  side.verify = [=] { return verify(p, *results, wanted); };
  return side;
}

Pair open_reduce(const Context& ctx, const Problem& p, openmp::Loop peer) {
  const auto in = p.numbers();
  const Reduced wanted = reference_reduce(*in, p.op.op, p.n);
  Pair pair;
  pair.ours = value_side(
      p, [=](Results& out) { check(ours(ctx.get(), p, *in, out)); }, wanted);
  pair.peer = value_side(
      p, [=](Results& out) { peer(in->x.as<void>(), in->y.as<void>(), p.n, out.values, &out.index); }, wanted);
  return pair;
}

Case reduce_case(const Context& ctx, const Op& op, gpumem_dtype dtype, int log2, openmp::Loop peer,
                 const char* peer_name) {
  const Problem p{op, dtype, int64_t{1} << log2};
  Case c;
  c.family = "reduce";
  c.name = std::string(op.name) + "/" + dtype_name(dtype) + "/" + power_name(log2);
  c.peer = peer_name;
  c.bytes = p.bytes();
  if (log2 == kMaxLog2) c.ceiling = Ceiling::read;
  c.quick = op.op == GPUMEM_SUM;
  c.open = [ctx, p, peer] { return open_reduce(ctx, p, peer); };
  return c;
}

Case ladder_case(const Context& ctx, const std::string& variant) {
  const Problem p{kOps[0], GPUMEM_I32, kMaxElements};
  Case c = reduce_case(ctx, p.op, p.dtype, kMaxLog2, openmp::loop(GPUMEM_SUM, p.dtype), "OpenMP loop");
  c.family = "ladder";
  c.name = "reduce_i32/sum/" + power_name(kMaxLog2) + "/" + variant;
  c.quick = false;
  c.open = [ctx, variant, p, open = std::move(c.open)] {
    return with_variant(ctx, GPUMEM_FAMILY_REDUCE, variant, open(), [&] {
      Results out;
      return ours(ctx.get(), p, *p.numbers(), out);
    });
  };
  return c;
}

}  // namespace

void add_host_reduce(std::vector<Case>& cases, const Context& ctx) {
  for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_I64, GPUMEM_F32, GPUMEM_F64, GPUMEM_I8, GPUMEM_U8, GPUMEM_I16,
                                   GPUMEM_U16, GPUMEM_F16, GPUMEM_BF16}) {
    for (const Op& op : kOps) {
      const openmp::Loop loop = openmp::loop(op.op, dtype);
      if (!loop) continue;
      cases.push_back(reduce_case(ctx, op, dtype, kMaxLog2, loop, "OpenMP loop"));
      cases.back().bar = at_least(0.90);
      const openmp::Loop exact = dtype == GPUMEM_I32 ? openmp::exact_loop(op.op) : nullptr;
      if (exact) cases.push_back(reduce_case(ctx, op, dtype, kMaxLog2, exact, "OpenMP loop, 128-bit sums"));
    }
  }
  const openmp::Loop sum = openmp::loop(GPUMEM_SUM, GPUMEM_I32);
  for (const int log2 : {10, 14, 18, 22}) {
    cases.push_back(reduce_case(ctx, kOps[0], GPUMEM_I32, log2, sum, "OpenMP loop"));
  }
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_REDUCE)) cases.push_back(ladder_case(ctx, variant));
}

}  // namespace bench
