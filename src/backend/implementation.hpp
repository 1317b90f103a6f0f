// An implementation of an operation, as listed in the operation's table. Its plan decides everything that a launch
// needs, and its execute function launches it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "base/device_props.hpp"
#include "kernels/config.hpp"
#include "kernels/families.hpp"
#include "kernels/launch.hpp"

namespace gpumem {

namespace kernels {
struct ReduceLaunch;
struct GatherScatterScratch;
}  // namespace kernels

struct HostTeam;  // backend/host/parallel.hpp

struct HostWay {
  bool one_by_one = false;  // elements are gathered even if they are contiguous
  bool serial = false;
};

template <class Params>
struct Executes {
  using Gpu = kernels::Execute<Params>*;
  // workspace: Config::workspace_bytes.
  using Host = void (*)(const HostTeam& team, const Params& params, const Config& config, char* workspace);
};
struct ExecutesReduction {
  using Gpu = kernels::LaunchResult (*)(const kernels::ReduceLaunch& launch, kernels::Stream stream);
  using Host = HostWay;
};
template <>
struct Executes<ReduceParams> : ExecutesReduction {};
template <>
struct Executes<ReduceAxisParams> : ExecutesReduction {};
template <>
struct Executes<ReduceSegmentsParams> : ExecutesReduction {};
template <>
struct Executes<GatherScatterParams> {
  using Gpu = kernels::LaunchResult (*)(const GatherScatterParams& params, const Config& config,
                                        const kernels::GatherScatterScratch& scratch, const kernels::Launch& launch);
  using Host = HostWay;
};

// gpu is nullptr in builds without CUDA, whose tables are the same, and for an operation that moves the data itself.
template <class Params>
struct Execute {
  typename Executes<Params>::Gpu gpu = nullptr;
  typename Executes<Params>::Host host{};

  constexpr Execute() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): a row names a function
  constexpr Execute(typename Executes<Params>::Gpu on_gpu) noexcept : gpu(on_gpu) {}
  constexpr Execute(typename Executes<Params>::Host on_host) noexcept : host(on_host) {}
  // NOLINTEND(google-explicit-constructor)
};

// Names a kernel's function in a table. Tables are compiled with and without CUDA.
#ifdef GPUMEM_HAS_CUDA
template <auto kFunction>
inline constexpr auto gpu = kFunction;
#else
template <auto kFunction>
inline constexpr auto gpu = decltype(kFunction){nullptr};
#endif

template <class Params>
struct Implementation {
  const char* name;
  ExecutionSpace space;
  int32_t revision;  // increases when the kernel changes, which invalidates older tuning
  // Returns nullptr with config filled in, or why it can't take the problem, as the end of "not taken: ...".
  const char* (*plan)(const DeviceProps& device, const Params& params, Config& config) noexcept;
  Execute<Params> execute{};
  // Returns why the table continues after this one although it fits, or nullptr. May be nullptr.
  const char* (*deprioritized)(const DeviceProps& device, const Params& params) noexcept = nullptr;
  bool capturable = true;
};

template <class Params>
struct Configured {
  const Implementation<Params>* implementation = nullptr;
  Config config{};
};

// The implementation of that name, which must exist.
template <class Family>
const Implementation<typename Family::Params>& implementation(const char* name) noexcept {
  const auto* row = Family::table().data();
  while (std::strcmp(row->name, name) != 0) ++row;
  return *row;
}

}  // namespace gpumem
