// What gpumem_dist and gpumem_dist_plan stand for.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "dist/exchange.hpp"
#include "dist/reduction.hpp"

namespace gpumem {

// What gpumem_dist_options_init() and gpumem_dist_plan_options_init() set.
inline constexpr gpumem_dist_options kDefaultDistOptions = {sizeof(gpumem_dist_options), nullptr, 0, 0, nullptr, 60};
inline constexpr gpumem_dist_plan_options kDefaultPlanOptions = {sizeof(gpumem_dist_plan_options), int64_t{256} << 20};

class Dist {
 public:
  // Collective. The transport belongs to it from the call on, whether it fails or not.
  using ReadContexts = std::function<std::vector<Context*>()>;
  Dist(const gpumem_dist_transport* transport, double deadline_s, const ReadContexts& read_contexts);
  ~Dist();
  Dist(const Dist&) = delete;
  Dist& operator=(const Dist&) = delete;

  Communicator communicator;
  std::vector<Context*> contexts;  // of the members of this process
  Peers peers;
  Members members;
  std::unique_ptr<DeviceTransport> wire;
  const Group group{communicator, contexts, members, peers, wire};
  std::mutex calls;  // one collective call at a time
  std::atomic<int64_t> plans{0};
  int64_t plans_made = 0;  // the same on every process
};

enum class PlanKind : int32_t { redistribute, halo, reduce };
constexpr const char* kind_name(PlanKind kind) noexcept {
  constexpr const char* kNames[] = {"redistribute", "halo", "reduce"};
  return kNames[static_cast<int>(kind)];
}

struct DistPlan {
  DistPlan(Dist& of, PlanKind what, int64_t which) noexcept : dist(of), kind(what), number(which) { ++dist.plans; }
  ~DistPlan() {
    exchange.reset();
    reduction.reset();
    --dist.plans;
  }
  DistPlan(const DistPlan&) = delete;
  DistPlan& operator=(const DistPlan&) = delete;

  Dist& dist;
  const PlanKind kind;
  const int64_t number;  // the same on every process
  Exchange& its_exchange() const noexcept { return reduction != nullptr ? reduction->exchange() : *exchange; }
  std::unique_ptr<Exchange> exchange;    // of the first two kinds
  std::unique_ptr<Reduction> reduction;  // of the third
};

// These throw what is wrong with an argument; all processes then throw it.
using ReadLayout = std::function<gpumem_dist_layout()>;
using ReadWorkspace = std::function<int64_t()>;

// Collective. A plan's workspace is the least of what the processes give.
std::unique_ptr<DistPlan> plan_redistribution(Dist& dist, const ReadLayout& src, const ReadLayout& dst,
                                              const int32_t* order, const ReadWorkspace& workspace);
std::unique_ptr<DistPlan> plan_halo(Dist& dist, const ReadLayout& layout, const int64_t* low, const int64_t* high,
                                    const int32_t* periodic, const ReadWorkspace& workspace);
std::unique_ptr<DistPlan> plan_reduction(Dist& dist, const ReadLayout& layout, const ReadWorkspace& workspace);

// Collective.
void execute(DistPlan& plan, const void* const* src, void* const* dst);
// Not collective. A stream for each member here.
void execute_async(DistPlan& plan, const void* const* src, void* const* dst, const std::vector<NativeStream>& streams);
ReduceValue reduce(DistPlan& plan, const Reduction::Read& what, const void* const* x, const void* const* y);

std::string explain(const DistPlan& plan, gpumem_format format);

}  // namespace gpumem
