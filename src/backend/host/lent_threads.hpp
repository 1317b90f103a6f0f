// Runs tasks on the program's own pool, which may break the rules that the header states for it.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"

namespace gpumem {

// Calls task(state, i) once for each i in [0, tasks) and returns when all have returned, whatever the pool does. The
// calling thread runs the tasks that the pool omits, and waits for running ones.
void parallel_for_lent(const ParallelFor& lent, int64_t tasks, gpumem_task_fn task, void* state) noexcept;

}  // namespace gpumem
