#include <cstring>

#if defined(GPUMEM_HAS_WIDE_LOOPS)
#include <cpuid.h>
#endif

#include "backend/host/loops/loops.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr const char* kNames[] = {"base", "avx2", "avx512"};

#if defined(GPUMEM_HAS_WIDE_LOOPS)
// Not every compiler's __builtin_cpu_supports() knows it.
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

bool is_sum(gpumem_reduce_op op) noexcept {
  return op == GPUMEM_SUM || op == GPUMEM_SUM_ABS || op == GPUMEM_SUM_SQUARES || op == GPUMEM_SUM_CUBES;
}

template <class Loop>
Loop sum_of(const SumLoops<Loop>& sums, gpumem_reduce_op op) noexcept {
  return op == GPUMEM_SUM           ? sums.sum
         : op == GPUMEM_SUM_ABS     ? sums.sum_abs
         : op == GPUMEM_SUM_SQUARES ? sums.sum_squares
                                    : sums.sum_cubes;
}

}  // namespace

ReduceLoop Loops::reduce(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept {
  switch (op) {
    case GPUMEM_SUM_COMPENSATED:
      return floats.sum_compensated;
    case GPUMEM_DOT:
      return dtype == GPUMEM_F64 ? floats.dot_f64 : floats.dot_f32;
    case GPUMEM_NRM2:
      return dtype == GPUMEM_F64 ? floats.norm : floats.sums[dtype].sum_squares;
    case GPUMEM_ARG_MIN:
      return ranges.first_minimum[dtype];
    case GPUMEM_ARG_MAX:
      return ranges.first_maximum[dtype];
    case GPUMEM_ARG_MAX_ABS:
      return ranges.first_largest[dtype];
    default:
      return is_sum(op) ? sum_of(is_floating(dtype) ? floats.sums[dtype] : integers[dtype], op) : ranges.range[dtype];
  }
}

LineLoop Loops::lines(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept {
  if (op == GPUMEM_SUM_COMPENSATED) return float_lines.sum_compensated;
  if (!is_sum(op)) return word_lines.range[dtype];
  return sum_of(is_floating(dtype) ? float_lines.sums[dtype] : word_lines.sums[dtype], op);
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
