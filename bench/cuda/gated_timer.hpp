// The time that a call takes on the device, without the host's share; without a gate, the time that an idle stream takes for it,
// the way of its launches from the host included.
//
// A kernel (the gate) occupies a stream. Behind it lie a start event, the call's work and an end event, all enqueued before
// the host opens the gate. So the events see the device work back to back, however long the host took to enqueue it.
//
// A call that is enqueued on a stream of the caller's choice is timed on that very stream. Other calls work on a stream that is
// not ours to see, but is a blocking one: gate and events then lie on the legacy default stream, which orders it, and the
// hand-over between two streams (one to two microseconds) is timed too. A call that blocks until its work is done is made by a
// second thread, and the end event is recorded once that thread has had ample time to enqueue. Both sides of a case are timed
// in the same way.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "cuda/cuda_check.hpp"

namespace bench {

struct Gated {
  bool blocking = false;  // the call returns when its work is done
  bool cold = false;      // empty L2 of the operands before; else one untimed call goes before
  bool gate = true;  // else the stream is idle and the events stand right before and after the call: its launches count
  bool batch = true;  // several calls a sample when one is short; never for blocking calls or a cold cache
  cudaStream_t stream = cudaStreamLegacy;  // where gate and events lie
};

class GatedTimer {
 public:
  explicit GatedTimer(std::size_t l2_bytes);
  ~GatedTimer();

  // Seconds that `calls` calls take on the device.
  double seconds(const std::function<void()>& call, int calls, Gated how);

  // Reads through a buffer larger than L2, on the legacy stream.
  void flush_l2();

 private:
  void enqueue_by_worker(const std::function<void()>& call);
  void join_worker();
  void work();

  PinnedBytes flags_{2 * sizeof(int)};  // release, timed out
  DeviceBytes flush_;
  DeviceBytes sink_{sizeof(unsigned int)};
  Event start_, end_;

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* task_ = nullptr;  // guarded by mutex_, like all below
  bool busy_ = false;
  bool stop_ = false;
  std::exception_ptr error_;
  int device_ = 0;
  std::thread worker_;
};

std::function<double()> gated_sampler(std::shared_ptr<GatedTimer> timer, std::function<void()> call, Gated how);

// Blocking calls by the host's clock, each behind an emptied L2.
std::function<double()> cold_host_sampler(std::shared_ptr<GatedTimer> timer, std::function<void()> call);

}  // namespace bench
