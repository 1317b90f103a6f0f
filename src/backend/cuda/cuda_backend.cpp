#include "backend/cuda/cuda_backend.hpp"

#include <sys/resource.h>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/scope_exit.hpp"
#include "kernels/arithmetic/arithmetic.hpp"
#include "kernels/axpby/axpby.hpp"
#include "kernels/ceiling/ceiling.hpp"
#include "kernels/convert/convert.hpp"
#include "kernels/copy/copy.hpp"
#include "kernels/fill/fill.hpp"
#include "kernels/map/map.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/reduce_by_index/reduce_by_index.hpp"
#include "kernels/resize/resize.hpp"
#include "kernels/scan/scan.hpp"
#include "kernels/select/select.hpp"
#include "kernels/sort/sort.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem {

std::unique_ptr<Backend> make_cuda_backend(int32_t ordinal, bool non_blocking_stream) {
  return std::make_unique<CudaBackend>(ordinal, non_blocking_stream);
}

CudaBackend::PrimaryContext::PrimaryContext(int32_t ordinal) : ordinal_(ordinal) {
  const DriverApi& driver = driver_api();
  CUresult result = driver.primary_retain(&context_, ordinal);
  if (result == CUDA_SUCCESS) {
    ScopeExit release([&] { static_cast<void>(driver.primary_release(ordinal)); });
    result = driver.ctx_id(context_, &id_);
    if (result == CUDA_SUCCESS) release.release();
  }
  if (result != CUDA_SUCCESS) {
    // Driver and runtime share the numbers of their common errors.
    fail(result == CUDA_ERROR_OUT_OF_MEMORY ? GPUMEM_OUT_OF_MEMORY : GPUMEM_DRIVER_ERROR,
         "CUDA device %d can't be opened: %s", ordinal, cudaGetErrorString(static_cast<cudaError_t>(result)));
  }
}

// The driver may not count a lost context's retain. A release in excess would end the context's successor.
CudaBackend::PrimaryContext::~PrimaryContext() {
  if (!is_lost()) static_cast<void>(driver_api().primary_release(ordinal_));
}

bool CudaBackend::PrimaryContext::is_lost() noexcept {
  if (was_lost()) return true;
  unsigned long long id = 0;
  const CUresult result = driver_api().ctx_id(context_, &id);
  // A driver that is shutting down returns other errors.
  if (result == CUDA_SUCCESS ? id == id_ : result == CUDA_ERROR_DEINITIALIZED) return false;
  lost_.store(true, std::memory_order_relaxed);
  return true;
}

CudaBackend::CudaBackend(int32_t ordinal, bool non_blocking_stream) : props_(cuda_props(ordinal)), primary_(ordinal) {
  const DeviceScope scope = enter();
  ScopeExit end([this] { close(); });
  open(non_blocking_stream);
  end.release();
}

CudaBackend::~CudaBackend() {
  enter_to_end([&] { close(); });
}

void CudaBackend::open(bool non_blocking_stream) {
  non_blocking_ = non_blocking_stream;
  open_ranges();
  GPUMEM_CUDA(kernels::code_has_programmatic_launch(programmatic_launch_));
  props_.clusters = programmatic_launch_ && kernels::reduce_clusters_fit(props_.shared_bytes_per_block);
  GPUMEM_CUDA(cudaStreamCreateWithFlags(&own_stream_, non_blocking_stream ? cudaStreamNonBlocking : cudaStreamDefault));
  GPUMEM_CUDA(cudaEventCreateWithFlags(&order_, cudaEventDisableTiming));
  if (props_.memory_pools) pool_.open(props_.ordinal);
  open_granules();
  checker_.open();
  scratch_.open();
  slots_.open();
  node_slots_.open();
}

void CudaBackend::close() noexcept {
  try {
    synchronize_device();  // work on borrowed streams may still use the released memory
  } catch (const Error&) {
    // The device's context is lost, or a capture forbids it.
  }
  slots_.close();
  node_slots_.close();
  scratch_.close();
  textures_.close();
  stream_memory_.close();
  pool_.close();
  if (order_ != nullptr) static_cast<void>(cudaEventDestroy(order_));
  if (own_stream_ != nullptr) static_cast<void>(cudaStreamDestroy(own_stream_));
  static_cast<void>(cudaGetLastError());
}

// The query is on a blocking stream, so it reports a fault anywhere on the device.
void CudaBackend::check_health() {
  const DeviceScope scope = enter();
  if (capturing(own_stream_)) return;  // a query would invalidate the capture
  const cudaError_t error = cudaStreamQuery(own_stream_);
  if (error == cudaErrorNotReady) return static_cast<void>(cudaGetLastError());
  check_cuda(error, "cudaStreamQuery");
}

// The driver answers without a current context, and during a capture.
Location CudaBackend::classify(const void* p) {
  CUmemorytype type{};
  unsigned managed = 0;
  int device = 0;
  CUdeviceptr base = 0;
  size_t bytes = 0;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                  CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* values[] = {&type, &managed, &device, &base, &bytes};
  const auto address = static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(p));
  if (driver_api().pointer_attributes(5, wanted, values, address) != CUDA_SUCCESS) return {};
  Location location{true, GPUMEM_MEMORY_PAGEABLE, GPUMEM_DEVICE_HOST, static_cast<uintptr_t>(base), bytes};
  if (managed != 0) {
    location.kind = GPUMEM_MEMORY_MANAGED;
  } else if (type == CU_MEMORYTYPE_DEVICE) {
    location.kind = GPUMEM_MEMORY_DEVICE;
  } else if (type == CU_MEMORYTYPE_HOST) {
    location.kind = GPUMEM_MEMORY_PINNED;
    return location;
  } else {
    return {};
  }
  location.device = device;
  return location;
}

void* CudaBackend::allocate(gpumem_memory_kind kind, size_t bytes) {
  const DeviceScope scope = enter();
  void* p = nullptr;
  const auto take = [&] {
    if (kind == GPUMEM_MEMORY_PINNED) return cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
    return kind == GPUMEM_MEMORY_DEVICE ? cudaMalloc(&p, bytes) : cudaMallocManaged(&p, bytes);
  };
  cudaError_t error = take();
  if (error == cudaErrorMemoryAllocation && kind != GPUMEM_MEMORY_PINNED) {  // the pool's unused memory may suffice
    static_cast<void>(cudaGetLastError());
    pool_.trim(0);
    error = take();
  }
  if (error == cudaSuccess) return p;
  static_cast<void>(cudaGetLastError());
  // Some calls report a size that no device has as an invalid value.
  const bool size = error == cudaErrorMemoryAllocation || error == cudaErrorInvalidValue;
  fail(size ? GPUMEM_OUT_OF_MEMORY : status_of(error), "%zu bytes of %s memory are not available: %s", bytes,
       kind_name(kind), cudaGetErrorString(error));
}

void CudaBackend::release(gpumem_memory_kind kind, void* p, size_t) noexcept {
  enter_to_end([&] { static_cast<void>(kind == GPUMEM_MEMORY_PINNED ? cudaFreeHost(p) : cudaFree(p)); });
}

void CudaBackend::register_host(void* p, size_t bytes) {
  const DeviceScope scope = enter();
  const cudaError_t error = cudaHostRegister(p, bytes, cudaHostRegisterPortable);
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  if (error == cudaErrorHostMemoryAlreadyRegistered) {
    fail(GPUMEM_INVALID_ARGUMENT, "p (%p) and the %zu bytes from it on are registered in part; expected none to be", p,
         bytes);
  }
  if (error == cudaErrorInvalidValue) {
    fail(GPUMEM_INVALID_POINTER,
         "p (%p): not all of the %zu bytes from it on can be locked; expected memory mapped for writing", p, bytes);
  }
  rlimit locked{};
  static_cast<void>(getrlimit(RLIMIT_MEMLOCK, &locked));
  const bool ran_out = error == cudaErrorMemoryAllocation || error == cudaErrorOperatingSystem;
  fail(ran_out ? GPUMEM_OUT_OF_RESOURCES : status_of(error),
       "p (%p): %zu bytes can't be locked: %s (RLIMIT_MEMLOCK is %lld)", p, bytes, cudaGetErrorString(error),
       static_cast<long long>(locked.rlim_cur));
}

void CudaBackend::unregister_host(void* p) noexcept {
  enter_to_end([&] { static_cast<void>(cudaHostUnregister(p)); });
}

// The checker does not accept stream-ordered memory. Other memory is freed after all work.
void* CudaBackend::allocate_async(NativeStream stream, size_t bytes) {
  const DeviceScope scope = enter();
  if (watched()) {
    void* p = allocate(GPUMEM_MEMORY_DEVICE, bytes);
    checker_.begin_heap(p, bytes);
    return p;
  }
  return pool_.allocate(native(stream), bytes);
}

void CudaBackend::release_async(NativeStream stream, void* p, size_t bytes) noexcept {
  if (watched()) {
    checker_.end_heap(p);
    return release(GPUMEM_MEMORY_DEVICE, p, bytes);
  }
  enter_to_end([&] { pool_.release(native(stream), p); });
}

std::shared_ptr<void> CudaBackend::scratch(NativeStream stream, size_t bytes) {
  const DeviceScope scope = enter();
  require_open(stream);
  auto block = std::make_unique<StreamMemory::Block>(stream_memory_, props_, bytes, native(stream));
  void* const p = block->get();
  return {p, [this, owned = block.release()](void*) { enter_to_end([&] { delete owned; }); }};
}

void CudaBackend::trim(size_t keep_bytes) noexcept {
  enter_to_end([&] { pool_.trim(keep_bytes); });
}

kernels::Stream CudaBackend::kernel_stream(NativeStream stream) const noexcept {
  return {native(stream), programmatic_launch_};
}

void CudaBackend::finish(cudaStream_t stream, Completion completion) {
  if (completion == Completion::blocking) GPUMEM_CUDA(cudaStreamSynchronize(stream));
}

void CudaBackend::copy(NativeStream stream, void* dst, const void* src, size_t bytes, Completion completion) {
  const DeviceScope scope = enter();
  require_open(stream);
  {
    const WatchedLaunch launch(stream);
    GPUMEM_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, native(stream)));
  }
  finish(native(stream), completion);
}

void CudaBackend::move_pieces(NativeStream stream, std::span<const MovedPiece> pieces) {
  const DeviceScope scope = enter();
  require_open(stream);
  const LaunchRange range(GPUMEM_FAMILY_PERMUTE, "pieces", stream);
  GPUMEM_CUDA(kernels::permute_pieces(pieces, kernel_stream(stream)));
}

void CudaBackend::read_all(NativeStream stream, const void* p, size_t bytes, int32_t blocks) {
  const DeviceScope scope = enter();
  require_open(stream);
  const auto lease = scratch_.for_stream(native(stream));
  auto* const sink = static_cast<unsigned int*>(lease.scratch.nodes);
  GPUMEM_CUDA(
      kernels::read_all(p, static_cast<int64_t>(bytes), sink, blocks * props_.multiprocessors, kernel_stream(stream)));
}

void CudaBackend::warmup() {
  const DeviceScope scope = enter();
  warm_up_reductions();
  for (const auto preload :
       {kernels::arithmetic_preload, kernels::axpby_preload, kernels::convert_preload, kernels::copy_preload,
        kernels::fill_preload, kernels::gather_scatter_preload, kernels::map_preload, kernels::permute_preload,
        kernels::reduce_by_index_preload, kernels::resize_preload, kernels::scan_preload, kernels::select_preload,
        kernels::sort_preload, kernels::sort_segments_preload, kernels::sort_tiles_preload,
        kernels::transpose_preload}) {
    GPUMEM_CUDA(preload());
  }
}

template <class Params>
void CudaBackend::require_capturable(const Configured<Params>& planned, const char* operation, NativeStream stream) {
  const bool needs_pool = planned.config.workspace_bytes > 0 && !props_.memory_pools;
  if ((planned.implementation->capturable && !needs_pool) || !capturing(stream)) return;
  if (needs_pool) {
    fail(GPUMEM_UNSUPPORTED,
         "%s takes scratch memory, which a device without memory pools can't give a graph; the capture is still valid",
         planned.implementation->name);
  }
  fail(GPUMEM_CAPTURING,
       "the variant %s of %s cannot run on a stream under graph capture, because the graph would outlive the call's "
       "resources; the capture is still valid",
       planned.implementation->name, operation);
}

void CudaBackend::launch(NativeStream stream, const AnyWork& work, Completion completion) {
  const DeviceScope scope = enter();
  require_open(stream);
  const kernels::Stream on = kernel_stream(stream);
  std::visit(
      [&]<class Family>(const Work<Family>& of) {
        const auto& [implementation, config] = of.planned;
        const LaunchRange range(Family::id, implementation->name, stream);
        require_capturable(of.planned, Family::name, stream);
        const StreamMemory::Block workspace(stream_memory_, props_, static_cast<size_t>(config.workspace_bytes), on);
        std::optional<ReduceScratchPool::Lease> lease;
        if (config.reduce_scratch) lease.emplace(scratch_.for_stream(on));
        GPUMEM_CUDA(implementation->execute.gpu(of.params, config,
                                                {on, workspace.get(), &textures_, lease ? &lease->scratch : nullptr}));
      },
      work);
  finish(on, completion);
}

}  // namespace gpumem
