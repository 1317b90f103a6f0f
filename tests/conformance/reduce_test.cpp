// Every reduction of one sequence, of every type, against the plain reference: over the list of cases, by every variant,
// blocking and enqueued.
#include <cstring>

#include "conformance/conformance.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

std::string describe(const ReduceCase& c) {
  return std::to_string(c.n) + ' ' + info_of(c.dtype).name + ", stride " + std::to_string(c.stride) + ", offset " +
         std::to_string(c.offset) + ", x in " + kind_name(c.x) + ", result in " + kind_name(c.result) + ", numbers " +
         numbers_name(c.numbers);
}

bool on_device(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_DEVICE || kind == GPUMEM_MEMORY_MANAGED; }

class ReduceConformance : public Conformance {
 protected:
  // One operation of one case with the variant that is forced now: results, guards, status.
  void blocking(const Reduction& r, GuardedBuffer& result, const Outcome& want, const std::string& what) {
    poison(result.whole_image());
    result.write();
    const gpumem_status status = run(ctx, r, result.data(), ++calls_ % 2 == 0);
    const size_t bytes = static_cast<size_t>(words_of(r.op)) * 8;
    if (want.status == GPUMEM_OK) std::memcpy(result.image(), want.words, bytes);
    ASSERT_TRUE(gives(want.status, status)) << what;
    ASSERT_TRUE(result.intact()) << what << ", expected " << describe(want);
    ++outcomes[status];
  }

  void enqueued(const Reduction& r, GuardedBuffer& result, GuardedBuffer& word, const Outcome& want,
                const std::string& what) {
    poison(result.whole_image());
    result.write();
    poison(word.whole_image());
    word.write();
    auto* const status_word = reinterpret_cast<gpumem_status*>(word.data());
    const gpumem_status status = run_async(ctx, r, result.data(), status_word, nullptr, ++calls_ % 2 == 0);
    const bool overflow = want.status == GPUMEM_OVERFLOW;  // which the run alone can find
    ASSERT_TRUE(gives(overflow ? GPUMEM_OK : want.status, status)) << what << ", enqueued";
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr))) << what << ", enqueued";
    const size_t bytes = static_cast<size_t>(words_of(r.op)) * 8;
    if (want.status == GPUMEM_OK) std::memcpy(result.image(), want.words, bytes);
    if (status == GPUMEM_OK && takes_status(r.op)) std::memcpy(word.image(), &want.status, sizeof want.status);
    ASSERT_TRUE(result.intact()) << what << ", enqueued, expected " << describe(want);
    ASSERT_TRUE(word.intact()) << what << ", enqueued: the status word, expected " << want.status;
  }

  struct Elements {
    Bytes x;
    Bytes y;  // of the dot product
    int64_t y_stride;
    gpumem_memory_kind y_kind;
  };

  Elements elements_of(const ReduceCase& c, Random& random) {
    Elements e;
    e.x = random_elements(c.dtype, c.numbers, c.n, c.stride, random);
    if (c.n % 3 == 0) add_specials(c.dtype, e.x, c.n, c.stride, random);
    e.y_stride = random.below(2) == 0 ? c.stride : 1 + static_cast<int64_t>(random.below(3));
    if (has(c.dtype, GPUMEM_DOT)) e.y = random_elements(c.dtype, c.numbers, c.n, e.y_stride, random);
    e.y_kind = random.below(3) == 0 ? kAllKinds[random.below(4)] : c.x;
    return e;
  }

  void run_case(const ReduceCase& c, EveryVariant& variants, Random& random) {
    const Elements e = elements_of(c, random);
    GuardedBuffer x = blocks.buffer(0, c.x, e.x.size(), c.offset);
    if (!e.x.empty()) x.set(e.x.data());
    GuardedBuffer y = blocks.buffer(1, e.y_kind, e.y.size(), 16 - c.offset % 16);
    if (!e.y.empty()) y.set(e.y.data());
    GuardedBuffer result = blocks.buffer(2, c.result, 16, 0);
    // A CUDA context writes no pageable memory in the order of a stream.
    const bool pageable = on_cuda() && c.result == GPUMEM_MEMORY_PAGEABLE;
    const gpumem_memory_kind async_kind = pageable ? int32_t{GPUMEM_MEMORY_PINNED} : c.result;
    GuardedBuffer async_result = blocks.buffer(3, async_kind, 16, 0);
    GuardedBuffer word = blocks.buffer(4, async_kind, sizeof(gpumem_status), 0);
    for (const gpumem_reduce_op op : kAllOps) {
      if (!has(c.dtype, op)) continue;
      const Reduction r{c.dtype, op, x.data(), c.n, c.stride, y.data(), e.y_stride};
      const Reduction on_host{c.dtype, op, e.x.data(), c.n, c.stride, e.y.data(), e.y_stride};
      const Outcome expected = reference(on_host);
      const bool mixed = on_cuda() && op == GPUMEM_DOT && on_device(c.x) != on_device(e.y_kind) && c.n > 0;
      variants.for_each(line_of(ctx, r), c.n == 0, [&](bool accepted, const char* variant) {
        const Outcome want = accepted ? expected : Outcome{GPUMEM_UNSUPPORTED, {}};
        const std::string what = std::string(variant) + ", " + op_name(op) + ", " + describe(c) + ", y in " +
                                 kind_name(e.y_kind) + ", y_stride " + std::to_string(e.y_stride);
        blocking(r, result, want, what);
        if (!mixed && !HasFatalFailure()) enqueued(r, async_result, word, want, what);
      });
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(x.intact()) << "the input changed: " << describe(c);
    EXPECT_TRUE(y.intact()) << "the second input changed: " << describe(c);
  }

  std::map<gpumem_status, int64_t> outcomes;

 private:
  int64_t calls_ = 0;
};

TEST_P(ReduceConformance, GivesTheReferencesBitsByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE);
  Random random;
  for (const ReduceCase& c : reduce_cases(quick_run())) {
    run_case(c, variants, random);
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda());
  for (const gpumem_status status : {GPUMEM_OK, GPUMEM_OVERFLOW, GPUMEM_EMPTY, GPUMEM_UNSUPPORTED}) {
    EXPECT_GT(outcomes[status], 0) << "no case gave " << gpumem_status_name(status);
  }
}

// x and y may be one sequence, or overlap in any way.
TEST_P(ReduceConformance, DotOfSequencesThatOverlap) {
  Random random(1);
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    const size_t element = info_of(dtype).bytes;
    const Bytes elements = random_elements(dtype, Numbers::medium, 9000, 1, random);
    for (const gpumem_memory_kind kind : kAllKinds) {
      GuardedBuffer x = blocks.buffer(0, kind, elements.size(), 0);
      x.set(elements.data());
      for (const int64_t n : {1, 128, 1025, 2999}) {
        for (const int64_t shift : {0, 1, 7, 1024}) {
          for (const int64_t stride : {1, 2}) {
            const size_t bytes = static_cast<size_t>(shift) * element;
            const Reduction r{dtype, GPUMEM_DOT, x.data(), n, stride, x.data() + bytes, 1};
            const Reduction on_host{dtype, GPUMEM_DOT, elements.data(), n, stride, elements.data() + bytes, 1};
            EXPECT_TRUE(same(reference(on_host), outcome_of(ctx, r)))
                << describe(r) << ", shifted by " << shift << ", in " << kind_name(kind);
          }
        }
      }
      EXPECT_TRUE(x.intact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ReduceConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
