// CUDA driver functions that the runtime lacks. They are found at run time, so that nothing links libcuda.
#pragma once

#include <cudaTypedefs.h>

namespace gpumem {

// The number in each type is the driver version that introduced the signature.
struct DriverApi {
  PFN_cuCtxPushCurrent_v4000 ctx_push;
  PFN_cuCtxPopCurrent_v4000 ctx_pop;
  PFN_cuCtxGetCurrent_v4000 ctx_get;
  PFN_cuCtxGetDevice_v2000 ctx_device;
  PFN_cuCtxGetId_v12000 ctx_id;
  PFN_cuDevicePrimaryCtxRetain_v7000 primary_retain;
  PFN_cuDevicePrimaryCtxRelease_v11000 primary_release;
  PFN_cuPointerGetAttributes_v7000 pointer_attributes;
  PFN_cuStreamGetCtx_v9020 stream_ctx;
  PFN_cuStreamIsCapturing_v10000 stream_capturing;
  PFN_cuStreamWriteValue32_v11070 stream_write_value;
  PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange_capture_mode;  // the runtime's takes 30 ns more
};

// Virtual memory management (CUDA Driver API of that name).
struct MappingApi {
  PFN_cuDeviceGetAttribute_v2000 device_attribute;
  PFN_cuMemGetAllocationGranularity_v10020 granularity;
  PFN_cuMemAddressReserve_v10020 reserve;
  PFN_cuMemAddressFree_v10020 free_addresses;
  PFN_cuMemCreate_v10020 create;
  PFN_cuMemRelease_v10020 release;
  PFN_cuMemMap_v10020 map;
  PFN_cuMemUnmap_v10020 unmap;
  PFN_cuMemSetAccess_v10020 set_access;
};

// Throws DRIVER_TOO_OLD if the driver lacks one of them.
const DriverApi& driver_api();
const MappingApi& mapping_api();

}  // namespace gpumem
