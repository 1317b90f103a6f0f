// Operations that write arrays. On the device: compared with the CUDA runtime and cuBLAS, by device time. Between host
// and device: by the host's clock.
#include <algorithm>
#include <utility>

#include "cuda/kernels.hpp"
#include "cuda/peers_cub.hpp"
#include "cuda/peers_cub_scan.hpp"
#include "cuda/peers_cub_sort.hpp"
#include "cuda/run.hpp"
#include "measure/host_clock.hpp"

namespace bench {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

std::string text(int64_t number) { return std::to_string(number); }

// ------------------------------------------------------------------------------------------------------- transposes

constexpr int64_t kBarred = 16384;
constexpr int64_t kSmall = 1024;
constexpr int64_t kNarrow = 16;

struct Shape {
  int64_t rows, cols;
  int element_bytes;

  int64_t elements() const { return rows * cols; }
  bool fits_cache() const { return elements() <= kCacheableElements; }
  std::string name() const { return text(element_bytes) + "B/" + text(rows) + "x" + text(cols); }
  std::string line(const std::string& src = "device", const std::string& dst = "device") const {
    return "transpose bytes=" + text(element_bytes) + " rows=" + text(rows) + " cols=" + text(cols) + " src=" + src +
           " dst=" + dst;
  }
};

constexpr Shape kShapes[] = {
    {256, 256, 4},     {512, 512, 4},     {1024, 1024, 4},   {4096, 4096, 4},   {8192, 8192, 4},    {16384, 16384, 4},
    {32768, 32768, 4}, {1024, 1024, 8},   {4096, 4096, 8},   {8192, 8192, 8},   {16384, 16384, 8},  {32768, 32768, 8},
    {10007, 9973, 4},  {10007, 9973, 8},  {10007, 9973, 1},  {10007, 9973, 2},  {1048576, 32, 4},   {32, 1048576, 4},
    {16384, 16384, 1}, {32768, 32768, 1}, {16384, 16384, 2}, {32768, 32768, 2}, {16384, 16384, 16}, {33554432, 2, 4},
    {2, 33554432, 4},  {16777216, 3, 4},  {3, 16777216, 4},  {22369621, 3, 4},  {3, 22369621, 4},   {16777216, 4, 4},
    {4, 16777216, 4},  {8388608, 8, 4},   {8, 8388608, 4},   {4194304, 16, 4},  {16, 4194304, 4},   {16777216, 4, 8},
    {16777216, 3, 1},  {3, 16777216, 1},  {268435456, 2, 4}, {1048576, 64, 4},  {100003, 200, 4},
};

// Compared with the library's own transpose into another matrix.
constexpr Shape kInPlace[] = {{16384, 16384, 4}, {16384, 8192, 4}, {10007, 9973, 4}, {1048576, 32, 4}, {7000, 6000, 8}};

// The target against cudaMemcpyAsync, if one was set.
Bar bar_beside_memcpy(const Shape& s) {
  const int64_t narrow = std::min(s.rows, s.cols);
  const int64_t wide = std::max(s.rows, s.cols);
  if (wide <= kSmall || s.element_bytes == 16) return {};
  if (s.element_bytes == 1) return narrow == wide ? at_least(0.88) : Bar{};
  if (s.element_bytes == 2) return narrow == wide ? at_least(0.92) : Bar{};
  if (s.rows == 10007) return at_least(0.88);
  if (s.cols == 200) return {};
  return at_least(narrow <= kNarrow ? 0.90 : 0.92);
}

Line transpose_line(const Shape& s, bool by_geam) {
  Line line{.family = "transpose",
            .name = s.name(),
            .line = s.line(),
            .peer_name = "cudaMemcpyAsync",
            .peer = by_memcpy(),
            .bar = bar_beside_memcpy(s),
            .quick = s.rows == kBarred && s.element_bytes == 4,
            .cacheable = s.fits_cache()};
  if (by_geam) {
    line.peer_name = s.element_bytes == 4 ? "cuBLAS Sgeam" : "cuBLAS Dgeam";
    line.bar = at_least(std::max(s.rows, s.cols) <= kSmall ? 1.05 : 1.0);
    line.peer = by_call(
        [s](const Run& r) { r.gpu->blas->transpose(r.at("src"), r.at("dst"), s.rows, s.cols, s.element_bytes); });
  }
  return line;
}

// dst is transposed back and forth.
Pair open_in_place(const GpuPtr& gpu, const Shape& s) {
  const auto run = std::make_shared<Run>(gpu, s.line());
  const auto there = std::make_shared<bool>(false);
  const Gated how = gpu->one_stream(false, false);
  const auto call = [=] {
    const int64_t rows = *there ? s.cols : s.rows, cols = *there ? s.rows : s.cols;
    void* const data = run->at("dst");
    check(gpumem_transpose_async(gpu->ctx.get(), s.element_bytes, rows, cols, data, cols, data, rows,
                                 gpu->shared_stream));
    *there = !*there;
  };
  const auto prepare = [=] {
    *there = false;
    check_cuda(cudaMemcpy(run->at("dst"), run->at("src"), run->output_bytes(), cudaMemcpyDeviceToDevice));
  };
  return {{gpu->device_time(call, how), prepare, [=] { return *there ? run->verify() : run->verify_copied(); }},
          our_side(run, how)};
}

void add_transposes(const Lines& lines) {
  const auto geam_takes = [&](const Shape& s) {
    // cuBLAS waits for the device before it transposes more rows, which device time cannot measure.
    return lines.gpu()->blas && s.rows < int64_t{1} << 28 && (s.element_bytes == 4 || s.element_bytes == 8);
  };
  for (const Shape& s : kShapes) {
    for (const bool cold : {false, true}) {
      if (cold && !s.fits_cache()) continue;
      if (geam_takes(s)) lines.add(transpose_line(s, true), cold);
      lines.add(transpose_line(s, false), cold);
    }
  }
  for (const Shape& s : kInPlace) {
    Line line = transpose_line(s, false);
    line.name += "/in_place";
    line.peer_name = "gpumem_transpose into another matrix";
    line.bar = s.rows == s.cols ? at_least(0.93) : Bar{};
    line.quick = line.cacheable = false;
    lines.add(line, false).open = [gpu = lines.gpu(), s] { return open_in_place(gpu, s); };
  }
  for (const auto& [s, batches] : {std::pair{Shape{64, 64, 4}, 65536}, {Shape{7, 9, 4}, 4194304}}) {
    Line line = transpose_line(s, false);
    line.name += "/batch" + text(batches);
    line.line += " batches=" + text(batches);
    line.bar = s.rows >= 64 ? at_least(0.92) : Bar{};
    line.cacheable = false;
    lines.add(line, true);
  }
  for (const Shape& s : {Shape{kBarred, kBarred, 4}, Shape{10007, 9973, 4}, Shape{16384, 16384, 1},
                         Shape{16384, 16384, 2}, Shape{16777216, 4, 4}, Shape{1048576, 32, 4}}) {
    lines.add_ladder(transpose_line(s, lines.gpu()->blas && s.element_bytes == 4), false);
  }
}

Pair open_across(const GpuPtr& gpu, const std::string& line) {
  const auto run = std::make_shared<Run>(gpu, line);
  const auto reset = [run] {
    run->instance.reset();
    check_cuda(cudaDeviceSynchronize());
  };
  const auto copy = [run] {
    check_cuda(cudaMemcpyAsync(run->at("dst"), run->at("src"), run->output_bytes(), cudaMemcpyDefault, run->stream()));
    check_cuda(cudaStreamSynchronize(run->stream()));
  };
  return {{host_sampler([run] { check(run->instance.call(false)); }, {}), reset, [run] { return run->verify(); }},
          {host_sampler(copy, {}), reset, [run] { return run->verify_copied(); }}};
}

void add_transposes_across(const Lines& lines) {
  for (const Shape& s : {Shape{512, 512, 4}, Shape{2048, 2048, 4}, Shape{8192, 8192, 4}, Shape{10007, 9973, 4},
                         Shape{22369621, 3, 4}, Shape{3, 22369621, 4}}) {
    for (const std::string kind : {"pinned", "pageable"}) {
      for (const bool to_device : {true, false}) {
        const std::string line = to_device ? s.line(kind, "device") : s.line("device", kind);
        Case& c = lines.add({.family = "transpose_across",
                             .name = s.name() + (to_device ? "/to_device/" : "/from_device/") + kind,
                             .line = line,
                             .peer_name = "cudaMemcpyAsync",
                             .quick = s.rows == 8192 && kind == "pinned",
                             .ceiling = Ceiling::none},
                            false);
        c.device_timed = false;
        c.open = [gpu = lines.gpu(), line] { return open_across(gpu, line); };
      }
    }
  }
}

// ----------------------------------------------------------------------------------------------------- permutations

// 57 cases of 2 to 6 axes, from 200 MB to 1 GB, with and without a moving fastest axis. They follow the sets of TTC and
// HPTT (Springer, Hammond, Bientinesi, "TTC: A high-performance compiler for tensor transpositions", 2016). The extents
// are our own.
struct Permuted {
  const char* extents;
  const char* orders;
  int element_bytes = 4;
};
constexpr Permuted kPermuted[] = {
    {"7264x7296", "10"},
    {"9973x10007", "10"},
    {"1216x43520", "10"},
    {"43001x1301", "10"},
    {"10000x6000", "10", 8},
    {"384x368x400", "021 102 120 201 210"},
    {"2311x61x397", "021 102 120 201 210"},
    {"64x2144x400", "021"},
    {"10000x64x96", "201"},
    {"9973x4x1301", "210"},
    {"4x3001x5003", "120"},
    {"5003x3001x4", "102"},
    {"320x352x640", "021", 8},
    {"96x80x112x72", "0213 0132 1032 2103 3210 2301 3021"},
    {"17x411x11x799", "1302 2031 3120 0321"},
    {"6x5000x7x311", "2130"},
    {"128x24x144x160", "1203", 8},
    {"4x4x2500x1600", "3201"},
    {"32x40x36x28x44", "40321 43210 02143 21034 14302"},
    {"5x101x6x197x101", "31402 20413 04231"},
    {"48x12x9x16x640", "31024"},
    {"36x30x28x32x52", "42013", 8},
    {"20x16x24x14x18x26", "543210 031425 250413 104325 412503"},
    {"4x33x8x50x7x139", "520134 301254"},
    {"10x12x14x16x9x198", "324015"},
    {"8x24x10x12x64x40", "513240"},
    {"25x2500x900", "021"},
    {"9000x80x80", "102"},
    {"1600x2500x25", "021"},
};

Line permute_line(const std::string& extents, const std::string& digits, int element_bytes) {
  std::string order;
  for (const char digit : digits) order.append(order.empty() ? "" : ",").append(1, digit);
  return {.family = "permute",
          .name = text(element_bytes) + "B/" + extents + "/" + digits,
          .line = "permute bytes=" + text(element_bytes) + " extents=" + extents + " order=" + order +
                  " src=device dst=device",
          .peer_name = "cudaMemcpyAsync",
          .peer = by_memcpy(),
          .bar = at_least(0.6),
          .quick = extents == kPermuted[0].extents};
}

void add_permutations(const Lines& lines) {
  for (const Permuted& p : kPermuted) {
    std::string orders = p.orders;
    for (std::size_t at = 0; at < orders.size(); at = orders.find(' ', at) + 1) {
      lines.add(permute_line(p.extents, orders.substr(at, orders.find(' ', at) - at), p.element_bytes), true);
      if (orders.find(' ', at) == std::string::npos) break;
    }
  }
  lines.add_ladder(permute_line("384x368x400", "210", 4), true);
}

// ------------------------------------------------------------------------------------------------- copies and fills

Line copy_line(int64_t bytes) {
  const bool small = bytes <= 4 * kMiB;
  return {.family = "copy",
          .name = "device/" + size_name(static_cast<std::size_t>(bytes)),
          .line = "copy bytes=" + text(bytes) + " src=device dst=device",
          .peer_name = "cudaMemcpyAsync",
          .peer = by_memcpy(),
          .bar = at_least(small ? 1.1 : 0.99),
          .quick = bytes == 1024 * kMiB,
          .cacheable = cacheable(2.0 * static_cast<double>(bytes)),
          .ceiling = bytes < 16 * kMiB ? Ceiling::none : Ceiling::copy};
}

// The baseline can set only single bytes, so it writes the same number of bytes for any pattern.
Side by_memset(const RunPtr& run, bool cold) {
  void* const dst = run->at("dst");
  const std::size_t bytes = run->output_bytes();
  Side side = run_side(
      run, [=] { check_cuda(cudaMemsetAsync(dst, 0, bytes, run->stream())); }, run->gpu->one_stream(cold));
  const auto zeros = std::make_shared<DeviceBytes>(bytes);
  check_cuda(cudaMemset(zeros->as(), 0, bytes));
  side.verify = [=] { return wrong_count(count_different(dst, zeros->as(), static_cast<int64_t>(bytes))); };
  return side;
}

Line fill_line(int pattern_bytes) {
  constexpr int64_t kBytes = 1024 * kMiB;
  return {.family = "fill",
          .name = "device/1024MiB/pattern" + text(pattern_bytes),
          .line = "fill bytes=" + text(pattern_bytes) + " n=" + text(kBytes / pattern_bytes) +
                  (pattern_bytes == 1 ? " uniform=1" : "") + " dst=device",
          .peer_name = "cudaMemsetAsync",
          .peer = by_memset,
          .bar = at_least(0.98),
          .quick = pattern_bytes == 4,
          .ceiling = Ceiling::write};
}

void add_copies_and_fills(const Lines& lines) {
  for (int64_t bytes = 1024; bytes <= 4096 * kMiB; bytes *= 2) {
    const Line line = copy_line(bytes);
    for (const bool cold : {false, true}) {
      if (!cold || line.cacheable) lines.add(line, cold);
    }
  }
  for (const int64_t bytes : {kMiB / 16, kMiB, 4 * kMiB, 1024 * kMiB}) lines.add_ladder(copy_line(bytes), true);
  for (const int pattern_bytes : {1, 2, 4, 8, 16}) lines.add(fill_line(pattern_bytes), false);
  lines.add_ladder(fill_line(16), false);
}

// ----------------------------------------------------------------------------------------- rows, by pitch and index

void copy_by_cuda(const Run& r) {
  const std::size_t src_pitch = r.size("src_pitch"), dst_pitch = r.size("dst_pitch");
  const std::size_t row = r.size("bytes"), rows = r.size("rows"), slices = r.size("slices");
  if (slices == 1) {
    check_cuda(cudaMemcpy2DAsync(r.at("dst"), dst_pitch, r.at("src"), src_pitch, row, rows, cudaMemcpyDeviceToDevice,
                                 r.stream()));
    return;
  }
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(r.at("src"), src_pitch, row, r.size("src_slice") / src_pitch);
  p.dstPtr = make_cudaPitchedPtr(r.at("dst"), dst_pitch, row, r.size("dst_slice") / dst_pitch);
  p.extent = make_cudaExtent(row, rows, slices);
  p.kind = cudaMemcpyDeviceToDevice;
  check_cuda(cudaMemcpy3DAsync(&p, r.stream()));
}

// Rows of slices; a copy of two dimensions has one slice.
Line block_line(int64_t row, int64_t rows, int64_t slices, int64_t src_pitch, int64_t dst_pitch) {
  constexpr int64_t kShortRow = 64;
  const bool flat = slices == 1;
  const std::string size = (flat ? "2d/" : "3d/" + text(slices) + "x") + text(rows) + "x" + text(row) + "B";
  const std::string pitches = " src_pitch=" + text(src_pitch) + " dst_pitch=" + text(dst_pitch);
  Line line{.family = "copy_rows",
            .name = size + "/pitch" + text(src_pitch) + "to" + text(dst_pitch),
            .line = "copy bytes=" + text(row) + " rows=" + text(rows) + pitches + " src=device dst=device",
            .peer_name = flat ? "cudaMemcpy2DAsync" : "cudaMemcpy3DAsync",
            .peer = by_call(copy_by_cuda),
            .bar = at_least(row <= kShortRow ? 2.0 : 0.98)};
  if (!flat) {
    line.line += " slices=" + text(slices) + " src_slice=" + text(src_pitch * (rows + 1)) +
                 " dst_slice=" + text(dst_pitch * (rows + 2));
  }
  line.cacheable = cacheable(2.0 * static_cast<double>(row * rows * slices));
  return line;
}

void add_rows(const Lines& lines) {
  constexpr int64_t moved = 256 * kMiB;
  constexpr int64_t most_rows = kMiB;  // longer tables of the shortest rows take the baseline a second
  const auto gapped = [&](int64_t row) {
    return block_line(row, std::min(moved / row, most_rows), 1, 2 * row, row + 16);
  };
  for (const int64_t row : {4, 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 4096, 65536}) lines.add(gapped(row), true);
  lines.add(block_line(63, most_rows, 1, 97, 71), true);
  lines.add(block_line(1000, moved / 1000, 1, 1001, 1003), true);
  lines.add(block_line(30000, moved / 30000, 1, 30001, 32768), true);
  for (const int64_t row : {32, 64, 128, 256, 1024, 4096}) {
    lines.add(block_line(row, 64, std::min(moved / row, most_rows) / 64, row + 32, row + 64), true);
  }
  for (const int64_t row : {16, 128, 1024}) lines.add_ladder(gapped(row), true);
  for (const std::string family : {"gather", "scatter"}) {
    for (const int64_t row : {4, 16, 64, 256, 1024, 4096}) {
      const std::string n = text(moved / row);
      lines.add(
          {.family = family,
           .name = n + "x" + text(row) + "B",
           .line = family + " row_bytes=" + text(row) + " n=" + n + (family == "gather" ? " src_rows=" : " dst_rows=") +
                   n + " index_type=i64 src=device index=device dst=device",
           .peer_name = "cudaMemcpyAsync",
           .peer = by_memcpy(static_cast<std::size_t>(moved))},
          true);
    }
  }
}

// The table is on the device before the timing.
Side by_table_of_boxes(const RunPtr& run, bool cold) {
  const Axes axes = axes_of(run->problem);
  std::vector<TableBox> boxes;
  for (int64_t k = 0; k < axes.extent[0]; ++k) {
    TableBox box{run->at<double>("src") + k * axes.src[0], run->at<double>("dst") + k * axes.dst[0], {}, {}, {}};
    for (int d = 0; d < 3; ++d) box.extent[d] = static_cast<int32_t>(axes.extent[d + 1]);
    std::copy_n(axes.src + 1, 2, box.src_stride);
    std::copy_n(axes.dst + 1, 2, box.dst_stride);
    boxes.push_back(box);
  }
  const std::size_t bytes = boxes.size() * sizeof(TableBox);
  const auto table = std::make_shared<DeviceBytes>(bytes);
  check_cuda(cudaMemcpy(table->as(), boxes.data(), bytes, cudaMemcpyHostToDevice));
  const auto count = static_cast<int>(boxes.size());
  const int64_t of_box = axes.elements / count;
  return run_side(
      run, [=] { launch_boxes(table->as<TableBox>(), count, of_box, run->stream()); }, run->gpu->one_stream(cold));
}

// Patches of f64 with ghost cells around them, packed into a buffer, unpacked, and copied from patch to patch.
void add_boxes(const Lines& lines) {
  for (const int64_t side : {8, 16, 32, 64}) {
    const std::string s = text(side);
    const std::string padded = text((side + 2) * (side + 2)) + "," + text(side + 2) + ",1";
    for (const std::string strides : {"", "src", "dst", "both"}) {
      const bool src = strides == "src" || strides == "both";
      const bool dst = strides == "dst" || strides == "both";
      lines.add({.family = "copy_boxes",
                 .name = "500x" + s + "^3/" + (strides.empty() ? "tight" : "ghosts of " + strides),
                 .line = "copy_boxes bytes=8 count=500 extents=" + s + "x" + s + "x" + s +
                         (src ? " src_strides=" + padded : "") + (dst ? " dst_strides=" + padded : "") +
                         " src=device dst=device",
                 .peer_name = "a kernel over a table",
                 .peer = by_table_of_boxes,
                 .bar = at_least(0.9)},
                true);
    }
  }
}

Peer by_cub_select(int64_t row) {
  return [row](const RunPtr& run, bool cold) {
    const bool places = run->instance.operands.count("src") == 0;
    const auto cub = std::make_shared<CubSelect>(row, places ? nullptr : run->at("src"), run->at<uint8_t>("mask"),
                                                 run->instance.output->get(), run->number("n"));
    return run_side(
        run, [run, cub] { cub->enqueue(run->gpu->peer_stream.get()); }, run->gpu->one_stream(cold));
  };
}

// Masks keep half of the rows.
void add_selections(const Lines& lines) {
  for (const int log2 : {16, 20, 24}) {
    const std::string n = text(int64_t{1} << log2);
    for (const int64_t row : {1, 4, 8, 12, 16, 64}) {
      lines.add({.family = "select",
                 .name = n + "x" + text(row) + "B",
                 .line = "select row_bytes=" + text(row) + " n=" + n + " src=device mask=device dst=device",
                 .peer_name = "cub::DeviceSelect",
                 .peer = by_cub_select(row)},
                true);
    }
    for (const int64_t row : {4, 8}) {
      lines.add({.family = "select",
                 .name = "places/" + n + "x" + text(row) + "B",
                 .line = std::string("select of=places index_type=") + (row == 4 ? "i32" : "i64") + " n=" + n +
                         " mask=device dst=device",
                 .peer_name = "cub::DeviceSelect",
                 .peer = by_cub_select(row)},
                true);
    }
  }
}

// ------------------------------------------------------------------------------------- axpby, conversions, images

Line axpby_line(gpumem_dtype dtype, int log2, bool triad) {
  const int64_t n = int64_t{1} << log2;
  const std::string type = kDtypes[dtype];
  Line line{.family = "axpby",
            .name = (triad ? "triad/" : "axpy/") + type + "/" + power_name(log2),
            .line = "axpby dtype=" + type + " n=" + text(n) + " x=device y=device z=" + (triad ? "device" : "y"),
            .cacheable = cacheable(3.0 * static_cast<double>(bytes_of(dtype, n)))};
  if (triad) {
    line.bar = log2 >= 28 ? at_least_of_ceiling(0.90) : Bar{};
    line.quick = dtype == GPUMEM_F32;
    line.ceiling = Ceiling::theoretical;
    return line;
  }
  line.peer_name = "cuBLAS axpy";
  line.bar = at_least(0.98);
  if (log2 < 24) line.ceiling = Ceiling::none;
  line.peer = by_call([](const Run& r) {
    if (r.problem.dtype() == GPUMEM_F32) {
      r.gpu->blas->axpy(0.5f, r.at<const float>("x"), r.at<float>("y"), r.number("n"));
    } else {
      r.gpu->blas->axpy(0.5, r.at<const double>("x"), r.at<double>("y"), r.number("n"));
    }
  });
  return line;
}

// y changes with every call, so each sample has one call. The first sample follows an untimed call, which loads the
// kernels.
Side checked_later(Side side) {
  side.verify = [verify = std::move(side.verify), first = std::make_shared<bool>(true)] {
    return std::exchange(*first, false) ? std::string() : verify();
  };
  return side;
}

void add_axpby(const Lines& lines) {
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    for (const int log2 : {20, 24, 28, 30}) lines.add(axpby_line(dtype, log2, true), true);
    for (int log2 = 12; lines.gpu()->blas && log2 <= 28; log2 += 2) {
      Case& c = lines.add(axpby_line(dtype, log2, false), true);
      c.open = [open = std::move(c.open)] {
        Pair pair = open();
        return Pair{checked_later(std::move(pair.ours)), checked_later(std::move(pair.peer))};
      };
    }
  }
  const Line ladder = axpby_line(GPUMEM_F32, 28, true);
  lines.add_ladder(ladder, true);
  Case& c = lines.add(ladder, true);
  c.family = "ladder";
  c.name = "axpby/" + c.name + "/coalesced";
  c.peer = "gpumem strided";
  c.bar = {};
  c.quick = false;
  c.open = [gpu = lines.gpu(), ladder] {
    const auto run = std::make_shared<Run>(gpu, ladder.line);
    const auto side = [&](const std::string& name) {
      return with_variant(gpu->ctx, GPUMEM_FAMILY_AXPBY, name, our_side(run, gpu->one_stream(true)),
                          [run] { return run->enqueue(); });
    };
    return Pair{side("coalesced"), side("strided")};
  };
}

// Types of images, models and simulations: wider, narrower, and of equal size.
void add_conversions(const Lines& lines) {
  constexpr std::pair<const char*, const char*> kTypes[] = {{"f32", "f16"}, {"f16", "f32"}, {"f32", "bf16"},
                                                            {"f64", "f32"}, {"u8", "f32"},  {"f32", "i8"},
                                                            {"i64", "i32"}, {"i8", "u8"},   {"i32", "f32"}};
  for (const auto& [from, to] : kTypes) {
    for (const int log2 : {12, 20, 26, 28}) {
      Line line{.family = "convert",
                .name = std::string(from) + " to " + to + "/" + power_name(log2),
                .line = std::string("convert from=") + from + " to=" + to + " n=" + text(int64_t{1} << log2) +
                        " src=device dst=device",
                .peer_name = "cudaMemcpyAsync",
                .peer = by_memcpy(),
                .bar = at_least(0.9),
                .quick = std::string(to) == "f16"};
      line.cacheable = cacheable(static_cast<double>(counted_bytes(Problem(line.line))));
      lines.add_warm_and_cold(line);
    }
  }
}

// Keys alone, and with positions of both sizes.
void add_sorts(const Lines& lines) {
  const auto by_cub = [](const RunPtr& run, bool cold) {
    const auto at = [&](const char* key) { return run->problem.text(key) == "none" ? nullptr : run->at(key); };
    const gpumem_dtype type = run->problem.has("order_type") ? run->problem.dtype("order_type") : GPUMEM_I64;
    const auto peer =
        std::make_shared<CubSort>(run->problem.dtype(), at("keys"), run->number("n"), at("sorted"), at("order"), type);
    return run_side(
        run, [run, peer] { peer->enqueue(run->stream()); }, run->gpu->one_stream(cold));
  };
  for (const std::string type : {"u8", "i16", "i32", "f32", "i64", "f64"}) {
    for (const std::string order : {"none", "u32", "i64"}) {
      for (const int log2 : {10, 14, 17, 20, 24, 28}) {
        Line line{.family = "sort",
                  .name = type + (order == "none" ? "" : " with order of " + order) + "/" + power_name(log2),
                  .line = "sort dtype=" + type + " n=" + text(int64_t{1} << log2) + " keys=device order=" +
                          (order == "none" ? order : "device order_type=" + order) + " sorted=device",
                  .peer_name = order == "none" ? "CUB SortKeys" : "CUB SortPairs",
                  .peer = by_cub,
                  .bar = at_least(0.97),
                  .quick = type == "f32" && log2 >= 24,
                  .ceiling = Ceiling::none};
        lines.add(line, false);
      }
    }
  }
}

// Sums of the elements' own type. CUB's floating-point sums have other bits, so they are not compared.
void add_scans(const Lines& lines) {
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64, GPUMEM_I32, GPUMEM_I64}) {
    const std::string type = kDtypes[dtype];
    const bool floating = dtype >= GPUMEM_F16;
    for (const int log2 : {12, 16, 18, 20, 22, 24, 26, 28, 30}) {
      if (floating && log2 > 28) continue;
      Line line{.family = "scan",
                .name = "sum/" + type + "/" + power_name(log2),
                .line = "scan dtype=" + type + " op=sum result_type=" + type + " n=" + text(int64_t{1} << log2) +
                        " x=device result=device",
                .peer_name = "CUB InclusiveSum",
                .bar = at_least(!floating             ? 0.97
                                : log2 <= 22          ? 1.0
                                : dtype == GPUMEM_F32 ? 0.85
                                                      : 0.9),
                .quick = log2 == 12 || log2 == 20 || log2 == 28};
      line.cacheable = cacheable(static_cast<double>(counted_bytes(Problem(line.line))));
      line.peer = [dtype, floating](const RunPtr& run, bool cold) {
        const auto cub = std::make_shared<CubScan>(dtype, run->at("x"), run->number("n"), run->at("result"));
        Side side = run_side(
            run, [run, cub] { cub->enqueue(run->stream()); }, run->gpu->one_stream(cold));
        if (floating) side.verify = nullptr;
        return side;
      };
      lines.add_warm_and_cold(line);
    }
  }
}

// Compared with a copy of the same bytes.
void add_line_scans(const Lines& lines) {
  constexpr std::pair<const char*, const char*> kCases[] = {
      {"rows/f32/16384x4096", "dtype=f32 result_type=f32 extents=16384x4096 axis=1"},
      {"columns/f32/16384x4096", "dtype=f32 result_type=f32 extents=16384x4096 axis=0"},
      {"rows/f32/4194304x16", "dtype=f32 result_type=f32 extents=4194304x16 axis=1"},
      {"segments/f32/2^26 in 2^16", "dtype=f32 result_type=f32 n=67108864 segments=65536 offsets=device"}};
  for (const auto& [name, sizes] : kCases) {
    Line line{.family = "scan",
              .name = std::string("sum of ") + name,
              .line = std::string("scan op=sum ") + sizes + " x=device result=device",
              .peer_name = "cudaMemcpyAsync",
              .peer = by_memcpy()};
    lines.add_warm_and_cold(line);
  }
}

// Counts and sums by random bins. The baseline's sums of f32 have other bits in each run, so they are not compared.
void add_by_index(const Lines& lines) {
  for (const std::string type : {"none", "i32", "f32"}) {
    for (const int log2 : {16, 20, 24, 27}) {
      for (const int bins_log2 : {4, 8, 14, 20, 24}) {
        if (bins_log2 > log2) continue;
        const std::string x = type == "none" ? "x=none" : "dtype=" + type + " op=sum x=device";
        Line line{.family = "reduce_by_index",
                  .name = (type == "none" ? "counts/" : type + "/") + power_name(log2) + " in " + power_name(bins_log2),
                  .line = "reduce_by_index " + x + " n=" + text(int64_t{1} << log2) +
                          " bins=" + text(int64_t{1} << bins_log2) + " index_type=i32 index=device",
                  .peer_name = "atomics",
                  .quick = log2 >= 24 && bins_log2 == 8,
                  .ceiling = Ceiling::read};
        line.peer = [type](const RunPtr& run, bool cold) {
          const void* const elements = type == "none" ? nullptr : run->at("x");
          const gpumem_dtype dtype = type == "f32" ? GPUMEM_F32 : GPUMEM_I32;
          Side side = run_side(
              run,
              [run, elements, dtype] {
                launch_atomics(dtype, elements, run->at<int32_t>("index"), run->number("n"),
                               run->instance.output->get(), run->number("bins"), run->stream());
              },
              run->gpu->one_stream(cold));
          if (type == "f32") side.verify = nullptr;
          return side;
        };
        lines.add(line, true);
      }
    }
  }
}

// Each function family once, over contiguous operands, rows with padding and repeated operands.
void add_maps(const Lines& lines) {
  struct Mapped {
    const char* name;
    const char* line;
  };
  constexpr Mapped kContiguous[] = {
      {"add f32", "kind=map op=add dtype=f32 x=device y=device z=device"},
      {"divide f64", "kind=map op=divide dtype=f64 x=device y=device z=device"},
      {"square_root f32", "kind=map op=square_root dtype=f32 x=device z=device"},
      {"divide f32", "kind=map op=divide dtype=f32 x=device y=device z=device"},
      {"reciprocal f32", "kind=map op=reciprocal dtype=f32 x=device z=device"},
      {"add i8", "kind=map op=add dtype=i8 x=device y=device z=device"},
      {"maximum f16", "kind=map op=maximum dtype=f16 x=device y=device z=device"},
      {"less f32", "kind=compare op=less dtype=f32 x=device y=device mask=device"},
      {"where 4", "kind=where bytes=4 mask=device x=device y=device z=device"},
      {"i16 to f32", "kind=convert_scaled from=i16 to=f32 src=device scale=device offset=device dst=device"},
      {"u8 to f16", "kind=convert_scaled from=u8 to=f16 src=device scale=device offset=device dst=device"},
      {"f32 to i16", "kind=convert_scaled from=f32 to=i16 src=device scale=device offset=device dst=device"}};
  constexpr Mapped kViews[] = {
      {"add f32/by a row", "kind=map op=add dtype=f32 x=device y=device y_strides=0,1 z=device"},
      {"add f32/by a column", "kind=map op=add dtype=f32 x=device y=device y_strides=1,0 z=device"},
      {"add f32/by a number", "kind=map op=add dtype=f32 x=device y=device y_strides=0,0 z=device"},
      {"add f32/padded",
       "kind=map op=add dtype=f32 x_strides=8200,1 y_strides=8200,1 z_strides=8200,1 x=device y=device z=device"},
      {"add f64/padded by one",
       "kind=map op=add dtype=f64 x_strides=8193,1 y_strides=8193,1 z_strides=8193,1 x=device y=device z=device"}};
  const auto add = [&](const std::string& name, const Mapped& mapped, const std::string& extents) {
    Line line{.family = "map",
              .name = name,
              .line = "map " + std::string(mapped.line) + " extents=" + extents,
              .peer_name = "cudaMemcpyAsync",
              .bar = at_least(0.95),
              .quick = mapped.name == kContiguous[0].name};
    const int64_t bytes = counted_bytes(Problem(line.line));
    line.peer = by_memcpy(static_cast<std::size_t>(bytes / 2));
    line.bytes = static_cast<double>(bytes);
    line.cacheable = cacheable(line.bytes);
    lines.add_warm_and_cold(line);
  };
  for (const Mapped& mapped : kContiguous) {
    for (const int log2 : {20, 24, 28})
      add(std::string(mapped.name) + "/" + power_name(log2), mapped, text(int64_t{1} << log2));
  }
  for (const Mapped& mapped : kViews) add(mapped.name, mapped, "8192x8192");
}

struct Size {
  const char* name;
  int64_t rows, cols;
};
constexpr Size kFullHd{"1080p", 1080, 1920}, k4K{"4K", 2160, 3840}, k8K{"8K", 4320, 7680};

Line image_line(const std::string& filter, gpumem_dtype dtype, int channels, const Size& from, const Size& to) {
  const int64_t pixel = channels * kDtypeBytes[dtype];
  // Nearest reads at most as many rows as it writes, but every sector of them.
  const int64_t rows_read = filter == "nearest" ? std::min(from.rows, to.rows) : from.rows;
  const int64_t touched = (rows_read * from.cols + to.rows * to.cols) * pixel;
  return {.family = "resize",
          .name = filter + "/" + kDtypes[dtype] + "x" + text(channels) + "/" + from.name + "to" + to.name,
          .line = "resize filter=" + filter + " dtype=" + kDtypes[dtype] + " channels=" + text(channels) +
                  " src_rows=" + text(from.rows) + " src_cols=" + text(from.cols) + " dst_rows=" + text(to.rows) +
                  " dst_cols=" + text(to.cols) + " src=device dst=device",
          .peer_name = "cudaMemcpyAsync",
          .peer = by_memcpy(static_cast<std::size_t>(touched / 2)),
          .bar = dtype == GPUMEM_U8 && channels == 3 ? at_least(0.85) : Bar{},
          .bytes = static_cast<double>(touched),
          .cacheable = cacheable(static_cast<double>(touched))};
}

// Many images of one size. The baseline is a call per image.
void add_image_batches(const Lines& lines) {
  struct Batch {
    int channels, images;
    Size from, to;
  };
  const Size photo{"500x375", 375, 500}, small{"96x96", 96, 96}, input{"224x224", 224, 224}, tiny{"64x64", 64, 64};
  const Batch batches[] = {
      {3, 64, photo, input}, {3, 64, kFullHd, input}, {3, 256, small, tiny}, {1, 192, photo, input}};
  for (const Batch& b : batches) {
    Line line = image_line("bilinear", GPUMEM_U8, b.channels, b.from, b.to);
    line.name += "/" + text(b.images) + " images";
    line.line.insert(line.line.find(" src="), " batches=" + text(b.images));
    line.bytes *= b.images;
    line.cacheable = cacheable(line.bytes);
    line.bar = at_least(1.0);
    line.peer_name = "a call per image";
    line.peer = by_call([](const Run& r) {
      const int64_t rows = r.number("src_rows"), cols = r.number("src_cols"), channels = r.number("channels");
      const int64_t to_rows = r.number("dst_rows"), to_cols = r.number("dst_cols");
      const auto* const src = r.at<unsigned char>("src");
      auto* const dst = r.at<unsigned char>("dst");
      for (int64_t k = 0; k < r.number("batches"); ++k) {
        check(gpumem_resize_2d_async(r.gpu->ctx.get(), GPUMEM_FILTER_BILINEAR, GPUMEM_U8,
                                     static_cast<int32_t>(channels), src + k * rows * cols * channels, rows, cols,
                                     cols * channels, dst + k * to_rows * to_cols * channels, to_rows, to_cols,
                                     to_cols * channels, r.gpu->shared_stream));
      }
    });
    if (line.cacheable) lines.add(line, false);
    lines.add(line, true).quick = b.channels == 3;
  }
}

void add_images(const Lines& lines) {
  struct Image {
    gpumem_dtype dtype;
    int channels;
    Size from, to;
  };
  const Image images[] = {{GPUMEM_U8, 3, k4K, kFullHd},  {GPUMEM_U8, 3, kFullHd, k4K},  {GPUMEM_U8, 3, k8K, k4K},
                          {GPUMEM_U8, 3, k4K, k8K},      {GPUMEM_U8, 1, k4K, kFullHd},  {GPUMEM_U8, 4, k4K, kFullHd},
                          {GPUMEM_U16, 3, k4K, kFullHd}, {GPUMEM_F32, 1, k4K, kFullHd}, {GPUMEM_F32, 4, k8K, k4K}};
  for (const std::string filter : {"bilinear", "nearest"}) {
    for (const Image& i : images) {
      const Line line = image_line(filter, i.dtype, i.channels, i.from, i.to);
      if (line.cacheable) lines.add(line, false);
      lines.add(line, true).quick = i.channels == 3;
    }
  }
  // The texture unit computes other values, so they are not compared.
  lines.add_ladder(image_line("bilinear", GPUMEM_U8, 4, k8K, k4K), true, "texture");
}

}  // namespace

void add_cuda_lines(std::vector<Case>& cases, const GpuPtr& gpu) {
  const Lines lines(cases, gpu);
  add_transposes(lines);
  add_transposes_across(lines);
  add_permutations(lines);
  add_copies_and_fills(lines);
  add_rows(lines);
  add_boxes(lines);
  add_selections(lines);
  add_axpby(lines);
  add_conversions(lines);
  add_sorts(lines);
  add_maps(lines);
  add_scans(lines);
  add_line_scans(lines);
  add_by_index(lines);
  add_images(lines);
  add_image_batches(lines);
}

Summary cuda_permute_summary() {
  return {"permute",
          "median of all",
          "cudaMemcpyAsync",
          at_least(0.9),
          [](const std::string& family, const std::string&, const std::string&) { return family == "permute"; },
          SummaryOf::median};
}

}  // namespace bench
