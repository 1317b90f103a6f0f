// What calls, and tasks in the program's own pool, take of their thread's stack: threads of a program may have little.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "api/each_call.hpp"
#include "support/arithmetic.hpp"
#include "support/environment.hpp"
#include "support/map.hpp"
#include "support/sanitizers.hpp"
#include "support/scan.hpp"

namespace gpumem_test {
namespace {

constexpr size_t kMost = 16384;       // as the header says
constexpr size_t kStack = 128 << 10;  // so that more is a figure, not a crash
constexpr unsigned char kPaint = 0xa5;

// A thread's stack on which is seen how far down it was written.
class PaintedStack {
 public:
  PaintedStack()
      : p_(static_cast<unsigned char*>(
            mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0))) {}
  ~PaintedStack() { munmap(p_, kStack); }
  PaintedStack(const PaintedStack&) = delete;
  PaintedStack& operator=(const PaintedStack&) = delete;

  // Bytes below the frame that makes the call.
  size_t taken_by(const CallOnce& call) {
    std::memset(p_, kPaint, kStack);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, p_, kStack);
    Frame frame{&call, nullptr};
    pthread_t thread{};
    EXPECT_EQ(pthread_create(&thread, &attributes, enter, &frame), 0);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
    const unsigned char* lowest = std::find_if(p_, p_ + kStack, [](unsigned char c) { return c != kPaint; });
    return static_cast<size_t>(frame.address - lowest);
  }

 private:
  struct Frame {
    const CallOnce* call;
    const unsigned char* address;
  };
  static void* enter(void* user) {
    auto& frame = *static_cast<Frame*>(user);
    frame.address = static_cast<const unsigned char*>(__builtin_frame_address(0));
    (*frame.call)();
    return nullptr;
  }

  unsigned char* const p_;
};

// A first call looks symbols up on the same stack, which is not the library's doing.
void expect_little(PaintedStack& stack, const std::string& name, const CallOnce& call) {
  call();
  EXPECT_LE(stack.taken_by(call), kMost) << name;
}

// A pool of the calling thread alone: what the tasks take counts as the call's.
void run_here(void*, int64_t tasks, gpumem_task_fn task, void* state) {
  for (int64_t i = 0; i < tasks; ++i) task(state, i);
}

class Stack : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer makes frames larger";
    const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
    gpumem_ctx_options options = options_for(On::host, 4);
    options.parallel_for = run_here;
    if (gpumem_ctx_create(&options, &ctx_) != GPUMEM_OK) GTEST_SKIP() << last_error();
  }
  void TearDown() override { EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx_))); }

  void expect(const std::string& name, const CallOnce& call) { expect_little(stack_, name, call); }

  // The call under each variant that takes it.
  void expect_each(gpumem_family family, const std::string& name, const CallOnce& call) {
    int32_t count = 0;
    ASSERT_TRUE(ok(gpumem_variant_count(family, &count)));
    for (int32_t i = 0; i < count; ++i) {
      const char* variant = nullptr;
      ASSERT_TRUE(ok(gpumem_variant_name(family, i, &variant)));
      ASSERT_TRUE(ok(gpumem_variant_force(ctx_, family, variant)));
      if (call() == GPUMEM_OK) expect(name + " by " + variant, call);
    }
    ASSERT_TRUE(ok(gpumem_variant_force(ctx_, family, nullptr)));
  }

  gpumem_ctx* ctx_ = nullptr;
  PaintedStack stack_;
  std::vector<unsigned char> src_ = std::vector<unsigned char>(size_t{4} << 20);
  std::vector<unsigned char> dst_ = src_;
  void* const x_ = src_.data();
  void* const y_ = dst_.data();
};

TEST_P(Stack, OfTransposes) {
  constexpr gpumem_family kFamily = GPUMEM_FAMILY_TRANSPOSE;
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const std::string of = " of " + std::to_string(bytes) + " bytes";
    const auto transpose = [&](int64_t rows, int64_t cols, void* dst) -> CallOnce {
      return [=, this] { return gpumem_transpose(ctx_, bytes, rows, cols, x_, cols, dst, rows); };
    };
    expect_each(kFamily, "transpose" + of, transpose(500, 500, y_));
    expect_each(kFamily, "small transpose" + of, transpose(20, 20, y_));
    expect_each(kFamily, "transpose in place" + of, transpose(500, 500, x_));
    expect_each(kFamily, "small transpose in place" + of, transpose(20, 20, x_));
    expect_each(kFamily, "oblong transpose in place" + of, transpose(512, 300, x_));
    expect_each(kFamily, "transpose of structures" + of, transpose(20000, 3, y_));
    expect_each(kFamily, "transpose to structures" + of, transpose(3, 20000, y_));
    expect_each(kFamily, "batched transpose" + of,
                [&] { return gpumem_transpose_batched(ctx_, bytes, 64, 64, x_, 64, 4096, y_, 64, 4096, 50); });
  }
}

TEST_P(Stack, OfPermutationsRowsAndCopies) {
  const int64_t extents[3] = {64, 60, 50};
  const int32_t order[3] = {2, 1, 0};
  const int32_t planes[3] = {1, 0, 2};
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int32_t* of : {order, planes}) {
      expect_each(GPUMEM_FAMILY_PERMUTE, "permute",
                  [&] { return gpumem_permute(ctx_, bytes, 3, extents, of, x_, nullptr, y_, nullptr); });
    }
  }
  std::vector<int32_t> index(1000);
  std::iota(index.begin(), index.end(), 0);
  for (const gpumem_family family : {GPUMEM_FAMILY_GATHER, GPUMEM_FAMILY_SCATTER}) {
    const Rows rows{family, 100, x_, 100, GPUMEM_I32, index.data(), 1000, y_, 100, 1000};
    expect_each(family, "rows", [&] { return run(ctx_, rows); });
  }
  const double pattern[2] = {1, 2};
  expect_each(GPUMEM_FAMILY_COPY, "copy", [&] { return gpumem_copy(ctx_, y_, x_, 3 << 20); });
  expect_each(GPUMEM_FAMILY_COPY, "copy_3d",
              [&] { return gpumem_copy_3d(ctx_, y_, 300, 60000, x_, 200, 40000, 199, 100, 50); });
  expect_each(GPUMEM_FAMILY_FILL, "fill", [&] { return gpumem_fill(ctx_, y_, pattern, 16, 200000); });
  expect_each(GPUMEM_FAMILY_FILL, "fill_2d", [&] { return gpumem_fill_2d(ctx_, y_, 4000, pattern, 3, 1000, 1000); });
}

TEST_P(Stack, OfReductions) {
  int64_t results[4096];
  int64_t offsets[101];
  for (int64_t i = 0; i <= 100; ++i) offsets[i] = i * i;
  for (gpumem_dtype dtype = GPUMEM_I8; dtype <= GPUMEM_F64; ++dtype) {
    for (gpumem_reduce_op op = GPUMEM_SUM; op <= GPUMEM_ARG_MAX_VALID; ++op) {
      const std::string name = "dtype " + std::to_string(dtype) + ", operation " + std::to_string(op);
      for (const int64_t n : {100, 1000, 100001}) {
        for (const int64_t stride : {1, 3}) {
          expect_each(GPUMEM_FAMILY_REDUCE, name + ", n " + std::to_string(n), [&] {
            return run(ctx_, Reduction{dtype, op, x_, n, stride, y_, stride}, results);
          });
        }
      }
      for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
        expect_each(GPUMEM_FAMILY_REDUCE_AXIS, name + ", axis", [&] {
          return run(ctx_, Axis{dtype, op, axis, x_, 1500, 40, 41, 1, 0}, results);
        });
      }
      expect_each(GPUMEM_FAMILY_REDUCE_SEGMENTS, name + ", segments", [&] {
        return run(ctx_, Segmented{dtype, op, x_, 10000, offsets, 100}, results);
      });
    }
  }
}

TEST_P(Stack, OfElementwiseWork) {
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    const Axpby axpby{dtype, bits_of(dtype, 2), x_, bits_of(dtype, 3), y_, y_, 100001};
    expect_each(GPUMEM_FAMILY_AXPBY, "axpby", [&] { return run(ctx_, axpby); });
    for (const bool product : {false, true}) {
      const Arithmetic views{product,
                             dtype,
                             {40, 50, 50},
                             {bits_of(dtype, 2), bits_of(dtype, 3)},
                             {{x_, {2600, 51, 1}}, {x_, {0, 0, 1}}},
                             {y_, {2500, 50, 1}}};
      expect_each(GPUMEM_FAMILY_ARITHMETIC, "arithmetic", [&] { return run(ctx_, views); });
      if (product) continue;
      Arithmetic many = views;
      many.factors.assign(16, bits_of(dtype, 2));
      many.x.assign(16, views.x[0]);
      many.numerators.assign(16, static_cast<const double*>(x_));
      many.denominators = many.numerators;
      expect_each(GPUMEM_FAMILY_ARITHMETIC, "arithmetic, many terms", [&] { return run(ctx_, many); });
      double results[3] = {};
      many.w.assign(3, views.x[0]);
      many.results = results;
      expect_each(GPUMEM_FAMILY_ARITHMETIC, "arithmetic, dot products", [&] { return run(ctx_, many); });
    }
  }
  for (const gpumem_dtype from : kAllTypes) {
    for (const gpumem_dtype to : kAllTypes) {
      expect_each(GPUMEM_FAMILY_CONVERT, "convert", [&] { return run(ctx_, Convert{from, x_, to, y_, 100001}); });
    }
  }
  for (const gpumem_dtype dtype : kAllTypes) {
    MapCall call{MapFunction::map, GPUMEM_MAP_MAXIMUM, dtype, GPUMEM_F32, 8, {20, 3000}, {}, {y_, {3001, 1}}};
    call.x = {{x_, {3001, 1}}, {x_, {1, 0}}};
    expect_each(GPUMEM_FAMILY_MAP, "map", [&] { return run(ctx_, call); });
    call.kind = MapFunction::compare;
    call.op = GPUMEM_LESS;
    expect_each(GPUMEM_FAMILY_MAP, "compare", [&] { return run(ctx_, call); });
    call.x.push_back({x_, {2, 0}});
    call.kind = MapFunction::where;
    expect_each(GPUMEM_FAMILY_MAP, "where", [&] { return run(ctx_, call); });
    call.kind = MapFunction::convert_scaled;
    expect_each(GPUMEM_FAMILY_MAP, "convert_scaled", [&] { return run(ctx_, call); });
    const Sort sort{dtype, x_, 100001, 1, y_};
    expect_each(GPUMEM_FAMILY_SORT, "sort", [&] { return run(ctx_, sort); });
    for (const gpumem_reduce_op op : {GPUMEM_MIN, is_floating(dtype) ? GPUMEM_PROD : GPUMEM_MAX}) {
      expect_each(GPUMEM_FAMILY_SCAN, "scan", [&] { return run(ctx_, Scan{dtype, op, 0, x_, 3001, y_, dtype}); });
    }
  }
  for (const gpumem_filter filter : {GPUMEM_FILTER_NEAREST, GPUMEM_FILTER_BILINEAR}) {
    for (const gpumem_dtype dtype : {GPUMEM_U8, GPUMEM_U16, GPUMEM_F32}) {
      for (int32_t channels = 1; channels <= 4; ++channels) {
        const Resize resize{filter, dtype, channels, x_, 100, 90, 400 * 16, y_, 130, 140, 140 * 16};
        expect_each(GPUMEM_FAMILY_RESIZE, "resize", [&] { return run(ctx_, resize); });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Loops, Stack, testing::Values("base", "avx2", "avx512"));

TEST(EachCall, TakesLittleStack) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes frames larger";
  on_each_call([](const std::string&, const CallOnce& call) { call(); });
  PaintedStack stack;
  on_each_call([&](const std::string& name, const CallOnce& call) { EXPECT_LE(stack.taken_by(call), kMost) << name; });
}

}  // namespace
}  // namespace gpumem_test
