// gpumem_gather and gpumem_scatter: known rows, nothing to do, order, and bad input. Shapes, alignments, kinds of memory and bad
// indices by every variant are the conformance tests' matter.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"
#include "support/rows.hpp"

namespace gpumem_test {
namespace {

constexpr gpumem_family kFamilies[] = {GPUMEM_FAMILY_GATHER, GPUMEM_FAMILY_SCATTER};

class RowsOn : public OnEachContext {
 protected:
  // Calls check(call, form) for the plain form and the enqueued one, which is waited for; what only the run finds comes
  // from the status word then.
  template <class Check>
  void both(Check check) {
    check([this](const Rows& r) { return run(ctx, r); }, "plain");
    check(
        [this](const Rows& r) {
          const Memory block(ctx, GPUMEM_MEMORY_PINNED, 4);
          auto* const word = static_cast<gpumem_status*>(block.get());
          *word = 77;
          const gpumem_status at_once = run_async(ctx, r, word, nullptr);
          EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
          EXPECT_EQ(*word == 77, at_once != GPUMEM_OK) << "the status is written by calls that succeed alone";
          return at_once == GPUMEM_OK ? *word : at_once;
        },
        "enqueued");
  }
};

TEST_P(RowsOn, KnownRows) {
  both([&](const auto& call, const char* form) {
    // Rows of three numbers; one between those of the source, two between those of the destination.
    const std::vector<int32_t> src = {1, 2, 3, -1, 4, 5, 6, -1, 7, 8, 9};
    const std::vector<uint64_t> from = {2, 0, 2};
    std::vector<int32_t> dst(15, -9);
    EXPECT_TRUE(ok(call({GPUMEM_FAMILY_GATHER, 12, src.data(), 16, GPUMEM_U64, from.data(), 3, dst.data(), 20, 3})));
    EXPECT_EQ(dst, (std::vector<int32_t>{7, 8, 9, -9, -9, 1, 2, 3, -9, -9, 7, 8, 9, -9, -9})) << form;
    const std::vector<int32_t> to = {3, 0, 1};
    dst.assign(20, -9);
    EXPECT_TRUE(ok(call({GPUMEM_FAMILY_SCATTER, 12, src.data(), 16, GPUMEM_I32, to.data(), 3, dst.data(), 20, 4})));
    EXPECT_EQ(dst, (std::vector<int32_t>{4, 5, 6, -9, -9, 7, 8, 9, -9, -9, -9, -9, -9, -9, -9, 1, 2, 3, -9, -9}))
        << form;
  });
}

TEST_P(RowsOn, OfNothingIsANoOp) {
  both([&](const auto& call, const char*) {
    Bytes bytes(64, 1);
    const int64_t index = 99;
    for (const gpumem_family f : kFamilies) {
      EXPECT_TRUE(ok(call({f, 4, nullptr, 4, GPUMEM_I32, nullptr, 0, nullptr, 4, 0})));
      EXPECT_TRUE(ok(call({f, 4, nullptr, 4, GPUMEM_I64, nullptr, 0, nullptr, 4, 10})));
      EXPECT_TRUE(ok(call({f, 4, bytes.data(), 4, GPUMEM_I64, &index, 0, bytes.data(), 4, 10})));
    }
    EXPECT_EQ(bytes, Bytes(64, 1));
  });
}

TEST_P(RowsOn, ASingleRowMayHaveAnyPitch) {
  both([&](const auto& call, const char* form) {
    for (const gpumem_family f : kFamilies) {
      for (const int64_t pitch : {int64_t{0}, int64_t{-8}, INT64_MIN, INT64_MAX, int64_t{3}}) {
        for (const gpumem_memory_kind kind : kAllKinds) {
          GuardedBuffer src(ctx, kind, 8);
          GuardedBuffer dst(ctx, kind, 8);
          GuardedBuffer index(ctx, on_cuda() ? int32_t{GPUMEM_MEMORY_PINNED} : kind, 8);
          const int64_t zero = 0;
          index.set(&zero);
          std::memset(src.image(), 'x', 8);
          src.write();
          const Rows r{f, 8, src.data(), pitch, GPUMEM_I64, index.data(), 1, dst.data(), pitch, 1};
          EXPECT_TRUE(ok(call(r))) << form << ' ' << describe(r) << ", " << kind_name(kind);
          std::memset(dst.image(), 'x', 8);
          EXPECT_TRUE(dst.intact()) << form << ' ' << describe(r) << ", " << kind_name(kind);
        }
      }
    }
  });
}

TEST_P(RowsOn, RefusesBadArguments) {
  Bytes src(1024, 1), dst(1024, 2);
  const std::vector<int64_t> index(8, 0);
  both([&](const auto& call, const char*) {
    for (const gpumem_family f : kFamilies) {
      const Rows sound{f, 8, src.data(), 8, GPUMEM_I64, index.data(), 4, dst.data(), 8, 5};
      const auto bad = [&](auto change, std::initializer_list<std::string> words) {
        Rows r = sound;
        change(r);
        EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(r), words)) << describe(r);
      };
      for (const int64_t bytes : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
        bad([&](Rows& r) { r.row_bytes = bytes; }, {"row_bytes", std::to_string(bytes)});
      }
      for (const gpumem_dtype type : {3, 8, -1, 11, 12, INT32_MAX, INT32_MIN}) {
        bad([&](Rows& r) { r.index_type = type; }, {"index_type", std::to_string(type)});
        bad([&](Rows& r) { r.index_type = type, r.n = 0; }, {"index_type", std::to_string(type)});
      }
      bad([](Rows& r) { r.n = -3; }, {"n", "-3"});
      bad([](Rows& r) { r.rows = -4; }, {f == GPUMEM_FAMILY_GATHER ? "src_rows" : "dst_rows", "-4"});
      bad([](Rows& r) { r.src_pitch = 7; }, {"src_pitch_bytes", "7", "8"});
      bad([](Rows& r) { r.dst_pitch = 7; }, {"dst_pitch_bytes", "7", "8"});
      bad([](Rows& r) { r.src_pitch = -8; }, {"src_pitch_bytes", "-8"});
      bad([](Rows& r) { r.dst_pitch = INT64_MIN; }, {"dst_pitch_bytes"});
      bad([](Rows& r) { r.src = nullptr; }, {"src", "NULL"});
      bad([](Rows& r) { r.index = nullptr; }, {"index", "NULL"});
      bad([](Rows& r) { r.dst = nullptr; }, {"dst", "NULL"});
      bad([](Rows& r) { r.src_pitch = INT64_MAX; }, {"src"});
      bad([](Rows& r) { r.dst_pitch = INT64_MAX / 2; }, {"dst"});
      bad([](Rows& r) { r.n = INT64_MAX / 4, r.src_pitch = r.dst_pitch = r.row_bytes = 1, r.rows = 1; }, {"index"});
      bad([](Rows& r) { r.rows = INT64_MAX; }, {});
      bad([](Rows& r) { r.row_bytes = r.src_pitch = r.dst_pitch = INT64_MAX; }, {});
    }
  });
  EXPECT_EQ(dst, Bytes(1024, 2));
}

TEST_P(RowsOn, TheIndexIsAtAMultipleOfItsSize) {
  Bytes src(64, 1), dst(64, 2);
  alignas(16) const char index[48] = {};
  both([&](const auto& call, const char*) {
    for (const gpumem_family f : kFamilies) {
      for (const gpumem_dtype type : kIndexTypes) {
        const size_t width = info_of(type).bytes;
        for (size_t offset = 0; offset < 16; ++offset) {
          const Rows r{f, 4, src.data(), 4, type, index + offset, 2, dst.data(), 4, 2};
          if (offset % width == 0) {
            EXPECT_TRUE(ok(call(r)));
          } else {
            EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(r), {"index", std::to_string(width)}));
          }
        }
      }
    }
  });
}

// Of 2^31 rows and some, a signed index of 32 bits names those it can count, and its negative numbers none.
TEST_P(RowsOn, AMatrixOfMoreRowsThanAnIndexCounts) {
  constexpr int64_t kMany = (int64_t{1} << 31) + 4096;
  void* const p = mmap(nullptr, kMany, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(p, MAP_FAILED);
  auto* const matrix = static_cast<char*>(p);
  matrix[INT32_MAX] = 'a';
  matrix[int64_t{INT32_MAX} + 1] = 'b';
  both([&](const auto& call, const char* form) {
    char out[2] = {'?', '?'};
    const auto status_of = [&](gpumem_dtype type, const auto& numbers) {
      return call({GPUMEM_FAMILY_GATHER, 1, matrix, 1, type, numbers, 2, out, 1, kMany});
    };
    const int32_t below[] = {INT32_MAX, 0}, negative[] = {INT32_MAX, INT32_MIN};
    const uint32_t counted[] = {uint32_t{1} << 31, INT32_MAX};
    EXPECT_TRUE(ok(status_of(GPUMEM_I32, below))) << form;
    EXPECT_EQ(std::string(out, 2), std::string("a\0", 2));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, status_of(GPUMEM_I32, negative))) << form;
    EXPECT_EQ(std::string(out, 2), std::string("a\0", 2));
    EXPECT_TRUE(ok(status_of(GPUMEM_U32, counted))) << form;
    EXPECT_EQ(std::string(out, 2), "ba");
  });
  EXPECT_EQ(munmap(p, kMany), 0);
}

// Extents end with the last row, not with its pitch.
TEST_P(RowsOn, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory src(ctx, kind, 400), dst(ctx, kind, 400), numbers(ctx, kind, 80);
    const Bytes zeros(400, 0);
    for (const Memory* m : {&src, &dst}) upload(ctx, m->get(), zeros.data(), 400);
    upload(ctx, numbers.get(), zeros.data(), 80);
    both([&](const auto& call, const char* form) {
      for (const gpumem_family f : kFamilies) {
        const bool gathers = f == GPUMEM_FAMILY_GATHER;
        const auto rows = [&](int64_t n, int64_t named, int64_t src_pitch, int64_t dst_pitch) {
          return Rows{f, 40, src.get(), src_pitch, GPUMEM_I64, numbers.get(), n, dst.get(), dst_pitch, named};
        };
        EXPECT_TRUE(ok(call(rows(10, 10, 40, 40)))) << form;
        EXPECT_TRUE(ok(call(rows(4, 4, 120, 120)))) << form << ": the last row ends with its bytes";
        EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(rows(4, 4, 121, 120)), {"src"})) << form;
        EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(rows(4, 4, 120, 121)), {"dst"})) << form;
        EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(rows(4, 11, 40, 40)), {gathers ? "src" : "dst"})) << form;
        EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(rows(11, 4, 40, 40)), {gathers ? "index" : "src"})) << form;
      }
    });
  }
}

TEST_P(RowsOn, DstOverlapsNothing) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer block(ctx, kind, 4096);
    std::memset(block.image(), 0, 4096);
    block.write();
    char* const p = block.data();
    const bool pageable = on_cuda() && kind == GPUMEM_MEMORY_PAGEABLE;
    const Memory other(ctx, pageable ? int32_t{GPUMEM_MEMORY_PINNED} : kind, 512);
    const Bytes zeros(512, 0);
    upload(ctx, other.get(), zeros.data(), 512);
    both([&](const auto& call, const char* form) {
      for (const gpumem_family f : kFamilies) {
        const auto rows = [&](char* src, void* index, char* dst) {
          return Rows{f, 8, src, 16, GPUMEM_I32, index, 64, dst, 16, 64};  // 1016 bytes each side
        };
        for (char* dst : {p, p + 4, p + 1015, p + 1001}) {
          EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(rows(p, other.get(), dst)), {"src", "dst"})) << form;
          EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(rows(dst, other.get(), p)), {"src", "dst"})) << form;
        }
        EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(rows(p, p + 2044, p + 1030)), {"index", "dst"})) << form;
        EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(rows(p, p + 1020, p + 1275)), {"index", "dst"})) << form;
        EXPECT_TRUE(block.intact()) << kind_name(kind);
        EXPECT_TRUE(ok(call(rows(p, other.get(), p + 1016)))) << form << ": neighbours do not overlap";
        EXPECT_TRUE(ok(call(rows(p, other.get(), p + 8)))) << form << ": columns of one matrix do not overlap";
        EXPECT_TRUE(ok(call(rows(p, p, p + 2048)))) << form << ": what is only read may overlap";
      }
    });
  }
}

TEST_P(RowsOn, TheStatusWordIsCheckedLikeAnyOutput) {
  const Memory block(ctx, GPUMEM_MEMORY_PINNED, 256);
  std::memset(block.get(), 0, 256);
  char* const p = block.bytes();
  const auto enqueue = [&](gpumem_family f, void* status) {
    return run_async(ctx, {f, 8, p, 8, GPUMEM_I64, p + 64, 4, p + 128, 8, 4}, static_cast<gpumem_status*>(status),
                     nullptr);
  };
  for (const gpumem_family f : kFamilies) {
    EXPECT_TRUE(ok(enqueue(f, nullptr)));
    EXPECT_TRUE(ok(enqueue(f, p + 160)));
    for (const int at : {161, 162, 163}) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(f, p + at), {"status", "4"}));
    }
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(f, p + 28), {"status", "src"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(f, p + 64), {"status", "index"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(f, p + 156), {"status", "dst"}));
    gpumem_status pageable = 77;
    EXPECT_TRUE(gives(on_cuda() ? GPUMEM_INVALID_POINTER : GPUMEM_OK, enqueue(f, &pageable)));
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  }
}

TEST_P(RowsOn, UnreadableAndUnwritableMemoryIsRefused) {
  FencedPages pages(4096);
  Bytes heap(4096, 0);
  alignas(8) const int64_t zeros[8] = {};
  both([&](const auto& call, const char*) {
    for (const gpumem_family f : kFamilies) {
      const auto rows = [&](const void* src, const void* index, void* dst) {
        return call({f, 8, src, 8, GPUMEM_I64, index, 8, dst, 8, 8});
      };
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, rows(pages.end(), zeros, heap.data()), {"src"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, rows(heap.data(), pages.end(), heap.data() + 64), {"index"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, rows(heap.data(), zeros, pages.end()), {"dst"}));
      for (const gpumem_status tail :
           {rows(pages.end() - 63, zeros, heap.data()), rows(heap.data(), pages.end() - 56, heap.data() + 64),
            rows(heap.data(), zeros, pages.end() - 63)}) {
        EXPECT_TRUE(tail == GPUMEM_OUT_OF_RANGE || tail == GPUMEM_INVALID_POINTER) << gpumem_status_name(tail);
      }
    }
  });
  pages.protect(PROT_READ);
  both([&](const auto& call, const char*) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER,
                        call({GPUMEM_FAMILY_GATHER, 8, heap.data(), 8, GPUMEM_I64, zeros, 8, pages.first(), 8, 8}),
                        {"dst"}));
  });
  EXPECT_EQ(heap, Bytes(4096, 0));
}

// The status is in the order of the stream, and so is the work: what is enqueued before supplies the index.
TEST_P(RowsOn, EnqueuedWorkKeepsTheOrderOfItsStream) {
  const Stream stream(ctx);
  constexpr int64_t kN = 100000;
  const Memory src(ctx, GPUMEM_MEMORY_DEVICE, kN * 4), index(ctx, GPUMEM_MEMORY_DEVICE, kN * 4),
      there(ctx, GPUMEM_MEMORY_DEVICE, kN * 4), back(ctx, GPUMEM_MEMORY_DEVICE, kN * 4),
      words(ctx, GPUMEM_MEMORY_PINNED, 16);
  std::vector<int32_t> numbers(kN), reversed(kN);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::reverse_copy(numbers.begin(), numbers.end(), reversed.begin());
  upload(ctx, src.get(), numbers.data(), kN * 4);
  auto* const status = static_cast<gpumem_status*>(words.get());
  std::fill_n(status, 4, 77);
  const int32_t bad = -5;
  const auto* const p = reversed.data();
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, index.get(), p, kN * 4, stream)));
  ASSERT_TRUE(ok(run_async(
      ctx, {GPUMEM_FAMILY_GATHER, 4, src.get(), 4, GPUMEM_I32, index.get(), kN, there.get(), 4, kN}, status, stream)));
  ASSERT_TRUE(
      ok(run_async(ctx, {GPUMEM_FAMILY_SCATTER, 4, there.get(), 4, GPUMEM_I32, index.get(), kN, back.get(), 4, kN},
                   status + 1, stream)));
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, index.bytes() + 4 * 70000, &bad, 4, 1, stream)));
  for (const gpumem_family f :
       kFamilies) {  // nothing is written: not even what the good numbers before the bad one name
    ASSERT_TRUE(ok(run_async(ctx, {f, 4, src.get(), 4, GPUMEM_I32, index.get(), kN, there.get(), 4, kN},
                             status + (f == GPUMEM_FAMILY_GATHER ? 2 : 3), stream)));
  }
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
  EXPECT_EQ(std::vector<gpumem_status>(status, status + 4),
            (std::vector<gpumem_status>{GPUMEM_OK, GPUMEM_OK, GPUMEM_OUT_OF_RANGE, GPUMEM_OUT_OF_RANGE}));
  const Bytes gathered = download(ctx, there.get(), kN * 4);
  const Bytes scattered = download(ctx, back.get(), kN * 4);
  EXPECT_EQ(std::memcmp(gathered.data(), reversed.data(), kN * 4), 0);
  EXPECT_EQ(std::memcmp(scattered.data(), numbers.data(), kN * 4), 0);
}

TEST_P(RowsOn, EnqueuedOnTheHostReturnsBeforeTheWork) {
  Gate gate;
  const Context gated(gate.options(GetParam()));
  constexpr int64_t kN = 200000;  // more than one task
  std::vector<int32_t> src(kN, 5), index(kN), dst(kN, 0);
  std::iota(index.begin(), index.end(), 0);
  const OpenAtEnd open(gate);
  gate.close();
  const Rows r{GPUMEM_FAMILY_GATHER, 4, src.data(), 4, GPUMEM_I32, index.data(), kN, dst.data(), 4, kN};
  ASSERT_TRUE(ok(run_async(gated, r, nullptr, nullptr)));
  EXPECT_TRUE(gate.reached());
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(gated, nullptr)));
  EXPECT_EQ(dst, std::vector<int32_t>(kN, 0));
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(gated, nullptr)));
  EXPECT_EQ(dst, src);
}

TEST_P(RowsOn, ExplainNamesWhatItUnderstood) {
  const Memory src(ctx, GPUMEM_MEMORY_DEVICE, 4096), dst(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const std::vector<int64_t> index(30, 0);
  for (const gpumem_family f : kFamilies) {
    const Rows r{f, 17, src.get(), 32, GPUMEM_U64, index.data(), 30, dst.get(), 18, 29};
    std::string text;
    ASSERT_TRUE(ok(explain(ctx, line_of(ctx, r), GPUMEM_FORMAT_TEXT, text)));
    for (const char* word : {name_of_rows(f), "30", "17", "u64", "29", "32", "18"}) {
      EXPECT_TRUE(contains_word(text, word)) << word << " is not in:\n" << text;
    }
    Explained explained;
    ASSERT_TRUE(ok(explain(ctx, line_of(ctx, r), explained)));
    EXPECT_EQ(explained.variant, on_cuda() ? "bytes" : "host_parallel");
    if (!on_cuda()) continue;
    EXPECT_NE(explained.not_taken["vec16"].find("dst"), std::string::npos) << explained.not_taken["vec16"];
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, f, "words")));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, run(ctx, r), {"words", name_of_rows(f), "dst"}));
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, f, nullptr)));
  }
}

// The enqueued forms move no operand.
TEST_P(RowsOn, EnqueuedOperandsLieOnOneSide) {
  if (!on_cuda()) GTEST_SKIP() << "a host context has one side";
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 64), other(ctx, GPUMEM_MEMORY_DEVICE, 64),
      index(ctx, GPUMEM_MEMORY_DEVICE, 64), pinned(ctx, GPUMEM_MEMORY_PINNED, 64);
  const Bytes zeros(64, 0);
  for (const Memory* m : {&device, &other, &index, &pinned}) upload(ctx, m->get(), zeros.data(), 64);
  Bytes heap(64, 0);
  alignas(8) int64_t numbers[4] = {};
  for (const gpumem_family f : kFamilies) {
    const auto call = [&](const void* src, const void* at, void* dst) {
      return run_async(ctx, {f, 8, src, 8, GPUMEM_I64, at, 4, dst, 8, 4}, nullptr, nullptr);
    };
    EXPECT_TRUE(ok(call(device.get(), index.get(), other.get())));
    EXPECT_TRUE(ok(call(device.get(), pinned.get(), other.get()))) << "the device reads a pinned index";
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(device.get(), numbers, other.get()), {"index", "pageable"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(pinned.get(), index.get(), other.get()), {"src", "pinned"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(device.get(), numbers, heap.data()), {"src", "device"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(pinned.get(), index.get(), heap.data()), {"index", "device"}));
    EXPECT_TRUE(ok(call(pinned.get(), numbers, heap.data())));
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  }
}

INSTANTIATE_TEST_SUITE_P(On, RowsOn, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
