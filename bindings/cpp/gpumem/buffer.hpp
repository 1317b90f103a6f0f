// SPDX-License-Identifier: Apache-2.0
//
// Buffers, which own memory of a context.
#ifndef GPUMEM_BUFFER_HPP
#define GPUMEM_BUFFER_HPP

#include <gpumem.h>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "gpumem/handles.hpp"
#include "gpumem/views.hpp"

namespace gpumem {

namespace detail {
template <class T>
class device_access {
 protected:
  T* address_ = nullptr;
  std::int64_t size_ = 0;
};

template <class T>
class host_access : protected device_access<T> {
 public:
  T* data() noexcept { return this->address_; }
  const T* data() const noexcept { return this->address_; }
  T* begin() noexcept { return data(); }
  const T* begin() const noexcept { return data(); }
  T* end() noexcept { return data() + this->size_; }
  const T* end() const noexcept { return data() + this->size_; }
  T& operator[](std::int64_t index) noexcept { return data()[index]; }
  const T& operator[](std::int64_t index) const noexcept { return data()[index]; }
};
}  // namespace detail

// Memory of a context, uninitialised at first. The buffer keeps the context alive. Its destructor frees the memory in
// the order of the stream that allocated it, else after the work of all streams. The destructor reports
// status::corrupted, in debug mode, only to the log; context::free() and stream::free() return it.
template <class T, memory_kind K = memory_kind::device>
class buffer : public std::conditional_t<K == memory_kind::device, detail::device_access<T>, detail::host_access<T>> {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "the elements of a buffer must be trivially copyable and not const");

 public:
  using element_type = T;

  buffer() = default;
  // Takes ownership of memory that `ctx` allocated. If `stream` is given, the memory is freed in its order.
  buffer(detail::context_link ctx, T* address, std::int64_t size, std::optional<gpumem_stream*> stream = {}) noexcept
      : ctx_(ctx.ctx), keep_(address == nullptr ? nullptr : ctx.keep()), stream_(stream) {
    this->address_ = address;
    this->size_ = size;
  }
  buffer(buffer&& other) noexcept : buffer() { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~buffer() { free(); }

  T* address() noexcept { return this->address_; }
  const T* address() const noexcept { return this->address_; }
  std::int64_t size() const noexcept { return this->size_; }
  bool empty() const noexcept { return this->size_ == 0; }

  auto view() { return view_of(address(), size()); }
  auto view() const { return view_of(address(), size()); }
  auto subview(std::int64_t offset, std::int64_t count) { return view().subview(offset, count); }
  auto subview(std::int64_t offset, std::int64_t count) const { return view().subview(offset, count); }
  operator device_view<T>() { return {address(), size()}; }
  operator device_view<const T>() const { return {address(), size()}; }

  // Gives the memory to the caller. The buffer no longer keeps the context alive.
  T* release() noexcept {
    T* address = this->address_;
    keep_.reset();
    this->address_ = nullptr;
    this->size_ = 0;
    return address;
  }

  // Frees the memory now. If the status says that it is still allocated, the buffer still owns it.
  gpumem_status free() noexcept {
    if (this->address_ == nullptr) return GPUMEM_OK;
    // A stream may have ended before its memory.
    gpumem_status code = stream_ ? gpumem_free_async(ctx_, this->address_, *stream_) : GPUMEM_INVALID_HANDLE;
    if (code == GPUMEM_INVALID_HANDLE) code = gpumem_free(ctx_, this->address_);
    if (code == GPUMEM_OK || code == GPUMEM_CORRUPTED) release();
    return code;
  }
  gpumem_status free_on(gpumem_stream* stream) noexcept {
    const gpumem_status code = gpumem_free_async(ctx_, this->address_, stream);
    if (code == GPUMEM_OK || code == GPUMEM_CORRUPTED) release();
    return code;
  }

 private:
  template <class U>
  static auto view_of(U* address, std::int64_t size) {
    return std::conditional_t<K == memory_kind::device, device_view<U>, host_view<U>>(address, size);
  }
  void swap(buffer& other) noexcept {
    std::swap(ctx_, other.ctx_);
    std::swap(keep_, other.keep_);
    std::swap(stream_, other.stream_);
    std::swap(this->address_, other.address_);
    std::swap(this->size_, other.size_);
  }

  gpumem_ctx* ctx_ = nullptr;
  detail::kept_context keep_;
  std::optional<gpumem_stream*> stream_;
};

template <class T>
using device_buffer = buffer<T, memory_kind::device>;
template <class T>
using pinned_buffer = buffer<T, memory_kind::pinned>;
template <class T>
using managed_buffer = buffer<T, memory_kind::managed>;

}  // namespace gpumem

#endif  // GPUMEM_BUFFER_HPP
