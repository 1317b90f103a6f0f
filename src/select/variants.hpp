// What the tables of implementations are written with, and the tables as names.
#pragma once

#include <cstdint>
#include <span>

#include "backend/implementation.hpp"

namespace gpumem {

// `deprioritized` of a row that a program takes by name, and the table never: it teaches, or its bits differ.
template <class Params>
const char* by_name(const DeviceProps&, const Params&) noexcept {
  return "used only by name";
}

// Predicate of an implementation that accepts every problem.
template <class Params>
const char* accepts(const DeviceProps&, const Params&) noexcept {
  return nullptr;
}

// The configuration of a row that takes all of it at once: one task of the host, or one call of the driver.
template <class Params>
Config whole(const DeviceProps&, const Params& p) noexcept {
  return {1, 1, 1, p.elements()};
}

// The plan of an implementation that fits where `kRefusal` gives no reason, and whose configuration is `kConfig`.
template <auto kRefusal, auto kConfig, class Params>
const char* plan(const DeviceProps& device, const Params& params, Config& config) noexcept {
  const char* const refusal = kRefusal(device, params);
  if (refusal == nullptr) config = kConfig(device, params);
  return refusal;
}

// Of work on n elements: blocks of `threads` that take `tile` each, as many as there may be.
Config grid_of(int64_t n, int64_t tile, int32_t threads, int32_t per_thread = 1) noexcept;

// Of work on n elements, each of which moves so many bytes: tasks of the host, pieces of whole cache lines.
Config host_elements_config(const DeviceProps& device, int64_t n, int64_t moved) noexcept;

// The families as names, for the calls that take any of them.
struct FamilyNames {
  const char* name = nullptr;
  int32_t (*count)() noexcept = nullptr;
  const char* (*variant)(int32_t row) noexcept = nullptr;
};

// Throws INVALID_ARGUMENT for a value that is not a family.
const FamilyNames& family_names(gpumem_family family);

// The row of a variant's name; -1 when there is none.
int32_t find_variant(const FamilyNames& family, const char* name) noexcept;

}  // namespace gpumem
