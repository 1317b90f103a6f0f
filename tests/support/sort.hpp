// gpumem_sort() and gpumem_sort_segments() as tests call them, and the reference: a stable sort by a comparison of values.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "support/convert.hpp"

namespace gpumem_test {

struct Sort {
  gpumem_dtype dtype;
  const void* keys;
  int64_t n;
  int32_t descending;
  void* sorted;
  void* order = nullptr;
  gpumem_dtype order_type = GPUMEM_I64;
  const int64_t* offsets = nullptr;
  int64_t segments = -1;  // -1: one sequence
  gpumem_status* status = nullptr;
};

inline gpumem_status run(gpumem_ctx* ctx, const Sort& s) {
  if (s.segments != -1) {
    return gpumem_sort_segments(ctx, s.dtype, s.keys, s.n, s.offsets, s.segments, s.descending, s.sorted, s.order,
                                s.order_type);
  }
  return gpumem_sort(ctx, s.dtype, s.keys, s.n, s.descending, s.sorted, s.order, s.order_type);
}
inline gpumem_status run_async(gpumem_ctx* ctx, const Sort& s, gpumem_stream* stream) {
  if (s.segments != -1) {
    return gpumem_sort_segments_async(ctx, s.dtype, s.keys, s.n, s.offsets, s.segments, s.descending, s.sorted, s.order,
                                      s.order_type, s.status, stream);
  }
  return gpumem_sort_async(ctx, s.dtype, s.keys, s.n, s.descending, s.sorted, s.order, s.order_type, stream);
}

inline std::string line_of(gpumem_ctx* ctx, const Sort& s) {
  Line line(ctx, "sort");
  line.with("dtype", info_of(s.dtype).name).with("n", s.n).with("descending", s.descending).at("keys", s.keys);
  if (s.segments != -1) line.with("segments", s.segments).at("offsets", s.offsets);
  s.order == nullptr ? line.with("order", "none")
                     : line.at("order", s.order).with("order_type", info_of(s.order_type).name);
  return s.sorted == nullptr ? line.with("sorted", "none") : line.at("sorted", s.sorted);
}

inline std::string describe(const Sort& s) {
  const auto offset = [](const void* p) { return std::to_string(reinterpret_cast<uintptr_t>(p) % 16); };
  return std::to_string(s.n) + ' ' + info_of(s.dtype).name +
         (s.segments == -1 ? "" : " in " + std::to_string(s.segments) + " segments") +
         (s.descending != 0 ? " descending" : "") +
         (s.sorted == nullptr  ? ""
          : s.sorted == s.keys ? " in place"
                               : " sorted") +
         (s.order == nullptr ? "" : std::string(" order ") + info_of(s.order_type).name) + ", offsets " +
         offset(s.keys) + ", " + offset(s.sorted);
}

inline uint64_t bits_at(gpumem_dtype dtype, const void* elements, int64_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(elements) + i * static_cast<int64_t>(info_of(dtype).bytes),
              info_of(dtype).bytes);
  return bits;
}

// Whether a is before b in ascending order: by value, and of two zeros the negative one first. A NaN is after numbers.
inline bool is_less(gpumem_dtype dtype, uint64_t a, uint64_t b) {
  const convert::Exact x = convert::decoded(info_of(dtype), a);
  const convert::Exact y = convert::decoded(info_of(dtype), b);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  if (x == 0 && y == 0) return std::signbit(x) && !std::signbit(y);
  return x < y;
}

// In host memory.
inline void sort_reference(const Sort& s, int64_t first_position = 0) {
  std::vector<uint64_t> keys(static_cast<size_t>(s.n));
  for (int64_t i = 0; i < s.n; ++i) keys[static_cast<size_t>(i)] = bits_at(s.dtype, s.keys, i);
  std::vector<uint64_t> order(keys.size());
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    return s.descending != 0 ? is_less(s.dtype, keys[b], keys[a]) : is_less(s.dtype, keys[a], keys[b]);
  });
  for (size_t i = 0; i < keys.size(); ++i) {
    const size_t bytes = info_of(s.dtype).bytes;
    const size_t order_bytes = info_of(s.order_type).bytes;
    if (s.sorted != nullptr) std::memcpy(static_cast<char*>(s.sorted) + i * bytes, &keys[order[i]], bytes);
    const uint64_t position = order[i] + static_cast<uint64_t>(first_position);
    if (s.order != nullptr) std::memcpy(static_cast<char*>(s.order) + i * order_bytes, &position, order_bytes);
  }
}
inline void segments_reference(const Sort& s) {
  for (int64_t k = 0; k < s.segments; ++k) {
    const int64_t first = s.offsets[k];
    const auto from = [first](void* p, gpumem_dtype dtype) {
      return p == nullptr ? p : static_cast<char*>(p) + first * static_cast<int64_t>(info_of(dtype).bytes);
    };
    sort_reference({s.dtype, from(const_cast<void*>(s.keys), s.dtype), s.offsets[k + 1] - first, s.descending,
                    from(s.sorted, s.dtype), from(s.order, s.order_type), s.order_type},
                   first);
  }
}

// Any bits, or few different values, or numbers of a small range, by the case; with NaNs of both signs, zeros, infinities.
template <class Bytes>
void fill_with_keys(gpumem_dtype dtype, Bytes& bytes, size_t first, size_t count, Random& random) {
  const TypeInfo& type = info_of(dtype);
  const size_t kind = random.below(6);
  const uint64_t base = random_element(dtype, dtype, random);
  const uint64_t span = uint64_t{1} << random.below(8 * type.bytes);
  std::vector<uint64_t> few(1 + random.below(5));
  for (uint64_t& value : few) value = random_element(dtype, dtype, random);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = kind == 0   ? base
                    : kind == 1 ? few[random.below(few.size())]
                    : kind == 2 ? base + random.bits() % span
                    : kind == 3 ? base - i
                                : random_element(dtype, dtype, random);
    if (kind >= 2 && type.what == Class::floating && random.below(16) == 0) {
      const uint64_t special[] = {0, convert::infinity_of(type), convert::infinity_of(type) + 1,
                                  convert::infinity_of(type) + 1 + random.below(50)};
      bits = special[random.below(4)] | random.below(2) * convert::sign_of(type);
    }
    std::memcpy(&bytes[first + i * type.bytes], &bits, type.bytes);
  }
}

}  // namespace gpumem_test
