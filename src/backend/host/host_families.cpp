// The families on the host: one launcher a variant, in the order of the table's host rows.
#include <algorithm>
#include <bit>
#include <vector>

#include "backend/host/elements.hpp"
#include "backend/host/host_backend.hpp"
#include "backend/host/parallel.hpp"
#include "backend/launchers.hpp"
#include "kernels/limits.hpp"

namespace gpumem {
namespace {

// The range [first, last) of task i when n items are cut into pieces of `tile`.
struct Range {
  int64_t first;
  int64_t last;
};
Range piece(int64_t i, int64_t tile, int64_t n) noexcept {
  return {std::min(i * tile, n), std::min((i + 1) * tile, n)};
}

// Each task reduces its piece; the pieces are folded in order.
template <class Piece>
Int128 reduce_pieces(const HostTeam& team, const ReduceArgs& args, const Piece& reduce_piece) {
  const int64_t tasks = std::max<int64_t>(1, (args.n + args.shape.tile - 1) / args.shape.tile);
  std::vector<Int128> partial(static_cast<size_t>(tasks));
  team.parallel(tasks,
                [&](int64_t i) { partial[static_cast<size_t>(i)] = reduce_piece(piece(i, args.shape.tile, args.n)); });
  Int128 value = partial[0];
  for (size_t i = 1; i < partial.size(); ++i) value = combine(args.op, value, partial[i]);
  return value;
}

Int128 reduce_vector(const HostTeam& team, const ReduceArgs& args) {
  const auto* x = static_cast<const int32_t*>(args.x);
  const auto loop = team.loops.reduce_i32[args.op];
  return reduce_pieces(team, args, [=](Range r) { return loop(x + r.first, r.last - r.first); });
}

Int128 reduce_elements(const HostTeam& team, const ReduceArgs& args) {
  return reduce_pieces(team, args,
                       [&](Range r) { return reduce_elements_i32(args.op, args.x, args.stride, r.first, r.last); });
}

Int128 reduce_serial(const HostTeam&, const ReduceArgs& args) {
  return reduce_elements_i32(args.op, args.x, args.stride, 0, args.n);
}

// A transpose writes a few lines here and there: reading each of them first, as an ordinary store does, costs more than the
// caches give back from about here on (measured: 1.5 times at 4 MiB, 3 times at 64 MiB).
constexpr int64_t kStreamedTranspose = int64_t{1} << 20;

// Each task takes a band of whole tiles along the longer side.
void transpose_tiled(const HostTeam& team, const TransposeArgs& a) {
  const auto loop = team.loops.transpose[std::min(std::countr_zero(static_cast<uint64_t>(a.element_bytes)), 4)];
  const int64_t tile = host_transpose_tile(a.element_bytes);
  const int64_t longer = std::max(a.rows, a.cols);
  const int64_t tiles_a_task = ((longer + tile - 1) / tile + a.shape.grid - 1) / a.shape.grid;
  const int64_t band = tiles_a_task * tile;
  const bool stream = a.rows * a.cols * a.element_bytes >= kStreamedTranspose;
  team.parallel((longer + band - 1) / band, [&](int64_t i) {
    const Range all_rows{0, a.rows};
    const Range all_cols{0, a.cols};
    const Range rows = a.rows >= a.cols ? piece(i, band, a.rows) : all_rows;
    const Range cols = a.rows >= a.cols ? all_cols : piece(i, band, a.cols);
    loop({static_cast<const char*>(a.src), a.src_ld, static_cast<char*>(a.dst), a.dst_ld, rows.first, rows.last,
          cols.first, cols.last, stream});
  });
}

void transpose_serial(const HostTeam&, const TransposeArgs& args) { transpose_elements(args); }

// shape.tile is a multiple of 64, so that each piece begins with the pattern's first byte.
void fill_parallel(const HostTeam& team, const FillArgs& args) {
  const bool stream = team.larger_than_caches(args.bytes);
  team.parallel((args.bytes + args.shape.tile - 1) / args.shape.tile, [&](int64_t i) {
    const Range r = piece(i, args.shape.tile, args.bytes);
    team.loops.fill(static_cast<char*>(args.dst) + r.first, r.last - r.first, args.word, stream);
  });
}

void fill_serial(const HostTeam& team, const FillArgs& args) {
  team.loops.fill(static_cast<char*>(args.dst), args.bytes, args.word, false);
}

constexpr Launcher<Int128 (*)(const HostTeam&, const ReduceArgs&)> kReduce[] = {
    {"host_vector", reduce_vector}, {"host_elements", reduce_elements}, {"host_serial", reduce_serial}};
constexpr Launcher<void (*)(const HostTeam&, const TransposeArgs&)> kTranspose[] = {{"host_tiled", transpose_tiled},
                                                                                    {"host_serial", transpose_serial}};
constexpr Launcher<void (*)(const HostTeam&, const FillArgs&)> kFill[] = {{"host_parallel", fill_parallel},
                                                                          {"host_serial", fill_serial}};

}  // namespace

LauncherNames host_launcher_names() { return {names_of(kReduce), names_of(kTranspose), names_of(kFill)}; }

Int128 HostBackend::reduce(NativeStream stream, const ReduceArgs& args) {
  const auto& launcher = kReduce[row_of_backend(ReduceFamily::table(), args.variant)];
  Int128 value = 0;
  submit(stream, Until::complete, [&] { value = launcher.launch(team_, args); });
  return value;
}

void HostBackend::transpose(NativeStream stream, const TransposeArgs& args, Until until) {
  const auto& launcher = kTranspose[row_of_backend(TransposeFamily::table(), args.variant)];
  submit(stream, until, [&launcher, args, this] { launcher.launch(team_, args); });
}

void HostBackend::fill(NativeStream stream, const FillArgs& args, Until until) {
  const auto& launcher = kFill[row_of_backend(FillFamily::table(), args.variant)];
  submit(stream, until, [&launcher, args, this] { launcher.launch(team_, args); });
}

}  // namespace gpumem
