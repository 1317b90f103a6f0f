// The transpose table. Tiles go through fast memory, so that both the reads and the writes run along rows.
#include <algorithm>

#include "base/checked.hpp"
#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/transpose/chunks.hpp"
#include "kernels/transpose/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr const char* kInPlace = "it needs dst apart from src, and this is in place";
constexpr const char* kApart = "it works in place, and dst is apart from src";

const char* accepts_apart(const DeviceProps&, const TransposeParams& p) noexcept {
  return p.in_place() ? kInPlace : nullptr;
}

const char* accepts_square(const DeviceProps&, const TransposeParams& p) noexcept {
  if (!p.in_place()) return kApart;
  return p.rows == p.cols ? nullptr : "it needs a square matrix";
}

const char* accepts_square_words(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_square(d, p)) return reason;
  if (p.element_bytes < 4) return "it needs elements of 4, 8 or 16 bytes";
  if (misalignment(p.dst) != 0) return "it needs dst aligned to 16 bytes";
  if (p.dst_ld * p.element_bytes % 16 != 0) return "it needs rows of dst that start at multiples of 16 bytes";
  if (p.dst_batch_stride * p.element_bytes % 16 != 0) return "it needs dst_batch_stride to be a multiple of 16 bytes";
  return nullptr;
}

const char* accepts_rectangle(const DeviceProps&, const TransposeParams& p) noexcept {
  if (!p.in_place()) return kApart;
  return p.rows != p.cols ? nullptr : "it needs a matrix that is not square";
}

const char* accepts_in_place_shared(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_rectangle(d, p)) return reason;
  const bool fits = p.rows * p.cols <= d.shared_bytes_per_block / kTransposeLine * kTransposeLine / p.element_bytes;
  return fits ? nullptr : "it needs a matrix that fits into a block's shared memory";
}

const char* accepts_host_buffer(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_rectangle(d, p)) return reason;
  const bool fits = p.rows * p.cols <= kTransposeScratchBytes / p.element_bytes;
  return fits ? nullptr : "it needs a matrix of at most 32 MiB";
}

const char* accepts_aligned(const DeviceProps&, const TransposeParams& p) noexcept {
  if (p.in_place()) return kInPlace;
  if (!aligned(p.src, p.element_bytes)) return "it needs src aligned to its elements";
  if (!aligned(p.dst, p.element_bytes)) return "it needs dst aligned to its elements";
  return nullptr;
}

bool without_gaps(const TransposeParams& p) noexcept {
  return p.dst_ld == p.rows && (p.batches == 1 || p.dst_batch_stride == p.rows * p.cols);
}

// A block then writes where it has read, and nowhere else.
const char* accepts_in_place_chunks(const DeviceProps&, const TransposeParams& p) noexcept {
  if (!p.in_place()) return kApart;
  if (!aligned(p.dst, p.element_bytes)) return "it needs dst aligned to its elements";
  if (p.rows * p.cols > kSmallMatrixBytes / p.element_bytes) return "it needs matrices of at most 16 KiB";
  return without_gaps(p) ? nullptr : "it needs matrices without gaps, and none between them";
}

const char* accepts_in_place_c2r(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_rectangle(d, p)) return reason;
  const bool fits = transpose_shared_bytes(std::max(p.rows, p.cols), p.element_bytes) <= d.shared_bytes_per_block &&
                    c2r_columns_log2(std::min(p.rows, p.cols), p.element_bytes, d.shared_bytes_per_block) >= 0;
  return fits ? nullptr : "it needs a row and some columns that fit into a block's shared memory";
}

// The way there; memory of the pool is aligned to any element.
TransposeParams to_scratch(TransposeParams p) noexcept {
  p.dst = nullptr;
  return p;
}

const char* accepts_in_place_scratch(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_rectangle(d, p)) return reason;
  if (!aligned(p.dst, p.element_bytes)) return "it needs dst aligned to its elements";
  if (p.elements() > kTransposeScratchBytes / p.element_bytes) return "it needs matrices of at most 32 MiB in all";
  if (!without_gaps(p)) return "it needs matrices without gaps, and none between them";
  return way_apart(p) != WayApart::bytes || chunk_plan(to_scratch(p)).fits
             ? nullptr
             : "it needs matrices of which a tile fits into 64 KiB of shared memory";
}

const char* accepts_batched_scalar(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_aligned(d, p)) return reason;
  return p.rows * p.cols <= kBatchedScalarElements ? nullptr : "it needs matrices of at most 1024 elements";
}
const char* yields_to_words(const DeviceProps&, const TransposeParams& p) noexcept {
  return p.batches > 1 && !without_gaps(p) ? nullptr : "words of 16 bytes are faster where dst has no gaps";
}

const char* accepts_chunks(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_aligned(d, p)) return reason;
  return chunk_plan(p).fits ? nullptr : "it needs matrices of which a tile fits into 64 KiB of shared memory";
}

const char* accepts_aos_soa(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (std::min(p.rows, p.cols) > kAosSoaWidth) return "it needs at most 32 rows or at most 32 columns";
  return accepts_aligned(d, p);
}

const char* accepts_host_small(const DeviceProps&, const TransposeParams& p) noexcept {
  if (p.in_place()) return kInPlace;
  return p.rows * p.cols <= kHostSmallMatrix / p.element_bytes ? nullptr : "it needs matrices of at most 8 KiB";
}

const char* accepts_host_aos_soa(const DeviceProps&, const TransposeParams& p) noexcept {
  if (p.in_place()) return kInPlace;
  return std::min(p.rows, p.cols) <= kHostAosSoaWidth ? nullptr : "it needs at most 16 rows or at most 16 columns";
}

// Small matrices would leave most of its tiles empty.
const char* accepts_realigned(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (p.element_bytes != 4 && p.element_bytes != 8) return "it needs elements of 4 or 8 bytes";
  if (p.rows < kTransposePaddedTile || p.cols < kTransposePaddedTile) return "it needs 32 rows and 32 columns or more";
  return accepts_aligned(d, p);
}

const char* accepts_vec16(const DeviceProps&, const TransposeParams& p) noexcept {
  if (p.in_place()) return kInPlace;
  if (misalignment(p.src) != 0) return "it needs src aligned to 16 bytes";
  if (misalignment(p.dst) != 0) return "it needs dst aligned to 16 bytes";
  if (p.src_ld * p.element_bytes % 16 != 0) return "it needs rows of src that start at multiples of 16 bytes";
  if (p.dst_ld * p.element_bytes % 16 != 0) return "it needs rows of dst that start at multiples of 16 bytes";
  if (p.src_batch_stride * p.element_bytes % 16 != 0) return "it needs src_batch_stride to be a multiple of 16 bytes";
  if (p.dst_batch_stride * p.element_bytes % 16 != 0) return "it needs dst_batch_stride to be a multiple of 16 bytes";
  return nullptr;
}

const char* accepts_byte_perm(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (p.element_bytes > 2) return "it needs elements of 1 or 2 bytes";
  return accepts_vec16(d, p);
}

// Small matrices would leave most of a tile empty, and small elements of rows that begin anywhere have no other way by 16 bytes.
const char* yields_to_tiles(const DeviceProps& d, const TransposeParams& p) noexcept {
  const bool small = p.batches > 1 && p.rows * p.cols <= kSmallMatrixBytes / p.element_bytes;
  const bool narrow = std::min(p.rows, p.cols) <= kAosSoaWidth;
  if (small || (p.element_bytes <= 2 && !narrow && accepts_vec16(d, p) != nullptr)) return nullptr;
  return "tiles are as fast for matrices that fill them";
}

LaunchShape blocks(const TransposeParams& p, int64_t a_matrix, int32_t threads, int32_t per_thread,
                   int64_t tile) noexcept {
  return {std::min(p.batches * a_matrix, kMaxGrid), threads, per_thread, tile};
}

LaunchShape tiles_of(const TransposeParams& p, int64_t tile) noexcept {
  return blocks(p, ceil_div(p.rows, tile) * ceil_div(p.cols, tile), kTransposeThreads, 4, tile);
}

LaunchShape vec16_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  return tiles_of(p, transpose_vec16_tile(p.element_bytes));
}
LaunchShape padded_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  return tiles_of(p, kTransposePaddedTile);
}
LaunchShape byte_perm_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t rows = byte_perm_rows(p.element_bytes);
  const int64_t cols = byte_perm_cols(p.element_bytes);
  return blocks(p, ceil_div(p.rows, rows) * ceil_div(p.cols, cols), kTransposeThreads, 8, cols);
}
LaunchShape realigned_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t rows = realigned_rows(p.element_bytes);
  const int64_t cols = realigned_cols(p.element_bytes);
  const int64_t sector = realigned_sector(p.element_bytes);
  const auto loads = static_cast<int32_t>((rows + sector) * cols / kTransposeThreads);
  return blocks(p, ceil_div(p.rows + sector - 1, rows) * ceil_div(p.cols, cols), kTransposeThreads, loads, cols);
}
LaunchShape chunks_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  const ChunkPlan plan = chunk_plan(p);
  const auto words = static_cast<int32_t>(ceil_div(plan.runs * plan.run_words, plan.threads));
  return {std::min(plan.all, kMaxGrid), plan.threads, words, plan.matrices * plan.rows};
}
LaunchShape batched_scalar_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t matrix = p.rows * p.cols;
  const int64_t matrices = std::max<int64_t>(kBatchedScalarThreads / matrix, 1);
  return {ceil_div(p.batches, matrices * kBatchedScalarMatrices), static_cast<int32_t>(matrices * matrix),
          kBatchedScalarMatrices, matrices * kBatchedScalarMatrices * p.rows};
}
LaunchShape aos_soa_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t tile = aos_soa_tile(p.element_bytes, std::min(p.rows, p.cols));
  return blocks(p, ceil_div(std::max(p.rows, p.cols), tile), kAosSoaThreads, 2, tile);
}
LaunchShape in_place_scratch_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  const WayApart way = way_apart(p);
  return way == WayApart::narrow  ? aos_soa_shape(d, p)
         : way == WayApart::bytes ? chunks_shape(d, to_scratch(p))
         : way == WayApart::words ? realigned_shape(d, p)
                                  : vec16_shape(d, p);
}
LaunchShape textbook_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  LaunchShape shape = tiles_of(p, kTransposePaddedTile);
  shape.block = kTextbookThreads;
  shape.per_thread = 1;
  return shape;
}
LaunchShape in_place_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t pairs = transpose_tile_pairs(ceil_div(p.rows, kTransposePaddedTile));
  return blocks(p, pairs, kTransposeThreads, 8, kTransposePaddedTile);
}

LaunchShape in_place_shared_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t per_block = in_place_shared_matrices(p.rows * p.cols * p.element_bytes);
  const int threads = transpose_shared_threads(transpose_shared_bytes(per_block * p.rows * p.cols, p.element_bytes));
  return {std::min(ceil_div(p.batches, per_block), kMaxGrid), threads, 4, per_block * p.rows, d.shared_bytes_per_block};
}
// The most blocks of a pass, each with one row or group of columns after the other, and the threads of the pass over rows.
LaunchShape c2r_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t row_bytes = transpose_shared_bytes(std::max(p.rows, p.cols), p.element_bytes);
  const bool fits = row_bytes <= d.shared_bytes_per_block;
  const int64_t most = int64_t{8} * d.multiprocessors;
  return {std::min(p.batches * std::max(p.rows, p.cols), most),
          fits ? transpose_shared_threads(row_bytes) : kTransposeThreads, 4, 1, d.shared_bytes_per_block};
}

// The same for the passes over tiles of it; tile: elements of scratch memory.
LaunchShape slots_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  LaunchShape shape = c2r_shape(d, p);
  shape.tile = kTransposeScratchBytes / p.element_bytes;
  return shape;
}

// `pieces` of the host's work, of all matrices: as many tasks as are worth a thread's while.
LaunchShape host_tasks(const DeviceProps& d, const TransposeParams& p, int64_t pieces, int64_t tile) noexcept {
  const int64_t wanted = p.elements() / (kHostTaskBytes / p.element_bytes);
  return {std::clamp<int64_t>(wanted, 1, std::min(pieces, int64_t{8} * d.multiprocessors)), 1, 1, tile};
}

LaunchShape host_buffer_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  const bool whole = p.rows * p.cols <= kHostInPlaceBytes / p.element_bytes;
  return host_tasks(d, p, p.batches * (whole ? 1 : std::max(p.rows, p.cols)), p.rows);
}
LaunchShape host_matrices_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  return host_tasks(d, p, p.batches, p.rows);
}
LaunchShape host_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t tile = host_transpose_tile(p.element_bytes);
  return host_tasks(d, p, p.batches * ceil_div(std::max(p.rows, p.cols), tile), tile);
}
LaunchShape host_aos_soa_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t tile = host_aos_soa_tile(p.element_bytes);
  return host_tasks(d, p, p.batches * ceil_div(std::max(p.rows, p.cols), tile), tile);
}
LaunchShape in_place_vec16_shape(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t tile = transpose_vec16_tile(p.element_bytes);
  return blocks(p, transpose_tile_pairs(ceil_div(p.rows, tile)), kTransposeThreads, 8, tile);
}

LaunchShape host_in_place_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t tile = host_transpose_tile(p.element_bytes);
  return host_tasks(d, p, p.batches * transpose_tile_pairs(ceil_div(p.rows, tile)), tile);
}
LaunchShape host_c2r_shape(const DeviceProps& d, const TransposeParams& p) noexcept {
  return host_tasks(d, p, p.batches * std::max(p.rows, p.cols), 1);
}
LaunchShape serial_shape(const DeviceProps&, const TransposeParams& p) noexcept { return {1, 1, 1, p.rows}; }

// A row stands where it was measured to win (H200; figures beside the kernels and in docs/experiments.md). The variants in
// place take no other problem, and no other variant takes theirs.
constexpr Variant<TransposeParams> kTable[] = {
    {"in_place_chunks", Runs::cuda, 1, accepts_in_place_chunks, chunks_shape},
    {"in_place_tiles_vec16", Runs::cuda, 1, accepts_square_words, in_place_vec16_shape},
    {"in_place_tiles", Runs::cuda, 1, accepts_square, in_place_shape},
    {"in_place_shared", Runs::cuda, 1, accepts_in_place_shared, in_place_shared_shape},
    {"in_place_scratch", Runs::cuda, 2, accepts_in_place_scratch, in_place_scratch_shape},
    {"in_place_c2r", Runs::cuda, 2, accepts_in_place_c2r, c2r_shape},
    {"in_place_slots", Runs::cuda, 1, accepts_rectangle, slots_shape},
    {"batched_scalar", Runs::cuda, 1, accepts_batched_scalar, batched_scalar_shape, yields_to_words},
    {"chunks", Runs::cuda, 1, accepts_chunks, chunks_shape, yields_to_tiles},
    {"aos_soa", Runs::cuda, 2, accepts_aos_soa, aos_soa_shape},
    {"byte_perm_vec16", Runs::cuda, 1, accepts_byte_perm, byte_perm_shape},
    {"tile_vec16", Runs::cuda, 2, accepts_vec16, vec16_shape},
    {"tile_realigned", Runs::cuda, 2, accepts_realigned, realigned_shape},
    {"shared_padded", Runs::cuda, 1, accepts_aligned, textbook_shape, by_name},
    {"shared", Runs::cuda, 1, accepts_aligned, textbook_shape, by_name},
    {"naive", Runs::cuda, 1, accepts_aligned, textbook_shape, by_name},
    {"tile_bytes", Runs::cuda, 1, accepts_apart, padded_shape},
    {"host_in_place_tiles", Runs::host, 1, accepts_square, host_in_place_shape},
    {"host_in_place_buffer", Runs::host, 2, accepts_host_buffer, host_buffer_shape},
    {"host_in_place_c2r", Runs::host, 1, accepts_rectangle, host_c2r_shape},
    {"host_small", Runs::host, 1, accepts_host_small, host_matrices_shape},
    {"host_aos_soa", Runs::host, 1, accepts_host_aos_soa, host_aos_soa_shape},
    {"host_tiled", Runs::host, 1, accepts_apart, host_shape},
    {"host_serial", Runs::host, 1, accepts_apart, serial_shape},
};

}  // namespace

std::span<const Variant<TransposeParams>> TransposeFamily::table() noexcept { return kTable; }

}  // namespace gpumem
