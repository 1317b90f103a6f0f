// Reductions as calls: to one number, of rows or columns, of segments, by index.
#include "problems/builder.hpp"

namespace tool {

namespace {

// The op that gpumem_argreduce() takes for a search; another op stays.
gpumem_reduce_op sought(gpumem_reduce_op op) {
  if (op == GPUMEM_ARG_MIN) return GPUMEM_MIN;
  if (op == GPUMEM_ARG_MAX) return GPUMEM_MAX;
  if (op == GPUMEM_ARG_MIN_VALID) return GPUMEM_MIN_VALID;
  if (op == GPUMEM_ARG_MAX_VALID) return GPUMEM_MAX_VALID;
  return op == GPUMEM_ARG_MAX_ABS ? GPUMEM_MAX_ABS : op;
}

// The output is as make_reduce()'s.
bool is_dot(gpumem_reduce_op op) { return op == GPUMEM_DOT || op == GPUMEM_DOT_ORDER_FREE; }

Instance make_reduce_view(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  const gpumem_reduce_op op = b.p.op();
  const int64_t size = kDtypeBytes[dtype];
  const Extents extents = b.p.numbers("extents");
  const auto strides_of = [&](const char* key) { return b.p.has(key) ? b.p.numbers(key) : row_major(extents); };
  const Extents strides = strides_of("strides");
  const Extents y_strides = strides_of("y_strides");
  const auto x = b.input("x", reach(extents, strides) * size, values_for(op, dtype, 1));
  const auto y = is_dot(op) ? b.input("y", reach(extents, y_strides) * size, values_for(op, dtype, 2)) : nullptr;
  const auto result = b.result("pinned", 24);
  gpumem_ctx* const ctx = b.ctx;
  const auto rank = static_cast<int32_t>(extents.size());
  const bool f32 = dtype == GPUMEM_F32;
  return b.finish(Limit::read, [=](On on) {
    auto* const value = at<double>(result);
    if (sought(op) != op) {
      return call(on, gpumem_argreduce_view, gpumem_argreduce_view_async, ctx, dtype, sought(op), rank, extents.data(),
                  at(x), strides.data(), value, at<int64_t>(result) + 2);
    }
    if (op == GPUMEM_DOT_ORDER_FREE) {
      return call(on, gpumem_dot_order_free, gpumem_dot_order_free_async, ctx, dtype, rank, extents.data(), at(x),
                  strides.data(), at(y), y_strides.data(), value);
    }
    if (op == GPUMEM_DOT) {
      return f32 ? call(on, gpumem_dot_view_f32, gpumem_dot_view_f32_async, ctx, rank, extents.data(), at<float>(x),
                        strides.data(), at<float>(y), y_strides.data(), value)
                 : call(on, gpumem_dot_view_f64, gpumem_dot_view_f64_async, ctx, rank, extents.data(), at<double>(x),
                        strides.data(), at<double>(y), y_strides.data(), value);
    }
    if (op == GPUMEM_NRM2) {
      return f32 ? call(on, gpumem_nrm2_view_f32, gpumem_nrm2_view_f32_async, ctx, rank, extents.data(), at<float>(x),
                        strides.data(), value)
                 : call(on, gpumem_nrm2_view_f64, gpumem_nrm2_view_f64_async, ctx, rank, extents.data(), at<double>(x),
                        strides.data(), value);
    }
    return call(on, gpumem_reduce_view, gpumem_reduce_view_async, ctx, dtype, op, rank, extents.data(), at(x),
                strides.data(), at(result));
  });
}

}  // namespace

// The output is one or two values, followed by the index.
Instance make_reduce(Builder b) {
  if (b.p.has("extents")) return make_reduce_view(std::move(b));
  const gpumem_dtype dtype = b.p.dtype();
  const gpumem_reduce_op op = b.p.op();
  const int64_t size = kDtypeBytes[dtype];
  const int64_t n = b.p.number("n");
  const int64_t stride = b.p.number("stride", 1);
  const int64_t y_stride = b.p.number("y_stride", 1);
  const auto x = b.input("x", ((n - 1) * stride + 1) * size, values_for(op, dtype, 1));
  const auto y = is_dot(op) ? b.input("y", ((n - 1) * y_stride + 1) * size, values_for(op, dtype, 2)) : nullptr;
  const auto result = b.result("pinned", 24);
  gpumem_ctx* const ctx = b.ctx;
  const auto reduce = [=](On on) -> gpumem_status {
    auto* const value = at<double>(result);
    switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
      case GPUMEM_ARG_MIN:
      case GPUMEM_ARG_MAX:
      case GPUMEM_ARG_MAX_ABS:
      case GPUMEM_ARG_MIN_VALID:
      case GPUMEM_ARG_MAX_VALID:
        return call(on, gpumem_argreduce, gpumem_argreduce_async, ctx, dtype, sought(op), at(x), n, stride, value,
                    at<int64_t>(result) + 2);
      case GPUMEM_DOT:
        if (dtype == GPUMEM_F32) {
          return call(on, gpumem_dot_f32, gpumem_dot_f32_async, ctx, at<float>(x), at<float>(y), n, stride, y_stride,
                      value);
        }
        return call(on, gpumem_dot_f64, gpumem_dot_f64_async, ctx, at<double>(x), at<double>(y), n, stride, y_stride,
                    value);
      case GPUMEM_DOT_ORDER_FREE:
        return call(on, gpumem_dot_order_free, gpumem_dot_order_free_async, ctx, dtype, 1, &n, at(x), &stride, at(y),
                    &y_stride, value);
      case GPUMEM_NRM2:
        if (dtype == GPUMEM_F32) {
          return call(on, gpumem_nrm2_f32, gpumem_nrm2_f32_async, ctx, at<float>(x), n, stride, value);
        }
        return call(on, gpumem_nrm2_f64, gpumem_nrm2_f64_async, ctx, at<double>(x), n, stride, value);
      case GPUMEM_SUM:
      case GPUMEM_MIN:
      case GPUMEM_MAX:
      case GPUMEM_SUM_ABS:
      case GPUMEM_SUM_SQUARES:
      case GPUMEM_SUM_CUBES:
      case GPUMEM_MAX_ABS:
      case GPUMEM_MIN_MAX:
      case GPUMEM_SUM_COMPENSATED:
      case GPUMEM_PROD:
      case GPUMEM_SUM_ORDER_FREE:
      case GPUMEM_NRM2_ORDER_FREE:
      case GPUMEM_SUM_VALID:
      case GPUMEM_COUNT_VALID:
      case GPUMEM_MIN_VALID:
      case GPUMEM_MAX_VALID:
        break;
    }
    return call(on, gpumem_reduce, gpumem_reduce_async, ctx, dtype, op, at(x), n, stride, value);
  };
  return b.finish(Limit::read, reduce);
}

Instance make_reduce_axis(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  const gpumem_reduce_op op = b.p.op();
  const gpumem_axis axis = b.p.text("axis") == "cols" ? GPUMEM_AXIS_COLS : GPUMEM_AXIS_ROWS;
  const int64_t rows = b.p.number("rows");
  const int64_t cols = b.p.number("cols");
  const int64_t ld = b.p.number("ld", cols);
  const int64_t batches = b.p.number("batches", 1);
  const int64_t batch_stride = b.p.number("batch_stride", batches > 1 ? rows * ld : 0);
  const int64_t size = kDtypeBytes[dtype];
  const int64_t lines = batches * (axis == GPUMEM_AXIS_ROWS ? rows : cols);
  const auto x = b.input("x", reach({batches, rows, cols}, {batch_stride, ld, 1}) * size, values_for(op, dtype, 1));
  const bool search = sought(op) != op;  // values, then indices
  const auto result = b.result(b.kind_of("x"), lines * 8 * (op == GPUMEM_MIN_MAX || search ? 2 : 1));
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::read, [=](On on) {
    if (search) {
      return call(on, gpumem_argreduce_axis, gpumem_argreduce_axis_async, ctx, dtype, sought(op), axis, at(x), rows,
                  cols, ld, batches, batch_stride, at(result), at<int64_t>(result) + lines);
    }
    return call(on, gpumem_reduce_axis, gpumem_reduce_axis_async, ctx, dtype, op, axis, at(x), rows, cols, ld, batches,
                batch_stride, at(result));
  });
}

Instance make_reduce_segments(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  const gpumem_reduce_op op = b.p.op();
  const int64_t n = b.p.number("n");
  const int64_t segments = b.p.number("segments");
  const int64_t size = kDtypeBytes[dtype];
  const auto x = b.input("x", n * size, values_for(op, dtype, 1));
  const auto offsets = b.input("offsets", (segments + 1) * 8, even_offsets(n, segments));
  const auto result = b.result(b.kind_of("x"), segments * 8 * (op == GPUMEM_MIN_MAX ? 2 : 1));
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::read, [=](On on) {
    const gpumem_status status = call(on, gpumem_reduce_segments, gpumem_reduce_segments_async, ctx, dtype, op, at(x),
                                      n, at<int64_t>(offsets), segments, at(result));
    return status == GPUMEM_EMPTY ? GPUMEM_OK : status;  // the results are there; segments without elements give 0
  });
}

Instance make_reduce_by_index(Builder b) {
  const bool counts = b.p.text("x") == "none";
  const gpumem_dtype dtype = counts ? GPUMEM_I64 : b.p.dtype();
  const gpumem_reduce_op op = counts ? GPUMEM_SUM : b.p.op();
  const gpumem_dtype type = b.p.dtype("index_type");
  const int64_t n = b.p.number("n");
  const int64_t cols = b.p.number("cols", 1);
  const int64_t ld = b.p.number("ld", cols);
  const int64_t bins = b.p.number("bins");
  const int64_t span = n == 0 ? 0 : (n - 1) * ld + cols;
  const auto x = counts ? nullptr : b.input("x", span * kDtypeBytes[dtype], values_for(op, dtype, 1));
  // Random bins, which repeat. The last of an even number stays empty.
  const gpumem_dtype numbers = kDtypeBytes[type] == 4 ? GPUMEM_U32 : GPUMEM_U64;
  const Contents bin = bins < 3 ? some_rows(type, bins) : values(numbers, 3, static_cast<uint64_t>(bins - 1) / 2);
  const auto index = b.input("index", n * kDtypeBytes[type], bin);
  const auto result = b.result(b.kind_of(counts ? "index" : "x"), bins * cols * 8 * (op == GPUMEM_MIN_MAX ? 2 : 1));
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::read, [=](On on) {
    if (ld != 1) {
      const gpumem_status status = call(on, gpumem_reduce_rows_by_index, gpumem_reduce_rows_by_index_async, ctx, dtype,
                                        op, at(x), n, cols, ld, type, at(index), at(result), bins);
      return status == GPUMEM_EMPTY ? GPUMEM_OK : status;
    }
    const gpumem_status status = call(on, gpumem_reduce_by_index, gpumem_reduce_by_index_async, ctx, dtype, op, at(x),
                                      type, at(index), n, at(result), bins);
    return status == GPUMEM_EMPTY ? GPUMEM_OK : status;  // as for segments
  });
}

}  // namespace tool
