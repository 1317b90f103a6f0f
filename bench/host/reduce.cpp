// Every reduction of the host backend, blocking, compared with the plain OpenMP loop of the same precision.
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"

namespace bench {
namespace {

constexpr int kMaxLog2 = 26;

// Keeps the loops of each type together.
constexpr const char* kOps[] = {"sum",     "sum_compensated", "sum_abs", "min",  "max",         "min_max",  "max_abs",
                                "arg_min", "arg_max",         "dot",     "nrm2", "sum_squares", "sum_cubes"};

// -------------------------------------------------------------------------------------------------- expected values

__extension__ using Int128 = __int128;

// Sixteen bits of a normal number, and the end of its mantissa.
template <int kMantissa>
struct Short {
  uint16_t bits;
  explicit operator long double() const {
    constexpr int bias = (1 << (14 - kMantissa)) - 1;
    const int exponent = (bits & 0x7FFF) >> kMantissa, fraction = bits & ((1 << kMantissa) - 1);
    const long double magnitude =
        std::ldexp(static_cast<long double>((1 << kMantissa) + fraction), exponent - bias - kMantissa);
    return bits >> 15 ? -magnitude : magnitude;
  }
};

template <class V>
struct Totals {
  V sum = 0, low, high;
  int64_t low_at = 0, high_at = 0;
};

template <class V>
V term(gpumem_reduce_op op, V v, V w) {
  if (op == GPUMEM_SUM_ABS) return v < 0 ? -v : v;
  if (op == GPUMEM_SUM_SQUARES || op == GPUMEM_NRM2) return v * v;
  if (op == GPUMEM_SUM_CUBES) return v * v * v;
  return op == GPUMEM_DOT ? v * w : v;
}

template <class T, class V>
Totals<V> totals(const void* x_memory, const void* y_memory, gpumem_reduce_op op, int64_t n) {
  const auto *x = static_cast<const T*>(x_memory), *y = static_cast<const T*>(y_memory);
  Totals<V> t{.low = static_cast<V>(x[0]), .high = static_cast<V>(x[0])};
  for (int64_t i = 0; i < n; ++i) {
    const V v = static_cast<V>(x[i]);
    t.sum += term(op, v, y ? static_cast<V>(y[i]) : V{0});
    if (v < t.low) {
      t.low = v;
      t.low_at = i;
    }
    if (v > t.high) {
      t.high = v;
      t.high_at = i;
    }
  }
  return t;
}

template <class V>
Expected expected(V value, double scale) {
  if constexpr (std::is_same_v<V, Int128>) return {static_cast<int64_t>(value), 0, 0};
  return {0, static_cast<double>(value), scale};
}

// GPUMEM_MIN_MAX uses `second`, GPUMEM_ARG_* use `index`.
struct Reduced {
  Expected value, second, index;
};

// The magnitude of floating-point elements is at least 1, so n tells the size of a sum's terms.
template <class V>
Reduced reduced(gpumem_reduce_op op, const Totals<V>& t, int64_t n) {
  const V low = t.low < 0 ? -t.low : t.low, high = t.high < 0 ? -t.high : t.high;
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_MIN:
      return {expected(t.low, 0), {}, {}};
    case GPUMEM_MAX:
      return {expected(t.high, 0), {}, {}};
    case GPUMEM_MAX_ABS:
      return {expected(low > high ? low : high, 0), {}, {}};
    case GPUMEM_MIN_MAX:
      return {expected(t.low, 0), expected(t.high, 0), {}};
    case GPUMEM_ARG_MIN:
      return {expected(t.low, 0), {}, {t.low_at, 0, 0}};
    case GPUMEM_ARG_MAX:
      return {expected(t.high, 0), {}, {t.high_at, 0, 0}};
    case GPUMEM_NRM2: {
      const double norm = std::sqrt(static_cast<double>(t.sum));
      return {{0, norm, norm}, {}, {}};
    }
    case GPUMEM_SUM:
    case GPUMEM_SUM_COMPENSATED:
    case GPUMEM_SUM_ABS:
    case GPUMEM_SUM_SQUARES:
    case GPUMEM_SUM_CUBES:
    case GPUMEM_DOT:
      return {expected(t.sum, static_cast<double>(n)), {}, {}};
    case GPUMEM_ARG_MAX_ABS:
    case GPUMEM_PROD:
    case GPUMEM_SUM_VALID:
    case GPUMEM_COUNT_VALID:
    case GPUMEM_MIN_VALID:
    case GPUMEM_MAX_VALID:
    case GPUMEM_ARG_MIN_VALID:
    case GPUMEM_ARG_MAX_VALID:
    case GPUMEM_SUM_ORDER_FREE:
    case GPUMEM_NRM2_ORDER_FREE:
    case GPUMEM_DOT_ORDER_FREE:
      break;
  }
  throw std::invalid_argument("no reference of this operation");
}

// A plain loop in 128-bit integers or long double, which is independent of both sides.
template <class T>
Reduced reference(const void* x, const void* y, gpumem_reduce_op op, int64_t n) {
  using V = std::conditional_t<std::is_integral_v<T>, Int128, long double>;
  return reduced(op, totals<T, V>(x, y, op, n), n);
}

using Reference = Reduced (*)(const void*, const void*, gpumem_reduce_op, int64_t);
Reference reference_of(gpumem_dtype dtype) {
  constexpr Reference kAll[] = {reference<int8_t>,    reference<uint8_t>,  reference<int16_t>, reference<uint16_t>,
                                reference<int32_t>,   reference<uint32_t>, reference<int64_t>, reference<uint64_t>,
                                reference<Short<10>>, reference<Short<7>>, reference<float>,   reference<double>};
  return kAll[dtype];
}

// ------------------------------------------------------------------------------------------------------------ cases

struct Run {
  Problem problem;
  tool::Instance instance;
  Reduced wanted;

  Run(const Context& ctx, const std::string& line) : problem(line), instance(host_instance(ctx, problem)) {
    wanted = reference_of(problem.dtype())(at("x"), at("y"), problem.op(), problem.number("n"));
  }
  const void* at(const char* key) const {
    const auto found = instance.operands.find(key);
    return found == instance.operands.end() ? nullptr : found->second->get();
  }
  unsigned char* result() const { return instance.output->get(); }  // two values and an index
  std::string verify() const {
    const gpumem_dtype type = result_type(problem.dtype());
    const gpumem_reduce_op op = problem.op();
    std::string complaint = wanted.value.compare(result(), type);
    if (complaint.empty() && op == GPUMEM_MIN_MAX) complaint = wanted.second.compare(result() + 8, type);
    if (complaint.empty() && (op == GPUMEM_ARG_MIN || op == GPUMEM_ARG_MAX))
      complaint = wanted.index.compare(result() + 16, GPUMEM_I64);
    return complaint;
  }
};

Pair open(const std::shared_ptr<Run>& run, openmp::Loop peer) {
  const auto side = [run](std::function<void()> call) {
    return Side{host_sampler(std::move(call), kHostClock), [run] { run->instance.reset(); },
                [run] { return run->verify(); }};
  };
  return {side([run] { check(run->instance.call(false)); }), side([run, peer] {
            peer(run->at("x"), run->at("y"), run->problem.number("n"), run->result(),
                 reinterpret_cast<int64_t*>(run->result() + 16));
          })};
}

std::string line_of(const std::string& op, gpumem_dtype dtype, int log2) {
  return std::string("reduce dtype=") + kDtypes[dtype] + " op=" + op + " n=" + std::to_string(int64_t{1} << log2) +
         " x=pageable" + (op == "dot" ? " y=pageable" : "");
}

Case reduce_case(const Context& ctx, const std::string& op, gpumem_dtype dtype, int log2, openmp::Loop peer,
                 const char* peer_name) {
  const std::string line = line_of(op, dtype, log2);
  std::string name = op;
  if (name.starts_with("arg_")) name.erase(3, 1);
  Case c;
  c.family = "reduce";
  c.name = name + "/" + kDtypes[dtype] + "/" + power_name(log2);
  c.peer = peer_name;
  c.bytes = static_cast<double>(counted_bytes(Problem(line)));
  if (log2 == kMaxLog2) c.ceiling = Ceiling::read;
  c.quick = op == "sum";
  c.open = [ctx, line, peer] { return open(std::make_shared<Run>(ctx, line), peer); };
  return c;
}

}  // namespace

void add_host_reduce(std::vector<Case>& cases, const Context& ctx) {
  for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_I64, GPUMEM_F32, GPUMEM_F64, GPUMEM_I8, GPUMEM_U8, GPUMEM_I16,
                                   GPUMEM_U16, GPUMEM_F16, GPUMEM_BF16}) {
    for (const char* const op : kOps) {
      const openmp::Loop loop = openmp::loop(tool::reduce_op(op), dtype);
      if (!loop) continue;
      cases.push_back(reduce_case(ctx, op, dtype, kMaxLog2, loop, "OpenMP loop"));
      cases.back().bar = at_least(0.90);
      const openmp::Loop exact = dtype == GPUMEM_I32 ? openmp::exact_loop(tool::reduce_op(op)) : nullptr;
      if (exact) cases.push_back(reduce_case(ctx, op, dtype, kMaxLog2, exact, "OpenMP loop, 128-bit sums"));
    }
  }
  const openmp::Loop sum = openmp::loop(GPUMEM_SUM, GPUMEM_I32);
  for (const int log2 : {10, 14, 18, 22})
    cases.push_back(reduce_case(ctx, "sum", GPUMEM_I32, log2, sum, "OpenMP loop"));
  Case base = reduce_case(ctx, "sum", GPUMEM_I32, kMaxLog2, sum, "OpenMP loop");
  base.name = "sum/" + power_name(kMaxLog2);
  add_ladder(cases, std::move(base), "reduce_i32", [ctx, sum](const std::string& variant) {
    const auto run = std::make_shared<Run>(ctx, line_of("sum", GPUMEM_I32, kMaxLog2));
    Pair pair = open(run, sum);
    pair.ours = with_variant(ctx, GPUMEM_FAMILY_REDUCE, variant, std::move(pair.ours),
                             [run] { return run->instance.call(false); });
    return pair;
  });
}

}  // namespace bench
