// How much of the machine this process may use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem {

// Processors of the affinity mask, limited by the CPU quota of the cgroup; at least 1.
int32_t usable_processors();

size_t page_bytes() noexcept;
int64_t last_level_cache_bytes() noexcept;  // 0 if unknown
void processor_name(char* name, int64_t capacity) noexcept;

}  // namespace gpumem
