// z = a0 x0 + a1 x1 + ..., and z = x0 x1, over views. Factors are looked at as bits alone, as those of axpby are.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "kernels/elements.hpp"
#include "ops/placed.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

constexpr std::array kNames = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]", "x[5]", "x[6]", "x[7]"};
constexpr std::array kBytesOf = {"bytes of x[0]", "bytes of x[1]", "bytes of x[2]", "bytes of x[3]",
                                 "bytes of x[4]", "bytes of x[5]", "bytes of x[6]", "bytes of x[7]"};

// The sources of a product have names of their own.
const char* name_of(const ArithmeticParams& c, int32_t k) noexcept {
  if (c.op == Arithmetic::multiply) return k == 0 ? "x" : "y";
  return kNames[static_cast<size_t>(k)];
}

const char* bytes_of(const ArithmeticParams& c, int32_t k) noexcept {
  if (c.op == Arithmetic::multiply) return k == 0 ? "bytes of x" : "bytes of y";
  return kBytesOf[static_cast<size_t>(k)];
}
const char* strides_of(const ArithmeticParams& c, int32_t k) noexcept {
  return c.op == Arithmetic::multiply && k == 1 ? "y_strides" : "x_strides";
}

// As far as the call can be read at all: what the record keeps of it.
ArithmeticParams readable(const ArithmeticCall& call) noexcept {
  ArithmeticParams c{.op = call.op, .dtype = call.dtype, .z = call.z};
  if (call.rank >= 0 && call.rank <= kMaxViewRank && (call.rank == 0 || call.extents != nullptr)) {
    c.rank = call.rank;
    std::copy_n(call.extents, c.rank, c.extents);
  }
  int64_t tight = 1;
  for (int32_t d = c.rank - 1; d >= 0; --d) {
    c.z_strides[d] = call.z_strides != nullptr ? call.z_strides[d] : tight;
    if (__builtin_mul_overflow(tight, c.extents[d], &tight)) tight = INT64_MAX;
  }
  if (call.x == nullptr || call.terms < 1 || call.terms > kMaxTerms) return c;
  c.terms = call.terms;
  for (int32_t k = 0; k < c.terms; ++k) {
    c.x[k] = call.x[k];
    c.factors[k] = 1;
    if (call.factors != nullptr) {
      c.factors[k] = 0;
      const auto bytes = static_cast<size_t>(element_bytes(c.dtype));
      std::memcpy(&c.factors[k], static_cast<const char*>(call.factors) + static_cast<size_t>(k) * bytes, bytes);
    }
    std::copy_n(call.x_strides[k] != nullptr ? call.x_strides[k] : c.z_strides, c.rank, c.x_strides[k]);
  }
  return c;
}

void check_call(const ArithmeticCall& call) {
  check_extents(call.rank, call.extents, kMaxViewRank);
  if (call.terms < 1 || call.terms > kMaxTerms) {
    fail(GPUMEM_INVALID_ARGUMENT, "terms is %d; expected 1 to %d", call.terms, kMaxTerms);
  }
  if (call.x == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "x is NULL; expected the addresses of %d operands", call.terms);
  if (call.factors == nullptr && call.op == Arithmetic::lincomb) {
    fail(GPUMEM_INVALID_ARGUMENT, "factors is NULL; expected %d of them", call.terms);
  }
}

// A line gives any numbers.
void check(const ArithmeticParams& c) {
  if (c.dtype != GPUMEM_F32 && c.dtype != GPUMEM_F64) {
    fail(GPUMEM_UNSUPPORTED, "dtype is %d; expected GPUMEM_F32 (%d) or GPUMEM_F64 (%d)", c.dtype, GPUMEM_F32,
         GPUMEM_F64);
  }
  check_extents(c.rank, c.extents, kMaxViewRank);
  if (c.terms < 1 || c.terms > kMaxTerms) {
    fail(GPUMEM_INVALID_ARGUMENT, "terms is %d; expected 1 to %d", c.terms, kMaxTerms);
  }
  check_strides("z_strides", c.z_strides, c.rank);
  for (int32_t k = 0; k < c.terms; ++k) {
    check_strides(strides_of(c, k), c.x_strides[k], c.rank, c.op == Arithmetic::lincomb ? k * c.rank : 0);
  }
}

StridedSide side_of_x(const ArithmeticParams& c, int32_t k) noexcept {
  return {strides_of(c, k), bytes_of(c, k), c.rank, c.extents, c.x_strides[k]};
}

// Whether source k is z itself, element by element.
bool is_z(const ArithmeticParams& c, int32_t k) noexcept {
  if (c.x[k] != c.z) return false;
  for (int32_t d = 0; d < c.rank; ++d) {
    if (c.extents[d] > 1 && c.x_strides[k][d] != c.z_strides[d]) return false;
  }
  return true;
}

// A source that is read, by the place it has in the plan.
struct Source {
  ByteRange range{};
  Operand lies{};
  bool staged = false;  // lies on the other side than z
};

struct Planned {
  Plan<ArithmeticFamily> plan;
  std::array<Source, kMaxTerms> sources{};
};

void keep_axis(const ArithmeticParams& from, int32_t d, ArithmeticParams& to) noexcept {
  to.extents[to.rank] = from.extents[d];
  to.z_strides[to.rank] = from.z_strides[d];
  for (int32_t k = 0; k < to.terms; ++k) to.x_strides[k][to.rank] = from.x_strides[k][d];
  ++to.rank;
}

// Whether axis d goes on where the last one of `c` ends, on every side.
bool continues(const ArithmeticParams& from, int32_t d, const ArithmeticParams& c) noexcept {
  const int32_t last = c.rank - 1;
  const auto on = [&](const int64_t* outer, const int64_t* inner) {
    int64_t reach = 0;
    return !__builtin_mul_overflow(from.extents[d], inner[d], &reach) && outer[last] == reach;
  };
  bool all = on(c.z_strides, from.z_strides);
  for (int32_t k = 0; k < c.terms; ++k) all = all && on(c.x_strides[k], from.x_strides[k]);
  return all;
}

// The same elements in the fewest axes, those with the longest strides in z first.
void fuse(ArithmeticParams& c) noexcept {
  const ArithmeticParams from = c;
  const AxesInOrder order = in_order_of(from.z_strides, from.rank);
  c.rank = 0;
  for (int32_t i = from.rank - 1; i >= 0; --i) {
    const int32_t d = order.axis[i];
    if (from.extents[d] == 1) continue;
    if (c.rank > 0 && continues(from, d, c)) {
      const int64_t outer = c.extents[--c.rank];
      keep_axis(from, d, c);
      c.extents[c.rank - 1] *= outer;
    } else {
      keep_axis(from, d, c);
    }
  }
  if (c.rank > 0) return;
  c.rank = 1;
  c.extents[0] = c.z_strides[0] = 1;
  for (int32_t k = 0; k < c.terms; ++k) c.x_strides[k][0] = 1;
}

Source look_up_source(Planner& planner, const ArithmeticParams& c, int32_t k, const ByteRange& z,
                      const Operand& z_lies) {
  const StridedSide side = side_of_x(c, k);
  const int64_t element = element_bytes(c.dtype);
  Source source{{name_of(c, k), c.x[k], reach_bytes(side, element), gap_in(side, element)}};
  source.lies = planner.look_up_here(source.range, Access::read);
  if (!is_z(c, k)) require_disjoint(z, source.range);
  source.staged = planner.on_cuda() && source.lies.on_host() != z_lies.on_host();
  return source;
}

Planned plan_with_sources(Planner& planner, const ArithmeticParams& call, Until until) {
  check(call);
  Planned planned;
  Plan<ArithmeticFamily>& plan = planned.plan;
  plan.empty = std::find(call.extents, call.extents + call.rank, 0) != call.extents + call.rank;
  if (plan.empty) return planned;
  const StridedSide z_side{"z_strides", "bytes of z", call.rank, call.extents, call.z_strides};
  const int64_t element = element_bytes(call.dtype);
  const ByteRange z{"z", call.z, reach_bytes(z_side, element), gap_in(z_side, element)};
  check_distinct(z_side);
  const Operand z_lies = planner.look_up_here(z, Access::write);
  ArithmeticParams& c = plan.params = call;
  c.terms = 0;
  bool reads_z = false;
  bool staged = false;
  for (int32_t k = 0; k < call.terms; ++k) {
    if (is_zero(c.dtype, call.factors[k])) continue;
    const Source source = look_up_source(planner, call, k, z, z_lies);
    if (source.staged && until == Until::enqueued) fail_on_two_sides(source.range.argument, source.lies, "z", z_lies);
    staged = staged || source.staged;
    reads_z = reads_z || is_z(call, k);
    planned.sources[static_cast<size_t>(c.terms)] = source;
    c.x[c.terms] = source.staged ? scratch_to_come() : call.x[k];
    c.factors[c.terms] = call.factors[k];
    std::copy_n(call.x_strides[k], kMaxViewRank, c.x_strides[c.terms++]);
  }
  plan.placement = place_beside_z(planner.on_cuda(), z_lies, staged);
  for (int32_t k = 0; k < c.terms; ++k) {
    if (c.x[k] != call.z) plan.placement.uses(planned.sources[static_cast<size_t>(k)].lies);
  }
  // What lies in gaps of z has to stay.
  if (!reads_z && z.bytes == call.elements() * element) plan.placement.overwrites(call.z);
  fuse(c);
  plan.decision = decide<ArithmeticFamily>(planner, plan.placement.runs, c);
  return planned;
}

// Brings what lies elsewhere next to z. Views of one array overlap: each run of bytes is brought once.
void bring(Context& context, Planned& planned, std::array<std::optional<Scratch>, kMaxTerms>& rooms) {
  ArithmeticParams& c = planned.plan.params;
  std::array<bool, kMaxTerms> brought{};
  for (size_t k = 0; k < static_cast<size_t>(c.terms); ++k) {
    if (!planned.sources[k].staged || brought[k]) continue;
    auto begin = reinterpret_cast<uintptr_t>(planned.sources[k].range.p);
    auto end = begin + static_cast<uintptr_t>(planned.sources[k].range.bytes);
    const auto overlaps = [&](const Source& source) {
      const auto p = reinterpret_cast<uintptr_t>(source.range.p);
      return source.staged && p < end && begin < p + static_cast<uintptr_t>(source.range.bytes);
    };
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t j = 0; j < static_cast<size_t>(c.terms); ++j) {
        if (brought[j] || !overlaps(planned.sources[j])) continue;
        const auto p = reinterpret_cast<uintptr_t>(planned.sources[j].range.p);
        begin = std::min(begin, p);
        end = std::max(end, p + static_cast<uintptr_t>(planned.sources[j].range.bytes));
        brought[j] = grown = true;
      }
    }
    stage(context, rooms[k], planned.plan.placement.runs, reinterpret_cast<const void*>(begin),
          static_cast<int64_t>(end - begin), planned.sources[k].lies.host_side());
    for (size_t j = k; j < static_cast<size_t>(c.terms); ++j) {
      const auto p = reinterpret_cast<uintptr_t>(planned.sources[j].range.p);
      if (planned.sources[j].staged && p >= begin && p < end)
        c.x[j] = static_cast<char*>(rooms[k]->get()) + (p - begin);
    }
  }
}

}  // namespace

Plan<ArithmeticFamily> plan(Planner& planner, const ArithmeticParams& call, Until until) {
  return plan_with_sources(planner, call, until).plan;
}

void arithmetic(Context& context, const ArithmeticCall& call, NativeStream stream, Until until) {
  const ArithmeticParams params = readable(call);
  CallPlanner planner(context, params, until);
  check_call(call);
  Planned planned = plan_with_sources(planner, params, until);
  if (planned.plan.empty) return;
  const char* what = call.op == Arithmetic::lincomb ? "this linear combination" : "this product";
  if (until == Until::complete) require_not_capturing(context, stream, what);
  std::array<std::optional<Scratch>, kMaxTerms> rooms;
  bring(context, planned, rooms);
  launch_placed(context, planned.plan, stream, until, what);
}

}  // namespace gpumem
