// How much of the machine's memory and processors the system leaves this process: by what is free, and by the control groups (cgroups) that
// the process is in, of version 1, of version 2 or of both at once. A limit of a group holds for all groups below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpumem {

struct MemoryLimits {
  int64_t bytes = INT64_MAX;      // of the machine, or the smallest limit of a group
  int64_t available = INT64_MAX;  // what can be taken now, without swapping, before the first of them is reached
};

// INT64_MAX: not known. `root` stands before every path, so that a test can have a machine of its own.
MemoryLimits memory_limits(const std::string& root = {});
// Processors by the smallest CPU quota of a group, rounded up; INT32_MAX: there is none.
int32_t processor_quota(const std::string& root = {});

// Whether the host has so many bytes now, with a little more for page tables and for what a driver notes of each page.
bool is_available(size_t bytes);
// Throws OUT_OF_MEMORY unless it has. Whatever touches or locks memory asks before: the system gives addresses freely, and ends the process
// once it has no pages for them. What others take meanwhile is not foreseen.
void require_available(size_t bytes);
// For memory that one call uses, of which less than 4 MiB are not asked about.
void require_available_for_call(size_t bytes);

}  // namespace gpumem
