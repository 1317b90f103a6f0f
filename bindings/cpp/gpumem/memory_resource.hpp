// SPDX-License-Identifier: Apache-2.0
//
// Pinned and managed memory for standard containers.
#ifndef GPUMEM_MEMORY_RESOURCE_HPP
#define GPUMEM_MEMORY_RESOURCE_HPP

#include <gpumem.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#if __has_include(<memory_resource>)
#include <memory_resource>
#endif

#include "gpumem/context.hpp"

namespace gpumem {

// A std::bad_alloc with the library's error message.
class bad_alloc : public std::bad_alloc {
 public:
  bad_alloc(status code, std::string sentence)
      : code_(code), sentence_(std::make_shared<const std::string>(std::move(sentence))) {}
  status code() const noexcept { return code_; }
  const char* what() const noexcept override { return sentence_->c_str(); }

 private:
  status code_;
  std::shared_ptr<const std::string> sentence_;  // shared, because copying an exception must not throw
};

namespace detail {
// The alignment of all memory of the library, in bytes.
inline constexpr std::size_t alignment_given = 256;

[[noreturn]] inline void raise_bad_alloc(status code, std::string sentence) {
#if defined(__cpp_exceptions)
  throw bad_alloc(code, std::move(sentence));
#else
  (void)code, (void)sentence;
  std::abort();
#endif
}

// The bytes to allocate: at least 1, because every allocation needs an address.
inline std::int64_t allocation_bytes(std::size_t bytes, std::size_t alignment) {
  if (alignment > alignment_given) {
    raise_bad_alloc(status::unsupported, "alignment is " + std::to_string(alignment) + ", expected " +
                                             std::to_string(alignment_given) + " or less");
  }
  if (bytes > static_cast<std::size_t>(INT64_MAX)) {
    raise_bad_alloc(status::out_of_memory, "bytes is " + std::to_string(bytes) + ", more than std::int64_t holds");
  }
  return bytes == 0 ? 1 : static_cast<std::int64_t>(bytes);
}
}  // namespace detail

#if defined(__cpp_lib_memory_resource)
// It keeps the context alive.
class memory_resource : public std::pmr::memory_resource {
 public:
  static memory_resource pinned(context_ref ctx) { return memory_resource(ctx, gpumem_alloc_pinned); }
  static memory_resource managed(context_ref ctx) { return memory_resource(ctx, gpumem_alloc_managed); }

 private:
  using allocate_fn = gpumem_status (*)(gpumem_ctx*, std::int64_t, void**);
  memory_resource(context_ref ctx, allocate_fn form) : ctx_(ctx.get()), keep_(ctx.link().keep()), allocate_(form) {}

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* p = nullptr;
    const gpumem_status code = allocate_(ctx_, detail::allocation_bytes(bytes, alignment), &p);
    if (code != GPUMEM_OK) detail::raise_bad_alloc(static_cast<status>(code), last_error());
    return p;
  }
  void do_deallocate(void* p, std::size_t, std::size_t) override { gpumem_free(ctx_, p); }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
#if defined(__cpp_rtti)
    const auto* same = dynamic_cast<const memory_resource*>(&other);
    return same != nullptr && same->ctx_ == ctx_ && same->allocate_ == allocate_;
#else
    return this == &other;
#endif
  }

  gpumem_ctx* ctx_;
  detail::kept_context keep_;
  allocate_fn allocate_;
};
#endif

}  // namespace gpumem

#endif  // GPUMEM_MEMORY_RESOURCE_HPP
