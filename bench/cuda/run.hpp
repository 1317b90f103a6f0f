// An operation on the device whose result is an array: our call and a baseline's. Both are enqueued and timed on one
// stream, and their output is compared with the expected bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/cuda_cases.hpp"

namespace bench {

struct Run {
  GpuPtr gpu;
  Problem problem;
  tool::Instance instance;
  std::shared_ptr<DeviceBytes> expected;

  Run(GpuPtr on, const std::string& line);

  int64_t number(const char* key, int64_t missing = 1) const { return problem.number(key, missing); }
  std::size_t size(const char* key, int64_t missing = 1) const {
    return static_cast<std::size_t>(number(key, missing));
  }
  template <class T = void>
  T* at(const char* key) const {
    return instance.operands.at(key)->as<T>();
  }
  std::size_t output_bytes() const { return static_cast<std::size_t>(instance.output->bytes()); }
  cudaStream_t stream() const { return gpu->peer_stream.get(); }

  gpumem_status enqueue() const;
  std::string verify() const;
  std::string verify_copied() const;
  // An operand on the device; for host memory, a copy in a large buffer.
  const void* on_device(const tool::Operand& operand) const;
};
using RunPtr = std::shared_ptr<Run>;

// `enqueue` works on gpu->peer_stream, or on gpu->shared_stream, which is the same.
Side run_side(const RunPtr& run, std::function<void()> enqueue, const Gated& how);
Side our_side(const RunPtr& run, const Gated& how);

// The yardstick: cudaMemcpyAsync of so many bytes between the large buffers.
Side memcpy_side(const GpuPtr& gpu, std::size_t bytes, bool cold);

using Peer = std::function<Side(const RunPtr& run, bool cold)>;

// `enqueue` writes the line's output on run.stream().
Peer by_call(std::function<void(const Run& run)> enqueue);
// A copy of half the bytes that the line counts, or of `bytes`.
Peer by_memcpy(std::size_t bytes = 0);

struct Line {
  std::string family;
  std::string name;
  std::string line;
  std::string peer_name = {};
  Peer peer = {};  // none: only the rate counts
  Bar bar = {};
  bool quick = false;
  double bytes = 0;        // 0: the line's own count
  bool cacheable = false;  // the name says whether L2 was emptied
  Ceiling ceiling = Ceiling::copy;
};

// Up to 128 MiB may be in an L2, so such a case is measured warm and cold.
bool cacheable(double bytes);

class Lines {
 public:
  Lines(std::vector<Case>& cases, GpuPtr gpu) : cases_(cases), gpu_(std::move(gpu)) {}

  const GpuPtr& gpu() const { return gpu_; }
  Case& add(const Line& line, bool cold) const;
  void add_warm_and_cold(const Line& line) const;  // warm only if cacheable
  // Every implementation of the line's operation in turn; `unchecked`: the one whose results differ.
  void add_ladder(const Line& line, bool cold, const std::string& unchecked = "") const;

 private:
  std::vector<Case>& cases_;
  GpuPtr gpu_;
};

}  // namespace bench
