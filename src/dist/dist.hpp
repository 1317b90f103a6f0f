// The objects behind gpumem_dist and gpumem_dist_plan.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "dist/background.hpp"
#include "dist/exchange.hpp"
#include "dist/reduction.hpp"

namespace gpumem {

inline constexpr gpumem_dist_options kDefaultDistOptions = {sizeof(gpumem_dist_options), nullptr, 0, 0, nullptr, 60};
inline constexpr gpumem_dist_plan_options kDefaultPlanOptions = {sizeof(gpumem_dist_plan_options), int64_t{256} << 20};

class Dist {
 public:
  // Collective. Takes ownership of the transport, even on failure.
  using ReadContexts = std::function<std::vector<Context*>()>;
  Dist(const gpumem_dist_transport* transport, double deadline_s, const ReadContexts& read_contexts);
  ~Dist();
  Dist(const Dist&) = delete;
  Dist& operator=(const Dist&) = delete;

  Communicator communicator;
  std::vector<Context*> contexts;  // of this process's participants
  Peers peers;
  Members members;
  std::unique_ptr<DeviceTransport> wire;
  const Group group{communicator, contexts, members, peers, wire};
  std::optional<Background> background;  // with several processes, if this one has only host contexts, or a link
  std::mutex calls;                      // one collective call at a time
  std::atomic<int64_t> plans{0};
  int64_t plans_made = 0;  // equal on every process
};

constexpr const char* kind_name(PlanKind kind) noexcept {
  constexpr const char* kNames[] = {"redistribute", "halo", "reduce"};
  return kNames[static_cast<int>(kind)];
}

struct DistPlan {
  DistPlan(Dist& of, PlanKind what, int64_t which) noexcept : dist(of), kind(what), number(which) { ++dist.plans; }
  ~DistPlan();
  DistPlan(const DistPlan&) = delete;
  DistPlan& operator=(const DistPlan&) = delete;

  Dist& dist;
  const PlanKind kind;
  const int64_t number;
  // How execute_async() runs it, the same on every process.
  enum class Async : int32_t { peer_reads, background, linked, refused };
  Async async = Async::peer_reads;
  Exchange& its_exchange() const noexcept { return reduction != nullptr ? reduction->exchange() : *exchange; }
  std::unique_ptr<Exchange> exchange;
  std::unique_ptr<Reduction> reduction;
};

// These throw argument errors; all processes then throw the same error.
using ReadLayout = std::function<gpumem_dist_layout()>;
using ReadWorkspace = std::function<int64_t()>;

// Collective. The smallest workspace of all processes counts.
std::unique_ptr<DistPlan> plan_redistribution(Dist& dist, const ReadLayout& src, const ReadLayout& dst,
                                              const int32_t* order, const ReadWorkspace& workspace);
std::unique_ptr<DistPlan> plan_halo(Dist& dist, const ReadLayout& layout, const int64_t* low, const int64_t* high,
                                    const int32_t* periodic, const ReadWorkspace& workspace);
std::unique_ptr<DistPlan> plan_reduction(Dist& dist, const ReadLayout& layout, const ReadWorkspace& workspace);

// Collective.
void execute(DistPlan& plan, const void* const* src, void* const* dst);
// Collective. One stream per local participant.
void execute_async(DistPlan& plan, const void* const* src, void* const* dst, const Exchange::ReadStreams& streams);
ReduceValue reduce(DistPlan& plan, const Reduction::Read& what, const void* const* x, const void* const* y);

std::string explain(const DistPlan& plan, gpumem_format format);

}  // namespace gpumem
