// gpumem grid: takes a grid to the device, reduces and transposes it there, checks both, and reports.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "commands.hpp"
#include "device.hpp"
#include "explain.hpp"
#include "failure.hpp"
#include "grid_report.hpp"
#include "npy.hpp"
#include "resources.hpp"
#include "terminal.hpp"
#include "terrain.hpp"

namespace tool {
namespace {

constexpr const char* kUsage =
    "usage: gpumem grid FILE.npy [options]\n"
    "       gpumem grid --generate ROWSxCOLS [--seed N] [options]\n"
    "\n"
    "Reads a two-dimensional .npy of i1, u1, i2, u2 or i4 (widened to int32), or generates a terrain; copies it to "
    "the\n"
    "device; prints minimum, maximum, sum, mean and roughness (the sum of squares about the mean) beside those of a\n"
    "plain loop; transposes the grid on the device and checks every element; draws both; and says which device did "
    "it,\n"
    "why, and how fast.\n"
    "\n"
    "  --out FILE.npy    write the transposed grid\n"
    "  --device WHICH    host, cuda, or the ordinal of a CUDA device; the default is the best device\n"
    "  --seed N          another terrain (0)\n"
    "  --json            one JSON object instead of text and pictures\n"
    "\n"
    "exit status: 0 if everything agrees, 1 if something differs or fails, 2 for a mistake in the arguments\n";

constexpr int64_t kElementBytes = sizeof(int32_t);

struct Shape {
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t elements() const { return rows * cols; }
};

struct Request {
  std::string file;  // empty: generate
  std::optional<Shape> generate;
  uint64_t seed = 0;
  std::string output;
  int32_t device = GPUMEM_DEVICE_BEST;
  bool as_json = false;
};

Shape parse_shape(const std::string& word) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto x = word.find('x');
  if (x == std::string::npos) throw UsageError("--generate is '" + word + "', expected ROWSxCOLS");
  return {parse_integer(word.substr(0, x), "the number of rows", 1, kMost),
          parse_integer(word.substr(x + 1), "the number of columns", 1, kMost)};
}

Request parse(Args& args) {
  Request request;
  request.as_json = args.flag("--json");
  if (const auto word = args.value("--generate")) request.generate = parse_shape(*word);
  if (const auto word = args.value("--seed")) {
    request.seed = static_cast<uint64_t>(parse_integer(*word, "--seed", 0, std::numeric_limits<int64_t>::max()));
  }
  if (const auto word = args.value("--device")) request.device = parse_device(*word);
  request.output = args.value("--out").value_or("");
  const auto operands = args.operands(1);
  if (operands.empty() != request.generate.has_value()) {
    throw UsageError("expected either one FILE.npy or --generate ROWSxCOLS");
  }
  if (!operands.empty()) request.file = operands[0];
  return request;
}

// A grid in pinned memory, where it came from, and its transposition beside it.
struct Grids {
  Shape shape;
  Memory pinned;
  Memory pinned_transposed;
  Memory device;
  Memory device_transposed;

  Grids(gpumem_ctx* ctx, Shape of)
      : shape(of),
        pinned(allocate_pinned(ctx, of.elements())),
        pinned_transposed(allocate_pinned(ctx, of.elements())),
        device(allocate_device(ctx, of.elements())),
        device_transposed(allocate_device(ctx, of.elements())) {}

  std::span<int32_t> heights() const { return {pinned.get(), static_cast<std::size_t>(shape.elements())}; }
  std::span<int32_t> transposed() const {
    return {pinned_transposed.get(), static_cast<std::size_t>(shape.elements())};
  }
};

// What the operation that was made last did.
std::string explain_last(gpumem_ctx* ctx, gpumem_format format) {
  char line[256];
  check(gpumem_last_problem(line, sizeof line, nullptr), "asking for the last problem");
  return explanation(ctx, line, format);
}

Operation run_sum(gpumem_ctx* ctx, const Grids& grids, gpumem_format format) {
  const int64_t n = grids.shape.elements();
  int64_t sum = 0;
  const Timing timing = measure(
      ctx, [&] { check(gpumem_reduce_i32(ctx, GPUMEM_SUM, grids.device.get(), n, 1, &sum), "summing the grid"); });
  return {n * kElementBytes, timing, explain_last(ctx, format)};
}

Operation run_transpose(gpumem_ctx* ctx, const Grids& grids, gpumem_format format) {
  const auto [rows, cols] = grids.shape;
  const Timing timing = measure(ctx, [&, rows = rows, cols = cols] {
    check(
        gpumem_transpose(ctx, kElementBytes, rows, cols, grids.device.get(), cols, grids.device_transposed.get(), rows),
        "transposing the grid");
  });
  return {2 * grids.shape.elements() * kElementBytes, timing, explain_last(ctx, format)};
}

// Compares in squares that fit the cache.
bool is_transposed(const Grids& grids) {
  constexpr int64_t kSide = 64;
  const auto [rows, cols] = grids.shape;
  const int32_t* a = grids.pinned.get();
  const int32_t* b = grids.pinned_transposed.get();
  for (int64_t i0 = 0; i0 < rows; i0 += kSide) {
    for (int64_t j0 = 0; j0 < cols; j0 += kSide) {
      for (int64_t i = i0; i < std::min(rows, i0 + kSide); ++i) {
        for (int64_t j = j0; j < std::min(cols, j0 + kSide); ++j) {
          if (a[i * cols + j] != b[j * rows + i]) return false;
        }
      }
    }
  }
  return true;
}

// Where the grid comes from: a file whose header has been read, or the generator.
class Source {
 public:
  explicit Source(const Request& request) : seed_(request.seed) {
    if (request.generate) {
      shape_ = *request.generate;
    } else {
      reader_.emplace(request.file);
      shape_ = {reader_->header().rows, reader_->header().cols};
    }
  }

  Shape shape() const { return shape_; }

  void describe(GridReport& report, const std::string& file) const {
    report.source = reader_ ? file : "generated terrain, seed " + std::to_string(seed_);
    report.dtype = reader_ ? reader_->header().dtype : "i4";
    report.rows = shape_.rows;
    report.cols = shape_.cols;
  }

  void fill(std::span<int32_t> heights) {
    if (reader_) {
      reader_->read(heights);
    } else {
      generate_terrain(shape_.rows, shape_.cols, seed_, heights);
    }
  }

 private:
  uint64_t seed_;
  Shape shape_;
  std::optional<NpyReader> reader_;
};

// There, the work itself, and back.
void work_on_device(gpumem_ctx* ctx, const Grids& grids, gpumem_format format, GridReport& report) {
  const int64_t n = grids.shape.elements();
  check(gpumem_copy(ctx, grids.device.get(), grids.pinned.get(), n * kElementBytes), "copying the grid to the device");
  report.library = library_statistics(ctx, grids.device.get(), n);
  report.sum = run_sum(ctx, grids, format);
  report.transpose = run_transpose(ctx, grids, format);
  check(gpumem_copy(ctx, grids.pinned_transposed.get(), grids.device_transposed.get(), n * kElementBytes),
        "copying the transposed grid back");
}

void write_output(const Request& request, std::span<const int32_t> transposed, GridReport& report) {
  if (request.output.empty()) return;
  write_npy(request.output, transposed, report.cols, report.rows);
  report.output = request.output;
}

int run(const Request& request) {
  Progress progress;
  GridReport report;
  Source source(request);
  source.describe(report, request.file);
  const auto [rows, cols] = source.shape();
  if (source.shape().elements() == 0) {
    write_output(request, {}, report);
    print_empty_report(report, request.as_json);
    return 0;
  }

  progress.step("creating a context");
  const Context ctx = create_context(request.device);
  report.device = device_of(ctx.get());
  const Grids grids(ctx.get(), source.shape());

  progress.step(request.generate ? "generating the grid" : "reading the grid");
  source.fill(grids.heights());

  progress.step("summing and transposing on the device");
  work_on_device(ctx.get(), grids, request.as_json ? GPUMEM_FORMAT_JSON : GPUMEM_FORMAT_TEXT, report);

  progress.step("checking");
  report.plain = plain_statistics(grids.heights());
  report.statistics_agree = agree(report.library, report.plain, rows * cols);
  report.transposition_agrees = is_transposed(grids);

  progress.step("writing the transposed grid");
  write_output(request, grids.transposed(), report);
  progress.clear();
  if (request.as_json) {
    print_report_json(report);
  } else {
    print_report(report, {grids.heights(), rows, cols}, {grids.transposed(), cols, rows});
  }
  return report.agrees() ? 0 : 1;
}

}  // namespace

int run_grid(Args args) {
  if (args.flag("--help")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  return run(parse(args));
}

}  // namespace tool
