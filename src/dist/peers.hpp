// Which participants of this process, each on its own device, read each other's memory.
#pragma once

#include <vector>

#include "context/context.hpp"

namespace gpumem {

class Peers {
 public:
  Peers() = default;
  // Asks the driver, then verifies by a read.
  explicit Peers(const std::vector<Context*>& contexts);

  // True for two participants on one device, or with one on the host.
  bool reads(size_t reader, size_t owner) const noexcept { return reads_[reader * members_ + owner]; }

 private:
  size_t members_ = 0;
  std::vector<bool> reads_;
};

class OpenedMemory {
 public:
  // Whether the reader reaches it. The answer for the library's own memory is cached until memory is unmapped.
  bool is_reached(Context& reader, const void* p, int64_t bytes, bool ours);

 private:
  const void* p_ = nullptr;
  int64_t bytes_ = 0;
  uint64_t times_unmapped_ = 0;
};

bool on_two_devices(Context& a, Context& b) noexcept;

}  // namespace gpumem
