// Variants that were measured as faster than the table's choice, by class of problem. select() prefers them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "gpumem.h"
#include "ops/operations.hpp"

namespace gpumem {

// Identifies where a measurement is valid: the device's name, driver and size. For the host, its processor and threads.
std::string device_key(const DeviceProps& props);

class Tuning {
 public:
  struct Entry {
    std::string device;
    std::string line;  // of the measured problem
    uint64_t problem;  // its class
    gpumem_family family;
    TunedRow row;
    double ratio;  // speed relative to the table's choice
  };

  bool empty() const noexcept { return current_.load(std::memory_order_relaxed) == nullptr; }
  // Thread-safe, also while other threads change entries.
  TunedRow find(uint64_t problem) const noexcept;

  void put(Entry entry);
  // The table's choice is fastest there. save() then removes a line that says otherwise.
  void settle(uint64_t problem, const std::string& device);
  void clear() noexcept;
  // keys: the devices here. Refused lines are logged.
  TuningLoaded load(const char* path, const std::vector<std::string>& keys, Log& log);
  // Drops lines of these devices that measured an older revision of a variant.
  void save(const char* path, const std::vector<std::string>& keys) const;

 private:
  struct Slot {
    std::atomic<uint64_t> problem{0};  // 0: empty
    std::atomic<uint64_t> row{0};      // and its revision, packed; 0: none
  };
  // Open addressing, at most half full. Replaced tables are kept, because another thread may be reading them.
  struct Table {
    explicit Table(size_t slots) : mask(slots - 1), slot(std::make_unique<Slot[]>(slots)) {}
    Slot& at(uint64_t problem) const noexcept;

    size_t mask;
    std::unique_ptr<Slot[]> slot;
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<std::pair<uint64_t, std::string>> settled_;
  std::vector<std::unique_ptr<Table>> tables_;
  size_t used_ = 0;  // slots of the last table
  std::atomic<const Table*> current_{nullptr};
};

}  // namespace gpumem
