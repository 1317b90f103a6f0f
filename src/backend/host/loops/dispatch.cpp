#include <cstring>

#if defined(GPUMEM_HAS_WIDE_LOOPS)
#include <cpuid.h>
#endif

#include "backend/host/loops/loops.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr Loops kBase = {"base",
                         loops_base::integers,
                         loops_base::floats,
                         loops_base::ranges,
                         loops_base::moves,
                         loops_base::float_lines,
                         loops_base::word_lines,
                         loops_base::axpby,
                         loops_base::resizes};
#if defined(GPUMEM_HAS_WIDE_LOOPS)
constexpr Loops kAvx2 = {"avx2",
                         loops_avx2::integers,
                         loops_avx2::floats,
                         loops_avx2::ranges,
                         loops_avx2::moves,
                         loops_avx2::float_lines,
                         loops_avx2::word_lines,
                         loops_avx2::axpby,
                         loops_avx2::resizes};
constexpr Loops kAvx512 = {"avx512",
                           loops_avx512::integers,
                           loops_avx512::floats,
                           loops_avx512::ranges,
                           loops_avx512::moves,
                           loops_avx512::float_lines,
                           loops_avx512::word_lines,
                           loops_avx512::axpby,
                           loops_avx512::resizes};
#endif

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

}  // namespace

ReduceLoop Loops::reduce(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept {
  const bool floating = is_floating(dtype);
  switch (op) {
    case GPUMEM_SUM:
      return floating ? floats.sum[dtype - GPUMEM_F16] : integers.sum[dtype];
    case GPUMEM_SUM_ABS:
      return floating ? floats.sum_abs[dtype - GPUMEM_F16] : integers.sum_abs[dtype];
    case GPUMEM_SUM_SQUARES:
      return floating ? floats.sum_squares[dtype - GPUMEM_F16] : integers.sum_squares[dtype];
    case GPUMEM_SUM_CUBES:
      return floating ? floats.sum_cubes[dtype - GPUMEM_F16] : integers.sum_cubes[dtype];
    case GPUMEM_SUM_COMPENSATED:
      return floats.sum_compensated;
    case GPUMEM_DOT:
      return floats.dot[dtype - GPUMEM_F32];
    case GPUMEM_NRM2:
      return dtype == GPUMEM_F64 ? floats.norm : floats.sum_squares[dtype - GPUMEM_F16];
    case GPUMEM_ARG_MIN:
      return ranges.first_minimum[dtype];
    case GPUMEM_ARG_MAX:
      return ranges.first_maximum[dtype];
    default:
      return ranges.range[dtype];
  }
}

LineLoop Loops::lines(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept {
  const bool floating = is_floating(dtype);
  switch (op) {
    case GPUMEM_SUM:
      return floating ? float_lines.sum[dtype - GPUMEM_F16] : word_lines.sum[dtype];
    case GPUMEM_SUM_ABS:
      return floating ? float_lines.sum_abs[dtype - GPUMEM_F16] : word_lines.sum_abs[dtype];
    case GPUMEM_SUM_SQUARES:
      return floating ? float_lines.sum_squares[dtype - GPUMEM_F16] : word_lines.sum_squares[dtype];
    case GPUMEM_SUM_CUBES:
      return floating ? float_lines.sum_cubes[dtype - GPUMEM_F16] : word_lines.sum_cubes[dtype];
    case GPUMEM_SUM_COMPENSATED:
      return float_lines.sum_compensated;
    default:
      return word_lines.range[dtype];
  }
}

const Loops& host_loops(const char* limit) {
  int level = widest_of_processor();
  if (limit != nullptr && limit[0] != '\0') {
    const int allowed = level_of(limit);
    level = allowed < level ? allowed : level;
  }
#if defined(GPUMEM_HAS_WIDE_LOOPS)
  if (level == 2) return kAvx512;
  if (level == 1) return kAvx2;
#endif
  static_cast<void>(level);
  return kBase;
}

}  // namespace gpumem
