// Memory and processors that the system leaves to this process: free memory, and the limits of its control groups
// (cgroups, version 1, 2 or both). A group's limit covers all groups below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpumem {

struct MemoryLimits {
  int64_t bytes = INT64_MAX;      // of the machine, or the smallest limit of a group
  int64_t available = INT64_MAX;  // available without swapping, below every limit
};

// INT64_MAX: unknown. `root` is put before every path, so that a test can simulate a machine.
MemoryLimits memory_limits(const std::string& root = {});
// Processors by the smallest CPU quota of a group, rounded up; INT32_MAX: unlimited.
int32_t processor_quota(const std::string& root = {});

// Whether the host has so many bytes now, plus a reserve for page tables and a driver's bookkeeping per page.
bool is_available(size_t bytes);
// Throws OUT_OF_MEMORY unless is_available(). Call it before touching or locking memory: the system overcommits
// addresses, and kills the process once pages run out. Later allocations by others are not foreseen.
void require_available(size_t bytes);
// For memory of a single call. Less than 4 MiB is not checked.
void require_available_for_call(size_t bytes);

}  // namespace gpumem
