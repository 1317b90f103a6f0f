// SPDX-License-Identifier: Apache-2.0
//
// Contexts, and the functions that need no context.
#ifndef GPUMEM_CONTEXT_HPP
#define GPUMEM_CONTEXT_HPP

#include <gpumem.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpumem/stream.hpp"

namespace gpumem {

// The structs of gpumem.h, initialised by the library.
struct context_options : gpumem_ctx_options {
  context_options() { detail::check(gpumem_ctx_options_init(this, sizeof(gpumem_ctx_options))); }

  // The program's own threads: pool(tasks, task) calls task(i) once for each i in [0, tasks) and returns when all have
  // returned. The pool must outlive the context and all that it made, and must not throw.
  template <class Pool>
  context_options& set_pool(Pool& pool) {
    parallel_for_user = const_cast<void*>(static_cast<const void*>(std::addressof(pool)));
    parallel_for = [](void* user, std::int64_t tasks, gpumem_task_fn task, void* state) noexcept {
      (*static_cast<Pool*>(user))(tasks, [=](std::int64_t index) { task(state, index); });
    };
    return *this;
  }
};
struct device_info : gpumem_device_info {
  device_info() { detail::check(gpumem_device_info_init(this, sizeof(gpumem_device_info))); }
};
struct pointer_info : gpumem_pointer_info {
  pointer_info() { detail::check(gpumem_pointer_info_init(this, sizeof(gpumem_pointer_info))); }
};
struct managed_info : gpumem_managed_info {
  managed_info() { detail::check(gpumem_managed_info_init(this, sizeof(gpumem_managed_info))); }
};
struct memory_stats : gpumem_memory_stats_info {
  memory_stats() { detail::check(gpumem_memory_stats_init(this, sizeof(gpumem_memory_stats_info))); }
};
struct ceiling_info : gpumem_ceiling_info {
  ceiling_info() { detail::check(gpumem_ceiling_info_init(this, sizeof(gpumem_ceiling_info))); }
};
struct profile_row : gpumem_profile_row {
  profile_row() { detail::check(gpumem_profile_row_init(this, sizeof(gpumem_profile_row))); }
};
struct tune_options : gpumem_tune_options {
  tune_options() { detail::check(gpumem_tune_options_init(this, sizeof(gpumem_tune_options))); }
};
struct tune_info : gpumem_tune_info {
  tune_info() { detail::check(gpumem_tune_info_init(this, sizeof(gpumem_tune_info))); }
};
struct tuning_lines {
  std::int64_t taken, skipped;
};

// A reference to a context. It owns nothing.
template <class Mode>
class basic_context_ref : public operations<Mode, detail::blocking> {
  using base = operations<Mode, detail::blocking>;

 protected:
  using base::queue_;

 public:
  template <class T>
  using of = typename Mode::template of<T>;
  using base::argreduce_axis, base::gather, base::reduce_axis, base::scatter;

  explicit basic_context_ref(detail::context_link ctx) noexcept : base({ctx}) {}
  gpumem_ctx* get() const noexcept { return queue_.ctx; }
  detail::context_link link() const noexcept { return queue_; }
  basic_context_ref<returning> attempt() const noexcept { return basic_context_ref<returning>(queue_); }

  of<device_info> device() const {
    device_info info;
    const gpumem_status code = gpumem_ctx_device(queue_.ctx, &info);
    return Mode::give(code, std::move(info));
  }
  // Fails with the context's persistent error, if it has one.
  of<void> check() const { return Mode::give(gpumem_ctx_status(queue_.ctx)); }
  of<void> synchronize() const { return Mode::give(gpumem_ctx_synchronize(queue_.ctx)); }
  of<void> synchronize(const event& mark) const { return Mode::give(gpumem_event_synchronize(mark.get())); }
  of<void> warmup() const { return Mode::give(gpumem_ctx_warmup(queue_.ctx)); }

  // Calls fn(log_level, std::string_view) for each message. fn must outlive the context and all that it made, and must
  // not throw.
  template <class F>
  of<void> set_log(F& fn) const {
    return Mode::give(gpumem_ctx_set_log(
        queue_.ctx,
        [](void* user, gpumem_log_level level, const char* message) noexcept {
          (*static_cast<F*>(user))(static_cast<log_level>(level), std::string_view(message));
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(fn)))));
  }
  of<void> set_log(std::nullptr_t) const { return Mode::give(gpumem_ctx_set_log(queue_.ctx, nullptr, nullptr)); }

  // -- memory

  template <class T>
  of<device_buffer<T>> alloc_device(std::int64_t size) const {
    return alloc<T, memory_kind::device>(gpumem_alloc_device, size);
  }
  template <class T>
  of<pinned_buffer<T>> alloc_pinned(std::int64_t size) const {
    return alloc<T, memory_kind::pinned>(gpumem_alloc_pinned, size);
  }
  template <class T>
  of<managed_buffer<T>> alloc_managed(std::int64_t size) const {
    return alloc<T, memory_kind::managed>(gpumem_alloc_managed, size);
  }
  template <class T, memory_kind K>
  of<void> free(buffer<T, K>&& memory) const {
    return Mode::give(memory.free());
  }
  of<void> trim(std::int64_t keep_bytes = 0) const { return Mode::give(gpumem_memory_trim(queue_.ctx, keep_bytes)); }
  of<void> check_memory() const { return Mode::give(gpumem_memory_check(queue_.ctx)); }
  of<void> trace(const std::string& path) const { return Mode::give(gpumem_memory_trace(queue_.ctx, path.c_str())); }
  of<void> end_trace() const { return Mode::give(gpumem_memory_trace(queue_.ctx, nullptr)); }
  of<gpumem::memory_stats> memory_stats() const {
    gpumem::memory_stats stats;
    const gpumem_status code = gpumem_memory_stats(queue_.ctx, &stats);
    return Mode::give(code, std::move(stats));
  }
  of<ceiling_info> ceiling() const {
    ceiling_info info;
    const gpumem_status code = gpumem_ceiling(queue_.ctx, &info);
    return Mode::give(code, std::move(info));
  }

  of<void> begin_profile(std::int64_t most_records = 1 << 14) const {
    return Mode::give(gpumem_profile_begin(queue_.ctx, most_records));
  }
  of<void> end_profile() const { return Mode::give(gpumem_profile_end(queue_.ctx)); }
  of<std::vector<profile_row>> profile() const {
    std::int64_t count = 0;
    gpumem_status code = gpumem_profile_report(queue_.ctx, nullptr, 0, &count);
    std::vector<profile_row> rows(static_cast<std::size_t>(count));
    if (code == GPUMEM_OK && count > 0) {
      code = gpumem_profile_report(queue_.ctx, rows.data(), static_cast<std::int64_t>(rows.size()), &count);
      if (count < static_cast<std::int64_t>(rows.size()))
        rows.resize(static_cast<std::size_t>(count));  // a new profile
    }
    return Mode::give(code, std::move(rows));
  }
  of<void> write_profile(format form, const std::string& path) const {
    return Mode::give(gpumem_profile_write(queue_.ctx, static_cast<gpumem_format>(form), path.c_str()));
  }
  of<tune_info> tune(const std::string& line, const tune_options& options = {}) const {
    tune_info info;
    const gpumem_status code = gpumem_tune(queue_.ctx, line.c_str(), &options, &info);
    return Mode::give(code, std::move(info));
  }
  of<tuning_lines> load_tuning(const std::string& path) const {
    tuning_lines lines{};
    const gpumem_status code = gpumem_tuning_load(queue_.ctx, path.c_str(), &lines.taken, &lines.skipped);
    return Mode::give(code, std::move(lines));
  }
  of<void> save_tuning(const std::string& path) const {
    return Mode::give(gpumem_tuning_save(queue_.ctx, path.c_str()));
  }
  of<void> clear_tuning() const { return Mode::give(gpumem_tuning_clear(queue_.ctx)); }

  // Names memory of the context in its reports. "" removes the name.
  template <class X>
  of<void> label(X&& x, const std::string& name) const {
    return Mode::give(gpumem_memory_label(queue_.ctx, detail::contiguous(std::forward<X>(x)).data, name.c_str()));
  }
  template <class X>
  of<registration> register_host(X&& x) const {
    const auto all = detail::contiguous(std::forward<X>(x));
    const gpumem_status code = gpumem_host_register(queue_.ctx, all.data, all.bytes());
    return Mode::give(code, registration(queue_, code == GPUMEM_OK ? all.data : nullptr));
  }
  of<void> unregister(registration&& range) const { return Mode::give(range.end()); }
  of<pointer_info> query(const void* p) const {
    pointer_info info;
    const gpumem_status code = gpumem_pointer_query(queue_.ctx, p, &info);
    return Mode::give(code, std::move(info));
  }
  template <class X>
  of<managed_info> query_managed(X&& x) const {
    const auto all = detail::contiguous(std::forward<X>(x));
    managed_info info;
    const gpumem_status code = gpumem_managed_query(queue_.ctx, all.data, all.bytes(), &info);
    return Mode::give(code, std::move(info));
  }
  template <class X>
  of<void> advise(X&& x, advice hint, std::int32_t device = device_none) const {
    const auto all = detail::contiguous(std::forward<X>(x));
    return Mode::give(
        gpumem_managed_advise(queue_.ctx, all.data, all.bytes(), static_cast<gpumem_advice>(hint), device));
  }

  // -- streams and events

  of<stream> create_stream() const {
    gpumem_stream* handle = nullptr;
    const gpumem_status code = gpumem_stream_create(queue_.ctx, &handle);
    return Mode::give(code, stream(queue_, handle));
  }
  // Wraps a cudaStream_t of the program, which stays its owner.
  of<stream> wrap_stream(void* native_stream) const {
    gpumem_stream* handle = nullptr;
    const gpumem_status code = gpumem_stream_wrap(queue_.ctx, native_stream, &handle);
    return Mode::give(code, stream(queue_, handle));
  }
  basic_stream_ref<Mode> own_stream() const noexcept { return {queue_, nullptr}; }
  of<event> create_event() const {
    gpumem_event* handle = nullptr;
    const gpumem_status code = gpumem_event_create(queue_.ctx, &handle);
    return Mode::give(code, event(queue_, handle));
  }
  of<std::chrono::duration<double>> elapsed(const event& start, const event& end) const {
    double seconds = 0;
    const gpumem_status code = gpumem_event_elapsed(start.get(), end.get(), &seconds);
    return Mode::give(code, std::chrono::duration<double>(seconds));
  }

  // -- reductions: x is a sequence, or a grid_view or matrix_view, whose elements count in row-major order

  template <class X>
  of<reduced_t<detail::element_t<X>>> reduce(reduce_op op, X&& x) const {
    using T = detail::element_t<X>;
    using R = reduced_t<T>;
    if (op == reduce_op::min_max)
      return Mode::template refuse<R>("reduce: op is min_max, which gives two results: see min_max()");
    R result{};
    const gpumem_status code = this->reduced(op, std::forward<X>(x), &result, nullptr);
    return Mode::give(code, std::move(result));
  }
  // Writes the result to `result`, in any memory.
  template <class X, class R>
  of<void> reduce(reduce_op op, X&& x, R&& result) const {
    return this->reduce_into(op, std::forward<X>(x), std::forward<R>(result), {});
  }
  template <class X>
  of<std::pair<reduced_t<detail::element_t<X>>, reduced_t<detail::element_t<X>>>> min_max(X&& x) const {
    using T = detail::element_t<X>;
    reduced_t<T> both[2] = {};
    const gpumem_status code = this->reduced(reduce_op::min_max, std::forward<X>(x), both, nullptr);
    return Mode::give(code, std::pair(both[0], both[1]));
  }
  // The minimum, the maximum or the largest magnitude, and its index from 0.
  template <class X>
  of<found<reduced_t<detail::element_t<X>>>> argreduce(reduce_op op, X&& x) const {
    using T = detail::element_t<X>;
    found<reduced_t<T>> place{};
    const gpumem_status code = this->searched(op, std::forward<X>(x), &place.value, &place.index);
    return Mode::give(code, std::move(place));
  }
  template <class X, class Y>
  of<double> dot(X&& x, Y&& y) const {
    double result = 0;
    std::string wrong;
    const gpumem_status code = this->dotted(std::forward<X>(x), std::forward<Y>(y), &result, wrong);
    if (!wrong.empty()) return Mode::template refuse<double>(wrong);
    return Mode::give(code, std::move(result));
  }
  // The same bits for every order of the elements.
  template <class X, class Y>
  of<double> dot_order_free(X&& x, Y&& y) const {
    double result = 0;
    std::string wrong;
    const gpumem_status code = this->dotted(std::forward<X>(x), std::forward<Y>(y), &result, wrong, true);
    if (!wrong.empty()) return Mode::template refuse<double>(wrong);
    return Mode::give(code, std::move(result));
  }
  template <class X>
  of<double> nrm2(X&& x) const {
    double result = 0;
    const gpumem_status code = this->normed(std::forward<X>(x), &result);
    return Mode::give(code, std::move(result));
  }
  // After status::overflow or status::empty, the other results are still correct.
  template <class T, class R>
  of<void> reduce_axis(reduce_op op, axis along, matrix_view<T> x, R&& result) const {
    return this->axis_into(op, along, x, std::forward<R>(result), {});
  }
  // One result per index of the other axes. Results of floating-point elements may have the elements' type.
  template <class X, class R>
  of<void> reduce_axes(reduce_op op, X&& x, list<std::int64_t> extents, list<std::int32_t> axes, R&& result,
                       list<std::int64_t> strides = {}) const {
    return this->axes_into(op, std::forward<X>(x), extents, axes, std::forward<R>(result), strides, {});
  }
  // The minimum, the maximum or the largest magnitude of each row or column, and its index from 0.
  template <class T, class V, class I>
  of<void> argreduce_axis(reduce_op op, axis along, matrix_view<T> x, V&& value, I&& index) const {
    return this->search_into(op, along, x, std::forward<V>(value), std::forward<I>(index), {});
  }
  template <class X, class O, class R>
  of<void> reduce_segments(reduce_op op, X&& x, O&& offsets, R&& result) const {
    return this->segments_into(op, std::forward<X>(x), std::forward<O>(offsets), std::forward<R>(result), {});
  }
  // The result has one value per bin, or two for min_max.
  template <class X, class I, class R>
  of<void> reduce_by_index(reduce_op op, X&& x, I&& index, R&& result) const {
    return this->by_index_into(op, std::forward<X>(x), std::forward<I>(index), std::forward<R>(result), {});
  }
  // The same for each column of the rows of x. The result has a row per bin.
  template <class T, class I, class R>
  of<void> reduce_rows_by_index(reduce_op op, matrix_view<T> x, I&& index, R&& result) const {
    return this->rows_by_index_into(op, x, std::forward<I>(index), std::forward<R>(result), {});
  }
  // result[b] = the number of indices b.
  template <class I, class R>
  of<void> count_by_index(I&& index, R&& result) const {
    return this->counts_into(std::forward<I>(index), std::forward<R>(result), {});
  }
  template <class X, class R>
  of<void> scan(reduce_op op, X&& x, R&& result, bool exclusive = false) const {
    return this->scan_into(op, std::forward<X>(x), std::forward<R>(result), exclusive, {});
  }
  // Scans along one axis. The strides are in elements; by default, the arrays are row-major without padding.
  template <class X, class R>
  of<void> scan_axis(reduce_op op, X&& x, list<std::int64_t> extents, std::int32_t axis, R&& result,
                     bool exclusive = false, list<std::int64_t> x_strides = {},
                     list<std::int64_t> result_strides = {}) const {
    return this->scan_axis_into(op, std::forward<X>(x), extents, axis, std::forward<R>(result), exclusive, x_strides,
                                result_strides, {});
  }
  template <class X, class O, class R>
  of<void> scan_segments(reduce_op op, X&& x, O&& offsets, R&& result, bool exclusive = false) const {
    return this->scan_segments_into(op, std::forward<X>(x), std::forward<O>(offsets), std::forward<R>(result),
                                    exclusive, {});
  }

  // -- segments

  // Sorts each segment alone. offsets has one number more than there are segments. Offsets that are not in order, or
  // exceed the keys, are status::out_of_range, and nothing is written.
  template <class K, class E, class S>
  of<void> sort_segments(K&& keys, E&& offsets, S&& sorted, bool descending = false) const {
    return this->sort_segments_into(std::forward<K>(keys), std::forward<E>(offsets), std::forward<S>(sorted),
                                    descending, {});
  }
  // The positions count from the first key.
  template <class K, class E, class O>
  of<void> argsort_segments(K&& keys, E&& offsets, O&& order, bool descending = false) const {
    return this->argsort_segments_into(std::forward<K>(keys), std::forward<E>(offsets), std::forward<O>(order),
                                       descending, {});
  }

  // -- rows by index

  template <class S, class I, class D>
  of<void> gather(matrix_view<S> src, I&& index, matrix_view<D> dst) const {
    return this->gather_into(src, std::forward<I>(index), dst, {});
  }
  template <class S, class I, class D>
  of<void> scatter(matrix_view<S> src, I&& index, matrix_view<D> dst) const {
    return this->scatter_into(src, std::forward<I>(index), dst, {});
  }

  // -- rows by mask

  // Each returns how many rows the mask keeps. More than dst or places has room for are status::out_of_range.
  template <class S, class M, class D>
  of<std::int64_t> select(matrix_view<S> src, M&& mask, matrix_view<D> dst) const {
    return this->template selected<std::int64_t>(src, std::forward<M>(mask), dst, [&](const auto& keeps) {
      std::int64_t kept = 0;
      const gpumem_status code =
          gpumem_select(queue_.ctx, src.row_bytes(), src.address(), src.pitch_bytes(), keeps.data, keeps.size,
                        dst.address(), dst.rows(), dst.pitch_bytes(), &kept);
      return Mode::give(code, std::move(kept));
    });
  }
  template <class M, class P>
  of<std::int64_t> select_places(M&& mask, P&& places) const {
    const auto keeps = this->mask_of(std::forward<M>(mask));
    const auto to = this->places_of(std::forward<P>(places));
    std::int64_t kept = 0;
    const gpumem_status code = gpumem_select_places(queue_.ctx, keeps.data, keeps.size,
                                                    detail::raw_dtype<detail::element_t<P>>(), to.data, to.size, &kept);
    return Mode::give(code, std::move(kept));
  }
  template <class M>
  of<std::int64_t> count(M&& mask) const {
    const auto keeps = this->mask_of(std::forward<M>(mask));
    std::int64_t kept = 0;
    const gpumem_status code = gpumem_select_places(queue_.ctx, keeps.data, keeps.size, GPUMEM_I64, nullptr, 0, &kept);
    return Mode::give(code, std::move(kept));
  }

  // -- variants

  of<void> force(family which, const std::string& variant) const {
    return Mode::give(gpumem_variant_force(queue_.ctx, static_cast<gpumem_family>(which), variant.c_str()));
  }
  // Removes the override.
  of<void> force(family which, std::nullptr_t) const {
    return Mode::give(gpumem_variant_force(queue_.ctx, static_cast<gpumem_family>(which), nullptr));
  }
  of<std::string> explain(const std::string& line, format how = format::text) const {
    std::string text;
    const auto write = [&](char* buf, std::int64_t cap, std::int64_t* needed) {
      return gpumem_explain(queue_.ctx, line.c_str(), static_cast<gpumem_format>(how), buf, cap, needed);
    };
    const gpumem_status code = detail::read_text(write, text);
    return Mode::give(code, std::move(text));
  }

 private:
  template <class T, memory_kind K, class Alloc>
  of<buffer<T, K>> alloc(Alloc allocate, std::int64_t size) const {
    if (size < 0 || size > INT64_MAX / static_cast<std::int64_t>(sizeof(T))) {
      return Mode::template refuse<buffer<T, K>>(detail::quantity("alloc: size", size));
    }
    void* p = nullptr;
    const gpumem_status code = allocate(queue_.ctx, size * static_cast<std::int64_t>(sizeof(T)), &p);
    return Mode::give(code, buffer<T, K>(queue_, static_cast<T*>(p), code == GPUMEM_OK ? size : 0));
  }
};

using context_ref = basic_context_ref<throwing>;

// Its memory, streams, events and registrations keep it alive.
class context : public detail::owning<context_ref, detail::kept_context> {
 public:
  context() : context(make(nullptr).value()) {}
  explicit context(const context_options& options) : context(make(&options).value()) {}
  static result<context> create() { return make(nullptr); }
  static result<context> create(const context_options& options) { return make(&options); }

  // Ends the context now. Fails with status::busy and changes nothing while something keeps it alive.
  void close() {
    if (owner_ == nullptr) return;
    if (const long others = owner_.use_count() - 1; others > 0) {
      detail::raise({status::busy,
                     detail::quantity("close: the number of live objects of the context", others) + ", expected 0"});
    }
    detail::check(gpumem_ctx_destroy(owner_->ctx));
    owner_->ctx = nullptr;
  }

 private:
  explicit context(const detail::kept_context& kept) noexcept : owning(context_ref(*kept), kept) {}
  static result<context> make(const gpumem_ctx_options* options) {
    const auto kept = std::make_shared<detail::context_handle>();
    const gpumem_status code = gpumem_ctx_create(options, &kept->ctx);
    return returning::give(code, context(kept));
  }
};

// The process's shared context of a device, which the allocators for PyTorch and CuPy use.
template <class Mode = throwing>
typename Mode::template of<basic_context_ref<Mode>> shared_context(std::int32_t device) {
  gpumem_ctx* handle = nullptr;
  const gpumem_status code = gpumem_shared_ctx(device, &handle);
  return Mode::give(code, basic_context_ref<Mode>(handle));
}

template <class Mode = throwing>
typename Mode::template of<std::int32_t> device_count() {
  std::int32_t count = 0;
  const gpumem_status code = gpumem_device_count(&count);
  return Mode::give(code, std::move(count));
}

template <class Mode = throwing>
typename Mode::template of<device_info> query_device(std::int32_t device = device_best) {
  device_info info;
  const gpumem_status code = gpumem_device_query(device, &info);
  return Mode::give(code, std::move(info));
}

// The names of an operation's variants, in the order of selection.
template <class Mode = throwing>
typename Mode::template of<std::vector<std::string_view>> variants(family which) {
  std::int32_t count = 0;
  std::vector<std::string_view> names;
  gpumem_status code = gpumem_variant_count(static_cast<gpumem_family>(which), &count);
  for (std::int32_t index = 0; code == GPUMEM_OK && index < count; ++index) {
    const char* name = "";
    code = gpumem_variant_name(static_cast<gpumem_family>(which), index, &name);
    names.emplace_back(name);
  }
  return Mode::give(code, std::move(names));
}

}  // namespace gpumem

#endif  // GPUMEM_CONTEXT_HPP
