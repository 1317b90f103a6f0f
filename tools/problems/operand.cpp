#include "problems/operand.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "interrupted.hpp"

namespace tool {
namespace {

constexpr int64_t kAlignment = 4096;

int64_t rounded_up(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::shared_ptr<void> heap(int64_t bytes) {
  void* const p = std::aligned_alloc(kAlignment, static_cast<std::size_t>(bytes));
  if (p == nullptr) {
    const std::string sentence = "the heap has no " + std::to_string(bytes) + " bytes";
    throw CallFailure(sentence, GPUMEM_OUT_OF_MEMORY, sentence);
  }
  return {p, std::free};
}

std::shared_ptr<void> registered(gpumem_ctx* ctx, int64_t bytes, int64_t pinned) {
  const std::shared_ptr<void> memory = heap(bytes);
  check(gpumem_host_register(ctx, memory.get(), pinned), "registering heap memory");
  return {memory.get(), [ctx, memory](void* p) { gpumem_host_unregister(ctx, p); }};
}

std::shared_ptr<void> allocated(gpumem_ctx* ctx, gpumem_status (*allocate)(gpumem_ctx*, int64_t, void**),
                                const std::string& kind, int64_t bytes) {
  void* p = nullptr;
  check(allocate(ctx, bytes, &p), "allocating " + kind + " memory");
  return {p, [ctx](void* q) { gpumem_free(ctx, q); }};
}

std::shared_ptr<void> block_of(gpumem_ctx* ctx, const std::string& kind, int64_t bytes) {
  if (kind == "pageable") return heap(bytes);
  if (kind == "registered") return registered(ctx, bytes, bytes);
  if (kind == "mixed") return registered(ctx, bytes, rounded_up(bytes / 2));
  if (kind == "pinned") return allocated(ctx, gpumem_alloc_pinned, kind, bytes);
  if (kind == "managed") return allocated(ctx, gpumem_alloc_managed, kind, bytes);
  if (kind == "device") return allocated(ctx, gpumem_alloc_device, kind, bytes);
  throw Failure("memory '" + kind + "' is not available: the command works on one device");
}

bool lies_on_host(gpumem_ctx* ctx, const void* p) {
  gpumem_pointer_info info;
  check(gpumem_pointer_info_init(&info, sizeof info), "preparing a pointer's description");
  check(gpumem_pointer_query(ctx, p, &info), "asking what memory is");
  return info.device == GPUMEM_DEVICE_HOST;
}

}  // namespace

Operand::Operand(gpumem_ctx* ctx, const std::string& kind, int64_t bytes, int64_t misaligned)
    : ctx_(ctx), bytes_(bytes), block_(block_of(ctx, kind, rounded_up(bytes + misaligned + kAlignment))) {
  const auto address = reinterpret_cast<uintptr_t>(block_.get());
  const auto skipped = static_cast<uintptr_t>(rounded_up(static_cast<int64_t>(address))) - address;
  start_ = static_cast<unsigned char*>(block_.get()) + skipped + misaligned;
  on_host_ = lies_on_host(ctx, block_.get());
}

Operand::Operand(gpumem_ctx* ctx, std::shared_ptr<void> memory, int64_t bytes, bool on_host)
    : ctx_(ctx),
      bytes_(bytes),
      block_(std::move(memory)),
      start_(static_cast<unsigned char*>(block_.get())),
      on_host_(on_host) {}

void Operand::fill(const Contents& contents) const {
  const std::shared_ptr<void> aside = on_host_ ? nullptr : heap(rounded_up(bytes_));
  auto* const at = on_host_ ? start_ : static_cast<unsigned char*>(aside.get());
  constexpr int64_t kPiece = 8 << 20;  // numbers
  const int64_t size = contents.bytes;
  const int64_t count = (bytes_ + size - 1) / size;
  for (int64_t done = 0; done < count; done += kPiece) {
    stop_if_interrupted();
    in_parallel(std::min(kPiece, count - done), [&](int64_t begin, int64_t end) {
      for (int64_t i = done + begin; i < done + end; ++i) {
        const uint64_t number = contents.number(static_cast<uint64_t>(i));
        std::memcpy(at + i * size, &number, static_cast<std::size_t>(std::min(size, bytes_ - i * size)));
      }
    });
  }
  if (!on_host_) check(gpumem_copy(ctx_, start_, at, bytes_), "filling an operand");
}

void Operand::fill(unsigned char value) const {
  check(gpumem_fill(ctx_, start_, &value, 1, bytes_), "filling an operand");
}

bool Operand::same_as(const Operand& other) const {
  if (!on_host_) {
    const std::shared_ptr<void> aside = heap(rounded_up(bytes_));
    check(gpumem_copy(ctx_, aside.get(), start_, bytes_), "reading an operand");
    return std::memcmp(aside.get(), other.start_, static_cast<std::size_t>(bytes_)) == 0;
  }
  return std::memcmp(start_, other.start_, static_cast<std::size_t>(bytes_)) == 0;
}

void in_parallel(int64_t n, const std::function<void(int64_t begin, int64_t end)>& work) {
  constexpr int64_t kWorthAThread = 1 << 14;
  const int64_t threads =
      std::clamp<int64_t>(n / kWorthAThread, 1, std::max<int64_t>(1, std::thread::hardware_concurrency()));
  std::vector<std::jthread> others;
  for (int64_t i = 1; i < threads; ++i) {
    const int64_t begin = n * i / threads, end = n * (i + 1) / threads;
    try {
      others.emplace_back(work, begin, end);
    } catch (const std::system_error&) {
      work(begin, end);  // there is no memory for another stack
    }
  }
  work(0, n / threads);
}

}  // namespace tool
