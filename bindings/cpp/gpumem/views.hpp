// SPDX-License-Identifier: Apache-2.0
//
// Element types, and what an operation takes: views of memory that somebody owns.
#ifndef GPUMEM_VIEWS_HPP
#define GPUMEM_VIEWS_HPP

#include <gpumem.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#if __has_include(<span>)
#include <span>  // nothing before C++20
#endif

#include "gpumem/result.hpp"

namespace gpumem {

// 16-bit floating-point numbers as their bits. Types of others, such as __half, take part by a specialisation of dtype_of.
struct f16 {
  std::uint16_t bits;
};
struct bf16 {
  std::uint16_t bits;
};

template <class T, class = void>
struct dtype_of;  // not defined where T is no element type

template <class T>
struct dtype_of<T, std::enable_if_t<std::is_integral_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool> &&
                                    !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> &&
                                    !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>>> {
  // In dtype's order: 1, 2, 4 and 8 bytes, of each the signed type first.
  static constexpr dtype value =
      static_cast<dtype>(2 * ((sizeof(T) > 1) + (sizeof(T) > 2) + (sizeof(T) > 4)) + (std::is_unsigned_v<T> ? 1 : 0));
};
template <>
struct dtype_of<f16> {
  static constexpr dtype value = dtype::f16;
};
template <>
struct dtype_of<bf16> {
  static constexpr dtype value = dtype::bf16;
};
template <>
struct dtype_of<float> {
  static constexpr dtype value = dtype::f32;
};
template <>
struct dtype_of<double> {
  static constexpr dtype value = dtype::f64;
};

template <class T, class = void>
inline constexpr bool is_element = false;
template <class T>
inline constexpr bool is_element<T, std::void_t<decltype(dtype_of<std::remove_cv_t<T>>::value)>> = true;

template <class T>
inline constexpr dtype dtype_v = dtype_of<std::remove_cv_t<T>>::value;

// What reductions of T give.
template <class T>
using reduced_t = std::conditional_t<!std::is_integral_v<std::remove_cv_t<T>>, double,
                                     std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <class T>
class host_view;
template <class T>
class device_view;
template <class T>
class strided_view;
template <class T>
class matrix_view;

// Whether X refers to memory that it does not own, so that a temporary X may be an operand.
template <class X>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<host_view<T>> = true;
template <class T>
inline constexpr bool is_view<device_view<T>> = true;
template <class T>
inline constexpr bool is_view<strided_view<T>> = true;
#if defined(__cpp_lib_span)
template <class T, std::size_t N>
inline constexpr bool is_view<std::span<T, N>> = true;
#endif

namespace detail {
template <class X>
using bare = std::remove_cv_t<std::remove_reference_t<X>>;

template <class X, class = void>
inline constexpr bool has_stride = false;
template <class X>
inline constexpr bool has_stride<X, std::void_t<decltype(std::declval<X&>().stride())>> = true;

// Where the elements are: ours say address(), others std::data().
template <class X>
auto address_of(X& x, int) -> decltype(x.address()) {
  return x.address();
}
template <class X>
auto address_of(X& x, long) -> decltype(std::data(x)) {
  return std::data(x);
}

template <class X>
using shown_t = std::remove_pointer_t<decltype(address_of(std::declval<std::remove_reference_t<X>&>(), 0))>;

template <class X, class = void>
inline constexpr bool is_operand = false;
template <class X>
inline constexpr bool is_operand<X, std::void_t<shown_t<X>>> = std::is_object_v<shown_t<X>>;

template <class X, bool = is_operand<X>>
struct element_of {
  using type = shown_t<X>;
};
template <class X>
struct element_of<X, false> {
  static_assert(
      is_operand<X>,
      "this is no operand: give a buffer, a view, or a container or array whose elements lie one after another");
  using type = int;
};
template <class X>
using element_t = typename element_of<std::remove_reference_t<X>>::type;

// Of numbers from 0 on; INT64_MAX where it would leave std::int64_t.
constexpr std::int64_t product(std::int64_t a, std::int64_t b) {
  return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}
// A number of few, such as a rank; INT32_MAX, which the library refuses, where it would leave std::int32_t.
template <class N>
constexpr std::int32_t few_of(N number) {
  return number < static_cast<N>(INT32_MAX) ? static_cast<std::int32_t>(number) : INT32_MAX;
}

// An operand as the C functions take it.
template <class T>
struct sequence {
  using element = std::remove_cv_t<T>;
  T* data;
  std::int64_t size;
  std::int64_t stride = 1;
  // -1, which the library refuses, where a view says a size that leaves std::int64_t.
  std::int64_t bytes() const {
    constexpr auto each = static_cast<std::int64_t>(sizeof(T));
    return size < 0 || size > INT64_MAX / each ? -1 : size * each;
  }
};

template <class X, class = void>
inline constexpr bool has_size = false;
template <class X>
inline constexpr bool has_size<X, std::void_t<decltype(std::size(std::declval<X&>()))>> = true;

template <class X>
auto sequence_of(X&& x) {
  static_assert(!is_operand<X> || has_size<X>, "a sequence is taken here, and this is a matrix_view");
  static_assert(std::is_lvalue_reference_v<X> || is_view<bare<X>> || !has_size<X>,
                "this temporary owns its memory, which would end with the call: give it a name");
  using element = element_t<X>;
  static_assert(std::is_trivially_copyable_v<element>, "the bytes of the elements are moved");
  sequence<element> found{};
  if constexpr (is_operand<X> && has_size<X>) found = {address_of(x, 0), static_cast<std::int64_t>(std::size(x))};
  if constexpr (has_stride<bare<X>>) found.stride = x.stride();
  return found;
}

template <class X>
auto contiguous(X&& x) {
  static_assert(!has_stride<bare<X>>, "this operation takes contiguous elements");
  return sequence_of(std::forward<X>(x));
}

template <class From, class To>
inline constexpr bool same_elements = std::is_convertible_v<From (*)[], To (*)[]>;

// A container, or one of the views that the host can dereference, whose elements a view of T may show.
template <class C, class T, class = void>
inline constexpr bool shows_host = false;
template <class C, class T>
inline constexpr bool
    shows_host<C, T, std::void_t<decltype(std::data(std::declval<C&>())), decltype(std::size(std::declval<C&>()))>> =
        same_elements<std::remove_pointer_t<decltype(std::data(std::declval<C&>()))>, T>;

inline void check_part(std::int64_t offset, std::int64_t count, std::int64_t size) {
  if (offset >= 0 && count >= 0 && offset <= size && count <= size - offset) return;
  raise({status::out_of_range, "subview: " + std::to_string(count) + " elements from " + std::to_string(offset) +
                                   " on reach past a view of " + std::to_string(size)});
}
}  // namespace detail

// Memory of a device, or of any kind: it has an address, and nothing that reads or writes it here.
template <class T>
class device_view {
 public:
  using element_type = T;

  device_view() = default;
  device_view(T* address, std::int64_t size) : address_(address), size_(size) {}
  template <class U, class = std::enable_if_t<detail::same_elements<U, T>>>
  device_view(device_view<U> other) : address_(other.address()), size_(other.size()) {}

  T* address() const noexcept { return address_; }
  std::int64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  device_view subview(std::int64_t offset, std::int64_t count) const {
    detail::check_part(offset, count, size_);
    return {address_ + offset, count};
  }

 private:
  T* address_ = nullptr;
  std::int64_t size_ = 0;
};

// Memory that the host can read: what std::span is from C++20 on, with sizes of std::int64_t.
template <class T>
class host_view {
 public:
  using element_type = T;

  host_view() = default;
  host_view(T* data, std::int64_t size) : data_(data), size_(size) {}
  template <class C, class = std::enable_if_t<(std::is_lvalue_reference_v<C> ||
                                               is_view<detail::bare<C>>)&&!std::is_same_v<detail::bare<C>, host_view> &&
                                              detail::shows_host<std::remove_reference_t<C>, T>>>
  host_view(C&& container) : data_(std::data(container)), size_(static_cast<std::int64_t>(std::size(container))) {}

  T* data() const noexcept { return data_; }
  std::int64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::int64_t index) const noexcept { return data_[index]; }
  host_view subview(std::int64_t offset, std::int64_t count) const {
    detail::check_part(offset, count, size_);
    return {data_ + offset, count};
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

template <class C>
host_view(C&&) -> host_view<detail::element_t<C>>;

// Every stride-th element, from the first on: for reductions.
template <class T>
class strided_view {
 public:
  using element_type = T;

  strided_view(T* address, std::int64_t size, std::int64_t stride) : address_(address), size_(size), stride_(stride) {}

  T* address() const noexcept { return address_; }
  std::int64_t size() const noexcept { return size_; }
  std::int64_t stride() const noexcept { return stride_; }

 private:
  T* address_;
  std::int64_t size_, stride_;
};

template <class X>
auto every(X&& x, std::int64_t stride) {
  const auto all = detail::contiguous(std::forward<X>(x));
  if (stride < 1)
    detail::raise({status::invalid_argument, detail::quantity("every: stride", stride) + ", expected 1 or more"});
  return strided_view(all.data, all.size / stride + (all.size % stride != 0), stride);
}

// rows x cols elements of any memory, row-major, each row `ld` elements after the one before; and `batches` of such matrices,
// each `batch_stride` elements after the one before.
template <class T>
class matrix_view {
 public:
  using element_type = T;
  struct extents {
    std::int64_t rows, cols, ld, batches = 1, batch_stride = 0;
  };

  template <class X>
  matrix_view(X&& x, std::int64_t rows, std::int64_t cols) : matrix_view(std::forward<X>(x), rows, cols, cols) {}
  template <class X>
  matrix_view(X&& x, std::int64_t rows, std::int64_t cols, std::int64_t ld)
      : matrix_view(std::forward<X>(x), extents{rows, cols, ld}) {}
  template <class X>
  matrix_view(X&& x, extents shape) : shape_(shape) {
    const auto all = detail::contiguous(std::forward<X>(x));
    address_ = all.data;
    size_ = all.size;
    check();
  }

  // As many matrices of this shape in the same memory.
  matrix_view batched(std::int64_t batches, std::int64_t batch_stride) const {
    matrix_view many = *this;
    many.shape_.batches = batches;
    many.shape_.batch_stride = batch_stride;
    many.check();
    return many;
  }

  T* address() const noexcept { return address_; }
  std::int64_t rows() const noexcept { return shape_.rows; }
  std::int64_t cols() const noexcept { return shape_.cols; }
  std::int64_t ld() const noexcept { return shape_.ld; }
  std::int64_t batches() const noexcept { return shape_.batches; }
  std::int64_t batch_stride() const noexcept { return shape_.batch_stride; }
  std::int64_t row_bytes() const noexcept { return detail::product(cols(), bytes); }
  std::int64_t pitch_bytes() const noexcept { return detail::product(ld(), bytes); }
  std::int64_t slice_bytes() const noexcept { return detail::product(batch_stride(), bytes); }

 private:
  static constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));

  void check() const {
    const auto& [rows, cols, ld, batches, batch_stride] = shape_;
    if (rows < 0 || cols < 0 || ld < cols || batches < 0 || batch_stride < 0) {
      detail::raise({status::invalid_argument, "matrix_view: " + words() + " is no shape"});
    }
    if (rows == 0 || cols == 0 || batches == 0) return;
    std::int64_t left = size_ < 0 ? -1 : size_ - cols;  // without a product, which might leave std::int64_t
    if (left >= 0 && rows > 1) left = rows - 1 <= left / ld ? left - (rows - 1) * ld : -1;
    if (left >= 0 && batches > 1 && batch_stride > 0) left = batches - 1 <= left / batch_stride ? left : -1;
    if (left < 0) {
      detail::raise({status::out_of_range,
                     "matrix_view: " + words() + " reaches past a view of " + std::to_string(size_) + " elements"});
    }
  }

  std::string words() const {
    return std::to_string(rows()) + " x " + std::to_string(cols()) + " with " + detail::quantity("ld", ld()) + ", " +
           detail::quantity("batches", batches()) + ", " + detail::quantity("batch_stride", batch_stride());
  }

  T* address_ = nullptr;
  std::int64_t size_ = 0;
  extents shape_;
};

template <class X>
matrix_view(X&&, std::int64_t, std::int64_t) -> matrix_view<detail::element_t<X>>;
template <class X>
matrix_view(X&&, std::int64_t, std::int64_t, std::int64_t) -> matrix_view<detail::element_t<X>>;

// Numbers that a call reads before it returns, in braces or in a container.
template <class T>
class list {
 public:
  list() = default;
  list(std::initializer_list<T> values) : list(values.begin(), static_cast<std::int64_t>(values.size())) {}
  template <class C, class = std::enable_if_t<detail::shows_host<const C, const T>>>
  list(const C& values) : list(std::data(values), static_cast<std::int64_t>(std::size(values))) {}

  list(const T* data, std::int64_t size) : data_(data), size_(size) {}

  const T* data() const noexcept { return size_ == 0 ? nullptr : data_; }
  std::int64_t size() const noexcept { return size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }

 private:
  const T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace gpumem

#endif  // GPUMEM_VIEWS_HPP
