// Measures the peaks of a context's device. Each is the best of several passes over more memory than the caches hold.
#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/limits.hpp"
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
constexpr double kMostSeconds = 0.03;     // no later pass starts
constexpr double kMostHostSeconds = 0.2;  // of all three kinds, in turns
constexpr std::chrono::milliseconds kMostForPages(100);

// Bytes of one of two neighbouring halves. On a device, a pass takes about a millisecond, so that its launch does not
// count. On the host, both halves are four times the last-level cache, and at most a quarter of the available memory.
int64_t wanted_bytes(const DeviceProps& props) {
  if (props.backend == ExecutionSpace::host) {
    const int64_t most = std::max(memory_limits().available / 8 / kMiB * kMiB, kLeastBytes);
    return std::min(std::clamp(2 * props.l2_bytes, 64 * kMiB, 512 * kMiB), most);
  }
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

  template <class Enqueue>
  int64_t best(int64_t bytes, const Enqueue& enqueue) {
    int64_t rate = 0;
    double all = 0;
    for (int pass = 0; pass < kPasses && all < kMostSeconds; ++pass) all += once(rate, bytes, enqueue);
    return rate;
  }

  template <class Enqueue>
  double once(int64_t& rate, int64_t bytes, const Enqueue& enqueue) {
    backend_.record(begin_, stream_);
    enqueue();
    backend_.record(end_, stream_);
    backend_.synchronize_event(end_);
    const double seconds = backend_.elapsed_seconds(begin_, end_);
    if (seconds > 0) rate = std::max(rate, static_cast<int64_t>(static_cast<double>(bytes) / seconds));
    return seconds;
  }

 private:
  Backend& backend_;
  NativeStream stream_;
  NativeEvent begin_ = nullptr;
  NativeEvent end_ = nullptr;
};

// Two halves of `bytes`, or of less if there is not enough memory.
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
  const auto selection = select<Family>(backend.props(), params, forced, {});
  backend.launch(context.own_stream(), Work<Family>{params, selection}, Completion::asynchronous);
}

FillParams filled(void* p, int64_t bytes) noexcept {
  FillParams fill{.dst = p, .count = bytes};
  std::fill_n(fill.word, sizeof fill.word, static_cast<unsigned char>(0x3c));
  return fill;
}

// The first launch of a host stream starts a thread, whose stack needs memory that the room would take.
void launch_once(Context& context) {
  constexpr int64_t kBytes = 16;
  const Scratch few(context.device(), GPUMEM_MEMORY_DEVICE, kBytes);
  launch<FillFamily>(context, filled(few.get(), kBytes));
  context.device().synchronize(context.own_stream());
}

// Bytes of a half. Fewer if the system hands out pages slowly, but more than the caches hold.
int64_t bring_pages(Context& context, char* room, int64_t bytes) {
  const auto end = std::chrono::steady_clock::now() + kMostForPages;
  const int64_t cache = context.device().props().l2_bytes;
  const int64_t least = std::max(4 * kLeastBytes, cache + cache / 2);
  for (int64_t done = 0; done < 2 * bytes; done += kPageBytes) {
    if (done >= least && std::chrono::steady_clock::now() > end) return done / 2;
    launch<FillFamily>(context, filled(room + done, std::min(kPageBytes, 2 * bytes - done)));
    context.device().synchronize(context.own_stream());
  }
  return bytes;
}

// In turns, so that a disturbance affects all three. The library's own sum has the widest loads.
Ceilings measure_host(Context& context, char* room, int64_t half) {
  Backend& backend = context.device();
  const NativeStream stream = context.own_stream();
  const int64_t bytes = 2 * half;
  const CopyParams block = one_range(room + half, room, half);
  const ReduceParams sum{.dtype = GPUMEM_F64, .x = room, .n = bytes / 8};
  const auto by = select<ReduceFamily>(backend.props(), sum, {}, {});
  Meter meter(context);
  Ceilings c;
  double all = 0;
  for (int pass = 0; pass < kPasses && (pass < 2 || all < kMostHostSeconds); ++pass) {
    all += meter.once(c.write, bytes, [&] { launch<FillFamily>(context, filled(room, bytes)); });
    all += meter.once(c.copy, bytes, [&] { launch<CopyFamily>(context, block); });
    all += meter.once(c.read, bytes, [&] { backend.reduce(stream, sum, by); });
  }
  return c;
}

Ceilings measure_device(Context& context, char* src, int64_t bytes) {
  Backend& backend = context.device();
  const NativeStream stream = context.own_stream();
  char* const dst = src + bytes;
  Meter meter(context);
  Ceilings c;
  c.write = meter.best(2 * bytes, [&] { launch<FillFamily>(context, filled(src, 2 * bytes)); });
  const CopyParams block = one_range(dst, src, bytes);
  for (const Override& forced : {Override{}, Override{driver_variant()}}) {
    c.copy = std::max(c.copy, meter.best(2 * bytes, [&] { launch<CopyFamily>(context, block, forced); }));
  }
  for (const int32_t blocks : {4, 16, 64}) {
    c.read = std::max(
        c.read, meter.best(2 * bytes, [&] { backend.read_all(stream, src, static_cast<size_t>(2 * bytes), blocks); }));
  }
  const int64_t crossing = std::min(bytes, kLinkBytes);
  const Scratch pinned(backend, GPUMEM_MEMORY_PINNED, static_cast<size_t>(crossing));
  const auto cross = [&](void* to, const void* from) {
    return meter.best(crossing,
                      [&] { backend.copy(stream, to, from, static_cast<size_t>(crossing), Completion::asynchronous); });
  };
  c.to_device = cross(dst, pinned.get());
  c.from_device = cross(pinned.get(), dst);
  return c;
}

Ceilings measure(Context& context) {
  int64_t bytes = wanted_bytes(context.device().props());
  launch_once(context);
  const Scratch room = room_for(context.device(), bytes);
  char* const both = static_cast<char*>(room.get());
  bytes = bring_pages(context, both, bytes);
  Ceilings c = context.on_cuda() ? measure_device(context, both, bytes) : measure_host(context, both, bytes);
  // Half of a copy's bytes are read, and half written.
  c.read = std::max(c.read, c.copy / 2);
  c.write = std::max(c.write, c.copy / 2);
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
