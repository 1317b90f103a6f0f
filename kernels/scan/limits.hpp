// Sizes that the plans and kernels of scans agree on. Plain C++.
#pragma once

#include <cstdint>

#include "kernels/alignment.hpp"
#include "kernels/elements.hpp"
#include "kernels/order.hpp"
#include "kernels/scan/params.hpp"

namespace gpumem {

constexpr gpumem_dtype wide_type(gpumem_dtype dtype) noexcept {
  return is_floating(dtype) ? GPUMEM_F64 : is_signed_integer(dtype) ? GPUMEM_I64 : GPUMEM_U64;
}

// Sums and products of floating-point elements, which depend on the order of the operations.
constexpr bool is_ordered(const ScanParams& p) noexcept {
  return is_floating(p.dtype) && (p.op == GPUMEM_SUM || p.op == GPUMEM_PROD);
}
// Sums and products of integers.
constexpr bool can_overflow(const ScanParams& p) noexcept {
  return !is_floating(p.dtype) && (p.op == GPUMEM_SUM || p.op == GPUMEM_PROD);
}

// Both kernels: the start of the workspace is ScanCounters, and all of it is set to ones before the launch.
struct alignas(16) ScanCounters {
  uint32_t ticket;  // the last tile that a block has taken; the next one is ticket + 1
  uint32_t done;    // the number of finished tiles - 1
  uint32_t fits;    // 0 if a value did not fit
};

// Ordered scans. A warp has a block of kLeafTerms elements.
constexpr int kScanWarps = 8;
constexpr int64_t kScanLeafTile = int64_t{kScanWarps} * kLeafTerms;
// The sums of aligned groups of 32^k tiles are published: one word each, for k < kScanHops.
constexpr int kScanHops = 7;
constexpr int64_t scan_nodes(int64_t tiles, int hop) noexcept { return (tiles >> 5 * hop) + 1; }

// Other scans. A thread has `rows` vectors of 16 bytes of the result. The first tile begins up to a vector before the
// result, so that vectors are aligned.
constexpr int kScanThreads = 256;
constexpr int scan_vector(gpumem_dtype result_type) noexcept { return 16 / element_bytes(result_type); }
constexpr int scan_rows(gpumem_dtype result_type) noexcept { return scan_vector(result_type) >= 8 ? 4 : 8; }
constexpr int64_t scan_tile(gpumem_dtype result_type) noexcept {
  return int64_t{kScanThreads} * scan_rows(result_type) * scan_vector(result_type);
}
inline int scan_shift(const void* result, gpumem_dtype result_type) noexcept {
  return misalignment(result) / element_bytes(result_type);
}
// The state of a tile: the halves of its word, each with a tag in its upper half.
struct alignas(16) ScanState {
  uint64_t low;
  uint64_t high;
};

}  // namespace gpumem
