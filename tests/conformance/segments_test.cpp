// Segments against the reference of each, over the list of cases, by every variant, with sound offsets and with bad ones.
#include <cstring>

#include "conformance/conformance.hpp"
#include "support/lines.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

std::string describe(const SegmentsCase& c) {
  return "shape " + std::to_string(static_cast<int>(c.shape)) + ", longest " + std::to_string(c.longest) + ", offset " +
         std::to_string(c.offset) + ", x in " + kind_name(c.x) + ", offsets in " + kind_name(c.offsets) +
         ", result in " + kind_name(c.result) + ", numbers " + numbers_name(c.numbers);
}

// segments + 1 offsets.
std::vector<int64_t> offsets_of(const SegmentsCase& c, Random& random) {
  std::vector<int64_t> offsets = {c.shape == Segments::sparse ? random.between(0, 100) : 0};
  const int64_t huge = c.segments == 0 ? 0 : static_cast<int64_t>(random.below(static_cast<uint64_t>(c.segments)));
  // No more elements than a test has time for.
  const int64_t longest = std::min(c.longest, 200000 / (c.segments + 1) + 8);
  for (int64_t s = 0; s < c.segments; ++s) {
    int64_t length = random.between(0, 8);
    if (c.shape == Segments::mixed || c.shape == Segments::sparse) length = log_uniform(1, longest + 1, random) - 1;
    if (c.shape == Segments::one_huge) length = s == huge ? c.longest : random.between(0, 2);
    offsets.push_back(offsets.back() + length);
  }
  return offsets;
}

bool on_device(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_DEVICE || kind == GPUMEM_MEMORY_MANAGED; }

class SegmentsConformance : public Conformance {
 protected:
  void run_op(const Segmented& s, GuardedBuffer& out, GuardedBuffer* word, const LinesOutcome& want,
              const std::string& what) {
    poison(out.whole_image());
    out.write();
    const bool async = word != nullptr;
    if (async) {
      poison(word->whole_image());
      word->write();
    }
    auto* const status_word = async ? reinterpret_cast<gpumem_status*>(word->data()) : nullptr;
    const gpumem_status status = async ? run_async(ctx, s, out.data(), status_word, nullptr) : run(ctx, s, out.data());
    ASSERT_TRUE(gives(async && want.written ? GPUMEM_OK : want.status, status)) << what;
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    const bool some = want.written && !want.words.empty();
    if (some) std::memcpy(out.image(), want.words.data(), want.words.size() * 8);
    if (want.written && async) std::memcpy(word->image(), &want.status, sizeof want.status);
    ASSERT_TRUE(out.intact()) << what << (async ? ", enqueued; " : "; ") << difference_in(out, want, s.op);
    ASSERT_TRUE(!async || word->intact()) << what << ": the status word, expected " << want.status;
    ++outcomes[want.status];
  }

  std::string difference_in(const GuardedBuffer& out, const LinesOutcome& want, gpumem_reduce_op op) {
    std::vector<uint64_t> words(want.words.size());
    const Bytes bytes = download(ctx, out.data(), words.size() * 8);
    if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return difference(want, words.data(), op);
  }

  void run_case(const SegmentsCase& c, size_t number, EveryVariant& variants, Random& random) {
    const std::vector<int64_t> offsets = offsets_of(c, random);
    const int64_t n = offsets.back() + (c.shape == Segments::sparse ? 50 : 0);
    const auto op_of = [number](size_t i) { return kReduceOps[(3 * number + i) % std::size(kReduceOps)]; };
    const bool factors =
        number % 4 != 0 && (op_of(0) == GPUMEM_PROD || op_of(1) == GPUMEM_PROD || op_of(2) == GPUMEM_PROD);
    Bytes elements = random_elements(c.dtype, factors ? Numbers::factors : c.numbers, n, 1, random);
    if (number % 3 == 0) add_specials(c.dtype, elements, n, 1, random);
    GuardedBuffer x = blocks.buffer(0, c.x, elements.size(), c.offset);
    if (n > 0) x.set(elements.data());
    // The enqueued form takes offsets where x's side can read them, and a CUDA context's writes no pageable memory. Without
    // elements there is no x, and the work is where the offsets lie.
    const bool apart = on_cuda() && n > 0 && on_device(c.x) != on_device(c.offsets);
    GuardedBuffer ends = blocks.buffer(1, c.offsets, offsets.size() * 8, 0);
    ends.set(offsets.data());
    GuardedBuffer near_ends = blocks.buffer(2, apart ? c.x : c.offsets, offsets.size() * 8, 0);
    near_ends.set(offsets.data());
    const bool pageable = on_cuda() && c.result == GPUMEM_MEMORY_PAGEABLE;
    const gpumem_memory_kind async_kind = pageable ? int32_t{GPUMEM_MEMORY_PINNED} : c.result;
    GuardedBuffer result = blocks.buffer(3, c.result, static_cast<size_t>(c.segments) * 16, 0);
    GuardedBuffer async_result = blocks.buffer(4, async_kind, static_cast<size_t>(c.segments) * 16, 0);
    GuardedBuffer word = blocks.buffer(5, async_kind, sizeof(gpumem_status), 0);
    for (size_t i = 0; i < 3; ++i) {
      const gpumem_reduce_op op = op_of(i);
      if (!has(c.dtype, op)) continue;
      Segmented s{c.dtype, op, elements.data(), n, offsets.data(), c.segments};
      const LinesOutcome expected = reference(s);
      s.x = x.data();
      s.offsets = reinterpret_cast<const int64_t*>(ends.data());
      Segmented near = s;
      near.offsets = reinterpret_cast<const int64_t*>(near_ends.data());
      variants.for_each(line_of(ctx, s), c.segments == 0, [&](bool accepted, const char* variant) {
        const LinesOutcome want = accepted ? expected : LinesOutcome{GPUMEM_UNSUPPORTED, false, {}};
        const std::string what = variant + std::string(", ") + describe(s) + ", " + describe(c);
        run_op(s, result, nullptr, want, what);
        if (!HasFatalFailure()) run_op(near, async_result, &word, want, what);
      });
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(x.intact() && ends.intact()) << "an input changed: " << describe(c);
  }

  std::map<gpumem_status, int64_t> outcomes;
};

TEST_P(SegmentsConformance, GivesTheReferencesBitsByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_SEGMENTS);
  Random random;
  size_t number = 0;
  for (const SegmentsCase& c : segments_cases(quick_run())) {
    run_case(c, number++, variants, random);
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda());
  for (const gpumem_status status : {GPUMEM_OK, GPUMEM_OVERFLOW, GPUMEM_EMPTY, GPUMEM_UNSUPPORTED}) {
    EXPECT_GT(outcomes[status], 0) << "no case gave " << gpumem_status_name(status);
  }
}

// The same for averages next to those where the way of taking segments changes, with segments that need more room than theirs.
TEST_P(SegmentsConformance, GivesTheReferencesBitsNextToWholeWords) {
  Random random(13);
  for (const gpumem_dtype dtype : {GPUMEM_I8, GPUMEM_I16, GPUMEM_I32, GPUMEM_I64, GPUMEM_F16, GPUMEM_F32, GPUMEM_F64}) {
    const auto bytes = static_cast<int64_t>(info_of(dtype).bytes);
    for (const int64_t words : {2, 6, 18, 24, 98, 102}) {
      const int64_t average = words * std::max<int64_t>(4 / bytes, 1);
      std::vector<int64_t> offsets = {0};
      for (int i = 0; i < 150; ++i) {
        // Some lengths are next to the most that lanes share.
        const int64_t length = i % 10 == 9 ? random.between(127, 129) : random.between(0, 2 * average);
        offsets.push_back(offsets.back() + std::min(length, 2 * average));
      }
      const Bytes full = random_elements(dtype, Numbers::full, offsets.back(), 1, random);
      const Bytes factors = random_elements(dtype, Numbers::factors, offsets.back(), 1, random);
      GuardedBuffer x = blocks.buffer(0, GPUMEM_MEMORY_DEVICE, full.size(), static_cast<size_t>(words % 4 * bytes));
      for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_SUM_SQUARES, GPUMEM_MAX, GPUMEM_PROD}) {
        const Bytes& elements = op == GPUMEM_PROD ? factors : full;
        x.set(elements.data());
        Segmented s{dtype, op, elements.data(), offsets.back(), offsets.data(), 150};
        const LinesOutcome want = reference(s);
        s.x = x.data();
        std::vector<uint64_t> got(want.words.size());
        ASSERT_EQ(run(ctx, s, got.data()), want.status) << describe(s);
        ASSERT_EQ(got, want.words) << describe(s) << ", " << words << " words, " << difference(want, got.data(), op);
      }
    }
  }
}

// Offsets that are none: their segments are 0, the others right, and nothing outside of x is read.
TEST_P(SegmentsConformance, BadOffsetsSpoilTheirOwnSegmentsAlone) {
  constexpr int64_t kN = 4096 / 4;
  const FencedPages pages(4096);
  auto* const elements = reinterpret_cast<int32_t*>(pages.end()) - kN;
  for (int64_t i = 0; i < kN; ++i) elements[i] = static_cast<int32_t>(i + 1);
  const std::vector<std::vector<int64_t>> bad = {{0, 10, 5, 20},
                                                 {-1, 10, 20},
                                                 {0, 10, kN, kN + 1},
                                                 {0, 3, INT64_MAX, INT64_MAX},
                                                 {INT64_MIN, 4, 8},
                                                 {INT64_MIN, INT64_MAX, 7},
                                                 {5, 4, 3, 2, 1, 0},
                                                 {0, 1, 2, 3, INT64_MIN, 5, 9, int64_t{1} << 40, 9, 10},
                                                 {int64_t{1} << 62, 0, kN},
                                                 {kN + 1, kN + 1, kN + 2}};
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_SEGMENTS);
  for (const gpumem_memory_kind kind : kAllKinds) {
    // Ordinary memory ends at a page that can't be read; the other kinds at the guard's bytes.
    GuardedBuffer block(ctx, kind, kN * 4);
    block.set(elements);
    const void* const x = kind == GPUMEM_MEMORY_PAGEABLE ? static_cast<const void*>(elements) : block.data();
    for (const std::vector<int64_t>& offsets : bad) {
      GuardedBuffer ends(ctx, kind, offsets.size() * 8);
      ends.set(offsets.data());
      const auto segments = static_cast<int64_t>(offsets.size()) - 1;
      const bool pageable = on_cuda() && kind == GPUMEM_MEMORY_PAGEABLE;
      const gpumem_memory_kind result_kind = pageable ? int32_t{GPUMEM_MEMORY_PINNED} : kind;
      GuardedBuffer result(ctx, result_kind, static_cast<size_t>(segments) * 16);
      GuardedBuffer word(ctx, result_kind, sizeof(gpumem_status));
      for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN_MAX, GPUMEM_MAX}) {
        const LinesOutcome expected = reference(Segmented{GPUMEM_I32, op, elements, kN, offsets.data(), segments});
        ASSERT_NE(expected.status, GPUMEM_OK);
        const Segmented s{GPUMEM_I32, op, x, kN, reinterpret_cast<const int64_t*>(ends.data()), segments};
        variants.for_each(line_of(ctx, s), false, [&](bool accepted, const char* variant) {
          if (!accepted) return;
          std::string what = variant + std::string(", ") + kind_name(kind) + ", " + describe(s) + ", offsets";
          for (const int64_t offset : offsets) what += ' ' + std::to_string(offset);
          run_op(s, result, nullptr, expected, what);
          run_op(s, result, &word, expected, what);
        });
        if (HasFatalFailure() || enough()) return;
      }
    }
  }
}

// The largest code of those that the segments have.
TEST_P(SegmentsConformance, TheLargestCodeIsGiven) {
  const std::vector<int64_t> x = {INT64_MIN, 1, 2, INT64_MAX, INT64_MAX};
  const auto status_of = [&](gpumem_reduce_op op, const std::vector<int64_t>& offsets, std::vector<int64_t> expected) {
    std::vector<int64_t> got(expected.size(), 77);
    const gpumem_status status = gpumem_reduce_segments(ctx, GPUMEM_I64, op, x.data(), 5, offsets.data(),
                                                        static_cast<int64_t>(offsets.size()) - 1, got.data());
    EXPECT_EQ(got, expected) << op_name(op);
    return status;
  };
  EXPECT_EQ(status_of(GPUMEM_SUM, {0, 1, 1, 3, 4}, {INT64_MIN, 0, 3, INT64_MAX}), GPUMEM_OK);
  EXPECT_EQ(status_of(GPUMEM_SUM, {0, 1, 3, 5}, {INT64_MIN, 3, 0}), GPUMEM_OVERFLOW);
  EXPECT_EQ(status_of(GPUMEM_SUM, {0, 1, 6}, {INT64_MIN, 0}), GPUMEM_OUT_OF_RANGE);
  EXPECT_EQ(status_of(GPUMEM_SUM, {3, 5, 6}, {0, 0}), GPUMEM_OVERFLOW);
  EXPECT_EQ(status_of(GPUMEM_MIN, {0, 1, 1, 3}, {INT64_MIN, 0, 1}), GPUMEM_EMPTY);
  EXPECT_EQ(status_of(GPUMEM_MAX, {1, 1, 6, 5}, {0, 0, 0}), GPUMEM_EMPTY);
  EXPECT_EQ(status_of(GPUMEM_MAX_ABS, {0, 1, 1, 3}, {0, 0, 2}), GPUMEM_OVERFLOW);
  EXPECT_EQ(status_of(GPUMEM_MAX_ABS, {1, 1, 0, 1, 9}, {0, 0, 0, 0}), GPUMEM_OVERFLOW);
}

INSTANTIATE_TEST_SUITE_P(On, SegmentsConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
