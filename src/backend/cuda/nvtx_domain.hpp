// The library's domain for tools that read NVTX, if the toolkit has its headers.
#pragma once

#if __has_include(<nvtx3/nvToolsExt.h>)
#define GPUMEM_HAS_NVTX 1
#include <nvtx3/nvToolsExt.h>

namespace gpumem {

// One per process, as the tool is. nullptr: no tool.
inline nvtxDomainHandle_t nvtx_domain() noexcept {
  static const nvtxDomainHandle_t made = nvtxDomainCreateA("gpumem");
  return made;
}

}  // namespace gpumem
#endif
