// Sums of floating-point elements with few of them in a bin.
#pragma once

#include "kernels/launch.hpp"
#include "kernels/reduce_by_index/reduce_by_index.hpp"

namespace gpumem {

struct BucketSums {
  gpumem_dtype dtype = GPUMEM_F32;
  const void* x = nullptr;
  bool wide = false;  // a number of the index has 8 bytes
  const void* index = nullptr;
  uint32_t n = 0;
  uint64_t limit = 0;  // of the index
  uint32_t bins = 0;
  ByIndexHead* head = nullptr;
  uint32_t* counts = nullptr;   // of the elements of each bin; zeros at first
  uint32_t* numbers = nullptr;  // of an element within its bin
  uint32_t* offsets = nullptr;  // of the bins in `places`
  uint32_t* places = nullptr;   // of the elements in x, by bins
  uint32_t* many = nullptr;     // bins with more than kFewOfBin elements
  uint32_t* huge = nullptr;     // bins with more than kManyOfBin
  double* result = nullptr;
  int64_t grid = 1;  // blocks with a tile of the index each
};

namespace kernels {

// Nothing is written to the result if an index is bad.
LaunchResult sum_buckets(const BucketSums& sums, const ByIndexBuckets& at, const Launch& launch);

}  // namespace kernels
}  // namespace gpumem
