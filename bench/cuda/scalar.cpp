#include "cuda/scalar.hpp"

#include <cmath>
#include <utility>

#include "cuda/reduce_reference.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr double kShortCase = 8.0 * (1 << 20);  // bytes; such a case has more samples
constexpr int kShortEffort = 3;

// A number of T by the sum that a reference keeps.
template <class T>
Expected expected(typename Reference<T>::Sum value, double scale) {
  if constexpr (std::is_floating_point_v<T>) return {0, value, scale};
  return {static_cast<int64_t>(value), 0, 0};
}

template <class T>
Expected exactly(T value) {
  if constexpr (std::is_floating_point_v<T>) return {0, value, 0};
  return {static_cast<int64_t>(value), 0, 0};
}

template <class T>
Input make_input_of(gpumem_dtype dtype, void* x_memory, void* y_memory, int64_t n, uint32_t limit) {
  auto* x = static_cast<T*>(x_memory);
  auto* y = y_memory ? static_cast<T*>(y_memory) : x;
  generate_values(x, n, 0, limit);
  if (y != x) generate_values(y, n, static_cast<uint64_t>(n), limit);
  const Reference<T> r = reference_reduce(x, y, n);
  const auto count = static_cast<double>(n);  // the magnitude of floating-point elements is at least 1
  const double norm = std::sqrt(static_cast<double>(r.products));
  return {dtype,
          x,
          y,
          n,
          expected<T>(r.sum, count),
          expected<T>(r.products, count),
          {0, norm, norm},
          expected<T>(r.cubes, count),
          exactly(r.min),
          exactly(r.max),
          {r.argmin, 0, 0},
          {r.argmax, 0, 0}};
}

}  // namespace

Input make_input(gpumem_dtype dtype, void* x, void* y, int64_t n, uint32_t limit) {
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_I8:
      return make_input_of<int8_t>(dtype, x, y, n, limit);
    case GPUMEM_U8:
      return make_input_of<uint8_t>(dtype, x, y, n, limit);
    case GPUMEM_I32:
      return make_input_of<int32_t>(dtype, x, y, n, limit);
    case GPUMEM_I64:
      return make_input_of<int64_t>(dtype, x, y, n, limit);
    case GPUMEM_F32:
      return make_input_of<float>(dtype, x, y, n, limit);
    case GPUMEM_F64:
      return make_input_of<double>(dtype, x, y, n, limit);
    case GPUMEM_I16:
    case GPUMEM_U16:
    case GPUMEM_U32:
    case GPUMEM_U64:
    case GPUMEM_F16:
    case GPUMEM_BF16:
      break;
  }
  throw std::invalid_argument("no inputs of type " + dtype_name(dtype));
}

Gated on_one_stream(const Gpu& gpu, bool cold) {
  Gated how;
  how.cold = cold;
  how.batch = false;
  how.stream = gpu.peer_stream.get();
  return how;
}

Side scalar_side(const GpuPtr& gpu, std::function<void()> enqueue, std::vector<Answer> answers, Gated how) {
  const auto poison = [answers] {
    for (const Answer& a : answers) check_cuda(cudaMemset(a.at, kPoison, bytes_of(a.type, 1)));
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

gpumem_status enqueue_reduce(const Gpu& gpu, const Input& in, gpumem_reduce_op op) {
  return gpumem_reduce_async(gpu.ctx.get(), in.dtype, op, in.x, in.n, 1, gpu.result(0), nullptr, gpu.shared_stream);
}

Side reduce_side(const GpuPtr& gpu, const Input& in, gpumem_reduce_op op, const Expected& expected, Gated how) {
  return scalar_side(
      gpu, [gpu, in, op] { check(enqueue_reduce(*gpu, in, op)); }, {{gpu->result(0), result_type(in.dtype), expected}},
      how);
}

Case scalar_case(std::string family, std::string name, const std::string& peer, double bytes, bool cold) {
  const bool cacheable = may_lie_in_l2(bytes);
  Case c;
  c.family = std::move(family);
  c.name = std::move(name) + (cacheable ? (cold ? "/cold" : "/warm") : "");
  c.peer = peer;
  c.bytes = bytes;
  c.device_timed = true;
  if (!cacheable || cold) c.ceiling = Ceiling::read;
  if (bytes <= kShortCase) c.effort = kShortEffort;
  return c;
}

}  // namespace bench
