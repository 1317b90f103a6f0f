// Rows that were faster than the table's where they were measured, by class of problem: what select() takes before the table's order.
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

// What a measurement holds for: the device by name, its driver, and how much of it there is. Of the host: its processor and threads.
std::string device_key(const DeviceProps& props);

class Tuning {
 public:
  struct Entry {
    std::string device;
    std::string line;  // of the problem that was measured
    uint64_t problem;  // its class
    gpumem_family family;
    TunedRow row;
    double ratio;  // how many times as fast as the table's row
  };

  bool empty() const noexcept { return current_.load(std::memory_order_relaxed) == nullptr; }
  // From any thread, while others change what is there.
  TunedRow find(uint64_t problem) const noexcept;

  void put(Entry entry);
  // The table's choice is the fastest there: a line of a file that says otherwise goes when it is saved.
  void settle(uint64_t problem, const std::string& device);
  void clear() noexcept;
  // keys: of the devices here. What is not taken goes to the log.
  TuningLoaded load(const char* path, const std::vector<std::string>& keys, Log& log);
  // Lines of these devices that an older revision of a variant was measured by go.
  void save(const char* path, const std::vector<std::string>& keys) const;

 private:
  struct Slot {
    std::atomic<uint64_t> problem{0};  // 0: none
    std::atomic<uint64_t> row{0};      // and its revision, packed; 0: none
  };
  // Open addressing, at most half full. A table that has become too small stays as long as the tuning: someone may be looking into it.
  struct Table {
    explicit Table(size_t slots) : mask(slots - 1), slot(std::make_unique<Slot[]>(slots)) {}
    Slot& at(uint64_t problem) const noexcept;

    size_t mask;
    std::unique_ptr<Slot[]> slot;
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<std::pair<uint64_t, std::string>> settled_;  // problems and devices
  std::vector<std::unique_ptr<Table>> tables_;
  size_t used_ = 0;  // slots of the last table
  std::atomic<const Table*> current_{nullptr};
};

}  // namespace gpumem
