// Benchmarks of allocations and frees from the pools, and of the ways to use managed memory.
#include <algorithm>

#include "bench/suites.hpp"
#include "failure.hpp"
#include "measure/host_clock.hpp"
#include "text.hpp"

namespace tool {
namespace {

using Allocate = gpumem_status (*)(gpumem_ctx*, int64_t, void**);
using Free = gpumem_status (*)(gpumem_ctx*, void*);

gpumem_status allocate_on_stream(gpumem_ctx* ctx, int64_t bytes, void** p) {
  return gpumem_alloc_async(ctx, bytes, 256, nullptr, p);
}
gpumem_status free_on_stream(gpumem_ctx* ctx, void* p) { return gpumem_free_async(ctx, p, nullptr); }

void* allocated(gpumem_ctx* ctx, Allocate allocate, int64_t bytes) {
  void* p = nullptr;
  check(allocate(ctx, bytes, &p), "allocating memory");
  return p;
}

bool usable(gpumem_ctx* ctx, void* p, int64_t bytes) {
  unsigned char* const last = static_cast<unsigned char*>(p) + bytes - 1;
  const unsigned char wanted = 0x3C;
  unsigned char found = 0;
  check(gpumem_fill(ctx, last, &wanted, 1, 1), "writing to a block");
  check(gpumem_copy(ctx, &found, last, 1), "reading from a block");
  return found == wanted;
}

struct Pair {
  const char* name;
  Allocate allocate;
  Free free;
  bool cold;  // nothing is kept from one pair to the next
};
constexpr Pair kPairs[] = {{"device, on a stream", allocate_on_stream, free_on_stream, false},
                           {"device", gpumem_alloc_device, gpumem_free, false},
                           {"pinned", gpumem_alloc_pinned, gpumem_free, false},
                           {"pinned, none kept", gpumem_alloc_pinned, gpumem_free, true},
                           {"managed", gpumem_alloc_managed, gpumem_free, false}};

Row allocation_row(Session& session, const Pair& pair, int64_t bytes) {
  gpumem_ctx* const ctx = session.ctx();
  void* const block = allocated(ctx, pair.allocate, bytes);
  Row row;
  row.problem = "alloc kind=" + std::string(pair.name).substr(0, std::string(pair.name).find(',')) +
                " bytes=" + std::to_string(bytes);
  row.variant = pair.name;
  row.timer = "host";
  row.verified = usable(ctx, block, bytes);
  check(pair.free(ctx, block), "freeing memory");
  const auto once = [&] { check(pair.free(ctx, allocated(ctx, pair.allocate, bytes)), "freeing memory"); };
  if (pair.cold) {
    const auto sample = measure::one_call_sampler(once);
    session.take(
        row, [&] { return check(gpumem_memory_trim(ctx, 0), "giving memory back"), sample(); }, Limit::none);
  } else {
    session.take(row, measure::host_sampler(once, {}), Limit::none);
  }
  return row;
}

// -------------------------------------------------------------------------------------------------------- managed

struct Way {
  const char* name;
  gpumem_advice advice;  // 0: none
  gpumem_advice undo;
  bool prefetched;
  bool written;  // by the host, before each sample, so that its pages are there
};
constexpr Way kWays[] = {
    {"read where the host left it", 0, 0, false, true},
    {"prefetched before it is read", 0, 0, true, true},
    {"read again on the device", 0, 0, false, false},
    {"mostly read", GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_ADVISE_UNSET_READ_MOSTLY, false, true},
    {"to stay on the device", GPUMEM_ADVISE_PREFERRED_LOCATION, GPUMEM_ADVISE_UNSET_PREFERRED_LOCATION, false, true},
    {"accessed by the device", GPUMEM_ADVISE_ACCESSED_BY, GPUMEM_ADVISE_UNSET_ACCESSED_BY, false, true}};

class Managed {
 public:
  Managed(Session& session, int64_t bytes) : ctx_(session.ctx()), memory_(ctx_, "managed", bytes, 0) {
    if (!session.on_device()) {
      throw CallFailure("pages of managed memory move only to CUDA devices", GPUMEM_UNSUPPORTED,
                        "pages of managed memory move only to CUDA devices");
    };
  }
  void write_by_host() const {
    in_parallel(memory_.bytes(),
                [this](int64_t begin, int64_t end) { std::fill_n(memory_.get() + begin, end - begin, 1); });
  }
  void prefetch(int32_t device) const {
    check(gpumem_managed_prefetch(ctx_, memory_.get(), memory_.bytes(), device), "prefetching managed memory");
  }
  void advise(gpumem_advice advice, int32_t device) const {
    check(gpumem_managed_advise(ctx_, memory_.get(), memory_.bytes(), advice, device), "advising managed memory");
  }
  void sum() {
    check(gpumem_reduce(ctx_, GPUMEM_U8, GPUMEM_SUM, memory_.get(), memory_.bytes(), 1, &sum_),
          "summing managed memory");
  }
  void write_by_device() const { memory_.fill(1); }
  bool right() const { return sum_ == static_cast<uint64_t>(memory_.bytes()); }

 private:
  gpumem_ctx* ctx_;
  Operand memory_;
  uint64_t sum_ = 0;
};

Row managed_row(int64_t bytes, const std::string& way) {
  Row row;
  row.problem = "managed bytes=" + std::to_string(bytes);
  row.variant = way;
  row.timer = "host";
  row.bytes = bytes;
  return row;
}

Row way_row(Session& session, const Way& way, int64_t bytes, int32_t device) {
  Managed memory(session, bytes);
  Row row = managed_row(bytes, way.name);
  memory.write_by_host();
  memory.sum();
  if (way.advice != 0) memory.advise(way.advice, device);
  const auto sum = measure::one_call_sampler([&] { memory.sum(); });
  session.take(
      row,
      [&] {
        if (way.written) memory.write_by_host();
        if (way.prefetched) memory.prefetch(device);
        return sum();
      },
      Limit::none);
  if (way.undo != 0) memory.advise(way.undo, device);
  row.verified = memory.right();
  return row;
}

Row first_touch_row(Session& session, int64_t bytes) {
  Row row = managed_row(bytes, "first touched by the device");
  session.take(
      row,
      [&] {
        Managed memory(session, bytes);
        const double seconds = measure::one_call_sampler([&] { memory.write_by_device(); })();
        memory.sum();
        row.verified = row.verified.value_or(true) && memory.right();
        return seconds;
      },
      Limit::none);
  return row;
}

Row prefetch_row(Session& session, int64_t bytes, int32_t from, int32_t to, const char* name) {
  Managed memory(session, bytes);
  Row row = managed_row(bytes, name);
  memory.write_by_host();
  const auto move = measure::one_call_sampler([&] { memory.prefetch(to); });
  session.take(
      row, [&] { return memory.prefetch(from), move(); }, Limit::none);
  memory.sum();
  row.verified = memory.right();
  return row;
}

}  // namespace

void add_alloc(std::vector<Step>& steps, const Session& session) {
  for (const Pair& pair : kPairs) {
    for (int64_t bytes = 4 << 10; bytes <= (session.quick() ? 1 << 20 : 64 << 20); bytes *= 128) {
      steps.push_back({"alloc and free", std::string(pair.name) + ", " + format_size(bytes),
                       [pair, bytes](Session& s) { return allocation_row(s, pair, bytes); }});
    }
  }
}

void add_managed(std::vector<Step>& steps, const Session& session) {
  const int64_t bytes = session.quick() ? 1 << 20 : 256 << 20;
  const int32_t device = session.device();
  const auto add = [&](const char* name, std::function<Row(Session&)> run) {
    steps.push_back({"managed, " + format_size(bytes), name, std::move(run)});
  };
  for (const Way& way : kWays) {
    add(way.name, [=](Session& s) { return way_row(s, way, bytes, device); });
  }
  add("first touched by the device", [=](Session& s) { return first_touch_row(s, bytes); });
  add("prefetch to the device",
      [=](Session& s) { return prefetch_row(s, bytes, GPUMEM_DEVICE_HOST, device, "prefetch to the device"); });
  add("prefetch to the host",
      [=](Session& s) { return prefetch_row(s, bytes, device, GPUMEM_DEVICE_HOST, "prefetch to the host"); });
}

}  // namespace tool
