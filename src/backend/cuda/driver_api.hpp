// The few calls of the CUDA driver API that the runtime has no equal for, found at run time, so that nothing links libcuda.
#pragma once

#include <cudaTypedefs.h>

namespace gpumem {

// The number in each type is the driver version that brought this signature.
struct DriverApi {
  PFN_cuCtxPushCurrent_v4000 ctx_push;
  PFN_cuCtxPopCurrent_v4000 ctx_pop;
  PFN_cuCtxGetCurrent_v4000 ctx_get;
  PFN_cuCtxGetDevice_v2000 ctx_device;
  PFN_cuDevicePrimaryCtxRetain_v7000 primary_retain;
  PFN_cuDevicePrimaryCtxRelease_v11000 primary_release;
  PFN_cuPointerGetAttributes_v7000 pointer_attributes;
  PFN_cuStreamGetCtx_v9020 stream_ctx;
  PFN_cuStreamIsCapturing_v10000 stream_capturing;
  PFN_cuStreamWriteValue32_v11070 stream_write_value;
};

// Throws DRIVER_TOO_OLD when the driver lacks one of them.
const DriverApi& driver_api();

}  // namespace gpumem
