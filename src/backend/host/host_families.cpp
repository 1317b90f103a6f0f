// The operations on the host: one launcher per implementation, in the order of the table's host rows.
#include <algorithm>
#include <memory>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/parallel.hpp"
#include "backend/host/reduce.hpp"

namespace gpumem {
namespace {

struct Range {
  int64_t first;
  int64_t last;
};
Range piece(int64_t i, int64_t tile, int64_t n) noexcept {
  return {std::min(i * tile, n), std::min((i + 1) * tile, n)};
}

}  // namespace

namespace host {

// Parts of rows, config.tile bytes each, are assigned to config.grid tasks in order. A tile is a multiple of 64 bytes,
// so each part begins with the pattern's first byte.
void fill_parallel(const HostTeam& team, const FillParams& args, const Config& config, char*) {
  const bool stream = team.larger_than_caches(args.row_bytes() * args.rows);
  const int64_t parts_a_row = ceil_div(args.row_bytes(), config.tile);
  const int64_t parts = parts_a_row * args.rows;
  const int64_t parts_a_task = ceil_div(parts, config.grid);
  team.parallel(ceil_div(parts, parts_a_task), [&](int64_t task) {
    const Range own = piece(task, parts_a_task, parts);
    for (int64_t part = own.first; part < own.last; ++part) {
      const Range r = piece(part % parts_a_row, config.tile, args.row_bytes());
      char* row = static_cast<char*>(args.dst) + part / parts_a_row * args.pitch;
      team.loops.moves.fill(row + r.first, r.last - r.first, args.word, stream);
    }
  });
}

}  // namespace host

ReduceNode HostBackend::reduce(NativeStream stream, const ReduceParams& params,
                               const Configured<ReduceParams>& planned) {
  VectorReduction job(team_, planned.implementation->execute.host, params, planned.config);
  ReduceNode node;
  submit(stream, Completion::blocking, [&] { node = job.run(); });
  return node;
}

void HostBackend::reduce_async(NativeStream stream, const ReduceParams& params,
                               const Configured<ReduceParams>& planned) {
  const HostWay way = planned.implementation->execute.host;
  submit(stream, Completion::asynchronous,
         [job = std::make_shared<VectorReduction>(team_, way, params, planned.config)] { job->finish(); });
}

template <class Job, class Params>
gpumem_status HostBackend::run_lines(NativeStream stream, const Params& params, const Configured<Params>& planned,
                                     Completion completion) {
  const HostWay way = planned.implementation->execute.host;
  gpumem_status worst = GPUMEM_OK;
  if (completion == Completion::blocking) {
    Job job(team_, way, params, planned.config);
    submit(stream, completion, [&] { worst = job.run(); });
  } else {
    submit(stream, completion, [job = std::make_shared<Job>(team_, way, params, planned.config)] { job->run(); });
  }
  return worst;
}

gpumem_status HostBackend::reduce_lines(NativeStream stream, const ReduceAxisParams& params,
                                        const Configured<ReduceAxisParams>& planned, Completion completion) {
  return run_lines<AxisReduction>(stream, params, planned, completion);
}

gpumem_status HostBackend::reduce_lines(NativeStream stream, const ReduceSegmentsParams& params,
                                        const Configured<ReduceSegmentsParams>& planned, Completion completion) {
  return run_lines<SegmentReduction>(stream, params, planned, completion);
}

std::shared_ptr<char[]> HostBackend::workspace_of(size_t bytes) {
  constexpr size_t kLarge = size_t{4} << 20;  // takes huge pages
  if (bytes == 0) return nullptr;
  if (bytes < kLarge) return std::make_unique_for_overwrite<char[]>(bytes);
  const KeptPages::Pages pages = kept_pages_.take(bytes);
  return {static_cast<char*>(pages.p), [this, pages](char*) { kept_pages_.give_back(pages); }};
}

void HostBackend::launch(NativeStream stream, const AnyWork& work, Completion completion) {
  std::visit(
      [&]<class Family>(const Work<Family>& of) {
        const auto execute = of.planned.implementation->execute.host;
        const auto bytes = static_cast<size_t>(of.planned.config.workspace_bytes);
        const std::shared_ptr<char[]> workspace = workspace_of(bytes);
        if (completion == Completion::blocking) {
          return submit(stream, completion, [&] { execute(team_, of.params, of.planned.config, workspace.get()); });
        }
        submit(stream, completion, [execute, workspace, params = of.params, config = of.planned.config, this] {
          execute(team_, params, config, workspace.get());
        });
      },
      work);
}

}  // namespace gpumem
