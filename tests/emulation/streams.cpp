#include "emulation/streams.hpp"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "emulation/gates.hpp"
#include "emulation/memory.hpp"
#include "emulation/report.hpp"

namespace gpumem_emulation {

struct Work {
  std::function<bool()> ready;  // asked with the lock held; empty: always
  std::function<void()> run;
};

struct Record {
  bool passed = false;
  std::chrono::steady_clock::time_point at;
};

}  // namespace gpumem_emulation

// What a stream was given under capture, in an order that its streams and events allow.
struct CUgraph_st {
  std::vector<std::function<void()>> works;
  std::vector<std::shared_ptr<void>> owned;
};

struct CUgraphExec_st {
  std::shared_ptr<CUgraph_st> graph;
};

struct CUuserObject_st {
  std::shared_ptr<void> object;
};

namespace gpumem_emulation {

struct Capture {
  uint64_t id;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  cudaStream_t origin;
  bool valid = true;
  CUgraph_st graph;
};

}  // namespace gpumem_emulation

using gpumem_emulation::Capture;
using gpumem_emulation::Record;
using gpumem_emulation::Work;

struct CUstream_st {
  bool blocking = true;
  bool legacy = false;
  int device = 0;
  std::deque<Work> queue;
  uint64_t enqueued = 0;
  uint64_t completed = 0;
  bool ends = false;
  std::shared_ptr<Capture> capture;  // that it is part of
  std::thread worker;
};

struct CUevent_st {
  static inline std::atomic<size_t> held{0};
  CUevent_st() { ++held; }
  CUevent_st(const CUevent_st&) = delete;
  CUevent_st& operator=(const CUevent_st&) = delete;
  ~CUevent_st() { --held; }

  bool timed = true;
  int device = 0;
  std::shared_ptr<Record> last;
  std::shared_ptr<Capture> capture;  // that it was recorded in last
};

namespace gpumem_emulation {
namespace {

using Stream = std::shared_ptr<CUstream_st>;

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<Stream> streams;
  Stream legacy;
  std::set<std::unique_ptr<CUevent_st>> events;
  std::set<const void*> reset;  // handles of streams and events that a reset has ended
  std::set<std::shared_ptr<Capture>> captures;
  std::atomic<size_t> capturing{0};  // of them
  uint64_t captures_begun = 0;
};

std::atomic<bool> g_idle_streams_pass{false};

thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

State& state() {
  static State& only = *std::make_unique<State>().release();  // threads may outlive main()
  return only;
}

void work_off(const Stream& stream) {
  std::fesetenv(FE_DFL_ENV);  // the device's arithmetic is its own, whatever the thread that began this one has set
  State& s = state();
  std::unique_lock<std::mutex> lock(s.mutex);
  for (;;) {
    s.changed.wait(lock, [&] {
      if (stream->queue.empty()) return stream->ends;
      const auto& ready = stream->queue.front().ready;
      return ready == nullptr || ready();
    });
    if (stream->queue.empty()) return;
    Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    lock.unlock();
    work.run();
    work = {};
    lock.lock();
    ++stream->completed;
    s.changed.notify_all();
  }
}

// No signal of the program is taken by a thread of the device; its own faults are the sanitizers' to report.
std::thread start_worker(const Stream& stream) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread worker(work_off, stream);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return worker;
}

Stream add_stream(State& s, bool blocking, bool legacy) {
  auto stream = std::make_shared<CUstream_st>();
  s.reset.erase(stream.get());
  stream->blocking = blocking;
  stream->legacy = legacy;
  stream->device = current_device();
  s.streams.insert(stream);
  return stream;
}

// With the lock held. nullptr: no such stream.
Stream find(State& s, cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    if (s.legacy == nullptr) s.legacy = add_stream(s, false, true);
    return s.legacy;
  }
  for (const Stream& stream : s.streams) {
    if (stream.get() == handle) return stream;
  }
  if (s.reset.count(handle) != 0) give_up("a stream is used whose device was reset");
  return nullptr;
}

// The same of events.
bool is_event(State& s, cudaEvent_t event) {
  const auto same = [event](const auto& held) { return held.get() == event; };
  if (std::any_of(s.events.begin(), s.events.end(), same)) return true;
  if (s.reset.count(event) != 0) give_up("an event is used whose device was reset");
  return false;
}

using Place = std::pair<Stream, uint64_t>;  // a stream, and how much of it

bool passed(const std::vector<Place>& places) {
  for (const auto& [stream, count] : places) {
    if (stream->completed < count) return false;
  }
  return true;
}

// What the legacy stream waits for, or a blocking stream.
std::vector<Place> implied(State& s, const Stream& stream) {
  std::vector<Place> places;
  for (const Stream& other : s.streams) {
    const bool orders = stream->legacy ? other->blocking : stream->blocking && other->legacy;
    if (orders && other->completed < other->enqueued) places.emplace_back(other, other->enqueued);
  }
  return places;
}

cudaError_t invalidate(const std::shared_ptr<Capture>& capture, cudaError_t error) {
  capture->valid = false;
  return answer(error);
}

// The legacy stream takes nothing while a blocking stream is under capture.
cudaError_t refuse_on_legacy(State& s, const Stream& stream) {
  cudaError_t error = cudaSuccess;
  for (const Stream& other : s.streams) {
    const bool conflicts = stream->legacy && other->blocking && other->capture != nullptr;
    if (conflicts) error = invalidate(other->capture, cudaErrorStreamCaptureImplicit);
  }
  return error;
}

cudaError_t push(State& s, const Stream& stream, std::function<bool()> ready, std::function<void()> run) {
  if (stream->capture != nullptr) {
    if (!stream->capture->valid) return answer(cudaErrorStreamCaptureInvalidated);
    stream->capture->graph.works.push_back(std::move(run));
    return cudaSuccess;
  }
  if (const cudaError_t error = refuse_on_legacy(s, stream)) return error;
  std::vector<Place> places = implied(s, stream);
  if (!places.empty()) {
    ready = [places = std::move(places), also = std::move(ready)] {
      return passed(places) && (also == nullptr || also());
    };
  }
  stream->queue.push_back({std::move(ready), std::move(run)});
  ++stream->enqueued;
  if (!stream->worker.joinable()) stream->worker = start_worker(stream);
  s.changed.notify_all();
  return cudaSuccess;
}

// Waits and questions that would take in work under capture.
cudaError_t refuse_to_wait(State& s, const Stream& stream) {
  if (stream->capture != nullptr) return invalidate(stream->capture, cudaErrorStreamCaptureUnsupported);
  return refuse_on_legacy(s, stream);
}
cudaError_t refuse_to_wait(cudaEvent_t event) {
  return event->capture == nullptr ? cudaSuccess : invalidate(event->capture, cudaErrorCapturedEvent);
}

// All that a stream has now, and for the legacy stream what it waits for.
std::vector<Place> all_of(State& s, const Stream& stream) {
  std::vector<Place> places{{stream, stream->enqueued}};
  if (stream->legacy) {
    for (Place& place : implied(s, stream)) places.push_back(std::move(place));
  }
  return places;
}

}  // namespace

cudaError_t enqueue(cudaStream_t handle, std::function<void()> work) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  return push(s, stream, nullptr, std::move(work));
}

cudaError_t refuse_unsafe_call() {
  State& s = state();
  if (s.capturing == 0 || capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return cudaSuccess;
  const std::lock_guard<std::mutex> lock(s.mutex);
  cudaError_t error = cudaSuccess;
  for (const auto& capture : s.captures) {
    const bool own = capture->thread == std::this_thread::get_id() && capture->mode != cudaStreamCaptureModeRelaxed;
    const bool any = capture->mode == cudaStreamCaptureModeGlobal && capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (own || any) error = invalidate(capture, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

void let_idle_streams_pass(bool at_once) noexcept { g_idle_streams_pass = at_once; }

CUstreamCaptureMode exchange_capture_mode_of_thread(CUstreamCaptureMode mode) {
  return std::exchange(capture_mode, mode);
}

cudaError_t capture_status(cudaStream_t handle, cudaStreamCaptureStatus& status) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  status = stream->capture == nullptr ? cudaStreamCaptureStatusNone
           : stream->capture->valid   ? cudaStreamCaptureStatusActive
                                      : cudaStreamCaptureStatusInvalidated;
  for (const Stream& other : s.streams) {
    if (stream->legacy && other->blocking && other->capture != nullptr) return answer(cudaErrorStreamCaptureImplicit);
  }
  return cudaSuccess;
}

void reset_streams(int device) {
  wait_for_all();
  State& s = state();
  std::vector<Stream> ended;
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    for (auto at = s.streams.begin(); at != s.streams.end();) {
      const Stream stream = *at++;
      if (stream->device != device || stream->legacy) continue;
      s.reset.insert(stream.get());
      s.streams.erase(stream);
      stream->ends = true;
      ended.push_back(stream);
    }
    for (auto at = s.events.begin(); at != s.events.end();) {
      const auto event = at++;
      if ((*event)->device != device) continue;
      s.reset.insert(event->get());
      s.events.erase(event);
    }
    s.changed.notify_all();
  }
  for (const Stream& stream : ended) {
    if (stream->worker.joinable()) stream->worker.join();
  }
}

CUresult stream_write_value(CUstream stream, CUdeviceptr word, cuuint32_t value, unsigned flags) {
  if (const int refused = gpumem_emulation_gate("cuStreamWriteValue32")) return static_cast<CUresult>(refused);
  auto* const p = reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(word));
  const auto range = range_of(p);
  if (!range || range->kind != Kind::pinned || word % 4 != 0 || flags != CU_STREAM_WRITE_VALUE_DEFAULT) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto write = [p, value] { std::atomic_ref<uint32_t>(*p).store(value, std::memory_order_release); };
  return static_cast<CUresult>(enqueue(stream, write));
}

void wait_for_all() {
  State& s = state();
  std::unique_lock<std::mutex> lock(s.mutex);
  std::vector<Place> places;
  const int device = current_device();
  for (const Stream& stream : s.streams) {
    if (stream->device == device || stream->legacy) places.emplace_back(stream, stream->enqueued);
  }
  s.changed.wait(lock, [&] { return passed(places); });
}

size_t streams_and_events_held() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.streams.size() - (s.legacy != nullptr ? 1 : 0) + CUevent_st::held;  // the legacy stream is always there
}

bool is_stream(cudaStream_t handle) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return find(s, handle) != nullptr;
}

// The legacy stream is that of the current device: all of them share one.
int device_of(cudaStream_t handle) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  return stream == nullptr || stream->legacy ? current_device() : stream->device;
}

}  // namespace gpumem_emulation

using namespace gpumem_emulation;

// ---------------------------------------------------------------------------------------------------------- streams

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  *stream = add_stream(s, flags != cudaStreamNonBlocking, false).get();
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

// Work that is left is still done. The thread of an idle stream is gone on return.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  State& s = state();
  Stream stream;
  bool idle = false;
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    stream = find(s, handle);
    if (stream == nullptr || stream == s.legacy) return answer(cudaErrorInvalidResourceHandle);
    if (stream->capture != nullptr) {
      stream->capture->valid = false;
      if (stream->capture->origin == handle) s.captures.erase(stream->capture);
      s.capturing = s.captures.size();
    }
    s.streams.erase(stream);
    stream->ends = true;
    idle = stream->completed == stream->enqueued;
    s.changed.notify_all();
  }
  if (!stream->worker.joinable()) return cudaSuccess;
  if (idle) {
    stream->worker.join();
  } else {
    stream->worker.detach();
  }
  return cudaSuccess;
}

// GPUMEM_EMULATION_BROKEN_WAITS=1 makes waits fail, as a driver's do where it can't have what it waits by. The work goes on.
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const char* broken = std::getenv("GPUMEM_EMULATION_BROKEN_WAITS");
  if (broken != nullptr && std::strcmp(broken, "1") == 0) return answer(cudaErrorOperatingSystem);
  State& s = state();
  std::unique_lock<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = refuse_to_wait(s, stream)) return error;
  const std::vector<Place> places = all_of(s, stream);
  s.changed.wait(lock, [&] { return passed(places); });
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = refuse_to_wait(s, stream)) return error;
  return passed(all_of(s, stream)) ? cudaSuccess : answer(cudaErrorNotReady);
}

// It conflicts with every capture on the device.
cudaError_t cudaDeviceSynchronize() {
  {
    State& s = state();
    const std::lock_guard<std::mutex> lock(s.mutex);
    cudaError_t error = cudaSuccess;
    for (const Stream& stream : s.streams) {
      const bool conflicts = stream->device == current_device() && stream->capture != nullptr;
      if (conflicts) error = invalidate(stream->capture, cudaErrorStreamCaptureUnsupported);
    }
    if (error != cudaSuccess) return error;
  }
  wait_for_all();
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user) {
  return enqueue(stream, [function, user] { function(user); });
}

// ----------------------------------------------------------------------------------------------------------- events

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  auto created = std::make_unique<CUevent_st>();
  created->timed = (flags & cudaEventDisableTiming) == 0;
  created->device = current_device();
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  *event = created.get();
  s.reset.erase(created.get());
  s.events.insert(std::move(created));
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (!is_event(s, event)) return answer(cudaErrorInvalidResourceHandle);
  std::erase_if(s.events, [event](const auto& held) { return held.get() == event; });
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (!is_event(s, event) || stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  auto last = std::make_shared<Record>();
  const auto pass = [record = last] {
    record->passed = true;
    record->at = std::chrono::steady_clock::now();
  };
  const bool idle = stream->capture == nullptr && stream->completed == stream->enqueued && implied(s, stream).empty();
  if (g_idle_streams_pass && idle) {
    pass();
  } else {
    const cudaError_t error = push(s, stream, nullptr, [pass] {
      const std::lock_guard<std::mutex> inner(state().mutex);
      pass();
    });
    if (error != cudaSuccess) return error;
  }
  event->last = std::move(last);
  event->capture = stream->capture;
  return cudaSuccess;
}

// An event of a capture makes the stream a part of it. What was recorded elsewhere ends the stream's capture.
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (!is_event(s, event) || stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  if (event->last == nullptr || (event->capture != nullptr && stream->capture == event->capture)) return cudaSuccess;
  if (stream->capture != nullptr) {
    if (event->capture == nullptr) return invalidate(stream->capture, cudaErrorStreamCaptureIsolation);
    invalidate(event->capture, cudaErrorStreamCaptureMerge);
    return invalidate(stream->capture, cudaErrorStreamCaptureMerge);
  }
  if (event->capture != nullptr) {
    if (s.captures.count(event->capture) == 0) return answer(cudaErrorCapturedEvent);
    stream->capture = event->capture;
    return cudaSuccess;
  }
  return push(
      s, stream, [record = event->last] { return record->passed; }, [] {});
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (!is_event(s, event)) return answer(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = refuse_to_wait(event)) return error;
  return event->last == nullptr || event->last->passed ? cudaSuccess : answer(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  State& s = state();
  std::unique_lock<std::mutex> lock(s.mutex);
  if (!is_event(s, event)) return answer(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = refuse_to_wait(event)) return error;
  const auto record = event->last;
  s.changed.wait(lock, [&] { return record == nullptr || record->passed; });
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  for (const cudaEvent_t event : {start, end}) {
    if (!is_event(s, event) || !event->timed || event->last == nullptr) return answer(cudaErrorInvalidResourceHandle);
  }
  if (!start->last->passed || !end->last->passed) return answer(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->last->at - start->last->at).count();
  return cudaSuccess;
}

// ---------------------------------------------------------------------------------------------------------- captures

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  if (stream->legacy || stream->capture != nullptr) return answer(cudaErrorStreamCaptureUnsupported);
  auto capture = std::make_shared<Capture>();
  capture->id = ++s.captures_begun;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = handle;
  stream->capture = capture;
  s.captures.insert(std::move(capture));
  s.capturing = s.captures.size();
  return cudaSuccess;
}

// Streams that were not joined again are let go: that mistake is not modelled.
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  *graph = nullptr;
  const Stream stream = find(s, handle);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr || capture->origin != handle) return answer(cudaErrorStreamCaptureUnmatched);
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id()) {
    return answer(cudaErrorStreamCaptureWrongThread);
  }
  for (const Stream& other : s.streams) {
    if (other->capture == capture) other->capture = nullptr;
  }
  s.captures.erase(capture);
  s.capturing = s.captures.size();
  CUgraph_st captured = std::move(capture->graph);
  if (!capture->valid) return answer(cudaErrorStreamCaptureInvalidated);
  *graph = std::make_unique<CUgraph_st>(std::move(captured)).release();
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return capture_status(handle, *status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t**, const cudaGraphEdgeData**, size_t*) {
  if (const cudaError_t error = capture_status(handle, *status)) return error;
  if (*status == cudaStreamCaptureStatusNone) return cudaSuccess;
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  Capture& capture = *find(s, handle)->capture;
  if (id != nullptr) *id = capture.id;
  if (graph != nullptr) *graph = &capture.graph;
  return cudaSuccess;
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* p, cudaHostFn_t destroy, unsigned, unsigned) {
  *object = std::make_unique<CUuserObject_st>(std::shared_ptr<void>(p, destroy)).release();
  return cudaSuccess;
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned, unsigned flags) {
  if (flags != cudaGraphUserObjectMove) return answer(cudaErrorNotSupported);
  const std::unique_ptr<CUuserObject_st> owned(object);
  graph->owned.push_back(std::move(owned->object));
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = std::make_unique<CUgraphExec_st>(std::make_shared<CUgraph_st>(*graph)).release();
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return enqueue(stream, [graph = executable->graph] {
    for (const auto& work : graph->works) work();
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::unique_ptr<CUgraphExec_st> owned(executable);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::unique_ptr<CUgraph_st> owned(graph);
  return cudaSuccess;
}
