// The ceilings of a context's device: each is the best of several passes over more memory than its caches hold.
#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "context/process.hpp"
#include "context/streams.hpp"
#include "memory/scratch.hpp"
#include "ops/copy/ring_copy.hpp"
#include "ops/operations.hpp"

namespace gpumem {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kLinkBytes = 64 * kMiB;
constexpr int64_t kLeastBytes = 16 * kMiB;
constexpr int64_t kPageBytes = 8 * kMiB;  // at a time
constexpr int kPasses = 9;
constexpr double kMostSeconds = 0.03;  // after which there is no further pass
constexpr std::chrono::milliseconds kMostForPages(100);

// Of one of two neighbouring halves. A pass of about a millisecond on a device, of a small part of its memory: a shorter one would count
// its launch.
int64_t wanted_bytes(const DeviceProps& props) noexcept {
  if (props.backend == Runs::host) return std::clamp(2 * props.l2_bytes, 64 * kMiB, 256 * kMiB);
  int64_t bytes = kLeastBytes;
  const int64_t bandwidth = props.bandwidth_bytes_per_s();
  const int64_t most = std::min(props.memory_bytes / 64, bandwidth > 0 ? bandwidth / 1000 : 256 * kMiB);
  while (2 * bytes <= most) bytes *= 2;
  return bytes;
}

class Meter {
 public:
  explicit Meter(Context& context) : backend_(context.device()), stream_(context.own_stream()) {
    begin_ = backend_.create_event();
    end_ = backend_.create_event();
  }
  ~Meter() {
    for (NativeEvent event : {begin_, end_}) {
      if (event != nullptr) backend_.destroy_event(event);
    }
  }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // Of a few passes, of one where they take long: a ceiling is what the device can do.
  template <class Enqueue>
  int64_t best(int64_t bytes, const Enqueue& enqueue) {
    double shortest = 0;
    double all = 0;
    for (int pass = 0; pass < kPasses && all < kMostSeconds; ++pass) {
      backend_.record(begin_, stream_);
      enqueue();
      backend_.record(end_, stream_);
      backend_.synchronize_event(end_);
      const double seconds = backend_.elapsed_seconds(begin_, end_);
      shortest = pass == 0 ? seconds : std::min(shortest, seconds);
      all += seconds;
    }
    return shortest > 0 ? static_cast<int64_t>(static_cast<double>(bytes) / shortest) : 0;
  }

 private:
  Backend& backend_;
  NativeStream stream_;
  NativeEvent begin_ = nullptr;
  NativeEvent end_ = nullptr;
};

// Two halves of `bytes`, or of less where there is no room for as much.
Scratch room_for(Backend& backend, int64_t& bytes) {
  for (;; bytes /= 2) {
    try {
      return {backend, GPUMEM_MEMORY_DEVICE, static_cast<size_t>(2 * bytes)};
    } catch (const Error& error) {
      if (error.status() != GPUMEM_OUT_OF_MEMORY || bytes / 2 < kLeastBytes) throw;
    }
  }
}

template <class Family>
void launch(Context& context, const typename Family::Params& params, Override forced = {}) {
  Backend& backend = context.device();
  backend.launch(context.own_stream(), Work<Family>{params}, select<Family>(backend.props(), params, forced, {}),
                 Until::enqueued);
}

FillParams filled(void* p, int64_t bytes) noexcept {
  FillParams fill{.dst = p, .count = bytes};
  std::fill_n(fill.word, sizeof fill.word, static_cast<unsigned char>(0x3c));
  return fill;
}

// The bytes of a half: less where the system is slow to hand out pages.
int64_t bring_pages(Context& context, char* room, int64_t bytes) {
  const auto end = std::chrono::steady_clock::now() + kMostForPages;
  for (int64_t done = 0; done < 2 * bytes; done += kPageBytes) {
    if (done >= 4 * kLeastBytes && std::chrono::steady_clock::now() > end) return done / 2;
    launch<FillFamily>(context, filled(room + done, std::min(kPageBytes, 2 * bytes - done)));
    context.device().synchronize(context.own_stream());
  }
  return bytes;
}

Ceilings measure(Context& context) {
  Backend& backend = context.device();
  const NativeStream stream = context.own_stream();
  int64_t bytes = wanted_bytes(backend.props());
  const Scratch room = room_for(backend, bytes);
  char* const src = static_cast<char*>(room.get());
  bytes = bring_pages(context, src, bytes);
  char* const dst = src + bytes;
  Meter meter(context);
  Ceilings c;
  c.write = meter.best(2 * bytes, [&] { launch<FillFamily>(context, filled(src, 2 * bytes)); });
  const CopyParams block = one_range(dst, src, bytes);
  for (const Override& forced : {Override{}, Override{context.on_cuda() ? driver_variant() : -1}}) {
    c.copy = std::max(c.copy, meter.best(2 * bytes, [&] { launch<CopyFamily>(context, block, forced); }));
    if (!context.on_cuda()) break;
  }
  for (const int32_t blocks : {4, 16, 64}) {
    c.read = std::max(
        c.read, meter.best(2 * bytes, [&] { backend.read_all(stream, src, static_cast<size_t>(2 * bytes), blocks); }));
    if (!context.on_cuda()) return c;
  }
  const int64_t crossing = std::min(bytes, kLinkBytes);
  const Scratch pinned(backend, GPUMEM_MEMORY_PINNED, static_cast<size_t>(crossing));
  const auto cross = [&](void* to, const void* from) {
    return meter.best(crossing,
                      [&] { backend.copy(stream, to, from, static_cast<size_t>(crossing), Until::enqueued); });
  };
  c.to_device = cross(dst, pinned.get());
  c.from_device = cross(pinned.get(), dst);
  return c;
}

}  // namespace

Ceilings ceilings(Context& context) {
  require_not_capturing(context, context.own_stream(), "gpumem_ceiling");
  const DeviceProps& props = context.device().props();
  MeasuredCeilings& measured = process().ceilings;
  const std::lock_guard<std::mutex> lock(measured.mutex);
  if (const Ceilings* there = measured.find(props.ordinal, props.multiprocessors)) return *there;
  measured.all.push_back({props.ordinal, props.multiprocessors, measure(context)});
  return measured.all.back().ceilings;
}

Ceilings measured_ceilings(const DeviceProps& props) {
  MeasuredCeilings& measured = process().ceilings;
  const std::lock_guard<std::mutex> lock(measured.mutex);
  const Ceilings* there = measured.find(props.ordinal, props.multiprocessors);
  return there != nullptr ? *there : Ceilings{};
}

}  // namespace gpumem
