// gpumem_axpby_* against its formula: random numbers of every sort, shapes, offsets, kinds of memory and aliases, by every variant;
// then any number of threads and every instruction set.
#include <algorithm>
#include <cstring>
#include <optional>

#include "conformance/conformance.hpp"
#include "support/axpby.hpp"
#include "support/environment.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

struct AxpbyCase {
  gpumem_dtype dtype;
  int64_t n;
  size_t offsets[3];            // of x, y and z: bytes from a multiple of 16
  gpumem_memory_kind kinds[3];  // of x, y and z
  bool x_is_z;
  bool y_is_z;
  bool y_is_x;
};

int64_t random_length(Random& random) {
  static constexpr int64_t kNear[] = {1, 4, 8, 64, 256, 512, 1024, 2048, 4096, 8192};
  const uint64_t shape = random.below(120);
  if (shape == 0) return 0;
  if (shape == 1) return random.between(100000, 300000);
  if (shape < 60) return kNear[random.below(10)] * random.between(1, 3) + random.between(-1, 1);
  return random.between(1, 700);
}

// Four in seven are aligned as z is, or to their elements at least.
size_t random_offset(size_t element, size_t of_z, Random& random) {
  switch (random.below(7)) {
    case 0:
      return random.below(16);
    case 1:
    case 2:
      return element * random.below(16 / element);
    default:
      return of_z;
  }
}

AxpbyCase random_case(Random& random) {
  AxpbyCase c{};
  c.dtype = random.below(2) == 0 ? GPUMEM_F32 : GPUMEM_F64;
  c.n = random_length(random);
  const size_t element = size_of(c.dtype);
  c.offsets[2] = random.below(6) == 0 ? random.below(16) : element * random.below(16 / element);
  for (int i = 0; i < 2; ++i) c.offsets[i] = random_offset(element, c.offsets[2], random);
  const gpumem_memory_kind kind = cases::kind(random.below(4));
  const bool one_kind = random.below(2) == 0;
  for (gpumem_memory_kind& k : c.kinds) k = one_kind ? kind : cases::kind(random.below(4));
  const uint64_t alias = random.below(10);
  c.x_is_z = alias == 0 || alias == 2;
  c.y_is_z = alias == 1 || alias == 2;
  c.y_is_x = alias == 3;
  return c;
}

// On a CUDA context: memory that the device works on.
class AxpbyConformance : public Conformance {
 protected:
  GuardedBuffer numbers(int role, const AxpbyCase& c, Random& random) {
    const size_t count = static_cast<size_t>(c.n);
    GuardedBuffer buffer = blocks.buffer(role, c.kinds[role], count * size_of(c.dtype), c.offsets[role]);
    fill_with_numbers(c.dtype, buffer.whole_image(), GuardedBuffer::kGuard + c.offsets[role], count, random);
    buffer.write();
    return buffer;
  }

  void run_case(const AxpbyCase& c, EveryVariant& variants, Random& random) {
    GuardedBuffer x = numbers(0, c, random);
    GuardedBuffer y = numbers(1, c, random);
    GuardedBuffer z = numbers(2, c, random);
    const Bytes before = z.whole_image();
    GuardedBuffer& as_x = c.x_is_z ? z : x;
    GuardedBuffer& as_y = c.y_is_z ? z : c.y_is_x ? as_x : y;
    Axpby call{
        c.dtype, random_factor(c.dtype, random), as_x.data(), random_factor(c.dtype, random), as_y.data(), z.data(),
        c.n};
    axpby_reference({c.dtype, call.alpha, as_x.image(), call.beta, as_y.image(), z.image(), c.n});
    const Bytes expected = z.whole_image();
    // An address that nobody may look at.
    void* const nowhere = random.below(2) == 0 ? nullptr : reinterpret_cast<void*>(uintptr_t{16});
    if (!call.reads_x()) call.x = nowhere;
    if (!call.reads_y()) call.y = nowhere;
    const auto kind_of = [&](const GuardedBuffer& b) { return c.kinds[&b == &x ? 0 : &b == &y ? 1 : 2]; };
    const bool across = on_cuda() && ((call.reads_x() && of_device(kind_of(as_x)) != of_device(c.kinds[2])) ||
                                      (call.reads_y() && of_device(kind_of(as_y)) != of_device(c.kinds[2])));
    variants.for_each(line_of(ctx, call), c.n == 0, [&](bool accepted, const char* variant) {
      for (const bool async : {false, true}) {
        z.whole_image() = before;
        z.write();
        const gpumem_status status = async ? run_async(ctx, call, nullptr) : run(ctx, call);
        const bool runs = accepted && !(async && across && c.n > 0);
        ASSERT_TRUE(gives(runs ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant << ", " << describe(call);
        if (async) {
          ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        }
        if (runs) z.whole_image() = expected;
        ASSERT_TRUE(z.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(call);
      }
    });
    EXPECT_TRUE(x.intact()) << "x changed: " << describe(call);
    EXPECT_TRUE(y.intact()) << "y changed: " << describe(call);
  }
};

TEST_P(AxpbyConformance, GivesTheBitsOfTheFormulaByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_AXPBY);
  Random random(51);
  const int cases = quick_run() ? 150 : 1500;
  for (int i = 0; i < cases && !enough(); ++i) run_case(random_case(random), variants, random);
  variants.expect_all_used(on_cuda());
}

INSTANTIATE_TEST_SUITE_P(On, AxpbyConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

// Any number of threads and every instruction set: the bits of the reference.
class AxpbyBits : public testing::TestWithParam<const char*> {
 protected:
  // Operands of n elements, `offset` elements into their blocks, with guards behind them.
  struct Operands {
    Operands(gpumem_dtype type, int64_t length, size_t offset, Random& random)
        : dtype(type), n(length), first(offset * size_of(type)) {
      const size_t bytes = first + static_cast<size_t>(n) * size_of(type) + 64;
      for (Bytes* each : {&x, &y, &z, &expected}) each->assign(bytes, 0xA5);
      fill(x, 65537, random);
      fill(y, 65521, random);
      alpha = bits_of(type, 0.75);
      beta = random_number(type, random) | 1;
    }
    // Numbers that come again after `period` of them: both periods are prime, so pairs of them come again much later.
    void fill(Bytes& bytes, size_t period, Random& random) const {
      const size_t fresh = std::min(period, static_cast<size_t>(n)) * size_of(dtype);
      fill_with_numbers(dtype, bytes, first, fresh / size_of(dtype), random);
      for (size_t at = first + fresh; at < bytes.size() - 64; ++at) bytes[at] = bytes[at - fresh];
    }
    Axpby call(Bytes& out) { return {dtype, alpha, x.data() + first, beta, y.data() + first, out.data() + first, n}; }

    gpumem_dtype dtype;
    int64_t n;
    size_t first;
    uint64_t alpha = 0;
    uint64_t beta = 0;
    Bytes x, y, z, expected;
  };
};

TEST_P(AxpbyBits, DoNotDependOnThreadsOrInstructions) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  Random random(52);
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    for (const size_t offset : {0, 1, 3}) {
      Operands o(dtype, random.between(200000, 600000), offset, random);
      axpby_reference(o.call(o.expected));
      for (const int32_t threads : {1, 2, 3, 7}) {
        const Context ctx(On::host, threads);
        o.z.assign(o.z.size(), 0xA5);
        ASSERT_TRUE(ok(run(ctx, o.call(o.z))));
        EXPECT_TRUE(o.z == o.expected) << threads << " threads, offset " << offset << ", " << describe(o.call(o.z));
      }
    }
  }
}

// Operands that begin and end where no memory is: one byte too far is a signal.
TEST_P(AxpbyBits, TouchNothingPastTheEnds) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  const Context ctx(On::host, 1);
  const FencedPages x(8192), y(8192), z(8192);
  std::memset(x.first(), 0x3e, x.bytes());
  std::memset(y.first(), 0x3d, y.bytes());
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    const auto most = static_cast<int64_t>(x.bytes() / size_of(dtype));
    for (const int64_t n : {int64_t{1}, int64_t{2}, int64_t{7}, int64_t{33}, int64_t{257}, most - 1, most}) {
      const size_t bytes = static_cast<size_t>(n) * size_of(dtype);
      for (const bool at_end : {false, true}) {
        const auto place = [&](const FencedPages& pages) { return at_end ? pages.end() - bytes : pages.first(); };
        const Axpby call{dtype, bits_of(dtype, 0.1), place(x), bits_of(dtype, 0.7), place(y), place(z), n};
        Bytes expected(bytes);
        axpby_reference({dtype, call.alpha, call.x, call.beta, call.y, expected.data(), n});
        ASSERT_TRUE(ok(run(ctx, call)));
        EXPECT_EQ(std::memcmp(place(z), expected.data(), bytes), 0) << describe(call);
      }
    }
  }
}

// Written around the caches: more than 32 MiB of z.
TEST_P(AxpbyBits, OfMoreThanTheCachesHold) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  Random random(53);
  const Context ctx(On::host, 2);
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    if (quick_run() && dtype == GPUMEM_F32) continue;
    const auto n = static_cast<int64_t>((size_t{33} << 20) / size_of(dtype)) + random.between(0, 70);
    Operands o(dtype, n, random.below(7), random);
    axpby_reference(o.call(o.expected));
    ASSERT_TRUE(ok(run(ctx, o.call(o.z))));
    EXPECT_TRUE(o.z == o.expected) << describe(o.call(o.z));
    Axpby in_place = o.call(o.x);
    ASSERT_TRUE(ok(run(ctx, in_place)));
    EXPECT_TRUE(std::memcmp(in_place.z, o.expected.data() + o.first, o.expected.size() - 64 - o.first) == 0)
        << describe(in_place);
    // No element begins at a line's boundary.
    const Axpby odd{dtype, o.alpha, o.y.data() + o.first, 0, nullptr, o.z.data() + o.first + 1, n};
    Bytes shifted(o.z.size(), 0xA5);
    Axpby expected = odd;
    expected.z = shifted.data() + o.first + 1;
    axpby_reference(expected);
    o.z.assign(o.z.size(), 0xA5);
    ASSERT_TRUE(ok(run(ctx, odd)));
    EXPECT_TRUE(o.z == shifted) << describe(odd);
  }
}

INSTANTIATE_TEST_SUITE_P(With, AxpbyBits, testing::Values("base", "avx2", "avx512"));

}  // namespace
}  // namespace gpumem_test
