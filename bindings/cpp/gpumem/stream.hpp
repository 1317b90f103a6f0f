// SPDX-License-Identifier: Apache-2.0
//
// Streams and events.
#ifndef GPUMEM_STREAM_HPP
#define GPUMEM_STREAM_HPP

#include <gpumem.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "gpumem/buffer.hpp"
#include "gpumem/handles.hpp"
#include "gpumem/operations.hpp"

namespace gpumem {

class event {
 public:
  event(detail::context_link ctx, gpumem_event* handle) noexcept : owner_(ctx, handle) {}
  gpumem_event* get() const noexcept { return owner_.get(); }

 private:
  detail::owner<gpumem_event, gpumem_event_destroy> owner_;
};

// The program's own host memory, pinned until the registration ends.
class registration {
 public:
  registration(detail::context_link ctx, void* address) noexcept
      : ctx_(ctx.ctx), keep_(address == nullptr ? nullptr : ctx.keep()), address_(address) {}
  registration(registration&& other) noexcept
      : ctx_(other.ctx_), keep_(std::move(other.keep_)), address_(std::exchange(other.address_, nullptr)) {}
  registration& operator=(registration&& other) noexcept {
    registration taken(std::move(other));
    std::swap(ctx_, taken.ctx_);
    std::swap(keep_, taken.keep_);
    std::swap(address_, taken.address_);
    return *this;
  }
  ~registration() { end(); }

  gpumem_status end() noexcept {
    if (address_ == nullptr) return GPUMEM_OK;
    const gpumem_status code = gpumem_host_unregister(ctx_, address_);
    if (code == GPUMEM_OK) address_ = nullptr;
    return code;
  }

 private:
  gpumem_ctx* ctx_;
  detail::kept_context keep_;
  void* address_;
};

// A reference to a stream. A null handle is the context's own stream.
template <class Mode>
class basic_stream_ref : public operations<Mode, detail::enqueued> {
  using base = operations<Mode, detail::enqueued>;

 protected:
  using base::queue_;

 public:
  template <class T>
  using of = typename Mode::template of<T>;
  using base::argreduce_axis, base::gather, base::reduce_axis, base::scatter;

  basic_stream_ref(detail::context_link ctx, gpumem_stream* stream) noexcept : base({ctx, stream}) {}
  gpumem_stream* get() const noexcept { return queue_.stream; }
  gpumem_ctx* context_handle() const noexcept { return queue_.ctx; }
  basic_stream_ref<returning> attempt() const noexcept { return {queue_, queue_.stream}; }

  // The cudaStream_t.
  of<void*> native() const {
    void* stream = nullptr;
    const gpumem_status code = gpumem_stream_native(queue_.ctx, queue_.stream, &stream);
    return Mode::give(code, std::move(stream));
  }
  of<void> synchronize() const { return Mode::give(gpumem_stream_synchronize(queue_.ctx, queue_.stream)); }
  // Whether all work of the stream is done.
  of<bool> done() const {
    const gpumem_status code = gpumem_stream_query(queue_.ctx, queue_.stream);
    return Mode::give(code == GPUMEM_NOT_READY ? GPUMEM_OK : code, code == GPUMEM_OK);
  }
  of<void> wait(const event& mark) const {
    return Mode::give(gpumem_stream_wait_event(queue_.ctx, queue_.stream, mark.get()));
  }
  of<void> record(const event& mark) const {
    return Mode::give(gpumem_event_record(queue_.ctx, mark.get(), queue_.stream));
  }

  // Device memory for work on this stream, freed in its order.
  template <class T>
  of<device_buffer<T>> alloc(std::int64_t size, std::int64_t alignment = 256) const {
    if (size < 0 || size > INT64_MAX / static_cast<std::int64_t>(sizeof(T))) {
      return Mode::template refuse<device_buffer<T>>(detail::quantity("alloc: size", size));
    }
    void* p = nullptr;
    const gpumem_status code =
        gpumem_alloc_async(queue_.ctx, size * static_cast<std::int64_t>(sizeof(T)), alignment, queue_.stream, &p);
    return Mode::give(code, device_buffer<T>(queue_, static_cast<T*>(p), code == GPUMEM_OK ? size : 0, queue_.stream));
  }
  template <class T>
  of<void> free(device_buffer<T>&& memory) const {
    return Mode::give(memory.free_on(queue_.stream));
  }
  // Declares that this stream uses `memory` too. A free then waits for the work that this stream has been given by that
  // time.
  template <class T>
  of<void> uses(const device_buffer<T>& memory) const {
    return Mode::give(gpumem_memory_used_on(queue_.ctx, memory.address(), queue_.stream));
  }

  // Writes one reduced_t of the elements to `result`, or two for reduce_op::min_max. On a CUDA context, `result` and
  // the deferred status are device, pinned or managed memory.
  template <class X, class R>
  of<void> reduce(reduce_op op, X&& x, R&& result, status_word word = {}) const {
    return this->reduce_into(op, std::forward<X>(x), std::forward<R>(result), word);
  }
  template <class X, class V>
  of<void> argreduce(reduce_op op, X&& x, V&& value, device_view<std::int64_t> index) const {
    const auto to = detail::contiguous(std::forward<V>(value));
    using T = detail::element_t<X>;
    static_assert(std::is_same_v<detail::element_t<V>, reduced_t<T>>, "value is reduced_t of the elements");
    if (to.size < 1 || index.size() < 1) return base::unequal("argreduce: value", to.size, "index", index.size());
    return Mode::give(this->searched(op, std::forward<X>(x), to.data, index.address()));
  }
  template <class X, class V, class I, class = std::enable_if_t<!std::is_convertible_v<I&&, device_view<std::int64_t>>>>
  of<void> argreduce(reduce_op, X&&, V&&, I&&) const {
    static_assert(
        detail::never<I>,
        "the index of argreduce is a device_view<std::int64_t> or a buffer of std::int64_t that is not const");
    return Mode::template refuse<void>({});
  }
  template <class X, class Y, class R>
  of<void> dot(X&& x, Y&& y, R&& result) const {
    const auto to = detail::contiguous(std::forward<R>(result));
    static_assert(std::is_same_v<decltype(to.data), double*>, "the result of dot is a double that is not const");
    if (to.size < 1) return base::few("dot: result", to.size, 1);
    std::string wrong;
    const gpumem_status code = this->dotted(std::forward<X>(x), std::forward<Y>(y), to.data, wrong);
    if (!wrong.empty()) return Mode::template refuse<void>(wrong);
    return Mode::give(code);
  }
  template <class X, class Y, class R>
  of<void> dot_order_free(X&& x, Y&& y, R&& result) const {
    const auto to = detail::contiguous(std::forward<R>(result));
    static_assert(std::is_same_v<decltype(to.data), double*>, "the result of dot is a double that is not const");
    if (to.size < 1) return base::few("dot: result", to.size, 1);
    std::string wrong;
    const gpumem_status code = this->dotted(std::forward<X>(x), std::forward<Y>(y), to.data, wrong, true);
    if (!wrong.empty()) return Mode::template refuse<void>(wrong);
    return Mode::give(code);
  }
  template <class X, class R>
  of<void> nrm2(X&& x, R&& result) const {
    const auto to = detail::contiguous(std::forward<R>(result));
    static_assert(std::is_same_v<decltype(to.data), double*>, "the result of nrm2 is a double that is not const");
    if (to.size < 1) return base::few("nrm2: result", to.size, 1);
    return Mode::give(this->normed(std::forward<X>(x), to.data));
  }
  template <class T, class R>
  of<void> reduce_axis(reduce_op op, axis along, matrix_view<T> x, R&& result, status_word word = {}) const {
    return this->axis_into(op, along, x, std::forward<R>(result), word);
  }
  template <class X, class R>
  of<void> reduce_axes(reduce_op op, X&& x, list<std::int64_t> extents, list<std::int32_t> axes, R&& result,
                       list<std::int64_t> strides = {}, status_word word = {}) const {
    return this->axes_into(op, std::forward<X>(x), extents, axes, std::forward<R>(result), strides, word);
  }
  template <class T, class V, class I>
  of<void> argreduce_axis(reduce_op op, axis along, matrix_view<T> x, V&& value, I&& index,
                          status_word word = {}) const {
    return this->search_into(op, along, x, std::forward<V>(value), std::forward<I>(index), word);
  }
  template <class X, class O, class R>
  of<void> reduce_segments(reduce_op op, X&& x, O&& offsets, R&& result, status_word word = {}) const {
    return this->segments_into(op, std::forward<X>(x), std::forward<O>(offsets), std::forward<R>(result), word);
  }
  template <class X, class I, class R>
  of<void> reduce_by_index(reduce_op op, X&& x, I&& index, R&& result, status_word word = {}) const {
    return this->by_index_into(op, std::forward<X>(x), std::forward<I>(index), std::forward<R>(result), word);
  }
  template <class T, class I, class R>
  of<void> reduce_rows_by_index(reduce_op op, matrix_view<T> x, I&& index, R&& result, status_word word = {}) const {
    return this->rows_by_index_into(op, x, std::forward<I>(index), std::forward<R>(result), word);
  }
  template <class I, class R>
  of<void> count_by_index(I&& index, R&& result, status_word word = {}) const {
    return this->counts_into(std::forward<I>(index), std::forward<R>(result), word);
  }
  template <class X, class R>
  of<void> scan(reduce_op op, X&& x, R&& result, bool exclusive = false, status_word word = {}) const {
    return this->scan_into(op, std::forward<X>(x), std::forward<R>(result), exclusive, word);
  }
  template <class K, class E, class S>
  of<void> sort_segments(K&& keys, E&& offsets, S&& sorted, bool descending = false, status_word word = {}) const {
    return this->sort_segments_into(std::forward<K>(keys), std::forward<E>(offsets), std::forward<S>(sorted),
                                    descending, word);
  }
  template <class K, class E, class O>
  of<void> argsort_segments(K&& keys, E&& offsets, O&& order, bool descending = false, status_word word = {}) const {
    return this->argsort_segments_into(std::forward<K>(keys), std::forward<E>(offsets), std::forward<O>(order),
                                       descending, word);
  }
  template <class X, class R>
  of<void> scan_axis(reduce_op op, X&& x, list<std::int64_t> extents, std::int32_t axis, R&& result,
                     bool exclusive = false, list<std::int64_t> x_strides = {}, list<std::int64_t> result_strides = {},
                     status_word word = {}) const {
    return this->scan_axis_into(op, std::forward<X>(x), extents, axis, std::forward<R>(result), exclusive, x_strides,
                                result_strides, word);
  }
  template <class X, class O, class R>
  of<void> scan_segments(reduce_op op, X&& x, O&& offsets, R&& result, bool exclusive = false,
                         status_word word = {}) const {
    return this->scan_segments_into(op, std::forward<X>(x), std::forward<O>(offsets), std::forward<R>(result),
                                    exclusive, word);
  }
  template <class S, class I, class D>
  of<void> gather(matrix_view<S> src, I&& index, matrix_view<D> dst, status_word word = {}) const {
    return this->gather_into(src, std::forward<I>(index), dst, word);
  }
  template <class S, class I, class D>
  of<void> scatter(matrix_view<S> src, I&& index, matrix_view<D> dst, status_word word = {}) const {
    return this->scatter_into(src, std::forward<I>(index), dst, word);
  }

  // kept receives how many rows the mask keeps. Compare it with the room that dst or places has.
  template <class S, class M, class D>
  of<void> select(matrix_view<S> src, M&& mask, matrix_view<D> dst, device_view<std::int64_t> kept) const {
    if (kept.size() < 1) return base::few("select: kept", kept.size(), 1);
    return this->template selected<void>(src, std::forward<M>(mask), dst, [&](const auto& keeps) {
      return Mode::give(gpumem_select_async(queue_.ctx, src.row_bytes(), src.address(), src.pitch_bytes(), keeps.data,
                                            keeps.size, dst.address(), dst.rows(), dst.pitch_bytes(), kept.address(),
                                            queue_.stream));
    });
  }
  template <class M, class P>
  of<void> select_places(M&& mask, P&& places, device_view<std::int64_t> kept) const {
    const auto keeps = this->mask_of(std::forward<M>(mask));
    const auto to = this->places_of(std::forward<P>(places));
    if (kept.size() < 1) return base::few("select_places: kept", kept.size(), 1);
    return Mode::give(gpumem_select_places_async(queue_.ctx, keeps.data, keeps.size,
                                                 detail::raw_dtype<detail::element_t<P>>(), to.data, to.size,
                                                 kept.address(), queue_.stream));
  }
};

using stream_ref = basic_stream_ref<throwing>;

class stream : public detail::owning<stream_ref, detail::owner<gpumem_stream, gpumem_stream_destroy>> {
 public:
  stream(detail::context_link ctx, gpumem_stream* handle) noexcept
      : owning(stream_ref(ctx, handle), detail::owner<gpumem_stream, gpumem_stream_destroy>(ctx, handle)) {}
};

}  // namespace gpumem

#endif  // GPUMEM_STREAM_HPP
