#include "ops/reduce/reduce_lines.hpp"

#include "base/checked.hpp"
#include "base/names.hpp"
#include "kernels/values.hpp"

namespace gpumem {

int64_t result_bytes(gpumem_reduce_op op, int64_t lines) {
  return checked_mul(lines, int64_t{8} * value_words(op), "bytes of result");
}

void require_values(gpumem_status found, gpumem_dtype dtype, gpumem_reduce_op op, const char* lines) {
  switch (found) {
    case GPUMEM_OK:
      return;
    case GPUMEM_EMPTY:
      fail(GPUMEM_EMPTY,
           "some of the %s are empty and have no %s (their results are 0); expected at least one element each", lines,
           op_name(op));
    case GPUMEM_OVERFLOW:
      fail(GPUMEM_OVERFLOW, "the %s of some of the %s does not fit (their results are 0); expected values that fit %s",
           op_name(op), lines, result_type_name(dtype));
    case GPUMEM_OUT_OF_RANGE:
      fail(GPUMEM_OUT_OF_RANGE,
           "offsets leave 0 to n or fall (the results of those %s are 0); expected numbers from 0 to n, none less than "
           "the one before it",
           lines);
    default:
      fail(found, "a reduction of %s ended with status %d", lines, found);
  }
}

}  // namespace gpumem
