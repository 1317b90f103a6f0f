// Which members of this process, each on a device of its own, read each other's memory.
#pragma once

#include <vector>

#include "context/context.hpp"

namespace gpumem {

class Peers {
 public:
  Peers() = default;
  // Asks the driver, and looks whether what is read is what is there.
  explicit Peers(const std::vector<Context*>& contexts);

  // Of two members on one device, or of which one is on the host: yes.
  bool reads(size_t reader, size_t owner) const noexcept { return reads_[reader * members_ + owner]; }

 private:
  size_t members_ = 0;
  std::vector<bool> reads_;
};

// Memory of a device that another one reads.
class OpenedMemory {
 public:
  // Whether the reader reaches it. Of the library's own the driver is not asked again, as long as nothing is unmapped.
  bool is_reached(Context& reader, const void* p, int64_t bytes, bool ours);

 private:
  const void* p_ = nullptr;
  int64_t bytes_ = 0;
  uint64_t times_unmapped_ = 0;
};

bool on_two_devices(Context& a, Context& b) noexcept;

}  // namespace gpumem
