#include "dist/dist.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "kernels/elements.hpp"
#include "ops/operations.hpp"
#include "ops/reduce/reduce.hpp"

namespace gpumem {
namespace {

template <class T>
Bytes bytes_of(const T& words) {
  const auto* const first = reinterpret_cast<const char*>(&words);
  return {first, first + sizeof words};
}
template <class T>
T words_in(const Bytes& bytes) {
  T words;
  std::memcpy(&words, bytes.data(), sizeof words);
  return words;
}

Members gather_members(Communicator& communicator, Contexts& contexts, const std::function<Contexts()>& read) {
  const std::vector<Bytes> counts = communicator.all_gather([&] {
    contexts = read();
    return bytes_of(static_cast<int32_t>(contexts.size()));
  });
  std::vector<int32_t> of_each;
  of_each.reserve(counts.size());
  for (const Bytes& count : counts) of_each.push_back(words_in<int32_t>(count));
  return {communicator.rank(), of_each};
}

// What a plan is made from beside its layouts. All of it but the workspace is the same on every process.
struct Terms {
  PlanKind kind = PlanKind::redistribute;
  std::array<int32_t, kMostAxes> order{0, 1, 2, 3, 4, 5, 6, 7};  // or what is periodic
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

// One argument that is a layout.
struct Given {
  const ReadLayout& read;
  const char* argument;
};

struct Described {
  std::vector<Layout> layouts;
  Terms terms;
  int64_t number = 0;
};

// The layouts as all processes give them. terms(layouts) reads the rest of this process's arguments.
template <class ReadTerms>
Described describe(Dist& dist, const std::vector<Given>& given, const ReadTerms& read_terms) {
  Described all;
  std::vector<Layout> own;
  const std::vector<Bytes> each = dist.communicator.all_gather([&] {
    Bytes mine;
    for (const Given& one : given) {
      own.push_back(read_layout(one.read(), one.argument, dist.members));
      append_part(mine, words_of(own.back()));
    }
    all.terms = read_terms(own);
    append_part(mine, bytes_of(all.terms));
    return mine;
  });
  all.number = dist.plans_made++;
  std::vector<std::vector<Bytes>> parts;
  parts.reserve(each.size());
  for (const Bytes& mine : each) parts.push_back(parts_of(mine));
  const auto first = words_in<Terms>(parts[0].back());
  int64_t workspace = first.workspace_bytes;
  for (size_t process = 0; process < parts.size(); ++process) {
    auto terms = words_in<Terms>(parts[process].back());
    workspace = std::min(workspace, terms.workspace_bytes);
    terms.workspace_bytes = first.workspace_bytes;
    if (parts[process].size() != parts[0].size() || terms != first) {
      fail(
          GPUMEM_INVALID_ARGUMENT,
          "process %zu plans something else than process 0, or with another order, low, high or periodic; expected the "
          "same on every process",
          process);
    }
  }
  all.terms.workspace_bytes = workspace;
  for (size_t i = 0; i < given.size(); ++i) {
    std::vector<Bytes> of_layout;
    of_layout.reserve(parts.size());
    for (const std::vector<Bytes>& mine : parts) of_layout.push_back(mine[i]);
    all.layouts.push_back(join(of_layout, own[i], given[i].argument, dist.members));
  }
  return all;
}

// What each process builds by itself, or none does.
template <class Build>
std::unique_ptr<DistPlan> build(Dist& dist, PlanKind kind, const Build& build_parts) {
  auto plan = std::make_unique<DistPlan>(dist, kind);
  dist.communicator.all_gather([&] {
    build_parts(*plan);
    return Bytes();
  });
  return plan;
}

std::unique_ptr<DistPlan> build_exchange(Dist& dist, const Described& what, const Layout& src, const Layout& dst) {
  return build(dist, what.terms.kind, [&](DistPlan& plan) {
    const int64_t bytes = what.terms.workspace_bytes;
    plan.exchange =
        std::make_unique<Exchange>(dist.communicator, dist.contexts, dist.members,
                                   route(src, dst, dist.members, message_bytes_for(bytes), dist.communicator.size()),
                                   bytes, what.number, what.terms.kind == PlanKind::halo);
  });
}

void check_order(const int32_t* order, int32_t rank, Terms& terms) {
  std::array<bool, kMostAxes> seen{};
  for (int32_t d = 0; d < rank; ++d) {
    if (order[d] < 0 || order[d] >= rank || seen[static_cast<size_t>(order[d])]) {
      fail(GPUMEM_INVALID_ARGUMENT, "order[%d] is %d; expected each axis of src (0 to %d) once", d, order[d], rank - 1);
    }
    seen[static_cast<size_t>(order[d])] = true;
    terms.order[static_cast<size_t>(d)] = order[d];
  }
}

// How often an array is repeated round itself at most, where a halo is wider than it.
constexpr int64_t kMostRounds = 16;

void check_halo(const Layout& layout, const int64_t* low, const int64_t* high, const int32_t* periodic, Terms& terms) {
  for (const auto& [p, argument] :
       {std::pair<const void*, const char*>{low, "low"}, {high, "high"}, {periodic, "periodic"}}) {
    if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected one value an axis", argument);
  }
  for (int32_t d = 0; d < layout.rank; ++d) {
    const auto axis = static_cast<size_t>(d);
    const int64_t most =
        kMostRounds * std::min(std::max<int64_t>(layout.extents[axis], 1), INT64_MAX / kMostRounds / 4);
    for (const auto& [value, argument] : {std::pair{low[d], "low"}, {high[d], "high"}}) {
      if (value >= 0 && value <= most) continue;
      fail(GPUMEM_INVALID_ARGUMENT, "%s[%d] is %lld; expected 0 to %lld, %lld times the array's extent", argument, d,
           ll(value), ll(most), ll(kMostRounds));
    }
    if (periodic[d] != 0 && periodic[d] != 1) {
      fail(GPUMEM_INVALID_ARGUMENT, "periodic[%d] is %d; expected 0 or 1", d, periodic[d]);
    }
    terms.low[axis] = low[d];
    terms.high[axis] = high[d];
    terms.order[axis] = periodic[d];
    for (const Box& box : layout.boxes) {
      const int64_t length =
          checked_add(box.upper[axis] - box.lower[axis], low[d] + high[d], "elements of a box and its halo");
      checked_mul(checked_mul(length, box.strides[axis], "elements of a box and its halo"), layout.element_bytes,
                  "bytes of a box and its halo");
    }
  }
}

// The part of a halo that lies in some direction of its box, cut where the array ends and begins again.
class Ghosts {
 public:
  Ghosts(const Layout& layout, const Terms& terms, Layout& to) : layout_(layout), terms_(terms), to_(to) {}

  void add_around(const Box& box) {
    if (!box.empty(layout_.rank)) add_axis(box, box, 0, true);
  }

 private:
  void add_axis(const Box& box, Box ghost, size_t axis, bool inside) {
    if (axis == static_cast<size_t>(layout_.rank)) {
      if (!inside) to_.boxes.push_back(ghost);
      return;
    }
    add_part(box, ghost, axis, inside, box.lower[axis], box.upper[axis]);
    add_part(box, ghost, axis, false, box.lower[axis] - terms_.low[axis], box.lower[axis]);
    add_part(box, ghost, axis, false, box.upper[axis], box.upper[axis] + terms_.high[axis]);
  }

  void add_part(const Box& box, Box ghost, size_t axis, bool inside, int64_t lower, int64_t upper) {
    const int64_t extent = layout_.extents[axis];
    const bool periodic = terms_.order[axis] != 0;
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

}  // namespace

Dist::Dist(const gpumem_dist_transport* transport, double deadline_s, const std::function<Contexts()>& read_contexts)
    : communicator(transport, deadline_s), members(gather_members(communicator, contexts, read_contexts)) {
  for (Context* context : contexts) ++context->dists;
}

Dist::~Dist() {
  for (Context* context : contexts) --context->dists;
}

std::unique_ptr<DistPlan> plan_redistribution(Dist& dist, const ReadLayout& src, const ReadLayout& dst,
                                              const int32_t* order, const ReadWorkspace& workspace) {
  const Described what = describe(dist, {{src, "src"}, {dst, "dst"}}, [&](const std::vector<Layout>& own) {
    Terms terms{.kind = PlanKind::redistribute, .workspace_bytes = read_workspace(workspace)};
    if (order != nullptr) check_order(order, own[0].rank, terms);
    return terms;
  });
  const Layout& to = what.layouts[1];
  if (to.rank != what.layouts[0].rank || to.element_bytes != what.layouts[0].element_bytes) {
    fail(GPUMEM_INVALID_ARGUMENT, "dst has rank %d and elements of %lld bytes; expected those of src, %d and %lld",
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
  require_covered(from, to, "dst", dist.members);
  return build_exchange(dist, what, from, to);
}

std::unique_ptr<DistPlan> plan_halo(Dist& dist, const ReadLayout& layout, const int64_t* low, const int64_t* high,
                                    const int32_t* periodic, const ReadWorkspace& workspace) {
  const Described what = describe(dist, {{layout, "layout"}}, [&](const std::vector<Layout>& own) {
    Terms terms{.kind = PlanKind::halo, .workspace_bytes = read_workspace(workspace)};
    check_halo(own[0], low, high, periodic, terms);
    return terms;
  });
  const Layout& whole = what.layouts[0];
  require_disjoint(whole, "layout", dist.members);
  Layout around{whole.element_bytes, whole.rank, whole.extents, {}};
  Ghosts ghosts(whole, what.terms, around);
  for (const Box& box : whole.boxes) ghosts.add_around(box);
  require_covered(whole, around, "halo", dist.members);
  return build_exchange(dist, what, whole, around);
}

std::unique_ptr<DistPlan> plan_reduction(Dist& dist, const ReadLayout& layout, const ReadWorkspace& workspace) {
  const Described what = describe(dist, {{layout, "layout"}}, [&](const std::vector<Layout>&) {
    return Terms{.kind = PlanKind::reduce, .workspace_bytes = read_workspace(workspace)};
  });
  const Layout& array = what.layouts[0];
  require_disjoint(array, "layout", dist.members);
  int64_t there = 0;
  for (const Box& box : array.boxes) there += box.elements(array.rank);
  if (there != array.elements()) {
    fail(GPUMEM_INVALID_ARGUMENT, "layout: all boxes have %lld elements; expected the array's %lld, without holes",
         ll(there), ll(array.elements()));
  }
  return build(dist, PlanKind::reduce, [&](DistPlan& plan) {
    const int64_t bytes = what.terms.workspace_bytes;
    plan.reduction = std::make_unique<Reduction>(dist.communicator, dist.contexts, dist.members, array,
                                                 message_bytes_for(bytes), bytes, what.number);
  });
}

void execute(DistPlan& plan, const void* const* src, void* const* dst) {
  require_kind(plan, plan.kind != PlanKind::reduce, "gpumem_dist_plan_redistribute() or gpumem_dist_plan_halo()");
  if (plan.kind == PlanKind::halo) {
    if (dst != nullptr && src != nullptr) {
      for (size_t i = 0; i < plan.dist.contexts.size(); ++i) {
        if (dst[i] == src[i]) continue;
        fail(GPUMEM_INVALID_ARGUMENT, "dst[%zu] is not src[%zu]; expected the same memory, or dst NULL, for a halo", i,
             i);
      }
    }
    std::vector<void*> same;
    for (size_t i = 0; src != nullptr && i < plan.dist.contexts.size(); ++i) same.push_back(const_cast<void*>(src[i]));
    return plan.exchange->run(src, src == nullptr ? nullptr : same.data());
  }
  plan.exchange->run(src, dst);
}

ReduceValue reduce(DistPlan& plan, gpumem_dtype dtype, gpumem_reduce_op op, const void* const* x,
                   const void* const* y) {
  require_kind(plan, plan.kind == PlanKind::reduce, "gpumem_dist_plan_reduce()");
  check(ReduceParams{.dtype = dtype, .op = op});
  if (element_bytes(dtype) != plan.reduction->element_bytes()) {
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %s, of %lld bytes; expected a type of the layout's element_bytes = %lld",
         dtype_name(dtype), ll(element_bytes(dtype)), ll(plan.reduction->element_bytes()));
  }
  return checked_value(dtype, op, plan.reduction->run(dtype, op, x, y));
}

}  // namespace gpumem
