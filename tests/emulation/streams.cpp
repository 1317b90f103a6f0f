#include "emulation/streams.hpp"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>

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
  std::thread worker;
};

struct CUevent_st {
  static inline std::atomic<size_t> held{0};
  CUevent_st() { ++held; }
  CUevent_st(const CUevent_st&) = delete;
  CUevent_st& operator=(const CUevent_st&) = delete;
  ~CUevent_st() { --held; }

  bool timed = true;
  std::shared_ptr<Record> last;
};

namespace gpumem_emulation {
namespace {

using Stream = std::shared_ptr<CUstream_st>;

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<Stream> streams;
  Stream legacy;
};

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
  return nullptr;
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

void push(State& s, const Stream& stream, std::function<bool()> ready, std::function<void()> run) {
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
  push(s, stream, nullptr, std::move(work));
  return cudaSuccess;
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
  return s.streams.size() + CUevent_st::held;
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
  const std::vector<Place> places = all_of(s, stream);
  s.changed.wait(lock, [&] { return passed(places); });
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  return passed(all_of(s, stream)) ? cudaSuccess : answer(cudaErrorNotReady);
}

cudaError_t cudaDeviceSynchronize() {
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
  *event = created.release();
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const std::unique_ptr<CUevent_st> owned(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (event == nullptr || stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  event->last = std::make_shared<Record>();
  push(s, stream, nullptr, [record = event->last] {
    const std::lock_guard<std::mutex> inner(state().mutex);
    record->passed = true;
    record->at = std::chrono::steady_clock::now();
  });
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const Stream stream = find(s, handle);
  if (event == nullptr || stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  if (event->last == nullptr) return cudaSuccess;
  push(
      s, stream, [record = event->last] { return record->passed; }, [] {});
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  return event->last == nullptr || event->last->passed ? cudaSuccess : answer(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  State& s = state();
  std::unique_lock<std::mutex> lock(s.mutex);
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const auto record = event->last;
  s.changed.wait(lock, [&] { return record == nullptr || record->passed; });
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  for (const cudaEvent_t event : {start, end}) {
    if (event == nullptr || !event->timed || event->last == nullptr) return answer(cudaErrorInvalidResourceHandle);
  }
  if (!start->last->passed || !end->last->passed) return answer(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->last->at - start->last->at).count();
  return cudaSuccess;
}
