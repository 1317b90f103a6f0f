// Random floating-point sums whose bits everything must agree on: one case after the other, the expected bits with each.
#pragma once

#include <string>

#include "support/numbers.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {

struct BitCase {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  int64_t n;
  int64_t stride;
  int64_t y_stride;
  size_t offset;    // bytes from a multiple of 16: a number of elements
  size_t y_offset;  // the same of y
  std::vector<unsigned char> x;
  std::vector<unsigned char> y;
  Outcome expected;

  Reduction on(const void* at, const void* y_at) const { return {dtype, op, at, n, stride, y_at, y_stride}; }
};

namespace bit_cases {

struct TypeAndOp {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
};

// Those whose value depends on the order.
inline std::vector<TypeAndOp> ordered() {
  std::vector<TypeAndOp> all;
  for (const gpumem_dtype dtype : kFloatingTypes) {
    for (const gpumem_reduce_op op : kAllOps) {
      if (has(dtype, op) && !needs_elements(op)) all.push_back({dtype, op});
    }
  }
  return all;
}

// Next to the lengths where leaves, lanes and powers of two begin, or any.
inline int64_t length(int64_t longest, Random& random) {
  const int64_t units[] = {128, 1024, 1024, int64_t{1} << (1 + random.below(18))};
  const int64_t unit = units[random.below(4)];
  const int64_t times = unit > 1024 ? 1 : 1 + log_uniform(1, 200, random);
  const int64_t near = unit * times + random.between(-1, 1);
  const int64_t n = random.below(2) == 0 ? near : log_uniform(1, longest, random) - 1;
  return std::min(n, longest);
}

// Changes the last bits of the second half, so that what cancelled leaves its roundings to be seen.
inline void disturb(gpumem_dtype dtype, std::vector<unsigned char>& x, int64_t n, int64_t stride, Random& random) {
  for (int64_t i = n / 2; i < n; ++i) {
    x[static_cast<size_t>(i * stride) * info_of(dtype).bytes] ^= static_cast<unsigned char>(random.below(4));
  }
}

// Elements of f64 next to where nrm2 begins to scale them, 2^-511 and 2^486: on both sides of one of these, or of both.
inline void put_near_thresholds(std::vector<unsigned char>& x, int64_t n, int64_t stride, Random& random) {
  constexpr uint64_t kSmall = 1023 - 511, kLarge = 1023 + 486;
  const uint64_t which = random.below(3);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t threshold = which == 0 || (which == 2 && random.below(2) != 0) ? kSmall : kLarge;
    const uint64_t exponent = threshold - 2 + random.below(4);
    const uint64_t fraction = random.below(8) == 0 ? random.below(2) : random.bits();
    put(GPUMEM_F64, x, i * stride, numbers::assemble(info_of(GPUMEM_F64), random.below(2) != 0, exponent, fraction));
  }
}

}  // namespace bit_cases

// Case number i. Consecutive numbers go through all types and operations, and through all offsets.
inline BitCase bit_case(size_t i, int64_t longest, Random& random) {
  static const std::vector<bit_cases::TypeAndOp> all = bit_cases::ordered();
  BitCase c{};
  c.dtype = all[i % all.size()].dtype;
  c.op = all[i % all.size()].op;
  c.n = bit_cases::length(longest, random);
  static constexpr int64_t kStrides[] = {1, 1, 1, 1, 2, 3, 17};
  c.stride = c.n * 17 > 4 * longest ? 1 : kStrides[random.below(7)];
  c.y_stride = c.n * 17 > 4 * longest ? 1 : kStrides[random.below(7)];
  const size_t element_bytes = info_of(c.dtype).bytes;
  c.offset = i / all.size() * element_bytes % 16;
  c.y_offset = random.below(16 / element_bytes) * element_bytes;
  static constexpr Numbers kNumbers[] = {Numbers::full,       Numbers::full,       Numbers::medium, Numbers::medium,
                                         Numbers::cancelling, Numbers::cancelling, Numbers::extreme};
  const Numbers kind = c.op == GPUMEM_PROD && random.below(4) != 0 ? Numbers::factors : kNumbers[random.below(7)];
  c.x = random_elements(c.dtype, kind, c.n, c.stride, random);
  if (kind == Numbers::cancelling) bit_cases::disturb(c.dtype, c.x, c.n, c.stride, random);
  if (c.op == GPUMEM_NRM2 && c.dtype == GPUMEM_F64 && random.below(2) == 0) {
    bit_cases::put_near_thresholds(c.x, c.n, c.stride, random);
  }
  if (c.op == GPUMEM_DOT) c.y = random_elements(c.dtype, kind, c.n, c.y_stride, random);
  if (random.below(8) == 0) add_specials(c.dtype, c.x, c.n, c.stride, random);
  c.expected = reference(c.on(c.x.data(), c.y.data()));
  return c;
}

inline std::string describe(const BitCase& c) {
  return std::string(op_name(c.op)) + " of " + std::to_string(c.n) + ' ' + info_of(c.dtype).name + ", stride " +
         std::to_string(c.stride) + ", offset " + std::to_string(c.offset) +
         (c.op == GPUMEM_DOT ? ", y_stride " + std::to_string(c.y_stride) + ", y_offset " + std::to_string(c.y_offset)
                             : std::string());
}

}  // namespace gpumem_test
