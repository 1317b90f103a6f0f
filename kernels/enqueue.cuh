// The one place where kernels are launched: tests/emulation has a header of the same name for builds that run them on the processor.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

namespace gpumem::kernels {

template <class... Parameters>
cudaError_t enqueue(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, cudaStream_t stream,
                    std::type_identity_t<Parameters>... arguments) {
  kernel<<<grid, block, 0, stream>>>(arguments...);
  return cudaGetLastError();
}

}  // namespace gpumem::kernels
