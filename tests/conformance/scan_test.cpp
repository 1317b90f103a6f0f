// gpumem_scan() against the reference of every prefix: types, operations, lengths, offsets, kinds of memory, in place, by every
// variant; then threads, instruction sets and floating-point environments.
#include "support/scan.hpp"

#include <algorithm>
#include <tuple>

#include "conformance/conformance.hpp"
#include "support/environment.hpp"
#include "support/odd_environments.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

struct ScanCase {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  int32_t exclusive;
  gpumem_dtype result_type;
  int64_t n;
  size_t offsets[2];            // of x and the result: bytes from a multiple of 16
  gpumem_memory_kind kinds[2];  // of x and the result
  bool in_place;
  bool wild;  // any elements; otherwise most values fit
};

ScanCase random_case(Random& random) {
  static constexpr int64_t kNear[] = {32, 128, 1024, 2048, 4096, 8192};
  ScanCase c{};
  c.dtype = kAllTypes[random.below(12)];
  c.op = kScanOps[random.below(4)];
  c.exclusive = static_cast<int32_t>(random.below(2));
  c.result_type = random.below(2) == 0 ? c.dtype : wide_type(c.dtype);
  c.n = random.below(2) == 0 ? random.between(0, 1100)
                             : kNear[random.below(6)] * random.between(1, 4) + random.between(-1, 1);
  c.kinds[0] = cases::kind(random.below(4));
  c.kinds[1] = random.below(2) == 0 ? c.kinds[0] : cases::kind(random.below(4));
  for (const int side : {0, 1}) {
    const size_t element = info_of(side == 0 ? c.dtype : c.result_type).bytes;
    c.offsets[side] = random.below(6) == 0 ? random.below(16) : element * random.below(16 / element);
  }
  c.in_place = random.below(3) == 0 && c.dtype == c.result_type;
  c.wild = random.below(4) == 0;
  return c;
}

// Numbers whose sums and products stay finite and fit for some time.
uint64_t tame_element(gpumem_dtype dtype, gpumem_reduce_op op, Random& random) {
  const TypeInfo& type = info_of(dtype);
  if (is_floating(dtype)) {
    const double size = 1 + static_cast<double>(random.below(1 << 20)) * 0x1p-20;
    const double scale =
        op == GPUMEM_PROD ? (random.below(2) == 0 ? 0.5 : 0.9) : std::ldexp(1, static_cast<int>(random.between(-9, 2)));
    const double value = (random.below(2) == 0 ? 1 : -1) * size * scale;
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return converted(GPUMEM_F64, dtype, bits);
  }
  const uint64_t all = convert::sign_of(type) | (convert::sign_of(type) - 1);
  const auto none = random.below(40) != 0;
  const int64_t least = type.what == Class::signed_integer ? -1 : op == GPUMEM_PROD ? 1 : 0;
  if (op == GPUMEM_SUM || op == GPUMEM_PROD) return static_cast<uint64_t>(random.between(none ? least : 1, 1)) & all;
  return random.bits() & all;
}

// Numbers of elements of an image that are right, and the status.
struct Expected {
  Bytes image;
  int64_t fitting = 0;
  gpumem_status status = GPUMEM_OK;
};

class ScanConformance : public Conformance {
 protected:
  GuardedBuffer buffer(int role, gpumem_dtype dtype, const ScanCase& c) {
    return blocks.buffer(role, c.kinds[role], static_cast<size_t>(c.n) * info_of(dtype).bytes, c.offsets[role]);
  }

  // s: in ordinary memory. Floating-point values are those of the variant host_serial, and a number of them are compared with
  // the reference.
  Expected expected_of(Scan s, Random& random) {
    const size_t bytes = info_of(s.result_type).bytes;
    Expected expected{Bytes(static_cast<size_t>(s.n) * bytes), s.n, GPUMEM_OK};
    if (!is_floating(s.dtype)) {
      const std::vector<uint64_t> values = integer_scan_reference(s);
      expected.fitting = static_cast<int64_t>(values.size());
      if (expected.fitting < s.n) expected.status = GPUMEM_OVERFLOW;
      for (size_t i = 0; i < values.size(); ++i) std::memcpy(&expected.image[i * bytes], &values[i], bytes);
      return expected;
    }
    s.result = expected.image.data();
    EXPECT_TRUE(ok(gpumem_variant_force(serial, GPUMEM_FAMILY_SCAN, "host_serial")));
    EXPECT_TRUE(ok(run(serial, s)));
    const int64_t checks = std::min<int64_t>(s.n, quick_run() ? 20 : 60);
    for (int64_t k = 0; k < checks; ++k) {
      const int64_t i = k == 0 ? 0 : k == 1 ? s.n - 1 : random.between(0, s.n - 1);
      EXPECT_EQ(scan::element(s.result_type, s.result, i), float_scan_reference(s, i)) << i << ": " << describe(s);
    }
    return expected;
  }

  void run_case(const ScanCase& c, EveryVariant& variants, Random& random) {
    GuardedBuffer x = buffer(0, c.dtype, c);
    GuardedBuffer result = buffer(1, c.result_type, c);
    GuardedBuffer& from = c.in_place ? result : x;
    for (int64_t i = 0; i < c.n; ++i) {
      const size_t bytes = info_of(c.dtype).bytes;
      const uint64_t bits =
          c.wild ? random_element(c.dtype, c.result_type, random) : tame_element(c.dtype, c.op, random);
      std::memcpy(from.image() + static_cast<size_t>(i) * bytes, &bits, bytes);
    }
    from.write();
    const Bytes before = result.whole_image();
    const Expected expected =
        expected_of({c.dtype, c.op, c.exclusive, from.image(), c.n, nullptr, c.result_type}, random);
    const Scan call{c.dtype, c.op, c.exclusive, from.data(), c.n, result.data(), c.result_type};
    const bool across = on_cuda() && !c.in_place && of_device(c.kinds[0]) != of_device(c.kinds[1]);
    const Memory word(ctx, GPUMEM_MEMORY_PINNED, 64);
    auto* const status = static_cast<gpumem_status*>(word.get());
    variants.for_each(line_of(ctx, call), c.n == 0, [&](bool accepted, const char* variant) {
      for (const bool async : {false, true}) {
        result.whole_image() = before;
        result.write();
        *status = 77;
        gpumem_status got = async ? run_async(ctx, call, status, nullptr) : run(ctx, call);
        const bool runs = accepted && !(async && across && c.n > 0);
        if (async && got == GPUMEM_OK) {
          ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
          got = *status;
        }
        ASSERT_TRUE(gives(runs ? expected.status : GPUMEM_UNSUPPORTED, got)) << variant << ", " << describe(call);
        if (runs) take_values(result, expected, c);
        ASSERT_TRUE(result.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(call);
      }
    });
    EXPECT_TRUE(x.intact()) << "x changed: " << describe(call);
  }

  // What does not fit may be anything.
  void take_values(GuardedBuffer& result, const Expected& expected, const ScanCase& c) {
    const size_t fitting = static_cast<size_t>(expected.fitting) * info_of(c.result_type).bytes;
    std::copy_n(expected.image.begin(), fitting, result.image());
    if (fitting == result.size()) return;
    const Bytes now = download(ctx, result.data() + fitting, result.size() - fitting);
    std::copy(now.begin(), now.end(), result.image() + fitting);
  }

  Context serial{On::host, 1};
};

TEST_P(ScanConformance, GivesTheReferencesBitsByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_SCAN);
  Random random(71);
  const int cases = quick_run() ? 250 : 1000;
  for (int i = 0; i < cases && !enough(); ++i) run_case(random_case(random), variants, random);
  variants.expect_all_used(on_cuda(), {"each_line", "exact_columns", "columns", "lines", "host_lines"});
}

// Many tiles and tasks: subtrees of several levels. Then few tiles: each scan clears the words of the previous one.
TEST_P(ScanConformance, OfManyTiles) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_SCAN);
  Random random(72);
  const int cases = quick_run() ? 6 : 24;
  for (int i = 0; i < cases && !enough(); ++i) {
    ScanCase c = random_case(random);
    c.dtype = c.result_type = i % 2 == 0 ? GPUMEM_F32 : kAllTypes[random.below(12)];
    c.op = i % 3 == 0 ? GPUMEM_PROD : GPUMEM_SUM;
    c.offsets[0] = c.offsets[1] = 0;
    c.wild = false;
    c.n = i % 3 == 2 ? random.between(8200, 40000) : random.between(270000, 600000);
    run_case(c, variants, random);
  }
}

// Exponents that are so far apart that sums of a block round, or just so near that they can't.
TEST_P(ScanConformance, OfExponentsFarApart) {
  Random random(75);
  for (const auto& [dtype, least, most] :
       {std::tuple{GPUMEM_F16, -14, 27}, {GPUMEM_BF16, -50, 35}, {GPUMEM_F32, 1, 19}}) {
    for (int spread = most - 1; spread <= most + 2; ++spread) {
      const ScanCase c{dtype, GPUMEM_SUM, 0, GPUMEM_F64, 5000, {0, 0}, {GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE},
                       false, false};
      GuardedBuffer x = buffer(0, dtype, c);
      GuardedBuffer result = buffer(1, GPUMEM_F64, c);
      const size_t bytes = info_of(dtype).bytes;
      for (size_t i = 0; i < static_cast<size_t>(c.n); ++i) {
        const double size = 1 + static_cast<double>(random.below(1 << 23)) * 0x1p-23;
        const double value = std::ldexp(size, least + (random.below(4) == 0 ? 0 : spread));
        uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        bits = converted(GPUMEM_F64, dtype, bits);
        std::memcpy(x.image() + i * bytes, &bits, bytes);
      }
      x.write();
      result.write();
      const Expected expected = expected_of({dtype, c.op, 0, x.image(), c.n, nullptr, c.result_type}, random);
      const Scan call{dtype, c.op, 0, x.data(), c.n, result.data(), c.result_type};
      ASSERT_TRUE(ok(run(ctx, call)));
      take_values(result, expected, c);
      EXPECT_TRUE(result.intact()) << describe(call) << ", exponents 0 and " << spread;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ScanConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

// Any number of threads and every instruction set.
class ScanBits : public testing::TestWithParam<const char*> {
 protected:
  static Bytes elements(gpumem_dtype dtype, gpumem_reduce_op op, int64_t n, Random& random) {
    const size_t bytes = info_of(dtype).bytes;
    Bytes x(static_cast<size_t>(n) * bytes);
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      const uint64_t bits = tame_element(dtype, op, random);
      std::memcpy(&x[i * bytes], &bits, bytes);
    }
    return x;
  }
};

TEST_P(ScanBits, DoNotDependOnThreadsOrInstructions) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  Random random(73);
  const Context serial(On::host, 1);
  ASSERT_TRUE(ok(gpumem_variant_force(serial, GPUMEM_FAMILY_SCAN, "host_serial")));
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const gpumem_reduce_op op : kScanOps) {
      const int64_t n = random.between(200000, 400000);
      const Bytes x = elements(dtype, op, n, random);
      const gpumem_dtype type = op == GPUMEM_MIN || is_floating(dtype) ? dtype : wide_type(dtype);
      Bytes expected(static_cast<size_t>(n) * info_of(type).bytes);
      ASSERT_TRUE(ok(run(serial, Scan{dtype, op, 0, x.data(), n, expected.data(), type})));
      for (const int32_t threads : {1, 3}) {
        const Context ctx(On::host, threads);
        Bytes result(expected.size(), 0xA5);
        const Scan call{dtype, op, 0, x.data(), n, result.data(), type};
        ASSERT_TRUE(ok(run(ctx, call)));
        EXPECT_TRUE(result == expected) << threads << " threads, " << describe(call);
      }
    }
  }
}

// Operands that begin and end where no memory is: one byte too far is a signal.
TEST_P(ScanBits, TouchNothingPastTheEnds) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  const Context ctx(On::host, 1);
  const FencedPages x(16384), result(16384);
  std::memset(x.first(), 0x3e, x.bytes());
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const int64_t n : {1, 7, 33, 257, 1000, 1024, 1025}) {
      const size_t bytes = static_cast<size_t>(n) * info_of(dtype).bytes;
      for (const bool at_end : {false, true}) {
        for (const int32_t exclusive : {0, 1}) {
          const Scan call{dtype,     GPUMEM_MAX,
                          exclusive, at_end ? x.end() - bytes : x.first(),
                          n,         at_end ? result.end() - bytes : result.first(),
                          dtype};
          ASSERT_TRUE(ok(run(ctx, call))) << describe(call);
          if (!is_floating(dtype)) continue;
          Scan sum = call;
          sum.op = GPUMEM_SUM;
          ASSERT_TRUE(ok(run(ctx, sum))) << describe(sum);
        }
      }
    }
  }
}

#if defined(__x86_64__) || defined(__aarch64__)
// Programs that turned subnormals off, round upwards or trap: the same bits.
TEST_P(ScanBits, DoNotDependOnTheFloatEnvironment) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  const Context ctx(On::host, 3);
  Random random(74);
  for (const char* variant : {"host_parallel", "host_serial"}) {
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_SCAN, variant)));
    for (const gpumem_dtype dtype : kFloatingTypes) {
      for (const gpumem_reduce_op op : kScanOps) {
        const Bytes x = elements(dtype, op, 3000, random);
        Bytes expected(x.size());
        ASSERT_TRUE(ok(run(ctx, Scan{dtype, op, 0, x.data(), 3000, expected.data(), dtype})));
        for (const Environment& environment : kEnvironments) {
          Bytes result(x.size());
          const Scan call{dtype, op, 0, x.data(), 3000, result.data(), dtype};
          gpumem_status status = -1;
          EXPECT_EQ(in(environment, [&] { status = run(ctx, call); }), environment.control) << environment.name;
          ASSERT_TRUE(ok(status));
          EXPECT_TRUE(result == expected) << variant << ", " << environment.name << ", " << describe(call);
        }
      }
    }
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(With, ScanBits, testing::Values("base", "avx2", "avx512"));

}  // namespace
}  // namespace gpumem_test
