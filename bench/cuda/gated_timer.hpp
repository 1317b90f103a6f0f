// The time that a call takes on the device, without the host's share. Without a gate: the time that an idle stream
// takes for it, launches from the host included.
//
// The gate is a kernel that occupies a stream. A start event, the call's work and an end event are enqueued behind it
// before the host opens the gate. So the events see the device work back to back, even if the host is slow to enqueue
// it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "cuda/cuda_check.hpp"

namespace bench {

struct Gated {
  bool cold = false;  // empty L2 of the operands first; else one untimed call goes before
  bool gate = true;   // else the stream is idle, and the time between the events includes the call's launches
  bool batch = true;  // several calls per sample of a short case; never with a cold cache
  cudaStream_t stream = nullptr;
};

class GatedTimer {
 public:
  explicit GatedTimer(std::size_t l2_bytes);

  double seconds(const std::function<void()>& call, int calls, Gated how);

  // Reads a buffer larger than L2, on the legacy stream.
  void flush_l2();

 private:
  PinnedBytes flags_{2 * sizeof(int)};  // release, timed out
  DeviceBytes flush_;
  DeviceBytes sink_{sizeof(unsigned int)};
  Event start_, end_;
};

std::function<double()> gated_sampler(std::shared_ptr<GatedTimer> timer, std::function<void()> call, Gated how);

// Blocking calls by the host's clock, each after L2 was emptied.
std::function<double()> cold_host_sampler(std::shared_ptr<GatedTimer> timer, std::function<void()> call);

}  // namespace bench
