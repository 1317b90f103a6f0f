#include "backend/host/host_backend.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "backend/host/cpu_budget.hpp"
#include "backend/host/foreign_cuda.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/room.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

// A mapping per block, so that use after unmapping can be detected. Large blocks are offered huge pages.
constexpr size_t kHugePage = size_t{2} << 20;

void* map_pages(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    fail(GPUMEM_OUT_OF_MEMORY, "%zu bytes of host memory are not available: %s", bytes, reason_of(errno));
  }
  if (bytes >= 2 * kHugePage) madvise(p, bytes, MADV_HUGEPAGE);
  return p;
}

void unmap_pages(void* p, size_t bytes) noexcept { munmap(p, bytes); }

HostQueue& queue_of(NativeStream stream) noexcept { return *static_cast<HostQueue*>(stream); }
HostEvent& event_of(NativeEvent event) noexcept { return *static_cast<HostEvent*>(event); }

std::shared_ptr<Mark> mark_of(NativeEvent event) {
  HostEvent& e = event_of(event);
  const std::lock_guard<std::mutex> lock(e.mutex);
  return e.mark;
}

}  // namespace

DeviceProps host_props(const HostOptions& options) {
  DeviceProps props;
  props.backend = ExecutionSpace::host;
  props.ordinal = GPUMEM_DEVICE_HOST;
  processor_name(props.name, sizeof props.name);
  props.multiprocessors = options.threads > 0 ? options.threads : usable_processors();
  props.l2_bytes = last_level_cache_bytes();
  props.memory_bytes = memory_limits().bytes;
  props.managed_memory = true;
  props.concurrent_managed = true;
  props.pageable_access = true;
  props.memory_pools = true;
  return props;
}

// Kept pages that are too few make room for the others.
KeptPages::Pages KeptPages::take(size_t bytes) {
  Pages pages;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    pages = std::exchange(kept_, {});
  }
  if (pages.bytes >= bytes) return pages;
  if (pages.p != nullptr) unmap_pages(pages.p, pages.bytes);
  require_available_for_call(bytes);
  return {map_pages(bytes), bytes};
}

void KeptPages::give_back(Pages pages) noexcept {
  constexpr size_t kMost = size_t{64} << 20;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pages.bytes <= kMost && pages.bytes > kept_.bytes) std::swap(pages, kept_);
  }
  if (pages.p != nullptr) unmap_pages(pages.p, pages.bytes);
}

void KeptPages::trim(size_t keep_bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (kept_.bytes <= keep_bytes) return;
  unmap_pages(kept_.p, kept_.bytes);
  kept_ = {};
}

std::unique_ptr<Host> make_host_backend(const HostOptions& options) { return std::make_unique<HostBackend>(options); }

HostBackend::HostBackend(const HostOptions& options)
    : props_(host_props(options)),
      team_{host_loops(options.simd), props_.multiprocessors, props_.l2_bytes, options.parallel_for,
            options.parallel_for.call == nullptr ? WorkerPool::shared(*options.workers) : nullptr},
      workers_(props_.multiprocessors),
      own_queue_(workers_) {
  look_for_cuda();
}

void HostBackend::warmup() {
  team_.parallel(props_.multiprocessors, [](int64_t) {});
}

Location HostBackend::classify(const void* p) { return ask_found_cuda(p); }

Location HostBackend::classify_unreachable(const void* p) noexcept {
  look_for_cuda();
  return ask_found_cuda(p);
}

void* HostBackend::allocate(gpumem_memory_kind, size_t bytes) { return map_pages(bytes); }
void HostBackend::release(gpumem_memory_kind, void* p, size_t bytes) noexcept { unmap_pages(p, bytes); }

// One byte per page is enough. With huge pages, most pages are already resident.
void HostBackend::make_resident(void* p, size_t bytes) noexcept {
  static_cast<void>(madvise(p, bytes, MADV_DONTFORK));
  constexpr size_t kPiece = size_t{8} << 20;
  constexpr size_t kPage = 4096;
  const auto pieces = static_cast<int64_t>((bytes + kPiece - 1) / kPiece);
  team_.parallel(pieces, [=](int64_t i) {
    auto* const bytes_of_p = static_cast<volatile char*>(p);
    const size_t first = static_cast<size_t>(i) * kPiece;
    const size_t last = std::min(first + kPiece, bytes);
    for (size_t at = first; at < last; at += kPage) bytes_of_p[at] = 0;
  });
}

void* HostBackend::allocate_async(NativeStream, size_t bytes) { return map_pages(bytes); }

void HostBackend::release_async(NativeStream stream, void* p, size_t bytes) noexcept {
  after_work(stream, [p, bytes] { unmap_pages(p, bytes); });
}

std::shared_ptr<void> HostBackend::scratch(NativeStream stream, size_t bytes) {
  require_available_for_call(bytes);
  const std::shared_ptr<char[]> own = workspace_of(bytes);
  return {own.get(), [this, stream, own](void*) { after_work(stream, [own] {}); }};
}

void HostBackend::read_all(NativeStream stream, const void* p, size_t bytes, int32_t) {
  static constexpr size_t kPiece = size_t{1} << 20;
  submit(stream, Completion::asynchronous, [this, p, bytes] {
    team_.parallel(static_cast<int64_t>((bytes + kPiece - 1) / kPiece), [=](int64_t i) {
      const size_t first = static_cast<size_t>(i) * kPiece;
      const char* const from = static_cast<const char*>(p) + first;
      const size_t words = std::min(kPiece, bytes - first) / 16;
      uint64_t mixed[2] = {};
      for (size_t w = 0; w < words; ++w) {
        uint64_t word[2];
        std::memcpy(word, from + w * sizeof word, sizeof word);
        mixed[0] += word[0];
        mixed[1] += word[1];
      }
      asm volatile("" : : "r"(mixed[0]), "r"(mixed[1]));
    });
  });
}

void HostBackend::parallel(int64_t tasks, gpumem_task_fn task, void* state) noexcept {
  team_.parallel(tasks, [task, state](int64_t i) { task(state, i); });
}

// Reserves the space that destroy_stream() needs, which cannot fail.
NativeStream HostBackend::create_stream() {
  const std::lock_guard<std::mutex> lock(queues_mutex_);
  if (!ended_queues_.empty()) {
    HostQueue* const queue = ended_queues_.back();
    ended_queues_.pop_back();
    queue->begin();
    return queue;
  }
  reserve_doubling(ended_queues_, queues_.size() + 1);
  return queues_.emplace_back(std::make_unique<HostQueue>(workers_)).get();
}
void HostBackend::finish_stream(NativeStream stream) noexcept { queue_of(stream).drain(); }
void HostBackend::destroy_stream(NativeStream stream) noexcept {
  queue_of(stream).end();
  const std::lock_guard<std::mutex> lock(queues_mutex_);
  ended_queues_.push_back(&queue_of(stream));
}

NativeStream HostBackend::wrap_stream(void* native) {
  if (native != nullptr) {
    fail(GPUMEM_UNSUPPORTED,
         "native_stream is %p on a host context; expected NULL, because a host context has no CUDA streams", native);
  }
  return &own_queue_;
}

void HostBackend::synchronize(NativeStream stream) { queue_of(stream).drain(); }
bool HostBackend::idle(NativeStream stream) { return queue_of(stream).idle(); }

void HostBackend::host_callback(NativeStream stream, HostTask task) {
  submit(stream, Completion::asynchronous, std::move(task));
}

void HostBackend::waiting_callback(NativeStream stream, HostTask task) {
  host_callback(stream, [waits = std::move(task)] {
    const QueueWorkers::Blocked blocked;
    waits();
  });
}

NativeEvent HostBackend::create_event() { return new HostEvent; }
void HostBackend::destroy_event(NativeEvent event) noexcept { delete &event_of(event); }

void HostBackend::record(NativeEvent event, NativeStream stream) {
  auto mark = std::make_shared<Mark>();
  queue_of(stream).enqueue_mark(mark);
  HostEvent& e = event_of(event);
  const std::lock_guard<std::mutex> lock(e.mutex);
  e.mark = std::move(mark);
}

void HostBackend::wait_event(NativeStream stream, NativeEvent event) {
  auto mark = mark_of(event);
  if (mark == nullptr || mark->passed()) return;
  queue_of(stream).enqueue_wait(std::move(mark));
}

void HostBackend::synchronize_event(NativeEvent event) {
  if (const auto mark = mark_of(event)) mark->wait();
}

bool HostBackend::passed(NativeEvent event) {
  const auto mark = mark_of(event);
  return mark == nullptr || mark->passed();
}

double HostBackend::elapsed_seconds(NativeEvent start, NativeEvent end) {
  const auto first = mark_of(start);
  const auto last = mark_of(end);
  if (!first || !last)
    fail(GPUMEM_INVALID_ARGUMENT, "%s was never recorded; expected a recorded event", first ? "end" : "start");
  if (!first->passed() || !last->passed()) {
    fail(GPUMEM_NOT_READY, "%s has not been passed yet", first->passed() ? "end" : "start");
  }
  return std::chrono::duration<double>(last->when() - first->when()).count();
}

}  // namespace gpumem
