#include <atomic>
#include <chrono>
#include <utility>

#include "backend/cuda/cuda_backend.hpp"
#include "base/caller_state.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

cudaEvent_t native_event(NativeEvent event) noexcept { return static_cast<cudaEvent_t>(event); }

void run_host_task(void* argument) noexcept {
  const std::unique_ptr<HostTask> task(static_cast<HostTask*>(argument));
  (*task)();
}

bool answered_done(cudaError_t error, const char* what) {
  if (error != cudaErrorNotReady) check_cuda(error, what);
  if (error == cudaErrorNotReady) static_cast<void>(cudaGetLastError());
  return error == cudaSuccess;
}

}  // namespace

NativeStream CudaBackend::make_stream(unsigned flags) {
  const DeviceScope scope = enter();
  cudaStream_t stream = nullptr;
  GPUMEM_CUDA(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}

void CudaBackend::finish_stream(NativeStream stream) noexcept {
  enter_to_end([&] {
    if (!capturing(stream)) static_cast<void>(cudaStreamSynchronize(native(stream)));
  });
}

void CudaBackend::destroy_stream(NativeStream stream) noexcept {
  enter_to_end([&] {
    scratch_.stream_ends(native(stream));
    static_cast<void>(cudaStreamDestroy(native(stream)));
  });
}

NativeStream CudaBackend::wrap_stream(void* native_stream) {
  if (native_stream == nullptr) return cudaStreamLegacy;
  const DeviceScope scope = enter();
  const auto stream = static_cast<cudaStream_t>(native_stream);
  if (stream == cudaStreamLegacy) return stream;
  if (stream == cudaStreamPerThread) {
    fail(GPUMEM_UNSUPPORTED,
         "native_stream is the per-thread default stream, another one in every thread; expected a stream");
  }
  CUcontext owner = nullptr;
  if (driver_api().stream_ctx(stream, &owner) != CUDA_SUCCESS || owner != primary_.get()) {
    fail(GPUMEM_INVALID_ARGUMENT,
         "native_stream (%p) is not a stream of the primary context of device %d, the context's device", native_stream,
         props_.ordinal);
  }
  return stream;
}

// A new wrapper of the stream gets new scratch. A destroyed stream's scratch is kept until the context ends.
void CudaBackend::unwrap_stream(NativeStream stream) noexcept {
  enter_to_end([&] {
    if (!capturing(stream)) scratch_.stream_ends(native(stream));
  });
}

void CudaBackend::synchronize(NativeStream stream) {
  const DeviceScope scope = enter();
  GPUMEM_CUDA(cudaStreamSynchronize(native(stream)));
}

// H200, after a copy of 1 KiB: the word is visible 1.2 us before cudaStreamSynchronize() returns. The word may be late:
// earlier work continues, the driver can't write it, or there is a fault. The driver then waits.
void CudaBackend::synchronize_by(NativeStream stream, uint32_t& word) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kPatience{50};
  const DeviceScope scope = enter();
  const std::atomic_ref<uint32_t> seen(word);
  seen.store(0, std::memory_order_relaxed);
  const auto address = static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(&word));
  if (driver_api().stream_write_value(native(stream), address, 1, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS) {
    const Clock::time_point end = Clock::now() + kPatience;
    do {
      if (seen.load(std::memory_order_acquire) == 1) return;
    } while (Clock::now() < end);
  }
  synchronize(stream);
}

// cudaDeviceSynchronize() invalidates every capture on the device, in each mode, and not all captures are visible.
// Waiting in cudaFree() keeps them valid (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator"). If the device
// has no free byte, memory must still be freed. Only captures that the legacy stream would wait for are then detected.
void CudaBackend::synchronize_device() {
  const DeviceScope scope = enter();
  void* block = nullptr;
  if (cudaMalloc(&block, 1) == cudaSuccess) return GPUMEM_CUDA(cudaFree(block));
  static_cast<void>(cudaGetLastError());
  if (capturing(cudaStreamLegacy)) {
    fail(GPUMEM_CAPTURING,
         "the device can't be waited for while one of its streams is captured; the capture is still valid");
  }
  GPUMEM_CUDA(cudaDeviceSynchronize());
}

// On a blocking stream, an event record follows the legacy stream's earlier work. A stream wait would not see it.
void CudaBackend::await_order() {
  const DeviceScope scope = enter();
  if (non_blocking_) return GPUMEM_CUDA(cudaStreamSynchronize(own_stream_));
  GPUMEM_CUDA(cudaEventRecord(order_, own_stream_));
  GPUMEM_CUDA(cudaEventSynchronize(order_));
}

bool CudaBackend::idle(NativeStream stream) {
  const DeviceScope scope = enter();
  return answered_done(cudaStreamQuery(native(stream)), "cudaStreamQuery");
}

// The driver answers for a stream of any context, whether or not a context is current. Only the legacy stream belongs
// to the current context. The pools ask for every block.
bool CudaBackend::capturing(NativeStream stream) {
  require_present();
  CUstreamCaptureStatus known = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream != cudaStreamLegacy && driver_api().stream_capturing(native(stream), &known) == CUDA_SUCCESS) {
    return known != CU_STREAM_CAPTURE_STATUS_NONE;
  }
  const KeptThreadState kept;
  const DeviceScope scope = enter();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(native(stream), &status);
  if (error == cudaErrorStreamCaptureImplicit) {  // the legacy stream during another stream's capture
    static_cast<void>(cudaGetLastError());
    return true;
  }
  check_cuda(error, "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

// The legacy stream has an id of its own during another stream's capture.
uint64_t CudaBackend::capture_id(NativeStream stream) {
  if (!capturing(stream)) return 0;
  const KeptThreadState kept;
  const DeviceScope scope = enter();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  const cudaError_t error = cudaStreamGetCaptureInfo(native(stream), &status, &id, nullptr, nullptr, nullptr, nullptr);
  if (error == cudaSuccess) return id;
  static_cast<void>(cudaGetLastError());
  return UINT64_MAX;
}

// Waiting for a stream under capture is an error that invalidates the capture, in every mode.
void CudaBackend::invalidate_capture(NativeStream stream) noexcept {
  enter_to_end([&] { static_cast<void>(cudaStreamSynchronize(native(stream))); });
}

void CudaBackend::require_open(NativeStream stream) {
  if (stream == cudaStreamLegacy && capturing(stream)) {
    fail(GPUMEM_CAPTURING,
         "the legacy default stream takes no work while another stream is captured; the capture is still valid");
  }
}

void CudaBackend::host_callback(NativeStream stream, HostTask task) {
  const DeviceScope scope = enter();
  require_open(stream);
  auto owned = std::make_unique<HostTask>(std::move(task));
  const WatchedLaunch launch(stream);
  GPUMEM_CUDA(cudaLaunchHostFunc(native(stream), run_host_task, owned.get()));
  static_cast<void>(owned.release());  // run_host_task deletes it
}

NativeEvent CudaBackend::make_event(unsigned flags) {
  const DeviceScope scope = enter();
  cudaEvent_t event = nullptr;
  GPUMEM_CUDA(cudaEventCreateWithFlags(&event, flags));
  return event;
}

void CudaBackend::destroy_event(NativeEvent event) noexcept {
  enter_to_end([&] { static_cast<void>(cudaEventDestroy(native_event(event))); });
}

void CudaBackend::record(NativeEvent event, NativeStream stream) {
  const DeviceScope scope = enter();
  require_open(stream);
  GPUMEM_CUDA(cudaEventRecord(native_event(event), native(stream)));
}

void CudaBackend::wait_event(NativeStream stream, NativeEvent event) {
  const DeviceScope scope = enter();
  require_open(stream);
  GPUMEM_CUDA(cudaStreamWaitEvent(native(stream), native_event(event), 0));
}

void CudaBackend::synchronize_event(NativeEvent event) {
  const DeviceScope scope = enter();
  GPUMEM_CUDA(cudaEventSynchronize(native_event(event)));
}

bool CudaBackend::passed(NativeEvent event) {
  const DeviceScope scope = enter();
  return answered_done(cudaEventQuery(native_event(event)), "cudaEventQuery");
}

double CudaBackend::elapsed_seconds(NativeEvent start, NativeEvent end) {
  const DeviceScope scope = enter();
  float milliseconds = 0;
  const cudaError_t error = cudaEventElapsedTime(&milliseconds, native_event(start), native_event(end));
  if (error == cudaErrorInvalidResourceHandle) {
    static_cast<void>(cudaGetLastError());
    fail(GPUMEM_INVALID_ARGUMENT, "start or end was never recorded; expected two recorded events");
  }
  if (error == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    fail(GPUMEM_NOT_READY, "start or end has not been passed yet");
  }
  check_cuda(error, "cudaEventElapsedTime");
  return double{milliseconds} * 1e-3;
}

}  // namespace gpumem
