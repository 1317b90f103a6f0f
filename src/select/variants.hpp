// Building blocks of the implementation tables, and the tables by name.
#pragma once

#include <cstdint>
#include <span>

#include "backend/implementation.hpp"

namespace gpumem {

// `deprioritized` for rows that only a program's override selects: teaching examples, or rows with different bits.
template <class Params>
const char* by_name(const DeviceProps&, const Params&) noexcept {
  return "used only by name";
}

// Predicate of an implementation that accepts every problem.
template <class Params>
const char* accepts(const DeviceProps&, const Params&) noexcept {
  return nullptr;
}

// Configuration for a single unit of work: one host task, or one driver call.
template <class Params>
Config whole(const DeviceProps&, const Params& p) noexcept {
  return {1, 1, 1, p.elements()};
}

// Plan of an implementation that fits unless `kRefusal` gives a reason; `kConfig` makes its configuration.
template <auto kRefusal, auto kConfig, class Params>
const char* plan(const DeviceProps& device, const Params& params, Config& config) noexcept {
  const char* const refusal = kRefusal(device, params);
  if (refusal == nullptr) config = kConfig(device, params);
  return refusal;
}

// For n elements: blocks of `threads` with `tile` elements each, as many as allowed.
Config grid_of(int64_t n, int64_t tile, int32_t threads, int32_t per_thread = 1) noexcept;

// For n elements that move `moved` bytes each: host tasks of whole cache lines.
Config host_elements_config(const DeviceProps& device, int64_t n, int64_t moved) noexcept;

struct FamilyNames {
  const char* name = nullptr;
  int32_t (*count)() noexcept = nullptr;
  const char* (*variant)(int32_t row) noexcept = nullptr;
};

// Throws INVALID_ARGUMENT for an unknown family.
const FamilyNames& family_names(gpumem_family family);

int32_t find_variant(const FamilyNames& family, const char* name) noexcept;

}  // namespace gpumem
