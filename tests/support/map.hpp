// gpumem_map(), gpumem_compare(), gpumem_where() and gpumem_convert_scaled() as tests call them, and the reference.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/convert.hpp"
#include "support/forms.hpp"

namespace gpumem_test {

struct MapView {
  void* p = nullptr;
  std::vector<int64_t> strides;
};

enum class MapFunction { map, compare, where, convert_scaled };

// Sources: x and y; mask, x and y; src, scale and offset, of which the last two may be nullptr.
struct MapCall {
  MapFunction kind = MapFunction::map;
  int32_t op = 0;
  gpumem_dtype dtype = GPUMEM_F32;
  gpumem_dtype dst_type = GPUMEM_F32;
  int64_t element_bytes = 4;
  std::vector<int64_t> extents;
  std::vector<MapView> x;
  MapView z;
  double nan_value = 0;

  size_t source_bytes(size_t k) const {
    if (kind == MapFunction::where) return k == 0 ? 1 : static_cast<size_t>(element_bytes);
    return kind == MapFunction::convert_scaled && k > 0 ? 8 : info_of(dtype).bytes;
  }
  size_t z_bytes() const {
    if (kind == MapFunction::compare) return 1;
    if (kind == MapFunction::where) return static_cast<size_t>(element_bytes);
    return info_of(kind == MapFunction::map ? dtype : dst_type).bytes;
  }
};

inline bool map_is_op(int32_t op) {
  return (op >= GPUMEM_MAP_NEGATE && op <= GPUMEM_MAP_NOT) || (op >= GPUMEM_MAP_ADD && op <= GPUMEM_MAP_SHIFT_RIGHT);
}
inline bool map_has(int32_t op, gpumem_dtype dtype) {
  switch (static_cast<decltype(GPUMEM_MAP_ADD)>(op)) {
    case GPUMEM_MAP_RECIPROCAL:
    case GPUMEM_MAP_SQUARE_ROOT:
    case GPUMEM_MAP_COPY_SIGN:
      return is_floating(dtype);
    case GPUMEM_MAP_NOT:
    case GPUMEM_MAP_REMAINDER:
    case GPUMEM_MAP_AND:
    case GPUMEM_MAP_OR:
    case GPUMEM_MAP_XOR:
    case GPUMEM_MAP_SHIFT_LEFT:
    case GPUMEM_MAP_SHIFT_RIGHT:
      return !is_floating(dtype);
    case GPUMEM_MAP_NEGATE:
    case GPUMEM_MAP_ABSOLUTE:
    case GPUMEM_MAP_FLOOR:
    case GPUMEM_MAP_CEIL:
    case GPUMEM_MAP_TRUNCATE:
    case GPUMEM_MAP_ROUND:
    case GPUMEM_MAP_ADD:
    case GPUMEM_MAP_SUBTRACT:
    case GPUMEM_MAP_MULTIPLY:
    case GPUMEM_MAP_DIVIDE:
    case GPUMEM_MAP_MINIMUM:
    case GPUMEM_MAP_MAXIMUM:
      return true;
  }
  return false;
}
inline bool map_divides(const MapCall& c) {
  return c.kind == MapFunction::map && !is_floating(c.dtype) &&
         (c.op == GPUMEM_MAP_DIVIDE || c.op == GPUMEM_MAP_REMAINDER);
}

inline gpumem_status run(gpumem_ctx* ctx, const MapCall& c, const CallForm& form = {}) {
  const auto rank = static_cast<int32_t>(c.extents.size());
  const int64_t* extents = c.extents.data();
  const auto of = [&](size_t k) { return k < c.x.size() ? c.x[k] : MapView{}; };
  const MapView a = of(0);
  const MapView b = of(1);
  const MapView d = of(2);
  const int64_t* zs = c.z.strides.data();
  switch (c.kind) {
    case MapFunction::map:
      return call_as(form, gpumem_map, gpumem_map_async, ctx, c.op, c.dtype, rank, extents,
                     static_cast<const void*>(a.p), a.strides.data(), static_cast<const void*>(b.p), b.strides.data(),
                     c.z.p, zs);
    case MapFunction::compare:
      return call_as(form, gpumem_compare, gpumem_compare_async, ctx, c.op, c.dtype, rank, extents,
                     static_cast<const void*>(a.p), a.strides.data(), static_cast<const void*>(b.p), b.strides.data(),
                     static_cast<uint8_t*>(c.z.p), zs);
    case MapFunction::where:
      return call_as(form, gpumem_where, gpumem_where_async, ctx, c.element_bytes, rank, extents,
                     static_cast<const uint8_t*>(a.p), a.strides.data(), static_cast<const void*>(b.p),
                     b.strides.data(), static_cast<const void*>(d.p), d.strides.data(), c.z.p, zs);
    case MapFunction::convert_scaled:
      break;
  }
  return call_as(form, gpumem_convert_scaled, gpumem_convert_scaled_async, ctx, rank, extents, c.dtype,
                 static_cast<const void*>(a.p), a.strides.data(), static_cast<const double*>(b.p), b.strides.data(),
                 static_cast<const double*>(d.p), d.strides.data(), c.nan_value, c.dst_type, c.z.p, zs);
}

namespace map_reference_of {

// NaNs propagate, and -0 is less than +0.
template <class F>
F extreme(F x, F y, bool least) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<F>::quiet_NaN();
  if (x == y) return std::signbit(x) == least ? x : y;
  return (x < y) == least ? x : y;
}

template <class F>
F floating(int32_t op, F x, F y) {
  switch (static_cast<decltype(GPUMEM_MAP_ADD)>(op)) {
    case GPUMEM_MAP_NEGATE:
      return -x;
    case GPUMEM_MAP_ABSOLUTE:
      return std::fabs(x);
    case GPUMEM_MAP_RECIPROCAL:
      return F{1} / x;
    case GPUMEM_MAP_SQUARE_ROOT:
      return std::sqrt(x);
    case GPUMEM_MAP_FLOOR:
      return std::floor(x);
    case GPUMEM_MAP_CEIL:
      return std::ceil(x);
    case GPUMEM_MAP_TRUNCATE:
      return std::trunc(x);
    case GPUMEM_MAP_ROUND:
      return std::nearbyint(x);
    case GPUMEM_MAP_ADD:
      return x + y;
    case GPUMEM_MAP_SUBTRACT:
      return x - y;
    case GPUMEM_MAP_MULTIPLY:
      return x * y;
    case GPUMEM_MAP_DIVIDE:
      return x / y;
    case GPUMEM_MAP_MINIMUM:
      return extreme(x, y, true);
    case GPUMEM_MAP_MAXIMUM:
      return extreme(x, y, false);
    case GPUMEM_MAP_NOT:
    case GPUMEM_MAP_REMAINDER:
    case GPUMEM_MAP_COPY_SIGN:
    case GPUMEM_MAP_AND:
    case GPUMEM_MAP_OR:
    case GPUMEM_MAP_XOR:
    case GPUMEM_MAP_SHIFT_LEFT:
    case GPUMEM_MAP_SHIFT_RIGHT:
      break;
  }
  return x;  // the sign of a NaN
}

__extension__ typedef __int128 Wide;

// The mathematical result, of which the type keeps the low bits.
inline Wide integral(int32_t op, Wide x, Wide y, const TypeInfo& type) {
  const auto bits = static_cast<Wide>(8 * type.bytes);
  switch (static_cast<decltype(GPUMEM_MAP_ADD)>(op)) {
    case GPUMEM_MAP_NEGATE:
      return -x;
    case GPUMEM_MAP_ABSOLUTE:
      return x < 0 ? -x : x;
    case GPUMEM_MAP_NOT:
      return -x - 1;
    case GPUMEM_MAP_ADD:
      return x + y;
    case GPUMEM_MAP_SUBTRACT:
      return x - y;
    case GPUMEM_MAP_MULTIPLY:
      return static_cast<Wide>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    case GPUMEM_MAP_DIVIDE:
      return y == 0 ? 0 : x / y;
    case GPUMEM_MAP_REMAINDER:
      return y == 0 ? 0 : x % y;
    case GPUMEM_MAP_MINIMUM:
      return x < y ? x : y;
    case GPUMEM_MAP_MAXIMUM:
      return x < y ? y : x;
    case GPUMEM_MAP_AND:
      return x & y;
    case GPUMEM_MAP_OR:
      return x | y;
    case GPUMEM_MAP_XOR:
      return x ^ y;
    case GPUMEM_MAP_SHIFT_LEFT:
      return y < 0 || y >= bits ? 0 : static_cast<Wide>(static_cast<uint64_t>(x) << static_cast<int>(y));
    case GPUMEM_MAP_SHIFT_RIGHT:
      return y < 0 || y >= bits ? (x < 0 ? -1 : 0) : x >> static_cast<int>(y);
    case GPUMEM_MAP_RECIPROCAL:
    case GPUMEM_MAP_SQUARE_ROOT:
    case GPUMEM_MAP_FLOOR:
    case GPUMEM_MAP_CEIL:
    case GPUMEM_MAP_TRUNCATE:
    case GPUMEM_MAP_ROUND:
    case GPUMEM_MAP_COPY_SIGN:
      break;
  }
  return x;  // rounded to an integer
}

inline Wide integer_of(const TypeInfo& type, uint64_t bits) {
  if (type.what == Class::unsigned_integer) return static_cast<Wide>(bits);
  const int unused = 64 - 8 * static_cast<int>(type.bytes);
  return static_cast<int64_t>(bits << unused) >> unused;
}

template <class F>
F exactly(gpumem_dtype dtype, uint64_t bits) {
  return static_cast<F>(convert::decoded(info_of(dtype), bits));
}

inline uint64_t mapped(int32_t op, gpumem_dtype dtype, uint64_t x, uint64_t y) {
  const TypeInfo& type = info_of(dtype);
  if (!is_floating(dtype)) return static_cast<uint64_t>(integral(op, integer_of(type, x), integer_of(type, y), type));
  if (op == GPUMEM_MAP_COPY_SIGN && !std::isnan(convert::decoded(type, x))) {
    return (x & ~convert::sign_of(type)) | (y & convert::sign_of(type));
  }
  if (dtype == GPUMEM_F64) {
    return convert::encoded(type, floating<double>(op, exactly<double>(dtype, x), exactly<double>(dtype, y)));
  }
  return convert::encoded(type, floating<float>(op, exactly<float>(dtype, x), exactly<float>(dtype, y)));
}

inline bool compared(int32_t op, gpumem_dtype dtype, uint64_t x, uint64_t y) {
  const convert::Exact a = convert::decoded(info_of(dtype), x);
  const convert::Exact b = convert::decoded(info_of(dtype), y);
  const bool results[] = {a<b, a <= b, a == b, a != b, a >= b, a> b};
  return results[op];
}

inline uint64_t scaled(const MapCall& c, uint64_t src, double scale, double offset, bool shifts) {
  const auto v = static_cast<double>(convert::decoded(info_of(c.dtype), src));
  const double sum = shifts ? v + offset : v;
  return convert::encoded(info_of(c.dst_type), std::isnan(v) ? c.nan_value : sum * scale);
}

}  // namespace map_reference_of

// In host memory. Returns whether an integer was divided by 0.
inline bool map_reference(const MapCall& c) {
  namespace of = map_reference_of;
  bool zero = false;
  int64_t elements = 1;
  for (const int64_t extent : c.extents) elements *= extent;
  for (int64_t i = 0; i < elements; ++i) {
    const auto address = [&](const MapView& view, size_t bytes) {
      int64_t at = 0;
      int64_t rest = i;
      for (size_t d = c.extents.size(); d-- > 0; rest /= c.extents[d]) at += rest % c.extents[d] * view.strides[d];
      return static_cast<char*>(view.p) + at * static_cast<int64_t>(bytes);
    };
    unsigned char in[3][16] = {};
    uint64_t word[3] = {};
    double number[3] = {0, 1, 0};
    for (size_t k = 0; k < c.x.size(); ++k) {
      if (c.x[k].p == nullptr) continue;
      std::memcpy(in[k], address(c.x[k], c.source_bytes(k)), c.source_bytes(k));
      std::memcpy(&word[k], in[k], sizeof word[k]);
      std::memcpy(&number[k], in[k], sizeof number[k]);
    }
    char* const z = address(c.z, c.z_bytes());
    if (c.kind == MapFunction::where) {
      std::memcpy(z, in[word[0] != 0 ? 1 : 2], c.z_bytes());
      continue;
    }
    uint64_t result = 0;
    if (c.kind == MapFunction::map) {
      result = of::mapped(c.op, c.dtype, word[0], word[1]);
      zero = zero || (map_divides(c) && word[1] == 0);
    } else if (c.kind == MapFunction::compare) {
      result = of::compared(c.op, c.dtype, word[0], word[1]) ? 1 : 0;
    } else {
      result = of::scaled(c, word[0], number[1], number[2], c.x[2].p != nullptr);
    }
    std::memcpy(z, &result, c.z_bytes());
  }
  return zero;
}

inline std::string describe(const MapCall& c) {
  static constexpr const char* kKinds[] = {"map ", "compare ", "where ", "convert_scaled "};
  std::string text = kKinds[static_cast<int>(c.kind)] + std::to_string(c.op) + ' ' + info_of(c.dtype).name + " to " +
                     info_of(c.dst_type).name + ", " + std::to_string(c.element_bytes) + " bytes";
  for (const int64_t extent : c.extents) text += " x " + std::to_string(extent);
  const auto add = [&text](const MapView& view) {
    text += "; " + std::to_string(reinterpret_cast<uintptr_t>(view.p) % 16) + ':';
    for (const int64_t stride : view.strides) text += ' ' + std::to_string(stride);
  };
  for (const MapView& view : c.x) add(view);
  add(c.z);
  return text;
}

}  // namespace gpumem_test
