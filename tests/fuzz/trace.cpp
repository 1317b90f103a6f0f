// The tool's reader of traces: events or a Failure.
#include "tools/trace.hpp"

#include "fuzz/fuzz.hpp"
#include "tools/failure.hpp"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const gpumem_fuzz::File file(data, size);
  try {
    for (const tool::TraceEvent& event : tool::read_trace(file.path())) {
      gpumem_fuzz::require(event.bytes >= 0 && event.alignment >= 0, "an event of a negative size");
    }
  } catch (const tool::Failure&) {
  }
  return 0;
}
