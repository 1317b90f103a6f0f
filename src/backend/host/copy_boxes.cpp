// Copies of many boxes on the host, each as a permutation. Tasks move whole boxes, and all threads share the large ones.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "backend/host/parallel.hpp"
#include "kernels/limits.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem::host {
namespace {

PermuteParams permutation_of(const CopyBox& box) noexcept {
  PermuteParams one{.src = box.src, .dst = box.dst};
  one.axes = axes_of(box.runs);
  return one;
}

void move(const HostTeam& team, const CopyBox& box, int64_t tasks) noexcept {
  const PermuteParams one = permutation_of(box);
  permute_tiled(team, one, {tasks, 1, 1, host_transpose_tile(one.axes.element_bytes)}, nullptr);
}

}  // namespace

void copy_boxes_parallel(const HostTeam& team, const CopyBoxesParams& p, const Config& config, char*) {
  const int64_t most_tasks = int64_t{8} * team.threads;
  for (int64_t k = 0; k < p.listed; ++k) {
    const int64_t bytes = p.boxes[k].runs.all;
    if (bytes > config.tile) move(team, p.boxes[k], std::clamp<int64_t>(bytes / kHostTaskBytes, 1, most_tasks));
  }
  const HostTeam alone{team.loops, 1, team.cache_bytes, {}, nullptr};
  const int64_t of_task = ceil_div(p.listed, config.grid);
  team.parallel(ceil_div(p.listed, of_task), [&](int64_t task) {
    for (int64_t k = task * of_task; k < std::min((task + 1) * of_task, p.listed); ++k) {
      if (p.boxes[k].runs.all <= config.tile) move(alone, p.boxes[k], 1);
    }
  });
}

void copy_boxes_serial(const HostTeam& team, const CopyBoxesParams& p, const Config&, char*) {
  for (int64_t k = 0; k < p.listed; ++k) permute_serial(team, permutation_of(p.boxes[k]), {}, nullptr);
}

}  // namespace gpumem::host
