// How long an operation takes.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <functional>

namespace tool {

struct Timing {
  double median_s = 0;
  double fastest_s = 0;
  double slowest_s = 0;
  int repeats = 0;
};

// Runs a blocking operation once to warm up, then 5 to 25 times (about half a second in all), each between two events on
// the context's own stream.
Timing measure(gpumem_ctx* ctx, const std::function<void()>& operation);

// 1e9 bytes a second.
double gigabytes_per_second(int64_t bytes, const Timing& timing);

}  // namespace tool
