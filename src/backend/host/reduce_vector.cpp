#include <algorithm>
#include <cstring>

#include "backend/host/reduce.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"

namespace gpumem {
namespace {

Sequence sequence_of(const HostTeam& team, HostWay way, const ReduceParams& a) noexcept {
  const int64_t bytes = element_bytes(a.dtype);
  PitchedElements x{static_cast<const char*>(a.x), a.stride * bytes};
  PitchedElements y{static_cast<const char*>(a.y), a.y_stride * bytes};
  if (a.view.rank > 0) {
    x.strides = a.view.strides;
    y.strides = a.view.y_strides;
  }
  return {team.loops, a.dtype, a.op, x, y, way.one_by_one, &a.view};
}

}  // namespace

gpumem_status WorstStatus::write_to(gpumem_status* target) const noexcept {
  const gpumem_status worst = worst_.load(std::memory_order_relaxed);
  if (target != nullptr) std::memcpy(target, &worst, sizeof worst);
  return worst;
}

VectorReduction::VectorReduction(const HostTeam& team, HostWay way, const ReduceParams& params, const Config& config)
    : team_(team), params_(params), config_(config), sequence_(sequence_of(team, way, params_)) {
  const int64_t tasks = way.serial ? 1 : ceil_div(params.n, config.tile);
  if (tasks > 1) partial_.resize(static_cast<size_t>(tasks));
}

// Each task takes an aligned run of 2^k 1024-element blocks, which is a subtree of the whole.
ReduceNode VectorReduction::run() noexcept {
  const DefaultFloatEnvironment environment;
  if (partial_.empty()) return sequence_.node(0, params_.n);
  const auto tasks = static_cast<int64_t>(partial_.size());
  team_.parallel(tasks, [this](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    const int64_t first = i * config_.tile;
    partial_[static_cast<size_t>(i)] = sequence_.node(first, std::min(first + config_.tile, params_.n));
  });
  return fold_all(sequence_.kind(), partial_.data(), 1, tasks);
}

void VectorReduction::finish() noexcept {
  const ReduceNode node = run();
  const DefaultFloatEnvironment environment;
  const ReduceValue value = value_of_node(params_.dtype, params_.op, node);
  if (value.status == GPUMEM_OK) {
    const size_t words = params_.op == GPUMEM_MIN_MAX ? 2 : 1;
    if (params_.result != nullptr) std::memcpy(params_.result, value.word, words * sizeof(uint64_t));
    if (params_.index != nullptr) std::memcpy(params_.index, &value.word[1], sizeof(int64_t));
  }
  if (params_.status != nullptr) std::memcpy(params_.status, &value.status, sizeof value.status);
}

}  // namespace gpumem
