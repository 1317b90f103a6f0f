// Contexts, streams and events; exceptions and results; memory resources.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

#include "fixture.hpp"

namespace {

using namespace gpumem_test;
using gpumem::reduce_op;
using gpumem::status;

class CppContext : public CppOnEachContext {};
INSTANTIATE_TEST_SUITE_P(Contexts, CppContext, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(CppLibrary, SaysWhatItIs) {
  EXPECT_EQ(gpumem::library_version().minor, gpumem::header_version.minor);
  EXPECT_STREQ(gpumem::status_name(status::out_of_memory), "GPUMEM_OUT_OF_MEMORY");
  EXPECT_GE(gpumem::device_count(), 0);
  EXPECT_EQ(gpumem::query_device(gpumem::device_host).backend, GPUMEM_BACKEND_HOST);
  EXPECT_EQ(gpumem::query_device<gpumem::returning>(-77).code(), status::invalid_argument);
  EXPECT_FALSE(gpumem::variants(gpumem::family::transpose).empty());
  EXPECT_TRUE(throws(status::invalid_argument, "", [] { (void)gpumem::variants(static_cast<gpumem::family>(99)); }));
}

TEST_P(CppContext, HandlesAreMoved) {
  static_assert(!std::is_copy_constructible_v<gpumem::context> &&
                std::is_nothrow_move_constructible_v<gpumem::context>);
  static_assert(!std::is_copy_constructible_v<gpumem::stream> && std::is_nothrow_move_constructible_v<gpumem::stream>);
  static_assert(!std::is_copy_constructible_v<gpumem::event> && std::is_nothrow_move_constructible_v<gpumem::event>);
  static_assert(!std::is_copy_constructible_v<gpumem::device_buffer<int>>);
  auto stream = ctx.create_stream();
  gpumem_stream* handle = stream.get();
  gpumem::stream moved(std::move(stream));
  EXPECT_EQ(moved.get(), handle);
  moved = ctx.create_stream();
  moved.synchronize();
  gpumem::context other(cpp_options(GetParam()));
  gpumem::context there(std::move(other));
  there.synchronize();
  auto& same = there;
  there = std::move(same);
  there.synchronize();
  there = gpumem::context(cpp_options(GetParam()));
  there.warmup();
  EXPECT_EQ(there.device().backend, GetParam() == On::host ? GPUMEM_BACKEND_HOST : GPUMEM_BACKEND_CUDA);
}

TEST_P(CppContext, WhatWasMovedFromIsRefused) {
  const auto other = std::make_unique<gpumem::context>(cpp_options(GetParam()));
  const auto stream = std::make_unique<gpumem::stream>(ctx.create_stream());
  const auto mark = std::make_unique<gpumem::event>(ctx.create_event());
  gpumem::context there(std::move(*other));
  gpumem::stream moved(std::move(*stream));
  const gpumem::event taken(std::move(*mark));
  std::vector<int> x(3);
  const auto refused = [](auto call) { return throws(status::invalid_argument, "it was moved from", call); };
  EXPECT_TRUE(refused([&] { (void)other->reduce(reduce_op::sum, x); }));
  EXPECT_TRUE(refused([&] { (void)other->alloc_pinned<int>(1); }));
  EXPECT_EQ(other->attempt().synchronize().error().sentence.find("ctx is NULL"), 0U);
  EXPECT_TRUE(refused([&] { stream->fill(x, 1); }));
  EXPECT_TRUE(refused([&] { (void)stream->alloc<int>(1); }));
  EXPECT_TRUE(refused([&] { moved.record(*mark); }));
  other->close();
  *stream = std::move(moved);
  stream->record(taken);
  stream->synchronize();
  *other = std::move(there);
  other->synchronize();
}

TEST_P(CppContext, IsBusyWhileItsStreamsLive) {
  gpumem::context other(cpp_options(GetParam()));
  {
    const auto stream = other.create_stream();
    EXPECT_TRUE(throws(status::busy, "", [&] { other.close(); }));
    other.check();
  }
  other.close();
  EXPECT_TRUE(throws(status::invalid_handle, "", [&] { other.synchronize(); }));
}

// Makes a context in a function and returns only the object that it made there.
template <class Make>
auto made_by_its_own(On on, gpumem_ctx*& handle, Make make) {
  const gpumem::context other(cpp_options(on));
  handle = other.get();
  return make(other);
}

TEST_P(CppContext, EndsWithTheLastOfWhatItMade) {
  std::vector<int> x(3);
  const auto keeps = [&](auto make, auto use) {
    gpumem_ctx* handle = nullptr;
    {
      auto kept = made_by_its_own(GetParam(), handle, make);
      EXPECT_EQ(gpumem_ctx_status(handle), GPUMEM_OK);
      const auto moved = std::move(kept);
      use(moved);
    }
    EXPECT_EQ(gpumem_ctx_status(handle), GPUMEM_INVALID_HANDLE);
  };
  keeps([](auto& c) { return c.template alloc_device<int>(3); }, [](auto& b) { EXPECT_EQ(b.size(), 3); });
  keeps(
      [](auto& c) {
        auto b = c.template alloc_pinned<int>(1000);
        c.fill(b, 7);
        return b;
      },
      [](auto& b) { EXPECT_EQ(b[999], 7); });
  keeps([](auto& c) { return *c.attempt().template alloc_managed<int>(3); }, [](auto& b) { EXPECT_EQ(b.size(), 3); });
  keeps([](auto& c) { return c.create_stream(); }, [&](auto& s) { s.synchronize(); });
  keeps([](auto& c) { return c.own_stream().template alloc<int>(3); }, [](auto& b) { EXPECT_EQ(b.size(), 3); });
  keeps([](auto& c) { return c.create_stream().template alloc<int>(3); }, [](auto& b) { EXPECT_EQ(b.size(), 3); });
  keeps([](auto& c) { return c.create_event(); }, [](auto&) {});
  keeps([&](auto& c) { return c.register_host(x); }, [](auto&) {});
  keeps([](auto& c) { return gpumem::memory_resource::pinned(c); },
        [](auto r) {
          EXPECT_EQ(std::pmr::vector<int>({1, 2}, &r)[1], 2);
        });
}

TEST_P(CppContext, IsNotClosedUnderItsMemory) {
  gpumem::context other(cpp_options(GetParam()));
  auto memory = other.alloc_pinned<int>(10);
  EXPECT_TRUE(throws(status::busy, "live objects of the context is 1", [&] { other.close(); }));
  memory = {};
  gpumem_stream* raw = nullptr;
  ASSERT_EQ(gpumem_stream_create(other.get(), &raw), GPUMEM_OK);
  EXPECT_TRUE(throws(status::busy, "", [&] { other.close(); }));
  EXPECT_EQ(gpumem_stream_destroy(raw), GPUMEM_OK);
  other.close();
}

TEST_P(CppContext, StreamsAndEventsOrderWork) {
  auto first = ctx.create_stream(), second = ctx.create_stream();
  auto begin = ctx.create_event(), end = ctx.create_event();
  auto memory = ctx.alloc_pinned<int>(1 << 16);
  first.record(begin);
  first.fill(memory, 1);
  first.record(end);
  second.wait(end);
  auto sum = ctx.alloc_pinned<std::int64_t>(1);
  second.reduce(reduce_op::sum, memory, sum);
  second.synchronize();
  EXPECT_TRUE(second.done());
  EXPECT_EQ(sum[0], 1 << 16);
  ctx.synchronize(end);
  EXPECT_GE(ctx.elapsed(begin, end).count(), 0);
  ctx.own_stream().fill(memory, 2);
  ctx.own_stream().synchronize();
  EXPECT_EQ(memory[7], 2);
  if (GetParam() == On::host) {
    ctx.wrap_stream(nullptr).fill(memory, 3);
    EXPECT_TRUE(throws(status::unsupported, "", [&] { (void)ctx.wrap_stream(&memory); }));
    EXPECT_TRUE(throws(status::unsupported, "", [&] { (void)ctx.own_stream().native(); }));
  }
}

TEST_P(CppContext, AStreamIsNotDoneBeforeItsWork) {
  if (GetParam() != On::host) GTEST_SKIP() << "the host alone runs work that can be held up";
  std::atomic<bool> go = false;
  auto pool = [&](std::int64_t tasks, auto task) {
    while (!go) std::this_thread::yield();
    for (std::int64_t i = 0; i < tasks; ++i) task(i);
  };
  auto options = cpp_options(GetParam());
  options.set_pool(pool);
  options.host_threads = 2;
  const gpumem::context pooled(options);
  auto memory = pooled.alloc_pinned<int>(1 << 22);
  auto stream = pooled.create_stream();
  stream.fill(memory, 4);
  EXPECT_FALSE(stream.done());
  EXPECT_TRUE(throws(status::busy, "", [&] { gpumem::detail::check(gpumem_ctx_destroy(pooled.get())); }));
  go = true;
  stream.synchronize();
  EXPECT_TRUE(stream.done());
  EXPECT_EQ(memory[memory.size() - 1], 4);
}

TEST_P(CppContext, FailuresAreExceptionsOrResults) {
  const std::vector<int> nothing;
  EXPECT_TRUE(throws(status::empty, "", [&] { (void)ctx.reduce(reduce_op::max, nothing); }));
  const auto attempt = ctx.attempt();
  auto owned = *attempt.alloc_pinned<int>(3);  // moved out, as from std::expected
  EXPECT_EQ(owned.size(), 3);
  const gpumem::result<std::int64_t> none = attempt.reduce(reduce_op::max, nothing);
  EXPECT_FALSE(none);
  EXPECT_EQ(none.code(), status::empty);
  EXPECT_EQ(none.error().sentence, gpumem::last_error());
  EXPECT_TRUE(throws(status::empty, none.error().sentence, [&] { (void)none.value(); }));
  EXPECT_EQ(none.value_or(7), 7);
  EXPECT_EQ(gpumem::result<std::int64_t>(none).value_or(-1), -1);

  const std::vector<int> some{5};
  const auto five = attempt.reduce(reduce_op::max, some);
  ASSERT_TRUE(five.has_value());
  EXPECT_EQ(*five, 5);
  EXPECT_EQ(five.code(), status::ok);

  std::vector<int> two(2);
  const gpumem::result<void> unequal = attempt.copy(two, some);
  EXPECT_EQ(unequal.code(), status::invalid_argument);
  EXPECT_NE(unequal.error().sentence.find("dst is 2, src is 1"), std::string::npos);
  EXPECT_TRUE(throws(status::invalid_argument, "copy", [&] { unequal.value(); }));
  EXPECT_TRUE(attempt.fill(two, 3).has_value());

  auto stream = attempt.create_stream();
  ASSERT_TRUE(stream);
  EXPECT_TRUE(stream->attempt().done().value());
  EXPECT_FALSE(stream->attempt().alloc<int>(1, 3));
  auto memory = attempt.alloc_device<int>(10).value();
  EXPECT_EQ(memory.size(), 10);
  EXPECT_EQ(gpumem::context::create(cpp_options(GetParam())).code(), status::ok);
  gpumem::context_options wrong;
  wrong.device = 77777;
  EXPECT_FALSE(gpumem::context::create(wrong));
  EXPECT_TRUE(throws(gpumem::query_device<gpumem::returning>(77777).code(), "", [&] { gpumem::context c(wrong); }));
}

TEST_P(CppContext, VariantsAreForcedAndExplained) {
  std::vector<int> x(10);
  (void)ctx.reduce(reduce_op::sum, x);
  const std::string line = gpumem::last_problem();
  EXPECT_NE(line.find("reduce"), std::string::npos);
  EXPECT_NE(ctx.explain(line, gpumem::format::json).find("gpumem.explain/1"), std::string::npos);
  EXPECT_EQ(ctx.explain(line).find('\0'), std::string::npos);
  EXPECT_TRUE(throws(status::invalid_argument, "nonsense", [&] { (void)ctx.explain("reduce nonsense"); }));
  EXPECT_TRUE(throws(status::not_found, "nonsense", [&] { ctx.force(gpumem::family::reduce, "nonsense"); }));
  ctx.force(gpumem::family::reduce, std::string(gpumem::variants(gpumem::family::reduce).back()));
  ctx.force(gpumem::family::reduce, nullptr);
  EXPECT_EQ(ctx.reduce(reduce_op::sum, x), 0);
}

TEST_P(CppContext, MeasuresAndTunes) {
  EXPECT_GT(ctx.ceiling().read, 0);
  std::vector<int> x(10);
  ctx.begin_profile(10);
  (void)ctx.reduce(reduce_op::sum, x);
  ctx.end_profile();
  const auto rows = ctx.profile();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].problem, gpumem::last_problem());
  EXPECT_EQ(rows[0].calls, 1);
  const std::string path = testing::TempDir() + "gpumem_cpp_profile." + std::to_string(::getpid());
  ctx.write_profile(gpumem::format::csv, path);
  EXPECT_EQ(std::remove(path.c_str()), 0);
  gpumem::tune_options quick;
  quick.budget_s = 0.01;
  const auto info = ctx.tune("transpose bytes=4 rows=5 cols=6 src=pageable dst=pageable", quick);
  EXPECT_NE(std::string(info.reason), "");
  ctx.save_tuning(path);
  ctx.clear_tuning();
  EXPECT_EQ(ctx.load_tuning(path).taken, info.adopted);
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(CppProfile, HasNoRowsOfOneBegunAnew) {
  const gpumem::context ctx(cpp_options(On::host));
  std::atomic<bool> enough{false};
  std::thread other([&] {
    std::vector<int> x(10);
    while (!enough) {
      ctx.begin_profile(10);
      (void)ctx.reduce(reduce_op::sum, x);
    }
  });
  for (int i = 0; i < 50000; ++i) {
    for (const auto& row : ctx.profile()) EXPECT_GT(row.calls, 0);
  }
  enough = true;
  other.join();
}

TEST(CppSharedContext, IsLentOut) {
  const gpumem::context_ref shared = gpumem::shared_context(gpumem::device_host);
  EXPECT_EQ(shared.device().device, gpumem::device_host);
  EXPECT_EQ(gpumem::shared_context(gpumem::device_host).get(), shared.get());
  EXPECT_FALSE(gpumem::shared_context<gpumem::returning>(gpumem::device_best));
}

TEST_P(CppContext, ContainersTakeItsMemory) {
  for (auto resource : {gpumem::memory_resource::pinned(ctx), gpumem::memory_resource::managed(ctx)}) {
    const bool pinned = resource == gpumem::memory_resource::pinned(ctx);
    std::pmr::vector<int> values({1, 2, 3}, &resource);
    EXPECT_EQ(ctx.query(values.data()).kind, pinned ? GPUMEM_MEMORY_PINNED : GPUMEM_MEMORY_MANAGED);
    EXPECT_EQ(ctx.reduce(reduce_op::sum, values), 6);
    void* p = resource.allocate(0, 256);
    EXPECT_NE(p, nullptr);
    resource.deallocate(p, 0, 256);
    try {
      (void)resource.allocate(1, 512);
      FAIL() << "an alignment of 512 was not refused";
    } catch (const std::bad_alloc& e) {
      EXPECT_STREQ(e.what(), "alignment is 512, expected 256 or less");
    }
    try {
      (void)resource.allocate(std::size_t{1} << 60);
      FAIL() << "an exbibyte was allocated";
    } catch (const gpumem::bad_alloc& e) {
      EXPECT_EQ(e.code(), status::out_of_memory);
      EXPECT_EQ(e.what(), gpumem::last_error());
    }
    EXPECT_THROW((void)resource.allocate(std::size_t{1} << 63), std::bad_alloc);
  }
  EXPECT_FALSE(gpumem::memory_resource::pinned(ctx) == gpumem::memory_resource::managed(ctx));
}

}  // namespace
