// SPDX-License-Identifier: Apache-2.0
//
// The operations that contexts and streams have in common.
#ifndef GPUMEM_OPERATIONS_HPP
#define GPUMEM_OPERATIONS_HPP

#include <gpumem.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpumem/grid_view.hpp"
#include "gpumem/handles.hpp"
#include "gpumem/views.hpp"

namespace gpumem {

// The deferred status of an asynchronous operation: errors that only its run can find. The default discards them.
class status_word {
 public:
  status_word() = default;
  template <class X, class = std::enable_if_t<std::is_same_v<detail::shown_t<X>, gpumem_status>>>
  status_word(X&& word) : address_(detail::contiguous(std::forward<X>(word)).data) {}
  gpumem_status* get() const noexcept { return address_; }

 private:
  gpumem_status* address_ = nullptr;
};

template <class T>
struct found {
  T value;
  std::int64_t index;
};

namespace detail {
template <class T>
struct identity {
  using type = T;
};

inline gpumem_reduce_op raw(reduce_op op) { return static_cast<gpumem_reduce_op>(op); }
template <class T>
constexpr gpumem_dtype raw_dtype() {
  static_assert(is_element<T>,
                "elements of this type are only moved: operations that compute take integers of 8 to 64 bits except "
                "bool and char, float, double, gpumem::f16, gpumem::bf16, and types with a gpumem::dtype_of");
  if constexpr (is_element<T>) return static_cast<gpumem_dtype>(dtype_v<T>);
  return {};
}
template <class T>
constexpr std::int64_t bytes_of() {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "an element has 1, 2, 4, 8 or 16 bytes");
  return static_cast<std::int64_t>(sizeof(T));
}

// These choose between the blocking and the asynchronous form of a C function.
struct blocking : context_link {
  template <class Plain, class Async, class... A>
  gpumem_status call(Plain plain, Async, A... a) const {
    return plain(ctx, a...);
  }
  template <class Plain, class Async, class... A>
  gpumem_status call_with(gpumem_status*, Plain plain, Async, A... a) const {
    return plain(ctx, a...);
  }
};
struct enqueued : context_link {
  gpumem_stream* stream = nullptr;
  template <class Plain, class Async, class... A>
  gpumem_status call(Plain, Async async, A... a) const {
    return async(ctx, a..., stream);
  }
  template <class Plain, class Async, class... A>
  gpumem_status call_with(gpumem_status* word, Plain, Async async, A... a) const {
    return async(ctx, a..., word, stream);
  }
};
}  // namespace detail

// Blocking for a context, asynchronous for a stream.
template <class Mode, class Queue>
class operations {
 public:
  template <class T>
  using of = typename Mode::template of<T>;

  template <class D, class S>
  of<void> copy(D&& dst, S&& src) const {
    const auto to = detail::contiguous(std::forward<D>(dst));
    const auto from = detail::contiguous(std::forward<S>(src));
    same_type(to, from);
    if (to.size != from.size) return unequal("copy: dst", to.size, "src", from.size);
    return Mode::give(queue_.call(gpumem_copy, gpumem_copy_async, to.data, from.data, to.bytes()));
  }

  template <class D, class S>
  of<void> copy(matrix_view<D> dst, matrix_view<S> src) const {
    static_assert(std::is_same_v<D, std::remove_cv_t<S>>,
                  "dst and src must have the same element type, and dst must not be const");
    if (dst.rows() != src.rows()) return unequal("copy: rows of dst", dst.rows(), "of src", src.rows());
    if (dst.cols() != src.cols()) return unequal("copy: cols of dst", dst.cols(), "of src", src.cols());
    if (dst.batches() != src.batches()) return unequal("copy: batches of dst", dst.batches(), "of src", src.batches());
    if (dst.batches() == 1) {
      return Mode::give(queue_.call(gpumem_copy_2d, gpumem_copy_2d_async, dst.address(), dst.pitch_bytes(),
                                    src.address(), src.pitch_bytes(), src.row_bytes(), src.rows()));
    }
    return Mode::give(queue_.call(gpumem_copy_3d, gpumem_copy_3d_async, dst.address(), dst.pitch_bytes(),
                                  dst.slice_bytes(), src.address(), src.pitch_bytes(), src.slice_bytes(),
                                  src.row_bytes(), src.rows(), src.batches()));
  }

  template <class D>
  of<void> fill(D&& dst, const detail::element_t<D>& value) const {
    const auto to = detail::contiguous(std::forward<D>(dst));
    constexpr auto bytes = detail::bytes_of<detail::element_t<D>>();
    return Mode::give(queue_.call(gpumem_fill, gpumem_fill_async, to.data, &value, bytes, to.size));
  }

  // Takes one matrix, not a batch.
  template <class D>
  of<void> fill(matrix_view<D> dst, const typename detail::identity<D>::type& value) const {
    if (dst.batches() != 1)
      return Mode::template refuse<void>(detail::quantity("fill: batches of dst", dst.batches()) + ", expected 1");
    return Mode::give(queue_.call(gpumem_fill_2d, gpumem_fill_2d_async, dst.address(), dst.pitch_bytes(), &value,
                                  detail::bytes_of<D>(), dst.cols(), dst.rows()));
  }

  // dst has src.cols() rows, src.rows() columns and src.batches() matrices.
  template <class S, class D>
  of<void> transpose(matrix_view<S> src, matrix_view<D> dst) const {
    static_assert(std::is_same_v<D, std::remove_cv_t<S>>,
                  "dst and src must have the same element type, and dst must not be const");
    if (dst.rows() != src.cols()) return unequal("transpose: rows of dst", dst.rows(), "cols of src", src.cols());
    if (dst.cols() != src.rows()) return unequal("transpose: cols of dst", dst.cols(), "rows of src", src.rows());
    if (dst.batches() != src.batches())
      return unequal("transpose: batches of dst", dst.batches(), "of src", src.batches());
    constexpr auto bytes = detail::bytes_of<D>();
    if (src.batches() == 1) {
      return Mode::give(queue_.call(gpumem_transpose, gpumem_transpose_async, bytes, src.rows(), src.cols(),
                                    src.address(), src.ld(), dst.address(), dst.ld()));
    }
    return Mode::give(queue_.call(gpumem_transpose_batched, gpumem_transpose_batched_async, bytes, src.rows(),
                                  src.cols(), src.address(), src.ld(), src.batch_stride(), dst.address(), dst.ld(),
                                  dst.batch_stride(), src.batches()));
  }
  template <class S, class D, class = std::enable_if_t<!detail::are_matrices<S, D>>>
  of<void> transpose(S&&, D&&) const {
    static_assert(detail::never<S>, "transpose takes matrix views: pass matrix_view(x, rows, cols)");
    return Mode::template refuse<void>({});
  }

  // Say what to pass if the matrices of an operation are containers. A stream also takes a status_word.
  template <class X, class R, class... Word, class = std::enable_if_t<!detail::are_matrices<X>>>
  of<void> reduce_axis(reduce_op, axis, X&&, R&&, Word&&...) const {
    static_assert(detail::never<X>, "reduce_axis takes a matrix_view: pass matrix_view(x, rows, cols)");
    return Mode::template refuse<void>({});
  }
  template <class X, class V, class I, class... Word, class = std::enable_if_t<!detail::are_matrices<X>>>
  of<void> argreduce_axis(reduce_op, axis, X&&, V&&, I&&, Word&&...) const {
    static_assert(detail::never<X>, "argreduce_axis takes a matrix_view: pass matrix_view(x, rows, cols)");
    return Mode::template refuse<void>({});
  }
  template <class S, class I, class D, class... Word, class = std::enable_if_t<!detail::are_matrices<S, D>>>
  of<void> gather(S&&, I&&, D&&, Word&&...) const {
    static_assert(detail::never<S>, "gather takes matrix views as src and dst: pass matrix_view(x, rows, cols)");
    return Mode::template refuse<void>({});
  }
  template <class S, class I, class D, class... Word, class = std::enable_if_t<!detail::are_matrices<S, D>>>
  of<void> scatter(S&&, I&&, D&&, Word&&...) const {
    static_assert(detail::never<S>, "scatter takes matrix views as src and dst: pass matrix_view(x, rows, cols)");
    return Mode::template refuse<void>({});
  }

  // Axis d of dst is axis order[d] of src. Without strides, the arrays are row-major without padding.
  template <class S, class D>
  of<void> permute(S&& src, list<std::int64_t> extents, list<std::int32_t> order, D&& dst,
                   list<std::int64_t> src_strides = {}, list<std::int64_t> dst_strides = {}) const {
    const auto from = detail::contiguous(std::forward<S>(src));
    const auto to = detail::contiguous(std::forward<D>(dst));
    same_type(to, from);
    const std::int64_t rank = extents.size();
    if (order.size() != rank) return unequal("permute: size of order", order.size(), "of extents", rank);
    for (const auto& strides : {src_strides, dst_strides}) {
      if (strides.size() != 0 && strides.size() != rank)
        return unequal("permute: size of strides", strides.size(), "of extents", rank);
    }
    std::vector<std::int64_t> turned;
    for (const std::int32_t place : order) {
      if (place < 0 || place >= rank)
        return Mode::template refuse<void>(detail::quantity("permute: an axis of order", place));
      turned.push_back(extents.begin()[place]);
    }
    if (!reaches(extents, src_strides, from.size)) return past("permute: src", from.size);
    if (!reaches(turned, dst_strides, to.size)) return past("permute: dst", to.size);
    return Mode::give(queue_.call(gpumem_permute, gpumem_permute_async, detail::bytes_of<detail::element_t<D>>(),
                                  detail::few_of(rank), extents.data(), order.data(), from.data, src_strides.data(),
                                  to.data, dst_strides.data()));
  }

  // z = alpha * x + beta * y, for float and double. An operand with the factor 0 is not read and may be nullptr.
  template <class X, class Y, class Z>
  of<void> axpby(std::remove_cv_t<detail::element_t<Z>> alpha, X&& x, std::remove_cv_t<detail::element_t<Z>> beta,
                 Y&& y, Z&& z) const {
    const auto to = detail::contiguous(std::forward<Z>(z));
    using T = detail::element_t<Z>;
    const auto left = operand<T>(std::forward<X>(x), to.size);
    const auto right = operand<T>(std::forward<Y>(y), to.size);
    if (left.size != to.size) return unequal("axpby: x", left.size, "z", to.size);
    if (right.size != to.size) return unequal("axpby: y", right.size, "z", to.size);
    if constexpr (std::is_same_v<T, float>) {
      return Mode::give(
          queue_.call(gpumem_axpby_f32, gpumem_axpby_f32_async, alpha, left.data, beta, right.data, to.data, to.size));
    } else {
      static_assert(std::is_same_v<T, double>, "axpby takes float and double");
      return Mode::give(
          queue_.call(gpumem_axpby_f64, gpumem_axpby_f64_async, alpha, left.data, beta, right.data, to.data, to.size));
    }
  }

  // z = the sum of factor * x over 1 to 16 terms. Each x has the extents of z: shifted parts of one array make a
  // stencil. A term with the factor 0, and without a numerator or denominator in memory, is not read.
  template <class T>
  of<void> lincomb(list<term<typename detail::identity<T>::type>> terms, grid_view<T> z) const {
    for (const auto& one : terms) {
      if (!same_extents(one.x, z))
        return Mode::template refuse<void>("lincomb: the extents of a term are not those of z");
    }
    const detail::terms_of<T> sum(terms);
    const auto run = [&](auto plain, auto enqueued) {
      return Mode::give(queue_.call(plain, enqueued, z.rank(), z.extents(), detail::few_of(terms.size()),
                                    sum.factors.data(), sum.x.data(), sum.strides.data(), z.address(), z.strides()));
    };
    const auto run_at = [&](auto plain, auto enqueued) {
      return Mode::give(queue_.call(plain, enqueued, z.rank(), z.extents(), detail::few_of(terms.size()),
                                    sum.factors.data(), sum.above.data(), sum.below.data(), sum.x.data(),
                                    sum.strides.data(), z.address(), z.strides()));
    };
    const bool in_memory = sum.in_memory;
    if constexpr (std::is_same_v<T, float>) {
      if (in_memory) return run_at(gpumem_lincomb_at_f32, gpumem_lincomb_at_f32_async);
      return run(gpumem_lincomb_f32, gpumem_lincomb_f32_async);
    } else {
      static_assert(std::is_same_v<T, double>, "lincomb takes float and double, and z is not const");
      if (in_memory) return run_at(gpumem_lincomb_at_f64, gpumem_lincomb_at_f64_async);
      return run(gpumem_lincomb_f64, gpumem_lincomb_f64_async);
    }
  }
  template <class Z, class = std::enable_if_t<!detail::is_grid<detail::bare<Z>>>>
  of<void> lincomb(list<term<std::remove_cv_t<detail::shown_t<Z>>>>, Z&&) const {
    static_assert(detail::never<Z>, "lincomb takes a grid_view as z: pass grid_view(z, extents)");
    return Mode::template refuse<void>({});
  }

  // The same, and results[k] = the dot product of the new z and w[k], for 1 to 3 views w, in one pass over memory. w[k]
  // may be z.
  template <class T, class R>
  of<void> lincomb_dot(list<term<typename detail::identity<T>::type>> terms, grid_view<T> z,
                       list<typename detail::identity<grid_view<const T>>::type> w, R&& results) const {
    const auto to = detail::contiguous(std::forward<R>(results));
    static_assert(std::is_same_v<detail::element_t<R>, double>, "the results of lincomb_dot are of double");
    const detail::terms_of<T> sum(terms);
    std::vector<const T*> of_w;
    std::vector<std::int64_t> w_strides;
    for (const auto& one : terms) {
      if (!same_extents(one.x, z))
        return Mode::template refuse<void>("lincomb_dot: the extents of a term are not those of z");
    }
    for (const auto& one : w) {
      if (!same_extents(one, z))
        return Mode::template refuse<void>("lincomb_dot: the extents of a w are not those of z");
      of_w.push_back(one.address());
      w_strides.insert(w_strides.end(), one.strides(), one.strides() + one.rank());
    }
    if (to.size < w.size()) return few("lincomb_dot: results", to.size, w.size());
    const auto run = [&](auto plain, auto enqueued) {
      return Mode::give(queue_.call(plain, enqueued, z.rank(), z.extents(), detail::few_of(terms.size()),
                                    sum.factors.data(), sum.above.data(), sum.below.data(), sum.x.data(),
                                    sum.strides.data(), z.address(), z.strides(), detail::few_of(w.size()), of_w.data(),
                                    w_strides.data(), to.data));
    };
    if constexpr (std::is_same_v<T, float>) {
      return run(gpumem_lincomb_dot_f32, gpumem_lincomb_dot_f32_async);
    } else {
      static_assert(std::is_same_v<T, double>, "lincomb_dot takes float and double, and z is not const");
      return run(gpumem_lincomb_dot_f64, gpumem_lincomb_dot_f64_async);
    }
  }

  // z = x * y, element by element.
  template <class T>
  of<void> multiply(typename detail::identity<grid_view<const T>>::type x,
                    typename detail::identity<grid_view<const T>>::type y, grid_view<T> z) const {
    if (!same_extents(x, z) || !same_extents(y, z))
      return Mode::template refuse<void>("multiply: the extents of x, y and z are not the same");
    const auto run = [&](auto plain, auto enqueued) {
      return Mode::give(queue_.call(plain, enqueued, z.rank(), z.extents(), x.address(), x.strides(), y.address(),
                                    y.strides(), z.address(), z.strides()));
    };
    if constexpr (std::is_same_v<T, float>) {
      return run(gpumem_multiply_f32, gpumem_multiply_f32_async);
    } else {
      static_assert(std::is_same_v<T, double>, "multiply takes float and double, and z is not const");
      return run(gpumem_multiply_f64, gpumem_multiply_f64_async);
    }
  }
  template <class X, class Y, class Z,
            class = std::enable_if_t<!detail::becomes_grid<X> || !detail::becomes_grid<Y> ||
                                     !detail::is_grid<detail::bare<Z>>>>
  of<void> multiply(X&&, Y&&, Z&&) const {
    static_assert(detail::never<Z>, "multiply takes grid views: pass grid_view(x, extents)");
    return Mode::template refuse<void>({});
  }

  // z = how(x), element by element, of equal extents.
  template <class T>
  of<void> map(map_op how, typename detail::identity<grid_view<const T>>::type x, grid_view<T> z) const {
    if (!same_extents(x, z)) return Mode::template refuse<void>("map: the extents of x and z are not the same");
    return map_into<T>(how, x, nullptr, nullptr, z, nullptr);
  }
  // z = how(x, y). The status says whether an integer was divided by 0; without it, only a blocking call reports that.
  template <class T>
  of<void> map(map_op how, typename detail::identity<grid_view<const T>>::type x,
               typename detail::identity<grid_view<const T>>::type y, grid_view<T> z,
               gpumem_status* status = nullptr) const {
    if (!same_extents(x, z) || !same_extents(y, z))
      return Mode::template refuse<void>("map: the extents of x, y and z are not the same");
    return map_into<T>(how, x, y.address(), y.strides(), z, status);
  }

  // A byte of the mask is 1 if the comparison holds, else 0.
  template <class T, class U>
  of<void> compare(compare_op how, grid_view<T> x, grid_view<U> y, grid_view<std::uint8_t> mask) const {
    static_assert(std::is_same_v<std::remove_cv_t<T>, std::remove_cv_t<U>>, "x and y have the same elements");
    if (!same_extents(x, mask) || !same_extents(y, mask))
      return Mode::template refuse<void>("compare: the extents of x, y and mask are not the same");
    return Mode::give(queue_.call(gpumem_compare, gpumem_compare_async, static_cast<gpumem_compare_op>(how),
                                  detail::raw_dtype<std::remove_cv_t<T>>(), mask.rank(), mask.extents(), x.address(),
                                  x.strides(), y.address(), y.strides(), mask.address(), mask.strides()));
  }

  // z = x where the mask is not 0, else y.
  template <class T>
  of<void> where(grid_view<const std::uint8_t> mask, typename detail::identity<grid_view<const T>>::type x,
                 typename detail::identity<grid_view<const T>>::type y, grid_view<T> z) const {
    if (!same_extents(mask, z) || !same_extents(x, z) || !same_extents(y, z))
      return Mode::template refuse<void>("where: the extents of mask, x, y and z are not the same");
    return Mode::give(queue_.call(gpumem_where, gpumem_where_async, detail::bytes_of<T>(), z.rank(), z.extents(),
                                  mask.address(), mask.strides(), x.address(), x.strides(), y.address(), y.strides(),
                                  z.address(), z.strides()));
  }

  // dst = (src + offset) * scale as another type. nan_value replaces each NaN of src. scale and offset may repeat a number.
  template <class S, class D>
  of<void> convert_scaled(grid_view<S> src, grid_view<const double> scale, grid_view<const double> offset,
                          grid_view<D> dst, double nan_value = 0) const {
    if (!same_extents(src, dst) || !same_extents(scale, dst) || !same_extents(offset, dst))
      return Mode::template refuse<void>("convert_scaled: the extents of src, scale, offset and dst are not the same");
    return Mode::give(queue_.call(gpumem_convert_scaled, gpumem_convert_scaled_async, dst.rank(), dst.extents(),
                                  detail::raw_dtype<std::remove_cv_t<S>>(), src.address(), src.strides(),
                                  scale.address(), scale.strides(), offset.address(), offset.strides(), nan_value,
                                  detail::raw_dtype<D>(), dst.address(), dst.strides()));
  }

  // dst[k] = src[k] for each k, in one call. Both are containers of grid_view. Box k has the same extents on both sides.
  template <class Src, class Dst>
  of<void> copy_boxes(const Src& src, const Dst& dst) const {
    using S = typename std::decay_t<decltype(*std::begin(src))>::element_type;
    using D = typename std::decay_t<decltype(*std::begin(dst))>::element_type;
    static_assert(std::is_same_v<D, std::remove_cv_t<S>>,
                  "dst and src have the same elements, and those of dst are not const");
    std::vector<const void*> from;
    std::vector<void*> to;
    std::vector<std::int64_t> extents, src_strides, dst_strides;
    std::int32_t rank = 0;
    auto box = std::begin(dst);
    for (const auto& x : src) {
      if (box == std::end(dst)) return Mode::template refuse<void>("copy_boxes: src has more boxes than dst");
      if (from.empty()) rank = x.rank();
      if (x.rank() != rank || !same_extents(x, *box)) {
        return Mode::template refuse<void>("copy_boxes: box " + std::to_string(from.size()) +
                                           "; expected equal extents on both sides, and as many axes in all boxes");
      }
      from.push_back(x.address());
      to.push_back(box->address());
      extents.insert(extents.end(), x.extents(), x.extents() + rank);
      src_strides.insert(src_strides.end(), x.strides(), x.strides() + rank);
      dst_strides.insert(dst_strides.end(), box->strides(), box->strides() + rank);
      ++box;
    }
    if (box != std::end(dst)) return Mode::template refuse<void>("copy_boxes: dst has more boxes than src");
    return Mode::give(queue_.call(gpumem_copy_boxes, gpumem_copy_boxes_async, detail::bytes_of<D>(), rank,
                                  static_cast<std::int64_t>(from.size()), extents.data(), from.data(),
                                  src_strides.data(), to.data(), dst_strides.data()));
  }

  // dst[i] = src[i] as another type.
  template <class S, class D>
  of<void> convert(S&& src, D&& dst) const {
    const auto from = detail::contiguous(std::forward<S>(src));
    const auto to = detail::contiguous(std::forward<D>(dst));
    if (from.size != to.size) return unequal("convert: src", from.size, "dst", to.size);
    constexpr auto src_type = detail::raw_dtype<std::remove_cv_t<detail::element_t<S>>>();
    return Mode::give(queue_.call(gpumem_convert, gpumem_convert_async, src_type, from.data,
                                  detail::raw_dtype<detail::element_t<D>>(), to.data, to.size));
  }

  // The keys in ascending order, or descending. sorted may be keys.
  template <class K, class S>
  of<void> sort(K&& keys, S&& sorted, bool descending = false) const {
    const auto from = detail::contiguous(std::forward<K>(keys));
    const auto to = detail::contiguous(std::forward<S>(sorted));
    same_type(to, from);
    if (from.size != to.size) return unequal("sort: keys", from.size, "sorted", to.size);
    return sort_to(from, to.data, static_cast<std::int64_t*>(nullptr), descending);
  }

  // The positions of the sorted keys, counted from 0. order has 32-bit or 64-bit integers.
  template <class K, class O>
  of<void> argsort(K&& keys, O&& order, bool descending = false) const {
    const auto from = detail::contiguous(std::forward<K>(keys));
    const auto places = detail::contiguous(std::forward<O>(order));
    if (from.size != places.size) return unequal("argsort: keys", from.size, "order", places.size);
    return sort_to(from, nullptr, places.data, descending);
  }

  // Both outputs.
  template <class K, class S, class O>
  of<void> sort_with_order(K&& keys, S&& sorted, O&& order, bool descending = false) const {
    const auto from = detail::contiguous(std::forward<K>(keys));
    const auto to = detail::contiguous(std::forward<S>(sorted));
    const auto places = detail::contiguous(std::forward<O>(order));
    same_type(to, from);
    if (from.size != to.size) return unequal("sort_with_order: keys", from.size, "sorted", to.size);
    if (from.size != places.size) return unequal("sort_with_order: keys", from.size, "order", places.size);
    return sort_to(from, to.data, places.data, descending);
  }

  // A row of the matrix holds the pixels of a row of the image, and a pixel holds its channels.
  template <class S, class D>
  of<void> resize(filter how, matrix_view<S> src, matrix_view<D> dst, std::int32_t channels = 1) const {
    static_assert(std::is_same_v<D, std::remove_cv_t<S>>,
                  "dst and src must have the same element type, and dst must not be const");
    if (channels < 1 || src.cols() % channels != 0 || dst.cols() % channels != 0) {
      return Mode::template refuse<void>(detail::quantity("resize: channels", channels) +
                                         "; expected a number that divides the columns, " + std::to_string(src.cols()) +
                                         " and " + std::to_string(dst.cols()));
    }
    return Mode::give(queue_.call(gpumem_resize_2d, gpumem_resize_2d_async, static_cast<gpumem_filter>(how),
                                  detail::raw_dtype<D>(), channels, src.address(), src.rows(), src.cols() / channels,
                                  src.pitch_bytes(), dst.address(), dst.rows(), dst.cols() / channels,
                                  dst.pitch_bytes()));
  }
  template <class S, class D, class = std::enable_if_t<!detail::are_matrices<S, D>>>
  of<void> resize(filter, S&&, D&&, std::int32_t = 1) const {
    static_assert(detail::never<S>, "resize takes matrix views: pass matrix_view(x, height, width * channels)");
    return Mode::template refuse<void>({});
  }

  // The same for many images, whose results have one size. src is a container of matrix_view. dst has a batch per image.
  template <class Images, class D>
  of<void> resize_batch(filter how, const Images& src, matrix_view<D> dst, std::int32_t channels = 1) const {
    std::vector<const void*> images;
    std::vector<std::int64_t> rows, cols, pitches;
    for (const auto& image : src) {
      using S = typename std::decay_t<decltype(image)>::element_type;
      static_assert(std::is_same_v<D, std::remove_cv_t<S>>,
                    "dst and src have the same elements, and those of dst are not const");
      if (channels < 1 || image.cols() % channels != 0) {
        return Mode::template refuse<void>(detail::quantity("resize_batch: channels", channels) +
                                           "; expected a number that divides the columns, " +
                                           std::to_string(image.cols()));
      }
      images.push_back(image.address());
      rows.push_back(image.rows());
      cols.push_back(image.cols() / channels);
      pitches.push_back(image.pitch_bytes());
    }
    const auto count = static_cast<std::int64_t>(images.size());
    if (channels < 1 || dst.cols() % channels != 0 || dst.batches() != count) {
      return Mode::template refuse<void>("resize_batch: dst has " + std::to_string(dst.batches()) + " batches of " +
                                         std::to_string(dst.cols()) + " columns; expected a batch for each of " +
                                         std::to_string(count) + " images, and columns that " +
                                         std::to_string(channels) + " divides");
    }
    return Mode::give(queue_.call(gpumem_resize_2d_batch, gpumem_resize_2d_batch_async, static_cast<gpumem_filter>(how),
                                  detail::raw_dtype<D>(), channels, count, images.data(), rows.data(), cols.data(),
                                  pitches.data(), dst.address(), dst.rows(), dst.cols() / channels, dst.pitch_bytes(),
                                  dst.slice_bytes()));
  }

  // Moves the pages of managed memory to a device.
  template <class X>
  of<void> prefetch(X&& x, std::int32_t device) const {
    const auto all = detail::contiguous(std::forward<X>(x));
    return Mode::give(
        queue_.call(gpumem_managed_prefetch, gpumem_managed_prefetch_async, all.data, all.bytes(), device));
  }

 protected:
  explicit operations(Queue queue) : queue_(queue) {}

  // Reductions of sequences, and of views of several axes in row-major order.
  template <class X>
  gpumem_status reduced(reduce_op op, X&& x, void* result, gpumem_status* word) const {
    using T = detail::element_t<X>;
    if constexpr (detail::is_grid<detail::bare<X>>) {
      const grid_view<T> v(x);
      return queue_.call_with(word, gpumem_reduce_view, gpumem_reduce_view_async, detail::raw_dtype<T>(),
                              detail::raw(op), v.rank(), v.extents(), v.address(), v.strides(), result);
    } else {
      const auto from = detail::sequence_of(std::forward<X>(x));
      return queue_.call_with(word, gpumem_reduce, gpumem_reduce_async, detail::raw_dtype<T>(), detail::raw(op),
                              from.data, from.size, from.stride, result);
    }
  }
  template <class X>
  gpumem_status searched(reduce_op op, X&& x, void* value, std::int64_t* index) const {
    using T = detail::element_t<X>;
    if constexpr (detail::is_grid<detail::bare<X>>) {
      const grid_view<T> v(x);
      return queue_.call(gpumem_argreduce_view, gpumem_argreduce_view_async, detail::raw_dtype<T>(), detail::raw(op),
                         v.rank(), v.extents(), v.address(), v.strides(), value, index);
    } else {
      const auto from = detail::sequence_of(std::forward<X>(x));
      return queue_.call(gpumem_argreduce, gpumem_argreduce_async, detail::raw_dtype<T>(), detail::raw(op), from.data,
                         from.size, from.stride, value, index);
    }
  }
  template <class X>
  gpumem_status normed(X&& x, double* result) const {
    using T = std::remove_cv_t<detail::element_t<X>>;
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "nrm2 takes float and double");
    constexpr bool f32 = std::is_same_v<T, float>;
    if constexpr (detail::is_grid<detail::bare<X>>) {
      const grid_view<const T> v(x);
      if constexpr (f32) {
        return queue_.call(gpumem_nrm2_view_f32, gpumem_nrm2_view_f32_async, v.rank(), v.extents(), v.address(),
                           v.strides(), result);
      } else {
        return queue_.call(gpumem_nrm2_view_f64, gpumem_nrm2_view_f64_async, v.rank(), v.extents(), v.address(),
                           v.strides(), result);
      }
    } else {
      const auto from = detail::sequence_of(std::forward<X>(x));
      if constexpr (f32) {
        return queue_.call(gpumem_nrm2_f32, gpumem_nrm2_f32_async, from.data, from.size, from.stride, result);
      } else {
        return queue_.call(gpumem_nrm2_f64, gpumem_nrm2_f64_async, from.data, from.size, from.stride, result);
      }
    }
  }
  // status::invalid_argument with `wrong` if x and y differ in their shapes.
  template <class X, class Y>
  gpumem_status dotted(X&& x, Y&& y, double* result, std::string& wrong, bool order_free = false) const {
    using T = std::remove_cv_t<detail::element_t<X>>;
    static_assert(std::is_same_v<std::remove_cv_t<detail::element_t<Y>>, T>, "x and y have the same elements");
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "dot takes float and double");
    static_assert(detail::is_grid<detail::bare<X>> == detail::is_grid<detail::bare<Y>>,
                  "x and y are both sequences, or both views of several axes");
    constexpr bool f32 = std::is_same_v<T, float>;
    if constexpr (detail::is_grid<detail::bare<X>>) {
      const grid_view<const T> v(x), w(y);
      if (!detail::same_shape(v, w)) {
        wrong = "dot: x and y have different extents";
        return GPUMEM_INVALID_ARGUMENT;
      }
      if (order_free) {
        return queue_.call(gpumem_dot_order_free, gpumem_dot_order_free_async, detail::raw_dtype<T>(), v.rank(),
                           v.extents(), v.address(), v.strides(), w.address(), w.strides(), result);
      }
      if constexpr (f32) {
        return queue_.call(gpumem_dot_view_f32, gpumem_dot_view_f32_async, v.rank(), v.extents(), v.address(),
                           v.strides(), w.address(), w.strides(), result);
      } else {
        return queue_.call(gpumem_dot_view_f64, gpumem_dot_view_f64_async, v.rank(), v.extents(), v.address(),
                           v.strides(), w.address(), w.strides(), result);
      }
    } else {
      const auto a = detail::sequence_of(std::forward<X>(x));
      const auto b = detail::sequence_of(std::forward<Y>(y));
      if (a.size != b.size) {
        wrong = detail::quantity("dot: x", a.size) + ", " + detail::quantity("y", b.size);
        return GPUMEM_INVALID_ARGUMENT;
      }
      if (order_free) {
        return queue_.call(gpumem_dot_order_free, gpumem_dot_order_free_async, detail::raw_dtype<T>(), 1, &a.size,
                           a.data, &a.stride, b.data, &b.stride, result);
      }
      if constexpr (f32) {
        return queue_.call(gpumem_dot_f32, gpumem_dot_f32_async, a.data, b.data, a.size, a.stride, b.stride, result);
      } else {
        return queue_.call(gpumem_dot_f64, gpumem_dot_f64_async, a.data, b.data, a.size, a.stride, b.stride, result);
      }
    }
  }

  template <class X, class R>
  of<void> reduce_into(reduce_op op, X&& x, R&& result, status_word word) const {
    const auto to = detail::contiguous(std::forward<R>(result));
    result_type<detail::element_t<X>>(to);
    const std::int64_t results = op == reduce_op::min_max ? 2 : 1;
    if (to.size < results) return few("reduce: result", to.size, results);
    return Mode::give(this->reduced(op, std::forward<X>(x), to.data, word.get()));
  }

  template <class T, class R>
  of<void> axis_into(reduce_op op, axis along, matrix_view<T> x, R&& result, status_word word) const {
    const auto to = detail::contiguous(std::forward<R>(result));
    result_type<T>(to);
    const std::int64_t lines = along == axis::rows ? x.rows() : x.cols(), each = op == reduce_op::min_max ? 2 : 1;
    const std::int64_t room = to.size / each;
    if (lines != 0 && x.batches() > room / lines) {
      // With batch_stride 0, the number of batches has no bound, so the product saturates.
      return few("reduce_axis: result", to.size, detail::product(detail::product(each, lines), x.batches()));
    }
    return Mode::give(queue_.call_with(word.get(), gpumem_reduce_axis, gpumem_reduce_axis_async, detail::raw_dtype<T>(),
                                       detail::raw(op), static_cast<gpumem_axis>(along), x.address(), x.rows(),
                                       x.cols(), x.ld(), x.batches(), x.batch_stride(), to.data));
  }

  template <class X, class R>
  of<void> axes_into(reduce_op op, X&& x, list<std::int64_t> extents, list<std::int32_t> axes, R&& result,
                     list<std::int64_t> strides, status_word word) const {
    const auto from = detail::contiguous(std::forward<X>(x));
    const auto to = detail::contiguous(std::forward<R>(result));
    using T = typename decltype(from)::element;
    using S = typename decltype(to)::element;
    static_assert(std::is_same_v<S, reduced_t<T>> || (std::is_same_v<S, T> && std::is_same_v<reduced_t<T>, double>),
                  "results are reduced_t of the elements, or if those are floating-point numbers, of their type");
    const std::int64_t rank = extents.size();
    if (strides.size() != 0 && strides.size() != rank)
      return unequal("reduce_axes: size of strides", strides.size(), "of extents", rank);
    if (!reaches(extents, strides, from.size)) return past("reduce_axes: x", from.size);
    const auto counted = static_cast<std::int32_t>(rank < 31 ? rank : 31);  // the library refuses more than 8
    std::int32_t mask = 0;
    for (const std::int32_t d : axes) {
      if (d < 0 || d >= counted) return Mode::template refuse<void>(detail::quantity("reduce_axes: an axis", d));
      mask |= 1 << d;
    }
    std::int64_t results = op == reduce_op::min_max ? 2 : 1;
    for (std::int32_t d = 0; d < counted; ++d) {
      if ((mask >> d & 1) == 0) results = detail::product(results, extents.begin()[d]);
    }
    if (to.size < results) return few("reduce_axes: result", to.size, results);
    return Mode::give(queue_.call_with(word.get(), gpumem_reduce_axes, gpumem_reduce_axes_async, detail::raw_dtype<T>(),
                                       detail::raw(op), detail::few_of(rank), extents.data(), from.data, strides.data(),
                                       mask, to.data, detail::raw_dtype<S>()));
  }

  template <class T, class V, class I>
  of<void> search_into(reduce_op op, axis along, matrix_view<T> x, V&& value, I&& index, status_word word) const {
    const auto to = detail::contiguous(std::forward<V>(value));
    const auto places = detail::contiguous(std::forward<I>(index));
    result_type<T>(to);
    static_assert(std::is_same_v<typename decltype(places)::element, std::int64_t>, "the index is std::int64_t");
    const std::int64_t lines = along == axis::rows ? x.rows() : x.cols();
    const std::int64_t room = to.size < places.size ? to.size : places.size;
    if (lines != 0 && x.batches() > room / lines) {
      return few("argreduce_axis: value or index", room, detail::product(lines, x.batches()));
    }
    return Mode::give(queue_.call_with(word.get(), gpumem_argreduce_axis, gpumem_argreduce_axis_async,
                                       detail::raw_dtype<T>(), detail::raw(op), static_cast<gpumem_axis>(along),
                                       x.address(), x.rows(), x.cols(), x.ld(), x.batches(), x.batch_stride(), to.data,
                                       places.data));
  }

  template <class X, class O, class R>
  of<void> segments_into(reduce_op op, X&& x, O&& offsets, R&& result, status_word word) const {
    const auto from = detail::contiguous(std::forward<X>(x));
    const auto ends = detail::contiguous(std::forward<O>(offsets));
    const auto to = detail::contiguous(std::forward<R>(result));
    static_assert(std::is_same_v<typename decltype(ends)::element, std::int64_t>, "offsets are std::int64_t");
    result_type<detail::element_t<X>>(to);
    if (ends.size < 1) return few("reduce_segments: offsets", ends.size, 1);
    const std::int64_t segments = ends.size - 1, each = op == reduce_op::min_max ? 2 : 1;
    if (segments > to.size / each) return few("reduce_segments: result", to.size, detail::product(each, segments));
    return Mode::give(queue_.call_with(word.get(), gpumem_reduce_segments, gpumem_reduce_segments_async,
                                       detail::raw_dtype<detail::element_t<X>>(), detail::raw(op), from.data, from.size,
                                       ends.data, segments, to.data));
  }

  // sorted or order is nullptr.
  template <class K, class E, class O>
  of<void> segments_to(const K& keys, const E& ends, void* sorted, O* order, bool descending, status_word word) const {
    static_assert(std::is_same_v<typename E::element, std::int64_t>, "offsets are std::int64_t");
    constexpr auto order_type = detail::raw_dtype<O>();
    static_assert(sizeof(O) >= 4 && order_type <= GPUMEM_U64, "order has integers of 32 or 64 bits");
    if (ends.size < 1) return few("sort_segments: offsets", ends.size, 1);
    return Mode::give(queue_.call_with(word.get(), gpumem_sort_segments, gpumem_sort_segments_async,
                                       detail::raw_dtype<std::remove_cv_t<typename K::element>>(), keys.data, keys.size,
                                       ends.data, ends.size - 1, descending ? 1 : 0, sorted, static_cast<void*>(order),
                                       order_type));
  }
  template <class K, class E, class S>
  of<void> sort_segments_into(K&& keys, E&& offsets, S&& sorted, bool descending, status_word word) const {
    const auto from = detail::contiguous(std::forward<K>(keys));
    const auto to = detail::contiguous(std::forward<S>(sorted));
    same_type(to, from);
    if (from.size != to.size) return unequal("sort_segments: keys", from.size, "sorted", to.size);
    return segments_to(from, detail::contiguous(std::forward<E>(offsets)), to.data, static_cast<std::int64_t*>(nullptr),
                       descending, word);
  }
  template <class K, class E, class O>
  of<void> argsort_segments_into(K&& keys, E&& offsets, O&& order, bool descending, status_word word) const {
    const auto from = detail::contiguous(std::forward<K>(keys));
    const auto places = detail::contiguous(std::forward<O>(order));
    if (from.size != places.size) return unequal("argsort_segments: keys", from.size, "order", places.size);
    return segments_to(from, detail::contiguous(std::forward<E>(offsets)), nullptr, places.data, descending, word);
  }

  template <class I>
  static auto bins_of(I&& index) {
    static_assert(std::is_integral_v<detail::element_t<I>> && sizeof(detail::element_t<I>) >= 4,
                  "an index is of 32 or 64 bits");
    return detail::contiguous(std::forward<I>(index));
  }

  template <class X, class I, class R>
  of<void> by_index_into(reduce_op op, X&& x, I&& index, R&& result, status_word word) const {
    const auto from = detail::contiguous(std::forward<X>(x));
    const auto at = bins_of(std::forward<I>(index));
    const auto to = detail::contiguous(std::forward<R>(result));
    result_type<detail::element_t<X>>(to);
    if (from.size != at.size) return unequal("reduce_by_index: x", from.size, "index", at.size);
    return Mode::give(queue_.call_with(word.get(), gpumem_reduce_by_index, gpumem_reduce_by_index_async,
                                       detail::raw_dtype<detail::element_t<X>>(), detail::raw(op),
                                       static_cast<const void*>(from.data), detail::raw_dtype<detail::element_t<I>>(),
                                       at.data, at.size, to.data, to.size / (op == reduce_op::min_max ? 2 : 1)));
  }

  template <class T, class I, class R>
  of<void> rows_by_index_into(reduce_op op, matrix_view<T> x, I&& index, R&& result, status_word word) const {
    const auto at = bins_of(std::forward<I>(index));
    const auto to = detail::contiguous(std::forward<R>(result));
    result_type<T>(to);
    if (x.batches() != 1)
      return Mode::template refuse<void>(detail::quantity("reduce_rows_by_index: batches of x", x.batches()) +
                                         ", expected 1");
    if (x.rows() != at.size) return unequal("reduce_rows_by_index: rows of x", x.rows(), "index", at.size);
    const std::int64_t each = op == reduce_op::min_max ? 2 : 1;
    const std::int64_t bins = x.cols() > 0 ? to.size / each / x.cols() : 0;
    return Mode::give(queue_.call_with(word.get(), gpumem_reduce_rows_by_index, gpumem_reduce_rows_by_index_async,
                                       detail::raw_dtype<T>(), detail::raw(op), static_cast<const void*>(x.address()),
                                       x.rows(), x.cols(), x.ld(), detail::raw_dtype<detail::element_t<I>>(), at.data,
                                       to.data, bins));
  }

  template <class I, class R>
  of<void> counts_into(I&& index, R&& result, status_word word) const {
    const auto at = bins_of(std::forward<I>(index));
    const auto to = detail::contiguous(std::forward<R>(result));
    static_assert(std::is_same_v<typename decltype(to)::element, std::int64_t>, "counts are std::int64_t");
    return Mode::give(queue_.call_with(word.get(), gpumem_reduce_by_index, gpumem_reduce_by_index_async, GPUMEM_I64,
                                       GPUMEM_SUM, static_cast<const void*>(nullptr),
                                       detail::raw_dtype<detail::element_t<I>>(), at.data, at.size, to.data, to.size));
  }

  template <class X, class R>
  of<void> scan_into(reduce_op op, X&& x, R&& result, bool exclusive, status_word word) const {
    const auto from = detail::contiguous(std::forward<X>(x));
    const auto to = detail::contiguous(std::forward<R>(result));
    if (from.size != to.size) return unequal("scan: x", from.size, "result", to.size);
    return Mode::give(queue_.call_with(
        word.get(), gpumem_scan, gpumem_scan_async, detail::raw_dtype<std::remove_cv_t<detail::element_t<X>>>(),
        detail::raw(op), exclusive ? 1 : 0, from.data, from.size, to.data, detail::raw_dtype<detail::element_t<R>>()));
  }

  template <class X, class R>
  of<void> scan_axis_into(reduce_op op, X&& x, list<std::int64_t> extents, std::int32_t axis, R&& result,
                          bool exclusive, list<std::int64_t> x_strides, list<std::int64_t> result_strides,
                          status_word word) const {
    const auto from = detail::contiguous(std::forward<X>(x));
    const auto to = detail::contiguous(std::forward<R>(result));
    const std::int64_t rank = extents.size();
    for (const auto& strides : {x_strides, result_strides}) {
      if (strides.size() != 0 && strides.size() != rank)
        return unequal("scan_axis: size of strides", strides.size(), "of extents", rank);
    }
    if (!reaches(extents, x_strides, from.size)) return past("scan_axis: x", from.size);
    if (!reaches(extents, result_strides, to.size)) return past("scan_axis: result", to.size);
    return Mode::give(queue_.call_with(word.get(), gpumem_scan_axis, gpumem_scan_axis_async,
                                       detail::raw_dtype<std::remove_cv_t<detail::element_t<X>>>(), detail::raw(op),
                                       exclusive ? 1 : 0, detail::few_of(rank), extents.data(), axis, from.data,
                                       x_strides.data(), to.data, result_strides.data(),
                                       detail::raw_dtype<detail::element_t<R>>()));
  }

  template <class X, class O, class R>
  of<void> scan_segments_into(reduce_op op, X&& x, O&& offsets, R&& result, bool exclusive, status_word word) const {
    const auto from = detail::contiguous(std::forward<X>(x));
    const auto ends = detail::contiguous(std::forward<O>(offsets));
    const auto to = detail::contiguous(std::forward<R>(result));
    static_assert(std::is_same_v<typename decltype(ends)::element, std::int64_t>, "offsets are std::int64_t");
    if (from.size != to.size) return unequal("scan_segments: x", from.size, "result", to.size);
    if (ends.size < 1) return few("scan_segments: offsets", ends.size, 1);
    return Mode::give(queue_.call_with(word.get(), gpumem_scan_segments, gpumem_scan_segments_async,
                                       detail::raw_dtype<std::remove_cv_t<detail::element_t<X>>>(), detail::raw(op),
                                       exclusive ? 1 : 0, from.data, from.size, ends.data, ends.size - 1, to.data,
                                       detail::raw_dtype<detail::element_t<R>>()));
  }

  template <class S, class I, class D>
  of<void> gather_into(matrix_view<S> src, I&& index, matrix_view<D> dst, status_word word) const {
    const auto rows = index_of<S, D>(src, dst, std::forward<I>(index));
    if (src.cols() != dst.cols()) return unequal("gather: cols of src", src.cols(), "of dst", dst.cols());
    if (dst.rows() < rows.size) return unequal("gather: rows of dst", dst.rows(), "index", rows.size);
    return Mode::give(queue_.call_with(word.get(), gpumem_gather, gpumem_gather_async, src.row_bytes(), src.address(),
                                       src.rows(), src.pitch_bytes(), detail::raw_dtype<detail::element_t<I>>(),
                                       rows.data, rows.size, dst.address(), dst.pitch_bytes()));
  }

  template <class T>
  of<void> map_into(map_op how, grid_view<const T> x, const T* y, const std::int64_t* y_strides, grid_view<T> z,
                    gpumem_status* status) const {
    return Mode::give(queue_.call_with(status, gpumem_map, gpumem_map_async, static_cast<gpumem_map_op>(how),
                                       detail::raw_dtype<T>(), z.rank(), z.extents(), x.address(), x.strides(), y,
                                       y_strides, z.address(), z.strides()));
  }

  template <class S, class I, class D>
  of<void> scatter_into(matrix_view<S> src, I&& index, matrix_view<D> dst, status_word word) const {
    const auto rows = index_of<S, D>(src, dst, std::forward<I>(index));
    if (src.cols() != dst.cols()) return unequal("scatter: cols of src", src.cols(), "of dst", dst.cols());
    if (src.rows() < rows.size) return unequal("scatter: rows of src", src.rows(), "index", rows.size);
    return Mode::give(queue_.call_with(word.get(), gpumem_scatter, gpumem_scatter_async, src.row_bytes(), src.address(),
                                       src.pitch_bytes(), detail::raw_dtype<detail::element_t<I>>(), rows.data,
                                       rows.size, dst.address(), dst.rows(), dst.pitch_bytes()));
  }

  template <class From, class O>
  of<void> sort_to(const From& keys, void* sorted, O* order, bool descending) const {
    constexpr auto order_type = detail::raw_dtype<O>();
    static_assert(sizeof(O) >= 4 && order_type <= GPUMEM_U64, "order has integers of 32 or 64 bits");
    return Mode::give(queue_.call(gpumem_sort, gpumem_sort_async,
                                  detail::raw_dtype<std::remove_cv_t<typename From::element>>(), keys.data, keys.size,
                                  descending ? 1 : 0, sorted, static_cast<void*>(order), order_type));
  }

  // Calls select(mask) on masks and matrices that fit.
  template <class R, class S, class M, class D, class F>
  of<R> selected(matrix_view<S> src, M&& mask, matrix_view<D> dst, const F& select) const {
    static_assert(std::is_same_v<D, std::remove_cv_t<S>>,
                  "dst and src have the same elements, and those of dst are not const");
    const auto keeps = mask_of(std::forward<M>(mask));
    if (src.cols() != dst.cols()) return unequal<R>("select: cols of src", src.cols(), "of dst", dst.cols());
    if (src.rows() != keeps.size) return unequal<R>("select: rows of src", src.rows(), "mask", keeps.size);
    return select(keeps);
  }

  template <class M>
  static auto mask_of(M&& mask) {
    static_assert(std::is_same_v<std::remove_cv_t<detail::element_t<M>>, std::uint8_t>, "a mask is of std::uint8_t");
    return detail::contiguous(std::forward<M>(mask));
  }

  template <class P>
  static auto places_of(P&& places) {
    static_assert(std::is_integral_v<detail::element_t<P>> && sizeof(detail::element_t<P>) >= 4,
                  "places are of 32 or 64 bits");
    return detail::contiguous(std::forward<P>(places));
  }

  template <class R = void>
  static of<R> unequal(const char* first, std::int64_t a, const char* second, std::int64_t b) {
    return Mode::template refuse<R>(detail::quantity(first, a) + ", " + detail::quantity(second, b));
  }

  static of<void> few(const char* what, std::int64_t size, std::int64_t least) {
    return Mode::template refuse<void>(std::string(what) + " has " + std::to_string(size) + " elements; expected " +
                                       std::to_string(least) + " or more");
  }

  Queue queue_;

 private:
  template <class D, class S>
  static void same_type(const detail::sequence<D>&, const detail::sequence<S>&) {
    static_assert(std::is_same_v<D, std::remove_cv_t<S>>,
                  "dst and src must have the same element type, and dst must not be const");
  }
  template <class T, class R>
  static void result_type(const detail::sequence<R>&) {
    static_assert(std::is_same_v<R, reduced_t<T>>,
                  "results are std::int64_t, std::uint64_t or double: reduced_t of the elements");
  }
  template <class S, class D, class I>
  static auto index_of(const matrix_view<S>&, const matrix_view<D>&, I&& index) {
    static_assert(std::is_same_v<D, std::remove_cv_t<S>>,
                  "dst and src must have the same element type, and dst must not be const");
    static_assert(std::is_integral_v<detail::element_t<I>> && sizeof(detail::element_t<I>) >= 4,
                  "an index is of 32 or 64 bits");
    return detail::contiguous(std::forward<I>(index));
  }

  template <class S, class D>
  static bool same_extents(const grid_view<S>& a, const grid_view<D>& b) {
    return a.rank() == b.rank() && std::equal(a.extents(), a.extents() + a.rank(), b.extents());
  }

  static of<void> past(const char* what, std::int64_t size) {
    return Mode::template refuse<void>(std::string(what) + " reaches past its " + std::to_string(size) + " elements");
  }

  template <class Extents>
  static bool reaches(const Extents& extents, const list<std::int64_t>& strides, std::int64_t size) {
    std::int64_t left = strides.size() == 0 || size < 0 ? size : size - 1, place = 0;
    for (const std::int64_t extent : extents) {
      if (extent <= 0) return true;  // empty, or the library refuses it
    }
    for (const std::int64_t extent : extents) {
      if (strides.size() == 0) {
        left /= extent;
      } else if (const std::int64_t stride = strides.begin()[place++]; stride > 0 && left >= 0) {
        left = extent - 1 <= left / stride ? left - (extent - 1) * stride : -1;
      }
    }
    return strides.size() == 0 ? left >= 1 : left >= 0;
  }

  template <class T, class X>
  static auto operand(X&& x, std::int64_t size) {
    if constexpr (std::is_null_pointer_v<detail::bare<X>>) {
      return detail::sequence<const T>{nullptr, size};
    } else {
      const auto all = detail::contiguous(std::forward<X>(x));
      static_assert(std::is_same_v<typename decltype(all)::element, T>, "x, y and z have the same elements");
      return detail::sequence<const T>{all.data, all.size};
    }
  }
};

}  // namespace gpumem

#endif  // GPUMEM_OPERATIONS_HPP
