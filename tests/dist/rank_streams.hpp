// Enqueues plans on streams of a rank's members.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "dist/members.hpp"

namespace gpumem_test {

// A stream of the context of each of a rank's members, and now and then the context's own.
class RankStreams {
 public:
  RankStreams(const Part& part, Random& own) : part_(part), own_(own) {
    for (gpumem_ctx* ctx : part.contexts) {
      EXPECT_TRUE(ok(gpumem_stream_create(ctx, &made_.emplace_back())));
    }
    choose(false);
  }
  ~RankStreams() {
    for (gpumem_stream* stream : made_) EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
  }
  RankStreams(const RankStreams&) = delete;
  RankStreams& operator=(const RankStreams&) = delete;

  void choose(bool own) {
    used_ = made_;
    for (gpumem_stream*& stream : used_) stream = own && own_.below(2) == 0 ? nullptr : stream;
  }
  gpumem_status enqueue(gpumem_dist_plan* plan, const void* const* src, void* const* dst) const {
    return gpumem_dist_execute_async(plan, src, dst, used_.data());
  }
  void finish() const {
    for (size_t i = 0; i < used_.size(); ++i) EXPECT_TRUE(ok(gpumem_stream_synchronize(part_.contexts[i], used_[i])));
  }
  // Enqueues, and waits for the streams.
  Execute both() {
    return [this](gpumem_dist_plan* plan, const void* const* src, void* const* dst) {
      choose(true);
      const gpumem_status status = enqueue(plan, src, dst);
      finish();
      return status;
    };
  }
  gpumem_stream* of(size_t member) const { return used_[member]; }

 private:
  const Part& part_;
  Random& own_;
  std::vector<gpumem_stream*> made_;
  std::vector<gpumem_stream*> used_;
};

}  // namespace gpumem_test
