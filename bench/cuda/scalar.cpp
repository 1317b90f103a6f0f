#include "cuda/scalar.hpp"

#include <cmath>
#include <utility>

#include "cuda/kernels.hpp"

namespace bench {
namespace {

constexpr double kShortCase = 8.0 * (1 << 20);  // bytes; such a case has more samples
constexpr int kShortEffort = 3;

template <class T, class V>
Expected expected_value(V value, double scale) {
  if constexpr (std::is_floating_point_v<T>) return {0, value, scale};
  return {static_cast<int64_t>(value), 0, 0};
}

template <class T>
void reduce_plainly(Reduction& r) {
  const Reference<T> got = reference_reduce(static_cast<const T*>(r.x), static_cast<const T*>(r.y), r.n);
  const auto count = static_cast<double>(r.n);  // the magnitude of floating-point elements is at least 1
  const double norm = std::sqrt(static_cast<double>(got.products));
  r.sum = expected_value<T>(got.sum, count);
  r.products = expected_value<T>(got.products, count);
  r.norm = {0, norm, norm};
  r.cubes = expected_value<T>(got.cubes, count);
  r.min = expected_value<T>(got.min, 0);
  r.max = expected_value<T>(got.max, 0);
  r.argmin = {got.argmin, 0, 0};
  r.argmax = {got.argmax, 0, 0};
}

// By gpumem_dtype.
constexpr void (*kPlain[])(Reduction&) = {reduce_plainly<int8_t>,
                                          reduce_plainly<uint8_t>,
                                          nullptr,
                                          nullptr,
                                          reduce_plainly<int32_t>,
                                          nullptr,
                                          reduce_plainly<int64_t>,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          reduce_plainly<float>,
                                          reduce_plainly<double>};

}  // namespace

Reduction::Reduction(GpuPtr on, const std::string& line, const Reduction* beside)
    : gpu(std::move(on)), problem(line), dtype(problem.dtype()) {
  if (beside != nullptr) room = beside->room;
  const auto memory = [&](const std::string& key, const std::string& kind, int64_t bytes, int64_t misaligned) {
    if (beside != nullptr && beside->dtype == dtype && key != "result") {
      const OperandPtr& there = beside->instance.operands.at(key);
      if (there->bytes() == bytes && beside->problem.number(key + "_misaligned") == misaligned) return there;
    }
    return gpu->operand(room, key, kind, bytes, misaligned);
  };
  instance = make_instance(gpu->ctx.get(), problem, tool::Place::as_given, {{"result", "device"}}, memory);
  x = instance.operands.at("x")->get();
  y = instance.operands.count("y") > 0 ? instance.operands.at("y")->get() : x;
  n = instance.operands.at("x")->bytes() / kDtypeBytes[dtype];
  kPlain[dtype](*this);
}

const Expected& Reduction::expected(gpumem_reduce_op op) const {
  if (op == GPUMEM_MIN || op == GPUMEM_ARG_MIN) return min;
  if (op == GPUMEM_MAX || op == GPUMEM_ARG_MAX) return max;
  if (op == GPUMEM_SUM_SQUARES || op == GPUMEM_DOT) return products;
  if (op == GPUMEM_NRM2) return norm;
  if (op == GPUMEM_SUM_CUBES) return cubes;
  if (op == GPUMEM_SUM || op == GPUMEM_SUM_COMPENSATED) return sum;
  throw std::invalid_argument("no reference of this operation");
}

std::vector<Answer> Reduction::answers() const {
  const gpumem_reduce_op op = problem.op();
  std::vector<Answer> all = {{result(), result_type(dtype), expected(op)}};
  if (op == GPUMEM_ARG_MIN || op == GPUMEM_ARG_MAX) {
    all.push_back({static_cast<char*>(result()) + 16, GPUMEM_I64, op == GPUMEM_ARG_MIN ? argmin : argmax});
  }
  return all;
}

std::string reduce_line(const std::string& op, gpumem_dtype dtype, int64_t n) {
  return std::string("reduce dtype=") + kDtypes[dtype] + " op=" + op + " n=" + std::to_string(n) + " x=device" +
         (op == "dot" ? " y=device" : "");
}

Side scalar_side(const GpuPtr& gpu, std::function<void()> enqueue, std::vector<Answer> answers, const Gated& how) {
  const auto poison = [answers] {
    for (const Answer& a : answers) check_cuda(cudaMemset(a.at, kSpoiled, bytes_of(a.type, 1)));
  };
  const auto verify = [answers]() -> std::string {
    for (const Answer& a : answers) {
      unsigned char result[8];
      check_cuda(cudaMemcpy(result, a.at, bytes_of(a.type, 1), cudaMemcpyDeviceToHost));
      const std::string complaint = a.expected.compare(result, a.type);
      if (!complaint.empty()) return complaint;
    }
    return "";
  };
  return {gpu->device_time(std::move(enqueue), how), poison, verify};
}

Side reduce_side(const ReductionPtr& r, const Gated& how) {
  return scalar_side(
      r->gpu, [r] { check(r->enqueue()); }, r->answers(), how);
}

void add_scalar(std::vector<Case>& cases, const GpuPtr& gpu, const Scalar& row, const OpenScalar& open) {
  Case c{.family = row.family,
         .name = {},
         .peer = row.peer_name,
         .bar = row.bar,
         .bytes = static_cast<double>(counted_bytes(Problem(row.line))),
         .quick = row.quick,
         .device_timed = true,
         .open = {}};
  c.effort = c.bytes <= kShortCase ? kShortEffort : 1;
  const bool cacheable = c.bytes <= 4.0 * static_cast<double>(kCacheableElements);
  for (const bool cold : {false, true}) {
    if (cold && !cacheable) continue;
    c.name = row.name + (cacheable ? (cold ? "/cold" : "/warm") : "");
    c.ceiling = !cacheable || cold ? Ceiling::read : Ceiling::none;
    c.open = [gpu, line = row.line, open, cold] {
      return open(std::make_shared<Reduction>(gpu, line), gpu->one_stream(cold, false));
    };
    cases.push_back(c);
  }
}

}  // namespace bench
