// A decision as a backend is told of it.
#pragma once

#include "kernels/launch_shape.hpp"

namespace gpumem {

struct Choice {
  int32_t launcher = 0;  // place among the launchers that the backend has for the family
  LaunchShape shape{};
};

}  // namespace gpumem
