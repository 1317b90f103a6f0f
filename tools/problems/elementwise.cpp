// Elementwise operations as calls.
#include <utility>

#include "problems/builder.hpp"
#include "text.hpp"

namespace tool {

Instance make_axpby(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  const int64_t n = b.p.number("n");
  const int64_t size = kDtypeBytes[dtype];
  const auto x = b.input("x", n * size, values(dtype, 1));
  const auto y = b.input("y", n * size, values(dtype, 2));
  const auto z = b.output("z", n * size);
  // 0.5 x + y in place, else x + 0.5 y. Products by 0.5 are exact, so a baseline that fuses gives the same bits.
  const bool in_place = z == y;
  const double alpha = !x ? 0 : in_place ? 0.5 : 1;
  const double beta = !y ? 0 : in_place ? 1 : 0.5;
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    if (dtype == GPUMEM_F32) {
      const auto a = static_cast<float>(alpha);
      const auto c = static_cast<float>(beta);
      return call(on, gpumem_axpby_f32, gpumem_axpby_f32_async, ctx, a, at<float>(x), c, at<float>(y), at<float>(z), n);
    }
    return call(on, gpumem_axpby_f64, gpumem_axpby_f64_async, ctx, alpha, at<double>(x), beta, at<double>(y),
                at<double>(z), n);
  });
}

Instance make_convert(Builder b) {
  const gpumem_dtype from = b.p.dtype("from");
  const gpumem_dtype to = b.p.dtype("to");
  const int64_t n = b.p.number("n");
  const auto src = b.input("src", n * kDtypeBytes[from], values(from, 1));
  const auto dst = b.output("dst", n * kDtypeBytes[to]);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    return call(on, gpumem_convert, gpumem_convert_async, ctx, from, at(src), to, at(dst), n);
  });
}

Instance make_scan(Builder b) {
  const gpumem_dtype dtype = b.p.dtype("dtype");
  const gpumem_dtype result_type = scan_result_type(b.p);
  const gpumem_reduce_op op = b.p.op();
  const auto exclusive = static_cast<int32_t>(b.p.number("exclusive", 0));
  const bool viewed = b.p.has("extents");
  const Extents extents = viewed ? b.p.numbers("extents") : Extents{b.p.number("n")};
  const auto strides_of = [&](const char* key) { return b.p.has(key) ? b.p.numbers(key) : row_major(extents); };
  const Extents strides = strides_of("x_strides");
  const Extents to_strides = strides_of("result_strides");
  const auto rank = static_cast<int32_t>(extents.size());
  const auto axis = static_cast<int32_t>(b.p.number("axis", rank - 1));
  const int64_t segments = b.p.number("segments", 0);
  const Contents content = values(dtype, 1, kDtypeBytes[result_type] < 4 ? 1 : 100);
  const auto x = b.input("x", reach(extents, strides) * kDtypeBytes[dtype], content);
  const auto offsets =
      segments > 0 ? b.input("offsets", (segments + 1) * 8, even_offsets(extents[0], segments)) : nullptr;
  const auto result = b.output("result", reach(extents, to_strides) * kDtypeBytes[result_type]);
  gpumem_ctx* const ctx = b.ctx;
  const auto scan = [=](On on) {
    if (viewed) {
      return call(on, gpumem_scan_axis, gpumem_scan_axis_async, ctx, dtype, op, exclusive, rank, extents.data(), axis,
                  at(x), strides.data(), at(result), to_strides.data(), result_type);
    }
    if (segments > 0) {
      return call(on, gpumem_scan_segments, gpumem_scan_segments_async, ctx, dtype, op, exclusive, at(x), extents[0],
                  at<int64_t>(offsets), segments, at(result), result_type);
    }
    return call(on, gpumem_scan, gpumem_scan_async, ctx, dtype, op, exclusive, at(x), extents[0], at(result),
                result_type);
  };
  return b.finish(Limit::copy, [scan](On on) {
    const gpumem_status status = scan(on);
    return status == GPUMEM_OVERFLOW ? GPUMEM_OK : status;  // every variant writes the same values
  });
}

namespace {

template <class T>
struct Sources {
  std::vector<OperandPtr> operands;
  std::vector<const T*> x;
  std::vector<T> factors;
  Extents strides;
  OperandPtr numbers;  // of factors in memory
  std::vector<const double*> numerators;
  std::vector<OperandPtr> of_w;
  std::vector<const T*> w;
  std::vector<int64_t> w_strides;
  OperandPtr results;
};

// Of two functions, the one for elements of T.
template <class T, class F32, class F64>
constexpr auto of_type(F32 f32, F64 f64) {
  if constexpr (std::is_same_v<T, float>) {
    return f32;
  } else {
    return f64;
  }
}

// The second operands of dot products. z itself is NULL.
template <class T>
void add_dots(Builder& b, gpumem_dtype dtype, const Extents& extents, const Extents& z_strides, Sources<T>& sources) {
  const int64_t dots = b.p.number("dots", 0);
  for (int64_t i = 0; i < dots; ++i) {
    const std::string key = format("w%d", static_cast<int>(i));
    const Extents strides = b.p.has(key + "_strides") ? b.p.numbers(key + "_strides") : z_strides;
    const bool is_z = b.p.text(key) == "z";
    sources.of_w.push_back(is_z ? nullptr
                                : b.input(key, reach(extents, strides) * kDtypeBytes[dtype],
                                          values(dtype, static_cast<uint64_t>(20 + i))));
    sources.w.push_back(at<T>(sources.of_w.back()));
    sources.w_strides.insert(sources.w_strides.end(), strides.begin(), strides.end());
  }
  if (dots > 0) sources.results = b.result("pinned", dots * 8);
}

template <class T>
Instance arithmetic_of(Builder b, gpumem_dtype dtype) {
  const Extents extents = b.p.numbers("extents");
  const Extents z_strides = b.p.has("z_strides") ? b.p.numbers("z_strides") : row_major(extents);
  const bool is_product = b.p.text("op") == "multiply";
  const int64_t terms = is_product ? 2 : b.p.number("terms");
  const int64_t in_memory = b.p.number("factors_in_memory");
  Sources<T> sources;
  if (in_memory != 0) {
    sources.numbers = std::make_shared<Operand>(b.ctx, b.kind_of("z"), terms * 8, 0);
    sources.numbers->fill(values(GPUMEM_F64, 1));
  }
  for (int64_t i = 0; i < terms; ++i) {
    const std::string key = format("x%d", static_cast<int>(i));
    const Extents strides = b.p.has(key + "_strides") ? b.p.numbers(key + "_strides") : z_strides;
    const auto x = b.input(key, reach(extents, strides) * kDtypeBytes[dtype], values(dtype, static_cast<uint64_t>(i)));
    sources.operands.push_back(x);
    sources.x.push_back(at<T>(x));
    sources.factors.push_back(x ? static_cast<T>(0.5) - static_cast<T>(i) : T{0});
    sources.numerators.push_back((in_memory >> i & 1) != 0 ? at<double>(sources.numbers) + i : nullptr);
    sources.strides.insert(sources.strides.end(), strides.begin(), strides.end());
  }
  add_dots(b, dtype, extents, z_strides, sources);
  const auto z = b.output("z", reach(extents, z_strides) * kDtypeBytes[dtype]);
  gpumem_ctx* const ctx = b.ctx;
  const auto rank = static_cast<int32_t>(extents.size());
  const auto count = static_cast<int32_t>(terms);
  return b.finish(Limit::copy, [=](On on) {
    const Sources<T>& s = sources;
    const double* const* const denominators = nullptr;
    if (s.results) {
      return call(on, of_type<T>(gpumem_lincomb_dot_f32, gpumem_lincomb_dot_f64),
                  of_type<T>(gpumem_lincomb_dot_f32_async, gpumem_lincomb_dot_f64_async), ctx, rank, extents.data(),
                  count, s.factors.data(), s.numerators.data(), denominators, s.x.data(), s.strides.data(), at<T>(z),
                  z_strides.data(), static_cast<int32_t>(s.w.size()), s.w.data(), s.w_strides.data(),
                  at<double>(s.results));
    }
    if (s.numbers) {
      return call(on, of_type<T>(gpumem_lincomb_at_f32, gpumem_lincomb_at_f64),
                  of_type<T>(gpumem_lincomb_at_f32_async, gpumem_lincomb_at_f64_async), ctx, rank, extents.data(),
                  count, s.factors.data(), s.numerators.data(), denominators, s.x.data(), s.strides.data(), at<T>(z),
                  z_strides.data());
    }
    if (is_product) {
      return call(on, of_type<T>(gpumem_multiply_f32, gpumem_multiply_f64),
                  of_type<T>(gpumem_multiply_f32_async, gpumem_multiply_f64_async), ctx, rank, extents.data(), s.x[0],
                  s.strides.data(), s.x[1], s.strides.data() + rank, at<T>(z), z_strides.data());
    }
    return call(on, of_type<T>(gpumem_lincomb_f32, gpumem_lincomb_f64),
                of_type<T>(gpumem_lincomb_f32_async, gpumem_lincomb_f64_async), ctx, rank, extents.data(), count,
                s.factors.data(), s.x.data(), s.strides.data(), at<T>(z), z_strides.data());
  });
}

}  // namespace

Instance make_arithmetic(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  return dtype == GPUMEM_F32 ? arithmetic_of<float>(std::move(b), dtype) : arithmetic_of<double>(std::move(b), dtype);
}

Instance make_resize(Builder b) {
  const gpumem_filter filter = b.p.text("filter") == "nearest" ? GPUMEM_FILTER_NEAREST : GPUMEM_FILTER_BILINEAR;
  const gpumem_dtype dtype = b.p.dtype();
  const auto channels = static_cast<int32_t>(b.p.number("channels", 1));
  const int64_t pixel = channels * kDtypeBytes[dtype];
  const int64_t src_rows = b.p.number("src_rows");
  const int64_t src_cols = b.p.number("src_cols");
  const int64_t dst_rows = b.p.number("dst_rows");
  const int64_t dst_cols = b.p.number("dst_cols");
  const int64_t src_pitch = b.p.number("src_pitch", src_cols * pixel);
  const int64_t dst_pitch = b.p.number("dst_pitch", dst_cols * pixel);
  const int64_t batches = b.p.number("batches", 1);
  const int64_t stride = b.p.number("dst_image_stride", dst_rows * dst_pitch);
  const auto src = b.input("src", (batches * src_rows - 1) * src_pitch + src_cols * pixel, values(dtype, 1));
  const auto dst = b.output("dst", (batches - 1) * stride + (dst_rows - 1) * dst_pitch + dst_cols * pixel);
  gpumem_ctx* const ctx = b.ctx;
  if (batches != 1) {  // equal images, one after another
    std::vector<const void*> images;
    for (int64_t k = 0; k < batches; ++k) images.push_back(at<const char>(src) + k * src_rows * src_pitch);
    const Extents rows(images.size(), src_rows), cols(images.size(), src_cols), pitches(images.size(), src_pitch);
    return b.finish(Limit::copy, [=](On on) {
      return call(on, gpumem_resize_2d_batch, gpumem_resize_2d_batch_async, ctx, filter, dtype, channels, batches,
                  images.data(), rows.data(), cols.data(), pitches.data(), at(dst), dst_rows, dst_cols, dst_pitch,
                  stride);
    });
  }
  return b.finish(Limit::copy, [=](On on) {
    return call(on, gpumem_resize_2d, gpumem_resize_2d_async, ctx, filter, dtype, channels, at(src), src_rows, src_cols,
                src_pitch, at(dst), dst_rows, dst_cols, dst_pitch);
  });
}

}  // namespace tool
