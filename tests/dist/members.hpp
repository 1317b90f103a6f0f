// Members of a gpumem_dist, their memory, and plans that are carried out on random numbers and checked element by element.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "dist/random_layouts.hpp"
#include "support/bit_cases.hpp"
#include "support/contexts.hpp"

namespace gpumem_test {

struct DestroyDist {
  void operator()(gpumem_dist* dist) const { EXPECT_TRUE(ok(gpumem_dist_destroy(dist))); }
};
using Dist = std::unique_ptr<gpumem_dist, DestroyDist>;

struct DestroyPlan {
  void operator()(gpumem_dist_plan* plan) const { EXPECT_TRUE(ok(gpumem_dist_plan_destroy(plan))); }
};
using Plan = std::unique_ptr<gpumem_dist_plan, DestroyPlan>;

inline testing::AssertionResult lost(gpumem_status got) {
  if (got == GPUMEM_PEER_LOST || got == GPUMEM_TIMED_OUT) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << gpumem_status_name(got) << ", expected PEER_LOST or TIMED_OUT";
}

// The members of this process, and which of all they are.
struct Part {
  std::vector<gpumem_ctx*> contexts;  // one a member
  int64_t first = 0;
  int64_t all = 0;

  int64_t count() const { return static_cast<int64_t>(contexts.size()); }
};

inline gpumem_dist_options dist_options(const Part& part, const gpumem_dist_transport* transport = nullptr,
                                        double deadline_s = 60) {
  gpumem_dist_options options;
  EXPECT_TRUE(ok(gpumem_dist_options_init(&options, sizeof options)));
  options.contexts = part.contexts.data();
  options.members = static_cast<int32_t>(part.count());
  options.transport = transport;
  options.deadline_s = deadline_s;
  return options;
}

inline Dist make_dist(const Part& part, const gpumem_dist_transport* transport = nullptr, double deadline_s = 60) {
  const gpumem_dist_options options = dist_options(part, transport, deadline_s);
  gpumem_dist* dist = nullptr;
  EXPECT_TRUE(ok(gpumem_dist_create(&options, &dist)));
  return Dist(dist);
}

inline gpumem_dist_info info_of(gpumem_dist* dist) {
  gpumem_dist_info info;
  EXPECT_TRUE(ok(gpumem_dist_info_init(&info, sizeof info)));
  EXPECT_TRUE(ok(gpumem_dist_query(dist, &info)));
  return info;
}

inline gpumem_dist_plan_options plan_options(int64_t workspace_bytes) {
  gpumem_dist_plan_options options;
  EXPECT_TRUE(ok(gpumem_dist_plan_options_init(&options, sizeof options)));
  options.workspace_bytes = workspace_bytes;
  return options;
}

// The default, or a workspace that makes the exchange take many rounds.
inline gpumem_dist_plan_options random_plan_options(Random& random) {
  gpumem_dist_plan_options options = plan_options(4096);
  const uint64_t kind = random.below(3);
  if (kind == 0) options.workspace_bytes = int64_t{256} << 20;
  if (kind == 1) options.workspace_bytes = random.between(4096, 1 << 17);
  return options;
}

// The memory of this process's members for a layout: of any kind, at any alignment, poisoned where no element was put.
class MemberMemory {
 public:
  MemberMemory(const Part& part, Layout layout, Random& own, const Index& high = {}, bool on_device = false)
      : layout_(std::move(layout)), first_(part.first) {
    for (int64_t i = 0; i < part.count(); ++i) {
      const int64_t bytes = bytes_of_member(layout_, first_ + i, high);
      const uint64_t any = own.below(4);
      const gpumem_memory_kind kind = !on_device ? kAllKinds[any]
                                      : any < 2  ? GPUMEM_MEMORY_DEVICE
                                                 : GPUMEM_MEMORY_MANAGED;
      buffers_.emplace_back(part.contexts[static_cast<size_t>(i)], kind, static_cast<size_t>(bytes),
                            own.below(2) == 0 ? 0 : own.below(16));
      // What a member without boxes passes is not looked at.
      const bool none = !has_boxes(layout_, first_ + i) && own.below(2) == 0;
      pointers_.push_back(none ? nullptr : buffers_.back().data());
    }
  }

  // The elements of the boxes, as the array has them.
  void put(const Array& array) {
    expect(array);
    for (GuardedBuffer& buffer : buffers_) buffer.write();
  }
  // The same, as what is to be there later.
  void expect(const Array& array) {
    for (const Box& box : layout_.boxes) {
      if (GuardedBuffer* const buffer = of(box)) put_box(array, box, buffer->image());
    }
  }
  void expect_halo(const Array& array, const Halo& halo) {
    for (const Box& box : layout_.boxes) {
      if (GuardedBuffer* const buffer = of(box)) put_halo(array, box, halo, buffer->image());
    }
  }

  testing::AssertionResult intact() const {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const testing::AssertionResult member = buffers_[i].intact();
      if (!member)
        return testing::AssertionFailure() << "member " << first_ + static_cast<int64_t>(i) << ": " << member.message();
    }
    return testing::AssertionSuccess();
  }

  const void* const* sources() const { return pointers_.data(); }
  void* const* targets() { return pointers_.data(); }

 private:
  GuardedBuffer* of(const Box& box) {
    const auto member = static_cast<size_t>(box.member - first_);
    return box.member >= first_ && member < buffers_.size() ? &buffers_[member] : nullptr;
  }

  Layout layout_;
  int64_t first_;
  std::deque<GuardedBuffer> buffers_;
  std::vector<void*> pointers_;
};

// How a plan is carried out.
using Execute = std::function<gpumem_status(gpumem_dist_plan*, const void* const*, void* const*)>;

// Each of these has a plan, whose data is made by `shared`, the same numbers in every process; `own` decides what a process decides
// for itself.

class PlannedMove {
 public:
  PlannedMove(gpumem_dist* dist, const Part& part, const Move& move, const gpumem_dist_plan_options* options,
              Random& own, bool on_device = false)
      : move_(move), src_(part, move.src, own, {}, on_device), dst_(part, move.dst, own, {}, on_device) {
    const View src(move.src, part.first, part.count()), dst(move.dst, part.first, part.count());
    gpumem_dist_plan* plan = nullptr;
    status_ = gpumem_dist_plan_redistribute(dist, &src.raw, &dst.raw, move.order.empty() ? nullptr : move.order.data(),
                                            options, &plan);
    plan_.reset(plan);
  }

  void run(Random& shared) { ASSERT_TRUE(ok(attempt(shared))) << describe(move_); }
  // Where it succeeds, with the right result.
  gpumem_status attempt(Random& shared) {
    Array array(move_.src.element_bytes, move_.src.extents);
    shared.fill(array.bytes);
    src_.put(array);
    const gpumem_status status = status_ == GPUMEM_OK ? execute() : status_;
    if (status != GPUMEM_OK) return status;
    dst_.expect(move_.order.empty() ? array : permuted(array, move_.order));
    EXPECT_TRUE(dst_.intact()) << "in dst; " << describe(move_);
    EXPECT_TRUE(src_.intact()) << "in src; " << describe(move_);
    return status;
  }
  gpumem_status execute() { return by(plan_.get(), src_.sources(), dst_.targets()); }
  gpumem_status status() const { return status_; }
  gpumem_dist_plan* plan() const { return plan_.get(); }

  Execute by = gpumem_dist_execute;

 private:
  Move move_;
  MemberMemory src_, dst_;
  gpumem_status status_;
  Plan plan_;
};

class PlannedHalo {
 public:
  PlannedHalo(gpumem_dist* dist, const Part& part, const Layout& layout, const Halo& halo,
              const gpumem_dist_plan_options* options, Random& own, bool on_device = false)
      : layout_(layout), halo_(halo), memory_(part, layout, own, halo.high, on_device), with_null_(own.below(2) == 0) {
    const View view(layout, part.first, part.count());
    gpumem_dist_plan* plan = nullptr;
    status_ =
        gpumem_dist_plan_halo(dist, &view.raw, halo.low.data(), halo.high.data(), halo.periodic.data(), options, &plan);
    plan_.reset(plan);
  }

  void run(Random& shared) { ASSERT_TRUE(ok(attempt(shared))) << describe(layout_, halo_); }
  gpumem_status attempt(Random& shared) {
    Array array(layout_.element_bytes, layout_.extents);
    shared.fill(array.bytes);
    memory_.put(array);
    const gpumem_status status = status_ == GPUMEM_OK ? execute() : status_;
    if (status != GPUMEM_OK) return status;
    memory_.expect_halo(array, halo_);
    EXPECT_TRUE(memory_.intact()) << describe(layout_, halo_);
    return status;
  }
  gpumem_status execute() { return by(plan_.get(), memory_.sources(), with_null_ ? nullptr : memory_.targets()); }
  gpumem_status status() const { return status_; }
  gpumem_dist_plan* plan() const { return plan_.get(); }

  Execute by = gpumem_dist_execute;

 private:
  Layout layout_;
  Halo halo_;
  MemberMemory memory_;
  bool with_null_;
  gpumem_status status_;
  Plan plan_;
};

// gpumem_dist_reduce() and its like by one name, as run() of support/reductions.hpp.
inline gpumem_status run(gpumem_dist_plan* plan, gpumem_dtype dtype, gpumem_reduce_op op, const void* const* x,
                         const void* const* y, void* out) {
  auto* const words = static_cast<int64_t*>(out);
  if (op == GPUMEM_DOT) return gpumem_dist_dot(plan, dtype, x, y, static_cast<double*>(out));
  if (op == GPUMEM_DOT_ORDER_FREE) return gpumem_dist_dot_order_free(plan, dtype, x, y, static_cast<double*>(out));
  if (op == GPUMEM_NRM2) return gpumem_dist_nrm2(plan, dtype, x, static_cast<double*>(out));
  if (is_arg(op)) return gpumem_dist_argreduce(plan, dtype, sought(op), x, words, words + 1);
  return gpumem_dist_reduce(plan, dtype, op, x, out);
}

inline Outcome outcome_of(gpumem_dist_plan* plan, gpumem_dtype dtype, gpumem_reduce_op op, const void* const* x,
                          const void* const* y) {
  uint64_t out[3] = {kUntouched, kUntouched, kUntouched};
  Outcome outcome;
  outcome.status = run(plan, dtype, op, x, y, out);
  for (int i = 0; i < 3; ++i) {
    if (outcome.status == GPUMEM_OK && i < words_of(op)) {
      outcome.words[i] = out[i];
    } else {
      EXPECT_EQ(out[i], kUntouched) << "word " << i << " after " << gpumem_status_name(outcome.status);
    }
  }
  return outcome;
}

// Numbers whose sums depend on their order, or whose result does not fit, or that are the ends of their type.
inline Bytes random_terms(gpumem_dtype dtype, gpumem_reduce_op op, int64_t n, Random& random) {
  const bool factors = op == GPUMEM_PROD && random.below(4) != 0;
  const Numbers kind = factors ? Numbers::factors : kAllNumbers[random.below(std::size(kAllNumbers))];
  Bytes x = random_elements(dtype, kind, n, 1, random);
  if (kind == Numbers::cancelling) bit_cases::disturb(dtype, x, n, 1, random);
  if ((op == GPUMEM_NRM2 || op == GPUMEM_NRM2_ORDER_FREE) && dtype == GPUMEM_F64 && random.below(2) == 0)
    bit_cases::put_near_thresholds(x, n, 1, random);
  if (random.below(8) == 0) add_specials(dtype, x, n, 1, random);
  return x;
}

class PlannedReduction {
 public:
  PlannedReduction(gpumem_dist* dist, const Part& part, const Layout& layout, const gpumem_dist_plan_options* options,
                   Random& own)
      : layout_(layout), x_(part, layout, own), y_(part, layout, own) {
    const View view(layout, part.first, part.count());
    gpumem_dist_plan* plan = nullptr;
    status_ = gpumem_dist_plan_reduce(dist, &view.raw, options, &plan);
    plan_.reset(plan);
  }

  // Has the bits that the whole sequence has on one context.
  void run(gpumem_ctx* one, gpumem_dtype dtype, gpumem_reduce_op op, Random& shared) {
    ASSERT_TRUE(ok(status_)) << describe(layout_);
    ASSERT_TRUE(!lost(attempt(one, dtype, op, shared))) << describe(layout_);
  }
  gpumem_status attempt(gpumem_ctx* one, gpumem_dtype dtype, gpumem_reduce_op op, Random& shared) {
    if (status_ != GPUMEM_OK) return status_;
    Array x(layout_.element_bytes, layout_.extents), y(layout_.element_bytes, layout_.extents);
    x.bytes = random_terms(dtype, op, x.elements(), shared);
    x_.put(x);
    if (op == GPUMEM_DOT || op == GPUMEM_DOT_ORDER_FREE) {
      y.bytes = random_terms(dtype, op, y.elements(), shared);
      y_.put(y);
    }
    const Outcome expected = outcome_of(one, Reduction{dtype, op, x.bytes.data(), x.elements(), 1, y.bytes.data(), 1});
    const Outcome got = outcome_of(plan_.get(), dtype, op, x_.sources(), y_.sources());
    if (lost(got.status)) return got.status;
    EXPECT_TRUE(same(expected, got)) << op_name(op) << " of " << x.elements() << ' ' << info_of(dtype).name << ", "
                                     << describe(layout_);
    EXPECT_TRUE(x_.intact() && y_.intact()) << describe(layout_);
    return got.status;
  }
  gpumem_status status() const { return status_; }
  gpumem_status execute(gpumem_dtype dtype, gpumem_reduce_op op) {
    uint64_t out[2];
    return gpumem_test::run(plan_.get(), dtype, op, x_.sources(), y_.sources(), out);
  }
  gpumem_dist_plan* plan() const { return plan_.get(); }

 private:
  Layout layout_;
  MemberMemory x_, y_;
  gpumem_status status_;
  Plan plan_;
};

// A type that has as many bytes as the elements, and an operation that it has.
inline std::pair<gpumem_dtype, gpumem_reduce_op> random_reduction(int64_t element_bytes, Random& random) {
  while (true) {
    const gpumem_dtype dtype = kAllTypes[random.below(std::size(kAllTypes))];
    const uint64_t any = random.below(std::size(kAllOps) + 1);
    const gpumem_reduce_op op = any == std::size(kAllOps) ? int32_t{GPUMEM_DOT_ORDER_FREE} : kAllOps[any];
    if (static_cast<int64_t>(info_of(dtype).bytes) == element_bytes && has(dtype, op)) return {dtype, op};
  }
}

// Lengths next to where leaves of 1024 and runs of them begin are as likely as others.
inline Layout random_reduction_layout(int64_t members, int64_t elements, Random& random) {
  Layout layout;
  layout.element_bytes = int64_t{1} << random.below(4);
  layout.extents = random_extents(1 + random.below(4), elements, random);
  if (random.below(3) == 0) layout.extents = {bit_cases::length(elements, random)};
  layout.boxes = random_partition(layout.extents, members, random);
  place_boxes(layout, random);
  return layout;
}

}  // namespace gpumem_test
