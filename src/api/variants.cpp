// Variants and explain.
#include "api/guard.hpp"
#include "ops/explain.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

// What a caller's older, shorter struct leaves out is what _init would have set.
constexpr gpumem_problem default_problem() noexcept {
  gpumem_problem problem{};
  problem.dtype = GPUMEM_I32;
  problem.src_stride = 1;
  problem.src2_stride = 1;
  problem.batches = 1;
  return problem;
}
constexpr gpumem_problem kDefaultProblem = default_problem();

gpumem_problem checked(const gpumem_problem* given) {
  const gpumem_problem problem = read_struct(given, kDefaultProblem, "problem");
  return problem;
}

}  // namespace

gpumem_status gpumem_variant_count(gpumem_family family, int32_t* count) {
  return guard([&] {
    require(count, "count");
    *count = family_names(family).count();
  });
}

gpumem_status gpumem_variant_name(gpumem_family family, int32_t index, const char** name) {
  return guard([&] {
    require(name, "name");
    const FamilyNames& names = family_names(family);
    if (index < 0) fail(GPUMEM_INVALID_ARGUMENT, "index is %d; expected 0 or more", index);
    if (index >= names.count()) {
      fail(GPUMEM_NOT_FOUND, "index is %d; expected less than %d, the variants of %s", index, names.count(),
           names.name);
    }
    *name = names.variant(index);
  });
}

gpumem_status gpumem_variant_force(gpumem_ctx* ctx, gpumem_family family, const char* name) {
  return guard([&] {
    Context& context = resolve(ctx);
    const FamilyNames& names = family_names(family);
    if (name == nullptr) return context.force(family, {});
    const int32_t row = find_variant(names, name);
    if (row < 0) fail(GPUMEM_NOT_FOUND, "name is '%.64s'; expected a variant of the family %s", name, names.name);
    context.force(family, {row, ChosenBy::program});
  });
}

gpumem_status gpumem_problem_init(gpumem_problem* problem, int64_t size) {
  return guard([&] { init_struct(problem, size, kDefaultProblem, "problem"); });
}

gpumem_status gpumem_explain(gpumem_ctx* ctx, const gpumem_problem* problem, gpumem_format format, char* buf,
                             int64_t cap, int64_t* needed) {
  return with_context(
      ctx, [&](Context& context) { write_text(explain(context, checked(problem), format), buf, cap, needed); });
}
