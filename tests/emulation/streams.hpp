// Streams: queues of work, each with a thread of its own.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace gpumem_emulation {

// The error of this thread's last call that failed; the runtime's entry points hand their results through here.
cudaError_t answer(cudaError_t error);

// Enqueues work. It runs after all that the stream was given before and, if the stream is a blocking one, in the order that the
// legacy default stream imposes (CUDA C++ Programming Guide, "Implicit synchronization").
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

// Of the driver's interface: a word of pinned memory that the stream writes.
CUresult stream_write_value(CUstream stream, CUdeviceptr word, cuuint32_t value, unsigned flags);

// Waits for all work of every stream of the current device.
void wait_for_all();

// Stream capture (CUDA C++ Programming Guide, "Cross-stream Dependencies and Events" and "Prohibited and Unhandled Operations"): what
// conflicts with a capture fails and ends it, in every mode of the calling thread. Calls that are only unsafe fail and end captures as
// that mode says.
cudaError_t refuse_unsafe_call();
cudaError_t capture_status(cudaStream_t stream, cudaStreamCaptureStatus& status);
CUstreamCaptureMode exchange_capture_mode_of_thread(CUstreamCaptureMode mode);

// What is left of the device's streams and events after cudaDeviceReset() ends the process where it is used: a driver may crash there.
void reset_streams(int device);

bool is_stream(cudaStream_t handle);

size_t streams_and_events_held();

}  // namespace gpumem_emulation
