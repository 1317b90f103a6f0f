// Shared code of all exported functions: catches exceptions, checks handles and structs, returns texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/caller_state.hpp"
#include "base/error.hpp"
#include "base/sentences.hpp"
#include "context/context.hpp"
#include "context/process.hpp"
#include "gpumem.h"
#include "ops/profile.hpp"

namespace gpumem::api {

inline gpumem_status failed(gpumem_status status, const char* sentence) noexcept {
  set_last_error(sentence);
  return status;
}

template <class Kept = KeptThreadState, class F>
gpumem_status guard(F&& f) noexcept {
  const Kept kept;
  try {
    f();
    return GPUMEM_OK;
  } catch (...) {
    const Error error = current_error();
    return failed(error.status(), error.what());
  }
}

template <class T>
T& resolve(const void* handle, HandleType type, const char* argument) {
  return object_of<T>(reinterpret_cast<uintptr_t>(handle), type, argument);
}

inline Context& resolve(const gpumem_ctx* ctx) { return resolve<Context>(ctx, HandleType::context, "ctx"); }
inline Stream& resolve(const gpumem_stream* s) { return resolve<Stream>(s, HandleType::stream, "stream"); }
inline Event& resolve(const gpumem_event* e, const char* argument = "event") {
  return resolve<Event>(e, HandleType::event, argument);
}

template <class Handle>
Handle* as_handle(uint64_t handle) noexcept {
  return reinterpret_cast<Handle*>(static_cast<uintptr_t>(handle));
}
template <class Handle>
uint64_t as_number(const Handle* handle) noexcept {
  return reinterpret_cast<uintptr_t>(handle);
}

// A stream or an event, which must belong to the context.
template <class Child>
Child& child_of(const Context& context, Child& child, const char* argument, const char* owner = "ctx") {
  if (child.context == &context) return child;
  fail(GPUMEM_INVALID_ARGUMENT, "%s belongs to another context; expected one that was made on %s", argument, owner);
}

// The context's own stream for NULL, else a stream made on this context.
inline NativeStream stream_of(Context& context, const gpumem_stream* stream) {
  return stream == nullptr ? context.own_stream() : child_of(context, resolve(stream), "stream").native;
}

// The stream's cache in the context's device memory.
inline StreamCache& cache_of(Context& context, const gpumem_stream* stream) {
  return stream == nullptr ? context.device_memory().own() : *child_of(context, resolve(stream), "stream").cache;
}

inline Event& event_of(Context& context, const gpumem_event* event) {
  return child_of(context, resolve(event), "event");
}

// Runs f on a live, healthy context. A device fault in f becomes its persistent error.
template <class F>
void in_context(Context& context, F&& f) {
  context.throw_if_faulted();
  try {
    f(context);
  } catch (const Error& error) {
    if (error.status() == GPUMEM_DEVICE_FAULT) context.keep_fault(error.what());
    throw;
  }
}

template <class Kept = KeptThreadState, class F>
gpumem_status with_context(const gpumem_ctx* ctx, F&& f) noexcept {
  return guard<Kept>([&] { in_context(resolve(ctx), f); });
}

template <class T>
void require(const T* p, const char* argument) {
  if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected an address to write to or read from", argument);
}

// Makes an object in a context. *out is nullptr until it exists.
template <class Kept = KeptThreadState, class T, class Make>
gpumem_status make_in(const gpumem_ctx* ctx, T** out, const char* argument, const Make& make) noexcept {
  return guard<Kept>([&] {
    require(out, argument);
    *out = nullptr;
    in_context(resolve(ctx), [&](Context& context) { *out = make(context); });
  });
}

// For structs with a size. Their first member is int64_t struct_size.
constexpr int64_t kSmallestStruct = sizeof(int64_t);
constexpr int64_t kLargestStruct = int64_t{1} << 20;  // rejects garbage sizes; no version will be as large

template <class T>
void init_struct(T* p, int64_t size, const T& defaults, const char* argument) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  require(p, argument);
  if (size < kSmallestStruct || size > kLargestStruct) {
    fail(GPUMEM_INVALID_ARGUMENT, "size is %lld; expected sizeof *%s", ll(size), argument);
  }
  T filled = defaults;
  filled.struct_size = size;
  const auto known = std::min(static_cast<size_t>(size), sizeof(T));
  std::memcpy(p, &filled, known);
  std::memset(reinterpret_cast<char*>(p) + known, 0, static_cast<size_t>(size) - known);
}

template <class T>
int64_t struct_size_of(const T* p, const char* argument) {
  require(p, argument);
  int64_t size = 0;
  std::memcpy(&size, p, sizeof size);
  if (size < kSmallestStruct || size > kLargestStruct) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s->struct_size is %lld; expected sizeof *%s, as its _init function sets it",
         argument, ll(size), argument);
  }
  return size;
}

// An input struct: the caller's fields over the defaults. Fields unknown to this version must be zero.
template <class T>
T read_struct(const T* p, const T& defaults, const char* argument) {
  const auto size = static_cast<size_t>(struct_size_of(p, argument));
  T value = defaults;
  std::memcpy(&value, p, std::min(size, sizeof(T)));
  const char* bytes = reinterpret_cast<const char*>(p);
  for (size_t at = sizeof(T); at < size; ++at) {
    if (bytes[at] != 0) {
      fail(GPUMEM_UNSUPPORTED, "%s has a field at byte %zu that this version of the library does not know", argument,
           at);
    }
  }
  return value;
}

inline void require_zero(const char* member, int32_t value) {
  if (value != 0) fail(GPUMEM_INVALID_ARGUMENT, "%s is %d; expected 0", member, value);
}

// An output struct: never a byte past the caller's size.
template <class T>
void write_struct(T* p, T value, const char* argument) {
  const int64_t size = struct_size_of(p, argument);
  value.struct_size = size;
  std::memcpy(p, &value, std::min(static_cast<size_t>(size), sizeof(T)));
}

inline void write_text(std::string_view text, char* buf, int64_t cap, int64_t* needed) {
  if (cap < 0) fail(GPUMEM_INVALID_ARGUMENT, "cap is %lld; expected 0 or more", ll(cap));
  if (cap > 0) {
    require(buf, "buf");
    const size_t length = std::min(text.size(), static_cast<size_t>(cap) - 1);
    std::memcpy(buf, text.data(), length);
    buf[length] = '\0';
  }
  if (needed != nullptr) *needed = static_cast<int64_t>(text.size()) + 1;
}

template <class T>
constexpr gpumem_dtype kDtypeOf = std::is_floating_point_v<T> ? (sizeof(T) == 4 ? GPUMEM_F32 : GPUMEM_F64)
                                  : std::is_signed_v<T>       ? (sizeof(T) == 4 ? GPUMEM_I32 : GPUMEM_I64)
                                                              : (sizeof(T) == 4 ? GPUMEM_U32 : GPUMEM_U64);

// Order of an operation: behind the context's own stream and blocking, or enqueued on a stream.
struct Order {
  const gpumem_stream* stream = nullptr;
  Completion completion = Completion::blocking;
};
inline Order enqueued(const gpumem_stream* stream) noexcept { return {stream, Completion::asynchronous}; }

template <class F>
void run_profiled(Context& context, Order order, const F& f) {
  const NativeStream stream = stream_of(context, order.stream);
  Profile& profile = context.profile();
  if (!profile.on()) return f(stream);
  CallTimer timer(profile.events(), stream, order.completion);
  f(stream);
  profile.add(timer);
}

// Entry points list the parameters in the order of their struct.
template <class Params>
gpumem_status run(gpumem_ctx* ctx, void (*operation)(Context&, const Params&, NativeStream, Completion),
                  const std::type_identity_t<Params>& params, Order order = {}) noexcept {
  return with_context(ctx, [&](Context& context) {
    run_profiled(context, order, [&](NativeStream stream) { operation(context, params, stream, order.completion); });
  });
}

}  // namespace gpumem::api
