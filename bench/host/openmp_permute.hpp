// The host backend's peer in permuting axes: tiles over the two fastest axes, the others in an outer loop. Compiled with
// -O3 -march=native.
#pragma once

#include <cstdint>

namespace bench::openmp {

// Row-major extents of src; axis d of dst is axis order[d] of src. rank is at most 5.
void permute(const uint32_t* src, uint32_t* dst, int rank, const int64_t* extents, const int32_t* order);

}  // namespace bench::openmp
