// gpumem_select and gpumem_select_places: known rows, room, counts, order, and bad input. Shapes, alignments and kinds of
// memory by every variant are the conformance tests' matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"
#include "support/selected.hpp"

namespace gpumem_test {
namespace {

class SelectOn : public OnEachContext {
 protected:
  // Calls check(call, form) for the plain form and the enqueued one, which is waited for.
  template <class Check>
  void both(Check check) {
    check([this](const Selected& s, int64_t* kept) { return run(ctx, s, kept); }, "plain");
    check(
        [this](const Selected& s, int64_t* kept) {
          const Memory block(ctx, GPUMEM_MEMORY_PINNED, 8);
          auto* const number = reinterpret_cast<int64_t*>(block.bytes());
          *number = -77;
          const gpumem_status status = run_async(ctx, s, number, nullptr);
          EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
          EXPECT_EQ(*number == -77, status != GPUMEM_OK) << "kept is written by calls that succeed alone";
          if (status == GPUMEM_OK) *kept = *number;
          return status;
        },
        "enqueued");
  }
};

TEST_P(SelectOn, KnownRows) {
  both([&](const auto& call, const char* form) {
    // Rows of three numbers; one between those of the source, two between those of the destination.
    const std::vector<int32_t> src = {1, 2, 3, -1, 4, 5, 6, -1, 7, 8, 9};
    const std::vector<uint8_t> mask = {255, 0, 1};
    std::vector<int32_t> dst(8, -9);
    int64_t kept = -1;
    EXPECT_TRUE(ok(call({12, src.data(), 16, mask.data(), 3, dst.data(), 2, 20}, &kept))) << form;
    EXPECT_EQ(kept, 2);
    EXPECT_EQ(dst, (std::vector<int32_t>{1, 2, 3, -9, -9, 7, 8, 9})) << form;
    std::vector<uint32_t> places(3, 99);
    EXPECT_TRUE(ok(call({4, nullptr, 0, mask.data(), 3, places.data(), 3, 0, true, GPUMEM_U32}, &(kept = -1)))) << form;
    EXPECT_EQ(kept, 2);
    EXPECT_EQ(places, (std::vector<uint32_t>{0, 2, 99})) << form;
  });
}

TEST_P(SelectOn, TooLittleRoom) {
  const std::vector<int64_t> src = {1, 2, 3, 4, 5};
  const std::vector<uint8_t> mask = {1, 0, 1, 1, 1};
  std::vector<int64_t> dst(4, -9);
  int64_t kept = -1;
  const Selected rows{8, src.data(), 8, mask.data(), 5, dst.data(), 3, 8};
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run(ctx, rows, &kept), {"dst_rows", "3", "4"}));
  EXPECT_EQ(kept, 4);
  EXPECT_EQ(dst, (std::vector<int64_t>{1, 3, 4, -9}));
  std::fill(dst.begin(), dst.end(), -9);
  const Selected places{8, nullptr, 0, mask.data(), 5, dst.data(), 2, 0, true, GPUMEM_I64};
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run(ctx, places, &kept), {"places_n", "2", "4"}));
  EXPECT_EQ(dst, (std::vector<int64_t>{0, 2, -9, -9}));
}

TEST_P(SelectOn, CountsAndNothing) {
  both([&](const auto& call, const char* form) {
    const std::vector<uint8_t> mask(1000, 3);
    int64_t kept = -1;
    EXPECT_TRUE(ok(call({4, nullptr, 4, mask.data(), 1000, nullptr, 0, 4}, &kept))) << form;
    EXPECT_EQ(kept, 1000);
    EXPECT_TRUE(ok(call({4, nullptr, 4, mask.data(), 999, nullptr, 0, 4, true}, &kept))) << form;
    EXPECT_EQ(kept, 999);
    EXPECT_TRUE(ok(call({4, nullptr, 4, nullptr, 0, nullptr, 0, 4}, &kept))) << form;
    EXPECT_EQ(kept, 0);
    EXPECT_TRUE(ok(call({4, nullptr, 4, nullptr, 0, nullptr, 7, 4, true}, &(kept = 5)))) << form;
    EXPECT_EQ(kept, 0);
  });
}

TEST_P(SelectOn, KeptMayBeAnyMemory) {
  const std::vector<uint8_t> mask(100, 1);
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory block(ctx, kind, 32);
    for (const int at : {0, 8, 3}) {  // the plain form: at any address
      const Bytes poison_bytes(32, 0xa5);
      upload(ctx, block.get(), poison_bytes.data(), 32);
      auto* const kept = reinterpret_cast<int64_t*>(block.bytes() + at);
      EXPECT_TRUE(ok(run(ctx, {1, nullptr, 1, mask.data(), 100, nullptr, 0, 1}, kept)));
      const Bytes now = download(ctx, block.get(), 32);
      int64_t number = 0;
      std::memcpy(&number, now.data() + at, 8);
      EXPECT_EQ(number, 100) << kind_name(kind) << " + " << at;
      EXPECT_EQ(std::count(now.begin(), now.end(), 0xa5), 24);
    }
    auto* const off = reinterpret_cast<int64_t*>(block.bytes() + 4);
    const Selected s{1, nullptr, 1, mask.data(), 100, nullptr, 0, 1};
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run_async(ctx, s, off, nullptr), {"kept", "8"}));
    const bool pageable = on_cuda() && kind == GPUMEM_MEMORY_PAGEABLE;
    EXPECT_TRUE(gives(pageable ? GPUMEM_INVALID_POINTER : GPUMEM_OK,
                      run_async(ctx, s, reinterpret_cast<int64_t*>(block.bytes()), nullptr)));
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  }
}

TEST_P(SelectOn, RefusesBadArguments) {
  Bytes src(1024, 1), dst(1024, 2);
  const std::vector<uint8_t> mask(8, 1);
  both([&](const auto& call, const char*) {
    int64_t kept = 5;
    const Selected sound{8, src.data(), 8, mask.data(), 8, dst.data(), 8, 8};
    const auto bad = [&](auto change, std::initializer_list<std::string> words) {
      Selected s = sound;
      change(s);
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(s, &kept), words)) << describe(s);
    };
    for (const int64_t bytes : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
      bad([&](Selected& s) { s.row_bytes = bytes; }, {"row_bytes", std::to_string(bytes)});
    }
    for (const gpumem_dtype type : {3, 8, -1, 11, 12, INT32_MAX, INT32_MIN}) {
      bad([&](Selected& s) { s.places = true, s.index_type = type; }, {"index_type", std::to_string(type)});
    }
    bad([](Selected& s) { s.n = -3; }, {"n", "-3"});
    bad([](Selected& s) { s.dst_rows = -4; }, {"dst_rows", "-4"});
    bad([](Selected& s) { s.dst_rows = -4, s.places = true; }, {"places_n", "-4"});
    bad([](Selected& s) { s.src_pitch = 7; }, {"src_pitch_bytes", "7", "8"});
    bad([](Selected& s) { s.dst_pitch = -8; }, {"dst_pitch_bytes", "-8"});
    bad([](Selected& s) { s.src = nullptr; }, {"src", "NULL"});
    bad([](Selected& s) { s.mask = nullptr; }, {"mask", "NULL"});
    bad([](Selected& s) { s.dst = nullptr; }, {"dst", "NULL"});
    bad([](Selected& s) { s.dst = nullptr, s.places = true; }, {"places", "NULL"});
    bad([](Selected& s) { s.src_pitch = INT64_MAX; }, {"src"});
    bad([](Selected& s) { s.dst_pitch = INT64_MAX / 2; }, {"dst"});
    bad([](Selected& s) { s.places = true, s.dst = static_cast<char*>(s.dst) + 4; }, {"places", "8"});
    bad([](Selected& s) { s.places = true, s.index_type = GPUMEM_I32, s.n = (int64_t{1} << 31) + 1; },
        {"n", "2147483648"});
    bad([](Selected& s) { s.places = true, s.index_type = GPUMEM_U32, s.n = (int64_t{1} << 32) + 1; },
        {"n", "4294967296"});
    bad([&](Selected& s) { s.dst = src.data(); }, {"dst", "src"});
    bad([&](Selected& s) { s.dst = src.data() + 63; }, {"dst", "src"});
    EXPECT_EQ(kept, 5);
  });
  int64_t* const none = nullptr;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run(ctx, {8, src.data(), 8, mask.data(), 8, dst.data(), 8, 8}, none),
                      {"kept", "NULL"}));
  EXPECT_EQ(dst, Bytes(1024, 2));
}

TEST_P(SelectOn, OverlapsNothing) {
  const Memory block(ctx, GPUMEM_MEMORY_PINNED, 4096);
  std::memset(block.get(), 0, 4096);
  char* const p = block.bytes();
  const auto call = [&](char* src, char* mask, char* dst, char* kept) {
    return run_async(ctx, {8, src, 8, reinterpret_cast<uint8_t*>(mask), 64, dst, 64, 8},
                     reinterpret_cast<int64_t*>(kept), nullptr);
  };
  EXPECT_TRUE(ok(call(p, p + 512, p + 576, p + 1088)));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 512, p + 575, p + 2048), {"mask", "dst"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 2048, p + 511, p + 4000), {"src", "dst"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 512, p + 576, p + 504), {"kept", "src"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 512, p + 576, p + 568), {"kept", "mask"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 512, p + 576, p + 1080), {"kept", "dst"}));
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
}

// Extents end with the last row, and with the rows that can be kept.
TEST_P(SelectOn, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory src(ctx, kind, 400), dst(ctx, kind, 400), mask(ctx, kind, 16);
    const Bytes zeros(400, 0);
    upload(ctx, src.get(), zeros.data(), 400);
    upload(ctx, mask.get(), zeros.data(), 16);
    both([&](const auto& call, const char* form) {
      int64_t kept = 0;
      const auto rows = [&](int64_t n, int64_t room, int64_t src_pitch, int64_t dst_pitch) {
        return call({40, src.get(), src_pitch, reinterpret_cast<uint8_t*>(mask.bytes()), n, dst.get(), room, dst_pitch},
                    &kept);
      };
      EXPECT_TRUE(ok(rows(10, INT64_MAX, 40, 40))) << form;
      EXPECT_TRUE(ok(rows(4, 4, 120, 120))) << form;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, rows(4, 4, 121, 120), {"src"})) << form;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, rows(4, 4, 120, 121), {"dst"})) << form;
      EXPECT_TRUE(ok(rows(4, 3, 120, 121))) << form;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, rows(17, 0, 1, 1), {"mask"})) << form;
    });
  }
}

TEST_P(SelectOn, UnreadableAndUnwritableMemoryIsRefused) {
  FencedPages pages(4096);
  Bytes heap(4096, 0);
  const auto* const bits = reinterpret_cast<const uint8_t*>(heap.data());
  both([&](const auto& call, const char*) {
    int64_t kept = 0;
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_POINTER, call({8, pages.end(), 8, bits, 8, heap.data() + 64, 8, 8}, &kept), {"src"}));
    EXPECT_TRUE(refused(
        GPUMEM_INVALID_POINTER,
        call({8, heap.data(), 8, reinterpret_cast<const uint8_t*>(pages.end()), 8, heap.data() + 64, 8, 8}, &kept),
        {"mask"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_POINTER, call({8, heap.data() + 64, 8, bits, 8, pages.end(), 8, 8}, &kept), {"dst"}));
  });
}

// What is enqueued before supplies the mask, and what comes after reads the number.
TEST_P(SelectOn, EnqueuedWorkKeepsTheOrderOfItsStream) {
  const Stream stream(ctx);
  constexpr int64_t kN = 100000;
  const Memory src(ctx, GPUMEM_MEMORY_DEVICE, kN * 4), mask(ctx, GPUMEM_MEMORY_DEVICE, kN),
      dst(ctx, GPUMEM_MEMORY_DEVICE, kN * 4), places(ctx, GPUMEM_MEMORY_DEVICE, kN * 4),
      numbers(ctx, GPUMEM_MEMORY_DEVICE, 16);
  std::vector<int32_t> rows(kN), expected;
  std::iota(rows.begin(), rows.end(), 1000);
  std::vector<uint8_t> bits(kN);
  std::vector<int32_t> numbered;
  for (int32_t i = 0; i < kN; ++i) {
    if (i % 3 != 0) continue;
    bits[static_cast<size_t>(i)] = 1;
    expected.push_back(1000 + i);
    numbered.push_back(i);
  }
  upload(ctx, src.get(), rows.data(), kN * 4);
  auto* const p = reinterpret_cast<uint8_t*>(mask.bytes());
  auto* const kept = reinterpret_cast<int64_t*>(numbers.bytes());
  int64_t out[2] = {};
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, p, bits.data(), kN, stream)));
  ASSERT_TRUE(ok(run_async(ctx, {4, src.get(), 4, p, kN, dst.get(), kN, 4}, kept, stream)));
  ASSERT_TRUE(ok(run_async(ctx, {4, nullptr, 4, p, kN, places.get(), kN, 4, true, GPUMEM_I32}, kept + 1, stream)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, out, kept, 16, stream)));
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
  EXPECT_EQ(out[0], static_cast<int64_t>(expected.size()));
  EXPECT_EQ(out[1], out[0]);
  const size_t bytes = expected.size() * 4;
  EXPECT_EQ(std::memcmp(download(ctx, dst.get(), bytes).data(), expected.data(), bytes), 0);
  EXPECT_EQ(std::memcmp(download(ctx, places.get(), bytes).data(), numbered.data(), bytes), 0);
}

TEST_P(SelectOn, EnqueuedOnTheHostReturnsBeforeTheWork) {
  Gate gate;
  const Context gated(gate.options(GetParam()));
  constexpr int64_t kN = 200000;  // more than one task
  std::vector<int32_t> src(kN, 5), dst(kN, 0);
  const std::vector<uint8_t> mask(kN, 1);
  const Memory block(gated, GPUMEM_MEMORY_PINNED, 8);
  auto* const kept = reinterpret_cast<int64_t*>(block.bytes());
  *kept = -1;
  const OpenAtEnd open(gate);
  gate.close();
  ASSERT_TRUE(ok(run_async(gated, {4, src.data(), 4, mask.data(), kN, dst.data(), kN, 4}, kept, nullptr)));
  EXPECT_TRUE(gate.reached());
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(gated, nullptr)));
  EXPECT_EQ(dst, std::vector<int32_t>(kN, 0));
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(gated, nullptr)));
  EXPECT_EQ(dst, src);
  EXPECT_EQ(*kept, kN);
}

INSTANTIATE_TEST_SUITE_P(On, SelectOn, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
