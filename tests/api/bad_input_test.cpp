// Handles that are none, and problems that an operation and its explanation must refuse alike.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "api/every_call.hpp"
#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"
#include "support/rows.hpp"

namespace gpumem_test {
namespace {

// Addresses and numbers that were never handles.
std::vector<void*> garbage() {
  static int on_the_stack_of_nobody[64] = {};
  return {on_the_stack_of_nobody,
          reinterpret_cast<void*>(uintptr_t{1}),
          reinterpret_cast<void*>(uintptr_t{0x1234}),
          reinterpret_cast<void*>(~uintptr_t{0}),
          reinterpret_cast<void*>(uintptr_t{0x0123456789ABCDEF}),
          reinterpret_cast<void*>(uintptr_t{1} << 63)};
}

// A handle of this context's kind with one bit changed.
std::vector<void*> near_misses(void* handle) {
  std::vector<void*> all;
  for (int bit = 0; bit < 56; ++bit) {
    all.push_back(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(handle) ^ (uintptr_t{1} << bit)));
  }
  return all;
}

class BadHandles : public OnEachContext {
 protected:
  void SetUp() override {
    void* pinned = nullptr;
    ASSERT_TRUE(ok(gpumem_alloc_pinned(ctx, 16, &pinned)));
    out.results = static_cast<int64_t*>(pinned);
    out.results[0] = out.results[1] = 77;
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    ASSERT_TRUE(ok(gpumem_event_create(ctx, &event)));
    ASSERT_TRUE(ok(gpumem_event_record(ctx, event, nullptr)));
    ASSERT_TRUE(ok(gpumem_event_synchronize(event)));
    const gpumem_ctx_options options = options_for(GetParam());
    gpumem_ctx* gone = nullptr;
    ASSERT_TRUE(ok(gpumem_ctx_create(&options, &gone)));
    gpumem_stream* gone_stream = nullptr;
    gpumem_event* gone_event = nullptr;
    ASSERT_TRUE(ok(gpumem_stream_create(gone, &gone_stream)));
    ASSERT_TRUE(ok(gpumem_event_create(gone, &gone_event)));
    ASSERT_TRUE(ok(gpumem_stream_destroy(gone_stream)));
    ASSERT_TRUE(ok(gpumem_event_destroy(gone_event)));
    ASSERT_TRUE(ok(gpumem_ctx_destroy(gone)));
    bad = garbage();
    for (void* handle : {static_cast<void*>(gone), static_cast<void*>(gone_stream), static_cast<void*>(gone_event)}) {
      bad.push_back(handle);
    }
  }
  void TearDown() override {
    EXPECT_TRUE(ok(gpumem_ctx_status(ctx))) << "a bad handle harmed a good context";
    EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
    EXPECT_TRUE(ok(gpumem_event_destroy(event)));
    EXPECT_TRUE(ok(gpumem_free(ctx, out.results)));
    OnEachContext::TearDown();
  }

  template <class Handle>
  void expect_refused(const char* type, const std::vector<Call<Handle>>& calls, const std::vector<void*>& handles) {
    for (const Call<Handle>& call : calls) {
      for (void* handle : handles) {
        EXPECT_TRUE(refused(GPUMEM_INVALID_HANDLE, call.run(static_cast<Handle*>(handle)), {call.argument, type}))
            << call.name << " of " << handle;
      }
      EXPECT_TRUE(out.untouched()) << call.name;
    }
  }

  gpumem_stream* stream = nullptr;
  gpumem_event* event = nullptr;
  std::vector<void*> bad;
  Outputs out;
};

TEST_P(BadHandles, AsContexts) {
  bad.push_back(stream);
  bad.push_back(event);
  const auto calls = calls_with_context(out);
  expect_refused("gpumem_ctx", calls, bad);
  for (const auto& call : calls) {
    if (std::string(call.name) == "ctx_destroy") continue;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call.run(nullptr), {call.argument, "NULL"})) << call.name;
    EXPECT_TRUE(out.untouched()) << call.name;
  }
}

TEST_P(BadHandles, AsStreams) {
  bad.push_back(static_cast<gpumem_ctx*>(ctx));
  bad.push_back(event);
  expect_refused("gpumem_stream", calls_with_stream(ctx, event, out), bad);
}

TEST_P(BadHandles, AsEvents) {
  bad.push_back(static_cast<gpumem_ctx*>(ctx));
  bad.push_back(stream);
  expect_refused("gpumem_event", calls_with_event(ctx, event, out), bad);
}

// Beside many others, made one after the other.
TEST_P(BadHandles, OneBitOff) {
  std::vector<gpumem_stream*> live(40);
  for (gpumem_stream*& made : live) ASSERT_TRUE(ok(gpumem_stream_create(ctx, &made)));
  for (gpumem_stream* made : live) {
    for (void* handle : near_misses(made)) {
      EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, gpumem_stream_query(ctx, static_cast<gpumem_stream*>(handle))))
          << handle;
    }
  }
  for (gpumem_stream* made : live) EXPECT_TRUE(ok(gpumem_stream_destroy(made)));
  for (void* handle : near_misses(static_cast<gpumem_ctx*>(ctx))) {
    EXPECT_NE(gpumem_ctx_status(static_cast<gpumem_ctx*>(handle)), GPUMEM_OK) << handle;
  }
  for (void* handle : near_misses(stream)) {
    EXPECT_NE(gpumem_stream_destroy(static_cast<gpumem_stream*>(handle)), GPUMEM_OK) << handle;
  }
  for (void* handle : near_misses(event)) {
    EXPECT_NE(gpumem_event_destroy(static_cast<gpumem_event*>(handle)), GPUMEM_OK) << handle;
  }
}

TEST_P(BadHandles, ADestroyedHandleStaysDeadWhenOthersAreMade) {
  std::vector<gpumem_stream*> live;
  gpumem_stream* dead = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &dead)));
  ASSERT_TRUE(ok(gpumem_stream_destroy(dead)));
  for (int i = 0; i < 40; ++i) {
    gpumem_stream* made = nullptr;
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &made)));
    EXPECT_NE(made, dead);
    EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, gpumem_stream_query(ctx, dead)));
    if (i % 2 == 0) {
      ASSERT_TRUE(ok(gpumem_stream_destroy(made)));
    } else {
      live.push_back(made);
    }
  }
  for (gpumem_stream* made : live) EXPECT_TRUE(ok(gpumem_stream_destroy(made)));
}

INSTANTIATE_TEST_SUITE_P(On, BadHandles, testing::ValuesIn(contexts_here()), OnEachContext::name);

// An operation, and the explanation of the problem that it was.
struct Pair {
  const char* what;
  gpumem_status operation;
  gpumem_status explanation;
};

class BadProblems : public OnEachContext {
 protected:
  Pair of(const char* what, gpumem_status operation) {
    int64_t needed = -7;
    char text[8] = "poison";
    const std::string line = last_problem();
    const gpumem_status status = gpumem_explain(ctx, line.c_str(), GPUMEM_FORMAT_JSON, text, sizeof text, &needed);
    if (status != GPUMEM_OK) {
      EXPECT_EQ(needed, -7);
      EXPECT_STREQ(text, "poison");
    }
    EXPECT_EQ(last_problem(), line) << "an explanation is no operation";
    return {what, operation, status};
  }
  Pair reduce(const char* what, gpumem_reduce_op op, const void* x, int64_t n, int64_t stride) {
    int64_t value = 0;
    return of(what, gpumem_reduce_i32(ctx, op, static_cast<const int32_t*>(x), n, stride, &value));
  }
  Pair transpose(const char* what, int64_t element, int64_t rows, int64_t cols, const void* src, int64_t src_ld,
                 void* dst, int64_t dst_ld) {
    return of(what, gpumem_transpose(ctx, element, rows, cols, src, src_ld, dst, dst_ld));
  }
  // Two slices of four rows of eight bytes.
  Pair copy(const char* what, void* dst, const void* src, int64_t pitch, int64_t slice, int64_t row_bytes = 8) {
    return of(what, gpumem_copy_3d(ctx, dst, pitch, slice, src, pitch, slice, row_bytes, 4, 2));
  }
  Pair copy_range(const char* what, void* dst, const void* src, int64_t bytes) {
    return of(what, gpumem_copy(ctx, dst, src, bytes));
  }
  Pair fill_rows(const char* what, void* dst, int64_t cols, int64_t rows, int64_t pitch) {
    const char pattern[4] = {};
    return of(what, gpumem_fill_2d(ctx, dst, pitch, pattern, 4, cols, rows));
  }
  Pair fill(const char* what, void* dst, int64_t pattern_bytes, int64_t count) {
    const char pattern[32] = {};
    return of(what, gpumem_fill(ctx, dst, pattern, pattern_bytes, count));
  }
  Pair rows(const char* what, const Rows& r) { return of(what, run(ctx, r)); }
};

// What a line does not tell: which memory it is. A refusal for that leaves out the operand, or can't be told from success.
gpumem_status expected_explanation(const Pair& pair) {
  if (pair.operation == GPUMEM_INVALID_POINTER || pair.operation == GPUMEM_OUT_OF_RANGE) return GPUMEM_INVALID_ARGUMENT;
  return std::string(pair.what) == "overlap" ? GPUMEM_OK : pair.operation;
}

TEST_P(BadProblems, AreExplainedWithTheStatusOfTheirOperation) {
  const FencedPages pages(4096);
  const Memory block(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Bytes zeros(4096);
  upload(ctx, block.get(), zeros.data(), zeros.size());
  char* const p = block.bytes();
  void* const nowhere = pages.end();
  void* freed = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 4096, &freed)));
  ASSERT_TRUE(ok(gpumem_free(ctx, freed)));
  const std::vector<Pair> pairs = {
      reduce("sound", GPUMEM_SUM, p, 1024, 1),
      reduce("unknown op", 9, p, 8, 1),
      reduce("negative n", GPUMEM_SUM, p, -8, 1),
      reduce("no stride", GPUMEM_SUM, p, 8, 0),
      reduce("NULL", GPUMEM_SUM, nullptr, 8, 1),
      reduce("overflowing product", GPUMEM_SUM, p, INT64_MAX, 8),
      reduce("past the end", GPUMEM_SUM, p, 1025, 1),
      reduce("freed", GPUMEM_SUM, freed, 8, 1),
      reduce("unmapped", GPUMEM_SUM, nowhere, 8, 1),
      reduce("sum of nothing", GPUMEM_SUM, p, 0, 1),
      reduce("minimum of nothing", GPUMEM_MIN, p, 0, 1),
      transpose("sound", 4, 16, 16, p, 16, p + 1024, 16),
      transpose("element size", 3, 16, 16, p, 16, p + 1024, 16),
      transpose("negative rows", 4, -1, 16, p, 16, p + 1024, 16),
      transpose("negative cols", 4, 16, -1, p, 16, p + 1024, 16),
      transpose("short src_ld", 4, 16, 16, p, 15, p + 1024, 16),
      transpose("short dst_ld", 4, 16, 16, p, 16, p + 1024, 15),
      transpose("overflowing product", 16, 4, 4, p, INT64_MAX / 4, p + 1024, 4),
      transpose("NULL src", 4, 16, 16, nullptr, 16, p, 16),
      transpose("NULL dst", 4, 16, 16, p, 16, nullptr, 16),
      transpose("past the end", 4, 64, 16, p, 16, p + 1024, 64),
      transpose("in place", 4, 16, 16, p, 16, p, 16),
      transpose("overlap", 4, 16, 16, p, 16, p + 512, 16),
      transpose("freed", 4, 16, 16, freed, 16, p, 16),
      transpose("unmapped", 4, 16, 16, p, 16, nowhere, 16),
      transpose("nothing", 4, 0, 16, p, 16, p + 1024, 16),
      fill("sound", p, 16, 256),
      fill("pattern size", p, 6, 1),
      fill("negative count", p, 4, -1),
      fill("overflowing product", p, 16, INT64_MAX / 8),
      fill("NULL", nullptr, 4, 1),
      fill("past the end", p, 4, 1025),
      fill("freed", freed, 4, 1),
      fill("unmapped", nowhere, 4, 1),
      fill("nothing", p, 4, 0),
      copy("sound", p + 2048, p, 16, 64),
      copy("short pitch", p + 2048, p, 7, 64),
      copy("short slice", p + 2048, p, 16, 55),
      copy("negative row", p + 2048, p, 16, 64, -8),
      copy("overflowing product", p + 2048, p, INT64_MAX / 2, INT64_MAX),
      copy("NULL src", p, nullptr, 16, 64),
      copy("NULL dst", nullptr, p, 16, 64),
      copy("past the end", p + 4000, p, 16, 64),
      copy("same rows", p, p, 16, 64),
      copy("overlap", p + 4, p, 16, 64),
      copy("columns", p + 8, p, 16, 64),
      copy("freed", p, freed, 16, 64),
      copy("unmapped", nowhere, p, 16, 64),
      copy("nothing", p, p + 8, 16, 64, 0),
      copy_range("sound", p + 2048, p, 2048),
      copy_range("negative", p + 2048, p, -1),
      copy_range("past the end", p + 2048, p, 2049),
      copy_range("overlap", p + 1, p, 2),
      copy_range("over the link", p, zeros.data(), 4096),
      fill_rows("sound", p, 8, 4, 40),
      fill_rows("negative cols", p, -8, 4, 40),
      fill_rows("negative rows", p, 8, -4, 40),
      fill_rows("short pitch", p, 8, 4, 31),
      fill_rows("overflowing product", p, 8, 4, INT64_MAX / 2),
      fill_rows("past the end", p, 8, 200, 40),
  };
  const int64_t index[4] = {3, 0, 2, 1};
  const int64_t* const off = reinterpret_cast<const int64_t*>(reinterpret_cast<const char*>(index) + 4);
  const gpumem_dtype i64 = GPUMEM_I64;
  for (const gpumem_family f : {GPUMEM_FAMILY_GATHER, GPUMEM_FAMILY_SCATTER}) {
    for (const Pair& pair : {rows("sound", {f, 16, p, 16, i64, index, 4, p + 1024, 16, 4}),
                             rows("no bytes", {f, 0, p, 16, i64, index, 4, p + 1024, 16, 4}),
                             rows("index type", {f, 16, p, 16, GPUMEM_F64, index, 4, p + 1024, 16, 4}),
                             rows("negative n", {f, 16, p, 16, i64, index, -4, p + 1024, 16, 4}),
                             rows("negative rows", {f, 16, p, 16, i64, index, 4, p + 1024, 16, -4}),
                             rows("short src pitch", {f, 16, p, 15, i64, index, 4, p + 1024, 16, 4}),
                             rows("short dst pitch", {f, 16, p, 16, i64, index, 4, p + 1024, 15, 4}),
                             rows("overflowing product", {f, 16, p, INT64_MAX / 2, i64, index, 4, p + 1024, 16, 4}),
                             rows("NULL src", {f, 16, nullptr, 16, i64, index, 4, p + 1024, 16, 4}),
                             rows("NULL index", {f, 16, p, 16, i64, nullptr, 4, p + 1024, 16, 4}),
                             rows("NULL dst", {f, 16, p, 16, i64, index, 4, nullptr, 16, 4}),
                             rows("misaligned index", {f, 16, p, 16, i64, off, 2, p + 1024, 16, 4}),
                             rows("past the end", {f, 16, p, 16, i64, index, 4, p + 4096 - 63, 16, 4}),
                             rows("overlap", {f, 16, p, 16, i64, index, 4, p + 63, 16, 4}),
                             rows("freed", {f, 16, freed, 16, i64, index, 4, p + 1024, 16, 4}),
                             rows("unmapped", {f, 16, p, 16, i64, index, 4, nowhere, 16, 4}),
                             rows("nothing", {f, 16, p, 16, i64, index, 0, p + 1024, 16, 4})}) {
      EXPECT_TRUE(gives(expected_explanation(pair), pair.explanation)) << name_of_rows(f) << ": " << pair.what;
    }
  }
  for (const Pair& pair : pairs) {
    EXPECT_TRUE(gives(expected_explanation(pair), pair.explanation)) << pair.what;
  }
}

INSTANTIATE_TEST_SUITE_P(On, BadProblems, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
