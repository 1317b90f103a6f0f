// Random numbers in host memory, and what their reductions give.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <memory>

#include "host/host_cases.hpp"
#include "support/expected.hpp"

namespace bench {

struct Numbers {
  gpumem_dtype dtype;
  uint32_t limit;
  HostBuffer x, y;

  Numbers(gpumem_dtype type, int64_t n, uint32_t limit, bool second);
};

// The numbers of the last case are kept: most cases want the same. `second`: y too.
std::shared_ptr<const Numbers> numbers(gpumem_dtype dtype, int64_t n, uint32_t limit, bool second);

// What op gives for the first n of them, by a plain loop over one element after the other in 128-bit integers or long double:
// independent of both sides. GPUMEM_MIN_MAX and the GPUMEM_ARG_* have a second value.
struct Reduced {
  Expected value, second;
};
Reduced reference_reduce(const Numbers& numbers, gpumem_reduce_op op, int64_t n);

}  // namespace bench
