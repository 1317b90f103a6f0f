// Sums of sorted rows of floating-point elements.
#pragma once

#include "kernels/division.hpp"
#include "kernels/launch.hpp"
#include "kernels/reduce_by_index/reduce_by_index.hpp"

namespace gpumem {

// A bin with more rows is summed by several blocks, by 1024 rows each.
constexpr int64_t kRowsOfThread = 512;
constexpr int64_t most_row_blocks(int64_t rows) noexcept { return rows / kLeafTerms + rows / kRowsOfThread + 1; }

// The rows of a bin from 1024 * number on. The blocks of a bin are neighbours.
struct RowBlock {
  int64_t bin;
  int64_t number;
};
struct RowSums {
  gpumem_dtype dtype = GPUMEM_F32;
  const void* x = nullptr;
  int64_t cols = 1;
  int64_t ld = 1;
  int64_t bins = 0;
  Divisor<uint64_t> by_cols{};
  const uint32_t* rows = nullptr;    // by bins
  const int64_t* offsets = nullptr;  // of the bins in them
  ByIndexHead* head = nullptr;
  RowBlock* blocks = nullptr;  // of bins with many rows
  double* sums = nullptr;      // of each block, `cols`
  double* result = nullptr;
};

namespace kernels {

// Nothing is written if an index is bad.
LaunchResult sum_rows(const RowSums& sums, Stream stream);

}  // namespace kernels
}  // namespace gpumem
