// The families on the host: one launcher a variant, in the order of the table's host rows.
#include <algorithm>
#include <memory>

#include "backend/host/host_backend.hpp"
#include "backend/host/parallel.hpp"
#include "backend/host/reduce.hpp"
#include "backend/launchers.hpp"
#include "base/limits.hpp"

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

// Parts of rows, shape.tile bytes each, are dealt out to shape.grid tasks in order; a multiple of 64, so that each begins with the
// pattern's first byte.
void fill(const HostTeam& team, const FillParams& args, const LaunchShape& shape) {
  const bool stream = team.larger_than_caches(args.row_bytes() * args.rows);
  const int64_t parts_a_row = ceil_div(args.row_bytes(), shape.tile);
  const int64_t parts = parts_a_row * args.rows;
  const int64_t parts_a_task = ceil_div(parts, shape.grid);
  team.parallel(ceil_div(parts, parts_a_task), [&](int64_t task) {
    const Range own = piece(task, parts_a_task, parts);
    for (int64_t part = own.first; part < own.last; ++part) {
      const Range r = piece(part % parts_a_row, shape.tile, args.row_bytes());
      char* row = static_cast<char*>(args.dst) + part / parts_a_row * args.pitch;
      team.loops.moves.fill(row + r.first, r.last - r.first, args.word, stream);
    }
  });
}

// A reduction's rows differ in how the one job runs.
constexpr Launcher<HostWay> kReduce[] = {
    {"host_vector", {}}, {"host_strided", {.one_by_one = true}}, {"host_serial", {.one_by_one = true, .serial = true}}};
constexpr Launcher<HostWay> kReduceAxis[] = {{"host_lines", {}}, {"host_lines_serial", {.serial = true}}};
constexpr Launcher<HostWay> kReduceSegments[] = {{"host_segments", {}}, {"host_segments_serial", {.serial = true}}};

// A serial fill is one task.
constexpr HostLauncher<FillParams> kFill[] = {{"host_parallel", fill}, {"host_serial", fill}};

}  // namespace

LauncherNames host_launcher_names() {
  LauncherNames names;
  add_names(names, GPUMEM_FAMILY_REDUCE, kReduce);
  add_names(names, GPUMEM_FAMILY_REDUCE_AXIS, kReduceAxis);
  add_names(names, GPUMEM_FAMILY_REDUCE_SEGMENTS, kReduceSegments);
  add_rows_host_names(names);
  LaunchedFamilies::for_each([&]<class Family>() { add_names(names, Family::id, Family::on_host()); });
  return names;
}

ReduceNode HostBackend::reduce(NativeStream stream, const ReduceParams& params, const Choice& choice) {
  VectorReduction job(team_, kReduce[choice.launcher].launch, params, choice.shape);
  ReduceNode node;
  submit(stream, Until::complete, [&] { node = job.run(); });
  return node;
}

void HostBackend::reduce_async(NativeStream stream, const ReduceParams& params, const Choice& choice) {
  const HostWay way = kReduce[choice.launcher].launch;
  submit(stream, Until::enqueued,
         [job = std::make_shared<VectorReduction>(team_, way, params, choice.shape)] { job->finish(); });
}

template <class Job, class Params>
gpumem_status HostBackend::run_lines(NativeStream stream, HostWay way, const Params& params, const LaunchShape& shape,
                                     Until until) {
  gpumem_status worst = GPUMEM_OK;
  if (until == Until::complete) {
    Job job(team_, way, params, shape);
    submit(stream, until, [&] { worst = job.run(); });
  } else {
    submit(stream, until, [job = std::make_shared<Job>(team_, way, params, shape)] { job->run(); });
  }
  return worst;
}

gpumem_status HostBackend::reduce_lines(NativeStream stream, const ReduceAxisParams& params, const Choice& choice,
                                        Until until) {
  return run_lines<AxisReduction>(stream, kReduceAxis[choice.launcher].launch, params, choice.shape, until);
}

gpumem_status HostBackend::reduce_lines(NativeStream stream, const ReduceSegmentsParams& params, const Choice& choice,
                                        Until until) {
  return run_lines<SegmentReduction>(stream, kReduceSegments[choice.launcher].launch, params, choice.shape, until);
}

FillFamily::HostTable FillFamily::on_host() noexcept { return kFill; }

void HostBackend::launch(NativeStream stream, const AnyWork& work, const Choice& choice, Until until) {
  std::visit(
      [&]<class Family>(const Work<Family>& of) {
        const auto& launcher = Family::on_host()[static_cast<size_t>(choice.launcher)];
        std::shared_ptr<char[]> scratch;
        if (launcher.scratch_bytes != nullptr) {
          const int64_t bytes = launcher.scratch_bytes(team_, of.params, choice.shape);
          require_available_for_call(static_cast<size_t>(bytes));
          scratch = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes));
        }
        submit(stream, until, [&launcher, scratch, params = of.params, shape = choice.shape, this] {
          if (scratch == nullptr) return launcher.launch(team_, params, shape);
          launcher.in_scratch(team_, params, shape, scratch.get());
        });
      },
      work);
}

}  // namespace gpumem
