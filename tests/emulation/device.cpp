// The devices: what each is, its context, errors, and the calls of the driver that the library looks up.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "emulation/gates.hpp"
#include "emulation/memory.hpp"
#include "emulation/report.hpp"
#include "emulation/streams.hpp"

// A primary context: there from the first retain to the next reset.
struct CUctx_st {
  int device;
  std::atomic<unsigned long long> id{0};  // 0: it is not there
};

namespace gpumem_emulation {

int device_of(cudaStream_t handle);

namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local std::vector<CUcontext> current;  // a stack, as the driver keeps it

CUctx_st primary[kMostDevices] = {{0}, {1}, {2}, {3}};
std::atomic<unsigned long long> contexts_made{0};
std::atomic<unsigned> peers[kMostDevices];  // whose memory each device may access: a bit for each

bool is_device(int ordinal) { return ordinal >= 0 && ordinal < device_count(); }

// Under the address sanitizer, each block is an allocation of its own, so a kernel that writes outside its block is found.
// GPUMEM_EMULATION_POOLS=1 turns pools on, for their own tests. "driver" does the same without 2 MiB pages.
bool pools_are(const char* which) {
  const char* asked = std::getenv("GPUMEM_EMULATION_POOLS");
  return asked != nullptr && std::strcmp(asked, which) == 0;
}

}  // namespace

int device_count() {
  const char* asked = std::getenv("GPUMEM_EMULATION_DEVICES");
  return asked == nullptr ? 1 : std::clamp(std::atoi(asked), 1, kMostDevices);
}

int current_device() { return current.empty() || current.back() == nullptr ? 0 : current.back()->device; }

bool has_peers() {
  const char* asked = std::getenv("GPUMEM_EMULATION_PEERS");
  return asked == nullptr || std::strcmp(asked, "0") != 0;
}

bool has_memory_pools() {
#if defined(GPUMEM_EMULATION_ASAN)
  return pools_are("1") || pools_are("driver");
#else
  return true;
#endif
}

namespace {

bool has_granules() { return has_memory_pools() && !pools_are("driver"); }

struct Name {
  cudaError_t error;
  const char* name;
  const char* sentence;
};
constexpr Name kNames[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorOperatingSystem, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
};

const Name* find(cudaError_t error) {
  for (const Name& name : kNames) {
    if (name.error == error) return &name;
  }
  return nullptr;
}

}  // namespace

cudaError_t answer(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace gpumem_emulation

using namespace gpumem_emulation;

// ------------------------------------------------------------------------------------------------------------ errors

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

const char* cudaGetErrorName(cudaError_t error) {
  const Name* name = find(error);
  return name != nullptr ? name->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const Name* name = find(error);
  return name != nullptr ? name->sentence : "unrecognized error code";
}

// ------------------------------------------------------------------------------------------------------------ device

cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

// The properties of an H200 (read off one: driver 580, CUDA 13.0), so that the same variants are chosen; the name is honest.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  *p = {};
  std::snprintf(p->name, sizeof p->name, "emulated device for tests, not a GPU");
  p->major = 9;
  p->warpSize = 32;
  p->multiProcessorCount = 132;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsPerMultiProcessor = 2048;
  p->sharedMemPerBlock = size_t{48} << 10;
  p->sharedMemPerBlockOptin = size_t{227} << 10;
  p->l2CacheSize = 60 << 20;
  p->totalGlobalMem = kDeviceBytes;
  p->memoryBusWidth = 6016;
  p->textureAlignment = 512;
  p->texturePitchAlignment = 32;
  p->maxTexture2DLinear[0] = 131072;
  p->maxTexture2DLinear[1] = 65000;
  p->maxTexture2DLinear[2] = 2097120;
  p->unifiedAddressing = 1;
  p->canMapHostMemory = 1;
  p->managedMemory = 1;
  p->concurrentManagedAccess = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMemoryClockRate:
      *value = 10000;  // kHz; an H200's is 3201000, and ceilings would be measured over as much more memory
      return cudaSuccess;
    case cudaDevAttrMemoryPoolsSupported:
      *value = has_memory_pools() ? 1 : 0;
      return cudaSuccess;
    default:
      return answer(cudaErrorInvalidValue);
  }
}

// Each on a bus of its own.
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  if (!is_device(device) || length < 13) return answer(cudaErrorInvalidValue);
  std::snprintf(id, static_cast<size_t>(length), "0000:%02X:00.0", device + 1);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return answer(cudaErrorInvalidDevice);
  *can = device != peer && has_peers() ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  const int device = current_device();
  if (!is_device(peer) || peer == device) return answer(cudaErrorInvalidDevice);
  if (flags != 0) return answer(cudaErrorInvalidValue);
  if (!has_peers()) return answer(cudaErrorPeerAccessUnsupported);
  const unsigned before = peers[device].fetch_or(1u << peer);
  return (before >> peer & 1) == 0 ? cudaSuccess : answer(cudaErrorPeerAccessAlreadyEnabled);
}

// All that the device has of the process is gone. The context is made anew when it is retained next.
cudaError_t cudaDeviceReset() {
  const int device = current_device();
  reset_streams(device);
  reset_memory(device);
  peers[device] = 0;
  primary[device].id = 0;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }

// As many as one likes: blocks run one after the other.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*, const cudaLaunchConfig_t*) {
  *clusters = 1;
  return cudaSuccess;
}

// ------------------------------------------------------------------------------------------------- driver's functions

namespace {

CUresult ctx_push(CUcontext context) {
  if (context->id == 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  current.push_back(context);
  return CUDA_SUCCESS;
}

CUresult ctx_pop(CUcontext* context) {
  if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = current.back();
  current.pop_back();
  return CUDA_SUCCESS;
}

CUresult ctx_get(CUcontext* context) {
  *context = current.empty() ? nullptr : current.back();
  return CUDA_SUCCESS;
}

CUresult ctx_device(CUdevice* device) {
  if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *device = current_device();
  return CUDA_SUCCESS;
}

CUresult ctx_id(CUcontext context, unsigned long long* id) {
  if (context == nullptr) context = current.empty() ? nullptr : current.back();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *id = context->id;
  return *id == 0 ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult primary_retain(CUcontext* context, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = &primary[device];
  unsigned long long none = 0;
  primary[device].id.compare_exchange_strong(none, ++contexts_made);
  return CUDA_SUCCESS;
}

CUresult primary_release(CUdevice device) { return is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }

// An address that the device knows nothing of is no error: every answer is 0. That goes for freed device memory too.
CUresult pointer_attributes(unsigned count, CUpointer_attribute* wanted, void** values, CUdeviceptr p) {
  const auto range = range_of(reinterpret_cast<const void*>(p));
  const bool pinned = range && range->kind == Kind::pinned;
  for (unsigned i = 0; i < count; ++i) {
    switch (wanted[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<CUmemorytype*>(values[i]) = !range   ? CUmemorytype{}
                                                 : pinned ? CU_MEMORYTYPE_HOST
                                                          : CU_MEMORYTYPE_DEVICE;
        break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned*>(values[i]) = range && range->kind == Kind::managed ? 1 : 0;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(values[i]) = range ? range->device : -2;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<CUdeviceptr*>(values[i]) = range ? range->base : 0;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<size_t*>(values[i]) = range ? range->bytes : 0;
        break;
      case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: {
        const bool open = !range || !range->mapped || (range->opened >> current_device() & 1) != 0;
        *static_cast<CUmemAccess_flags*>(values[i]) =
            open ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
        break;
      }
      case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *static_cast<void**>(values[i]) = range ? range->pool : nullptr;
        break;
      case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *static_cast<CUdeviceptr*>(values[i]) = range ? range->mapping_base : 0;
        break;
      case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *static_cast<size_t*>(values[i]) = range ? range->mapping_bytes : 0;
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

CUresult stream_ctx(CUstream stream, CUcontext* context) {
  if (!is_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
  *context = &primary[device_of(stream)];
  return CUDA_SUCCESS;
}

CUresult stream_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  if (!is_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
  cudaStreamCaptureStatus of{};
  const cudaError_t error = capture_status(stream, of);
  *status = static_cast<CUstreamCaptureStatus>(of);
  return static_cast<CUresult>(error);
}

CUresult device_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED && has_granules() ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult granularity(size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *bytes = kGranule;
  return CUDA_SUCCESS;
}

// What a test makes fail fails before it does anything, as the runtime's calls do.
template <class F>
CUresult done(const char* call, CUresult otherwise, const F& f) {
  if (const int refused = gpumem_emulation_gate(call)) return static_cast<CUresult>(refused);
  return f() ? CUDA_SUCCESS : otherwise;
}

CUresult address_reserve(CUdeviceptr* base, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  return done("cuMemAddressReserve", CUDA_ERROR_OUT_OF_MEMORY, [&] { return (*base = reserve_addresses(bytes)) != 0; });
}

CUresult mem_create(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                    unsigned long long) {
  if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED || !is_device(properties->location.id))
    return CUDA_ERROR_INVALID_VALUE;
  return done("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY,
              [&] { return (*handle = create_granules(bytes, properties->location.id)) != 0; });
}

CUresult mem_map(CUdeviceptr p, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long) {
  return done("cuMemMap", CUDA_ERROR_INVALID_VALUE, [&] { return offset == 0 && map_granules(p, bytes, handle); });
}

CUresult set_access(CUdeviceptr p, size_t bytes, const CUmemAccessDesc* access, size_t count) {
  return done("cuMemSetAccess", CUDA_ERROR_INVALID_VALUE, [&] {
    return count == 1 && access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE && is_device(access->location.id) &&
           allow_access(p, bytes, access->location.id);
  });
}

CUresult taken_back(bool done) {
  if (!done) give_up("memory that is not mapped, or addresses where some is, are given back");
  return CUDA_SUCCESS;
}
CUresult address_free(CUdeviceptr base, size_t bytes) { return taken_back(release_addresses(base, bytes)); }
CUresult mem_release(CUmemGenericAllocationHandle handle) { return taken_back(release_granules(handle)); }
CUresult mem_unmap(CUdeviceptr p, size_t bytes) { return taken_back(unmap_granules(p, bytes)); }

CUresult exchange_capture_mode(CUstreamCaptureMode* mode) {
  *mode = exchange_capture_mode_of_thread(*mode);
  return CUDA_SUCCESS;
}

struct EntryPoint {
  const char* name;
  void* function;
};

}  // namespace

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const EntryPoint points[] = {
      {"cuCtxPushCurrent", reinterpret_cast<void*>(ctx_push)},
      {"cuCtxPopCurrent", reinterpret_cast<void*>(ctx_pop)},
      {"cuCtxGetCurrent", reinterpret_cast<void*>(ctx_get)},
      {"cuCtxGetDevice", reinterpret_cast<void*>(ctx_device)},
      {"cuCtxGetId", reinterpret_cast<void*>(ctx_id)},
      {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(primary_retain)},
      {"cuDevicePrimaryCtxRelease", reinterpret_cast<void*>(primary_release)},
      {"cuPointerGetAttributes", reinterpret_cast<void*>(pointer_attributes)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(device_attribute)},
      {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(granularity)},
      {"cuMemAddressReserve", reinterpret_cast<void*>(address_reserve)},
      {"cuMemAddressFree", reinterpret_cast<void*>(address_free)},
      {"cuMemCreate", reinterpret_cast<void*>(mem_create)},
      {"cuMemRelease", reinterpret_cast<void*>(mem_release)},
      {"cuMemMap", reinterpret_cast<void*>(mem_map)},
      {"cuMemUnmap", reinterpret_cast<void*>(mem_unmap)},
      {"cuMemSetAccess", reinterpret_cast<void*>(set_access)},
      {"cuStreamGetCtx", reinterpret_cast<void*>(stream_ctx)},
      {"cuStreamIsCapturing", reinterpret_cast<void*>(stream_capturing)},
      {"cuStreamWriteValue32", reinterpret_cast<void*>(stream_write_value)},
      {"cuThreadExchangeStreamCaptureMode", reinterpret_cast<void*>(exchange_capture_mode)},
  };
  for (const EntryPoint& point : points) {
    if (std::strcmp(point.name, symbol) != 0) continue;
    *function = point.function;
    *result = cudaDriverEntryPointSuccess;
    return cudaSuccess;
  }
  *result = cudaDriverEntryPointSymbolNotFound;
  return answer(cudaErrorSymbolNotFound);
}
