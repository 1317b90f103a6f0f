#include "bench/contents.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "bench/problem.hpp"
#include "failure.hpp"

namespace tool {
namespace {

uint64_t value_bits(gpumem_dtype dtype, uint64_t bits) {
  const uint64_t sign = bits >> 63;
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_F16:
      return sign << 15 | 0x3C00 | (bits & 0x3FF);
    case GPUMEM_BF16:
      return sign << 15 | 0x3F80 | (bits & 0x7F);
    case GPUMEM_F32:
      return sign << 31 | 0x3F800000 | (bits & 0x7FFFFF);
    case GPUMEM_F64:
      return sign << 63 | 0x3FF0000000000000 | (bits & 0xFFFFFFFFFFFFF);
    case GPUMEM_I8:
    case GPUMEM_I16:
    case GPUMEM_I32:
    case GPUMEM_I64:
      return (bits >> 32) % 201 - 100;
    case GPUMEM_U8:
    case GPUMEM_U16:
    case GPUMEM_U32:
    case GPUMEM_U64:
      break;
  }
  return (bits >> 32) % 201;
}

// Numbers of `size` bytes, least significant byte first, each made from its index.
template <class Make>
Contents numbers(int64_t size, Make make) {
  return [size, make](unsigned char* at, int64_t begin, int64_t end) {
    for (int64_t i = begin / size; i * size < end; ++i) {
      const uint64_t value = make(static_cast<uint64_t>(i));
      std::memcpy(at + (i * size - begin), &value, static_cast<std::size_t>(std::min(size, end - i * size)));
    }
  };
}

}  // namespace

Contents values(gpumem_dtype dtype, uint64_t seed) {
  return numbers(kDtypeBytes[dtype],
                 [dtype, seed](uint64_t i) { return value_bits(dtype, mixed_bits(i + (seed << 40))); });
}

Contents any_bits(uint64_t seed) {
  return numbers(8, [seed](uint64_t i) { return mixed_bits(i + (seed << 40)); });
}

Contents some_rows(gpumem_dtype type, uint64_t rows) {
  if (rows == 0)
    throw Failure("line: src_rows is 0; expected a row for the index to name");  // as gpumem_tune() says it
  uint64_t step = std::max<uint64_t>(1, rows / 8 * 5) | 1;
  while (std::gcd(step, rows) != 1) step += 2;
  return numbers(kDtypeBytes[type], [step, rows](uint64_t i) { return i % rows * step % rows; });
}

Contents even_offsets(int64_t n, int64_t segments) {
  return numbers(8, [n, segments](uint64_t i) {
    const auto s = static_cast<int64_t>(i);
    return static_cast<uint64_t>(n / segments * s + std::min(s, n % segments));
  });
}

}  // namespace tool
