// The time that a call takes on the device, without the host's share; without a gate, the time that an idle stream takes for it,
// the way of its launches from the host included.
//
// A kernel (the gate) occupies a stream. Behind it lie a start event, the call's work and an end event, all enqueued before
// the host opens the gate. So the events see the device work back to back, however long the host took to enqueue it.
//
// Both sides of a case are enqueued on one stream and timed there, in the same way.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "cuda/cuda_check.hpp"

namespace bench {

struct Gated {
  bool cold = false;  // empty L2 of the operands before; else one untimed call goes before
  bool gate = true;  // else the stream is idle and the events stand right before and after the call: its launches count
  bool batch = true;  // several calls a sample when one is short; never with a cold cache
  cudaStream_t stream = nullptr;
};

class GatedTimer {
 public:
  explicit GatedTimer(std::size_t l2_bytes);

  // Seconds that `calls` calls take on the device.
  double seconds(const std::function<void()>& call, int calls, Gated how);

  // Reads through a buffer larger than L2, on the legacy stream.
  void flush_l2();

 private:
  PinnedBytes flags_{2 * sizeof(int)};  // release, timed out
  DeviceBytes flush_;
  DeviceBytes sink_{sizeof(unsigned int)};
  Event start_, end_;
};

std::function<double()> gated_sampler(std::shared_ptr<GatedTimer> timer, std::function<void()> call, Gated how);

// Blocking calls by the host's clock, each behind an emptied L2.
std::function<double()> cold_host_sampler(std::shared_ptr<GatedTimer> timer, std::function<void()> call);

}  // namespace bench
