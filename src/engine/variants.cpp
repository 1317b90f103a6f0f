#include "engine/variants.hpp"

#include <bit>
#include <cstring>

#include "engine/error.hpp"
#include "engine/select.hpp"

namespace gpumem {
namespace {

template <class Family>
constexpr FamilyNames names_of() noexcept {
  return {Family::name, []() noexcept { return static_cast<int32_t>(Family::table().size()); },
          [](int32_t row) noexcept { return Family::table()[row].name; }};
}

constexpr FamilyNames kFamilyNames[kFamilies] = {names_of<ReduceFamily>(), names_of<TransposeFamily>(),
                                                 names_of<FillFamily>(), names_of<ReduceAxisFamily>(),
                                                 names_of<ReduceSegmentsFamily>()};

int32_t floor_log2(int64_t n) noexcept { return n <= 0 ? 0 : 63 - std::countl_zero(static_cast<uint64_t>(n)); }

}  // namespace

const FamilyNames& family_names(gpumem_family family) {
  if (family < 1 || family > kFamilies) {
    fail(GPUMEM_INVALID_ARGUMENT, "family is %d; expected a GPUMEM_FAMILY_* value (1 to %d)", family, kFamilies);
  }
  return kFamilyNames[family_index(family)];
}

int32_t find_variant(const FamilyNames& family, const char* name) noexcept {
  for (int32_t row = 0; row < family.count(); ++row) {
    if (std::strcmp(family.variant(row), name) == 0) return row;
  }
  return -1;
}

int32_t size_class(const ReduceProblem& problem) noexcept { return floor_log2(problem.n); }
// Products of extents fit int64_t: the plan has checked them.
int32_t size_class(const TransposeProblem& problem) noexcept { return floor_log2(problem.rows * problem.cols); }
int32_t size_class(const FillProblem& problem) noexcept { return floor_log2(problem.bytes); }
int32_t size_class(const ReduceAxisProblem& problem) noexcept {
  return floor_log2(problem.batches * problem.rows * problem.cols);
}
int32_t size_class(const ReduceSegmentsProblem& problem) noexcept { return floor_log2(problem.n); }

}  // namespace gpumem
