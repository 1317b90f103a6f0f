// An implementation of an operation: one row of the operation's table. Its plan decides everything that a launch needs; its execute
// function launches what was decided.
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

// How an implementation of a reduction, a gather or a scatter runs on the host.
struct HostWay {
  bool one_by_one = false;  // elements are gathered even if they lie side by side
  bool serial = false;      // in the calling thread
};

// The execute functions of an operation, for each backend.
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

// gpu is nullptr in builds without CUDA, whose tables have the same rows, and in a row whose operation moves the data itself.
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

// How a row names the function of its kernel: the tables are compiled with the CUDA backend, or with what stands in for it.
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
  int32_t revision;  // grows when the kernel changes, so that older tuning no longer counts
  // nullptr, with the configuration filled in; or why it can't take the problem, as the end of "not taken: ...".
  const char* (*plan)(const DeviceProps& device, const Params& params, Config& config) noexcept;
  Execute<Params> execute{};
  // Why the table goes on to the next row though this one fits. nullptr, or an answer of nullptr: it does not.
  const char* (*deprioritized)(const DeviceProps& device, const Params& params) noexcept = nullptr;
  bool capturable = true;  // into a CUDA graph
};

// An implementation and what its plan decided: what a backend is told to execute.
template <class Params>
struct Configured {
  const Implementation<Params>* implementation = nullptr;
  Config config{};
};

// The implementation of that name, which there is.
template <class Family>
const Implementation<typename Family::Params>& implementation(const char* name) noexcept {
  const auto* row = Family::table().data();
  while (std::strcmp(row->name, name) != 0) ++row;
  return *row;
}

}  // namespace gpumem
