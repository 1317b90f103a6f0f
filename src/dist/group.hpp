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
};

}  // namespace gpumem
