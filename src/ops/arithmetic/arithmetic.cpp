// z = a0 x0 + a1 x1 + ..., and z = x0 x1, over views. Factors are compared as bits only, as in axpby.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "kernels/elements.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/plan.hpp"
#include "ops/sources.hpp"
#include "ops/staging.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

// "x[0]", "x[1]", ...
template <size_t kBytes>
struct IndexedNames {
  char of[kMaxTerms][kBytes + 4] = {};

  constexpr explicit IndexedNames(const char (&base)[kBytes]) noexcept {
    for (int32_t k = 0; k < kMaxTerms; ++k) {
      char* to = std::copy_n(base, kBytes - 1, of[k]);
      *to++ = '[';
      if (k > 9) *to++ = '1';
      *to++ = static_cast<char>('0' + k % 10);
      *to = ']';
    }
  }
};
constexpr IndexedNames kNames("x");
constexpr IndexedNames kBytesOf("bytes of x");
constexpr IndexedNames kW("w");
constexpr IndexedNames kBytesOfW("bytes of w");
constexpr IndexedNames kNumerators("numerators");
constexpr IndexedNames kDenominators("denominators");

const char* name_of(const ArithmeticParams& c, int32_t k) noexcept {
  if (c.op == Arithmetic::multiply) return k == 0 ? "x" : "y";
  return kNames.of[k];
}

const char* bytes_of(const ArithmeticParams& c, int32_t k) noexcept {
  if (c.op == Arithmetic::multiply) return k == 0 ? "bytes of x" : "bytes of y";
  return kBytesOf.of[k];
}
const char* strides_of(const ArithmeticParams& c, int32_t k) noexcept {
  return c.op == Arithmetic::multiply && k == 1 ? "y_strides" : "x_strides";
}

void read_dots(const ArithmeticCall& call, ArithmeticParams& c) noexcept {
  if (call.dots < 1 || call.dots > kMaxDots) return;
  c.dots = call.dots;
  c.results = call.results;
  for (int32_t k = 0; k < c.dots; ++k) {
    const bool is_z = call.w == nullptr || call.w[k] == nullptr;
    c.w[k] = is_z ? c.z : call.w[k];
    std::copy_n(is_z || call.w_strides[k] == nullptr ? c.z_strides : call.w_strides[k], c.rank, c.w_strides[k]);
  }
}

// Sets parameters that have their default values. They are large, so they are not copied.
void read_call(const ArithmeticCall& call, ArithmeticParams& c) noexcept {
  c.op = call.op;
  c.dtype = call.dtype;
  c.z = call.z;
  c.in_memory = call.in_memory;
  if (call.rank >= 0 && call.rank <= kMaxViewRank && (call.rank == 0 || call.extents != nullptr)) {
    c.rank = call.rank;
    std::copy_n(call.extents, c.rank, c.extents);
  }
  read_strides(call.z_strides, c.extents, c.rank, c.z_strides);
  if (call.x == nullptr || call.terms < 1 || call.terms > kMaxTerms) return;
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
    if (call.numerators != nullptr) c.numerators[k] = call.numerators[k];
    if (call.denominators != nullptr) c.denominators[k] = call.denominators[k];
    if (c.numerators[k] != nullptr || c.denominators[k] != nullptr) c.in_memory |= 1u << k;
  }
  read_dots(call, c);
}

void check_counts(int32_t rank, const int64_t* extents, int32_t terms) {
  check_extents(rank, extents, kMaxViewRank);
  if (terms < 1 || terms > kMaxTerms) {
    fail(GPUMEM_INVALID_ARGUMENT, "terms is %d; expected 1 to %d", terms, kMaxTerms);
  }
}

[[noreturn]] void fail_dots(int32_t dots) {
  fail(GPUMEM_INVALID_ARGUMENT, "dots is %d; expected 1 to %d", dots, kMaxDots);
}

void check_call(const ArithmeticCall& call) {
  check_counts(call.rank, call.extents, call.terms);
  if (call.x == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "x is NULL; expected the addresses of %d operands", call.terms);
  if (call.factors == nullptr && call.op == Arithmetic::lincomb) {
    fail(GPUMEM_INVALID_ARGUMENT, "factors is NULL; expected %d of them", call.terms);
  }
  if (call.has_dots && (call.dots < 1 || call.dots > kMaxDots)) fail_dots(call.dots);
}

void check(const ArithmeticParams& c) {
  require_f32_or_f64(c.dtype);
  check_counts(c.rank, c.extents, c.terms);
  check_strides("z_strides", c.z_strides, c.rank);
  for (int32_t k = 0; k < c.terms; ++k) {
    check_strides(strides_of(c, k), c.x_strides[k], c.rank, c.op == Arithmetic::lincomb ? k * c.rank : 0);
  }
  if (c.dots < 0 || c.dots > kMaxDots) fail_dots(c.dots);
  for (int32_t k = 0; k < c.dots; ++k) check_strides("w_strides", c.w_strides[k], c.rank, k * c.rank);
}

bool is_z(const ArithmeticParams& c, const void* p, const int64_t* strides) noexcept {
  return p == c.z && same_places(c.rank, c.extents, strides, c.z_strides);
}

Output results_of(const ArithmeticParams& c, Completion completion) noexcept {
  return {"results", c.results, int64_t{8} * c.dots, completion == Completion::blocking ? 1 : int64_t{8}};
}

// For the results: descriptors have none.
void require_apart(const ArithmeticParams& c, const ByteRange& operand) {
  if (c.dots > 0 && c.results != nullptr) require_disjoint({"results", c.results, int64_t{8} * c.dots}, operand);
}

// z itself is no operand that has to be brought.
void add_dots(Sources& sources, ArithmeticParams& c) {
  for (int32_t k = 0; k < c.dots; ++k) {
    if (is_z(c, c.w[k], c.w_strides[k])) continue;
    const StridedSide side{"w_strides", kBytesOfW.of[k], c.rank, c.extents, c.w_strides[k]};
    const ByteRange w = range_of_view(kW.of[k], c.w[k], side, element_bytes(c.dtype));
    c.w[k] = sources.add(w, false);
    require_apart(c, w);
  }
}

// number_of: a kept term in the call.
void add_numbers(Sources& sources, ArithmeticParams& c, const int32_t (&number_of)[kMaxTerms]) {
  const auto add = [&](const char* name, const double*& p) {
    if (p == nullptr) return;
    require_apart(c, {name, p, sizeof *p});
    p = sources.add_number(name, p);
  };
  for (int32_t k = 0; k < c.terms; ++k) {
    add(kNumerators.of[number_of[k]], c.numerators[k]);
    add(kDenominators.of[number_of[k]], c.denominators[k]);
  }
}

// The parameters of the plan are those of the call. They are large, so they are not copied.
void make_plan(SourcedPlan<ArithmeticFamily>& planned, Planner& planner, Completion completion) {
  Plan<ArithmeticFamily>& plan = planned.plan;
  ArithmeticParams& c = plan.params;
  check(c);
  plan.empty = std::find(c.extents, c.extents + c.rank, 0) != c.extents + c.rank;
  if (plan.empty) return;
  const StridedSide z_side{"z_strides", "bytes of z", c.rank, c.extents, c.z_strides};
  const int64_t element = element_bytes(c.dtype);
  const ByteRange z = range_of_view("z", c.z, z_side, element);
  check_distinct(z_side);
  require_apart(c, z);
  Sources& sources = planned.sources.emplace(planner, z, element, completion);
  const int32_t given = c.terms;
  int32_t number_of[kMaxTerms] = {};
  c.terms = 0;
  for (int32_t k = 0; k < given; ++k) {
    const bool in_memory = c.has_factor_in_memory(k);
    if (is_zero(c.dtype, c.factors[k]) && !in_memory) continue;
    const StridedSide side{strides_of(c, k), bytes_of(c, k), c.rank, c.extents, c.x_strides[k]};
    const ByteRange x = range_of_view(name_of(c, k), c.x[k], side, element);
    const int32_t to = c.terms++;
    c.x[to] = sources.add(x, is_z(c, c.x[k], c.x_strides[k]));
    require_apart(c, x);
    c.factors[to] = c.factors[k];
    c.in_memory = (c.in_memory & ~(1u << to)) | (in_memory ? 1u << to : 0);
    c.numerators[to] = c.numerators[k];
    c.denominators[to] = c.denominators[k];
    std::copy_n(c.x_strides[k], kMaxViewRank, c.x_strides[to]);
    number_of[to] = k;
  }
  add_dots(sources, c);
  add_numbers(sources, c, number_of);
  c.in_memory &= (1u << c.terms) - 1;
  plan.placement = sources.place();
  // Padding of z has to keep its contents.
  if (!sources.read_z() && z.bytes == c.elements() * element) plan.placement.overwrites(c.z);
  fuse_views(c.rank, c.extents, c.z_strides, std::span(c.x_strides).first(static_cast<size_t>(c.terms)),
             std::span(c.w_strides).first(static_cast<size_t>(c.dots)));
  plan.selection = decide<ArithmeticFamily>(planner, plan.placement.space, c);
}

// The addresses of the operands next to z.
void set_operands(ArithmeticParams& c, const Sources& sources, const Sources::Brought& brought) {
  std::copy_n(brought.at.data(), c.terms, c.x);
  auto at = static_cast<size_t>(c.terms);
  for (int32_t k = 0; k < c.dots; ++k) {
    if (c.w[k] != c.z) c.w[k] = brought.at[at++];
  }
  size_t number = 0;
  for (int32_t k = 0; k < c.terms; ++k) {
    if (c.numerators[k] != nullptr) c.numerators[k] = sources.number(brought, number++);
    if (c.denominators[k] != nullptr) c.denominators[k] = sources.number(brought, number++);
  }
}

// As launch_placed(), with results. Not inlined, because its frame would add to that of other calls.
[[gnu::noinline]] void launch_dots(Context& context, Plan<ArithmeticFamily>& plan, const Output& results,
                                   NativeStream stream, Completion completion, const char* what) {
  if (completion == Completion::blocking) {
    const BlockingResult made(context, plan.placement.space);
    plan.params.results = static_cast<double*>(made.get());
    launch_placed(context, plan, stream, completion, what);
    const auto values = made.value<std::array<double, kMaxDots>>();
    return store(context, results, values.data());
  }
  launch_bounced(context, plan, stream, {what, "a linear combination of host memory", "an enqueued linear combination"},
                 false, [&results](ArithmeticParams& params, BounceBuffers& buffers) -> gpumem_status* {
                   params.results = static_cast<double*>(buffers.room_for(results));
                   return nullptr;
                 });
}

}  // namespace

Plan<ArithmeticFamily> plan(Planner& planner, const ArithmeticParams& call, Completion completion) {
  SourcedPlan<ArithmeticFamily> planned;
  planned.plan.params = call;
  make_plan(planned, planner, completion);
  return planned.plan;
}

void arithmetic(Context& context, const ArithmeticCall& call, NativeStream stream, Completion completion) {
  SourcedPlan<ArithmeticFamily> planned;
  ArithmeticParams& c = planned.plan.params;
  read_call(call, c);
  CallPlanner planner(context, c, completion);
  check_call(call);
  make_plan(planned, planner, completion);
  Output results[] = {results_of(c, completion)};
  check_outputs(context, results, {}, completion);
  const char* what = call.op == Arithmetic::lincomb ? "this linear combination" : "this product";
  if (completion == Completion::blocking && (!planned.plan.empty || c.dots > 0)) {
    require_not_capturing(context, stream, what);
  }
  if (planned.plan.empty) return write_empty_values(context, results, stream, completion);
  Sources::Brought brought;
  planned.sources->bring(context, planned.plan.placement.space, brought);
  set_operands(c, *planned.sources, brought);
  if (c.dots > 0) return launch_dots(context, planned.plan, results[0], stream, completion, what);
  launch_placed(context, planned.plan, stream, completion, what);
}

}  // namespace gpumem
