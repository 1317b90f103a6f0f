// gpumem_scan_axis() and gpumem_scan_segments(): every line has the values of gpumem_scan() over its elements, by the variant
// host_serial, which scan_test.cpp compares with the reference.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "conformance/conformance.hpp"
#include "conformance/views.hpp"
#include "support/lines.hpp"
#include "support/scan.hpp"

namespace gpumem_test {
namespace {

// The places of a line's elements in x and in the result, in elements.
struct LinePlaces {
  int64_t x;
  int64_t result;
  int64_t n;
};

struct LinesCase {
  Scan scan;  // n: the elements of x and its gaps
  int64_t x_stride = 1;
  int64_t result_stride = 1;
  std::vector<LinePlaces> lines;
  int64_t results;  // elements of the result and its gaps
  gpumem_memory_kind kinds[2];
  size_t offsets[2];  // bytes from a multiple of 16
  bool in_place;
  std::string what;
};

uint64_t tame(gpumem_dtype dtype, gpumem_reduce_op op, Random& random) {
  if (is_floating(dtype)) {
    const double size = 1 + static_cast<double>(random.below(1 << 23)) * 0x1p-23;
    // Sums of 24-bit numbers whose exponents are up to 19 apart do not round.
    const double scale = op == GPUMEM_PROD      ? 0.7
                         : random.below(8) == 0 ? std::ldexp(1, -static_cast<int>(random.between(17, 21)))
                                                : 1;
    const double value = (random.below(2) == 0 ? -size : size) * scale;
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return converted(GPUMEM_F64, dtype, bits);
  }
  const TypeInfo& type = info_of(dtype);
  const uint64_t all = convert::sign_of(type) | (convert::sign_of(type) - 1);
  if (op == GPUMEM_MIN || op == GPUMEM_MAX) return random.bits() & all;
  if (type.what == Class::unsigned_integer) return random.below(40) == 0 ? 2 : 1;
  return static_cast<uint64_t>(random.between(op == GPUMEM_PROD ? 1 : -1, 1)) & all;
}

class ScanLinesConformance : public Conformance {
 protected:
  LinesCase some_scan(Random& random) {
    LinesCase c{};
    c.scan.dtype = kAllTypes[random.below(12)];
    c.scan.op = kScanOps[random.below(4)];
    c.scan.exclusive = static_cast<int32_t>(random.below(2));
    c.scan.result_type = random.below(2) == 0 ? c.scan.dtype : wide_type(c.scan.dtype);
    c.kinds[0] = cases::kind(random.below(4));
    c.kinds[1] = random.below(2) == 0 ? c.kinds[0] : cases::kind(random.below(4));
    c.in_place = random.below(3) == 0 && c.scan.dtype == c.scan.result_type;
    for (const int side : {0, 1}) {
      const size_t element = info_of(side == 0 ? c.scan.dtype : c.scan.result_type).bytes;
      c.offsets[side] = random.below(6) == 0 ? random.below(16) : element * random.below(16 / element);
    }
    return c;
  }

  // Takes a variant of the device if the result is there. nullptr: the table chooses.
  void force(LinesCase& c, const char* variant) {
    const char* const forced = on_cuda() && of_device(c.kinds[1]) ? variant : nullptr;
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_SCAN, forced)));
    if (forced != nullptr) c.what += std::string(", ") + forced;
  }

  // "exact_columns" if it is for such a scan.
  static const char* exact_columns(const LinesCase& c) {
    const bool is_short = is_floating(c.scan.dtype) && info_of(c.scan.dtype).bytes <= 4;
    return is_short && c.scan.op == GPUMEM_SUM && !c.in_place ? "exact_columns" : nullptr;
  }

  // call(x, result, status, async) makes the call.
  template <class Call>
  void run_case(const LinesCase& c, Random& random, gpumem_status bad, bool apart, const Call& call) {
    const size_t bytes = info_of(c.scan.dtype).bytes;
    const size_t result_bytes = info_of(c.scan.result_type).bytes;
    GuardedBuffer x = blocks.buffer(0, c.kinds[0], static_cast<size_t>(c.scan.n) * bytes, c.offsets[0]);
    GuardedBuffer result = blocks.buffer(1, c.kinds[1], static_cast<size_t>(c.results) * result_bytes, c.offsets[1]);
    GuardedBuffer& from = c.in_place ? result : x;
    const bool wild = random.below(4) == 0;
    for (int64_t i = 0; i < c.scan.n; ++i) {
      const uint64_t bits =
          wild ? random_element(c.scan.dtype, c.scan.result_type, random) : tame(c.scan.dtype, c.scan.op, random);
      std::memcpy(from.image() + static_cast<size_t>(i) * bytes, &bits, bytes);
    }
    from.write();
    const Bytes before = result.whole_image();
    gpumem_status status = bad;
    Bytes expected(result.image(), result.image() + result.size());
    std::vector<char> defined(static_cast<size_t>(c.results), 1);
    for (const LinePlaces& line : c.lines) expect_line(c, line, from.image(), expected, defined, status);
    const Memory word(ctx, GPUMEM_MEMORY_PINNED, 64);
    auto* const written = static_cast<gpumem_status*>(word.get());
    for (const bool async : {false, true}) {
      result.whole_image() = before;
      result.write();
      *written = 77;
      gpumem_status got = call(from.data(), result.data(), async ? written : nullptr, async);
      const bool runs = !(async && apart);
      if (async && got == GPUMEM_OK) {
        ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        got = *written;
      }
      ASSERT_TRUE(gives(runs ? status : GPUMEM_UNSUPPORTED, got)) << c.what << (async ? ", enqueued" : "");
      if (runs) take(result, expected, defined, result_bytes);
      ASSERT_TRUE(result.intact()) << c.what << (async ? ", enqueued" : "");
    }
    EXPECT_TRUE(x.intact()) << "x changed: " << c.what;
  }

  void expect_line(const LinesCase& c, const LinePlaces& line, const unsigned char* x, Bytes& expected,
                   std::vector<char>& defined, gpumem_status& status) {
    const size_t bytes = info_of(c.scan.dtype).bytes;
    const size_t result_bytes = info_of(c.scan.result_type).bytes;
    const auto n = static_cast<size_t>(line.n);
    Bytes elements(n * bytes), values(n * result_bytes);
    for (size_t i = 0; i < n; ++i) {
      std::memcpy(&elements[i * bytes], x + static_cast<size_t>(line.x + static_cast<int64_t>(i) * c.x_stride) * bytes,
                  bytes);
    }
    Scan s = c.scan;
    s.x = elements.data();
    s.n = line.n;
    s.result = values.data();
    const gpumem_status found = run(serial, s);
    size_t fitting = n;
    if (found == GPUMEM_OVERFLOW) fitting = integer_scan_reference(s).size();
    status = std::max(status, found);
    for (size_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(line.result + static_cast<int64_t>(i) * c.result_stride);
      std::memcpy(&expected[at * result_bytes], &values[i * result_bytes], result_bytes);
      defined[at] = i < fitting ? 1 : 0;
    }
  }

  void take(GuardedBuffer& result, const Bytes& expected, const std::vector<char>& defined, size_t bytes) {
    const Bytes now = download(ctx, result.data(), result.size());
    for (size_t i = 0; i < defined.size(); ++i) {
      std::copy_n((defined[i] != 0 ? expected : now).begin() + static_cast<std::ptrdiff_t>(i * bytes), bytes,
                  result.image() + i * bytes);
    }
  }

  void SetUp() override {
    Conformance::SetUp();
    ASSERT_TRUE(ok(gpumem_variant_force(serial, GPUMEM_FAMILY_SCAN, "host_serial")));
  }

  Context serial{On::host, 1};
};

struct Viewed {
  std::vector<int64_t> extents, x_strides, result_strides;
  int32_t axis;
};

Viewed random_view(Random& random, bool in_place) {
  static constexpr int64_t kLengths[] = {1, 2, 3, 16, 31, 32, 33, 127, 128, 129, 300, 1023, 1024, 1025, 2049, 5000};
  Viewed v;
  const auto rank = static_cast<size_t>(random.between(1, 4));
  v.axis = static_cast<int32_t>(random.below(rank));
  int64_t lines = 1;
  for (size_t d = 0; d < rank; ++d) {
    const bool scanned = d == static_cast<size_t>(v.axis);
    v.extents.push_back(scanned ? kLengths[random.below(std::size(kLengths))] : random.between(1, lines > 50 ? 2 : 20));
    if (!scanned) lines *= v.extents.back();
  }
  v.x_strides = distinct_strides(v.extents, random);
  v.result_strides = in_place ? v.x_strides : distinct_strides(v.extents, random);
  if (!in_place && random.below(8) == 0) v.x_strides[random.below(rank)] = 0;
  return v;
}

std::string numbers_of(const std::vector<int64_t>& v) {
  std::string text;
  for (const int64_t i : v) text += ' ' + std::to_string(i);
  return text;
}

TEST_P(ScanLinesConformance, EachLineOfAViewIsScanned) {
  Random random(81);
  const int cases = quick_run() ? 100 : 500;
  for (int i = 0; i < cases && !enough(); ++i) {
    LinesCase c = some_scan(random);
    const Viewed v = random_view(random, c.in_place);
    const auto axis = static_cast<size_t>(v.axis);
    c.scan.n = reach(v.extents, v.x_strides);
    c.results = reach(v.extents, v.result_strides);
    c.x_stride = v.x_strides[axis];
    c.result_stride = v.result_strides[axis];
    int64_t lines = 1;
    for (size_t d = 0; d < v.extents.size(); ++d) lines *= d == axis ? 1 : v.extents[d];
    for (int64_t l = 0; l < lines; ++l) {
      LinePlaces line{0, 0, v.extents[axis]};
      int64_t rest = l;
      for (size_t d = v.extents.size(); d-- > 0;) {
        if (d == axis) continue;
        line.x += rest % v.extents[d] * v.x_strides[d];
        line.result += rest % v.extents[d] * v.result_strides[d];
        rest /= v.extents[d];
      }
      c.lines.push_back(line);
    }
    c.what = describe(c.scan) + ", axis " + std::to_string(v.axis) + " of" + numbers_of(v.extents) + ", strides" +
             numbers_of(v.x_strides) + " and" + numbers_of(v.result_strides) + " in " + kind_name(c.kinds[0]) +
             " and " + kind_name(c.kinds[1]);
    const Scan& s = c.scan;
    const auto rank = static_cast<int32_t>(v.extents.size());
    const bool apart = on_cuda() && !c.in_place && of_device(c.kinds[0]) != of_device(c.kinds[1]);
    const char* const variants[] = {nullptr, "each_line", "columns", exact_columns(c)};
    force(c, variants[lines > 1 ? random.below(4) : 0]);
    run_case(c, random, GPUMEM_OK, apart, [&](const void* x, void* result, gpumem_status* status, bool async) {
      if (async) {
        return gpumem_scan_axis_async(ctx, s.dtype, s.op, s.exclusive, rank, v.extents.data(), v.axis, x,
                                      v.x_strides.data(), result, v.result_strides.data(), s.result_type, status,
                                      nullptr);
      }
      return gpumem_scan_axis(ctx, s.dtype, s.op, s.exclusive, rank, v.extents.data(), v.axis, x, v.x_strides.data(),
                              result, v.result_strides.data(), s.result_type);
    });
  }
}

TEST_P(ScanLinesConformance, EachSegmentIsScanned) {
  Random random(82);
  const int cases = quick_run() ? 100 : 1000;
  for (int i = 0; i < cases && !enough(); ++i) {
    LinesCase c = some_scan(random);
    const int64_t segments = random.between(1, 40);
    const int64_t longest = random.below(4) == 0 ? 3000 : random.between(1, 140);
    std::vector<int64_t> offsets = {random.between(0, 5)};
    for (int64_t s = 0; s < segments; ++s) offsets.push_back(offsets.back() + random.between(0, longest));
    c.scan.n = c.results = offsets.back() + random.between(0, 5);
    const bool empty = c.scan.n == 0;  // nothing is done
    const bool bad = !empty && random.below(5) == 0;
    if (bad) offsets[random.below(offsets.size())] = random.below(2) == 0 ? -1 : c.scan.n + 1;
    for (size_t s = 0; s + 1 < offsets.size(); ++s) {
      const int64_t begin = offsets[s], end = offsets[s + 1];
      if (begin >= 0 && begin <= end && end <= c.scan.n) c.lines.push_back({begin, begin, end - begin});
    }
    c.what = describe(c.scan) + ", segments" + numbers_of(offsets) + " in " + kind_name(c.kinds[0]) + " and " +
             kind_name(c.kinds[1]);
    const char* const variants[] = {nullptr, "columns", exact_columns(c)};
    force(c, variants[segments > 1 ? random.below(3) : 0]);
    const gpumem_memory_kind of_offsets = cases::kind(random.below(4));
    const Memory at(ctx, of_offsets, static_cast<int64_t>(offsets.size()) * 8);
    upload(ctx, at.get(), offsets.data(), offsets.size() * 8);
    const gpumem_memory_kind of_x = c.in_place ? c.kinds[1] : c.kinds[0];
    const bool apart = on_cuda() && !empty &&
                       (of_device(of_x) != of_device(c.kinds[1]) ||
                        (of_device(c.kinds[1]) ? of_offsets == GPUMEM_MEMORY_PAGEABLE : of_device(of_offsets)));
    const Scan& s = c.scan;
    run_case(c, random, bad ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK, apart,
             [&](const void* x, void* result, gpumem_status* status, bool async) {
               const auto* ends = static_cast<const int64_t*>(at.get());
               if (async) {
                 return gpumem_scan_segments_async(ctx, s.dtype, s.op, s.exclusive, x, s.n, ends, segments, result,
                                                   s.result_type, status, nullptr);
               }
               return gpumem_scan_segments(ctx, s.dtype, s.op, s.exclusive, x, s.n, ends, segments, result,
                                           s.result_type);
             });
  }
}

TEST_P(ScanLinesConformance, TheStrideOfASingleElementIsNotUsed) {
  const int64_t extents[] = {1, 8};
  for (const int64_t stride : {INT64_MAX, INT64_MAX / 8}) {
    const int64_t strides[] = {stride, 1};
    const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<double> result(x.size());
    ASSERT_TRUE(ok(gpumem_scan_axis(ctx, GPUMEM_F64, GPUMEM_SUM, 0, 2, extents, 0, x.data(), strides, result.data(),
                                    strides, GPUMEM_F64)));
    EXPECT_EQ(result, x);
    const std::vector<int32_t> whole(x.begin(), x.end());
    std::vector<int64_t> sums(x.size());
    ASSERT_TRUE(ok(gpumem_scan_axis(ctx, GPUMEM_I32, GPUMEM_SUM, 0, 2, extents, 0, whole.data(), strides, sums.data(),
                                    strides, GPUMEM_I64)));
    EXPECT_EQ(sums, std::vector<int64_t>(x.begin(), x.end()));
  }
}

INSTANTIATE_TEST_SUITE_P(On, ScanLinesConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
