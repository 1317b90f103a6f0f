// Any reduction as plain data: called in each of its forms, described, and compared with the reference.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "gpumem.h"
#include "support/dtypes.hpp"
#include "support/explain.hpp"
#include "support/forms.hpp"
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

// The same of views.
struct ViewReduction {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  int32_t rank;
  const int64_t* extents;
  const void* x;
  const int64_t* strides = nullptr;
  const void* y = nullptr;  // of GPUMEM_DOT
  const int64_t* y_strides = nullptr;
};

// Of some axes of a view.
struct AxesReduction {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  int32_t rank;
  const int64_t* extents;
  const void* x;
  const int64_t* strides;
  int32_t axes;
  gpumem_dtype result_type;
};

inline gpumem_dtype result_type_of(gpumem_dtype dtype) {
  return is_floating(dtype) ? GPUMEM_F64 : info_of(dtype).what == Class::signed_integer ? GPUMEM_I64 : GPUMEM_U64;
}

inline std::string line_of(gpumem_ctx* ctx, const Reduction& r) {
  Line line(ctx, "reduce");
  line.with("dtype", r.dtype).with("op", r.op).with("n", r.n).with("stride", r.stride).at("x", r.x);
  if (r.op == GPUMEM_DOT || r.op == GPUMEM_DOT_ORDER_FREE) line.with("y_stride", r.y_stride).at("y", r.y);
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

inline gpumem_status general(const CallForm& form, gpumem_ctx* c, const Reduction& r, void* out) {
  auto* const words = static_cast<int64_t*>(out);
  return is_arg(r.op) ? call_as(form, gpumem_argreduce, gpumem_argreduce_async, c, r.dtype, sought(r.op), r.x, r.n,
                                r.stride, words, words + 1)
                      : call_as(form, gpumem_reduce, gpumem_reduce_async, c, r.dtype, r.op, r.x, r.n, r.stride, out);
}

// By the function of one type, where there is one.
inline gpumem_status typed(const CallForm& form, gpumem_ctx* c, const Reduction& r, void* out) {
  auto* const s = static_cast<int64_t*>(out);
  auto* const u = static_cast<uint64_t*>(out);
  auto* const d = static_cast<double*>(out);
  const auto call = [&]<class T>(const T* x, auto* value, auto reduce, auto reduce_async, auto arg, auto arg_async) {
    return is_arg(r.op) ? call_as(form, arg, arg_async, c, sought(r.op), x, r.n, r.stride, value, s + 1)
                        : call_as(form, reduce, reduce_async, c, r.op, x, r.n, r.stride, value);
  };
  switch (static_cast<decltype(GPUMEM_I32)>(r.dtype)) {
    case GPUMEM_I32:
      return call(as<int32_t>(r.x), s, gpumem_reduce_i32, gpumem_reduce_i32_async, gpumem_argreduce_i32,
                  gpumem_argreduce_i32_async);
    case GPUMEM_I64:
      return call(as<int64_t>(r.x), s, gpumem_reduce_i64, gpumem_reduce_i64_async, gpumem_argreduce_i64,
                  gpumem_argreduce_i64_async);
    case GPUMEM_U32:
      return call(as<uint32_t>(r.x), u, gpumem_reduce_u32, gpumem_reduce_u32_async, gpumem_argreduce_u32,
                  gpumem_argreduce_u32_async);
    case GPUMEM_U64:
      return call(as<uint64_t>(r.x), u, gpumem_reduce_u64, gpumem_reduce_u64_async, gpumem_argreduce_u64,
                  gpumem_argreduce_u64_async);
    case GPUMEM_F32:
      return call(as<float>(r.x), d, gpumem_reduce_f32, gpumem_reduce_f32_async, gpumem_argreduce_f32,
                  gpumem_argreduce_f32_async);
    case GPUMEM_F64:
      return call(as<double>(r.x), d, gpumem_reduce_f64, gpumem_reduce_f64_async, gpumem_argreduce_f64,
                  gpumem_argreduce_f64_async);
    case GPUMEM_I8:
    case GPUMEM_U8:
    case GPUMEM_I16:
    case GPUMEM_U16:
    case GPUMEM_F16:
    case GPUMEM_BF16:
      break;
  }
  return general(form, c, r, out);
}

inline gpumem_status run_as(const CallForm& form, gpumem_ctx* ctx, const Reduction& r, void* out, bool typed) {
  auto* const d = static_cast<double*>(out);
  const bool f64 = r.dtype == GPUMEM_F64;
  if (r.op == GPUMEM_DOT) {
    return f64 ? call_as(form, gpumem_dot_f64, gpumem_dot_f64_async, ctx, as<double>(r.x), as<double>(r.y), r.n,
                         r.stride, r.y_stride, d)
               : call_as(form, gpumem_dot_f32, gpumem_dot_f32_async, ctx, as<float>(r.x), as<float>(r.y), r.n, r.stride,
                         r.y_stride, d);
  }
  if (r.op == GPUMEM_DOT_ORDER_FREE) {
    return call_as(form, gpumem_dot_order_free, gpumem_dot_order_free_async, ctx, r.dtype, 1, &r.n, r.x, &r.stride, r.y,
                   &r.y_stride, d);
  }
  if (r.op == GPUMEM_NRM2) {
    return f64 ? call_as(form, gpumem_nrm2_f64, gpumem_nrm2_f64_async, ctx, as<double>(r.x), r.n, r.stride, d)
               : call_as(form, gpumem_nrm2_f32, gpumem_nrm2_f32_async, ctx, as<float>(r.x), r.n, r.stride, d);
  }
  return typed ? reductions::typed(form, ctx, r, out) : general(form, ctx, r, out);
}

inline gpumem_status run_as(const CallForm& form, gpumem_ctx* ctx, const ViewReduction& r, void* out) {
  auto* const words = static_cast<int64_t*>(out);
  auto* const d = static_cast<double*>(out);
  if (is_arg(r.op)) {
    return call_as(form, gpumem_argreduce_view, gpumem_argreduce_view_async, ctx, r.dtype, sought(r.op), r.rank,
                   r.extents, r.x, r.strides, words, words + 1);
  }
  if (r.op == GPUMEM_DOT_ORDER_FREE) {
    return call_as(form, gpumem_dot_order_free, gpumem_dot_order_free_async, ctx, r.dtype, r.rank, r.extents, r.x,
                   r.strides, r.y, r.y_strides, d);
  }
  if (r.op == GPUMEM_DOT && r.dtype == GPUMEM_F64) {
    return call_as(form, gpumem_dot_view_f64, gpumem_dot_view_f64_async, ctx, r.rank, r.extents, as<double>(r.x),
                   r.strides, as<double>(r.y), r.y_strides, d);
  }
  if (r.op == GPUMEM_DOT) {
    return call_as(form, gpumem_dot_view_f32, gpumem_dot_view_f32_async, ctx, r.rank, r.extents, as<float>(r.x),
                   r.strides, as<float>(r.y), r.y_strides, d);
  }
  if (r.op == GPUMEM_NRM2 && r.dtype == GPUMEM_F64) {
    return call_as(form, gpumem_nrm2_view_f64, gpumem_nrm2_view_f64_async, ctx, r.rank, r.extents, as<double>(r.x),
                   r.strides, d);
  }
  if (r.op == GPUMEM_NRM2) {
    return call_as(form, gpumem_nrm2_view_f32, gpumem_nrm2_view_f32_async, ctx, r.rank, r.extents, as<float>(r.x),
                   r.strides, d);
  }
  return call_as(form, gpumem_reduce_view, gpumem_reduce_view_async, ctx, r.dtype, r.op, r.rank, r.extents, r.x,
                 r.strides, out);
}

inline gpumem_status run_as(const CallForm& form, gpumem_ctx* ctx, const AxesReduction& r, void* out) {
  return call_as(form, gpumem_reduce_axes, gpumem_reduce_axes_async, ctx, r.dtype, r.op, r.rank, r.extents, r.x,
                 r.strides, r.axes, out, r.result_type);
}

}  // namespace reductions

// The blocking form; words_of(op) words go to out.
inline gpumem_status run(gpumem_ctx* ctx, const Reduction& r, void* out, bool typed = false) {
  return reductions::run_as({}, ctx, r, out, typed);
}

inline gpumem_status run(gpumem_ctx* ctx, const ViewReduction& r, void* out) {
  return reductions::run_as({}, ctx, r, out);
}

inline gpumem_status run(gpumem_ctx* ctx, const AxesReduction& r, void* out) {
  return reductions::run_as({}, ctx, r, out);
}

// The operations whose enqueued form takes a status word.
inline bool takes_status(gpumem_reduce_op op) {
  return !is_arg(op) && op != GPUMEM_DOT && op != GPUMEM_NRM2 && op != GPUMEM_DOT_ORDER_FREE;
}

// The enqueued form.
inline gpumem_status run_async(gpumem_ctx* ctx, const Reduction& r, void* out, gpumem_status* status,
                               gpumem_stream* stream, bool typed = false) {
  return reductions::run_as({true, stream, status}, ctx, r, out, typed);
}

inline gpumem_status run_async(gpumem_ctx* ctx, const ViewReduction& r, void* out, gpumem_status* status,
                               gpumem_stream* stream) {
  return reductions::run_as({true, stream, status}, ctx, r, out);
}

inline gpumem_status run_async(gpumem_ctx* ctx, const AxesReduction& r, void* out, gpumem_status* status,
                               gpumem_stream* stream) {
  return reductions::run_as({true, stream, status}, ctx, r, out);
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
  if (r.op == GPUMEM_DOT || r.op == GPUMEM_DOT_ORDER_FREE) {
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
