// gpumem_copy_boxes: known boxes and the outcomes.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "support/boxes.hpp"
#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

using BoxesCall = gpumem_status (*)(gpumem_ctx*, const Boxes&);

gpumem_status enqueued(gpumem_ctx* ctx, const Boxes& b) {
  const gpumem_status status = run_async(ctx, b, nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
constexpr BoxesCall kCalls[] = {run, enqueued};

class CopyBoxesApi : public OnEachContext {
 protected:
  // Four boxes of 2 x 3 bytes from the first 64 bytes of 128, with rows of 4, to the last 64.
  static Boxes sound(void* block) {
    Boxes b{.element_bytes = 1, .ndim = 2};
    auto* const bytes = static_cast<char*>(block);
    for (int k = 0; k < 4; ++k) {
      b.add({2, 3}, bytes + 16 * k, bytes + 64 + 16 * k);
      b.src_strides.insert(b.src_strides.end(), {4, 1});
      b.dst_strides.insert(b.dst_strides.end(), {8, 2});
    }
    return b;
  }
};

TEST_P(CopyBoxesApi, KnownBoxes) {
  // The inner 2 x 2 of 4 x 4 numbers, its transpose, and one number of each.
  int32_t src[16];
  std::iota(src, src + 16, 0);
  int32_t dst[10];
  Boxes b{.element_bytes = 4, .ndim = 2};
  b.add({2, 2}, src + 5, dst);
  b.add({2, 2}, src + 5, dst + 4);
  b.add({1, 1}, src + 15, dst + 9);
  b.src_strides = {4, 1, 1, 4, 0, 0};
  for (const BoxesCall call : kCalls) {
    std::fill_n(dst, 10, -1);
    ASSERT_TRUE(ok(call(ctx, b)));
    const int32_t expected[10] = {5, 6, 9, 10, 5, 9, 6, 10, -1, 15};
    EXPECT_EQ(std::memcmp(dst, expected, sizeof dst), 0);
  }
}

// The cells next to a border and their copies beyond the other border, in one array, on both sides.
TEST_P(CopyBoxesApi, BoxesOfOneArrayMayLieBetweenEachOther) {
  constexpr int64_t kCols = 10;
  constexpr int64_t kRows = 6;
  for (const gpumem_memory_kind kind : kAllKinds) {
    std::vector<int16_t> field(kRows * kCols);
    std::iota(field.begin(), field.end(), int16_t{1});
    const Memory memory(ctx, kind, kRows * kCols * 2);
    const auto at = [&](int64_t col) { return memory.bytes() + 2 * col; };
    Boxes b{.element_bytes = 2, .ndim = 2};
    b.add({kRows, 1}, at(kCols - 2), at(0));
    b.add({kRows, 1}, at(1), at(kCols - 1));
    b.src_strides = b.dst_strides = {kCols, 1, kCols, 1};
    for (const BoxesCall call : kCalls) {
      upload(ctx, memory.get(), field.data(), field.size() * 2);
      ASSERT_TRUE(ok(call(ctx, b)));
      std::vector<int16_t> expected = field;
      for (size_t row = 0; row < kRows; ++row) {
        expected[row * kCols] = field[row * kCols + kCols - 2];
        expected[row * kCols + kCols - 1] = field[row * kCols + 1];
      }
      const Bytes bytes = download(ctx, memory.get(), field.size() * 2);
      EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0) << kind_name(kind);
    }
  }
}

TEST_P(CopyBoxesApi, OfNothingIsANoOp) {
  Bytes bytes(128, 3);
  for (const BoxesCall call : kCalls) {
    EXPECT_TRUE(ok(call(ctx, Boxes{})));
    EXPECT_TRUE(ok(call(ctx, Boxes{.ndim = 8})));
    Boxes b = sound(bytes.data());
    for (int64_t& extent : b.extents) extent = extent == 3 ? 0 : extent;
    std::fill(b.src.begin(), b.src.end(), nullptr);
    std::fill(b.dst.begin(), b.dst.end(), nullptr);
    EXPECT_TRUE(ok(call(ctx, b)));
    Boxes other = sound(bytes.data());
    other.extents[2] = 0;  // of box 1
    other.src[1] = other.dst[1] = nullptr;
    EXPECT_TRUE(ok(call(ctx, other)));
  }
  EXPECT_TRUE(ok(gpumem_copy_boxes(ctx, 8, 3, 0, nullptr, nullptr, nullptr, nullptr, nullptr)));
  EXPECT_TRUE(ok(gpumem_copy_boxes_async(ctx, 8, 3, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr)));
  EXPECT_EQ(bytes, Bytes(128, 3));
}

TEST_P(CopyBoxesApi, ABoxWithoutAxesIsOneElement) {
  const double src[2] = {1.5, 2.5};
  double dst[2] = {};
  const void* const from[2] = {&src[1], &src[0]};
  void* const to[2] = {&dst[0], &dst[1]};
  ASSERT_TRUE(ok(gpumem_copy_boxes(ctx, 8, 0, 2, nullptr, from, nullptr, to, nullptr)));
  EXPECT_EQ(dst[0], 2.5);
  EXPECT_EQ(dst[1], 1.5);
}

TEST_P(CopyBoxesApi, RefusesBadArgumentsAndNamesTheBox) {
  Bytes bytes(128, 3);
  const Boxes good = sound(bytes.data());
  const auto refuses = [&](gpumem_status status, std::initializer_list<std::string> words, auto&& spoil) {
    for (const BoxesCall call : kCalls) {
      Boxes b = good;
      spoil(b);
      EXPECT_TRUE(refused(status, call(ctx, b), words));
    }
  };
  constexpr gpumem_status kInvalid = GPUMEM_INVALID_ARGUMENT;
  refuses(kInvalid, {"element_bytes", "3"}, [](Boxes& b) { b.element_bytes = 3; });
  refuses(kInvalid, {"ndim is -1"}, [](Boxes& b) { b.ndim = -1; });
  refuses(kInvalid, {"ndim is 9", "8"}, [](Boxes& b) { b.ndim = 9; });
  refuses(kInvalid, {"extents[7] is -2"}, [](Boxes& b) { b.extents[7] = -2; });
  refuses(kInvalid, {"src_strides[3] is -1"}, [](Boxes& b) { b.src_strides[3] = -1; });
  refuses(kInvalid, {"dst_strides[0] is -8"}, [](Boxes& b) { b.dst_strides[0] = -8; });
  refuses(kInvalid, {"dst_strides[4] is 4", "at least 5"}, [](Boxes& b) { b.dst_strides[4] = 4; });
  refuses(kInvalid, {"dst_strides[7] is 0", "at least 1"}, [](Boxes& b) { b.dst_strides[7] = 0; });
  refuses(kInvalid, {"bytes of src"}, [](Boxes& b) { b.src_strides[2] = INT64_MAX; });
  refuses(kInvalid, {"bytes of dst"}, [](Boxes& b) {
    b.element_bytes = 16;
    b.dst_strides[2] = INT64_MAX / 8;
  });
  refuses(kInvalid, {"product of extents"}, [](Boxes& b) {
    b.extents[4] = b.extents[5] = INT64_MAX / 2;
    b.src_strides.clear();
  });
  refuses(kInvalid, {"src[2] is NULL"}, [](Boxes& b) { b.src[2] = nullptr; });
  refuses(GPUMEM_OUT_OF_RANGE, {"src[2]", "leave the address space"},
          [](Boxes& b) { b.src[2] = reinterpret_cast<const void*>(UINTPTR_MAX); });
  refuses(kInvalid, {"dst[3] is NULL"}, [](Boxes& b) { b.dst[3] = nullptr; });
  refuses(kInvalid, {"dst[1] is src[1]"}, [](Boxes& b) { b.dst[1] = const_cast<void*>(b.src[1]); });
  refuses(kInvalid, {"dst[1]", "src[1]", "overlap"}, [](Boxes& b) {
    b.extents[2] = 1;
    b.dst_strides[3] = 1;
    b.dst[1] = static_cast<char*>(const_cast<void*>(b.src[1])) + 2;
  });
  EXPECT_EQ(bytes, Bytes(128, 3));
}

TEST_P(CopyBoxesApi, RefusesBadArrays) {
  Bytes bytes(128, 3);
  const Boxes b = sound(bytes.data());
  const auto call = [&](int64_t count, const int64_t* extents, const void* const* src, void* const* dst) {
    return gpumem_copy_boxes(ctx, 1, 2, count, extents, src, nullptr, dst, nullptr);
  };
  const auto* const extents = b.extents.data();
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(-1, extents, b.src.data(), b.dst.data()), {"count is -1"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, nullptr, b.src.data(), b.dst.data()), {"extents is NULL", "8"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, extents, nullptr, b.dst.data()), {"src is NULL", "4"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, extents, b.src.data(), nullptr), {"dst is NULL", "4"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(INT64_MAX, extents, b.src.data(), b.dst.data()), {"count"}));
  EXPECT_TRUE(gives(GPUMEM_OUT_OF_MEMORY, call(int64_t{1} << 48, extents, b.src.data(), b.dst.data())));
  EXPECT_EQ(bytes, Bytes(128, 3));
}

TEST_P(CopyBoxesApi, RangesEndWithTheirAllocation) {
  const Memory src(ctx, GPUMEM_MEMORY_PINNED, 100);
  const Memory dst(ctx, GPUMEM_MEMORY_PINNED, 100);
  std::memset(src.get(), 2, 100);
  Boxes b{.element_bytes = 1, .ndim = 2};
  b.add({5, 10}, src.get(), dst.get());
  b.add({5, 10}, src.bytes() + 50, dst.bytes() + 50);
  for (const BoxesCall call : kCalls) {
    EXPECT_TRUE(ok(call(ctx, b)));
    Boxes bad = b;
    bad.src[1] = src.bytes() + 51;
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(ctx, bad), {"src[1]", "50"}));
    bad = b;
    bad.dst_strides = {10, 1, 11, 1};
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(ctx, bad), {"dst[1]", "54"}));
  }
}

// Boxes on both sides. The blocking form moves them, the other one refuses and names the box.
TEST_P(CopyBoxesApi, TheEnqueuedFormMovesNothing) {
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 128);
  const Memory other(ctx, GPUMEM_MEMORY_DEVICE, 128);
  Bytes heap(128, 5);
  upload(ctx, device.get(), heap.data(), 128);
  upload(ctx, other.get(), heap.data(), 128);
  for (const bool to_device : {true, false}) {
    Boxes b = sound(heap.data());
    b.src[0] = b.src[2] = device.get();
    for (size_t k = 0; k < 4; ++k)
      b.dst[k] = (to_device ? other.bytes() : reinterpret_cast<char*>(heap.data())) + 64 + 16 * k;
    EXPECT_TRUE(ok(run(ctx, b)));
    if (on_cuda()) {
      EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, run_async(ctx, b, nullptr),
                          {to_device ? "src[1]" : "src[0]", "dst", "pageable", "device"}));
    } else {
      EXPECT_TRUE(ok(enqueued(ctx, b)));
    }
  }
  EXPECT_EQ(download(ctx, other.get(), 128), Bytes(128, 5));
  EXPECT_EQ(heap, Bytes(128, 5));
}

TEST_P(CopyBoxesApi, AllBoxesAreWrittenOnOneSide) {
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 128);
  Bytes heap(128, 5);
  upload(ctx, device.get(), heap.data(), 128);
  Boxes b = sound(heap.data());
  b.dst[2] = device.get();
  if (on_cuda()) {
    for (const BoxesCall call : kCalls)
      EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(ctx, b), {"dst[2]", "dst[0]", "pageable", "device"}));
  } else {
    EXPECT_TRUE(ok(run(ctx, b)));
  }
}

// The arrays are the caller's again once the call returns, even if the work has not begun.
TEST_P(CopyBoxesApi, TheArraysAreReadBeforeTheReturn) {
  Gate gate;
  const Context gated(gate.options(GetParam()));
  const Memory big(gated, GPUMEM_MEMORY_PINNED, 16 << 20);
  const Memory block(gated, GPUMEM_MEMORY_PINNED, 128);
  std::memset(block.get(), 1, 128);
  const OpenAtEnd open(gate);
  gate.close();
  const unsigned char pattern = 7;
  ASSERT_TRUE(ok(gpumem_fill_async(gated, big.get(), &pattern, 1, 16 << 20, nullptr)));
  ASSERT_TRUE(gate.reached());
  {
    auto b = std::make_unique<Boxes>(sound(block.get()));
    ASSERT_TRUE(ok(run_async(gated, *b, nullptr)));
    std::fill(b->src.begin(), b->src.end(), nullptr);
    std::fill(b->dst.begin(), b->dst.end(), nullptr);
    std::fill(b->extents.begin(), b->extents.end(), -1);
    std::fill(b->src_strides.begin(), b->src_strides.end(), -1);
    std::fill(b->dst_strides.begin(), b->dst_strides.end(), -1);
  }
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(gated, nullptr)));
  std::memset(block.get(), 200, 64);  // not promised, but seen by what has not run yet
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(gated, nullptr)));
  for (int k = 0; k < 4; ++k) {
    const char* const box = block.bytes() + 64 + 16 * k;
    EXPECT_EQ(box[0], '\xC8') << k;
    EXPECT_EQ(box[1], 1) << k;
    EXPECT_EQ(box[12], '\xC8') << k;
  }
}

TEST_P(CopyBoxesApi, IsRecordedAndExplained) {
  Bytes bytes(128, 3);
  ASSERT_TRUE(ok(run(ctx, sound(bytes.data()))));
  EXPECT_NE(last_problem().find("copy_boxes bytes=1 count=4 extents=2x3 src_strides=4,1 dst_strides=8,2 src=pageable "),
            std::string::npos)
      << last_problem();
  Explained explained;
  ASSERT_TRUE(ok(explain(ctx, last_problem(), explained)));
  EXPECT_EQ(explained.variant, "host_parallel");
}

// Boxes of different sizes count with their own bytes.
TEST_P(CopyBoxesApi, TheProfileHasTheBytesOfAllBoxes) {
  Bytes bytes(256, 3);
  Boxes b{.element_bytes = 2, .ndim = 1};
  b.add({7}, bytes.data(), bytes.data() + 64);
  b.add({0}, nullptr, nullptr);
  b.add({20}, bytes.data() + 10, bytes.data() + 128);
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 8)));
  ASSERT_TRUE(ok(run(ctx, b)));
  ASSERT_TRUE(ok(gpumem_profile_end(ctx)));
  gpumem_profile_row row;
  ASSERT_TRUE(ok(gpumem_profile_row_init(&row, sizeof row)));
  int64_t rows = 0;
  ASSERT_TRUE(ok(gpumem_profile_report(ctx, &row, 1, &rows)));
  EXPECT_GE(rows, 1);
  EXPECT_EQ(row.bytes, 2 * 27 * 2);
}

INSTANTIATE_TEST_SUITE_P(On, CopyBoxesApi, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
