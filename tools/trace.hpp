// Traces of allocations, as gpumem_memory_trace() writes them.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tool {

struct TraceEvent {
  char what;  // 'a', 'f', 'u' or 't', see gpumem_memory_trace()
  uint64_t address = 0;
  int64_t bytes = 0;  // of 't': to be kept
  gpumem_memory_kind kind = GPUMEM_MEMORY_DEVICE;
  int64_t alignment = 0;
  uint64_t stream = 0;  // 0: all streams
};

// Throws a Failure that names the line if the file is not a trace.
std::vector<TraceEvent> read_trace(const std::string& path);

}  // namespace tool
