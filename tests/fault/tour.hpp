// What every part of the scenario reports to: which statuses a call may give, and what a wrong result is.
#pragma once

#include "fault/scenario.hpp"

namespace gpumem_test {

class Tour {
 public:
  explicit Tour(const Setting& setting) noexcept : setting_(setting) {}

  const Setting& setting() const noexcept { return setting_; }
  const Verdict& verdict() const noexcept { return verdict_; }

  // A call that may run out of something. `also` is one more status that it may give then.
  bool good(const char* call, gpumem_status status, gpumem_status also = GPUMEM_OUT_OF_MEMORY) noexcept;
  // A call that needs nothing that could run out.
  void sound(const char* call, gpumem_status status) noexcept;
  // A caller's mistake keeps its own status, or runs out on the way to it; never success.
  void mistake(gpumem_status expected, gpumem_status status) noexcept;
  // Where the wait for the memory's last use fails it stays allocated, and can be freed later.
  void free(gpumem_ctx* ctx, void* p) noexcept {
    if (!good("gpumem_free", gpumem_free(ctx, p))) sound("gpumem_free", gpumem_free(ctx, p));
  }
  void wrong(const char* what) noexcept;
  // Of a value: a lost device may leave any.
  void wrong_result(const char* what) noexcept {
    if (!setting_.lost) wrong(what);
  }

 private:
  void complain(const char* call, gpumem_status status) noexcept;
  bool is_lost(gpumem_status status) const noexcept { return setting_.lost && status == GPUMEM_DEVICE_FAULT; }

  const Setting setting_;
  Verdict verdict_;
};

// Each family on memory of the context's device.
void run_families(Tour& tour, gpumem_ctx* ctx) noexcept;
// Pools, labels, advice, registered memory, traces, and the allocators of other libraries.
void run_memory(Tour& tour, gpumem_ctx* ctx) noexcept;

}  // namespace gpumem_test
