// gpumem_convert() against exact values rounded once: every element of the types that have few, random ones and ties of the others,
// shapes, offsets, kinds of memory and aliases, by every variant; then threads, instruction sets and floating-point environments.
#include "support/convert.hpp"

#include "conformance/conformance.hpp"
#include "support/environment.hpp"
#include "support/odd_environments.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

struct ConvertCase {
  gpumem_dtype from;
  gpumem_dtype to;
  int64_t n;
  size_t offsets[2];            // of src and dst: bytes from a multiple of 16
  gpumem_memory_kind kinds[2];  // of src and dst
  bool in_place;
};

ConvertCase random_case(Random& random) {
  static constexpr int64_t kNear[] = {1, 4, 16, 256, 1024, 2048, 4096, 8192, 16384};
  ConvertCase c{};
  c.from = kAllTypes[random.below(12)];
  c.to = kAllTypes[random.below(12)];
  c.n = random.below(2) == 0 ? random.between(0, 700)
                             : kNear[random.below(9)] * random.between(1, 2) + random.between(-1, 1);
  c.kinds[0] = cases::kind(random.below(4));
  c.kinds[1] = random.below(2) == 0 ? c.kinds[0] : cases::kind(random.below(4));
  for (const int side : {0, 1}) {
    const size_t element = info_of(side == 0 ? c.from : c.to).bytes;
    c.offsets[side] = random.below(6) == 0 ? random.below(16) : element * random.below(16 / element);
  }
  c.in_place = random.below(3) == 0 && info_of(c.from).bytes == info_of(c.to).bytes;
  return c;
}

class ConvertConformance : public Conformance {
 protected:
  GuardedBuffer buffer(int role, gpumem_dtype dtype, const ConvertCase& c) {
    return blocks.buffer(role, c.kinds[role], static_cast<size_t>(c.n) * info_of(dtype).bytes, c.offsets[role]);
  }

  void run_case(const ConvertCase& c, EveryVariant& variants, Random& random) {
    GuardedBuffer src = buffer(0, c.from, c);
    GuardedBuffer dst = buffer(1, c.to, c);
    GuardedBuffer& from = c.in_place ? dst : src;
    const size_t first = GuardedBuffer::kGuard + c.offsets[c.in_place ? 1 : 0];
    fill_with_elements(c.from, c.to, from.whole_image(), first, static_cast<size_t>(c.n), random);
    from.write();
    const Bytes before = dst.whole_image();
    convert_reference({c.from, from.image(), c.to, dst.image(), c.n});
    const Bytes expected = dst.whole_image();
    const Convert call{c.from, from.data(), c.to, dst.data(), c.n};
    const bool across = on_cuda() && !c.in_place && of_device(c.kinds[0]) != of_device(c.kinds[1]);
    const bool nothing = c.n == 0 || (c.in_place && c.from == c.to);
    variants.for_each(line_of(ctx, call), nothing, [&](bool accepted, const char* variant) {
      for (const bool async : {false, true}) {
        dst.whole_image() = before;
        dst.write();
        const gpumem_status status = async ? run_async(ctx, call, nullptr) : run(ctx, call);
        const bool runs = accepted && !(async && across && c.n > 0);
        ASSERT_TRUE(gives(runs ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status)) << variant << ", " << describe(call);
        if (async) {
          ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        }
        if (runs) dst.whole_image() = expected;
        ASSERT_TRUE(dst.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(call);
      }
    });
    EXPECT_TRUE(src.intact()) << "src changed: " << describe(call);
  }

  // Elements of a type, on their way to every type, by every variant that takes them.
  void expect_right(gpumem_dtype from, gpumem_dtype to, const Bytes& elements) {
    const auto n = static_cast<int64_t>(elements.size() / info_of(from).bytes);
    const Memory src(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(elements.size()));
    const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, n * static_cast<int64_t>(info_of(to).bytes));
    upload(ctx, src.get(), elements.data(), elements.size());
    Bytes expected(static_cast<size_t>(n) * info_of(to).bytes);
    convert_reference({from, elements.data(), to, expected.data(), n});
    for (const std::string& variant : variant_names(GPUMEM_FAMILY_CONVERT)) {
      if (on_cuda() == (variant.rfind("host_", 0) == 0)) continue;
      ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_CONVERT, variant.c_str())));
      ASSERT_TRUE(ok(gpumem_convert(ctx, from, src.get(), to, dst.get(), n)));
      const Bytes got = download(ctx, dst.get(), expected.size());
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        const size_t at = i * info_of(to).bytes;
        if (std::memcmp(&got[at], &expected[at], info_of(to).bytes) == 0) continue;
        uint64_t bits[3] = {};
        std::memcpy(&bits[0], &elements[i * info_of(from).bytes], info_of(from).bytes);
        std::memcpy(&bits[1], &got[at], info_of(to).bytes);
        std::memcpy(&bits[2], &expected[at], info_of(to).bytes);
        FAIL() << variant << ", " << info_of(from).name << " to " << info_of(to).name << std::hex << ": " << bits[0]
               << " became " << bits[1] << "; expected " << bits[2];
      }
    }
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_CONVERT, nullptr)));
  }
};

TEST_P(ConvertConformance, GivesTheReferencesBitsByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_CONVERT);
  Random random(61);
  const int cases = quick_run() ? 150 : 1500;
  for (int i = 0; i < cases && !enough(); ++i) run_case(random_case(random), variants, random);
  variants.expect_all_used(on_cuda());
}

TEST_P(ConvertConformance, OfEveryElementOfTheShortTypes) {
  for (const gpumem_dtype from : kAllTypes) {
    const size_t bytes = info_of(from).bytes;
    if (bytes > 2) continue;
    Bytes elements((size_t{1} << (8 * bytes)) * bytes);
    for (size_t i = 0; i < elements.size() / bytes; ++i) std::memcpy(&elements[i * bytes], &i, bytes);
    for (const gpumem_dtype to : kAllTypes) expect_right(from, to, elements);
  }
}

TEST_P(ConvertConformance, OfTiesAndEndsOfTheLongTypes) {
  Random random(62);
  for (const gpumem_dtype from : kAllTypes) {
    if (info_of(from).bytes <= 2) continue;
    for (const gpumem_dtype to : kAllTypes) {
      Bytes elements((quick_run() ? 3000 : 60000) * info_of(from).bytes);
      fill_with_elements(from, to, elements, 0, elements.size() / info_of(from).bytes, random);
      expect_right(from, to, elements);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ConvertConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

// Any number of threads and every instruction set.
class ConvertBits : public testing::TestWithParam<const char*> {
 protected:
  // Elements that come again after a prime number of them, `offset` elements into their block.
  static Bytes elements_of(gpumem_dtype from, gpumem_dtype to, int64_t n, size_t offset, Random& random) {
    const size_t size = info_of(from).bytes;
    Bytes bytes((offset + static_cast<size_t>(n)) * size);
    const size_t fresh = std::min<size_t>(10007, static_cast<size_t>(n));
    fill_with_elements(from, to, bytes, offset * size, fresh, random);
    for (size_t at = (offset + fresh) * size; at < bytes.size(); ++at) bytes[at] = bytes[at - fresh * size];
    return bytes;
  }
};

TEST_P(ConvertBits, DoNotDependOnThreadsOrInstructions) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  Random random(63);
  for (const gpumem_dtype from : kAllTypes) {
    for (const gpumem_dtype to : kAllTypes) {
      const int64_t n = random.between(20000, 60000);
      const size_t offset = random.below(5);
      const Bytes src = elements_of(from, to, n, offset, random);
      Bytes expected(static_cast<size_t>(n + 9) * info_of(to).bytes, 0xA5);
      const void* first = src.data() + offset * info_of(from).bytes;
      convert_reference({from, first, to, &expected[info_of(to).bytes], n});
      for (const int32_t threads : {1, 3}) {
        const Context ctx(On::host, threads);
        Bytes dst(expected.size(), 0xA5);
        const Convert call{from, first, to, &dst[info_of(to).bytes], n};
        ASSERT_TRUE(ok(run(ctx, call)));
        EXPECT_TRUE(dst == expected) << threads << " threads, " << describe(call);
      }
    }
  }
}

// Operands that begin and end where no memory is: one byte too far is a signal.
TEST_P(ConvertBits, TouchNothingPastTheEnds) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  const Context ctx(On::host, 1);
  const FencedPages src(8192), dst(8192);
  std::memset(src.first(), 0x3e, src.bytes());
  for (const gpumem_dtype from : kAllTypes) {
    for (const gpumem_dtype to : kAllTypes) {
      for (const int64_t n : {1, 7, 33, 257, 1000}) {
        const size_t bytes[] = {static_cast<size_t>(n) * info_of(from).bytes,
                                static_cast<size_t>(n) * info_of(to).bytes};
        for (const bool at_end : {false, true}) {
          const Convert call{from, at_end ? src.end() - bytes[0] : src.first(), to,
                             at_end ? dst.end() - bytes[1] : dst.first(), n};
          Bytes expected(bytes[1]);
          convert_reference({from, call.src, to, expected.data(), n});
          ASSERT_TRUE(ok(run(ctx, call)));
          EXPECT_EQ(std::memcmp(call.dst, expected.data(), bytes[1]), 0) << describe(call);
        }
      }
    }
  }
}

// Written around the caches: more than 32 MiB of dst.
TEST_P(ConvertBits, OfMoreThanTheCachesHold) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  const Context ctx(On::host, 2);
  Random random(64);
  constexpr std::pair<gpumem_dtype, gpumem_dtype> kPairs[] = {
      {GPUMEM_F16, GPUMEM_F32}, {GPUMEM_U8, GPUMEM_U8}, {GPUMEM_I64, GPUMEM_F64}, {GPUMEM_I32, GPUMEM_U16}};
  for (const auto& [from, to] : kPairs) {
    if (quick_run() && to != GPUMEM_F32) continue;
    const size_t size = info_of(to).bytes;
    const auto n = static_cast<int64_t>((size_t{33} << 20) / size) + random.between(0, 70);
    const Bytes src = elements_of(from, to, n, 0, random);
    for (const size_t offset : {size_t{0}, size, size_t{1}}) {
      Bytes expected(static_cast<size_t>(n + 2) * size, 0xA5);
      convert_reference({from, src.data(), to, &expected[offset], n});
      Bytes dst(expected.size(), 0xA5);
      const Convert call{from, src.data(), to, &dst[offset], n};
      ASSERT_TRUE(ok(run(ctx, call)));
      EXPECT_TRUE(dst == expected) << describe(call);
      if (quick_run()) break;
    }
  }
}

#if defined(__x86_64__) || defined(__aarch64__)
// Programs that turned subnormals off, round upwards or trap: the same bits, and their environment is after a call what it was before.
TEST_P(ConvertBits, DoNotDependOnTheFloatEnvironment) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  const Context ctx(On::host, 3);
  Random random(65);
  for (const char* variant : {"host_parallel", "host_serial"}) {
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_CONVERT, variant)));
    for (const gpumem_dtype from : kAllTypes) {
      for (const gpumem_dtype to : kAllTypes) {
        const Bytes src = elements_of(from, to, 3000, 0, random);
        Bytes expected(3000 * info_of(to).bytes);
        convert_reference({from, src.data(), to, expected.data(), 3000});
        for (const Environment& environment : kEnvironments) {
          Bytes dst(expected.size());
          const Convert call{from, src.data(), to, dst.data(), 3000};
          gpumem_status status = -1;
          EXPECT_EQ(in(environment, [&] { status = run(ctx, call); }), environment.control) << environment.name;
          ASSERT_TRUE(ok(status));
          EXPECT_TRUE(dst == expected) << variant << ", " << environment.name << ", " << describe(call);
        }
      }
    }
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(With, ConvertBits, testing::Values("base", "avx2", "avx512"));

}  // namespace
}  // namespace gpumem_test
