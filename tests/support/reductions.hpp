// Any reduction as plain data: called in each of its forms, described, and compared with the reference.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "gpumem.h"
#include "support/dtypes.hpp"
#include "support/explain.hpp"
#include "support/reference.hpp"

namespace gpumem_test {

struct Reduction {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  const void* x;
  int64_t n;
  int64_t stride = 1;
  const void* y = nullptr;  // of GPUMEM_DOT
  int64_t y_stride = 1;
};

inline std::string line_of(gpumem_ctx* ctx, const Reduction& r) {
  Line line(ctx, "reduce");
  line.with("dtype", r.dtype).with("op", r.op).with("n", r.n).with("stride", r.stride).at("x", r.x);
  if (r.op == GPUMEM_DOT) line.with("y_stride", r.y_stride).at("y", r.y);
  return line;
}

inline Outcome reference(const Reduction& r) {
  return reference(r.op, {r.dtype, r.x, r.n, r.stride}, {r.dtype, r.y, r.n, r.y_stride});
}

namespace reductions {

template <class T>
const T* as(const void* p) {
  return static_cast<const T*>(p);
}
inline gpumem_reduce_op arg_op(gpumem_reduce_op op) {
  return op == GPUMEM_ARG_MIN ? GPUMEM_MIN : op == GPUMEM_ARG_MAX ? GPUMEM_MAX : GPUMEM_MAX_ABS;
}

// By the function of one type, where there is one.
inline gpumem_status typed(gpumem_ctx* c, const Reduction& r, void* out) {
  auto* const s = static_cast<int64_t*>(out);
  auto* const u = static_cast<uint64_t*>(out);
  auto* const d = static_cast<double*>(out);
  const gpumem_reduce_op a = arg_op(r.op);
  const bool arg = is_arg(r.op);
  switch (r.dtype) {
    case GPUMEM_I32:
      return arg ? gpumem_argreduce_i32(c, a, as<int32_t>(r.x), r.n, r.stride, s, s + 1)
                 : gpumem_reduce_i32(c, r.op, as<int32_t>(r.x), r.n, r.stride, s);
    case GPUMEM_I64:
      return arg ? gpumem_argreduce_i64(c, a, as<int64_t>(r.x), r.n, r.stride, s, s + 1)
                 : gpumem_reduce_i64(c, r.op, as<int64_t>(r.x), r.n, r.stride, s);
    case GPUMEM_U32:
      return arg ? gpumem_argreduce_u32(c, a, as<uint32_t>(r.x), r.n, r.stride, u, s + 1)
                 : gpumem_reduce_u32(c, r.op, as<uint32_t>(r.x), r.n, r.stride, u);
    case GPUMEM_U64:
      return arg ? gpumem_argreduce_u64(c, a, as<uint64_t>(r.x), r.n, r.stride, u, s + 1)
                 : gpumem_reduce_u64(c, r.op, as<uint64_t>(r.x), r.n, r.stride, u);
    case GPUMEM_F32:
      return arg ? gpumem_argreduce_f32(c, a, as<float>(r.x), r.n, r.stride, d, s + 1)
                 : gpumem_reduce_f32(c, r.op, as<float>(r.x), r.n, r.stride, d);
    case GPUMEM_F64:
      return arg ? gpumem_argreduce_f64(c, a, as<double>(r.x), r.n, r.stride, d, s + 1)
                 : gpumem_reduce_f64(c, r.op, as<double>(r.x), r.n, r.stride, d);
    default:
      return arg ? gpumem_argreduce(c, r.dtype, a, r.x, r.n, r.stride, s, s + 1)
                 : gpumem_reduce(c, r.dtype, r.op, r.x, r.n, r.stride, s);
  }
}

inline gpumem_status typed_async(gpumem_ctx* c, const Reduction& r, void* out, gpumem_status* st, gpumem_stream* q) {
  auto* const s = static_cast<int64_t*>(out);
  auto* const u = static_cast<uint64_t*>(out);
  auto* const d = static_cast<double*>(out);
  const gpumem_reduce_op a = arg_op(r.op);
  const bool arg = is_arg(r.op);
  switch (r.dtype) {
    case GPUMEM_I32:
      return arg ? gpumem_argreduce_i32_async(c, a, as<int32_t>(r.x), r.n, r.stride, s, s + 1, q)
                 : gpumem_reduce_i32_async(c, r.op, as<int32_t>(r.x), r.n, r.stride, s, st, q);
    case GPUMEM_I64:
      return arg ? gpumem_argreduce_i64_async(c, a, as<int64_t>(r.x), r.n, r.stride, s, s + 1, q)
                 : gpumem_reduce_i64_async(c, r.op, as<int64_t>(r.x), r.n, r.stride, s, st, q);
    case GPUMEM_U32:
      return arg ? gpumem_argreduce_u32_async(c, a, as<uint32_t>(r.x), r.n, r.stride, u, s + 1, q)
                 : gpumem_reduce_u32_async(c, r.op, as<uint32_t>(r.x), r.n, r.stride, u, st, q);
    case GPUMEM_U64:
      return arg ? gpumem_argreduce_u64_async(c, a, as<uint64_t>(r.x), r.n, r.stride, u, s + 1, q)
                 : gpumem_reduce_u64_async(c, r.op, as<uint64_t>(r.x), r.n, r.stride, u, st, q);
    case GPUMEM_F32:
      return arg ? gpumem_argreduce_f32_async(c, a, as<float>(r.x), r.n, r.stride, d, s + 1, q)
                 : gpumem_reduce_f32_async(c, r.op, as<float>(r.x), r.n, r.stride, d, st, q);
    case GPUMEM_F64:
      return arg ? gpumem_argreduce_f64_async(c, a, as<double>(r.x), r.n, r.stride, d, s + 1, q)
                 : gpumem_reduce_f64_async(c, r.op, as<double>(r.x), r.n, r.stride, d, st, q);
    default:
      return arg ? gpumem_argreduce_async(c, r.dtype, a, r.x, r.n, r.stride, s, s + 1, q)
                 : gpumem_reduce_async(c, r.dtype, r.op, r.x, r.n, r.stride, s, st, q);
  }
}

}  // namespace reductions

// The blocking form; words_of(op) words go to out.
inline gpumem_status run(gpumem_ctx* ctx, const Reduction& r, void* out, bool typed = false) {
  using namespace reductions;
  auto* const words = static_cast<int64_t*>(out);
  auto* const d = static_cast<double*>(out);
  const bool f64 = r.dtype == GPUMEM_F64;
  if (r.op == GPUMEM_DOT) {
    return f64 ? gpumem_dot_f64(ctx, as<double>(r.x), as<double>(r.y), r.n, r.stride, r.y_stride, d)
               : gpumem_dot_f32(ctx, as<float>(r.x), as<float>(r.y), r.n, r.stride, r.y_stride, d);
  }
  if (r.op == GPUMEM_NRM2) {
    return f64 ? gpumem_nrm2_f64(ctx, as<double>(r.x), r.n, r.stride, d)
               : gpumem_nrm2_f32(ctx, as<float>(r.x), r.n, r.stride, d);
  }
  if (typed) return reductions::typed(ctx, r, out);
  if (is_arg(r.op)) return gpumem_argreduce(ctx, r.dtype, arg_op(r.op), r.x, r.n, r.stride, words, words + 1);
  return gpumem_reduce(ctx, r.dtype, r.op, r.x, r.n, r.stride, out);
}

// The operations whose enqueued form takes a status word.
inline bool takes_status(gpumem_reduce_op op) { return !is_arg(op) && op != GPUMEM_DOT && op != GPUMEM_NRM2; }

// The enqueued form.
inline gpumem_status run_async(gpumem_ctx* ctx, const Reduction& r, void* out, gpumem_status* status,
                               gpumem_stream* stream, bool typed = false) {
  using namespace reductions;
  auto* const words = static_cast<int64_t*>(out);
  auto* const d = static_cast<double*>(out);
  const bool f64 = r.dtype == GPUMEM_F64;
  if (r.op == GPUMEM_DOT) {
    return f64 ? gpumem_dot_f64_async(ctx, as<double>(r.x), as<double>(r.y), r.n, r.stride, r.y_stride, d, stream)
               : gpumem_dot_f32_async(ctx, as<float>(r.x), as<float>(r.y), r.n, r.stride, r.y_stride, d, stream);
  }
  if (r.op == GPUMEM_NRM2) {
    return f64 ? gpumem_nrm2_f64_async(ctx, as<double>(r.x), r.n, r.stride, d, stream)
               : gpumem_nrm2_f32_async(ctx, as<float>(r.x), r.n, r.stride, d, stream);
  }
  if (typed) return typed_async(ctx, r, out, status, stream);
  if (is_arg(r.op)) {
    return gpumem_argreduce_async(ctx, r.dtype, arg_op(r.op), r.x, r.n, r.stride, words, words + 1, stream);
  }
  return gpumem_reduce_async(ctx, r.dtype, r.op, r.x, r.n, r.stride, out, status, stream);
}

inline std::string hex(uint64_t word) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(word));
  return text;
}

inline std::string describe(const Outcome& outcome) {
  return std::string(gpumem_status_name(outcome.status)) + ' ' + hex(outcome.words[0]) + ' ' + hex(outcome.words[1]);
}

inline std::string describe(const Reduction& r) {
  std::string text = std::string(op_name(r.op)) + " of " + std::to_string(r.n) + ' ' + info_of(r.dtype).name +
                     ", stride " + std::to_string(r.stride) + ", x at " +
                     std::to_string(reinterpret_cast<uintptr_t>(r.x) % 16) + " from a multiple of 16";
  if (r.op == GPUMEM_DOT) {
    text +=
        ", y_stride " + std::to_string(r.y_stride) + ", y at " + std::to_string(reinterpret_cast<uintptr_t>(r.y) % 16);
  }
  return text;
}

inline constexpr uint64_t kUntouched = 0x5A5A5A5A5A5A5A5A;

// The blocking form with its results in ordinary memory.
inline Outcome outcome_of(gpumem_ctx* ctx, const Reduction& r, bool typed = false) {
  uint64_t out[3] = {kUntouched, kUntouched, kUntouched};
  Outcome outcome;
  outcome.status = run(ctx, r, out, typed);
  const bool written = outcome.status == GPUMEM_OK;
  for (int i = 0; i < 3; ++i) {
    if (written && i < words_of(r.op)) {
      outcome.words[i] = out[i];
    } else {
      EXPECT_EQ(out[i], kUntouched) << "word " << i << " after " << gpumem_status_name(outcome.status) << ": "
                                    << describe(r);
    }
  }
  return outcome;
}

inline testing::AssertionResult same(const Outcome& expected, const Outcome& got) {
  if (expected == got) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << describe(got) << ", expected " << describe(expected) << "; "
                                     << last_error();
}

}  // namespace gpumem_test
