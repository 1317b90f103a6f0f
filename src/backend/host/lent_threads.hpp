// The threads that the program lends: its own pool, which may not keep to what the header asks of it.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"

namespace gpumem {

// Calls task(state, i) once for each i in [0, tasks) and returns when all have returned, whatever the pool does: the calling thread
// runs what the pool leaves out, and waits for what still runs.
void parallel_for_lent(const ParallelFor& lent, int64_t tasks, gpumem_task_fn task, void* state) noexcept;

}  // namespace gpumem
