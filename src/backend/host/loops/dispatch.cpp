#include <cstring>

#if defined(GPUMEM_HAS_WIDE_LOOPS)
#include <cpuid.h>
#endif

#include "backend/host/loops/loops.hpp"
#include "base/error.hpp"
#include "kernels/nodes.hpp"

namespace gpumem {
namespace {

constexpr const char* kNames[] = {"base", "avx2", "avx512"};

#if defined(GPUMEM_HAS_WIDE_LOOPS)
// Not every compiler's __builtin_cpu_supports() knows f16c.
bool has_f16c() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

int widest_of_processor() noexcept {
#if defined(GPUMEM_HAS_WIDE_LOOPS)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && has_f16c();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && avx512) return 2;
  if (avx2) return 1;
#endif
  return 0;
}

int level_of(const char* name) {
  for (int level = 0; level < 3; ++level) {
    if (std::strcmp(kNames[level], name) == 0) return level;
  }
  fail(GPUMEM_INVALID_ARGUMENT, "the environment's GPUMEM_HOST_SIMD is '%.32s'; expected base, avx2 or avx512", name);
}

template <class Loop>
Loop range_of(const RangeLoopsOf<Loop>& ranges, gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  if (!skips_nan(op)) return ranges.range[dtype];
  return (is_minimum(op) ? ranges.valid_minimum : ranges.valid_maximum)[dtype];
}

template <class Loop>
Loop search_of(const RangeLoopsOf<Loop>& ranges, gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  switch (extreme_of(op)) {
    case Extreme::lowest:
      return (skips_nan(op) ? ranges.first_valid_minimum : ranges.first_minimum)[dtype];
    case Extreme::highest:
      return (skips_nan(op) ? ranges.first_valid_maximum : ranges.first_maximum)[dtype];
    case Extreme::largest:
      return ranges.first_largest[dtype];
    case Extreme::both:
      break;
  }
  __builtin_unreachable();
}

}  // namespace

ReduceLoop Loops::reduce(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept {
  switch (node_kind(dtype, op)) {
    case NodeKind::integer:
    case NodeKind::integer_product:
      return integers[dtype][addend_of(op)];
    case NodeKind::range:
      return range_of(ranges, dtype, op);
    case NodeKind::arg:
      return search_of(ranges, dtype, op);
    case NodeKind::order_free:
      return order_free[dtype][addend_of(op)];
    case NodeKind::sum:
    case NodeKind::product:
      if (addend_of(op) == Addend::present) return ranges.valid_count[dtype];
      return floats.by_addend[dtype][addend_of(op)];
    case NodeKind::compensated:
      return floats.sum_compensated;
    case NodeKind::norm:
      return floats.norm;
  }
  __builtin_unreachable();
}

LineLoop Loops::lines(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept {
  switch (node_kind(dtype, op)) {
    case NodeKind::integer:
    case NodeKind::integer_product:
      return word_lines.by_addend[dtype][addend_of(op)];
    case NodeKind::range:
      return range_of(word_lines.ranges, dtype, op);
    case NodeKind::arg:
      return search_of(word_lines.ranges, dtype, op);
    case NodeKind::sum:
    case NodeKind::product:
      if (addend_of(op) == Addend::present) return word_lines.ranges.valid_count[dtype];
      return float_lines.by_addend[dtype][addend_of(op)];
    case NodeKind::compensated:
      return float_lines.sum_compensated;
    case NodeKind::norm:
    case NodeKind::order_free:
      break;
  }
  __builtin_unreachable();
}

const Loops& host_loops(const char* limit) {
  int level = widest_of_processor();
  if (limit != nullptr && limit[0] != '\0') {
    const int allowed = level_of(limit);
    level = allowed < level ? allowed : level;
  }
#if defined(GPUMEM_HAS_WIDE_LOOPS)
  if (level == 2) return loops_avx512::loops;
  if (level == 1) return loops_avx2::loops;
#endif
  static_cast<void>(level);
  return loops_base::loops;
}

}  // namespace gpumem
