// gpumem_gather and gpumem_scatter against the formulas of the header, over the list of cases, by every variant; and what they
// do about indices that are bad, or named twice.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "conformance/conformance.hpp"
#include "conformance/rows_cases.hpp"
#include "support/rows.hpp"

namespace gpumem_test {
namespace {

constexpr gpumem_family kFamilies[] = {GPUMEM_FAMILY_GATHER, GPUMEM_FAMILY_SCATTER};

std::vector<int64_t> shuffled(int64_t rows, Random& random) {
  std::vector<int64_t> all(static_cast<size_t>(rows));
  std::iota(all.begin(), all.end(), int64_t{0});
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

std::vector<int64_t> numbers_of(const RowsCase& c, gpumem_family family, Random& random) {
  std::vector<int64_t> numbers = shuffled(c.rows, random);
  if (c.named == Named::in_order) std::iota(numbers.begin(), numbers.end(), int64_t{0});
  if (c.named == Named::at_random && family == GPUMEM_FAMILY_GATHER) {
    for (int64_t& number : numbers) number = static_cast<int64_t>(random.below(static_cast<uint64_t>(c.rows)));
  }
  numbers.resize(static_cast<size_t>(c.n));
  return numbers;
}

bool on_host(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED; }

std::string describe(const RowsCase& c) {
  return "offsets " + std::to_string(c.src_offset) + " and " + std::to_string(c.dst_offset) + ", src in " +
         kind_name(c.src) + ", index in " + kind_name(c.index) + ", dst in " + kind_name(c.dst) + ", status in " +
         kind_name(c.status);
}

class RowsConformance : public Conformance {
 protected:
  // Where the enqueued form may put its status on such a context.
  gpumem_memory_kind status_kind(gpumem_memory_kind wanted) const {
    return on_cuda() && wanted == GPUMEM_MEMORY_PAGEABLE ? int32_t{GPUMEM_MEMORY_PINNED} : wanted;
  }
  // Whether the enqueued form, which moves no operand, can work with these.
  bool on_one_side(gpumem_memory_kind src, gpumem_memory_kind index, gpumem_memory_kind dst) const {
    if (!on_cuda()) return true;
    if (on_host(dst)) return on_host(src) && on_host(index);
    return !on_host(src) && index != GPUMEM_MEMORY_PAGEABLE;
  }

  struct Images {
    Bytes before;
    Bytes after;
  };

  // The plain form, then the enqueued one. `ends`: what the run comes to where the variant is accepted; with a failure nothing
  // may have been written.
  void run_both(const Rows& r, GuardedBuffer& dst, GuardedBuffer& word, const Images& images, bool accepted,
                bool one_side, gpumem_status ends, const std::string& what) {
    const auto expect_dst = [&](bool written, const char* form) {
      dst.whole_image() = written ? images.after : images.before;
      ASSERT_TRUE(dst.intact()) << form << what;
    };
    dst.whole_image() = images.before;
    dst.write();
    const gpumem_status plain = run(ctx, r);
    ASSERT_TRUE(gives(accepted ? ends : GPUMEM_UNSUPPORTED, plain)) << what;
    expect_dst(plain == GPUMEM_OK, "");

    dst.whole_image() = images.before;
    dst.write();
    poison(word.whole_image());
    word.write();
    const bool runs = accepted && one_side;
    const gpumem_status async = run_async(ctx, r, reinterpret_cast<gpumem_status*>(word.data()), nullptr);
    ASSERT_TRUE(gives(runs ? GPUMEM_OK : GPUMEM_UNSUPPORTED, async)) << "enqueued, " << what;
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    if (runs) std::memcpy(word.image(), &ends, sizeof ends);
    ASSERT_TRUE(word.intact()) << "the status of the enqueued " << what;
    expect_dst(runs && ends == GPUMEM_OK, "enqueued, ");
  }

  void run_case(const RowsCase& c, gpumem_family family, EveryVariant& variants, Random& random) {
    const bool gathers = family == GPUMEM_FAMILY_GATHER;
    const int64_t src_rows = gathers ? c.rows : c.n;
    const int64_t dst_rows = gathers ? c.n : c.rows;
    const std::vector<int64_t> numbers = numbers_of(c, family, random);
    const Bytes encoded = index_bytes(c.index_type, numbers);
    GuardedBuffer src = blocks.buffer(0, c.src, rows_extent(src_rows, c.src_pitch, c.row_bytes), c.src_offset);
    GuardedBuffer dst = blocks.buffer(1, c.dst, rows_extent(dst_rows, c.dst_pitch, c.row_bytes), c.dst_offset);
    GuardedBuffer index = blocks.buffer(2, c.index, encoded.size(), c.index_type < GPUMEM_I64 ? 4 : 8);
    GuardedBuffer word = blocks.buffer(3, status_kind(c.status), sizeof(gpumem_status), 4);
    random.fill(src.whole_image());
    src.write();
    if (!encoded.empty()) index.set(encoded.data());
    Images images{dst.whole_image(), {}};
    for (int64_t i = 0; i < c.n; ++i) {
      const int64_t number = numbers[static_cast<size_t>(i)];
      std::memcpy(dst.image() + (gathers ? i : number) * c.dst_pitch,
                  src.image() + (gathers ? number : i) * c.src_pitch, static_cast<size_t>(c.row_bytes));
    }
    images.after = dst.whole_image();
    const Rows r{family,       c.row_bytes, src.data(), c.src_pitch, c.index_type,
                 index.data(), c.n,         dst.data(), c.dst_pitch, c.rows};
    const bool one_side = c.n == 0 || on_one_side(c.src, c.index, c.dst);
    variants.for_each(line_of(ctx, r), c.n == 0, [&](bool accepted, const char* variant) {
      run_both(r, dst, word, images, accepted, one_side, GPUMEM_OK,
               variant + std::string(", ") + describe(r) + ", " + describe(c));
    });
    EXPECT_TRUE(src.intact() && index.intact()) << "an input changed: " << describe(r) << ", " << describe(c);
  }
};

TEST_P(RowsConformance, MovesEveryRowByEveryVariant) {
  for (const gpumem_family family : kFamilies) {
    EveryVariant variants(ctx, family);
    Random random(static_cast<uint64_t>(family));
    for (const RowsCase& c : rows_cases(quick_run())) {
      run_case(c, family, variants, random);
      if (HasFatalFailure() || enough()) return;
    }
    variants.expect_all_used(on_cuda());
  }
}

// Numbers that name no row of a matrix of so many.
std::vector<int64_t> bad_numbers(gpumem_dtype type, int64_t rows) {
  if (type == GPUMEM_I32) return {-1, INT32_MIN, rows, INT32_MAX, -rows};
  if (type == GPUMEM_U32) return {rows, int64_t{1} << 31, UINT32_MAX, rows + 1};
  if (type == GPUMEM_I64) {
    return {-1, INT64_MIN, rows, INT64_MAX, int64_t{1} << 32, -(int64_t{1} << 32), (int64_t{1} << 33) + 1};
  }
  EXPECT_EQ(type, GPUMEM_U64);  // as unsigned numbers: 2^64 - 1, 2^63, ...
  return {-1, INT64_MIN, rows, INT64_MAX, int64_t{1} << 32, -(int64_t{1} << 32)};
}

std::string as_text(gpumem_dtype type, int64_t number) {
  if (type == GPUMEM_U64) return std::to_string(static_cast<uint64_t>(number));
  return std::to_string(type == GPUMEM_U32 ? int64_t{static_cast<uint32_t>(number)} : number);
}

// The first one is named, whatever the variant and its threads, and nothing is written.
TEST_P(RowsConformance, ABadIndexIsNamedAndNothingIsWritten) {
  constexpr int64_t kRows = 40;
  Random random(7);
  std::map<gpumem_status, int> seen;
  for (const int64_t n : {int64_t{1}, int64_t{40}, int64_t{3000}, quick_run() ? int64_t{70000} : int64_t{300000}}) {
    for (const gpumem_family family : kFamilies) {
      EveryVariant variants(ctx, family);
      for (const gpumem_dtype type : kIndexTypes) {
        for (const int64_t bad : bad_numbers(type, kRows)) {
          const gpumem_memory_kind kind = kAllKinds[random.below(4)];
          std::vector<int64_t> numbers(static_cast<size_t>(n));
          for (int64_t& number : numbers) number = static_cast<int64_t>(random.below(kRows));
          const auto first = static_cast<size_t>(random.below(static_cast<uint64_t>(n)));
          numbers[first] = bad;
          for (int more = 0; more < 3; ++more) {  // none before the first
            const size_t at = first + random.below(numbers.size() - first);
            if (at != first) numbers[at] = bad_numbers(type, kRows)[random.below(4)];
          }
          if (random.below(3) == 0)
            std::fill(numbers.begin() + static_cast<std::ptrdiff_t>(first) + 1, numbers.end(), bad);
          const Bytes encoded = index_bytes(type, numbers);
          const bool gathers = family == GPUMEM_FAMILY_GATHER;
          GuardedBuffer src = blocks.buffer(0, kind, static_cast<size_t>(gathers ? kRows : n) * 4, 0);
          GuardedBuffer dst = blocks.buffer(1, kind, static_cast<size_t>(gathers ? n : kRows) * 4, 0);
          GuardedBuffer index = blocks.buffer(2, kind, encoded.size(), 0);
          GuardedBuffer word = blocks.buffer(3, status_kind(kind), sizeof(gpumem_status), 0);
          index.set(encoded.data());
          const Rows r{family, 4, src.data(), 4, type, index.data(), n, dst.data(), 4, kRows};
          const std::string value = as_text(type, bad);
          const Images images{dst.whole_image(), {}};
          variants.for_each(line_of(ctx, r), false, [&](bool accepted, const char* variant) {
            const std::string what = variant + std::string(", ") + describe(r) + ", " + kind_name(kind);
            run_both(r, dst, word, images, accepted, true, GPUMEM_OUT_OF_RANGE, what);
            if (!accepted || HasFatalFailure()) return;
            ASSERT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run(ctx, r),
                                {"index", std::to_string(first), value, gathers ? "src_rows" : "dst_rows", "40"}))
                << what;
            ++seen[GPUMEM_OUT_OF_RANGE];
          });
          if (HasFatalFailure() || enough()) return;
        }
      }
    }
  }
  EXPECT_GT(seen[GPUMEM_OUT_OF_RANGE], 100);
}

// A matrix of no rows: every index is out of range, and its pointer is looked at by nobody.
TEST_P(RowsConformance, NothingCanBeNamedInAMatrixOfNoRows) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    for (const gpumem_family family : kFamilies) {
      GuardedBuffer other(ctx, kind, 64);
      GuardedBuffer index(ctx, kind, 16);
      GuardedBuffer word(ctx, status_kind(kind), sizeof(gpumem_status));
      const int64_t zeros[2] = {0, 0};
      index.set(zeros);
      const bool gathers = family == GPUMEM_FAMILY_GATHER;
      const Rows r{family,       4, gathers ? nullptr : other.data(), 4, GPUMEM_I64,
                   index.data(), 2, gathers ? other.data() : nullptr, 4, 0};
      EveryVariant variants(ctx, family);
      const Images images{other.whole_image(), {}};
      variants.for_each(line_of(ctx, r), false, [&](bool accepted, const char* variant) {
        run_both(r, other, word, images, accepted, true, GPUMEM_OUT_OF_RANGE, variant + describe(r));
      });
      ASSERT_TRUE(ok(gpumem_variant_force(ctx, family, nullptr)));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run(ctx, r), {"index", "0"}));
    }
  }
}

// Each byte of a row that several name is one of theirs; the other rows, and the gaps, stay.
TEST_P(RowsConformance, ARowNamedTwiceIsOneOfThoseThatNameIt) {
  constexpr int64_t kRows = 50, kBytes = 36, kPitch = 40;
  Random random(3);
  EveryVariant variants(ctx, GPUMEM_FAMILY_SCATTER);
  for (const int64_t n : {2, 60, 20000}) {
    for (const gpumem_memory_kind kind : kAllKinds) {
      std::vector<int64_t> numbers(static_cast<size_t>(n));
      for (int64_t& number : numbers) number = 3 + static_cast<int64_t>(random.below(kRows / 2)) / 2 * 2;
      const Bytes encoded = index_bytes(GPUMEM_U32, numbers);
      GuardedBuffer src = blocks.buffer(0, kind, rows_extent(n, kPitch, kBytes), 0);
      GuardedBuffer dst = blocks.buffer(1, kind, rows_extent(kRows, kPitch, kBytes), 0);
      GuardedBuffer index = blocks.buffer(2, kind, encoded.size(), 0);
      random.fill(src.whole_image());
      src.write();
      index.set(encoded.data());
      const Bytes before = dst.whole_image();
      const Rows r{GPUMEM_FAMILY_SCATTER, kBytes, src.data(), kPitch, GPUMEM_U32,
                   index.data(),          n,      dst.data(), kPitch, kRows};
      variants.for_each(line_of(ctx, r), false, [&](bool accepted, const char* variant) {
        if (!accepted) return;
        dst.whole_image() = before;
        dst.write();
        ASSERT_TRUE(ok(run(ctx, r))) << variant << ", " << describe(r);
        const Bytes after = download(ctx, dst.data(), dst.size());
        std::vector<char> explained(after.size(), 0);
        std::vector<char> named(kRows, 0);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t row = numbers[static_cast<size_t>(i)];
          named[static_cast<size_t>(row)] = 1;
          for (int64_t at = 0; at < kBytes; ++at) {
            const auto to = static_cast<size_t>(row * kPitch + at);
            if (after[to] == src.image()[i * kPitch + at]) explained[to] = 1;
          }
        }
        for (int64_t row = 0; row < kRows; ++row) {
          for (int64_t at = 0; named[static_cast<size_t>(row)] != 0 && at < kBytes; ++at) {
            const auto to = static_cast<size_t>(row * kPitch + at);
            ASSERT_EQ(int{explained[to]}, 1)
                << "row " << row << ", byte " << at << ", " << variant << ", " << describe(r);
            dst.image()[to] = after[to];
          }
        }
        ASSERT_TRUE(dst.intact()) << "more than the named rows: " << variant << ", " << describe(r);
      });
      if (HasFatalFailure() || enough()) return;
    }
  }
}

TEST_P(RowsConformance, APermutationThereAndBack) {
  Random random(11);
  for (const int64_t row_bytes : {1, 6, 16, 100}) {
    for (const int64_t n : {1, 97, 20011}) {
      for (const gpumem_dtype type : kIndexTypes) {
        const gpumem_memory_kind kind = kAllKinds[random.below(4)];
        const auto bytes = static_cast<size_t>(n * row_bytes);
        GuardedBuffer x = blocks.buffer(0, kind, bytes, 0);
        GuardedBuffer there = blocks.buffer(1, kind, bytes, 0);
        GuardedBuffer back = blocks.buffer(2, kind, bytes, 0);
        random.fill(x.whole_image());
        x.write();
        const Bytes encoded = index_bytes(type, shuffled(n, random));
        GuardedBuffer index = blocks.buffer(3, kind, encoded.size(), 0);
        index.set(encoded.data());
        ASSERT_TRUE(ok(run(ctx, {GPUMEM_FAMILY_GATHER, row_bytes, x.data(), row_bytes, type, index.data(), n,
                                 there.data(), row_bytes, n})));
        ASSERT_TRUE(ok(run(ctx, {GPUMEM_FAMILY_SCATTER, row_bytes, there.data(), row_bytes, type, index.data(), n,
                                 back.data(), row_bytes, n})));
        std::memcpy(back.image(), x.image(), bytes);
        ASSERT_TRUE(back.intact()) << n << " rows of " << row_bytes << " bytes in " << kind_name(kind);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, RowsConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
