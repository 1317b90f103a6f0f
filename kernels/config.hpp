// The decisions of an implementation for one problem on one device. Its plan fills a Config once. The launch, explain()
// and tuning read it and derive nothing again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gpumem {

// A struct that only the implementation knows. Copies take only the bytes that were set.
class OwnConfig {
 public:
  OwnConfig() noexcept {}  // NOLINT(modernize-use-equals-default): "= default" would let Config{} write zeros
  OwnConfig(const OwnConfig& other) noexcept : size_(other.size_) { std::memcpy(bytes_, other.bytes_, size_); }
  OwnConfig& operator=(const OwnConfig& other) noexcept {
    size_ = other.size_;
    std::memmove(bytes_, other.bytes_, size_);
    return *this;
  }
  ~OwnConfig() = default;

  template <class T>
  void set(const T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof bytes_);
    std::memcpy(bytes_, &value, size_ = sizeof value);
  }
  template <class T>
  T get() const noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof bytes_);
    T value;
    std::memcpy(&value, bytes_, sizeof value);
    return value;
  }

 private:
  size_t size_ = 0;
  alignas(8) std::byte bytes_[400];
};

struct Config {
  int64_t grid = 1;        // blocks, or tasks of the host backend
  int32_t block = 1;       // threads per block
  int32_t per_thread = 1;  // independent loads or rows that a thread keeps in flight
  // Elements (reduce, axpby), rows (transpose, rows of a copy) or bytes (fill, copy) per block or task.
  int64_t tile = 0;
  int64_t shared_bytes = 0;        // limit of dynamic shared memory per block
  int64_t workspace_bytes = 0;     // scratch memory that the launch needs
  bool reduce_scratch = false;     // the launch needs the stream's scratch memory of reductions
  bool fixed_grid = false;         // each block has its own work, so fewer blocks would leave some undone
  const void* delegate = nullptr;  // the implementation of another operation that does the work
  OwnConfig own{};
};

}  // namespace gpumem
