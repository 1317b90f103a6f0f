// Streams and events that are destroyed, with a check that they could be, at the end of their scope.
#pragma once

#include <gtest/gtest.h>

#include "gpumem.h"
#include "support/status.hpp"

namespace gpumem_test {

class Stream {
 public:
  explicit Stream(gpumem_ctx* ctx) { EXPECT_TRUE(ok(gpumem_stream_create(ctx, &stream_))); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { EXPECT_TRUE(ok(gpumem_stream_destroy(stream_))); }
  operator gpumem_stream*() const { return stream_; }  // NOLINT(google-explicit-constructor): stands for the handle

 private:
  gpumem_stream* stream_ = nullptr;
};

class Event {
 public:
  explicit Event(gpumem_ctx* ctx) { EXPECT_TRUE(ok(gpumem_event_create(ctx, &event_))); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { destroy(); }
  void destroy() {
    EXPECT_TRUE(ok(gpumem_event_destroy(event_)));
    event_ = nullptr;
  }
  operator gpumem_event*() const { return event_; }  // NOLINT(google-explicit-constructor): stands for the handle

 private:
  gpumem_event* event_ = nullptr;
};

}  // namespace gpumem_test
