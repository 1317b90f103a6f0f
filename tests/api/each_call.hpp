// Every function, called in the ordinary way on a context of its own, or with a handle that is none: for what must hold of each call,
// whatever it does.
#pragma once

#include <functional>
#include <string>

#include "api/every_call.hpp"
#include "support/contexts.hpp"

namespace gpumem_test {

using CallOnce = std::function<gpumem_status()>;

// One call's objects. Its outputs point to it, so it stays where it is.
class Objects {
 public:
  explicit Objects(On on) {
    const gpumem_ctx_options options = options_for(on, 2);
    EXPECT_TRUE(ok(gpumem_ctx_create(&options, &ctx)));
    EXPECT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    EXPECT_TRUE(ok(gpumem_event_create(ctx, &event)));
    EXPECT_TRUE(ok(gpumem_event_create(ctx, &later_event)));
    EXPECT_TRUE(ok(gpumem_event_record(ctx, event, nullptr)));
    EXPECT_TRUE(ok(gpumem_event_record(ctx, later_event, nullptr)));
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  // Some may be gone, which is a status.
  ~Objects() {
    gpumem_ctx_synchronize(ctx);
    gpumem_stream_destroy(stream);
    gpumem_event_destroy(event);
    gpumem_event_destroy(later_event);
    if (out.stream != reinterpret_cast<gpumem_stream*>(&out)) gpumem_stream_destroy(out.stream);
    if (out.event != reinterpret_cast<gpumem_event*>(&out)) gpumem_event_destroy(out.event);
    gpumem_ctx_destroy(ctx);
  }

  gpumem_ctx* ctx = nullptr;
  gpumem_stream* stream = nullptr;
  gpumem_event* event = nullptr;
  gpumem_event* later_event = nullptr;
  Outputs out;
};

using OnCall = std::function<void(const std::string& name, const CallOnce& call)>;

inline void on_calls_without_handles(const OnCall& f, On on) {
  const gpumem_ctx_options options = options_for(on);
  gpumem_ctx* ctx = nullptr;
  f("ctx_create", [&] { return gpumem_ctx_create(&options, &ctx); });
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
  f("shared_ctx", [&] { return gpumem_shared_ctx(GPUMEM_DEVICE_HOST, &ctx); });
  int32_t count = 0;
  f("variant_count", [&] { return gpumem_variant_count(GPUMEM_FAMILY_FILL, &count); });
  const char* name = nullptr;
  f("variant_name", [&] { return gpumem_variant_name(GPUMEM_FAMILY_FILL, 0, &name); });
  Outputs out;
  f("device_query", [&] { return gpumem_device_query(GPUMEM_DEVICE_HOST, &out.device); });
  char sentence[64];
  f("last_error", [&] { return gpumem_last_error(sentence, sizeof sentence, nullptr); });
}

// Calls f(name, call) for each function.
inline void on_each_call(const OnCall& f, On on = On::host) {
  on_calls_without_handles(f, on);
  const auto on_each = [&](const auto& calls_of, auto Objects::*handle) {
    const Objects count_only(on);
    Outputs unused;
    const size_t count = calls_of(count_only, unused).size();
    for (size_t i = 0; i < count; ++i) {
      Objects objects(on);
      const auto call = calls_of(objects, objects.out)[i];
      f(call.name, [&] { return call.run(objects.*handle); });
    }
  };
  on_each([](const Objects&, Outputs& out) { return calls_with_context(out); }, &Objects::ctx);
  on_each([](const Objects& o, Outputs& out) { return calls_with_stream(o.ctx, o.event, out); }, &Objects::stream);
  on_each([](const Objects& o, Outputs& out) { return calls_with_event(o.ctx, o.event, out); }, &Objects::later_event);
}

// The same for calls with a handle that is none.
inline void on_each_refused_call(const OnCall& f, On on) {
  Objects objects(on);
  const auto refuse = [&]<class Handle>(const std::vector<Call<Handle>>& calls) {
    for (const Call<Handle>& call : calls) {
      f(call.name, [&] {
        const gpumem_status status = call.run(reinterpret_cast<Handle*>(&objects));
        EXPECT_EQ(status, GPUMEM_INVALID_HANDLE) << call.name;
        return status;
      });
    }
  };
  refuse(calls_with_context(objects.out));
  refuse(calls_with_stream(objects.ctx, objects.event, objects.out));
  refuse(calls_with_event(objects.ctx, objects.event, objects.out));
}

}  // namespace gpumem_test
