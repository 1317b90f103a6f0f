// The members of a dist, and what joins them.
#pragma once

#include "context/context.hpp"
#include "dist/layout.hpp"

namespace gpumem {

struct Group {
  Communicator& communicator;
  const std::vector<Context*>& contexts;  // of the members of this process
  const Members& members;

  Context& context_of(int32_t member) const noexcept { return *contexts[members.local(member)]; }
  // Whether one context works on the memory of both, members of this process. Two devices don't.
  bool reach(int32_t a, int32_t b) const noexcept {
    Context& of_a = context_of(a);
    Context& of_b = context_of(b);
    return !of_a.on_cuda() || !of_b.on_cuda() || of_a.device().props().ordinal == of_b.device().props().ordinal;
  }
};

}  // namespace gpumem
