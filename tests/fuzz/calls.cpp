// Sequences of calls against a model: blocks of memory, each with the bytes that it must have. Every four bytes of the input are a call:
// what, on which block, and two numbers. Ranges may run past a block. A block that is gone is freed once more at once and never named again: its
// addresses may be anybody's later, the sanitizer's own included.
#include <array>
#include <cstring>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "gpumem.h"

namespace {

using gpumem_fuzz::require;

struct Block {
  unsigned char* p = nullptr;
  std::vector<unsigned char> model;
  bool live = false;
};

class Calls {
 public:
  Calls() {
    gpumem_ctx_options options;
    gpumem_ctx_options_init(&options, sizeof options);
    options.device = GPUMEM_DEVICE_HOST;
    options.host_threads = 1;
    require(gpumem_ctx_create(&options, &ctx_) == GPUMEM_OK, "a context");
  }
  ~Calls() { require(gpumem_ctx_destroy(ctx_) == GPUMEM_OK, "the context's end"); }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void make(const uint8_t* call) {
    Block& block = blocks_[call[1] % blocks_.size()];
    const size_t at = call[2] * 16u;
    const size_t bytes = call[3] * 16u;
    switch (call[0] % 6) {
      case 0:
        return allocate(block, call[2], bytes);
      case 1:
        return release(block);
      case 2:
        return fill(block, at, bytes, call[0]);
      case 3:
        return copy(block, blocks_[call[2] % blocks_.size()], bytes, call[0]);
      case 4:
        return sum(block, at, bytes);
      default:
        return query(block, at);
    }
  }

 private:
  void allocate(Block& block, unsigned kind, size_t bytes) {
    if (block.live || bytes == 0) return;
    constexpr gpumem_status (*kAllocate[])(gpumem_ctx*, int64_t, void**) = {gpumem_alloc_device, gpumem_alloc_pinned,
                                                                            gpumem_alloc_managed};
    void* p = nullptr;
    require(kAllocate[kind % 3](ctx_, static_cast<int64_t>(bytes), &p) == GPUMEM_OK, "an allocation");
    const auto* begin = static_cast<unsigned char*>(p);
    for (const Block& other : blocks_) {
      const bool apart = other.p + other.model.size() <= begin || other.p >= begin + bytes;
      require(!other.live || apart, "two blocks in one place");
    }
    block = {static_cast<unsigned char*>(p), std::vector<unsigned char>(bytes, 7), true};
    require(gpumem_fill(ctx_, p, "\7", 1, static_cast<int64_t>(bytes)) == GPUMEM_OK, "a fill");
  }
  void release(Block& block) {
    if (!block.live) return;
    require(gpumem_free(ctx_, block.p) == GPUMEM_OK, "a free");
    require(gpumem_free(ctx_, block.p) == GPUMEM_INVALID_POINTER, "a second free");
    block.live = false;
  }
  // The status of a range, and whether something is done with it.
  static bool expect(const Block& block, size_t at, size_t bytes, gpumem_status status, const char* what) {
    const bool inside = at + bytes <= block.model.size();
    require(bytes == 0 || (status == GPUMEM_OK) == inside, what);
    return inside && bytes > 0;
  }
  void fill(Block& block, size_t at, size_t bytes, unsigned char value) {
    if (!block.live || at >= block.model.size()) return;
    const gpumem_status status = gpumem_fill(ctx_, block.p + at, &value, 1, static_cast<int64_t>(bytes));
    if (expect(block, at, bytes, status, "a fill's status")) std::memset(&block.model[at], value, bytes);
    check(block);
  }
  void copy(Block& to, Block& from, size_t bytes, bool async) {
    if (&to == &from || !to.live || !from.live) return;
    const auto size = static_cast<int64_t>(bytes);
    const gpumem_status status =
        (async ? gpumem_copy_async(ctx_, to.p, from.p, size, nullptr) : gpumem_copy(ctx_, to.p, from.p, size));
    require(gpumem_ctx_synchronize(ctx_) == GPUMEM_OK, "a wait");
    const bool fits = bytes <= to.model.size() && bytes <= from.model.size();
    require(bytes == 0 || (status == GPUMEM_OK) == fits, "a copy's status");
    if (fits && bytes > 0) std::memcpy(to.model.data(), from.model.data(), bytes);
    check(to);
  }
  void sum(Block& block, size_t at, size_t bytes) {
    if (!block.live || at >= block.model.size()) return;
    uint64_t result = 77;
    const gpumem_status status =
        gpumem_reduce(ctx_, GPUMEM_U8, GPUMEM_SUM, block.p + at, static_cast<int64_t>(bytes), 1, &result);
    if (!expect(block, at, bytes, status, "a sum's status")) return;
    uint64_t expected = 0;
    for (size_t i = 0; i < bytes; ++i) expected += block.model[at + i];
    require(result == expected, "a sum");
  }
  void query(Block& block, size_t at) {
    if (!block.live || at >= block.model.size()) return;
    gpumem_pointer_info info;
    gpumem_pointer_info_init(&info, sizeof info);
    const gpumem_status status = gpumem_pointer_query(ctx_, block.p + at, &info);
    require(status == GPUMEM_OK, "a query's status");
    require(info.base == block.p && info.offset_bytes == static_cast<int64_t>(at) && info.ours == 1, "a query");
  }
  static void check(const Block& block) {
    if (block.live) require(std::memcmp(block.p, block.model.data(), block.model.size()) == 0, "the bytes of a block");
  }

  gpumem_ctx* ctx_ = nullptr;
  std::array<Block, 8> blocks_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Calls calls;
  for (size_t at = 0; at + 4 <= size; at += 4) calls.make(data + at);
  return 0;
}
