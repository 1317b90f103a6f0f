// The operations ("families"): their names, their parameters and their tables. Tables, operation descriptors, backends
// and tests iterate over the lists at the end.
#pragma once

#include <span>

#include "gpumem.h"
#include "kernels/arithmetic/params.hpp"
#include "kernels/axpby/params.hpp"
#include "kernels/convert/params.hpp"
#include "kernels/copy/params.hpp"
#include "kernels/copy_boxes/params.hpp"
#include "kernels/fill/params.hpp"
#include "kernels/gather_scatter/params.hpp"
#include "kernels/map/params.hpp"
#include "kernels/permute/params.hpp"
#include "kernels/reduce/params.hpp"
#include "kernels/reduce_by_index/params.hpp"
#include "kernels/resize/params.hpp"
#include "kernels/scan/params.hpp"
#include "kernels/select/params.hpp"
#include "kernels/sort/params.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem {

template <class Params>
struct Implementation;  // backend/implementation.hpp

template <class TheParams, gpumem_family kId>
struct Family {
  using Params = TheParams;
  using Table = std::span<const Implementation<Params>>;
  static constexpr gpumem_family id = kId;
};

// The table sees parameters that the plan has normalized. Each backend has an implementation for every valid problem.
struct ReduceFamily : Family<ReduceParams, GPUMEM_FAMILY_REDUCE> {
  static constexpr const char* name = "reduce";
  static Table table() noexcept;
};

struct TransposeFamily : Family<TransposeParams, GPUMEM_FAMILY_TRANSPOSE> {
  static constexpr const char* name = "transpose";
  static Table table() noexcept;
};

struct FillFamily : Family<FillParams, GPUMEM_FAMILY_FILL> {
  static constexpr const char* name = "fill";
  static Table table() noexcept;
};

struct ReduceAxisFamily : Family<ReduceAxisParams, GPUMEM_FAMILY_REDUCE_AXIS> {
  static constexpr const char* name = "reduce_axis";
  static Table table() noexcept;
};

struct ReduceSegmentsFamily : Family<ReduceSegmentsParams, GPUMEM_FAMILY_REDUCE_SEGMENTS> {
  static constexpr const char* name = "reduce_segments";
  static Table table() noexcept;
};

struct CopyFamily : Family<CopyParams, GPUMEM_FAMILY_COPY> {
  static constexpr const char* name = "copy";
  static Table table() noexcept;
};

struct AxpbyFamily : Family<AxpbyParams, GPUMEM_FAMILY_AXPBY> {
  static constexpr const char* name = "axpby";
  static Table table() noexcept;
};

struct ConvertFamily : Family<ConvertParams, GPUMEM_FAMILY_CONVERT> {
  static constexpr const char* name = "convert";
  static Table table() noexcept;
};

struct GatherFamily : Family<GatherScatterParams, GPUMEM_FAMILY_GATHER> {
  static constexpr const char* name = "gather";
  static Table table() noexcept;
};

struct ScatterFamily : Family<GatherScatterParams, GPUMEM_FAMILY_SCATTER> {
  static constexpr const char* name = "scatter";
  static Table table() noexcept;
};

struct PermuteFamily : Family<PermuteParams, GPUMEM_FAMILY_PERMUTE> {
  static constexpr const char* name = "permute";
  static Table table() noexcept;
};

struct ResizeFamily : Family<ResizeParams, GPUMEM_FAMILY_RESIZE> {
  static constexpr const char* name = "resize";
  static Table table() noexcept;
};

struct ArithmeticFamily : Family<ArithmeticParams, GPUMEM_FAMILY_ARITHMETIC> {
  static constexpr const char* name = "arithmetic";
  static Table table() noexcept;
};

struct MapFamily : Family<MapParams, GPUMEM_FAMILY_MAP> {
  static constexpr const char* name = "map";
  static Table table() noexcept;
};

struct ScanFamily : Family<ScanParams, GPUMEM_FAMILY_SCAN> {
  static constexpr const char* name = "scan";
  static Table table() noexcept;
};

struct SortFamily : Family<SortParams, GPUMEM_FAMILY_SORT> {
  static constexpr const char* name = "sort";
  static Table table() noexcept;
};

struct SelectFamily : Family<SelectParams, GPUMEM_FAMILY_SELECT> {
  static constexpr const char* name = "select";
  static Table table() noexcept;
};

struct ReduceByIndexFamily : Family<ReduceByIndexParams, GPUMEM_FAMILY_REDUCE_BY_INDEX> {
  static constexpr const char* name = "reduce_by_index";
  static Table table() noexcept;
};

struct CopyBoxesFamily : Family<CopyBoxesParams, GPUMEM_FAMILY_COPY_BOXES> {
  static constexpr const char* name = "copy_boxes";
  static Table table() noexcept;
};

template <class... Family>
struct FamilyList {
  static constexpr int count = sizeof...(Family);
  template <class F>
  static constexpr void for_each(F&& f) {
    (f.template operator()<Family>(), ...);
  }
};

// In the order of their numbers, which begin with 1.
using Families =
    FamilyList<ReduceFamily, TransposeFamily, FillFamily, ReduceAxisFamily, ReduceSegmentsFamily, CopyFamily,
               AxpbyFamily, GatherFamily, ScatterFamily, PermuteFamily, ResizeFamily, ConvertFamily, ArithmeticFamily,
               MapFamily, ScanFamily, SortFamily, SelectFamily, ReduceByIndexFamily, CopyBoxesFamily>;
// A backend only launches the chosen variant of these.
using LaunchedFamilies =
    FamilyList<TransposeFamily, FillFamily, CopyFamily, AxpbyFamily, PermuteFamily, ResizeFamily, ConvertFamily,
               ArithmeticFamily, MapFamily, ScanFamily, SortFamily, SelectFamily, ReduceByIndexFamily, CopyBoxesFamily>;

constexpr int family_index(gpumem_family family) noexcept { return family - 1; }

}  // namespace gpumem
