// The launch shape that a decision gives a kernel, or a loop of the host.
#pragma once

#include <cstdint>

namespace gpumem {

struct LaunchShape {
  int64_t grid = 1;        // blocks, or tasks of the host backend
  int32_t block = 1;       // threads of a block
  int32_t per_thread = 1;  // independent loads or rows a thread keeps in flight
  // Elements (reduce, axpby), rows (transpose, rows of a copy) or bytes (fill, copy) that a block or task takes.
  int64_t tile = 0;
  int64_t shared_bytes = 0;  // that a block may have, for a kernel that fits its work to them
};

// A decision as a backend is told of it.
struct Choice {
  int32_t launcher = 0;  // place among the launchers that the backend has for the family
  LaunchShape shape{};
};

}  // namespace gpumem
