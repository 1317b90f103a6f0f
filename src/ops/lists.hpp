// Operations whose arguments are lists of operands: names and checks of arguments, and the launch.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "base/sentences.hpp"
#include "ops/plan.hpp"

namespace gpumem {

struct ArgumentName {
  char text[48];

  // index < 0: the name alone.
  ArgumentName(std::string_view before, std::string_view argument, std::string_view after, int64_t index) noexcept {
    char* to = text;
    const auto put = [&](std::string_view part) {
      std::memcpy(to, part.data(), part.size());
      to += part.size();
    };
    put(before);
    put(argument);
    put(after);
    if (index >= 0) {
      *to++ = '[';
      to = std::to_chars(to, text + sizeof text - 2, index).ptr;
      *to++ = ']';
    }
    *to = '\0';
  }
  operator const char*() const noexcept { return text; }  // NOLINT(google-explicit-constructor): it is a name
};

template <class T>
void require_list(const char* argument, const T* p, int64_t count) {
  if (p == nullptr)
    fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected an array of %lld elements", argument, ll(count));
}

// Whether a range is in the allocation of an operand that was looked up, and so needs no lookup. If p is below the
// allocation, `before` wraps around.
inline bool is_within(const Operand& operand, const void* p, int64_t bytes) noexcept {
  const uint64_t before = reinterpret_cast<uintptr_t>(p) - operand.base;
  const auto all = static_cast<uint64_t>(operand.bytes);
  return operand.base != 0 && !operand.mixed && before < all && static_cast<uint64_t>(bytes) <= all - before;
}

// As launch_placed(), for parameters that point into the list. The host may read it after the return. A device does
// not, because the list becomes parameters of the kernel.
template <class Family, class List>
void launch_listed(Context& context, const Plan<Family>& planned, const std::shared_ptr<List>& list,
                   NativeStream stream, Completion completion, const char* what) {
  const auto launch = [planned, list](Backend& backend, NativeStream on, Completion done) {
    backend.launch(on, Work<Family>{planned.params, planned.selection}, done);
    if (planned.placement.space == ExecutionSpace::cuda || done == Completion::blocking) return;
    try {
      backend.host_callback(on, [list] {});
    } catch (...) {
      backend.synchronize(on);
      throw;
    }
  };
  run_placed(context, planned.placement, stream, completion, what, launch);
}

}  // namespace gpumem
