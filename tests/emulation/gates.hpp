// Each call of the emulated runtime, and each launch, passes a gate at which a test makes it fail before it does anything.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem_emulation {

enum class Calls { one, all_after_it, allocations_after_it };

// Calls are numbered from 0. The one of this number fails with a cudaError_t, or it and all that follow, or those of them that
// allocate or create something (and only such are counted then).
void fail_call(int64_t number, Calls which, int error) noexcept;
// How many calls failed.
int64_t fail_nothing() noexcept;
// Calls in between are neither counted nor made to fail.
void pause_failures(bool paused) noexcept;
// The name of the first call that failed; nullptr: none did.
const char* first_failed() noexcept;

// 0, or what the call fails with.
extern "C" int gpumem_emulation_gate(const char* call) noexcept;

// What the process holds of the device: allocations and registered ranges; streams and events.
struct HeldOfDevice {
  size_t ranges;
  size_t bytes;
  size_t streams_and_events;
};
HeldOfDevice held_of_device();

// With at_once, a record on a stream without work passes at once. Otherwise the stream's thread passes it, which takes as long as it takes
// to be scheduled.
void let_idle_streams_pass(bool at_once) noexcept;

}  // namespace gpumem_emulation
