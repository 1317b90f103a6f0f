#include "problems/contents.hpp"

#include "failure.hpp"
#include "problems/problem.hpp"

namespace tool {

Contents values(gpumem_dtype dtype, uint64_t seed, uint64_t limit) {
  return {.kind = Contents::Kind::values,
          .bytes = static_cast<int>(kDtypeBytes[dtype]),
          .dtype = dtype,
          .seed = seed,
          .limit = limit};
}

Contents values_for(gpumem_reduce_op op, gpumem_dtype dtype, uint64_t seed) {
  return values(dtype, seed, op == GPUMEM_SUM_SQUARES || op == GPUMEM_SUM_CUBES ? 100 : 0);
}

Contents some_rows(gpumem_dtype type, int64_t rows) {
  if (rows == 0)
    throw Failure("line: src_rows is 0; expected a row for the index to name");  // the message of gpumem_tune()
  return {
      .kind = Contents::Kind::rows, .bytes = static_cast<int>(kDtypeBytes[type]), .count = static_cast<uint64_t>(rows)};
}

Contents half_mask() { return {.kind = Contents::Kind::mask, .bytes = 1}; }

Contents even_offsets(int64_t n, int64_t segments) {
  return {.kind = Contents::Kind::offsets,
          .bytes = 8,
          .count = static_cast<uint64_t>(n),
          .parts = static_cast<uint64_t>(segments)};
}

}  // namespace tool
