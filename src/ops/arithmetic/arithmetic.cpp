// z = a0 x0 + a1 x1 + ..., and z = x0 x1, over views. Factors are compared as bits only, as in axpby.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "kernels/elements.hpp"
#include "ops/plan.hpp"
#include "ops/sources.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

constexpr std::array kNames = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]", "x[5]", "x[6]", "x[7]"};
constexpr std::array kBytesOf = {"bytes of x[0]", "bytes of x[1]", "bytes of x[2]", "bytes of x[3]",
                                 "bytes of x[4]", "bytes of x[5]", "bytes of x[6]", "bytes of x[7]"};

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

void check_counts(int32_t rank, const int64_t* extents, int32_t terms) {
  check_extents(rank, extents, kMaxViewRank);
  if (terms < 1 || terms > kMaxTerms) {
    fail(GPUMEM_INVALID_ARGUMENT, "terms is %d; expected 1 to %d", terms, kMaxTerms);
  }
}

void check_call(const ArithmeticCall& call) {
  check_counts(call.rank, call.extents, call.terms);
  if (call.x == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "x is NULL; expected the addresses of %d operands", call.terms);
  if (call.factors == nullptr && call.op == Arithmetic::lincomb) {
    fail(GPUMEM_INVALID_ARGUMENT, "factors is NULL; expected %d of them", call.terms);
  }
}

void check(const ArithmeticParams& c) {
  require_f32_or_f64(c.dtype);
  check_counts(c.rank, c.extents, c.terms);
  check_strides("z_strides", c.z_strides, c.rank);
  for (int32_t k = 0; k < c.terms; ++k) {
    check_strides(strides_of(c, k), c.x_strides[k], c.rank, c.op == Arithmetic::lincomb ? k * c.rank : 0);
  }
}

bool is_z(const ArithmeticParams& c, int32_t k) noexcept {
  if (c.x[k] != c.z) return false;
  for (int32_t d = 0; d < c.rank; ++d) {
    if (c.extents[d] > 1 && c.x_strides[k][d] != c.z_strides[d]) return false;
  }
  return true;
}

// The same elements in the fewest axes, the longest stride in z first.
void fuse(ArithmeticParams& c) noexcept {
  const ArithmeticParams from = c;
  const int64_t* sides[1 + kMaxTerms] = {from.z_strides};
  for (int32_t k = 0; k < c.terms; ++k) sides[1 + k] = from.x_strides[k];
  const FusedAxes fused = fused_axes(from.rank, from.extents, std::span(sides).first(static_cast<size_t>(c.terms) + 1));
  c.rank = std::max(fused.rank, 1);
  c.extents[0] = c.z_strides[0] = 1;  // for a single element
  for (int32_t k = 0; k < c.terms; ++k) c.x_strides[k][0] = 1;
  for (int32_t i = 0; i < fused.rank; ++i) {
    const int32_t d = fused.rank - 1 - i;
    c.extents[d] = fused.extent[i];
    c.z_strides[d] = from.z_strides[fused.axis[i]];
    for (int32_t k = 0; k < c.terms; ++k) c.x_strides[k][d] = from.x_strides[k][fused.axis[i]];
  }
}

SourcedPlan<ArithmeticFamily> plan_with_sources(Planner& planner, const ArithmeticParams& call, Completion completion) {
  check(call);
  SourcedPlan<ArithmeticFamily> planned;
  Plan<ArithmeticFamily>& plan = planned.plan;
  plan.empty = std::find(call.extents, call.extents + call.rank, 0) != call.extents + call.rank;
  if (plan.empty) return planned;
  const StridedSide z_side{"z_strides", "bytes of z", call.rank, call.extents, call.z_strides};
  const int64_t element = element_bytes(call.dtype);
  const ByteRange z = range_of_view("z", call.z, z_side, element);
  check_distinct(z_side);
  Sources& sources = planned.sources.emplace(planner, z, element, completion);
  ArithmeticParams& c = plan.params = call;
  c.terms = 0;
  for (int32_t k = 0; k < call.terms; ++k) {
    if (is_zero(c.dtype, call.factors[k])) continue;
    const StridedSide side{strides_of(call, k), bytes_of(call, k), call.rank, call.extents, call.x_strides[k]};
    const ByteRange x = range_of_view(name_of(call, k), call.x[k], side, element);
    c.x[c.terms] = sources.add(x, is_z(call, k));
    c.factors[c.terms] = call.factors[k];
    std::copy_n(call.x_strides[k], kMaxViewRank, c.x_strides[c.terms++]);
  }
  plan.placement = sources.place();
  // Padding of z has to keep its contents.
  if (!sources.read_z() && z.bytes == call.elements() * element) plan.placement.overwrites(call.z);
  fuse(c);
  plan.selection = decide<ArithmeticFamily>(planner, plan.placement.space, c);
  return planned;
}

}  // namespace

Plan<ArithmeticFamily> plan(Planner& planner, const ArithmeticParams& call, Completion completion) {
  return plan_with_sources(planner, call, completion).plan;
}

void arithmetic(Context& context, const ArithmeticCall& call, NativeStream stream, Completion completion) {
  const ArithmeticParams params = readable(call);
  CallPlanner planner(context, params, completion);
  check_call(call);
  SourcedPlan<ArithmeticFamily> planned = plan_with_sources(planner, params, completion);
  if (planned.plan.empty) return;
  const char* what = call.op == Arithmetic::lincomb ? "this linear combination" : "this product";
  if (completion == Completion::blocking) require_not_capturing(context, stream, what);
  Sources::Brought brought;
  planned.sources->bring(context, planned.plan.placement.space, brought);
  std::copy_n(brought.at.data(), planned.plan.params.terms, planned.plan.params.x);
  launch_placed(context, planned.plan, stream, completion, what);
}

}  // namespace gpumem
