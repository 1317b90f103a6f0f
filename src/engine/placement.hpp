// Where work runs: a pure function of where its operands lie.
#pragma once

#include "engine/device_props.hpp"
#include "engine/operand.hpp"

namespace gpumem {

struct Placement {
  Runs runs = Runs::host;
  bool stage_src = false;  // src lies elsewhere and is copied next to the work first
  const char* reason = "";
  bool src_mixed = false;  // src is registered with the driver in part
};

// One operand.
Placement place(bool on_cuda, const Operand& operand) noexcept;
// The work runs where dst lies.
Placement place(bool on_cuda, const Operand& src, const Operand& dst) noexcept;

}  // namespace gpumem
