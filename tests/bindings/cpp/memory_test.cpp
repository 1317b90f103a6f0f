// Views, buffers, and what a context says of memory.
#include <unistd.h>

#include <array>
#include <complex>
#include <cstdio>
#include <fstream>

#include "fixture.hpp"

namespace {

using namespace gpumem_test;
using gpumem::matrix_view;
using gpumem::status;

class CppMemory : public CppOnEachContext {};
INSTANTIATE_TEST_SUITE_P(Contexts, CppMemory, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(CppViews, ShowWhatContainersHold) {
  std::vector<int> values{1, 2, 3, 4};
  const std::array<float, 3> constants{1, 2, 3};
  double plain[2] = {1, 2};
  const gpumem::host_view view(values);
  static_assert(std::is_same_v<decltype(view), const gpumem::host_view<int>>);
  view[1] = 7;
  EXPECT_EQ(values[1], 7);
  EXPECT_EQ(view.size(), 4);
  EXPECT_EQ(std::accumulate(view.begin(), view.end(), 0), 15);
  const gpumem::host_view<const int> reading = view;
  EXPECT_EQ(reading.subview(1, 2)[0], 7);
  EXPECT_EQ(gpumem::host_view(constants).size(), 3);
  EXPECT_EQ(gpumem::host_view<const double>(plain).size(), 2);
#if defined(__cpp_lib_span)
  EXPECT_EQ(gpumem::host_view(std::span(values).subspan(2)).size(), 2);
#endif
}

TEST(CppViews, RefuseWhatLiesOutside) {
  std::vector<int> values(10);
  const gpumem::host_view view(values);
  EXPECT_TRUE(throws(status::out_of_range, "3 elements from 8", [&] { (void)view.subview(8, 3); }));
  EXPECT_TRUE(throws(status::out_of_range, "-1", [&] { (void)view.subview(-1, 3); }));
  EXPECT_EQ(view.subview(10, 0).size(), 0);
  EXPECT_TRUE(throws(status::invalid_argument, "stride is 0", [&] { (void)gpumem::every(values, 0); }));
  EXPECT_EQ(gpumem::every(values, 3).size(), 4);
  EXPECT_EQ(gpumem::every(values, 5).size(), 2);
  EXPECT_EQ(gpumem::every(values, 100).size(), 1);
}

TEST(CppViews, AMatrixEndsWithItsMemory) {
  std::vector<int> values(11);
  EXPECT_EQ(matrix_view(values, 3, 3, 4).ld(), 4);  // 2 * 4 + 3
  EXPECT_TRUE(throws(status::out_of_range, "3 x 4", [&] { (void)matrix_view(values, 3, 4); }));
  EXPECT_TRUE(throws(status::invalid_argument, "ld is 2", [&] { (void)matrix_view(values, 3, 3, 2); }));
  EXPECT_TRUE(throws(status::invalid_argument, "-1 x", [&] { (void)matrix_view(values, -1, 3); }));
  EXPECT_TRUE(throws(status::out_of_range, "past", [&] { (void)matrix_view(values, INT64_MAX, 2, INT64_MAX); }));
  EXPECT_EQ(matrix_view(values, 0, 100).rows(), 0);
  const matrix_view two_rows(values, 2, 2, 3);
  EXPECT_EQ(two_rows.batched(4, 2).batches(), 4);  // 3 * 2 + 3 + 2
  EXPECT_TRUE(throws(status::out_of_range, "batches is 4", [&] { (void)two_rows.batched(4, 3); }));
  EXPECT_EQ(two_rows.batched(1000, 0).batches(), 1000);
}

// A container whose size leaves std::int64_t, as a span of a wrong length does.
struct Boundless {
  int* data() const { return nullptr; }
  std::size_t size() const { return std::size_t{1} << 63; }
};

TEST(CppViews, SizesThatLeaveTheirTypeHoldNothing) {
  const Boundless x;
  EXPECT_TRUE(throws(status::out_of_range, "past", [&] { (void)matrix_view(x, 1, 1); }));
  EXPECT_TRUE(throws(status::out_of_range, "past", [&] { (void)gpumem::grid_view(x, {1}); }));
  std::vector<int> values(4);
  EXPECT_EQ(matrix_view(values, 1, 4, (std::int64_t{1} << 62) + 4).pitch_bytes(), INT64_MAX);
}

TEST(CppElements, HaveTheirTypesInTheLibrary) {
  using gpumem::dtype;
  static_assert(gpumem::dtype_v<std::int8_t> == dtype::i8 && gpumem::dtype_v<std::uint8_t> == dtype::u8);
  static_assert(gpumem::dtype_v<std::int16_t> == dtype::i16 && gpumem::dtype_v<std::uint16_t> == dtype::u16);
  static_assert(gpumem::dtype_v<std::int32_t> == dtype::i32 && gpumem::dtype_v<std::uint32_t> == dtype::u32);
  static_assert(gpumem::dtype_v<long> == dtype::i64 && gpumem::dtype_v<unsigned long long> == dtype::u64);
  static_assert(gpumem::dtype_v<gpumem::f16> == dtype::f16 && gpumem::dtype_v<gpumem::bf16> == dtype::bf16);
  static_assert(gpumem::dtype_v<const float> == dtype::f32 && gpumem::dtype_v<double> == dtype::f64);
  static_assert(std::is_same_v<gpumem::reduced_t<const short>, std::int64_t>);
  static_assert(std::is_same_v<gpumem::reduced_t<unsigned char>, std::uint64_t>);
  static_assert(std::is_same_v<gpumem::reduced_t<gpumem::f16>, double>);
}

TEST_P(CppMemory, BuffersAreOfTheirKind) {
  auto device = ctx.alloc_device<float>(100);
  auto pinned = ctx.alloc_pinned<int>(10);
  const auto managed = ctx.alloc_managed<std::complex<double>>(3);
  EXPECT_EQ(ctx.query(device.address()).kind, GPUMEM_MEMORY_DEVICE);
  EXPECT_EQ(ctx.query(pinned.data()).kind, GPUMEM_MEMORY_PINNED);
  EXPECT_EQ(ctx.query(managed.data()).kind, GPUMEM_MEMORY_MANAGED);
  EXPECT_EQ(ctx.query(device.subview(4, 1).address()).offset_bytes, 16);
  EXPECT_EQ(ctx.memory_stats().device_bytes, 400);
  EXPECT_EQ(managed.size(), 3);
  pinned[9] = 5;
  EXPECT_EQ(*(pinned.end() - 1), 5);
  EXPECT_TRUE(ctx.alloc_device<int>(0).empty());
}

TEST_P(CppMemory, ABufferIsFreedOnce) {
  auto first = ctx.alloc_device<int>(10);
  const int* address = first.address();
  auto second = std::move(first);
  EXPECT_EQ(second.address(), address);
  EXPECT_EQ(first.address(), nullptr);  // NOLINT(bugprone-use-after-move): empty is what it is left
  first = ctx.alloc_device<int>(20);
  EXPECT_EQ(ctx.memory_stats().device_blocks, 2);
  first = std::move(second);
  EXPECT_EQ(ctx.memory_stats().device_blocks, 1);
  ctx.free(std::move(first));
  EXPECT_EQ(ctx.memory_stats().device_blocks, 0);
  int* kept = ctx.alloc_pinned<int>(3).release();
  EXPECT_EQ(ctx.memory_stats().pinned_blocks, 1);
  gpumem::pinned_buffer<int>(ctx.get(), kept, 3);  // takes it over, and ends
}

TEST_P(CppMemory, SizesThatLeaveTheirTypeAreRefused) {
  EXPECT_TRUE(throws(status::invalid_argument, "size", [&] { (void)ctx.alloc_device<double>(INT64_MAX / 4); }));
  EXPECT_TRUE(throws(status::invalid_argument, "size", [&] { (void)ctx.alloc_pinned<double>(-1); }));
  EXPECT_TRUE(throws(status::invalid_argument, "size", [&] { (void)ctx.own_stream().alloc<double>(INT64_MAX / 4); }));
  // Times 8 bytes each of these is 0.
  for (const std::int64_t size : {INT64_MIN, INT64_MIN / 4, std::int64_t{1} << 61}) {
    EXPECT_EQ(ctx.attempt().alloc_managed<double>(size).code(), status::invalid_argument) << size;
    EXPECT_EQ(ctx.own_stream().attempt().alloc<double>(size).code(), status::invalid_argument) << size;
    double x = 0;
    const gpumem::device_view<double> view(&x, size);
    EXPECT_EQ(ctx.attempt().copy(view, view).code(), status::invalid_argument) << size;
    EXPECT_EQ(ctx.attempt().register_host(view).code(), status::invalid_argument) << size;
  }
}

TEST_P(CppMemory, OfAStreamIsFreedInItsOrder) {
  auto stream = ctx.create_stream();
  auto other = ctx.create_stream();
  auto memory = stream.alloc<int>(1000, 4096);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.address()) % 4096, 0U);
  stream.fill(memory, 3);
  auto mark = ctx.create_event();
  stream.record(mark);
  other.wait(mark);
  other.uses(memory);
  auto sum = ctx.alloc_pinned<std::int64_t>(1);
  other.reduce(gpumem::reduce_op::sum, memory, sum);
  stream.free(std::move(memory));
  ctx.synchronize();
  EXPECT_EQ(sum[0], 3000);
  EXPECT_TRUE(throws(status::invalid_argument, "alignment", [&] { (void)stream.alloc<int>(1, 3); }));
}

TEST_P(CppMemory, OutlivesTheStreamThatItBelongsTo) {
  gpumem::device_buffer<int> memory;
  {
    auto stream = ctx.create_stream();
    memory = stream.alloc<int>(10);
  }
  EXPECT_EQ(ctx.memory_stats().device_blocks, 1);
  memory = {};
  EXPECT_EQ(ctx.memory_stats().device_blocks, 0);
}

TEST_P(CppMemory, OfTheProgramIsPinnedWhileItIsRegistered) {
  std::vector<float> mine(100000);
  {
    const auto range = ctx.register_host(mine);
    EXPECT_EQ(ctx.query(mine.data()).kind, GPUMEM_MEMORY_PINNED);
    EXPECT_TRUE(throws(status::invalid_argument, "", [&] { (void)ctx.register_host(mine); }));
  }
  EXPECT_EQ(ctx.query(mine.data()).kind, GPUMEM_MEMORY_PAGEABLE);
  ctx.unregister(ctx.register_host(mine));
  EXPECT_EQ(ctx.memory_stats().registered_ranges, 0);
}

TEST_P(CppMemory, ManagedMovesAndTakesAdvice) {
  auto memory = ctx.alloc_managed<int>(100000);
  ctx.fill(memory, 1);
  const auto device = ctx.device();
  if (GetParam() == On::cuda && device.concurrent_managed == 0) GTEST_SKIP() << "no concurrent managed access";
  ctx.advise(memory, gpumem::advice::read_mostly);
  ctx.prefetch(memory, gpumem::device_host);
  ctx.own_stream().prefetch(memory, device.device);
  ctx.synchronize();
  EXPECT_GE(ctx.query_managed(memory).host_bytes, 0);
  ctx.advise(memory, gpumem::advice::unset_read_mostly);
  std::vector<int> heap(10);
  EXPECT_TRUE(throws(status::invalid_pointer, "", [&] { (void)ctx.query_managed(heap); }));
}

TEST_P(CppMemory, ReportsNameIt) {
  std::vector<std::string> messages;
  auto log = [&](gpumem::log_level level, std::string_view message) {
    if (level != gpumem::log_level::info) messages.emplace_back(message);
  };
  {
    gpumem::context other(cpp_options(GetParam()));
    other.set_log(log);
    auto lost = other.alloc_device<int>(10);
    other.label(lost, "what was lost");
    (void)lost.release();
  }
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(messages[0].find("what was lost"), std::string::npos) << messages[0];
  ctx.set_log(nullptr);
}

TEST_P(CppMemory, DamageIsFoundInDebugMode) {
  EXPECT_TRUE(throws(status::unsupported, "", [&] { ctx.check_memory(); }));
  auto options = cpp_options(GetParam());
  options.debug_memory = 1;
  const gpumem::context watched(options);
  auto memory = watched.alloc_pinned<char>(10);
  watched.check_memory();
  memory.data()[10] = 'x';
  EXPECT_TRUE(throws(status::corrupted, "10", [&] { watched.check_memory(); }));
  EXPECT_EQ(watched.attempt().free(std::move(memory)).code(), status::corrupted);
  EXPECT_TRUE(memory.empty());  // NOLINT(bugprone-use-after-move): it was freed all the same
}

TEST_P(CppMemory, IsTracedAndTrimmed) {
  const std::string path = testing::TempDir() + "gpumem_cpp_trace." + std::to_string(::getpid());
  ctx.trace(path);
  {
    auto stream = ctx.create_stream(), other = ctx.create_stream();
    const auto memory = stream.alloc<int>(10);
    other.uses(memory);
  }
  ctx.end_trace();
  ctx.trim();
  std::ifstream trace(path);
  std::string line, kinds;
  std::getline(trace, line);
  EXPECT_EQ(line, "gpumem-trace 1");
  while (std::getline(trace, line)) {
    kinds += line[0];
    if (GetParam() == On::cuda) continue;  // a device without stream-ordered memory has it for all streams
    EXPECT_NE(line.substr(line.rfind(' ')), " 0x0") << "for all streams: " << line;
  }
  EXPECT_EQ(kinds, "auf");
  std::remove(path.c_str());
}

}  // namespace
