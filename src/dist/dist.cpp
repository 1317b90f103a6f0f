#include "dist/dist.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/checked.hpp"
#include "kernels/elements.hpp"
#include "ops/operations.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

bool on_host(const std::vector<Context*>& contexts) noexcept {
  return std::none_of(contexts.begin(), contexts.end(), [](const Context* context) { return context->on_cuda(); });
}

Members gather_members(Communicator& communicator, std::vector<Context*>& contexts, Peers& peers,
                       const Dist::ReadContexts& read) {
  communicator.begin_call(CallKind::create, 0);
  const std::vector<Bytes> counts = communicator.all_gather([&] {
    contexts = read();
    peers = Peers(contexts);
    Bytes mine;
    put(mine, static_cast<int32_t>(contexts.size()));
    return mine;
  });
  std::vector<int32_t> of_each;
  of_each.reserve(counts.size());
  int64_t all = 0;
  for (const Bytes& count : counts) {
    const auto process = static_cast<int32_t>(of_each.size());
    of_each.push_back(Reader(count, process).take<int32_t>());
    all += of_each.back();
    if (of_each.back() > 0 && all <= INT32_MAX) continue;
    fail(GPUMEM_PEER_LOST, "process %d has %d members, of %lld with those before; expected 1 or more, and below 2^31",
         process, of_each.back(), ll(all));
  }
  return {communicator.rank(), of_each};
}

// The inputs of a plan besides its layouts. All but the workspace are equal on every process.
struct Terms {
  int64_t kind = 0;
  std::array<int32_t, kAxes> order{0, 1, 2, 3, 4, 5, 6, 7};
  std::array<int32_t, kAxes> periodic{};
  Index low{};
  Index high{};
  int64_t workspace_bytes = 0;

  friend bool operator==(const Terms&, const Terms&) = default;
};

int64_t read_workspace(const ReadWorkspace& read) {
  const int64_t bytes = read();
  require_at_least("workspace_bytes", bytes, kLeastWorkspace);
  return bytes;
}

struct Given {
  const ReadLayout& read;
  const char* argument;
  Access access;
};

struct Described {
  std::vector<Layout> layouts;
  Terms terms;
  int64_t number = 0;
};

// Combines the layouts of all processes. terms(layouts) reads the rest of this process's arguments.
template <class ReadTerms>
Described describe(Dist& dist, PlanKind kind, const std::vector<Given>& given, const ReadTerms& read_terms) {
  dist.communicator.begin_call(CallKind::plan, dist.plans_made);
  Described all;
  std::vector<Layout> own;
  const std::vector<Bytes> each = dist.communicator.all_gather([&] {
    Bytes mine;
    for (const Given& one : given) own.push_back(read_layout(one.read(), one.argument, one.access, dist.members));
    all.terms = read_terms(own);
    all.terms.kind = static_cast<int64_t>(kind);
    put(mine, all.terms);
    for (const Layout& layout : own) put_part(mine, words_of(layout));
    return mine;
  });
  all.number = dist.plans_made++;
  const auto first = Reader(each[0], 0).take<Terms>();
  for (size_t process = 0; process < each.size(); ++process) {
    auto terms = Reader(each[process], static_cast<int32_t>(process)).take<Terms>();
    if (terms.workspace_bytes < kLeastWorkspace) {
      fail(GPUMEM_PEER_LOST, "process %zu has a workspace of %lld bytes; expected %lld or more", process,
           ll(terms.workspace_bytes), ll(kLeastWorkspace));
    }
    all.terms.workspace_bytes = std::min(all.terms.workspace_bytes, terms.workspace_bytes);
    terms.workspace_bytes = first.workspace_bytes;
    if (terms == first) continue;
    fail(GPUMEM_INVALID_ARGUMENT,
         "process %zu plans something else than process 0, or with another order, low, high or periodic; expected the "
         "same on every process",
         process);
  }
  std::vector<std::vector<Bytes>> of_layout(given.size());
  for (size_t process = 0; process < each.size(); ++process) {
    Reader reader(each[process], static_cast<int32_t>(process));
    reader.take<Terms>();
    for (auto& parts : of_layout) parts.push_back(reader.take_part());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    all.layouts.push_back(join(of_layout[i], own[i], given[i].argument, dist.members));
  }
  return all;
}

// A process's part of a plan.
struct Built {
  uint8_t linked;
  uint8_t avoids_host;
  uint8_t on_host;
};

// Every process builds its part, or none does.
template <class Build>
std::unique_ptr<DistPlan> build(Dist& dist, PlanKind kind, const Described& what, const Build& build_parts) {
  auto plan = std::make_unique<DistPlan>(dist, kind, what.number);
  const std::vector<Bytes> each = dist.communicator.all_gather([&] {
    build_parts(*plan);
    const Exchange& exchange = plan->its_exchange();
    Bytes mine;
    put(mine, Built{exchange.is_linked(), exchange.avoids_host(), on_host(dist.contexts)});
    return mine;
  });
  bool any_linked = false;
  bool avoid_host = true;
  bool all_on_host = true;
  for (const Bytes& part : each) {
    const auto built = Reader(part).take<Built>();
    any_linked = any_linked || built.linked != 0;
    avoid_host = avoid_host && built.avoids_host != 0;
    all_on_host = all_on_host && built.on_host != 0;
  }
  if (any_linked) plan->its_exchange().agree_first();
  using enum DistPlan::Async;
  const auto between = any_linked ? linked : peer_reads;
  plan->async = all_on_host && !dist.communicator.alone() ? background : avoid_host ? between : refused;
  return plan;
}

std::unique_ptr<DistPlan> build_exchange(Dist& dist, PlanKind kind, const Described& what, const Layout& src,
                                         const Layout& dst) {
  return build(dist, kind, what, [&](DistPlan& plan) {
    plan.exchange = std::make_unique<Exchange>(kind, dist.group, src, dst, what.terms.workspace_bytes);
  });
}

void check_order(const int32_t* order, int32_t rank, Terms& terms) {
  std::array<bool, kAxes> seen{};
  for (int32_t d = 0; d < rank; ++d) {
    if (order[d] < 0 || order[d] >= rank || seen[static_cast<size_t>(order[d])]) {
      fail(GPUMEM_INVALID_ARGUMENT, "order[%d] is %d; expected each axis of src (0 to %d) once", d, order[d], rank - 1);
    }
    seen[static_cast<size_t>(order[d])] = true;
    terms.order[static_cast<size_t>(d)] = order[d];
  }
}

// Limits the wraps of a halo in a periodic array, and the parts of a box's halo.
constexpr int64_t kMostRounds = 16;
constexpr int64_t kMostGhosts = 1 << 20;

void check_width(const char* argument, int32_t axis, int64_t width, int64_t extent, bool periodic) {
  const int64_t most = periodic ? checked_mul(extent, kMostRounds, "periodic extents") : INT64_MAX / 4;
  if (width >= 0 && width <= most) return;
  fail(GPUMEM_INVALID_ARGUMENT, "%s[%d] is %lld; expected 0 to %lld", argument, axis, ll(width), ll(most));
}

// Written halo elements need distinct places at the box's strides.
void check_room(const Layout& layout, size_t number, const Terms& terms) {
  const Box& box = layout.boxes[number];
  Index lengths = box.extents();
  for (size_t d = 0; d < kAxes; ++d) {
    const bool periodic = terms.periodic[d] != 0;
    lengths[d] += periodic ? terms.low[d] : std::min(terms.low[d], box.lower[d]);
    lengths[d] += periodic ? terms.high[d] : std::min(terms.high[d], layout.extents[d] - box.upper[d]);
  }
  const std::string name = "layout: box " + std::to_string(number) + " and its halo: strides";
  check_distinct({name.c_str(), "a box and its halo", layout.rank, lengths.data(), box.strides.data()});
}

void check_reach(const Box& box, const Terms& terms, int64_t element_bytes) {
  constexpr const char* kWhat = "a box and its halo";
  const Index lengths = box.extents();
  int64_t before = 0;
  int64_t last = box.offset;
  for (size_t d = 0; d < kAxes; ++d) {
    before = checked_add(before, checked_mul(terms.low[d], box.strides[d], kWhat), kWhat);
    const int64_t behind = checked_add(lengths[d] - 1, terms.high[d], kWhat);
    last = checked_add(last, checked_mul(behind, box.strides[d], kWhat), kWhat);
  }
  checked_mul(checked_add(checked_add(before, last, kWhat), 1, kWhat), element_bytes, kWhat);
}

void check_halo(const Layout& layout, const int64_t* low, const int64_t* high, const int32_t* periodic, Terms& terms) {
  for (const auto& [p, argument] :
       {std::pair<const void*, const char*>{low, "low"}, {high, "high"}, {periodic, "periodic"}}) {
    if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected one value an axis", argument);
  }
  int64_t ghosts = 1;
  for (int32_t d = 0; d < layout.rank; ++d) {
    const auto axis = static_cast<size_t>(d);
    const int64_t extent = std::max<int64_t>(layout.extents[axis], 1);
    if (periodic[d] != 0 && periodic[d] != 1) {
      fail(GPUMEM_INVALID_ARGUMENT, "periodic[%d] is %d; expected 0 or 1", d, periodic[d]);
    }
    check_width("low", d, low[d], extent, periodic[d] == 1);
    check_width("high", d, high[d], extent, periodic[d] == 1);
    checked_add(extent, high[d], "high");
    terms.low[axis] = low[d];
    terms.high[axis] = high[d];
    terms.periodic[axis] = periodic[d];
    ghosts *= 3 + (periodic[d] == 1 ? (low[d] + high[d]) / extent : 0);
  }
  if (ghosts > kMostGhosts) {
    fail(GPUMEM_INVALID_ARGUMENT,
         "low and high wrap around the array so often that a box's halo has %lld parts; expected %lld", ll(ghosts),
         ll(kMostGhosts));
  }
  for (size_t i = 0; i < layout.boxes.size(); ++i) {
    if (layout.boxes[i].empty()) continue;
    check_reach(layout.boxes[i], terms, layout.element_bytes);
    check_room(layout, i, terms);
  }
}

// The halo of a box in one direction, cut at the ends of the array.
class Ghosts {
 public:
  Ghosts(const Layout& layout, const Terms& terms, Layout& to) : layout_(layout), terms_(terms), to_(to) {}

  void add_around(const Box& box) {
    if (box.empty()) return;
    Box ghost = box;
    add_axis(box, ghost, 0, true);
  }

 private:
  void add_axis(const Box& box, Box& ghost, size_t axis, bool inside) {
    if (axis == static_cast<size_t>(layout_.rank)) {
      if (!inside) to_.boxes.push_back(ghost);
      return;
    }
    add_part(box, ghost, axis, inside, box.lower[axis], box.upper[axis]);
    add_part(box, ghost, axis, false, box.lower[axis] - terms_.low[axis], box.lower[axis]);
    add_part(box, ghost, axis, false, box.upper[axis], box.upper[axis] + terms_.high[axis]);
  }

  void add_part(const Box& box, Box& ghost, size_t axis, bool inside, int64_t lower, int64_t upper) {
    const int64_t extent = layout_.extents[axis];
    const bool periodic = terms_.periodic[axis] != 0;
    if (!periodic) {
      lower = std::max<int64_t>(lower, 0);
      upper = std::min(upper, extent);
    }
    const int64_t offset = ghost.offset;
    while (lower < upper) {
      const int64_t round = lower >= 0 ? lower / extent : -((extent - 1 - lower) / extent);
      const int64_t end = std::min(upper, (round + 1) * extent);
      ghost.lower[axis] = lower - round * extent;
      ghost.upper[axis] = end - round * extent;
      ghost.offset = offset + (lower - box.lower[axis]) * box.strides[axis];
      add_axis(box, ghost, axis + 1, inside);
      lower = end;
    }
    ghost.offset = offset;
  }

  const Layout& layout_;
  const Terms& terms_;
  Layout& to_;
};

void require_kind(const DistPlan& plan, bool right, const char* expected) {
  if (right) return;
  fail(GPUMEM_INVALID_ARGUMENT, "plan is one of gpumem_dist_plan_%s(); expected one of %s", kind_name(plan.kind),
       expected);
}

Exchange& exchange_of(DistPlan& plan) {
  require_kind(plan, plan.kind != PlanKind::reduce, "gpumem_dist_plan_redistribute() or gpumem_dist_plan_halo()");
  return *plan.exchange;
}

}  // namespace

Dist::Dist(const gpumem_dist_transport* transport, double deadline_s, const ReadContexts& read_contexts)
    : communicator(transport, deadline_s), members(gather_members(communicator, contexts, peers, read_contexts)) {
  wire = join_link(communicator, contexts, members);
  if (!communicator.alone() && (on_host(contexts) || wire != nullptr)) background.emplace(group);
  for (Context* context : contexts) ++context->dists;
}

DistPlan::~DistPlan() {
  if (dist.background) dist.background->finish();
  exchange.reset();
  reduction.reset();
  --dist.plans;
}

Dist::~Dist() {
  background.reset();
  wire.reset();
  for (Context* context : contexts) --context->dists;
}

std::unique_ptr<DistPlan> plan_redistribution(Dist& dist, const ReadLayout& src, const ReadLayout& dst,
                                              const int32_t* order, const ReadWorkspace& workspace) {
  const auto read_terms = [&](const std::vector<Layout>& own) {
    Terms terms{.workspace_bytes = read_workspace(workspace)};
    if (order != nullptr) check_order(order, own[0].rank, terms);
    return terms;
  };
  const Described what =
      describe(dist, PlanKind::redistribute, {{src, "src", Access::read}, {dst, "dst", Access::write}}, read_terms);
  const Layout& to = what.layouts[1];
  if (to.rank != what.layouts[0].rank || to.element_bytes != what.layouts[0].element_bytes) {
    fail(GPUMEM_INVALID_ARGUMENT, "dst has rank %d and elements of %lld bytes; expected %d and %lld, as for src",
         to.rank, ll(to.element_bytes), what.layouts[0].rank, ll(what.layouts[0].element_bytes));
  }
  const Layout from = with_axes(what.layouts[0], what.terms.order);
  for (int32_t d = 0; d < to.rank; ++d) {
    const auto axis = static_cast<size_t>(d);
    if (to.extents[axis] == from.extents[axis]) continue;
    fail(GPUMEM_INVALID_ARGUMENT, "dst->extents[%d] is %lld; expected src->extents[%d] = %lld", d, ll(to.extents[axis]),
         what.terms.order[axis], ll(from.extents[axis]));
  }
  require_disjoint(what.layouts[0], "src", dist.members);
  require_covered(from, to, false, dist.members);
  return build_exchange(dist, PlanKind::redistribute, what, from, to);
}

std::unique_ptr<DistPlan> plan_halo(Dist& dist, const ReadLayout& layout, const int64_t* low, const int64_t* high,
                                    const int32_t* periodic, const ReadWorkspace& workspace) {
  const auto read_terms = [&](const std::vector<Layout>& own) {
    Terms terms{.workspace_bytes = read_workspace(workspace)};
    check_halo(own[0], low, high, periodic, terms);
    return terms;
  };
  const Described what = describe(dist, PlanKind::halo, {{layout, "layout", Access::write}}, read_terms);
  const Layout& whole = what.layouts[0];
  require_disjoint(whole, "layout", dist.members);
  Layout around{whole.element_bytes, whole.rank, whole.extents, {}};
  Ghosts ghosts(whole, what.terms, around);
  for (const Box& box : whole.boxes) ghosts.add_around(box);
  require_covered(whole, around, true, dist.members);
  return build_exchange(dist, PlanKind::halo, what, whole, around);
}

std::unique_ptr<DistPlan> plan_reduction(Dist& dist, const ReadLayout& layout, const ReadWorkspace& workspace) {
  const auto read_terms = [&](const std::vector<Layout>&) {
    return Terms{.workspace_bytes = read_workspace(workspace)};
  };
  const Described what = describe(dist, PlanKind::reduce, {{layout, "layout", Access::read}}, read_terms);
  const Layout& array = what.layouts[0];
  require_disjoint(array, "layout", dist.members);
  int64_t there = 0;
  for (const Box& box : array.boxes) there += box.elements();
  if (there != array.elements()) {
    fail(GPUMEM_INVALID_ARGUMENT, "layout: all boxes have %lld elements; expected the array's %lld, without holes",
         ll(there), ll(array.elements()));
  }
  return build(dist, PlanKind::reduce, what, [&](DistPlan& plan) {
    plan.reduction = std::make_unique<Reduction>(dist.group, array, what.terms.workspace_bytes);
  });
}

void execute(DistPlan& plan, const void* const* src, void* const* dst) {
  Exchange& exchange = exchange_of(plan);
  plan.dist.communicator.begin_call(CallKind::execute, plan.number);
  exchange.run(src, dst);
}

void execute_async(DistPlan& plan, const void* const* src, void* const* dst, const Exchange::ReadStreams& streams) {
  Exchange& exchange = exchange_of(plan);
  switch (plan.async) {
    case DistPlan::Async::peer_reads:
      plan.dist.communicator.begin_call(CallKind::execute, plan.number);
      return exchange.enqueue(src, dst, streams());
    case DistPlan::Async::background:
      return plan.dist.background->enqueue(exchange, plan.number, src, dst, streams);
    case DistPlan::Async::linked:
      return plan.dist.background->enqueue_linked(exchange, plan.number, src, dst, streams);
    case DistPlan::Async::refused:
      fail(GPUMEM_UNSUPPORTED,
           "the plan goes through host memory, and a context is on a device; expected only peer reads and NCCL, as "
           "gpumem_dist_explain() tells, or host contexts in every process, or gpumem_dist_execute()");
  }
}

ReduceValue reduce(DistPlan& plan, const Reduction::Read& read, const void* const* x, const void* const* y) {
  require_kind(plan, plan.kind == PlanKind::reduce, "gpumem_dist_plan_reduce()");
  const auto checked = [&] {
    const ReduceParams what = read();
    check(what);
    if (element_bytes(what.dtype) == plan.reduction->element_bytes()) return what;
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %s, of %lld bytes; expected a type of the layout's element_bytes = %lld",
         dtype_name(what.dtype), ll(element_bytes(what.dtype)), ll(plan.reduction->element_bytes()));
  };
  plan.dist.communicator.begin_call(CallKind::reduce, plan.number);
  return plan.reduction->run(checked, x, y);
}

}  // namespace gpumem
