// SPDX-License-Identifier: Apache-2.0
//
// Arrays over several contexts, in one process or in many.
//
// A plan takes the memory of each participant of this process (dist_parts), and refuses memory that is too small for
// the boxes. If these classes refuse a call that all processes make, the others get an error as if the library did.
#ifndef GPUMEM_DIST_HPP
#define GPUMEM_DIST_HPP

#include <gpumem.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpumem/context.hpp"
#include "gpumem/dist_layout.hpp"

namespace gpumem {

// Filled by the program, or by gpumem_mpi_transport() of bindings/mpi.
struct dist_transport : gpumem_dist_transport {
  dist_transport() { detail::check(gpumem_dist_transport_init(this, sizeof(gpumem_dist_transport))); }
};
// The constructor of a dist sets `contexts` and `members`.
struct dist_options : gpumem_dist_options {
  dist_options() { detail::check(gpumem_dist_options_init(this, sizeof(gpumem_dist_options))); }
};
struct dist_info : gpumem_dist_info {
  dist_info() { detail::check(gpumem_dist_info_init(this, sizeof(gpumem_dist_info))); }
};
struct dist_plan_options : gpumem_dist_plan_options {
  dist_plan_options() { detail::check(gpumem_dist_plan_options_init(this, sizeof(gpumem_dist_plan_options))); }
};

namespace detail {
// Shared by the gpumem::dist and its plans. Keeps the contexts alive.
struct dist_handle {
  dist_handle() = default;
  dist_handle(const dist_handle&) = delete;
  dist_handle& operator=(const dist_handle&) = delete;
  ~dist_handle() {
    if (open) gpumem_dist_destroy(dist);
  }

  gpumem_dist* dist = nullptr;
  bool open = true;
  std::vector<kept_context> contexts;
  std::int32_t members = 0;
};

struct dist_plan_handle {
  dist_plan_handle() = default;
  dist_plan_handle(const dist_plan_handle&) = delete;
  dist_plan_handle& operator=(const dist_plan_handle&) = delete;
  ~dist_plan_handle() { gpumem_dist_plan_destroy(plan); }

  std::shared_ptr<dist_handle> dist;
  gpumem_dist_plan* plan = nullptr;
  std::vector<span_of_member> src, dst;  // needed per participant; dst is empty if it is src
};
}  // namespace detail

// A plan of any of the three kinds for an array of T. The library refuses operations of another kind.
template <class T, class Mode>
class basic_dist_plan {
 public:
  template <class R>
  using of = typename Mode::template of<R>;

  explicit basic_dist_plan(std::shared_ptr<detail::dist_plan_handle> kept) noexcept : kept_(std::move(kept)) {}
  basic_dist_plan(basic_dist_plan&&) noexcept = default;
  basic_dist_plan& operator=(basic_dist_plan&&) noexcept = default;
  ~basic_dist_plan() = default;
  gpumem_dist_plan* get() const noexcept { return kept_ == nullptr ? nullptr : kept_->plan; }
  basic_dist_plan<T, returning> attempt() const { return basic_dist_plan<T, returning>(kept_); }

  of<void> execute(const dist_parts<const T>& src, const dist_parts<T>& dst) const {
    if (const std::string why = misfit("execute", src, dst); !why.empty()) return refuse_move(why);
    return Mode::give(gpumem_dist_execute(get(), src.data(), dst.data()));
  }
  // Fills the halo of x.
  of<void> execute(const dist_parts<T>& x) const {
    if (const std::string why = misfit_in_place("execute", x); !why.empty()) return refuse_move(why);
    return Mode::give(gpumem_dist_execute(get(), x.data(), nullptr));
  }
  // Runs on one stream per participant, by default the contexts' own. Operands and plan must live until these have
  // passed the call.
  of<void> execute_async(const dist_parts<const T>& src, const dist_parts<T>& dst,
                         const std::vector<stream_ref>& streams = {}) const {
    if (const std::string why = misfit("execute_async", src, dst); !why.empty()) return refuse_move(why);
    return enqueue(src.data(), dst.data(), streams);
  }
  of<void> execute_async(const dist_parts<T>& x, const std::vector<stream_ref>& streams = {}) const {
    if (const std::string why = misfit_in_place("execute_async", x); !why.empty()) return refuse_move(why);
    return enqueue(x.data(), nullptr, streams);
  }

  of<reduced_t<T>> reduce(reduce_op op, const dist_parts<const T>& x) const {
    using R = reduced_t<T>;
    const std::string why = op == reduce_op::min_max ? "reduce: op is min_max, which gives two results: see min_max()"
                                                     : misfit("reduce", x);
    R both[2] = {};
    const gpumem_status code =
        gpumem_dist_reduce(get(), detail::raw_dtype<T>(), detail::raw(op), x_or_null(x, why), both);
    return ended<R>(why, code, std::move(both[0]));
  }
  of<std::pair<reduced_t<T>, reduced_t<T>>> min_max(const dist_parts<const T>& x) const {
    using R = std::pair<reduced_t<T>, reduced_t<T>>;
    const std::string why = misfit("min_max", x);
    reduced_t<T> both[2] = {};
    const gpumem_status code =
        gpumem_dist_reduce(get(), detail::raw_dtype<T>(), GPUMEM_MIN_MAX, x_or_null(x, why), both);
    return ended<R>(why, code, R(both[0], both[1]));
  }
  // The index counts in the whole array.
  of<found<reduced_t<T>>> argreduce(reduce_op op, const dist_parts<const T>& x) const {
    using R = found<reduced_t<T>>;
    const std::string why = misfit("argreduce", x);
    R place{};
    const gpumem_status code = gpumem_dist_argreduce(get(), detail::raw_dtype<T>(), detail::raw(op), x_or_null(x, why),
                                                     &place.value, &place.index);
    return ended<R>(why, code, std::move(place));
  }
  of<double> dot(const dist_parts<const T>& x, const dist_parts<const T>& y) const {
    return dotted(gpumem_dist_dot, x, y);
  }
  // Each participant reads its boxes where they are, and elements do not travel.
  of<double> dot_order_free(const dist_parts<const T>& x, const dist_parts<const T>& y) const {
    return dotted(gpumem_dist_dot_order_free, x, y);
  }
  of<double> nrm2(const dist_parts<const T>& x) const {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "nrm2 takes float and double");
    const std::string why = misfit("nrm2", x);
    double result = 0;
    const gpumem_status code = gpumem_dist_nrm2(get(), detail::raw_dtype<T>(), x_or_null(x, why), &result);
    return ended<double>(why, code, std::move(result));
  }

  // This process's part of the plan, as text or JSON.
  of<std::string> explain(format how = format::text) const {
    std::string text;
    const auto write = [&](char* buf, std::int64_t cap, std::int64_t* needed) {
      return gpumem_dist_explain(get(), static_cast<gpumem_format>(how), buf, cap, needed);
    };
    const gpumem_status code = detail::read_text(write, text);
    return Mode::give(code, std::move(text));
  }

 private:
  // The error message, or "" if the parts fit. Also "" for a moved-from plan, which the library refuses.
  template <class X>
  std::string misfit(const char* call, const dist_parts<X>& x) const {
    return get() == nullptr ? std::string() : x.misfit((std::string(call) + ": x").c_str(), kept_->src);
  }
  std::string misfit_in_place(const char* call, const dist_parts<T>& x) const {
    if (get() == nullptr || kept_->dst.empty()) return misfit(call, x);
    return std::string(call) + ": the plan moves src to dst; expected both";
  }
  std::string misfit(const char* call, const dist_parts<const T>& src, const dist_parts<T>& dst) const {
    if (get() == nullptr) return {};
    const std::string why = src.misfit((std::string(call) + ": src").c_str(), kept_->src);
    if (!why.empty()) return why;
    return dst.misfit((std::string(call) + ": dst").c_str(), kept_->dst.empty() ? kept_->src : kept_->dst);
  }

  // The library refuses null pointers, and tells the other processes.
  of<void> refuse_move(const std::string& why) const {
    static_cast<void>(gpumem_dist_execute(get(), nullptr, nullptr));
    return Mode::template refuse<void>(why);
  }
  template <class Call>
  of<double> dotted(Call call, const dist_parts<const T>& x, const dist_parts<const T>& y) const {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "dot takes float and double");
    std::string why = misfit("dot", x);
    if (why.empty() && get() != nullptr) why = y.misfit("dot: y", kept_->src);
    double result = 0;
    const gpumem_status code = call(get(), detail::raw_dtype<T>(), x_or_null(x, why), x_or_null(y, why), &result);
    return ended<double>(why, code, std::move(result));
  }
  static const void* const* x_or_null(const dist_parts<const T>& x, const std::string& why) {
    return why.empty() ? x.data() : nullptr;
  }
  template <class R>
  static of<R> ended(const std::string& why, gpumem_status code, R&& result) {
    return why.empty() ? Mode::give(code, std::forward<R>(result)) : Mode::template refuse<R>(why);
  }

  of<void> enqueue(const void* const* src, void* const* dst, const std::vector<stream_ref>& streams) const {
    const std::size_t members = get() == nullptr ? streams.size() : kept_->src.size();
    if (!streams.empty() && streams.size() != members) {
      return refuse_move("execute_async: " + std::to_string(streams.size()) + " streams; expected one per member, " +
                         std::to_string(members));
    }
    std::vector<gpumem_stream*> handles;
    for (const stream_ref& one : streams) {
      if (one.get() == nullptr) {
        return refuse_move("execute_async: streams[" + std::to_string(handles.size()) +
                           "] was moved from; expected a live stream");
      }
      handles.push_back(one.get());
    }
    return Mode::give(gpumem_dist_execute_async(get(), src, dst, handles.empty() ? nullptr : handles.data()));
  }

  std::shared_ptr<detail::dist_plan_handle> kept_;
};

template <class T>
using dist_plan = basic_dist_plan<T, throwing>;

// The operations of a dist. It keeps the dist alive.
template <class Mode>
class basic_dist_ref {
 public:
  template <class T>
  using of = typename Mode::template of<T>;

  explicit basic_dist_ref(std::shared_ptr<detail::dist_handle> kept) noexcept : kept_(std::move(kept)) {}
  basic_dist_ref(basic_dist_ref&&) noexcept = default;
  basic_dist_ref& operator=(basic_dist_ref&&) noexcept = default;
  ~basic_dist_ref() = default;
  gpumem_dist* get() const noexcept { return kept_ == nullptr ? nullptr : kept_->dist; }
  basic_dist_ref<returning> attempt() const { return basic_dist_ref<returning>(kept_); }

  of<dist_info> query() const {
    dist_info info;
    const gpumem_status code = gpumem_dist_query(get(), &info);
    return Mode::give(code, std::move(info));
  }
  // From any thread: running and later calls of this process fail with status::peer_lost.
  of<void> abort() const { return Mode::give(gpumem_dist_abort(get())); }
  // Ends the dist now and releases its contexts. Fails with status::busy and changes nothing while it has plans.
  of<void> close() const {
    if (kept_ == nullptr || !kept_->open) return Mode::give(GPUMEM_OK);
    const gpumem_status code = gpumem_dist_destroy(get());
    if (code == GPUMEM_OK) {
      kept_->open = false;
      kept_->contexts.clear();
    }
    return Mode::give(code);
  }

  // Axis d of dst is axis order[d] of src.
  template <class T>
  of<dist_plan<T>> plan_redistribute(const dist_layout<T>& src, const dist_layout<T>& dst,
                                     list<std::int32_t> order = {}, const dist_plan_options& options = {}) const {
    if (order.size() != 0 && order.size() != src.rank())
      return unequal<T>("plan_redistribute: order", order.size(), src.rank());
    const gpumem_dist_layout from = src.raw(), to = dst.raw();
    const auto plan = std::make_shared<detail::dist_plan_handle>();
    const gpumem_status code = gpumem_dist_plan_redistribute(get(), &from, &to, order.data(), &options, &plan->plan);
    if (code == GPUMEM_OK) plan->dst = dst.needed(kept_->members, {});
    return made(code, plan, src, {});
  }
  // Each box has low[d] ghost cells before it and high[d] behind it along axis d. periodic[d] is 1 or 0. The
  // participants' memory includes the ghost cells and begins before them.
  template <class T>
  of<dist_plan<T>> plan_halo(const dist_layout<T>& layout, list<std::int64_t> low, list<std::int64_t> high,
                             list<std::int32_t> periodic, const dist_plan_options& options = {}) const {
    const std::int32_t rank = layout.rank();
    if (low.size() != rank) return unequal<T>("plan_halo: low", low.size(), rank);
    if (high.size() != rank) return unequal<T>("plan_halo: high", high.size(), rank);
    if (periodic.size() != rank) return unequal<T>("plan_halo: periodic", periodic.size(), rank);
    const gpumem_dist_layout raw = layout.raw();
    const auto plan = std::make_shared<detail::dist_plan_handle>();
    const gpumem_status code =
        gpumem_dist_plan_halo(get(), &raw, low.data(), high.data(), periodic.data(), &options, &plan->plan);
    return made(code, plan, layout, {low, high, periodic});
  }
  template <class T>
  of<dist_plan<T>> plan_reduce(const dist_layout<T>& layout, const dist_plan_options& options = {}) const {
    const gpumem_dist_layout raw = layout.raw();
    const auto plan = std::make_shared<detail::dist_plan_handle>();
    const gpumem_status code = gpumem_dist_plan_reduce(get(), &raw, &options, &plan->plan);
    return made(code, plan, layout, {});
  }

 protected:
  std::shared_ptr<detail::dist_handle> kept_;

 private:
  // The library refuses a plan without a layout, and tells the other processes.
  template <class T>
  of<dist_plan<T>> unequal(const char* what, std::int64_t size, std::int32_t rank) const {
    gpumem_dist_plan* none = nullptr;
    static_cast<void>(gpumem_dist_plan_reduce(get(), nullptr, nullptr, &none));
    return Mode::template refuse<dist_plan<T>>(std::string(what) + " has " + std::to_string(size) +
                                               " values; expected one per axis, " + std::to_string(rank));
  }

  template <class T>
  of<dist_plan<T>> made(gpumem_status code, const std::shared_ptr<detail::dist_plan_handle>& plan,
                        const dist_layout<T>& src, const detail::ghost_cells& ghosts) const {
    if (code == GPUMEM_OK) {
      plan->dist = kept_;
      plan->src = src.needed(kept_->members, ghosts);
    }
    return Mode::give(code, dist_plan<T>(plan));
  }
};

// One context per participant; one context may serve several. A dist keeps its contexts alive and outlives its plans.
class dist : public basic_dist_ref<throwing> {
 public:
  explicit dist(const std::vector<context_ref>& contexts, const dist_options& options = {})
      : dist(create(contexts, options).value()) {}
  static result<dist> create(const std::vector<context_ref>& contexts, dist_options options = {}) {
    auto kept = std::make_shared<detail::dist_handle>();
    std::vector<gpumem_ctx*> handles;
    for (const context_ref& one : contexts) {
      handles.push_back(one.get());
      kept->contexts.push_back(one.link().keep());
    }
    kept->members = detail::few_of(handles.size());
    options.contexts = handles.data();
    options.members = kept->members;
    const gpumem_status code = gpumem_dist_create(&options, &kept->dist);
    return returning::give(code, dist(std::move(kept)));
  }

 private:
  explicit dist(std::shared_ptr<detail::dist_handle> kept) noexcept : basic_dist_ref(std::move(kept)) {}
};

}  // namespace gpumem

#endif  // GPUMEM_DIST_HPP
