// The host benchmarks: the functions that add cases, and shared helpers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "measure/host_clock.hpp"
#include "support/library.hpp"
#include "support/report.hpp"

namespace bench {

// Heap memory that all of OpenMP's threads have touched, so that its pages are near the threads of its static schedule.
OperandPtr host_memory(const Context& ctx, int64_t bytes);

tool::Instance host_instance(const Context& ctx, const Problem& problem);

// libgomp's threads spin for some ten milliseconds after a parallel region; a sample begins after that.
inline constexpr HostClock kHostClock{std::chrono::milliseconds(30), std::chrono::microseconds(2000)};

Ceilings measure_host_ceilings(const Context& ctx);

void add_host_reduce(std::vector<Case>& cases, const Context& ctx);
void add_host_lines(std::vector<Case>& cases, const Context& ctx);
void add_host_pool(std::vector<Case>& cases, const Context& ctx);
void add_startup(std::vector<Case>& cases);

}  // namespace bench
