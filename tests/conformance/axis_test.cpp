// Rows and columns of matrices against the reference of each line, over the list of cases, by every variant.
#include <array>
#include <cstring>

#include "conformance/conformance.hpp"
#include "support/lines.hpp"

namespace gpumem_test {
namespace {

std::string describe(const AxisCase& c) {
  return "offset " + std::to_string(c.offset) + ", x in " + kind_name(c.x) + ", result in " + kind_name(c.result) +
         ", numbers " + numbers_name(c.numbers);
}

class AxisConformance : public Conformance {
 protected:
  // With the variant that is forced now, in both forms.
  void run_op(const Axis& a, GuardedBuffer& result, GuardedBuffer& async_result, GuardedBuffer& word,
              const LinesOutcome& want, const std::string& what) {
    GuardedBuffer* const buffers[] = {&result, &async_result};
    for (const bool async : {false, true}) {
      GuardedBuffer& out = *buffers[async ? 1 : 0];
      poison(out.whole_image());
      out.write();
      poison(word.whole_image());
      word.write();
      auto* const status_word = reinterpret_cast<gpumem_status*>(word.data());
      const gpumem_status status =
          async ? run_async(ctx, a, out.data(), status_word, nullptr) : run(ctx, a, out.data());
      const bool late = async && want.status == GPUMEM_OVERFLOW;
      ASSERT_TRUE(gives(late ? GPUMEM_OK : want.status, status)) << what;
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      if (want.written && !want.words.empty()) std::memcpy(out.image(), want.words.data(), want.words.size() * 8);
      if (async && want.written && !want.words.empty()) std::memcpy(word.image(), &want.status, sizeof want.status);
      ASSERT_TRUE(out.intact()) << what << (async ? ", enqueued; " : "; ")
                                << difference(want, words_in(out, want.words.size()).data(), a.op);
      ASSERT_TRUE(word.intact()) << what << ": the status word, expected " << want.status;
      ++outcomes[want.status];
    }
  }

  std::vector<uint64_t> words_in(const GuardedBuffer& buffer, size_t count) {
    std::vector<uint64_t> words(count);
    const Bytes bytes = download(ctx, buffer.data(), count * 8);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  }

  void run_case(const AxisCase& c, size_t number, EveryVariant& variants, Random& random) {
    Axis a{c.dtype, 0, c.axis, nullptr, c.rows, c.cols, c.ld, c.batches, c.batch_stride};
    const auto op = [number](size_t i) { return axis_ops()[(2 * number + i) % axis_ops().size()]; };
    const bool factors = op(0) == GPUMEM_PROD && number % 4 != 0;
    Bytes elements = random_elements(c.dtype, factors ? Numbers::factors : c.numbers, extent_of(a), 1, random);
    if (number % 3 == 0) add_specials(c.dtype, elements, extent_of(a), 1, random);
    GuardedBuffer x = blocks.buffer(0, c.x, elements.size(), c.offset);
    x.set(elements.data());
    const size_t bytes = static_cast<size_t>(lines_of(a)) * 16;
    const bool pageable = on_cuda() && c.result == GPUMEM_MEMORY_PAGEABLE;
    const gpumem_memory_kind async_kind = pageable ? int32_t{GPUMEM_MEMORY_PINNED} : c.result;
    GuardedBuffer word = blocks.buffer(3, async_kind, sizeof(gpumem_status), 0);
    // Two of the operations, each in its turn.
    for (size_t i = 0; i < 2; ++i) {
      a.op = op(i);
      if (!has(a.dtype, a.op)) continue;
      GuardedBuffer result = blocks.buffer(1, c.result, bytes, 0);
      GuardedBuffer async_result = blocks.buffer(2, async_kind, bytes, 0);
      a.x = elements.data();
      const LinesOutcome expected = reference(a);
      a.x = x.data();
      variants.for_each(line_of(ctx, a), false, [&](bool accepted, const char* variant) {
        const LinesOutcome want = accepted ? expected : LinesOutcome{GPUMEM_UNSUPPORTED, false, {}};
        run_op(a, result, async_result, word, want, variant + std::string(", ") + describe(a) + ", " + describe(c));
      });
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(x.intact()) << "the input changed: " << describe(a) << ", " << describe(c);
  }

  // Of random numbers, by each of these operations: the variant that is chosen, the plain form.
  void expect_references_bits(Axis a, const std::vector<gpumem_reduce_op>& ops, Random& random) {
    const Memory x(ctx, GPUMEM_MEMORY_DEVICE, extent_of(a) * static_cast<int64_t>(info_of(a.dtype).bytes));
    for (const gpumem_reduce_op op : ops) {
      const Numbers numbers = op == GPUMEM_PROD ? Numbers::factors : Numbers::medium;
      const Bytes elements = random_elements(a.dtype, numbers, extent_of(a), 1, random);
      upload(ctx, x.get(), elements.data(), elements.size());
      a.op = op;
      a.x = elements.data();
      const LinesOutcome want = reference(a);
      a.x = x.get();
      std::vector<uint64_t> got(want.words.size());
      ASSERT_EQ(run(ctx, a, got.data()), want.status) << describe(a);
      ASSERT_EQ(got, want.words) << describe(a);
    }
  }

  std::map<gpumem_status, int64_t> outcomes;
};

TEST_P(AxisConformance, GivesTheReferencesBitsByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_AXIS);
  Random random;
  size_t number = 0;
  for (const AxisCase& c : axis_cases(quick_run())) {
    run_case(c, number++, variants, random);
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda(), {"view_lines"});  // of gpumem_reduce_axes
  for (const gpumem_status status : {GPUMEM_OK, GPUMEM_OVERFLOW, GPUMEM_UNSUPPORTED}) {
    EXPECT_GT(outcomes[status], 0) << "no case gave " << gpumem_status_name(status);
  }
}

// Single columns as batches that are closer than their rows: columns of one matrix, next to each other or with gaps.
TEST_P(AxisConformance, OfColumnsWithGaps) {
  Random random(12);
  for (const gpumem_dtype dtype : {GPUMEM_I8, GPUMEM_F16, GPUMEM_I32, GPUMEM_F32, GPUMEM_F64}) {
    for (const int64_t rows : {3, 40, 300, 1500}) {
      for (const int64_t step : {1, 2, 5}) {
        const int64_t columns = rows == 3 ? 5000 : random.between(2, 300);
        const int64_t pitch = columns * step + random.between(0, 3);
        expect_references_bits({dtype, 0, GPUMEM_AXIS_COLS, nullptr, rows, 1, pitch, columns, step},
                               {GPUMEM_SUM, GPUMEM_MAX}, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The kernels take rows of different lengths in different ways. The lengths are next to those where the way changes, for
// every type that has a way of its own. There are several rows for a warp. They begin anywhere, or all with a word.
TEST_P(AxisConformance, GivesTheReferencesBitsNextToWholeWords) {
  Random random(11);
  int64_t number = 0;
  int64_t wholes = 0;
  for (const gpumem_dtype dtype :
       {GPUMEM_I8, GPUMEM_U8, GPUMEM_I16, GPUMEM_I32, GPUMEM_I64, GPUMEM_F16, GPUMEM_BF16, GPUMEM_F32, GPUMEM_F64}) {
    const auto bytes = static_cast<int64_t>(info_of(dtype).bytes);
    const int64_t of_word = std::max<int64_t>(4 / bytes, 1);
    for (const int64_t words : {1, 3, 8, 16, 32, 64, 128, 192, 256, 384, 512}) {
      for (const int64_t beside : {-1, 0, 1, 2}) {  // the last: whole words
        const int64_t cols = words * of_word + beside % 2;
        if (cols == 0) continue;
        const int64_t rows = words <= 8 ? 67 : words <= 64 ? 18 : 5;
        const bool whole = beside == 2;
        const bool apart = whole && wholes++ % 2 != 0;
        const int64_t gap = !whole ? number % 5 / 2 : apart ? of_word : 0;
        const int64_t ld = cols + gap;
        const int64_t batches = apart ? 2 : 1;
        Axis a{dtype, 0, GPUMEM_AXIS_ROWS, nullptr, rows, cols, ld, batches, rows * ld + of_word};
        Bytes elements = random_elements(dtype, Numbers::full, extent_of(a), 1, random);
        Bytes factors = random_elements(dtype, Numbers::factors, extent_of(a), 1, random);
        if (number % 3 == 0) {
          add_specials(dtype, elements, extent_of(a), 1, random);
          add_specials(dtype, factors, extent_of(a), 1, random);
        }
        const int64_t offset = whole ? number % 3 * of_word : number % 4;
        ++number;
        GuardedBuffer x = blocks.buffer(0, GPUMEM_MEMORY_DEVICE, elements.size(), static_cast<size_t>(offset * bytes));
        for (const gpumem_reduce_op op : axis_ops()) {
          if (!has(dtype, op) || op == GPUMEM_SUM_COMPENSATED || op == GPUMEM_NRM2) continue;
          const Bytes& of_op = op == GPUMEM_PROD ? factors : elements;
          x.set(of_op.data());
          a.op = op;
          a.x = of_op.data();
          const LinesOutcome want = reference(a);
          a.x = x.data();
          LinesOutcome got{GPUMEM_OK, true, std::vector<uint64_t>(want.words.size())};
          got.status = run(ctx, a, got.words.data());
          ASSERT_EQ(got.status, want.status) << describe(a);
          ASSERT_EQ(got.words, want.words) << describe(a) << ", " << difference(want, got.words.data(), op);
        }
      }
    }
  }
}

// Each line has the bits that gpumem_reduce() gives for it.
TEST_P(AxisConformance, AgreesWithOneReductionALine) {
  Random random(7);
  constexpr int64_t kRows = 300, kCols = 1100, kLd = 1103;
  const Bytes elements = random_elements(GPUMEM_F64, Numbers::full, kRows * kLd, 1, random);
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(elements.size()));
  upload(ctx, x.get(), elements.data(), elements.size());
  for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_SUM_CUBES, GPUMEM_SUM_COMPENSATED, GPUMEM_MAX, GPUMEM_PROD}) {
    for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
      const Axis a{GPUMEM_F64, op, axis, x.get(), kRows, kCols, kLd, 1, 0};
      std::vector<uint64_t> got(static_cast<size_t>(lines_of(a)));
      ASSERT_TRUE(ok(run(ctx, a, got.data())));
      for (int64_t line = 0; line < lines_of(a); line += 37) {
        uint64_t one = 0;
        const double* first = static_cast<const double*>(x.get()) + (axis == GPUMEM_AXIS_ROWS ? line * kLd : line);
        ASSERT_TRUE(ok(gpumem_reduce(ctx, GPUMEM_F64, op, first, axis == GPUMEM_AXIS_ROWS ? kCols : kRows,
                                     axis == GPUMEM_AXIS_ROWS ? 1 : kLd, &one)));
        EXPECT_EQ(got[static_cast<size_t>(line)], one) << op_name(op) << ", axis " << axis << ", line " << line;
      }
    }
  }
}

// So many rows of a column that several warps fold what its runs give.
TEST_P(AxisConformance, AgreesWithOneReductionALongColumn) {
  Random random(8);
  for (const int64_t rows : {int64_t{270001}, quick_run() ? int64_t{530000} : int64_t{2200003}}) {
    const int64_t cols = rows < 300000 ? 5 : 1;
    const Memory x(ctx, GPUMEM_MEMORY_DEVICE, rows * cols * 4);
    for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN, GPUMEM_PROD}) {
      const Numbers numbers = op == GPUMEM_PROD ? Numbers::factors : Numbers::medium;
      const Bytes elements = random_elements(GPUMEM_F32, numbers, rows * cols, 1, random);
      upload(ctx, x.get(), elements.data(), elements.size());
      std::vector<uint64_t> got(static_cast<size_t>(cols));
      ASSERT_TRUE(ok(run(ctx, Axis{GPUMEM_F32, op, GPUMEM_AXIS_COLS, x.get(), rows, cols, cols, 1, 0}, got.data())));
      for (int64_t col = 0; col < cols; ++col) {
        uint64_t one = 0;
        const float* first = static_cast<const float*>(x.get()) + col;
        ASSERT_TRUE(ok(gpumem_reduce(ctx, GPUMEM_F32, op, first, rows, cols, &one)));
        EXPECT_EQ(got[static_cast<size_t>(col)], one) << op_name(op) << " of " << rows << " rows, column " << col;
      }
    }
  }
}

// Lines so long that several warps, blocks or threads share one. The extreme occurs once or often, and early or late.
TEST_P(AxisConformance, FindsTheFirstPlaceInLongLines) {
  Random random(15);
  for (const gpumem_dtype dtype : {GPUMEM_U8, GPUMEM_I16, GPUMEM_BF16, GPUMEM_F32, GPUMEM_I64, GPUMEM_F64}) {
    for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
      const int64_t length = quick_run() ? 70001 : 300007;
      const bool rows = axis == GPUMEM_AXIS_ROWS;
      const Axis a{dtype, 0, axis, nullptr, rows ? 3 : length, rows ? length : 3, rows ? length + 1 : 3, 1, 0};
      expect_references_bits(a, {GPUMEM_ARG_MIN, GPUMEM_ARG_MAX, GPUMEM_ARG_MAX_ABS}, random);
      if (HasFatalFailure()) return;
      const int64_t step = rows ? 1 : 3;
      const auto bytes = static_cast<int64_t>(info_of(dtype).bytes);
      for (const int64_t place : {int64_t{0}, length / 3, length - 1}) {
        Bytes elements(static_cast<size_t>(extent_of(a) * bytes), 1);
        std::memset(elements.data() + place * step * bytes, 0, static_cast<size_t>(bytes));  // the least of line 0
        const Memory x(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(elements.size()));
        upload(ctx, x.get(), elements.data(), elements.size());
        int64_t index[3];
        ASSERT_TRUE(ok(
            gpumem_argreduce_axis(ctx, dtype, GPUMEM_MIN, axis, x.get(), a.rows, a.cols, a.ld, 1, 0, nullptr, index)));
        ASSERT_EQ(std::vector<int64_t>(index, index + 3), std::vector<int64_t>({place, 0, 0})) << describe(a);
      }
    }
  }
}

// Columns so few that the host takes several rows of a matrix without gaps as one, and those with gaps.
TEST_P(AxisConformance, GivesTheReferencesBitsOfFewColumns) {
  Random random(14);
  int64_t number = 0;
  for (const gpumem_dtype dtype : {GPUMEM_U8, GPUMEM_I16, GPUMEM_I64, GPUMEM_BF16, GPUMEM_F64}) {
    for (const int64_t cols : {1, 2, 3, 5, 8, 60, 128, 200}) {
      for (const int64_t rows : {1, 2, 3, 41, 1025, 2050}) {
        const int64_t ld = cols + (++number % 5 == 0 ? 1 : 0);
        expect_references_bits({dtype, 0, GPUMEM_AXIS_COLS, nullptr, rows, cols, ld, 1, 0},
                               {GPUMEM_SUM, GPUMEM_SUM_CUBES, GPUMEM_MIN_MAX, GPUMEM_PROD, GPUMEM_ARG_MIN}, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Columns of f32 so many that a thread takes two or four of them.
TEST_P(AxisConformance, GivesTheReferencesBitsOfManyColumns) {
  Random random(15);
  std::vector<gpumem_reduce_op> ops{GPUMEM_SUM};
  if (!quick_run()) ops.insert(ops.end(), {GPUMEM_SUM_ABS, GPUMEM_PROD});
  for (const auto& [rows, cols, batches] : {std::array<int64_t, 3>{3, 400000, 1},
                                            {16, 70, 1000},
                                            {1100, 1000, 1},
                                            {90, 600, 21},
                                            {257, 36, 120},
                                            {2600, 404, 1}}) {
    expect_references_bits({GPUMEM_F32, 0, GPUMEM_AXIS_COLS, nullptr, rows, cols, cols, batches, rows * cols}, ops,
                           random);
    if (HasFatalFailure()) return;
  }
}

// The windows of a moving sum, of one vector and of neighbouring ones: lines that begin one element apart.
TEST_P(AxisConformance, GivesTheReferencesBitsOfMovingWindows) {
  Random random(12);
  constexpr int64_t kWindows = 1500;
  const std::vector<gpumem_reduce_op> ops{GPUMEM_SUM, GPUMEM_SUM_SQUARES, GPUMEM_MIN_MAX, GPUMEM_PROD, GPUMEM_ARG_MAX};
  for (const gpumem_dtype dtype : {GPUMEM_U8, GPUMEM_I16, GPUMEM_I32, GPUMEM_F16, GPUMEM_F32, GPUMEM_F64}) {
    for (const int64_t window : {1, 2, 16, 17, 63, 100, 128, 129, 252, 1000, 1024, 1025}) {
      if (quick_run() && window > 252) continue;
      expect_references_bits({dtype, 0, GPUMEM_AXIS_ROWS, nullptr, 1, window, window, kWindows, 1}, ops, random);
      if (HasFatalFailure()) return;
    }
    expect_references_bits({dtype, 0, GPUMEM_AXIS_ROWS, nullptr, 1, 20, 20, 5000, 1}, ops, random);
    expect_references_bits({dtype, 0, GPUMEM_AXIS_ROWS, nullptr, 3, 50, 2500, 2200, 1}, ops, random);
    expect_references_bits({dtype, 0, GPUMEM_AXIS_COLS, nullptr, 90, 1, 1, 33, 1}, ops, random);
    expect_references_bits({dtype, 0, GPUMEM_AXIS_COLS, nullptr, 20, 3, 5, kWindows / 5, 3}, ops, random);
    expect_references_bits({dtype, 0, GPUMEM_AXIS_COLS, nullptr, 1100, 1, 2, 40, 1}, ops, random);
    if (HasFatalFailure()) return;
  }
}

// So many columns that a thread has one, or several of small elements, to itself: the same on a device as on the host.
TEST_P(AxisConformance, AgreesWithTheHostOnManyShortColumns) {
  if (!on_cuda()) GTEST_SKIP() << "the host itself";
  gpumem_device_info info;
  ASSERT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
  ASSERT_TRUE(ok(gpumem_ctx_device(ctx, &info)));
  Random random(13);
  for (const gpumem_dtype dtype :
       {GPUMEM_I8, GPUMEM_U16, GPUMEM_I32, GPUMEM_I64, GPUMEM_F16, GPUMEM_BF16, GPUMEM_F32, GPUMEM_F64}) {
    const auto bytes = static_cast<int64_t>(info_of(dtype).bytes);
    for (const int64_t rows : {3, 15, 33, 100, 128}) {
      if (quick_run() && rows != 33) continue;
      const int64_t cols =
          std::max<int64_t>(int64_t{2600} * info.multiprocessors / bytes, (5 << 20) / rows / bytes) / 4 * 4;
      Axis a{dtype, 0, GPUMEM_AXIS_COLS, nullptr, rows, cols, cols, 1, 0};
      const Memory x(ctx, GPUMEM_MEMORY_DEVICE, extent_of(a) * bytes);
      for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_SUM_SQUARES, GPUMEM_MAX, GPUMEM_PROD, GPUMEM_ARG_MAX_ABS}) {
        const Numbers numbers = op == GPUMEM_PROD ? Numbers::factors : Numbers::medium;
        const Bytes elements = random_elements(dtype, numbers, extent_of(a), 1, random);
        upload(ctx, x.get(), elements.data(), elements.size());
        a.op = op;
        std::vector<uint64_t> want(static_cast<size_t>(cols) * (is_arg(op) ? 2 : 1)), got(want.size());
        a.x = elements.data();
        const gpumem_status status = run(ctx, a, want.data());
        a.x = x.get();
        ASSERT_EQ(run(ctx, a, got.data()), status) << describe(a);
        ASSERT_EQ(got, want) << describe(a);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, AxisConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
