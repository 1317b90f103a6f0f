// The tables of kernel variants. One row is one variant: its name, where it runs, whether it fits a problem on a device,
// and the launch shape it wants. The query, the launch and explain all read these rows; nothing else decides.
#pragma once

#include <cstdint>
#include <span>

#include "base/device_props.hpp"
#include "kernels/axpby/params.hpp"
#include "kernels/copy/params.hpp"
#include "kernels/fill/params.hpp"
#include "kernels/gather_scatter/params.hpp"
#include "kernels/launch_shape.hpp"
#include "kernels/permute/params.hpp"
#include "kernels/reduce/params.hpp"
#include "kernels/resize/params.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem {

// What a row's `yields` says that a program takes by name, and the table never: it teaches, or its bits are others.
template <class Params>
const char* by_name(const DeviceProps&, const Params&) noexcept {
  return "taken by name only";
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

// A family binds its parameters to its table, which sees them as the plan has made them normal. Each backend has a row for every valid
// problem.
struct ReduceFamily {
  using Params = ReduceParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_REDUCE;
  static constexpr const char* name = "reduce";
  static std::span<const Variant<Params>> table() noexcept;
};

struct TransposeFamily {
  using Params = TransposeParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_TRANSPOSE;
  static constexpr const char* name = "transpose";
  static std::span<const Variant<Params>> table() noexcept;
};

struct FillFamily {
  using Params = FillParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_FILL;
  static constexpr const char* name = "fill";
  static std::span<const Variant<Params>> table() noexcept;
};

struct ReduceAxisFamily {
  using Params = ReduceAxisParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_REDUCE_AXIS;
  static constexpr const char* name = "reduce_axis";
  static std::span<const Variant<Params>> table() noexcept;
};

struct ReduceSegmentsFamily {
  using Params = ReduceSegmentsParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_REDUCE_SEGMENTS;
  static constexpr const char* name = "reduce_segments";
  static std::span<const Variant<Params>> table() noexcept;
};

struct AxpbyFamily {
  using Params = AxpbyParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_AXPBY;
  static constexpr const char* name = "axpby";
  static std::span<const Variant<Params>> table() noexcept;
};

struct GatherFamily {
  using Params = GatherScatterParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_GATHER;
  static constexpr const char* name = "gather";
  static std::span<const Variant<Params>> table() noexcept;
};

struct ScatterFamily {
  using Params = GatherScatterParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_SCATTER;
  static constexpr const char* name = "scatter";
  static std::span<const Variant<Params>> table() noexcept;
};

struct PermuteFamily {
  using Params = PermuteParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_PERMUTE;
  static constexpr const char* name = "permute";
  static std::span<const Variant<Params>> table() noexcept;
};

struct CopyFamily {
  using Params = CopyParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_COPY;
  static constexpr const char* name = "copy";
  static std::span<const Variant<Params>> table() noexcept;
};

struct ResizeFamily {
  using Params = ResizeParams;
  static constexpr gpumem_family id = GPUMEM_FAMILY_RESIZE;
  static constexpr const char* name = "resize";
  static std::span<const Variant<Params>> table() noexcept;
};

// A row's place among the rows of its backend.
template <class Params>
constexpr int32_t row_of_backend(std::span<const Variant<Params>> table, int32_t row) noexcept {
  int32_t place = 0;
  for (int32_t i = 0; i < row; ++i) place += table[i].runs == table[row].runs ? 1 : 0;
  return place;
}

constexpr int kFamilies = 11;
constexpr int family_index(gpumem_family family) noexcept { return family - 1; }

// Calls f.template operator()<Family>() for every family.
template <class F>
constexpr void for_each_family(F&& f) {
  const auto each = [&]<class... Family>() { (f.template operator()<Family>(), ...); };
  each.template operator()<ReduceFamily, TransposeFamily, FillFamily, ReduceAxisFamily, ReduceSegmentsFamily,
                           CopyFamily, AxpbyFamily, GatherFamily, ScatterFamily, PermuteFamily, ResizeFamily>();
}

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
