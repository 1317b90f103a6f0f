// The tables of kernel variants. One row is one variant: its name, where it runs, whether it fits a problem on a device,
// and the launch shape it wants. The query, the launch and explain all read these rows; nothing else decides.
#pragma once

#include <cstdint>
#include <span>

#include "select/problem.hpp"

namespace gpumem {

struct LaunchShape {
  int64_t grid = 1;        // blocks, or tasks of the host backend
  int32_t block = 1;       // threads of a block
  int32_t per_thread = 1;  // independent loads or rows a thread keeps in flight
  // Elements (reduce, axpby), rows (transpose, rows of a copy) or bytes (fill, copy) that a block or task takes.
  int64_t tile = 0;
};

template <class Problem>
struct Variant {
  const char* name;
  Runs runs;
  int32_t revision;  // grows when the kernel changes, so that older tuning no longer counts
  // nullptr when the variant fits; else the reason why not, as the end of "not taken: ...".
  const char* (*rejects)(const DeviceProps&, const Problem&) noexcept;
  LaunchShape (*shape)(const DeviceProps&, const Problem&) noexcept;
};

// A family binds its problem to its table. The last row of each backend accepts every valid problem.
struct ReduceFamily {
  using Problem = ReduceProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_REDUCE;
  static constexpr const char* name = "reduce";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct TransposeFamily {
  using Problem = TransposeProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_TRANSPOSE;
  static constexpr const char* name = "transpose";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct FillFamily {
  using Problem = FillProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_FILL;
  static constexpr const char* name = "fill";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct ReduceAxisFamily {
  using Problem = ReduceAxisProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_REDUCE_AXIS;
  static constexpr const char* name = "reduce_axis";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct ReduceSegmentsFamily {
  using Problem = ReduceSegmentsProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_REDUCE_SEGMENTS;
  static constexpr const char* name = "reduce_segments";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct AxpbyFamily {
  using Problem = AxpbyProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_AXPBY;
  static constexpr const char* name = "axpby";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct GatherFamily {
  using Problem = GatherScatterProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_GATHER;
  static constexpr const char* name = "gather";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct ScatterFamily {
  using Problem = GatherScatterProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_SCATTER;
  static constexpr const char* name = "scatter";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct PermuteFamily {
  using Problem = PermuteProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_PERMUTE;
  static constexpr const char* name = "permute";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct CopyFamily {
  using Problem = CopyProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_COPY;
  static constexpr const char* name = "copy";
  static std::span<const Variant<Problem>> table() noexcept;
};

struct ResizeFamily {
  using Problem = ResizeProblem;
  static constexpr gpumem_family id = GPUMEM_FAMILY_RESIZE;
  static constexpr const char* name = "resize";
  static std::span<const Variant<Problem>> table() noexcept;
};

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
