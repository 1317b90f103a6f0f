// Every function that takes a handle, with sound other arguments: what is done with a handle that is none.
#pragma once

#include <functional>
#include <vector>

#include "gpumem.h"
#include "support/explain.hpp"

namespace gpumem_test {

template <class Handle>
struct Call {
  const char* name;
  const char* argument;  // what the handle is called in the function
  std::function<gpumem_status(Handle*)> run;
};

// Where the calls put their outputs. poisoned() tells whether they are as they were made.
struct Outputs {
  void* p = this;
  gpumem_stream* stream = reinterpret_cast<gpumem_stream*>(this);
  gpumem_event* event = reinterpret_cast<gpumem_event*>(this);
  int64_t value = 77;
  double seconds = 77;
  unsigned char bytes[64] = {77, 77, 77, 77};
  gpumem_device_info device;
  gpumem_pointer_info pointer;
  gpumem_memory_stats_info stats;

  Outputs() {
    EXPECT_TRUE(ok(gpumem_device_info_init(&device, sizeof device)));
    EXPECT_TRUE(ok(gpumem_pointer_info_init(&pointer, sizeof pointer)));
    EXPECT_TRUE(ok(gpumem_memory_stats_init(&stats, sizeof stats)));
    device.compute_major = 77;
    pointer.ours = 77;
    stats.frees = 77;
  }
  // Addresses and handles are NULL after a failure; everything else is untouched.
  bool untouched() const {
    return (p == this || p == nullptr) &&
           (stream == nullptr || stream == reinterpret_cast<const gpumem_stream*>(this)) &&
           (event == nullptr || event == reinterpret_cast<const gpumem_event*>(this)) && value == 77 && seconds == 77 &&
           bytes[0] == 77 && bytes[3] == 77 && bytes[4] == 0 && device.compute_major == 77 && pointer.ours == 77 &&
           stats.frees == 77;
  }
};

inline std::vector<Call<gpumem_ctx>> calls_with_context(Outputs& out) {
  static const int32_t x[4] = {1, 2, 3, 4};
  static const unsigned char pattern = 9;
  using C = gpumem_ctx*;
  return {
      {"ctx_destroy", "ctx", [](C c) { return gpumem_ctx_destroy(c); }},
      {"ctx_device", "ctx", [&](C c) { return gpumem_ctx_device(c, &out.device); }},
      {"ctx_status", "ctx", [](C c) { return gpumem_ctx_status(c); }},
      {"ctx_synchronize", "ctx", [](C c) { return gpumem_ctx_synchronize(c); }},
      {"ctx_set_log", "ctx", [](C c) { return gpumem_ctx_set_log(c, nullptr, nullptr); }},
      {"ctx_warmup", "ctx", [](C c) { return gpumem_ctx_warmup(c); }},
      {"alloc_device", "ctx", [&](C c) { return gpumem_alloc_device(c, 64, &out.p); }},
      {"alloc_pinned", "ctx", [&](C c) { return gpumem_alloc_pinned(c, 64, &out.p); }},
      {"alloc_managed", "ctx", [&](C c) { return gpumem_alloc_managed(c, 64, &out.p); }},
      {"free", "ctx", [&](C c) { return gpumem_free(c, out.bytes); }},
      {"pointer_query", "ctx", [&](C c) { return gpumem_pointer_query(c, x, &out.pointer); }},
      {"memory_stats", "ctx", [&](C c) { return gpumem_memory_stats(c, &out.stats); }},
      {"managed_prefetch", "ctx", [&](C c) { return gpumem_managed_prefetch(c, out.bytes, 8, GPUMEM_DEVICE_HOST); }},
      {"managed_prefetch_async", "ctx",
       [&](C c) { return gpumem_managed_prefetch_async(c, out.bytes, 8, GPUMEM_DEVICE_HOST, nullptr); }},
      {"managed_advise", "ctx",
       [&](C c) { return gpumem_managed_advise(c, out.bytes, 8, GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_DEVICE_HOST); }},
      {"copy", "ctx", [&](C c) { return gpumem_copy(c, out.bytes, x, 16); }},
      {"copy_async", "ctx", [&](C c) { return gpumem_copy_async(c, out.bytes, x, 16, nullptr); }},
      {"fill", "ctx", [&](C c) { return gpumem_fill(c, out.bytes, &pattern, 1, 16); }},
      {"fill_async", "ctx", [&](C c) { return gpumem_fill_async(c, out.bytes, &pattern, 1, 16, nullptr); }},
      {"stream_create", "ctx", [&](C c) { return gpumem_stream_create(c, &out.stream); }},
      {"stream_wrap", "ctx", [&](C c) { return gpumem_stream_wrap(c, nullptr, &out.stream); }},
      {"stream_synchronize", "ctx", [](C c) { return gpumem_stream_synchronize(c, nullptr); }},
      {"stream_query", "ctx", [](C c) { return gpumem_stream_query(c, nullptr); }},
      {"event_create", "ctx", [&](C c) { return gpumem_event_create(c, &out.event); }},
      {"reduce_i32", "ctx", [&](C c) { return gpumem_reduce_i32(c, GPUMEM_SUM, x, 4, 1, &out.value); }},
      {"transpose", "ctx", [&](C c) { return gpumem_transpose(c, 4, 2, 2, x, 2, out.bytes, 2); }},
      {"variant_force", "ctx", [](C c) { return gpumem_variant_force(c, GPUMEM_FAMILY_REDUCE, nullptr); }},
      {"explain", "ctx",
       [&](C c) {
         const gpumem_problem problem = reduce_problem(GPUMEM_SUM, x, 4, 1);
         return gpumem_explain(c, &problem, GPUMEM_FORMAT_TEXT, nullptr, 0, &out.value);
       }},
  };
}

// The calls that take a stream or an event beside a sound context. `event` is one of that context.
inline std::vector<Call<gpumem_stream>> calls_with_stream(gpumem_ctx* ctx, gpumem_event* event, Outputs& out) {
  static const unsigned char pattern[16] = {9};
  using S = gpumem_stream*;
  return {
      {"stream_destroy", "stream", [](S s) { return gpumem_stream_destroy(s); }},
      {"stream_synchronize", "stream", [=](S s) { return gpumem_stream_synchronize(ctx, s); }},
      {"stream_query", "stream", [=](S s) { return gpumem_stream_query(ctx, s); }},
      {"stream_wait_event", "stream", [=](S s) { return gpumem_stream_wait_event(ctx, s, event); }},
      {"event_record", "stream", [=](S s) { return gpumem_event_record(ctx, event, s); }},
      {"copy_async", "stream", [=, &out](S s) { return gpumem_copy_async(ctx, out.bytes, pattern, 16, s); }},
      {"fill_async", "stream", [=, &out](S s) { return gpumem_fill_async(ctx, out.bytes, pattern, 1, 16, s); }},
      {"managed_prefetch_async", "stream",
       [=, &out](S s) { return gpumem_managed_prefetch_async(ctx, out.bytes, 0, GPUMEM_DEVICE_HOST, s); }},
  };
}

inline std::vector<Call<gpumem_event>> calls_with_event(gpumem_ctx* ctx, gpumem_event* event, Outputs& out) {
  using E = gpumem_event*;
  return {
      {"event_destroy", "event", [](E e) { return gpumem_event_destroy(e); }},
      {"event_synchronize", "event", [](E e) { return gpumem_event_synchronize(e); }},
      {"event_record", "event", [=](E e) { return gpumem_event_record(ctx, e, nullptr); }},
      {"stream_wait_event", "event", [=](E e) { return gpumem_stream_wait_event(ctx, nullptr, e); }},
      {"event_elapsed", "start", [=, &out](E e) { return gpumem_event_elapsed(e, event, &out.seconds); }},
      {"event_elapsed", "end", [=, &out](E e) { return gpumem_event_elapsed(event, e, &out.seconds); }},
  };
}

}  // namespace gpumem_test
