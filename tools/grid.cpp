// gpumem grid: copies a grid to the device, reduces and transposes it there, checks both, and reports.
#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "grid_report.hpp"
#include "interrupted.hpp"
#include "measure/host_clock.hpp"
#include "measure/progress.hpp"
#include "npy.hpp"
#include "output_file.hpp"
#include "problems/operand.hpp"
#include "problems/problem.hpp"
#include "resources.hpp"
#include "terrain.hpp"

namespace tool {
namespace {

constexpr int64_t kElementBytes = sizeof(int32_t);

struct Grids {
  Shape shape;
  Operand pinned;
  Operand pinned_transposed;
  Operand device;
  Operand device_transposed;

  Grids(gpumem_ctx* ctx, Shape of)
      : shape(of),
        pinned(ctx, "pinned", of.elements() * kElementBytes, 0),
        pinned_transposed(ctx, "pinned", of.elements() * kElementBytes, 0),
        device(ctx, "device", of.elements() * kElementBytes, 0),
        device_transposed(ctx, "device", of.elements() * kElementBytes, 0) {}

  std::span<int32_t> heights() const { return {pinned.as<int32_t>(), static_cast<std::size_t>(shape.elements())}; }
  std::span<int32_t> transposed() const {
    return {pinned_transposed.as<int32_t>(), static_cast<std::size_t>(shape.elements())};
  }
};

std::string explain_last(gpumem_ctx* ctx, gpumem_format format) {
  char line[256];
  check(gpumem_last_problem(line, sizeof line, nullptr), "asking for the last problem");
  return explanation(ctx, line, format);
}

// The first call is not timed, because it loads kernels.
measure::Summary time_calls(const std::function<void()>& call) {
  call();
  const auto sampler = measure::one_call_sampler(call);
  return measure::summary(measure::take_samples(
      [&] {
        stop_if_interrupted();
        return sampler();
      },
      5, 25));
}

Operation run_sum(gpumem_ctx* ctx, const Grids& grids, gpumem_format format) {
  const int64_t n = grids.shape.elements();
  int64_t sum = 0;
  const measure::Summary timing = time_calls(
      [&] { check(gpumem_reduce_i32(ctx, GPUMEM_SUM, grids.device.as<int32_t>(), n, 1, &sum), "summing the grid"); });
  return {n * kElementBytes, timing, explain_last(ctx, format)};
}

Operation run_transpose(gpumem_ctx* ctx, const Grids& grids, gpumem_format format) {
  const auto [rows, cols] = grids.shape;
  const measure::Summary timing = time_calls([&, rows = rows, cols = cols] {
    check(gpumem_transpose(ctx, kElementBytes, rows, cols, grids.device.as<int32_t>(), cols,
                           grids.device_transposed.as<int32_t>(), rows),
          "transposing the grid");
  });
  return {2 * grids.shape.elements() * kElementBytes, timing, explain_last(ctx, format)};
}

// In squares that fit the cache.
bool is_transposed(const Grids& grids) {
  constexpr int64_t kSide = 64;
  const auto [rows, cols] = grids.shape;
  const int32_t* a = grids.pinned.as<int32_t>();
  const int32_t* b = grids.pinned_transposed.as<int32_t>();
  for (int64_t i0 = 0; i0 < rows; i0 += kSide) {
    stop_if_interrupted();
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

class Source {
 public:
  explicit Source(const GridOptions& request) : seed_(request.seed.value_or(0)) {
    if (request.generate) {
      shape_ = *request.generate;
    } else {
      reader_ = std::make_unique<NpyReader>(request.file, NpyReader::Takes::grid);
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
  std::unique_ptr<NpyReader> reader_;
};

void work_on_device(gpumem_ctx* ctx, const Grids& grids, gpumem_format format, GridReport& report) {
  const int64_t n = grids.shape.elements();
  check(gpumem_copy(ctx, grids.device.as<int32_t>(), grids.pinned.as<int32_t>(), n * kElementBytes),
        "copying the grid to the device");
  report.library = library_statistics(ctx, grids.device.as<int32_t>(), n);
  report.sum = run_sum(ctx, grids, format);
  report.transpose = run_transpose(ctx, grids, format);
  check(
      gpumem_copy(ctx, grids.pinned_transposed.as<int32_t>(), grids.device_transposed.as<int32_t>(), n * kElementBytes),
      "copying the transposed grid back");
}

void write_output(const GridOptions& request, std::span<const int32_t> transposed, GridReport& report) {
  if (request.out.empty()) return;
  write_npy(request.out, transposed, report.cols, report.rows);
  report.output = request.out;
}

// For a grid with elements. If Ctrl-C interrupts it, the report keeps the results so far.
void do_grid(const GridOptions& request, Source& source, const Grids& grids, gpumem_ctx* ctx,
             measure::Progress& progress, GridReport& report) {
  progress.step(request.generate ? "generating the grid" : "reading the grid");
  source.fill(grids.heights());
  progress.step("summing and transposing on the device");
  stop_if_interrupted();
  work_on_device(ctx, grids, request.json ? GPUMEM_FORMAT_JSON : GPUMEM_FORMAT_TEXT, report);
  progress.step("checking");
  stop_if_interrupted();
  report.plain = plain_statistics(grids.heights());
  report.statistics_agree = agree(*report.library, *report.plain, source.shape().elements());
  report.transposition_agrees = is_transposed(grids);
  if (!request.out.empty()) progress.step("writing the transposed grid");
  write_output(request, grids.transposed(), report);
}

void print(const GridOptions& request, const GridReport& report, const GridView& grid, const GridView& transposed) {
  if (request.json) {
    print_report_json(report);
  } else {
    print_report(report, grid, transposed);
  }
}

}  // namespace

int run_grid(const GridOptions& request) {
  measure::Progress progress;
  GridReport report;
  Source source(request);
  source.describe(report, request.file);
  try_output(request.out);
  const auto [rows, cols] = source.shape();
  if (source.shape().elements() == 0) {
    write_output(request, {}, report);
    print(request, report, {}, {});
    return 0;
  }
  watch_interrupts();
  progress.step("creating a context");
  const Context ctx = create_context(request.device);
  report.device = device_of(ctx.get());
  const Grids grids(ctx.get(), source.shape());
  try {
    do_grid(request, source, grids, ctx.get(), progress, report);
  } catch (const Interrupted&) {
    report.interrupted = true;
  }
  progress.clear();
  print(request, report, {grids.heights(), rows, cols}, {grids.transposed(), cols, rows});
  if (report.interrupted) return kInterruptedStatus;
  return report.differs() ? 1 : 0;
}

}  // namespace tool
