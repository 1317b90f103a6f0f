// gpumem_permute and its _async form: known arrays and the outcomes. Shapes, strides, alignments and kinds of memory are the
// conformance tests' matter.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

// The arguments of a call, as tests change one of them at a time.
struct Arguments {
  int64_t element_bytes = 4;
  int32_t rank = 3;
  std::vector<int64_t> extents = {2, 3, 4};
  std::vector<int32_t> order = {2, 0, 1};
  const void* src = nullptr;
  std::vector<int64_t> src_strides = {};  // empty: NULL
  void* dst = nullptr;
  std::vector<int64_t> dst_strides = {};
};

template <class T>
const T* or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

using PermuteForm = gpumem_status (*)(gpumem_ctx*, const Arguments&);

gpumem_status permute(gpumem_ctx* ctx, const Arguments& a) {
  return gpumem_permute(ctx, a.element_bytes, a.rank, or_null(a.extents), or_null(a.order), a.src,
                        or_null(a.src_strides), a.dst, or_null(a.dst_strides));
}
gpumem_status permute_async(gpumem_ctx* ctx, const Arguments& a) {
  const gpumem_status status =
      gpumem_permute_async(ctx, a.element_bytes, a.rank, or_null(a.extents), or_null(a.order), a.src,
                           or_null(a.src_strides), a.dst, or_null(a.dst_strides), nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
constexpr PermuteForm kForms[] = {permute, permute_async};

class Permute : public OnEachContext {
 protected:
  // Refused by both forms with the same words, and by the explanation unless it is for the memory.
  void expect_refused(gpumem_status status, const Arguments& a, std::initializer_list<std::string> words,
                      bool of_a_line = true) {
    for (const PermuteForm form : kForms) {
      EXPECT_TRUE(refused(status, form(ctx, a), words));
      if (!of_a_line) continue;
      EXPECT_TRUE(refused(status, explain(ctx, last_problem()), words)) << last_problem();
    }
  }
};

TEST_P(Permute, AKnownArray) {
  std::vector<int32_t> src(24);
  std::iota(src.begin(), src.end(), 100);
  for (const PermuteForm form : kForms) {
    std::vector<int32_t> dst(24, -9);
    Arguments a;
    a.src = src.data();
    a.dst = dst.data();
    ASSERT_TRUE(ok(form(ctx, a)));
    // 4 x 2 x 3: the last axis of src, then the first, then the middle one.
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 2; ++j) {
        for (size_t k = 0; k < 3; ++k) EXPECT_EQ(dst[(i * 2 + j) * 3 + k], src[(j * 3 + k) * 4 + i]);
      }
    }
  }
}

TEST_P(Permute, StridesOfBothSides) {
  // A 2 x 3 view of every other column, and of a line repeated, into columns with a gap.
  const std::vector<int16_t> src = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<int16_t> dst(8, -9);
  Arguments a{2, 2, {2, 3}, {1, 0}, src.data(), {6, 2}, dst.data(), {3, 1}};
  ASSERT_TRUE(ok(permute(ctx, a)));
  EXPECT_EQ(dst, (std::vector<int16_t>{1, 7, -9, 3, 9, -9, 5, 11}));
  a.src_strides = {0, 1};
  ASSERT_TRUE(ok(permute(ctx, a)));
  EXPECT_EQ(dst, (std::vector<int16_t>{1, 1, -9, 2, 2, -9, 3, 3}));
}

TEST_P(Permute, OfRankZeroMovesOneElement) {
  const int64_t value = 0x0123456789abcdef;
  for (const PermuteForm form : kForms) {
    int64_t copy = 0;
    ASSERT_TRUE(ok(form(ctx, {8, 0, {}, {}, &value, {}, &copy, {}})));
    EXPECT_EQ(copy, value);
  }
}

TEST_P(Permute, OfNothingIsANoOp) {
  for (const PermuteForm form : kForms) {
    EXPECT_TRUE(ok(form(ctx, {4, 3, {2, 0, 4}, {2, 0, 1}, nullptr, {}, nullptr, {}})));
    EXPECT_TRUE(ok(form(ctx, {4, 1, {0}, {0}, nullptr, {}, nullptr, {}})));
    EXPECT_TRUE(ok(form(ctx, {4, 3, {INT64_MAX, 0, INT64_MAX}, {2, 0, 1}, nullptr, {}, nullptr, {0, 0, 0}})));
    // What is wrong all the same is said.
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, {4, 2, {0, 4}, {0, 2}, nullptr, {}, nullptr, {}}),
                        {"order", "1", "2"}));
  }
}

TEST_P(Permute, RefusesBadArguments) {
  Bytes src(4096, 1), dst(4096, 2);
  Arguments sound;
  sound.src = src.data();
  sound.dst = dst.data();
  const auto with = [&](auto change) {
    Arguments a = sound;
    change(a);
    return a;
  };
  const auto bad = GPUMEM_INVALID_ARGUMENT;
  for (const int64_t element : {int64_t{0}, int64_t{3}, int64_t{-4}, int64_t{32}, INT64_MAX, INT64_MIN}) {
    expect_refused(bad, with([&](Arguments& a) { a.element_bytes = element; }),
                   {"element_bytes", std::to_string(element)});
  }
  for (const int32_t rank : {-1, 9, INT32_MAX, INT32_MIN}) {
    expect_refused(bad, with([&](Arguments& a) { a.rank = rank; }), {"ndim", std::to_string(rank), "8"});
  }
  expect_refused(bad, with([](Arguments& a) { a.extents.clear(); }), {"extents", "NULL"});
  expect_refused(bad, with([](Arguments& a) { a.order.clear(); }), {"order", "NULL"});
  expect_refused(bad, with([](Arguments& a) { a.extents[1] = -3; }), {"extents", "1", "-3"});
  expect_refused(bad, with([](Arguments& a) { a.order[1] = 3; }), {"order", "1", "3"});
  expect_refused(bad, with([](Arguments& a) { a.order[0] = -1; }), {"order", "0", "-1"});
  expect_refused(bad, with([](Arguments& a) { a.order[2] = 0; }), {"order", "2", "0", "1"});
  expect_refused(bad, with([](Arguments& a) { a.src_strides = {12, -4, 1}; }), {"src_strides", "1", "-4"});
  expect_refused(bad, with([](Arguments& a) { a.dst_strides = {6, 3, -1}; }), {"dst_strides", "2", "-1"});
  expect_refused(bad, with([](Arguments& a) { a.src = nullptr; }), {"src", "NULL"}, false);
  expect_refused(bad, with([](Arguments& a) { a.dst = nullptr; }), {"dst", "NULL"}, false);
  EXPECT_TRUE(refused(bad, permute(nullptr, sound), {"ctx", "NULL"}));
  EXPECT_EQ(dst, Bytes(4096, 2));
}

// dst is 4 x 2 x 3. Strides that send two elements to one place, or may.
TEST_P(Permute, RefusesPlacesThatCoincide) {
  Bytes src(4096, 1), dst(4096, 2);
  Arguments a;
  a.src = src.data();
  a.dst = dst.data();
  struct Bad {
    std::vector<int64_t> strides;
    const char* axis;
    const char* least;
  };
  for (const Bad& bad : {Bad{{6, 3, 0}, "2", "1"}, Bad{{0, 3, 1}, "0", "1"}, Bad{{6, 2, 1}, "1", "3"},
                         Bad{{5, 3, 1}, "0", "6"}, Bad{{1, 4, 7}, "2", "8"}, Bad{{1, 1, 1}, "1", "4"}}) {
    a.dst_strides = bad.strides;
    expect_refused(GPUMEM_INVALID_ARGUMENT, a, {"dst_strides", bad.axis, bad.least});
  }
  EXPECT_EQ(dst, Bytes(4096, 2));
  for (const std::vector<int64_t>& good :
       {std::vector<int64_t>{6, 3, 1}, {1, 4, 8}, {2, 1, 8}, {100, 3, 1}, {3, 12, 1}}) {
    a.dst_strides = good;
    for (const PermuteForm form : kForms) EXPECT_TRUE(ok(form(ctx, a)));
  }
}

TEST_P(Permute, RefusesProductsThatLeaveInt64) {
  Bytes src(1024, 1), dst(1024, 2);
  constexpr int64_t kHuge = int64_t{1} << 40;
  const std::vector<Arguments> all = {
      {1, 2, {kHuge, kHuge}, {1, 0}, src.data(), {}, dst.data(), {}},
      {16, 1, {INT64_MAX / 16 + 1}, {0}, src.data(), {}, dst.data(), {}},
      {1, 2, {4, 4}, {1, 0}, src.data(), {INT64_MAX, 1}, dst.data(), {}},
      {1, 2, {4, 4}, {1, 0}, src.data(), {}, dst.data(), {1, INT64_MAX}},
      {8, 2, {2, 2}, {1, 0}, src.data(), {}, dst.data(), {1, INT64_MAX / 8}},
      {1, 2, {2, 2}, {1, 0}, src.data(), {INT64_MAX, INT64_MAX}, dst.data(), {}},
      {1, 3, {kHuge, kHuge, 2}, {0, 1, 2}, src.data(), {0, 0, 0}, dst.data(), {}},
      {1,
       8,
       {kHuge, kHuge, kHuge, kHuge, kHuge, kHuge, kHuge, kHuge},
       {0, 1, 2, 3, 4, 5, 6, 7},
       src.data(),
       {},
       dst.data(),
       {}},
  };
  for (const Arguments& a : all) expect_refused(GPUMEM_INVALID_ARGUMENT, a, {});
  EXPECT_EQ(dst, Bytes(1024, 2));
}

TEST_P(Permute, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory src(ctx, kind, 400);
    const Memory dst(ctx, kind, 400);
    const Bytes twos(400, 2);
    upload(ctx, src.get(), twos.data(), 400);
    upload(ctx, dst.get(), twos.data(), 400);
    Arguments a{4, 2, {10, 10}, {1, 0}, src.get(), {}, dst.get(), {}};
    for (const PermuteForm form : kForms) EXPECT_TRUE(ok(form(ctx, a)));
    a.src_strides = {10, 2};
    expect_refused(GPUMEM_OUT_OF_RANGE, a, {"src"}, false);
    a.src_strides = {0, 11};
    for (const PermuteForm form : kForms) EXPECT_TRUE(ok(form(ctx, a))) << "the last element is the last of src";
    a.src_strides = {};
    a.dst_strides = {1, 11};
    expect_refused(GPUMEM_OUT_OF_RANGE, a, {"dst"}, false);
    a.extents = {11, 10};
    a.dst_strides = {};
    expect_refused(GPUMEM_OUT_OF_RANGE, a, {"src"}, false);
    EXPECT_EQ(download(ctx, dst.get(), 400), twos);
  }
}

TEST_P(Permute, InPlaceIsUnsupportedAndOverlapAMistake) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 4096);
    char* const p = buffer.data();
    Arguments a{4, 2, {16, 16}, {1, 0}, p, {}, p, {}};
    expect_refused(GPUMEM_UNSUPPORTED, a, {"src", "dst"});
    for (const int64_t apart : {int64_t{4}, int64_t{1023}, int64_t{1}}) {
      a.dst = p + apart;
      expect_refused(GPUMEM_INVALID_ARGUMENT, a, {"src", "dst"}, false);
    }
    a.src = p + 1023;
    a.dst = p;
    expect_refused(GPUMEM_INVALID_ARGUMENT, a, {"src", "dst"}, false);
    EXPECT_TRUE(buffer.intact()) << kind_name(kind);
    a.src = p + 1024;
    for (const PermuteForm form : kForms) EXPECT_TRUE(ok(form(ctx, a))) << "neighbours do not overlap";
  }
}

TEST_P(Permute, UnreadableAndUnwritableMemoryIsRefused) {
  FencedPages pages(4096);
  Bytes heap(4096, 2);
  Arguments a{4, 2, {8, 8}, {1, 0}, pages.end(), {}, heap.data(), {}};
  expect_refused(GPUMEM_INVALID_POINTER, a, {"src"}, false);
  a.src = heap.data();
  a.dst = pages.end();
  expect_refused(GPUMEM_INVALID_POINTER, a, {"dst"}, false);
  a.dst = pages.end() - 255;
  for (const PermuteForm form : kForms) {
    const gpumem_status tail = form(ctx, a);
    EXPECT_TRUE(tail == GPUMEM_OUT_OF_RANGE || tail == GPUMEM_INVALID_POINTER) << gpumem_status_name(tail);
  }
  pages.protect(PROT_READ);
  a.dst = pages.first();
  expect_refused(GPUMEM_INVALID_POINTER, a, {"dst"}, false);
  EXPECT_EQ(heap, Bytes(4096, 2));
}

// Where the two lie on two sides, the plain form copies src; gaps that are most of it stay where they are.
TEST_P(Permute, BetweenTheHostAndTheDevice) {
  for (const int64_t gap : {int64_t{0}, int64_t{3}, int64_t{500}}) {
    for (const gpumem_memory_kind from : {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE}) {
      const gpumem_memory_kind to = from == GPUMEM_MEMORY_DEVICE ? GPUMEM_MEMORY_PAGEABLE : GPUMEM_MEMORY_DEVICE;
      const int64_t pitch = 20 + gap;
      std::vector<int32_t> array(static_cast<size_t>(29 * pitch + 20));
      std::iota(array.begin(), array.end(), 1000);
      GuardedBuffer src(ctx, from, array.size() * 4, 4);
      GuardedBuffer dst(ctx, to, 600 * 4, 4);
      src.set(array.data());
      const Arguments a{4, 2, {30, 20}, {1, 0}, src.data(), {pitch, 1}, dst.data(), {}};
      if (on_cuda()) {
        EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, permute_async(ctx, a), {"src", "dst", "device", "pageable"}));
        EXPECT_TRUE(dst.intact());
      }
      ASSERT_TRUE(ok(permute(ctx, a)));
      for (int64_t i = 0; i < 30; ++i) {
        for (int64_t j = 0; j < 20; ++j) {
          std::memcpy(dst.image() + (j * 30 + i) * 4, &array[static_cast<size_t>(i * pitch + j)], 4);
        }
      }
      EXPECT_TRUE(dst.intact()) << kind_name(from) << " to " << kind_name(to) << ", gaps of " << gap;
    }
  }
}

TEST_P(Permute, EnqueuedCallsRunInTheOrderOfTheirStream) {
  constexpr int64_t kRows = 700, kCols = 900;
  std::vector<int32_t> matrix(kRows * kCols);
  std::iota(matrix.begin(), matrix.end(), 0);
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer first(ctx, kind, matrix.size() * 4);
    GuardedBuffer second(ctx, kind, matrix.size() * 4);
    GuardedBuffer third(ctx, kind, matrix.size() * 4);
    first.set(matrix.data());
    gpumem_stream* stream = nullptr;
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    auto extents = std::make_unique<std::vector<int64_t>>(std::vector<int64_t>{kRows, kCols});
    auto order = std::make_unique<std::vector<int32_t>>(std::vector<int32_t>{1, 0});
    const std::vector<int64_t> back = {kCols, kRows};
    ASSERT_TRUE(ok(gpumem_permute_async(ctx, 4, 2, extents->data(), order->data(), first.data(), nullptr, second.data(),
                                        nullptr, stream)));
    ASSERT_TRUE(ok(gpumem_permute_async(ctx, 4, 2, back.data(), order->data(), second.data(), nullptr, third.data(),
                                        nullptr, stream)));
    (*extents)[0] = (*order)[0] = -1;  // read before the calls returned
    extents.reset();
    order.reset();
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
    std::memcpy(third.image(), matrix.data(), matrix.size() * 4);
    EXPECT_TRUE(third.intact()) << kind_name(kind);
    EXPECT_TRUE(first.intact()) << kind_name(kind);
  }
}

TEST_P(Permute, IsExplained) {
  const Memory src(ctx, GPUMEM_MEMORY_DEVICE, size_t{3} << 20);
  const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, size_t{3} << 20);
  const auto variant = [&](const Arguments& a) {
    Explained explained;
    EXPECT_TRUE(ok(permute(ctx, a)));
    EXPECT_TRUE(ok(explain(ctx, last_problem(), explained)));
    return explained.variant;
  };
  const auto of = [&](const std::vector<int64_t>& extents, const std::vector<int32_t>& order) {
    return Arguments{4, static_cast<int32_t>(order.size()), extents, order, src.get(), {}, dst.get(), {}};
  };
  if (on_cuda()) {
    EXPECT_EQ(variant(of({5, 6, 7}, {0, 1, 2})), "copy");
    EXPECT_EQ(variant(of({5, 6, 7}, {1, 0, 2})), "strided_scalar") << "few elements";
    EXPECT_EQ(variant(of({72, 67, 55}, {2, 1, 0})), "transpose");
    EXPECT_EQ(variant(of({300, 300, 3}, {2, 0, 1})), "transpose") << "of structures";
    EXPECT_EQ(variant(of({33, 147, 4, 28}, {3, 2, 1, 0})), "tiled");
    EXPECT_EQ(variant(of({90, 90, 67}, {1, 0, 2})), "packed") << "short lines, more than 2^19 elements";
  } else {
    EXPECT_EQ(variant(of({5, 6, 7}, {2, 1, 0})), "host_tiled");
    EXPECT_EQ(variant(of({5, 6, 7}, {0, 2, 1})), "host_transpose");
  }
  std::string text;
  const auto explain_call = [&](const Arguments& a) {
    ASSERT_TRUE(ok(permute(ctx, a)));
    ASSERT_TRUE(ok(explain(ctx, last_problem(), GPUMEM_FORMAT_TEXT, text)));
  };
  explain_call(of({5, 6, 8}, {1, 0, 2}));
  EXPECT_NE(text.find("bytes=4 extents=5x6x8 order=1,0,2 src=device"), std::string::npos) << text;
  EXPECT_NE(text.find("2 x 5 x 6 elements of 16 bytes"), std::string::npos) << text;
  Arguments strided = of({5, 6}, {1, 0});
  strided.src_strides = {7, 1};
  strided.dst_strides = {8, 1};
  explain_call(strided);
  EXPECT_NE(text.find("src_strides=7,1 dst_strides=8,1"), std::string::npos) << text;
  explain_call({4, 1, {0}, {0}, nullptr, {}, nullptr, {}});
  EXPECT_NE(text.find("nothing to do"), std::string::npos) << text;
}

// A forced variant that does not fit: no silent fallback, nothing written.
TEST_P(Permute, AForcedVariantThatDoesNotFitIsRefused) {
  GuardedBuffer src(ctx, GPUMEM_MEMORY_DEVICE, 24 * 4);
  GuardedBuffer dst(ctx, GPUMEM_MEMORY_DEVICE, 24 * 4);
  Arguments a;
  a.src = src.data();
  a.dst = dst.data();
  const char* unfit = on_cuda() ? "copy" : "packed";
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_PERMUTE, unfit)));
  expect_refused(GPUMEM_UNSUPPORTED, a, {unfit});
  EXPECT_TRUE(dst.intact());
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_PERMUTE, nullptr)));
  EXPECT_TRUE(ok(permute(ctx, a)));
}

INSTANTIATE_TEST_SUITE_P(On, Permute, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
