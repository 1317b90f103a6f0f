// Refusals of CUDA's calls, on the emulated device.
#include <cuda_runtime_api.h>

#include "emulation/gates.hpp"
#include "fault/lost_device.hpp"
#include "fault/resources.hpp"

namespace gpumem_test {

using namespace gpumem_emulation;

std::span<const Refusal> refusals() noexcept {
  static constexpr Refusal kRefusals[] = {
      {"out_of_memory", {.device = GPUMEM_DEVICE_CUDA}, 2, 97},
      {"illegal_address", {.device = GPUMEM_DEVICE_CUDA, .lost = true}, 700, 293},
      {"launch_failure", {.device = GPUMEM_DEVICE_CUDA, .debug_memory = 1, .lost = true}, 719, 293},
  };
  return kRefusals;
}

void refuse_request(const Refusal& refusal, int64_t number, Refuse mode) noexcept {
  const Calls after = refusal.setting.lost ? Calls::all_after_it : Calls::allocations_after_it;
  fail_call(number, mode == Refuse::once ? Calls::one : after, refusal.error);
}
int64_t refuse_nothing() noexcept { return fail_nothing(); }
void pause_refusals(bool paused) noexcept { pause_failures(paused); }
const char* first_refused() noexcept { return first_failed(); }

Held held_now() noexcept {
  const HeldOfDevice held = held_of_device();
  return {static_cast<int64_t>(held.ranges + held.streams_and_events), static_cast<int64_t>(held.bytes)};
}

void lose_device() { fail_call(0, Calls::all_after_it, 700); }

void reset_device() { cudaDeviceReset(); }

void keep_stacks() {}  // blocks of the device alone are counted

}  // namespace gpumem_test
