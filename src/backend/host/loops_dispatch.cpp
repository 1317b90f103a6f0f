#include <cstring>

#include "backend/host/loops.hpp"
#include "engine/error.hpp"

namespace gpumem {
namespace {

constexpr const char* kNames[] = {"base", "avx2", "avx512"};

int widest_of_processor() noexcept {
#if defined(GPUMEM_HAS_WIDE_LOOPS)
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) return 2;
  if (__builtin_cpu_supports("avx2")) return 1;
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

const Loops& host_loops(const char* limit) {
  int level = widest_of_processor();
  if (limit != nullptr && limit[0] != '\0') {
    const int allowed = level_of(limit);
    level = allowed < level ? allowed : level;
  }
#if defined(GPUMEM_HAS_WIDE_LOOPS)
  if (level == 2) return kLoopsAvx512;
  if (level == 1) return kLoopsAvx2;
#endif
  static_cast<void>(level);
  return kLoopsBase;
}

}  // namespace gpumem
