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

void reduce_plainly_by_type(Reduction& r) {
  switch (static_cast<decltype(GPUMEM_I8)>(r.dtype)) {
    case GPUMEM_I8:
      return reduce_plainly<int8_t>(r);
    case GPUMEM_U8:
      return reduce_plainly<uint8_t>(r);
    case GPUMEM_I32:
      return reduce_plainly<int32_t>(r);
    case GPUMEM_I64:
      return reduce_plainly<int64_t>(r);
    case GPUMEM_F32:
      return reduce_plainly<float>(r);
    case GPUMEM_F64:
      return reduce_plainly<double>(r);
    case GPUMEM_I16:
    case GPUMEM_U16:
    case GPUMEM_U32:
    case GPUMEM_U64:
    case GPUMEM_F16:
    case GPUMEM_BF16:
      break;
  }
  throw std::invalid_argument(std::string("no reference of type ") + kDtypes[r.dtype]);
}

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
  reduce_plainly_by_type(*this);
}

const Expected& Reduction::expected(gpumem_reduce_op op) const {
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_MIN:
    case GPUMEM_ARG_MIN:
      return min;
    case GPUMEM_MAX:
    case GPUMEM_ARG_MAX:
      return max;
    case GPUMEM_SUM_SQUARES:
    case GPUMEM_DOT:
      return products;
    case GPUMEM_NRM2:
      return norm;
    case GPUMEM_SUM_CUBES:
      return cubes;
    case GPUMEM_SUM:
    case GPUMEM_SUM_COMPENSATED:
      return sum;
    case GPUMEM_SUM_ABS:
    case GPUMEM_MAX_ABS:
    case GPUMEM_MIN_MAX:
    case GPUMEM_ARG_MAX_ABS:
      break;
  }
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
  Case c;
  c.family = row.family;
  c.peer = row.peer_name;
  c.bar = row.bar;
  c.quick = row.quick;
  c.bytes = static_cast<double>(counted_bytes(Problem(row.line)));
  c.device_timed = true;
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
