// The tables of kernel variants. One row is one variant: its name, where it runs, whether it fits a problem on a device,
// and the launch shape it wants. The query, the launch and explain all read these rows; nothing else decides.
#pragma once

#include <cstdint>
#include <span>

#include "base/device_props.hpp"
#include "kernels/families.hpp"
#include "kernels/launch_shape.hpp"

namespace gpumem {

// What a row's `yields` says that a program takes by name, and the table never: it teaches, or its bits are others.
template <class Params>
const char* by_name(const DeviceProps&, const Params&) noexcept {
  return "taken by name only";
}

// What a row accepts that takes every problem.
template <class Params>
const char* accepts(const DeviceProps&, const Params&) noexcept {
  return nullptr;
}

// The shape of a row that takes all of it at once: one task of the host, or one call of the driver.
template <class Params>
LaunchShape whole(const DeviceProps&, const Params& p) noexcept {
  return {1, 1, 1, p.elements()};
}

template <class Params>
struct Variant {
  const char* name;
  Runs runs;
  int32_t revision;  // grows when the kernel changes, so that older tuning no longer counts
  // nullptr when the variant fits; else the reason why not, as the end of "not taken: ...".
  const char* (*rejects)(const DeviceProps&, const Params&) noexcept;
  LaunchShape (*shape)(const DeviceProps&, const Params&) noexcept;
  // Why the table passes over the row where it fits; nullptr (both): it does not.
  const char* (*yields)(const DeviceProps&, const Params&) noexcept = nullptr;
};

// A row's place among the rows of its backend.
template <class Params>
constexpr int32_t row_of_backend(std::span<const Variant<Params>> table, int32_t row) noexcept {
  int32_t place = 0;
  for (int32_t i = 0; i < row; ++i) place += table[i].runs == table[row].runs ? 1 : 0;
  return place;
}

// Of work on n elements: blocks of `threads` that take `tile` each, as many as there may be.
LaunchShape grid_of(int64_t n, int64_t tile, int32_t threads, int32_t per_thread = 1) noexcept;

// Of work on n elements, each of which moves so many bytes: tasks of the host, pieces of whole cache lines.
LaunchShape host_elements_shape(const DeviceProps& device, int64_t n, int64_t moved) noexcept;

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
