// Every function, called in the ordinary way on a host context of its own: for what must hold of each call, whatever it does.
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
  Objects() {
    EXPECT_TRUE(ok(gpumem_ctx_create(&options_, &ctx)));
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

 private:
  gpumem_ctx_options options_ = options_for(On::host, 2);
};

inline void on_calls_without_handles(const std::function<void(const std::string&, const CallOnce&)>& f) {
  const gpumem_ctx_options options = options_for(On::host);
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
inline void on_each_call(const std::function<void(const std::string& name, const CallOnce& call)>& f) {
  on_calls_without_handles(f);
  const auto on_each = [&](const auto& calls_of, auto Objects::*handle) {
    const Objects count_only;
    Outputs unused;
    const size_t count = calls_of(count_only, unused).size();
    for (size_t i = 0; i < count; ++i) {
      Objects objects;
      const auto call = calls_of(objects, objects.out)[i];
      f(call.name, [&] { return call.run(objects.*handle); });
    }
  };
  on_each([](const Objects&, Outputs& out) { return calls_with_context(out); }, &Objects::ctx);
  on_each([](const Objects& o, Outputs& out) { return calls_with_stream(o.ctx, o.event, out); }, &Objects::stream);
  on_each([](const Objects& o, Outputs& out) { return calls_with_event(o.ctx, o.event, out); }, &Objects::later_event);
}

}  // namespace gpumem_test
