// Operations on the host backend whose results are arrays, compared with OpenMP's loops, the C library and OpenBLAS.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"
#include "support/plain.hpp"

#if BENCH_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace bench {
namespace {

struct Run {
  Context ctx;
  Problem problem;
  tool::Instance instance;
  OperandPtr expected;

  Run(const Context& c, const std::string& line) : ctx(c), problem(line), instance(host_instance(c, problem)) {}

  template <class T = void>
  T* at(const char* key) const {
    return instance.operands.at(key)->as<T>();
  }
  int64_t number(const char* key, int64_t missing = 1) const { return problem.number(key, missing); }
  int64_t bytes() const { return instance.output->bytes(); }

  Side side(const std::shared_ptr<Run>& self, std::function<void()> call) const {
    return {host_sampler(std::move(call), kHostClock), [self] { self->instance.reset(); },
            [self]() -> std::string {
              return self->instance.output->same_as(*self->expected) ? "" : "the result differs";
            }};
  }
};
using RunPtr = std::shared_ptr<Run>;

using Peer = std::function<void(const Run&)>;

// -------------------------------------------------------------------------------------------------- expected results

template <class T>
void plain_triad(const Run& r, T* z) {
  const T *const x = r.at<T>("x"), *const y = r.at<T>("y");
#pragma omp parallel for
  for (int64_t i = 0; i < r.number("n"); ++i) z[i] = x[i] + static_cast<T>(0.5) * y[i];
}

void plain_rows(const Run& r, unsigned char* to) {
  const bool gathers = r.problem.family() == "gather";
  const auto row = static_cast<std::size_t>(r.number("row_bytes"));
  const auto* const index = r.at<const int64_t>("index");
  for (int64_t i = 0; i < r.number("n"); ++i) {
    const auto here = static_cast<std::size_t>(i) * row, there = static_cast<std::size_t>(index[i]) * row;
    std::memcpy(to + (gathers ? here : there), r.at<unsigned char>("src") + (gathers ? there : here), row);
  }
}

// One thread. Neither side writes behind the last kept row, where both have what `to` has.
void plain_selection(const Run& r, unsigned char* to) {
  const bool places = r.problem.text("of") == "places";
  const auto row = static_cast<std::size_t>(places ? sizeof(int64_t) : r.number("row_bytes"));
  const auto* const mask = r.at<const uint8_t>("mask");
  for (int64_t i = 0; i < r.number("n"); ++i) {
    if (mask[i] == 0) continue;
    std::memcpy(to,
                places ? static_cast<const void*>(&i) : r.at<unsigned char>("src") + static_cast<std::size_t>(i) * row,
                row);
    to += row;
  }
}

// One thread. Counts, or sums in f64, which are exact here: the elements have few bits.
void plain_by_index(const Run& r, unsigned char* to) {
  const auto* const index = r.at<const int64_t>("index");
  const auto bins = static_cast<std::size_t>(r.number("bins"));
  std::memset(to, 0, 8 * bins);
  if (r.problem.text("x") == "none") {
    auto* const counts = reinterpret_cast<int64_t*>(to);
    for (int64_t i = 0; i < r.number("n"); ++i) ++counts[index[i]];
  } else {
    auto* const sums = reinterpret_cast<double*>(to);
    const auto* const x = r.at<const float>("x");
    for (int64_t i = 0, n = r.number("n"); i < n; ++i) sums[index[i]] += static_cast<double>(x[i]);
  }
}

void plain_movement(const Run& r, unsigned char* to) {
  const Axes axes = axes_of(r.problem);
  const auto size = static_cast<std::size_t>(axes.element_bytes);
  const auto* const src = r.at<unsigned char>("src");
  tool::in_parallel(axes.elements, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t from = 0, place = 0;
      axes.places(i, from, place);
      std::memcpy(to + static_cast<std::size_t>(place) * size, src + static_cast<std::size_t>(from) * size, size);
    }
  });
}

// Both types have these numbers.
template <class From, class To>
void plain_conversion(const Run& r, unsigned char* to) {
  auto* const src = r.at<From>("src");
  auto* const dst = reinterpret_cast<To*>(to);
#pragma omp parallel for
  for (int64_t i = 0; i < r.number("n"); ++i) {
    src[i] = static_cast<From>(i % 251);
    dst[i] = static_cast<To>(i % 251);
  }
}

using Plain = std::function<void(const Run&, unsigned char* to)>;

void plain(const Run& r, unsigned char* to) {
  const std::string& family = r.problem.family();
  if (family == "axpby") {
    return r.problem.dtype() == GPUMEM_F32 ? plain_triad(r, reinterpret_cast<float*>(to))
                                           : plain_triad(r, reinterpret_cast<double*>(to));
  }
  if (family == "gather" || family == "scatter") return plain_rows(r, to);
  if (family == "select") {
    std::memset(to, tool::kSpoiled, static_cast<std::size_t>(r.bytes()));
    return plain_selection(r, to);
  }
  if (family != "fill") return plain_movement(r, to);
  const int64_t size = r.number("bytes");
  const tool::Pattern pattern = tool::fill_pattern(r.number("uniform", 0) != 0);
  for (int64_t i = 0; i < r.bytes(); ++i) to[i] = pattern.bytes[i % size];
}

// ------------------------------------------------------------------------------------------------------------ cases

RunPtr open(const Context& ctx, const std::string& line, const Plain& wanted) {
  const auto run = std::make_shared<Run>(ctx, line);
  run->expected = host_memory(ctx, run->bytes());
  (wanted ? wanted : Plain(plain))(*run, run->expected->get());
  return run;
}

Pair open_pair(const RunPtr& run, const Peer& peer, bool other_bits = false) {
  Pair pair{run->side(run, [run] { check(run->instance.call(false)); }), run->side(run, [run, peer] { peer(*run); })};
  if (other_bits) pair.peer.verify = nullptr;
  return pair;
}

struct Line {
  std::string family;
  std::string name;
  std::string line;
  std::string peer_name;
  Peer peer;
  Bar bar = {};
  Ceiling ceiling = Ceiling::copy;
  bool quick = false;
  Plain wanted = {};
  bool other_bits = false;  // of the baseline, which is not compared
};

struct Lines {
  std::vector<Case>& cases;
  Context ctx;

  void add(const Line& line) const {
    cases.push_back({.family = line.family,
                     .name = line.name,
                     .peer = line.peer_name,
                     .bar = line.bar,
                     .bytes = static_cast<double>(counted_bytes(Problem(line.line))),
                     .ceiling = line.ceiling,
                     .quick = line.quick,
                     .open = [ctx = ctx, line] {
                       return open_pair(open(ctx, line.line, line.wanted), line.peer, line.other_bits);
                     }});
  }
  void add_ladder_of(const Line& line) const {
    const std::string family = line.line.substr(0, line.line.find(' '));
    add(line);
    Case base = std::move(cases.back());
    cases.pop_back();
    add_ladder(cases, std::move(base), family, [ctx = ctx, line, family](const std::string& variant) {
      const RunPtr run = open(ctx, line.line, line.wanted);
      Pair pair = open_pair(run, line.peer);
      pair.ours = with_variant(ctx, tool::family_of(family), variant, std::move(pair.ours),
                               [run] { return run->instance.call(false); });
      return pair;
    });
  }
};

// ------------------------------------------------------------------------------------------------------- transposes

std::string transpose_line(int64_t rows, int64_t cols) {
  return "transpose bytes=4 rows=" + std::to_string(rows) + " cols=" + std::to_string(cols) +
         " src=pageable dst=pageable";
}

#if BENCH_HAS_OPENBLAS
void by_openblas(const Run& r) {
  const auto rows = static_cast<blasint>(r.number("rows")), cols = static_cast<blasint>(r.number("cols"));
  cblas_somatcopy(CblasRowMajor, CblasTrans, rows, cols, 1.0f, r.at<const float>("src"), cols, r.at<float>("dst"),
                  rows);
}
#endif

void by_openmp_tiles(const Run& r) {
  openmp::transpose_tiled(r.at<const uint32_t>("src"), r.at<uint32_t>("dst"), r.number("rows"), r.number("cols"));
}

// The matrix dst of a run, transposed in place back and forth. The baseline has its own.
struct InPlace {
  RunPtr run;
  OperandPtr second;
  bool there = false;

  Side side(const std::shared_ptr<InPlace>& self, const std::function<void(int64_t rows, int64_t cols)>& call) {
    const int64_t rows = run->number("rows"), cols = run->number("cols");
    const auto turn = [self, call, rows, cols] {
      self->there ? call(cols, rows) : call(rows, cols);
      self->there = !self->there;
    };
    const auto reset = [self] {
      self->there = false;
      std::memcpy(self->run->at("dst"), self->run->at("src"), static_cast<std::size_t>(self->run->bytes()));
    };
    return {host_sampler(turn, kHostClock), reset, [self]() -> std::string {
              const Run& r = *self->run;
              const OperandPtr& wanted = self->there ? r.expected : r.instance.operands.at("src");
              return r.instance.output->same_as(*wanted) ? "" : "the result differs";
            }};
  }
};

Pair open_in_place(const Context& ctx, const std::string& line) {
  const RunPtr run = open(ctx, line, {});
  const auto m = std::make_shared<InPlace>(InPlace{run, host_memory(ctx, run->bytes())});
  void* const data = run->at("dst");
  return {m->side(m,
                  [ctx, data](int64_t rows, int64_t cols) {
                    check(gpumem_transpose(ctx.get(), 4, rows, cols, data, cols, data, rows));
                  }),
          m->side(m, [data, second = m->second](int64_t rows, int64_t cols) {
            openmp::transpose_tiled(static_cast<const uint32_t*>(data), second->as<uint32_t>(), rows, cols);
            openmp::copy(data, second->get(), static_cast<std::size_t>(second->bytes()));
          })};
}

void add_transposes(const Lines& lines) {
  const auto name = [](int64_t rows, int64_t cols) {
    return "4B/" + std::to_string(rows) + "x" + std::to_string(cols);
  };
  const auto tiled = [&](int64_t rows, int64_t cols) {
    return Line{.family = "transpose",
                .name = name(rows, cols),
                .line = transpose_line(rows, cols),
                .peer_name = "OpenMP tiled",
                .peer = by_openmp_tiles,
                .quick = rows == 4096};
  };
  for (const auto& [rows, cols] : {std::pair{4096, 4096}, {8192, 8192}, {5003, 4999}}) {
    Line line = tiled(rows, cols);
#if BENCH_HAS_OPENBLAS
    line.peer_name = "OpenBLAS somatcopy";
    line.peer = by_openblas;
    line.bar = at_least(0.95);
    lines.add(line);
#endif
    lines.add(tiled(rows, cols));
  }
  for (const auto& [rows, cols] : {std::pair{4096, 8192}, {5003, 4999}}) {
    Line line = tiled(rows, cols);
    line.name += "/in_place";
    line.peer_name = "OpenMP tiled, and back";
    line.quick = false;
    lines.add(line);
    lines.cases.back().open = [ctx = lines.ctx, line] { return open_in_place(ctx, line.line); };
  }
  lines.add_ladder_of(tiled(4096, 4096));
}

// ----------------------------------------------------------------------------------------------------- permutations

void by_openmp_permute(const Run& r) {
  const auto extents = r.problem.numbers("extents"), axes = r.problem.numbers("order");
  const std::vector<int32_t> order(axes.begin(), axes.end());
  openmp::permute(r.at<const uint32_t>("src"), r.at<uint32_t>("dst"), static_cast<int>(order.size()), extents.data(),
                  order.data());
}

void add_permutations(const Lines& lines) {
  constexpr std::pair<const char*, const char*> kShapes[] = {
      {"256x256x384", "2,1,0"},        {"199x331x397", "0,2,1"},       {"37x1871x399", "1,0,2"},
      {"91x93x43x72", "3,2,1,0"},      {"91x93x43x72", "2,0,1,3"},     {"17x411x11x299", "1,3,0,2"},
      {"37x38x35x18x27", "4,3,2,1,0"}, {"5x101x6x97x101", "3,1,4,0,2"}};
  for (const auto& [extents, order] : kShapes) {
    std::string digits = order;
    std::erase(digits, ',');
    lines.add(
        {.family = "permute",
         .name = std::string("4B/") + extents + "/" + digits,
         .line = std::string("permute bytes=4 extents=") + extents + " order=" + order + " src=pageable dst=pageable",
         .peer_name = "OpenMP tiled",
         .peer = by_openmp_permute,
         .bar = at_least(0.95),
         .quick = extents == kShapes[0].first});
  }
}

// ------------------------------------------------------------------------------------------------- copies and fills

constexpr int64_t kLarge = int64_t{1} << 28;

void by_memcpy(const Run& r) { std::memcpy(r.at("dst"), r.at("src"), static_cast<std::size_t>(r.bytes())); }
void by_openmp_copy(const Run& r) { openmp::copy(r.at("dst"), r.at("src"), static_cast<std::size_t>(r.bytes())); }
void by_openmp_rows(const Run& r) {
  const auto size = [&](const char* key) { return static_cast<std::size_t>(r.number(key)); };
  openmp::copy_rows(r.at("dst"), size("dst_pitch"), r.at("src"), size("src_pitch"), size("bytes"), r.number("rows"));
}
void by_memset(const Run& r) { std::memset(r.at("dst"), 0, static_cast<std::size_t>(r.bytes())); }
void by_openmp_fill(const Run& r) {
  uint64_t words[2];
  constexpr tool::Pattern kPattern = tool::fill_pattern(false);
  std::memcpy(words, kPattern.bytes, sizeof words);
  const int64_t pattern_bytes = r.number("bytes");
  if (pattern_bytes == 1) {
    openmp::fill_bytes(r.at("dst"), 0, static_cast<std::size_t>(r.bytes()));
  } else if (pattern_bytes == 4) {
    openmp::fill_u32(r.at<uint32_t>("dst"), static_cast<uint32_t>(words[0]), r.bytes() / 4);
  } else {
    openmp::fill_u64_pairs(r.at<uint64_t>("dst"), words[0], words[1], r.bytes() / 16);
  }
}

void add_movement(const Lines& lines) {
  const std::pair<const char*, Peer> copies[] = {{"memcpy", by_memcpy}, {"OpenMP memcpy", by_openmp_copy}};
  for (const int64_t bytes : {int64_t{1} << 16, int64_t{1} << 20, int64_t{1} << 24, kLarge}) {
    for (const auto& [name, peer] : copies) {
      lines.add({.family = "copy",
                 .name = "host/" + size_name(static_cast<std::size_t>(bytes)),
                 .line = "copy bytes=" + std::to_string(bytes) + " src=pageable dst=pageable",
                 .peer_name = name,
                 .peer = peer,
                 .ceiling = bytes == kLarge ? Ceiling::copy : Ceiling::none,
                 .quick = bytes == kLarge});
    }
  }
  // The left half of a matrix's rows, to rows without padding.
  for (const int row : {16, 256, 4096, 1 << 16}) {
    const std::string width = std::to_string(row);
    lines.add({.family = "copy_2d",
               .name = "host/rows" + width,
               .line = "copy bytes=" + width + " rows=" + std::to_string(kLarge / 2 / row) +
                       " src_pitch=" + std::to_string(2 * row) + " dst_pitch=" + width + " src=pageable dst=pageable",
               .peer_name = "OpenMP memcpy of rows",
               .peer = by_openmp_rows,
               .ceiling = Ceiling::none});
  }
  const auto fill = [](int pattern_bytes, const char* name, Peer peer) {
    const std::string size = std::to_string(pattern_bytes);
    return Line{.family = "fill",
                .name = "host/256MiB/pattern" + size,
                .line = "fill bytes=" + size + " n=" + std::to_string(kLarge / pattern_bytes) +
                        (pattern_bytes == 1 ? " uniform=1" : "") + " dst=pageable",
                .peer_name = name,
                .peer = std::move(peer),
                .ceiling = Ceiling::write,
                .quick = pattern_bytes == 1};
  };
  lines.add(fill(1, "memset", by_memset));
  lines.add(fill(1, "OpenMP memset", by_openmp_fill));
  lines.add(fill(4, "OpenMP loop", by_openmp_fill));
  lines.add(fill(16, "OpenMP loop", by_openmp_fill));
  lines.add_ladder_of(fill(16, "OpenMP loop", by_openmp_fill));
}

// --------------------------------------------------------------------------------------------- axpby, conversions

template <class T>
void triad(const Run& r) {
  openmp::triad(r.at<const T>("x"), static_cast<T>(0.5), r.at<const T>("y"), r.at<T>("z"), r.number("n"));
}
void by_openmp_triad(const Run& r) { r.problem.dtype() == GPUMEM_F32 ? triad<float>(r) : triad<double>(r); }

void add_triads(const Lines& lines) {
  const auto triad = [](const std::string& dtype, int log2) {
    return Line{.family = "axpby",
                .name = "triad/" + dtype + "/host/" + power_name(log2),
                .line = "axpby dtype=" + dtype + " n=" + std::to_string(int64_t{1} << log2) +
                        " x=pageable y=pageable z=pageable",
                .peer_name = "OpenMP loop",
                .peer = by_openmp_triad,
                .bar = log2 >= 20 ? at_least(0.95) : Bar{},  // below, a call's own microsecond counts
                .ceiling = log2 >= 25 ? Ceiling::copy : Ceiling::none,
                .quick = log2 == 20};
  };
  for (const int log2 : {14, 17, 20, 22, 25, 27}) lines.add(triad("f32", log2));
  for (const int log2 : {20, 25}) lines.add(triad("f64", log2));
  lines.add_ladder_of(triad("f32", 25));
}

template <class From, class To>
void add_conversion(const Lines& lines, const std::string& from, const std::string& to, int log2) {
  lines.add({.family = "convert",
             .name = from + " to " + to + "/host/" + power_name(log2),
             .line = "convert from=" + from + " to=" + to + " n=" + std::to_string(int64_t{1} << log2) +
                     " src=pageable dst=pageable",
             .peer_name = "OpenMP loop",
             .peer = [](const Run& r) { openmp::convert(r.at<const From>("src"), r.at<To>("dst"), r.number("n")); },
             .bar = log2 >= 20 ? at_least(0.95) : Bar{},
             .ceiling = log2 >= 26 ? Ceiling::copy : Ceiling::none,
             .quick = log2 == 20,
             .wanted = plain_conversion<From, To>});
}

template <class T>
void sum_plainly(const Run& r, unsigned char* to) {
  const T* x = r.at<const T>("x");
  const T* y = r.at<const T>("y");
  for (int64_t i = 0; i < tool::product(r.problem.numbers("extents")); ++i) reinterpret_cast<T*>(to)[i] = x[i] + y[i];
}
template <class T>
void sum_by_openmp(const Run& r) {
  openmp::triad(r.at<const T>("x"), T{1}, r.at<const T>("y"), r.at<T>("z"),
                tool::product(r.problem.numbers("extents")));
}

template <class T>
void add_sums(const Lines& lines, const std::string& dtype) {
  for (const int log2 : {14, 17, 20, 22, 25, 27}) {
    lines.add({.family = "map",
               .name = "add " + dtype + "/host/" + power_name(log2),
               .line = "map kind=map op=add dtype=" + dtype + " extents=" + std::to_string(int64_t{1} << log2) +
                       " x=pageable y=pageable z=pageable",
               .peer_name = "OpenMP loop",
               .peer = sum_by_openmp<T>,
               .bar = log2 >= 20 ? at_least(0.95) : Bar{},
               .ceiling = log2 >= 25 ? Ceiling::copy : Ceiling::none,
               .quick = log2 == 20,
               .wanted = sum_plainly<T>});
  }
}

// ------------------------------------------------------------------------------------------------------------ scans

// One thread, because the parallel algorithms need a library of their own. NumPy's cumsum is this loop too.
template <class T>
void partial_sums(const Run& r, unsigned char* to) {
  const T* x = r.at<const T>("x");
  std::partial_sum(x, x + r.number("n"), reinterpret_cast<T*>(to));
}

// The expected result is that of the plainest variant.
void plain_scan(const Run& r, unsigned char* to) {
  const tool::Forced forced(r.ctx.get(), GPUMEM_FAMILY_SCAN, "host_serial");
  const gpumem_dtype dtype = r.problem.dtype();
  check(gpumem_scan(r.ctx.get(), dtype, GPUMEM_SUM, 0, r.at<const void>("x"), r.number("n"), to, dtype));
}

template <class T>
void add_scan(const Lines& lines, const std::string& type, int log2) {
  lines.add({.family = "scan",
             .name = "sum/" + type + "/host/" + power_name(log2),
             .line = "scan dtype=" + type + " op=sum result_type=" + type + " n=" + std::to_string(int64_t{1} << log2) +
                     " x=pageable result=pageable",
             .peer_name = "std::partial_sum",
             .peer = [](const Run& r) { partial_sums<T>(r, r.at<unsigned char>("result")); },
             .bar = log2 >= 16 ? at_least(1.0) : Bar{},
             .ceiling = log2 >= 26 ? Ceiling::copy : Ceiling::none,
             .quick = log2 == 20,
             .wanted = plain_scan,
             .other_bits = std::is_floating_point_v<T>});
}

// Lines of sums, one after the other: rows of a matrix, or segments of equal length.
template <class T>
void lines_of_sums(const Run& r) {
  const T* const x = r.at<const T>("x");
  T* const to = r.at<T>("result");
  const bool segments = r.problem.has("segments");
  const int64_t lines = segments ? r.number("segments") : r.problem.numbers("extents")[0];
  const int64_t n = segments ? r.number("n") / lines : r.problem.numbers("extents")[1];
  for (int64_t i = 0; i < lines; ++i) std::partial_sum(x + i * n, x + (i + 1) * n, to + i * n);
}

// Columns of sums, row by row.
template <class T>
void columns_of_sums(const Run& r) {
  const T* const x = r.at<const T>("x");
  T* const to = r.at<T>("result");
  const int64_t rows = r.problem.numbers("extents")[0];
  const int64_t cols = r.problem.numbers("extents")[1];
  std::copy_n(x, cols, to);
  for (int64_t i = cols; i < rows * cols; ++i) to[i] = to[i - cols] + x[i];
}

void plain_lines_scan(const Run& r, unsigned char* to) {
  const tool::Forced forced(r.ctx.get(), GPUMEM_FAMILY_SCAN, "host_serial");
  const gpumem_dtype dtype = r.problem.dtype();
  if (r.problem.has("segments")) {
    return check(gpumem_scan_segments(r.ctx.get(), dtype, GPUMEM_SUM, 0, r.at<const void>("x"), r.number("n"),
                                      r.at<const int64_t>("offsets"), r.number("segments"), to, dtype));
  }
  const std::vector<int64_t> extents = r.problem.numbers("extents");
  const auto axis = static_cast<int32_t>(r.problem.number("axis", 1));
  check(gpumem_scan_axis(r.ctx.get(), dtype, GPUMEM_SUM, 0, 2, extents.data(), axis, r.at<const void>("x"), nullptr, to,
                         nullptr, dtype));
}

void add_line_scans(const Lines& lines) {
  struct {
    const char* name;
    std::string sizes;
    std::function<void(const Run&)> peer;
  } const kCases[] = {
      {"rows/f32/4096x4096", "dtype=f32 result_type=f32 extents=4096x4096 axis=1", lines_of_sums<float>},
      {"columns/f32/4096x4096", "dtype=f32 result_type=f32 extents=4096x4096 axis=0", columns_of_sums<float>},
      {"rows/i64/1000000x16", "dtype=i64 result_type=i64 extents=1000000x16 axis=1", lines_of_sums<int64_t>},
      {"segments/f64/2^24 in 2^16", "dtype=f64 result_type=f64 n=16777216 segments=65536 offsets=pageable",
       lines_of_sums<double>}};
  for (const auto& c : kCases) {
    lines.add({.family = "scan",
               .name = std::string("sum of ") + c.name + "/host",
               .line = "scan op=sum " + c.sizes + " x=pageable result=pageable",
               .peer_name = "plain loop",
               .peer = c.peer,
               .wanted = plain_lines_scan,
               .other_bits = c.sizes.find("i64") == std::string::npos});
  }
}

// -------------------------------------------------------------------------------------------------- rows and images

void by_openmp_index(const Run& r) {
  openmp::move_rows(r.at<char>("dst"), r.at<const char>("src"), r.at<const int64_t>("index"), r.number("n"),
                    r.number("row_bytes"), r.problem.family() == "scatter");
}

void add_rows(const Lines& lines) {
  constexpr int64_t kBytes = int64_t{1} << 27;  // of each matrix
  for (const bool gathers : {true, false}) {
    const std::string family = gathers ? "gather" : "scatter";
    for (const int64_t row : {4, 64, 512}) {
      const std::string n = std::to_string(kBytes / row);
      lines.add({.family = family,
                 .name = std::to_string(row) + "B rows/128MiB",
                 .line = family + " row_bytes=" + std::to_string(row) + " n=" + n +
                         (gathers ? " src_rows=" : " dst_rows=") + n +
                         " index_type=i64 src=pageable index=pageable dst=pageable",
                 .peer_name = "OpenMP loop",
                 .peer = by_openmp_index,
                 .quick = row == 512});
    }
  }
}

template <class T>
void stable_sorted(const Run& r, T* to) {
  const T* keys = r.at<const T>("keys");
  std::copy(keys, keys + r.number("n"), to);
  std::stable_sort(to, to + r.number("n"));
}

// One thread. The output is the sorted keys.
void add_sorts(const Lines& lines) {
  for (const std::string type : {"i32", "f64"}) {
    const auto sorted = [type](const Run& r, unsigned char* to) {
      type == "i32" ? stable_sorted(r, reinterpret_cast<int32_t*>(to))
                    : stable_sorted(r, reinterpret_cast<double*>(to));
    };
    for (const bool order : {false, true}) {
      lines.add({.family = "sort",
                 .name = type + (order ? " with order" : "") + "/2^22",
                 .line = "sort dtype=" + type + " n=4194304 keys=pageable order=" + (order ? "pageable" : "none") +
                         " sorted=pageable",
                 .peer_name = "std::stable_sort",
                 .peer = [sorted](const Run& r) { sorted(r, r.at<unsigned char>("sorted")); },
                 .ceiling = Ceiling::none,
                 .wanted = sorted});
    }
  }
}

// Boxes of f64, a call of gpumem_copy_3d() each.
void by_copies(const Run& r) {
  const Axes axes = axes_of(r.problem);
  const int64_t row = axes.extent[3] * 8;
  for (int64_t k = 0; k < axes.extent[0]; ++k) {
    check(gpumem_copy_3d(r.ctx.get(), r.at<double>("dst") + k * axes.dst[0], axes.dst[2] * 8, axes.dst[1] * 8,
                         r.at<double>("src") + k * axes.src[0], axes.src[2] * 8, axes.src[1] * 8, row, axes.extent[2],
                         axes.extent[1]));
  }
}

// Patches with ghost cells around them, packed into a buffer.
void add_boxes(const Lines& lines) {
  for (const int64_t side : {4, 8, 16, 32, 64}) {
    const std::string s = std::to_string(side);
    lines.add({.family = "copy_boxes",
               .name = "500x" + s + "^3",
               .line = "copy_boxes bytes=8 count=500 extents=" + s + "x" + s + "x" + s +
                       " src_strides=" + std::to_string((side + 2) * (side + 2)) + "," + std::to_string(side + 2) +
                       ",1 src=pageable dst=pageable",
               .peer_name = "gpumem_copy_3d in a loop",
               .peer = by_copies,
               .bar = at_least(1.0),
               .quick = side == 16});
  }
}

// Masks keep half of the rows.
void add_selections(const Lines& lines) {
  const auto loop = [](const Run& r) { plain_selection(r, r.at<unsigned char>("dst")); };
  const std::string n = std::to_string(int64_t{1} << 24);
  for (const int64_t row : {1, 4, 8, 64}) {
    lines.add(
        {.family = "select",
         .name = std::to_string(row) + "B rows/2^24",
         .line = "select row_bytes=" + std::to_string(row) + " n=" + n + " src=pageable mask=pageable dst=pageable",
         .peer_name = "loop",
         .peer = loop,
         .quick = row == 8});
  }
  lines.add({.family = "select",
             .name = "places/2^24",
             .line = "select of=places index_type=i64 n=" + n + " mask=pageable dst=pageable",
             .peer_name = "loop",
             .peer = loop});
}

void add_by_index(const Lines& lines) {
  for (const bool counts : {true, false}) {
    for (const int log2 : {8, 16, 22}) {
      const std::string x = counts ? "x=none" : "dtype=f32 op=sum x=pageable";
      lines.add({.family = "reduce_by_index",
                 .name = (counts ? "counts/2^24 in 2^" : "f32/2^24 in 2^") + std::to_string(log2),
                 .line = "reduce_by_index " + x + " n=16777216 bins=" + std::to_string(int64_t{1} << log2) +
                         " index_type=i64 index=pageable",
                 .peer_name = "loop",
                 .peer = [](const Run& r) { plain_by_index(r, r.instance.output->as<unsigned char>()); },
                 .ceiling = Ceiling::none,
                 .quick = log2 == 8,
                 .wanted = plain_by_index});
    }
  }
}

void resized(const Run& r, unsigned char* to) {
  const int64_t rows = r.number("src_rows"), cols = r.number("src_cols"), channels = r.number("channels");
  const int64_t to_rows = r.number("dst_rows"), to_cols = r.number("dst_cols");
  for (int64_t k = 0; k < r.number("batches"); ++k) {
    openmp::resize_bilinear({r.at<const uint8_t>("src") + k * rows * cols * channels, rows, cols,
                             to + k * to_rows * to_cols * channels, to_rows, to_cols, channels});
  }
}

void resized_one_by_one(const Run& r) {
  const int64_t rows = r.number("src_rows"), cols = r.number("src_cols"), channels = r.number("channels");
  const int64_t to_rows = r.number("dst_rows"), to_cols = r.number("dst_cols");
  for (int64_t k = 0; k < r.number("batches"); ++k) {
    check(gpumem_resize_2d(r.ctx.get(), GPUMEM_FILTER_BILINEAR, GPUMEM_U8, static_cast<int32_t>(channels),
                           r.at<const uint8_t>("src") + k * rows * cols * channels, rows, cols, cols * channels,
                           r.at<uint8_t>("dst") + k * to_rows * to_cols * channels, to_rows, to_cols,
                           to_cols * channels));
  }
}

// The baseline's result, computed once, is the expected one: both use the same arithmetic, so the bytes are equal.
void add_images(const Lines& lines) {
  constexpr std::pair<const char*, const char*> kImages[] = {
      {"u8x3/2160x3840 to 1080x1920", "channels=3 src_rows=2160 src_cols=3840 dst_rows=1080 dst_cols=1920"},
      {"u8x3/1080x1920 to 2160x3840", "channels=3 src_rows=1080 src_cols=1920 dst_rows=2160 dst_cols=3840"},
      {"u8/6000x6000 to 4500x4500", "src_rows=6000 src_cols=6000 dst_rows=4500 dst_cols=4500"}};
  for (const auto& [name, sizes] : kImages) {
    lines.add({.family = "resize",
               .name = std::string("bilinear/") + name,
               .line = std::string("resize filter=bilinear dtype=u8 ") + sizes + " src=pageable dst=pageable",
               .peer_name = "OpenMP loop",
               .peer = [](const Run& r) { resized(r, r.at<unsigned char>("dst")); },
               .wanted = resized});
  }
  constexpr std::pair<const char*, const char*> kBatches[] = {
      {"u8x3/64 images of 375x500 to 224x224",
       "channels=3 src_rows=375 src_cols=500 dst_rows=224 dst_cols=224 batches=64"},
      {"u8x3/256 images of 96x96 to 64x64", "channels=3 src_rows=96 src_cols=96 dst_rows=64 dst_cols=64 batches=256"}};
  for (const auto& [name, sizes] : kBatches) {
    lines.add({.family = "resize",
               .name = std::string("bilinear/") + name,
               .line = std::string("resize filter=bilinear dtype=u8 ") + sizes + " src=pageable dst=pageable",
               .peer_name = "a call per image",
               .peer = resized_one_by_one,
               .wanted = resized});
  }
}

}  // namespace

void add_host_lines(std::vector<Case>& cases, const Context& ctx) {
  const Lines lines{cases, ctx};
  add_transposes(lines);
  add_permutations(lines);
  add_movement(lines);
  add_triads(lines);
  add_sums<float>(lines, "f32");
  add_sums<double>(lines, "f64");
  for (const int log2 : {16, 20, 26}) {
    add_conversion<uint8_t, float>(lines, "u8", "f32", log2);
    add_conversion<float, int16_t>(lines, "f32", "i16", log2);
    add_conversion<double, float>(lines, "f64", "f32", log2);
    add_conversion<int64_t, int32_t>(lines, "i64", "i32", log2);
  }
  for (const int log2 : {12, 16, 20, 24}) {
    add_scan<float>(lines, "f32", log2);
    add_scan<double>(lines, "f64", log2);
    add_scan<int64_t>(lines, "i64", log2);
  }
  add_line_scans(lines);
  add_rows(lines);
  add_boxes(lines);
  add_selections(lines);
  add_by_index(lines);
  add_images(lines);
  add_sorts(lines);
}

}  // namespace bench
