#include "api/guard.hpp"
#include "ops/operations.hpp"
#include "ops/problem_line.hpp"

using namespace gpumem;
using namespace gpumem::api;

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
    if (row < 0)
      fail(GPUMEM_NOT_FOUND, "name is '%.64s'; expected a variant of %s, as gpumem_variant_name() lists them", name,
           names.name);
    context.force(family, {row, ChosenBy::program});
  });
}

gpumem_status gpumem_explain(gpumem_ctx* ctx, const char* line, gpumem_format format, char* buf, int64_t cap,
                             int64_t* needed) {
  return with_context(ctx, [&](Context& context) {
    require(line, "line");
    write_text(explain(context, line, format), buf, cap, needed);
  });
}

gpumem_status gpumem_last_problem(char* buf, int64_t cap, int64_t* needed) {
  return guard([&] { write_text(line_of(last_call()), buf, cap, needed); });
}
