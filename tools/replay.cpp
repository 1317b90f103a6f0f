// gpumem replay: repeats the allocations and frees of a trace.
#include <gpumem.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "resources.hpp"
#include "text.hpp"
#include "trace.hpp"

namespace tool {
namespace {

struct Counts {
  int64_t allocations = 0;
  int64_t frees = 0;
  int64_t uses = 0;
  int64_t out_of_memory = 0;  // allocations
  int64_t without = 0;        // frees and uses of memory that the trace did not allocate, or that was not available
};

class Replay {
 public:
  explicit Replay(gpumem_ctx* ctx) : ctx_(ctx) {}
  ~Replay() {
    for (const auto& [address, p] : live_) gpumem_free(ctx_, p);
    for (const auto& [number, stream] : streams_) gpumem_stream_destroy(stream);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void run(const std::vector<TraceEvent>& events);
  const Counts& counts() const { return counts_; }
  std::size_t streams() const { return streams_.size(); }
  std::size_t left() const { return live_.size(); }

 private:
  gpumem_stream* stream_of(const TraceEvent& event);
  gpumem_status try_to_allocate(const TraceEvent& event, void** p);
  void allocate(const TraceEvent& event);
  void free(const TraceEvent& event, void* p);

  gpumem_ctx* ctx_;
  std::unordered_map<uint64_t, void*> live_;
  std::unordered_map<uint64_t, gpumem_stream*> streams_;
  Counts counts_;
};

gpumem_stream* Replay::stream_of(const TraceEvent& event) {
  const auto known = streams_.find(event.stream);
  if (known != streams_.end()) return known->second;
  gpumem_stream* stream = nullptr;
  check(gpumem_stream_create(ctx_, &stream), "creating a stream");
  streams_.emplace(event.stream, stream);
  return stream;
}

gpumem_status Replay::try_to_allocate(const TraceEvent& event, void** p) {
  if (event.kind == GPUMEM_MEMORY_PINNED) return gpumem_alloc_pinned(ctx_, event.bytes, p);
  if (event.kind == GPUMEM_MEMORY_MANAGED) return gpumem_alloc_managed(ctx_, event.bytes, p);
  if (event.stream == 0 && event.alignment <= 256) return gpumem_alloc_device(ctx_, event.bytes, p);
  gpumem_stream* const stream = event.stream == 0 ? nullptr : stream_of(event);
  return gpumem_alloc_async(ctx_, event.bytes, event.alignment, stream, p);
}

void Replay::allocate(const TraceEvent& event) {
  void* p = nullptr;
  const gpumem_status status = try_to_allocate(event, &p);
  ++counts_.allocations;
  if (status == GPUMEM_OUT_OF_MEMORY) {
    ++counts_.out_of_memory;
    return;
  }
  check(status, "allocating " + std::to_string(event.bytes) + " bytes");
  if (live_.emplace(event.address, p).second) return;
  check(gpumem_free(ctx_, p), "freeing memory");
  throw Failure(format("the trace allocates 0x%llx twice without a free between",
                       static_cast<unsigned long long>(event.address)));
}

void Replay::free(const TraceEvent& event, void* p) {
  live_.erase(event.address);
  ++counts_.frees;
  check(event.stream == 0 ? gpumem_free(ctx_, p) : gpumem_free_async(ctx_, p, stream_of(event)), "freeing memory");
}

void Replay::run(const std::vector<TraceEvent>& events) {
  for (const TraceEvent& event : events) {
    if (event.what == 'a') {
      allocate(event);
    } else if (event.what == 't') {
      check(gpumem_memory_trim(ctx_, event.bytes), "giving memory back");
    } else if (const auto found = live_.find(event.address); found == live_.end()) {
      ++counts_.without;
    } else if (event.what == 'f') {
      free(event, found->second);
    } else {
      ++counts_.uses;
      check(gpumem_memory_used_on(ctx_, found->second, stream_of(event)), "declaring the use of memory");
    }
  }
  check(gpumem_ctx_synchronize(ctx_), "waiting for the device");
}

struct Result {
  gpumem_device_info device;
  std::size_t events;
  std::size_t streams;
  std::size_t left;
  Counts counts;
  double seconds;
  gpumem_memory_stats_info stats;
};

Result replay(gpumem_ctx* ctx, const std::vector<TraceEvent>& events) {
  Replay replay(ctx);
  const auto start = std::chrono::steady_clock::now();
  replay.run(events);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  gpumem_memory_stats_info stats;
  check(gpumem_memory_stats_init(&stats, sizeof stats), "preparing the statistics");
  check(gpumem_memory_stats(ctx, &stats), "asking for the statistics");
  return {device_of(ctx), events.size(), replay.streams(), replay.left(), replay.counts(), seconds, stats};
}

void print_pool(const char* kind, int64_t peak, int64_t reserved, int64_t hits, int64_t misses) {
  if (hits + misses == 0) return;
  std::printf("%s memory: at most %s live, %s taken; %.1f %% of the allocations from the pool\n", kind,
              format_bytes(peak).c_str(), format_bytes(reserved).c_str(),
              100.0 * static_cast<double>(hits) / static_cast<double>(hits + misses));
}

void print_text(const Result& r) {
  const double each = r.events == 0 ? 0 : r.seconds / static_cast<double>(r.events);
  std::printf("%s\n", device_title(r.device).c_str());
  std::printf("%s on %s in %s, %s each\n", counted(r.events, "event").c_str(), counted(r.streams, "stream").c_str(),
              format_seconds(r.seconds).c_str(), format_seconds(each).c_str());
  std::printf("%s, %s, %s\n", counted(r.counts.allocations, "allocation").c_str(),
              counted(r.counts.frees, "free").c_str(), counted(r.counts.uses, "declared use").c_str());
  const gpumem_memory_stats_info& s = r.stats;
  print_pool("device", s.device_peak_bytes, s.device_reserved_peak_bytes, s.device_hits, s.device_misses);
  print_pool("pinned", s.pinned_peak_bytes, s.pinned_reserved_peak_bytes, s.pinned_hits, s.pinned_misses);
  if (r.counts.out_of_memory > 0) {
    std::printf("could not be had: %s\n", counted(r.counts.out_of_memory, "allocation").c_str());
  }
  if (r.counts.without > 0) {
    std::printf("%lld frees and uses of memory that was not allocated here were passed over\n",
                static_cast<long long>(r.counts.without));
  }
  if (r.left > 0) {
    std::printf("still live at the end: %s\n", counted(r.left, "allocation").c_str());
  }
}

void print_result_json(const Result& r) {
  print_json("replay", {{"device", device_json(r.device)},
                        {"events", r.events},
                        {"streams", r.streams},
                        {"seconds", r.seconds},
                        {"allocations", r.counts.allocations},
                        {"frees", r.counts.frees},
                        {"uses", r.counts.uses},
                        {"out_of_memory", r.counts.out_of_memory},
                        {"without_allocation", r.counts.without},
                        {"left", r.left},
                        {"device_peak_bytes", r.stats.device_peak_bytes},
                        {"device_reserved_peak_bytes", r.stats.device_reserved_peak_bytes},
                        {"device_hits", r.stats.device_hits},
                        {"device_misses", r.stats.device_misses},
                        {"pinned_peak_bytes", r.stats.pinned_peak_bytes},
                        {"pinned_reserved_peak_bytes", r.stats.pinned_reserved_peak_bytes},
                        {"pinned_hits", r.stats.pinned_hits},
                        {"pinned_misses", r.stats.pinned_misses}});
}

}  // namespace

int run_replay(const ReplayOptions& options) {
  const std::vector<TraceEvent> events = read_trace(options.file);
  const Context ctx = create_context(options.device);
  const Result result = replay(ctx.get(), events);
  if (options.json) {
    print_result_json(result);
  } else {
    print_text(result);
  }
  return 0;
}

}  // namespace tool
