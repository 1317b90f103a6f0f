// The table of transpose implementations. Tiles go through fast memory, so both reads and writes run along rows.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/permute/plane.hpp"
#include "kernels/transpose/chunks.hpp"
#include "kernels/transpose/limits.hpp"
#include "kernels/transpose/slots.hpp"
#include "kernels/transpose/transpose.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr const char* kInPlace = "it needs dst apart from src, and this is in place";
constexpr const char* kApart = "it works in place, but dst is not src";

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

// Under these conditions, a block writes only where it has read.
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

// The copy to scratch memory. Memory of the pool is aligned to any element.
TransposeParams to_scratch(TransposeParams p) noexcept {
  p.dst = nullptr;
  return p;
}

const char* accepts_in_place_scratch(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_rectangle(d, p)) return reason;
  if (!aligned(p.dst, p.element_bytes)) return "it needs dst aligned to its elements";
  if (p.elements() > kTransposeScratchBytes / p.element_bytes) return "it needs matrices of at most 32 MiB in all";
  return without_gaps(p) ? nullptr : "it needs matrices without gaps, and none between them";
}

const char* accepts_batched_scalar(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (const char* reason = accepts_aligned(d, p)) return reason;
  return p.rows * p.cols <= kBatchedScalarElements ? nullptr : "it needs matrices of at most 1024 elements";
}
constexpr const char* kChunksTooLarge = "it needs matrices with a tile of at most 64 KiB of shared memory";

const char* cut_chunks(const TransposeParams& p, Config& config) noexcept {
  const ChunkPlan cut = chunk_plan(p);
  if (!cut.fits) return kChunksTooLarge;
  const auto words = static_cast<int32_t>(ceil_div(cut.runs * cut.run_words, cut.threads));
  config = {std::min(cut.all, kMaxGrid), cut.threads, words, cut.matrices * cut.rows};
  config.own.set(cut);
  return nullptr;
}

const char* plan_chunks(const DeviceProps& d, const TransposeParams& p, Config& config) noexcept {
  const char* const refusal = accepts_aligned(d, p);
  return refusal != nullptr ? refusal : cut_chunks(p, config);
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

// Small matrices would leave most of a tile empty.
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

bool small_matrices(const TransposeParams& p) noexcept {
  return p.batches > 1 && p.rows * p.cols <= kSmallMatrixBytes / p.element_bytes;
}
bool narrow(const TransposeParams& p) noexcept { return std::min(p.rows, p.cols) <= kAosSoaWidth; }
bool few(const TransposeParams& p) noexcept { return p.elements() <= int64_t{1} << 18; }
bool at_most(int64_t bytes, const TransposeParams& p) noexcept { return p.elements() <= bytes / p.element_bytes; }

// The following limits are from an H200, by bench/torch/permutations.py and similar lists of transposes.
const char* deprioritized_for_words(const DeviceProps&, const TransposeParams& p) noexcept {
  const bool gaps = p.batches > 1 && !without_gaps(p);
  if (gaps || (p.batches > 1 && at_most(int64_t{8} << 20, p))) return nullptr;
  return "words of 16 bytes are faster where dst has no gaps";
}

const char* accepts_tiled(const DeviceProps& d, const TransposeParams& p) noexcept {
  if (std::min(p.rows, p.cols) < kPermuteLeastTiled) return "it needs 8 rows and 8 columns or more";
  return accepts_aligned(d, p);
}

// Many blocks with small tiles beat wide accesses if both sides stay in the L2 cache, and few rows or columns, or
// unaligned ones, leave those partly empty. 99892 x 32 of 8 bytes: tiled 11.3 us, tile_vec16 12.8. But 500 x 1000: 2.8
// and 2.5.
const char* deprioritized_for_wide_accesses(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t filled = permute_tiles_filled(p.element_bytes, p.rows, p.cols);
  const bool cached = at_most(d.l2_bytes / 3, p);
  const bool vectors = accepts_vec16(d, p) == nullptr;
  bool best = false;
  switch (p.element_bytes) {
    case 16:
      best = filled >= 30 && (narrow(p) || (cached && !at_most(int64_t{16} << 20, p)));
      break;
    case 8:
      best = filled >= 50 && cached && (narrow(p) || !vectors);
      break;
    case 4:
      best =
          few(p) ? filled >= 30 : filled >= 60 && cached && (narrow(p) || (!vectors && at_most(int64_t{8} << 20, p)));
      break;
    case 2:
      best = !vectors && (few(p) ? filled >= 15 : filled >= 50 && at_most(int64_t{2} << 20, p));
      break;
    default:
      best = few(p) ? filled >= 15 : filled >= 50 && !vectors && at_most(int64_t{2} << 20, p);
      break;
  }
  return best ? nullptr : "wide accesses are as fast here";
}

// Chunks win for three kinds of problem. Small matrices leave most of a tile empty. Rows of 1- and 2-byte elements that
// are not 16-byte aligned have no other implementation with 16-byte accesses. Of many matrices with short rows, a chunk
// has whole rows, and tiles have parts: 9,645 matrices of 72 x 72, 4 bytes: chunks 116 us, tile_vec16 164. Of structures in
// matrices with short rows of dst at any addresses, it moves words: 909 x 413 x 25 of 2 bytes, chunks 12.7 us, aos_soa 33.7.
// But 16 x 50001 x 8: 31.4 and 14.4, and 1000 x 1001 x 16: 46.7 and 34.2.
const char* deprioritized_for_tiles(const DeviceProps& d, const TransposeParams& p) noexcept {
  constexpr int64_t kPlaneWord = 16;
  constexpr int64_t kShortPlane = 1 << 14;
  constexpr int64_t kShortStructure = 6;  // elements that aos_soa moves one by one to planes at any addresses
  const bool bytes = p.element_bytes <= 2;
  const bool vectors = accepts_vec16(d, p) == nullptr;
  const bool rows_on_words = (p.src_ld * p.element_bytes | misalignment(p.src)) % 16 == 0;
  const bool few_long_rows = p.rows <= kAosSoaWidth && (rows_on_words || at_most(int64_t{4} << 20, p));
  const bool short_planes = p.batches > 1 && p.rows <= kShortPlane && !rows_on_words;
  const bool one_by_one = p.element_bytes == 1 || short_planes;
  const bool planes_apart = one_by_one && p.dst_ld * p.element_bytes % kPlaneWord != 0;
  const int64_t structure = planes_apart ? kShortStructure : kAosSoaWidth;
  if (bytes && !vectors && p.cols > structure && !few_long_rows) return nullptr;
  const bool short_rows = p.rows <= 72 || p.cols <= 40 || (vectors && p.cols <= 72 && p.rows <= 128);
  if (p.element_bytes == 4 && p.batches > 1 && short_rows && p.rows * p.cols <= (24 << 10)) return nullptr;
  return small_matrices(p) && !(bytes && vectors && few(p)) ? nullptr : "tiles are as fast for matrices that fill them";
}

Config blocks(const TransposeParams& p, int64_t a_matrix, int32_t threads, int32_t per_thread, int64_t tile) noexcept {
  return {std::min(p.batches * a_matrix, kMaxGrid), threads, per_thread, tile};
}

Config tiles_of(const TransposeParams& p, int64_t tile) noexcept {
  return blocks(p, ceil_div(p.rows, tile) * ceil_div(p.cols, tile), kTransposeThreads, 4, tile);
}

Config tiled_config(const DeviceProps&, const TransposeParams& p) noexcept {
  return permute_tiled_config(transposed_axes(p));
}
Config vec16_config(const DeviceProps&, const TransposeParams& p) noexcept {
  return tiles_of(p, transpose_vec16_tile(p.element_bytes));
}
Config padded_config(const DeviceProps&, const TransposeParams& p) noexcept {
  return tiles_of(p, kTransposePaddedTile);
}
Config byte_perm_config(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t rows = byte_perm_rows(p.element_bytes);
  const int64_t cols = byte_perm_cols(p.element_bytes);
  return blocks(p, ceil_div(p.rows, rows) * ceil_div(p.cols, cols), kTransposeThreads, 8, cols);
}
Config realigned_config(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t rows = realigned_rows(p.element_bytes);
  const int64_t cols = realigned_cols(p.element_bytes);
  const int64_t sector = realigned_sector(p.element_bytes);
  const auto loads = static_cast<int32_t>((rows + sector) * cols / kTransposeThreads);
  return blocks(p, ceil_div(p.rows + sector - 1, rows) * ceil_div(p.cols, cols), kTransposeThreads, loads, cols);
}
Config batched_scalar_config(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t matrix = p.rows * p.cols;
  const int64_t matrices = std::max<int64_t>(kBatchedScalarThreads / matrix, 1);
  return {.grid = ceil_div(p.batches, matrices * kBatchedScalarMatrices),
          .block = static_cast<int32_t>(matrices * matrix),
          .per_thread = kBatchedScalarMatrices,
          .tile = matrices * kBatchedScalarMatrices * p.rows,
          .fixed_grid = true};
}
Config aos_soa_config(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t tile = aos_soa_tile(p.element_bytes, std::min(p.rows, p.cols));
  return blocks(p, ceil_div(std::max(p.rows, p.cols), tile), kAosSoaThreads, 2, tile);
}
const char* plan_in_place_scratch(const DeviceProps& d, const TransposeParams& p, Config& config) noexcept {
  if (const char* refusal = accepts_in_place_scratch(d, p)) return refusal;
  InPlaceScratch own{way_apart(p), {}};
  switch (own.way) {
    case WayApart::narrow:
      config = aos_soa_config(d, p);
      break;
    case WayApart::bytes:
      if (const char* refusal = cut_chunks(to_scratch(p), config)) return refusal;
      own.chunks = config.own.get<ChunkPlan>();
      break;
    case WayApart::words:
      config = realigned_config(d, p);
      break;
    case WayApart::vectors:
      config = vec16_config(d, p);
      break;
  }
  config.workspace_bytes = p.elements() * p.element_bytes;
  config.own.set(own);
  return nullptr;
}
const char* plan_in_place_chunks(const DeviceProps& d, const TransposeParams& p, Config& config) noexcept {
  const char* const refusal = accepts_in_place_chunks(d, p);
  return refusal != nullptr ? refusal : cut_chunks(p, config);
}
Config textbook_config(const DeviceProps&, const TransposeParams& p) noexcept {
  Config config = tiles_of(p, kTransposePaddedTile);
  config.block = kTextbookThreads;
  config.per_thread = 1;
  return config;
}
Config in_place_config(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t pairs = transpose_tile_pairs(ceil_div(p.rows, kTransposePaddedTile));
  return blocks(p, pairs, kTransposeThreads, 8, kTransposePaddedTile);
}

Config in_place_shared_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t per_block = in_place_shared_matrices(p.rows * p.cols * p.element_bytes);
  const int threads = transpose_shared_threads(transpose_shared_bytes(per_block * p.rows * p.cols, p.element_bytes));
  return {std::min(ceil_div(p.batches, per_block), kMaxGrid), threads, 4, per_block * p.rows, d.shared_bytes_per_block};
}
// The grid is the largest of the passes. The block fits the pass over rows.
Config c2r_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t row_bytes = transpose_shared_bytes(std::max(p.rows, p.cols), p.element_bytes);
  const bool fits = row_bytes <= d.shared_bytes_per_block;
  const int64_t most = int64_t{8} * d.multiprocessors;
  return {std::min(p.batches * std::max(p.rows, p.cols), most),
          fits ? transpose_shared_threads(row_bytes) : kTransposeThreads, 4, 1, d.shared_bytes_per_block};
}

// The same for the passes over tiles. tile: elements of scratch memory that are enough for any matrix.
Config slots_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  Config config = c2r_config(d, p);
  config.tile = kTransposeScratchBytes / p.element_bytes;
  config.workspace_bytes = slots_workspace(p, config.tile, d.shared_bytes_per_block) * p.element_bytes;
  return config;
}

// A task has at least kHostTaskBytes of work. pieces: parts of the work of all matrices.
Config host_tasks(const DeviceProps& d, const TransposeParams& p, int64_t pieces, int64_t tile) noexcept {
  const int64_t wanted = p.elements() / (kHostTaskBytes / p.element_bytes);
  return {std::clamp<int64_t>(wanted, 1, std::min(pieces, int64_t{8} * d.multiprocessors)), 1, 1, tile};
}

// A matrix that fits into a core's caches is the work of one thread.
Config host_buffer_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  const bool whole = p.rows * p.cols <= kHostInPlaceBytes / p.element_bytes;
  Config config = host_tasks(d, p, p.batches * (whole ? 1 : std::max(p.rows, p.cols)), p.rows);
  const host::BufferedTasks at_once{whole ? std::min<int64_t>({d.multiprocessors, config.grid, p.batches}) : 1};
  config.workspace_bytes = at_once.count * p.rows * p.cols * p.element_bytes;
  config.own.set(at_once);
  return config;
}
Config host_matrices_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  return host_tasks(d, p, p.batches, p.rows);
}
Config host_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t tile = host_transpose_tile(p.element_bytes);
  return host_tasks(d, p, p.batches * ceil_div(std::max(p.rows, p.cols), tile), tile);
}
Config host_aos_soa_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t tile = host_aos_soa_tile(p.element_bytes);
  return host_tasks(d, p, p.batches * ceil_div(std::max(p.rows, p.cols), tile), tile);
}
Config in_place_vec16_config(const DeviceProps&, const TransposeParams& p) noexcept {
  const int64_t tile = transpose_vec16_tile(p.element_bytes);
  return blocks(p, transpose_tile_pairs(ceil_div(p.rows, tile)), kTransposeThreads, 8, tile);
}

Config host_in_place_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  const int64_t tile = host_transpose_tile(p.element_bytes);
  return host_tasks(d, p, p.batches * transpose_tile_pairs(ceil_div(p.rows, tile)), tile);
}
// The workspace has max(rows, cols) elements or kHostInPlaceBytes per task, and at most half the size of the data.
Config host_c2r_config(const DeviceProps& d, const TransposeParams& p) noexcept {
  Config config = host_tasks(d, p, p.batches * std::max(p.rows, p.cols), 1);
  const int64_t n = std::max(p.rows, p.cols);
  const int64_t m = std::min(p.rows, p.cols);
  const int64_t half = p.elements() / 2;
  const int64_t threads = std::min<int64_t>(d.multiprocessors, config.grid);
  const int64_t room = std::max(n, kHostInPlaceBytes / p.element_bytes);
  host::C2rShares shares{};
  shares.row_tasks = std::clamp<int64_t>(half / n, 1, threads);
  shares.width = std::clamp<int64_t>(std::min({room / m, host::kC2rColumnBytes / p.element_bytes, n / 2}), 1,
                                     host::kC2rColumnBytes);
  shares.column_tasks = std::clamp<int64_t>(half / (shares.width * m), 1, threads);
  config.workspace_bytes = std::max(shares.row_tasks * n, shares.column_tasks * shares.width * m) * p.element_bytes;
  config.own.set(shares);
  return config;
}
Config serial_config(const DeviceProps&, const TransposeParams& p) noexcept { return {1, 1, 1, p.rows}; }

// The order follows measurements on an H200 (figures in the kernels' headers and bench/experiments.csv). In-place
// variants and the others never accept the same problem.
constexpr Implementation<TransposeParams> kTable[] = {
    {"in_place_chunks", ExecutionSpace::cuda, 1, plan_in_place_chunks, gpu<kernels::transpose_chunks>},
    {"in_place_tiles_vec16", ExecutionSpace::cuda, 1, plan<accepts_square_words, in_place_vec16_config>,
     gpu<kernels::transpose_in_place_tiles_vec16>},
    {"in_place_tiles", ExecutionSpace::cuda, 1, plan<accepts_square, in_place_config>,
     gpu<kernels::transpose_in_place_tiles>},
    {"in_place_shared", ExecutionSpace::cuda, 1, plan<accepts_in_place_shared, in_place_shared_config>,
     gpu<kernels::transpose_in_place_shared>},
    {"in_place_scratch", ExecutionSpace::cuda, 2, plan_in_place_scratch, gpu<kernels::transpose_in_place_scratch>},
    {"in_place_c2r", ExecutionSpace::cuda, 2, plan<accepts_in_place_c2r, c2r_config>,
     gpu<kernels::transpose_in_place_c2r>},
    {"in_place_slots", ExecutionSpace::cuda, 1, plan<accepts_rectangle, slots_config>,
     gpu<kernels::transpose_in_place_slots>},
    {"batched_scalar", ExecutionSpace::cuda, 1, plan<accepts_batched_scalar, batched_scalar_config>,
     gpu<kernels::transpose_batched_scalar>, deprioritized_for_words},
    {"tiled", ExecutionSpace::cuda, 1, plan<accepts_tiled, tiled_config>, gpu<kernels::transpose_tiled>,
     deprioritized_for_wide_accesses},
    {"chunks", ExecutionSpace::cuda, 1, plan_chunks, gpu<kernels::transpose_chunks>, deprioritized_for_tiles},
    {"aos_soa", ExecutionSpace::cuda, 2, plan<accepts_aos_soa, aos_soa_config>, gpu<kernels::transpose_aos_soa>},
    {"byte_perm_vec16", ExecutionSpace::cuda, 1, plan<accepts_byte_perm, byte_perm_config>,
     gpu<kernels::transpose_byte_perm_vec16>},
    {"tile_vec16", ExecutionSpace::cuda, 2, plan<accepts_vec16, vec16_config>, gpu<kernels::transpose_tile_vec16>},
    {"tile_realigned", ExecutionSpace::cuda, 2, plan<accepts_realigned, realigned_config>,
     gpu<kernels::transpose_tile_realigned>},
    {"shared_padded", ExecutionSpace::cuda, 1, plan<accepts_aligned, textbook_config>,
     gpu<kernels::transpose_shared_padded>, by_name},
    {"shared", ExecutionSpace::cuda, 1, plan<accepts_aligned, textbook_config>, gpu<kernels::transpose_shared>,
     by_name},
    {"naive", ExecutionSpace::cuda, 1, plan<accepts_aligned, textbook_config>, gpu<kernels::transpose_naive>, by_name},
    {"tile_bytes", ExecutionSpace::cuda, 1, plan<accepts_apart, padded_config>, gpu<kernels::transpose_tile_bytes>},
    {"host_in_place_tiles", ExecutionSpace::host, 1, plan<accepts_square, host_in_place_config>,
     host::transpose_in_place_tiles},
    {"host_in_place_buffer", ExecutionSpace::host, 2, plan<accepts_host_buffer, host_buffer_config>,
     host::transpose_in_place_buffer},
    {"host_in_place_c2r", ExecutionSpace::host, 1, plan<accepts_rectangle, host_c2r_config>,
     host::transpose_in_place_c2r},
    {"host_small", ExecutionSpace::host, 1, plan<accepts_host_small, host_matrices_config>, host::transpose_small},
    {"host_aos_soa", ExecutionSpace::host, 1, plan<accepts_host_aos_soa, host_aos_soa_config>, host::transpose_aos_soa},
    {"host_tiled", ExecutionSpace::host, 1, plan<accepts_apart, host_config>, host::transpose_tiled},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts_apart, serial_config>, host::transpose_serial},
};

}  // namespace

std::span<const Implementation<TransposeParams>> TransposeFamily::table() noexcept { return kTable; }

}  // namespace gpumem
