// In the place of kernels/enqueue.cuh: the launch goes to the emulated device.
#pragma once

#include <tuple>
#include <type_traits>

#include "emulation/device.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

template <class... Parameters>
cudaError_t enqueue(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, Stream stream,
                    std::type_identity_t<Parameters>... arguments) {
  return gpumem_emulation::launch(
      {reinterpret_cast<const void*>(kernel), grid, block,
       [kernel, given = std::tuple<Parameters...>(arguments...)] { std::apply(kernel, given); }},
      stream);
}

// Kernels run one after the other here, and so do the blocks of a cluster: kernels/reduce/cluster.cuh.
enum class Blocks { apart, cluster };
template <Blocks kBlocks = Blocks::apart, class... Parameters>
cudaError_t enqueue_programmatic(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, Stream stream,
                                 std::type_identity_t<Parameters>... arguments) {
  return enqueue(kernel, grid, block, stream, arguments...);
}
inline void synchronize_and_trigger() {}
inline void grid_dependency_synchronize() {}
inline void trigger_programmatic_launch() {}
inline unsigned block_number() { return gpumem_emulation::started_blocks(); }

struct SharedBytes {
  int bytes;
  int most;
};

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(gpumem_emulation::dynamic_shared());
}

template <class... Parameters>
cudaError_t enqueue_shared(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
                           const SharedBytes& shared, Stream stream, std::type_identity_t<Parameters>... arguments) {
  if (shared.bytes > shared.most) return cudaErrorInvalidValue;
  return gpumem_emulation::launch(
      {reinterpret_cast<const void*>(kernel), grid, block,
       [kernel, given = std::tuple<Parameters...>(arguments...)] { std::apply(kernel, given); },
       static_cast<size_t>(shared.bytes)},
      stream);
}

}  // namespace gpumem::kernels
