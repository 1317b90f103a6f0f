// Memory of any kind for tests: owned allocations, and buffers with guard bytes round them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gpumem.h"
#include "support/status.hpp"

namespace gpumem_test {

inline constexpr gpumem_memory_kind kAllKinds[] = {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE,
                                                   GPUMEM_MEMORY_MANAGED};

inline const char* kind_name(gpumem_memory_kind kind) {
  static constexpr const char* kNames[] = {"pageable", "pinned", "device", "managed"};
  return kNames[kind];
}

using Bytes = std::vector<unsigned char>;

// One allocation. Pageable memory comes from the heap, with the same alignment as the library's own.
class Memory {
 public:
  Memory(gpumem_ctx* ctx, gpumem_memory_kind kind, int64_t bytes) : ctx_(ctx), kind_(kind) {
    const auto rounded = (static_cast<size_t>(bytes) + 255) / 256 * 256;
    switch (static_cast<decltype(GPUMEM_MEMORY_PINNED)>(kind)) {
      case GPUMEM_MEMORY_PINNED:
        EXPECT_TRUE(ok(gpumem_alloc_pinned(ctx, bytes, &p_)));
        break;
      case GPUMEM_MEMORY_DEVICE:
        EXPECT_TRUE(ok(gpumem_alloc_device(ctx, bytes, &p_)));
        break;
      case GPUMEM_MEMORY_MANAGED:
        EXPECT_TRUE(ok(gpumem_alloc_managed(ctx, bytes, &p_)));
        break;
      case GPUMEM_MEMORY_PAGEABLE:
        p_ = std::aligned_alloc(256, rounded);
    }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory(Memory&& other) noexcept : ctx_(other.ctx_), kind_(other.kind_), p_(std::exchange(other.p_, nullptr)) {}
  ~Memory() {
    if (kind_ == GPUMEM_MEMORY_PAGEABLE) {
      std::free(p_);
    } else {
      EXPECT_TRUE(ok(gpumem_free(ctx_, p_)));
    }
  }

  void* get() const { return p_; }
  char* bytes() const { return static_cast<char*>(p_); }
  gpumem_memory_kind kind() const { return kind_; }

 private:
  gpumem_ctx* ctx_;
  gpumem_memory_kind kind_;
  void* p_ = nullptr;
};

inline void upload(gpumem_ctx* ctx, void* dst, const void* src, size_t bytes) {
  ASSERT_TRUE(ok(gpumem_copy(ctx, dst, src, static_cast<int64_t>(bytes))));
}

inline Bytes download(gpumem_ctx* ctx, const void* src, size_t bytes) {
  Bytes image(bytes);
  EXPECT_TRUE(ok(gpumem_copy(ctx, image.data(), src, static_cast<int64_t>(bytes))));
  return image;
}

// Bytes that are unlikely to be written by mistake, and differ from each other.
inline unsigned char poison_at(size_t i) { return static_cast<unsigned char>(0xA5u ^ (i * 29u)); }

inline void poison(Bytes& image) {
  for (size_t i = 0; i < image.size(); ++i) image[i] = poison_at(i);
}

// `bytes` of memory at a given offset from a multiple of 16, with guard bytes on both sides. The whole block, guards
// included, is known to the test as an image: what the test did not expect to change must not have changed.
class GuardedBuffer {
 public:
  static constexpr size_t kGuard = 64;
  static constexpr size_t block_bytes(size_t bytes, size_t offset) { return kGuard + offset + bytes + kGuard; }

  // In memory of its own.
  GuardedBuffer(gpumem_ctx* ctx, gpumem_memory_kind kind, size_t bytes, size_t offset = 0)
      : GuardedBuffer(ctx, kind, nullptr, bytes, offset) {}

  // In a block of block_bytes() that outlives it, aligned to 16.
  GuardedBuffer(gpumem_ctx* ctx, gpumem_memory_kind kind, char* block, size_t bytes, size_t offset)
      : ctx_(ctx),
        on_host_(kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED),
        bytes_(bytes),
        before_(kGuard + offset),
        image_(block_bytes(bytes, offset)),
        block_(block) {
    if (block == nullptr) {
      own_.emplace(ctx, kind, static_cast<int64_t>(image_.size()));
      block_ = own_->bytes();
    }
    poison(image_);
    write();
  }

  char* data() const { return block_ + before_; }
  size_t size() const { return bytes_; }

  // The bytes that the test expects in the buffer; change them and write() to make it so.
  unsigned char* image() { return image_.data() + before_; }
  Bytes& whole_image() { return image_; }
  void write() {
    if (on_host_) {
      std::memcpy(block_, image_.data(), image_.size());
    } else {
      upload(ctx_, block_, image_.data(), image_.size());
    }
  }
  void set(const void* src) {
    std::memcpy(image(), src, bytes_);
    write();
  }

  // The buffer holds its image, and its guards are whole.
  testing::AssertionResult intact() const {
    const Bytes copied = on_host_ ? Bytes() : download(ctx_, block_, image_.size());
    const void* const now = on_host_ ? block_ : static_cast<const void*>(copied.data());
    if (std::memcmp(now, image_.data(), image_.size()) == 0) return testing::AssertionSuccess();
    const auto* bytes = static_cast<const unsigned char*>(now);
    size_t at = 0;
    while (bytes[at] == image_[at]) ++at;
    return testing::AssertionFailure() << "byte " << static_cast<int64_t>(at) - static_cast<int64_t>(before_) << " of "
                                       << bytes_ << " is " << int{bytes[at]} << ", expected " << int{image_[at]};
  }

 private:
  gpumem_ctx* ctx_;
  bool on_host_;
  size_t bytes_;
  size_t before_;
  Bytes image_;
  std::optional<Memory> own_;
  char* block_;
};

}  // namespace gpumem_test
