// gpumem_scan() as tests call it, and the reference: integers one after the other, and the reference reduction of a prefix.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/convert.hpp"
#include "support/reference.hpp"

namespace gpumem_test {

struct Scan {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  int32_t exclusive;
  const void* x;
  int64_t n;
  void* result;
  gpumem_dtype result_type;
};

inline constexpr gpumem_reduce_op kScanOps[] = {GPUMEM_SUM, GPUMEM_MIN, GPUMEM_MAX, GPUMEM_PROD};

inline gpumem_status run(gpumem_ctx* ctx, const Scan& s) {
  return gpumem_scan(ctx, s.dtype, s.op, s.exclusive, s.x, s.n, s.result, s.result_type);
}
inline gpumem_status run_async(gpumem_ctx* ctx, const Scan& s, gpumem_status* status, gpumem_stream* stream) {
  return gpumem_scan_async(ctx, s.dtype, s.op, s.exclusive, s.x, s.n, s.result, s.result_type, status, stream);
}

// Along an axis of a view. n of the scan has no meaning.
struct AxisScan {
  Scan scan;
  int32_t ndim;
  const int64_t* extents;
  int32_t axis;
  const int64_t* x_strides = nullptr;
  const int64_t* result_strides = nullptr;
};

inline gpumem_status run(gpumem_ctx* ctx, const AxisScan& a) {
  const Scan& s = a.scan;
  return gpumem_scan_axis(ctx, s.dtype, s.op, s.exclusive, a.ndim, a.extents, a.axis, s.x, a.x_strides, s.result,
                          a.result_strides, s.result_type);
}
inline gpumem_status run_async(gpumem_ctx* ctx, const AxisScan& a, gpumem_status* status, gpumem_stream* stream) {
  const Scan& s = a.scan;
  return gpumem_scan_axis_async(ctx, s.dtype, s.op, s.exclusive, a.ndim, a.extents, a.axis, s.x, a.x_strides, s.result,
                                a.result_strides, s.result_type, status, stream);
}

struct SegmentsScan {
  Scan scan;
  const int64_t* offsets;
  int64_t segments;
};

inline gpumem_status run(gpumem_ctx* ctx, const SegmentsScan& g) {
  const Scan& s = g.scan;
  return gpumem_scan_segments(ctx, s.dtype, s.op, s.exclusive, s.x, s.n, g.offsets, g.segments, s.result,
                              s.result_type);
}
inline gpumem_status run_async(gpumem_ctx* ctx, const SegmentsScan& g, gpumem_status* status, gpumem_stream* stream) {
  const Scan& s = g.scan;
  return gpumem_scan_segments_async(ctx, s.dtype, s.op, s.exclusive, s.x, s.n, g.offsets, g.segments, s.result,
                                    s.result_type, status, stream);
}

inline std::string line_of(gpumem_ctx* ctx, const Scan& s) {
  Line line(ctx, "scan");
  line.with("dtype", info_of(s.dtype).name).with("op", op_name(s.op)).with("n", s.n);
  line.with("result_type", info_of(s.result_type).name).with("exclusive", int64_t{s.exclusive});
  return line.at("x", s.x).at("result", s.result);
}

inline std::string describe(const Scan& s) {
  const auto offset = [](const void* p) { return std::to_string(reinterpret_cast<uintptr_t>(p) % 16); };
  return std::string(s.exclusive != 0 ? "exclusive " : "") + op_name(s.op) + " of " + std::to_string(s.n) + ' ' +
         info_of(s.dtype).name + " as " + info_of(s.result_type).name + ", offsets " + offset(s.x) + ", " +
         offset(s.result) + (s.x == s.result ? ", in place" : "");
}

inline gpumem_dtype wide_type(gpumem_dtype dtype) {
  return is_floating(dtype) ? GPUMEM_F64 : info_of(dtype).what == Class::signed_integer ? GPUMEM_I64 : GPUMEM_U64;
}

namespace scan {

__extension__ typedef __int128 Int128;  // also an exact product of two 64-bit numbers

inline Int128 integer(gpumem_dtype dtype, uint64_t bits) {
  const TypeInfo& type = info_of(dtype);
  if (type.what == Class::unsigned_integer || (bits & convert::sign_of(type)) == 0) return static_cast<Int128>(bits);
  return static_cast<Int128>(bits) - (static_cast<Int128>(convert::sign_of(type)) << 1);
}
inline bool fits(gpumem_dtype dtype, Int128 v) {
  const auto half = static_cast<Int128>(convert::sign_of(info_of(dtype)));
  return info_of(dtype).what == Class::signed_integer ? v >= -half && v < half : v >= 0 && v < 2 * half;
}
inline uint64_t element(gpumem_dtype dtype, const void* x, int64_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(x) + i * static_cast<int64_t>(info_of(dtype).bytes),
              info_of(dtype).bytes);
  return bits;
}

}  // namespace scan

// The values as bits, up to the first that does not fit.
inline std::vector<uint64_t> integer_scan_reference(const Scan& s) {
  std::vector<uint64_t> values;
  const uint64_t all = convert::sign_of(info_of(s.result_type)) | (convert::sign_of(info_of(s.result_type)) - 1);
  const uint64_t sign = convert::sign_of(info_of(s.dtype));
  const bool has_sign = info_of(s.dtype).what == Class::signed_integer;
  const scan::Int128 least = has_sign ? -static_cast<scan::Int128>(sign) : 0;
  const scan::Int128 most = static_cast<scan::Int128>(sign) * (has_sign ? 1 : 2) - 1;
  scan::Int128 v = s.op == GPUMEM_SUM ? 0 : s.op == GPUMEM_PROD ? 1 : s.op == GPUMEM_MIN ? most : least;
  for (int64_t i = 0; i < s.n; ++i) {
    if (s.exclusive != 0) values.push_back(static_cast<uint64_t>(v) & all);
    const scan::Int128 x = scan::integer(s.dtype, scan::element(s.dtype, s.x, i));
    if (s.op == GPUMEM_SUM) v += x;
    if (s.op == GPUMEM_PROD) v *= x;
    if (s.op == GPUMEM_MIN) v = x < v ? x : v;
    if (s.op == GPUMEM_MAX) v = x > v ? x : v;
    if (!scan::fits(s.result_type, v)) {
      if (s.exclusive != 0 && i + 1 == s.n) break;  // not a value of the scan
      return values;
    }
    if (s.exclusive == 0) values.push_back(static_cast<uint64_t>(v) & all);
  }
  return values;
}

// Value i of a scan of floating-point elements, from the whole prefix.
inline uint64_t float_scan_reference(const Scan& s, int64_t i) {
  const int64_t count = i + (s.exclusive != 0 ? 0 : 1);
  double value = s.op == GPUMEM_SUM ? 0 : s.op == GPUMEM_PROD ? 1 : s.op == GPUMEM_MIN ? INFINITY : -INFINITY;
  if (count > 0) std::memcpy(&value, reference(s.op, {s.dtype, s.x, count}).words, sizeof value);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return converted(GPUMEM_F64, s.result_type, bits);
}

}  // namespace gpumem_test
