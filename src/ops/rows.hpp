// Matrices of rows of bytes, with an index or a mask of rows: what gathers, scatters and selections share.
#pragma once

#include "ops/plan.hpp"

namespace gpumem {

// Throw INVALID_ARGUMENT.
void require_index_type(const char* argument, gpumem_dtype index_type);
void require_pitch(const char* argument, int64_t pitch, int64_t rows, int64_t row_bytes);

// Throws OUT_OF_RANGE if there is a bad index. name: the argument that is the number of rows.
void require_rows(const BadIndex& bad, gpumem_dtype index_type, const char* name, int64_t count);

// From the first byte of a matrix to the end of its last row. Empty without rows.
ByteRange range_of_rows(const char* argument, const void* p, int64_t rows, int64_t pitch, int64_t row_bytes,
                        const char* what);

// Ranges without bytes are absent. At least one of them has bytes.
struct RowRanges {
  ByteRange src;
  ByteRange index;
  ByteRange dst;
};

// The work runs next to dst, or next to src without a dst, or next to the index. Looks up every operand. Throws
// INVALID_ARGUMENT if dst overlaps another one, and UNSUPPORTED if an asynchronous call would have to move an operand.
Placement place_rows(Planner& planner, const RowRanges& ranges, Completion completion);

}  // namespace gpumem
