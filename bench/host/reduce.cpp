// gpumem_reduce_i32 on the host backend against plain OpenMP loops.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr int kMaxLog2 = 26;
constexpr int64_t kMaxElements = int64_t{1} << kMaxLog2;
constexpr uint32_t kCubeLimit = 4000;  // 4000^3 * 2^26 < 2^63: even a plain 64-bit sum of cubes is exact
constexpr int64_t kPoisoned = 0x5A5A5A5A5A5A5A5A;

struct Ints {
  HostBuffer memory{kMaxElements * sizeof(int32_t)};
  uint32_t limit = 1;

  explicit Ints(uint32_t limit_wanted) : limit(limit_wanted) {
    auto* x = memory.as<int32_t>();
#pragma omp parallel for
    for (int64_t i = 0; i < kMaxElements; ++i) x[i] = random_i32(static_cast<uint64_t>(i), limit);
  }
  const int32_t* x() const { return memory.as<const int32_t>(); }
};

// The input of the last case is kept: most cases want the same.
std::shared_ptr<const Ints> ints(uint32_t limit) {
  static std::shared_ptr<const Ints> last;
  if (!last || last->limit != limit) {
    last.reset();
    last = std::make_shared<const Ints>(limit);
  }
  return last;
}

using Loop = int64_t (*)(const int32_t*, int64_t);

struct Op {
  gpumem_reduce_op op;
  const char* name;
  uint32_t limit;
  Loop loop;
  const char* loop_name;
  Loop exact_loop;  // the peer with 128-bit sums, where 64 bits are not enough for every input
};

constexpr Op kOps[] = {
    {GPUMEM_SUM, "sum", 0, openmp::sum, "OpenMP int64", nullptr},
    {GPUMEM_MIN, "min", 0, openmp::min, "OpenMP int32", nullptr},
    {GPUMEM_MAX, "max", 0, openmp::max, "OpenMP int32", nullptr},
    {GPUMEM_SUM_ABS, "sum_abs", 0, openmp::sum_abs, "OpenMP int64", nullptr},
    {GPUMEM_MAX_ABS, "max_abs", 0, openmp::max_abs, "OpenMP int32", nullptr},
    {GPUMEM_SUM_SQUARES, "sum_squares", kCubeLimit, openmp::sum_squares, "OpenMP int64", openmp::sum_squares_exact},
    {GPUMEM_SUM_CUBES, "sum_cubes", kCubeLimit, openmp::sum_cubes, "OpenMP int64", openmp::sum_cubes_exact},
};

// One element after the other, in 64 bits (which the inputs allow): independent of both sides.
int64_t reference(gpumem_reduce_op op, const int32_t* x, int64_t n) {
  int64_t sum = 0, low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min(), widest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t v = x[i];
    low = std::min(low, v);
    high = std::max(high, v);
    widest = std::max(widest, std::abs(v));
    switch (op) {
      case GPUMEM_SUM:
        sum += v;
        break;
      case GPUMEM_SUM_ABS:
        sum += std::abs(v);
        break;
      case GPUMEM_SUM_SQUARES:
        sum += v * v;
        break;
      case GPUMEM_SUM_CUBES:
        sum += v * v * v;
        break;
      default:
        break;
    }
  }
  if (op == GPUMEM_MIN) return low;
  if (op == GPUMEM_MAX) return high;
  return op == GPUMEM_MAX_ABS ? widest : sum;
}

Side scalar_side(std::function<void(int64_t*)> call, int64_t expected) {
  auto result = std::make_shared<int64_t>(kPoisoned);
  Side side;
  side.sample = host_sampler([call = std::move(call), result] { call(result.get()); }, kHostClock);
  side.poison = [result] { *result = kPoisoned; };
  side.verify = [result, expected]() -> std::string {
    if (*result == expected) return "";
    return "got " + std::to_string(*result) + ", expected " + std::to_string(expected);
  };
  return side;
}

Pair open_reduce(const Context& ctx, const Op& op, Loop peer, int64_t n) {
  const auto data = ints(op.limit);
  const int64_t expected = reference(op.op, data->x(), n);
  Pair pair;
  pair.ours = scalar_side(
      [ctx, data, n, kind = op.op](int64_t* out) { check(gpumem_reduce_i32(ctx.get(), kind, data->x(), n, 1, out)); },
      expected);
  pair.peer = scalar_side([data, n, peer](int64_t* out) { *out = peer(data->x(), n); }, expected);
  return pair;
}

Case reduce_case(const Context& ctx, const Op& op, Loop peer, const char* peer_name, int log2) {
  const int64_t n = int64_t{1} << log2;
  Case c;
  c.family = "reduce_i32";
  c.name = std::string(op.name) + "/" + power_name(log2);
  c.peer = peer_name;
  c.bytes = 4.0 * static_cast<double>(n);
  if (log2 == kMaxLog2) c.ceiling = Ceiling::read;
  c.quick = op.op == GPUMEM_SUM;
  c.open = [ctx, op, peer, n] { return open_reduce(ctx, op, peer, n); };
  return c;
}

Case ladder_case(const Context& ctx, const std::string& variant) {
  Case c = reduce_case(ctx, kOps[0], kOps[0].loop, kOps[0].loop_name, kMaxLog2);
  c.family = "ladder";
  c.name = "reduce_i32/" + c.name + "/" + variant;
  c.quick = false;
  c.open = [ctx, variant, open = std::move(c.open)] {
    return with_variant(ctx, GPUMEM_FAMILY_REDUCE, variant, open(), [ctx] {
      int64_t out = 0;
      return gpumem_reduce_i32(ctx.get(), GPUMEM_SUM, ints(0)->x(), kMaxElements, 1, &out);
    });
  };
  return c;
}

}  // namespace

void add_host_reduce(std::vector<Case>& cases, const Context& ctx) {
  for (const Op& op : kOps) {
    cases.push_back(reduce_case(ctx, op, op.loop, op.loop_name, kMaxLog2));
    if (op.op == GPUMEM_SUM) cases.back().bar = at_least(0.90);
    if (op.exact_loop) cases.push_back(reduce_case(ctx, op, op.exact_loop, "OpenMP int128", kMaxLog2));
  }
  for (const int log2 : {10, 14, 18, 22})
    cases.push_back(reduce_case(ctx, kOps[0], kOps[0].loop, kOps[0].loop_name, log2));
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_REDUCE)) cases.push_back(ladder_case(ctx, variant));
}

}  // namespace bench
