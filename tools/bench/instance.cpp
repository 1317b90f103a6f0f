#include "bench/instance.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "device.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace tool {
namespace {

using Extents = std::vector<int64_t>;

constexpr unsigned char kSpoiled = 0xA5;

// ------------------------------------------------------------------------------------------------------- contents

// A number to reduce, as its bits: integers in [-100, 100] or [0, 200], so that no sum of cubes leaves its type; floating point of
// both signs in [1, 2), so that one element that is missing shows in a sum.
uint64_t value_bits(gpumem_dtype dtype, uint64_t bits) {
  const uint64_t sign = bits >> 63;
  switch (dtype) {
    case GPUMEM_F16:
      return sign << 15 | 0x3C00 | (bits & 0x3FF);
    case GPUMEM_BF16:
      return sign << 15 | 0x3F80 | (bits & 0x7F);
    case GPUMEM_F32:
      return sign << 31 | 0x3F800000 | (bits & 0x7FFFFF);
    case GPUMEM_F64:
      return sign << 63 | 0x3FF0000000000000 | (bits & 0xFFFFFFFFFFFFF);
    default: {
      const bool is_signed = dtype % 2 == 0;
      return (bits >> 32) % 201 - (is_signed ? 100 : 0);
    }
  }
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

Contents values(gpumem_dtype dtype, uint64_t seed) {
  return numbers(kDtypeBytes[dtype],
                 [dtype, seed](uint64_t i) { return value_bits(dtype, mixed_bits(i + (seed << 40))); });
}

Contents any_bits(uint64_t seed) {
  return numbers(8, [seed](uint64_t i) { return mixed_bits(i + (seed << 40)); });
}

// Rows in an order without a pattern; each once, as long as there are enough.
Contents some_rows(gpumem_dtype type, uint64_t rows) {
  uint64_t step = std::max<uint64_t>(1, rows / 8 * 5) | 1;
  while (std::gcd(step, rows) != 1) step += 2;
  return numbers(kDtypeBytes[type], [step, rows](uint64_t i) { return i % rows * step % rows; });
}

// ---------------------------------------------------------------------------------------------------------- views

// Elements from the first to the last one.
int64_t reach(const Extents& extents, const Extents& strides) {
  int64_t last = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) last += (extents[d] - 1) * strides[d];
  return last + 1;
}

Extents row_major(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

int64_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

// -------------------------------------------------------------------------------------------------------- builder

using OperandPtr = std::shared_ptr<Operand>;

// Makes operands, and notes how the output becomes what it was.
class Builder {
 public:
  Builder(gpumem_ctx* context, const Problem& problem, Place place, const Kinds& kinds)
      : ctx(context), p(problem), place_(place), kinds_(kinds) {}

  OperandPtr input(const std::string& key, int64_t bytes, const Contents& contents) {
    auto operand = made(key, kind_of(key), bytes);
    if (operand) operand->fill(contents);
    operands_[key] = {operand, contents};
    return operand;
  }

  // An input whose name is the output's place is written again before each check.
  OperandPtr output(const std::string& key, int64_t bytes) {
    const auto same = operands_.find(p.text(key));
    if (same != operands_.end()) {
      out_.output = same->second.first;
      out_.reset = [operand = out_.output, contents = same->second.second] { operand->fill(contents); };
      return out_.output;
    }
    return result(key, kind_of(key), bytes);
  }

  OperandPtr result(const std::string& key, const std::string& kind, int64_t bytes) {
    out_.output = made(key, place_ == Place::host ? "pageable" : kind, bytes);
    out_.reset = [operand = out_.output] { operand->fill(kSpoiled); };
    operands_[key] = {out_.output, {}};
    return out_.output;
  }

  Instance finish(int64_t bytes, Limit natural, std::function<gpumem_status(bool)> call) {
    out_.bytes = bytes;
    limit(natural);
    out_.call = std::move(call);
    return std::move(out_);
  }

  std::string kind_of(const std::string& key) const {
    if (place_ == Place::host && p.text(key) != "none") return "pageable";
    const auto replaced = kinds_.find(key);
    return replaced != kinds_.end() ? replaced->second : p.text(key);
  }

  gpumem_ctx* const ctx;
  const Problem& p;

 private:
  OperandPtr made(const std::string& key, const std::string& kind, int64_t bytes) const {
    const auto same = operands_.find(p.text(key));
    if (same != operands_.end()) return same->second.first;
    if (kind == "none") return nullptr;
    return std::make_shared<Operand>(ctx, kind, bytes, p.number(key + "_misaligned"));
  }

  // The memory of a device is not what limits work on the host, nor a link what limits more than a copy.
  void limit(Limit natural) {
    out_.limit = natural;
    if (device_of(ctx).backend == GPUMEM_BACKEND_HOST) return;
    int on_host = 0;
    int on_device = 0;
    for (const auto& [key, operand] : operands_) {
      if (operand.first && key != "result") ++(operand.first->on_host() ? on_host : on_device);
    }
    out_.device_only = on_host == 0;
    if (on_host == 0) return;
    if (on_device == 0 || p.family() != "copy") {
      out_.limit = Limit::none;
    } else {
      out_.limit = out_.output->on_host() ? Limit::from_device : Limit::to_device;
    }
  }

  Place place_;
  const Kinds& kinds_;
  std::map<std::string, std::pair<OperandPtr, Contents>> operands_;
  Instance out_;
};

template <class T = void>
T* at(const OperandPtr& operand) {
  return operand ? reinterpret_cast<T*>(operand->get()) : nullptr;
}

// ----------------------------------------------------------------------------------------------------- reductions

// The value, or two of them, and behind it the index.
Instance make_reduce(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  const gpumem_reduce_op op = b.p.op();
  const int64_t size = kDtypeBytes[dtype];
  const int64_t n = b.p.number("n");
  const int64_t stride = b.p.number("stride", 1);
  const int64_t y_stride = b.p.number("y_stride", 1);
  const auto x = b.input("x", ((n - 1) * stride + 1) * size, values(dtype, 1));
  const auto y = op == GPUMEM_DOT ? b.input("y", ((n - 1) * y_stride + 1) * size, values(dtype, 2)) : nullptr;
  const auto result = b.result("result", "pinned", 24);
  gpumem_ctx* const ctx = b.ctx;
  const auto call = [=](bool async) -> gpumem_status {
    auto* const value = at<double>(result);
    auto* const index = at<int64_t>(result) + 2;
    switch (op) {
      case GPUMEM_ARG_MIN:
      case GPUMEM_ARG_MAX:
      case GPUMEM_ARG_MAX_ABS: {
        const gpumem_reduce_op of =
            op == GPUMEM_ARG_MIN ? GPUMEM_MIN : (op == GPUMEM_ARG_MAX ? GPUMEM_MAX : GPUMEM_MAX_ABS);
        return async ? gpumem_argreduce_async(ctx, dtype, of, at(x), n, stride, value, index, nullptr)
                     : gpumem_argreduce(ctx, dtype, of, at(x), n, stride, value, index);
      }
      case GPUMEM_DOT:
        if (dtype == GPUMEM_F32) {
          return async ? gpumem_dot_f32_async(ctx, at<float>(x), at<float>(y), n, stride, y_stride, value, nullptr)
                       : gpumem_dot_f32(ctx, at<float>(x), at<float>(y), n, stride, y_stride, value);
        }
        return async ? gpumem_dot_f64_async(ctx, at<double>(x), at<double>(y), n, stride, y_stride, value, nullptr)
                     : gpumem_dot_f64(ctx, at<double>(x), at<double>(y), n, stride, y_stride, value);
      case GPUMEM_NRM2:
        if (dtype == GPUMEM_F32) {
          return async ? gpumem_nrm2_f32_async(ctx, at<float>(x), n, stride, value, nullptr)
                       : gpumem_nrm2_f32(ctx, at<float>(x), n, stride, value);
        }
        return async ? gpumem_nrm2_f64_async(ctx, at<double>(x), n, stride, value, nullptr)
                     : gpumem_nrm2_f64(ctx, at<double>(x), n, stride, value);
      default:
        return async ? gpumem_reduce_async(ctx, dtype, op, at(x), n, stride, value, nullptr, nullptr)
                     : gpumem_reduce(ctx, dtype, op, at(x), n, stride, value);
    }
  };
  return b.finish(n * size * (op == GPUMEM_DOT ? 2 : 1), Limit::read, call);
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
  const auto x = b.input("x", reach({batches, rows, cols}, {batch_stride, ld, 1}) * size, values(dtype, 1));
  const auto result = b.result("result", b.kind_of("x"), lines * 8 * (op == GPUMEM_MIN_MAX ? 2 : 1));
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(batches * rows * cols * size, Limit::read, [=](bool async) {
    return async ? gpumem_reduce_axis_async(ctx, dtype, op, axis, at(x), rows, cols, ld, batches, batch_stride,
                                            at(result), nullptr, nullptr)
                 : gpumem_reduce_axis(ctx, dtype, op, axis, at(x), rows, cols, ld, batches, batch_stride, at(result));
  });
}

Instance make_reduce_segments(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  const gpumem_reduce_op op = b.p.op();
  const int64_t n = b.p.number("n");
  const int64_t segments = b.p.number("segments");
  const int64_t size = kDtypeBytes[dtype];
  const auto x = b.input("x", n * size, values(dtype, 1));
  const auto offsets = b.input("offsets", (segments + 1) * 8, numbers(8, [n, segments](uint64_t i) {
                                 const auto s = static_cast<int64_t>(i);
                                 return static_cast<uint64_t>(n / segments * s + std::min(s, n % segments));
                               }));
  const auto result = b.result("result", b.kind_of("x"), segments * 8 * (op == GPUMEM_MIN_MAX ? 2 : 1));
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(n * size, Limit::read, [=](bool async) {
    return async ? gpumem_reduce_segments_async(ctx, dtype, op, at(x), n, at<int64_t>(offsets), segments, at(result),
                                                nullptr, nullptr)
                 : gpumem_reduce_segments(ctx, dtype, op, at(x), n, at<int64_t>(offsets), segments, at(result));
  });
}

// ------------------------------------------------------------------------------------------------------- movement

Instance make_transpose(Builder b) {
  const int64_t size = b.p.number("bytes");
  const int64_t rows = b.p.number("rows");
  const int64_t cols = b.p.number("cols");
  const int64_t src_ld = b.p.number("src_ld", cols);
  const int64_t dst_ld = b.p.number("dst_ld", rows);
  const int64_t batches = b.p.number("batches", 1);
  const int64_t src_next = b.p.number("src_batch_stride", batches > 1 ? rows * src_ld : 0);
  const int64_t dst_next = b.p.number("dst_batch_stride", batches > 1 ? cols * dst_ld : 0);
  const auto src = b.input("src", reach({batches, rows, cols}, {src_next, src_ld, 1}) * size, any_bits(1));
  const auto dst = b.output("dst", reach({batches, cols, rows}, {dst_next, dst_ld, 1}) * size);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(2 * batches * rows * cols * size, Limit::copy, [=](bool async) {
    return async ? gpumem_transpose_batched_async(ctx, size, rows, cols, at(src), src_ld, src_next, at(dst), dst_ld,
                                                  dst_next, batches, nullptr)
                 : gpumem_transpose_batched(ctx, size, rows, cols, at(src), src_ld, src_next, at(dst), dst_ld, dst_next,
                                            batches);
  });
}

Instance make_permute(Builder b) {
  const int64_t size = b.p.number("bytes");
  const Extents extents = b.p.numbers("extents");
  const Extents axes = b.p.numbers("order");
  const std::vector<int32_t> order(axes.begin(), axes.end());
  Extents to;
  for (const int32_t axis : order) to.push_back(extents[static_cast<std::size_t>(axis)]);
  const Extents from_strides = b.p.has("src_strides") ? b.p.numbers("src_strides") : row_major(extents);
  const Extents to_strides = b.p.has("dst_strides") ? b.p.numbers("dst_strides") : row_major(to);
  const auto src = b.input("src", reach(extents, from_strides) * size, any_bits(1));
  const auto dst = b.output("dst", reach(to, to_strides) * size);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(2 * product(extents) * size, Limit::copy, [=](bool async) {
    const auto rank = static_cast<int32_t>(extents.size());
    return async ? gpumem_permute_async(ctx, size, rank, extents.data(), order.data(), at(src), from_strides.data(),
                                        at(dst), to_strides.data(), nullptr)
                 : gpumem_permute(ctx, size, rank, extents.data(), order.data(), at(src), from_strides.data(), at(dst),
                                  to_strides.data());
  });
}

Instance make_fill(Builder b) {
  const int64_t size = b.p.number("bytes");
  const int64_t n = b.p.number("n");
  const int64_t rows = b.p.number("rows", 1);
  const int64_t pitch = b.p.number("pitch", n * size);
  std::array<unsigned char, 16> pattern{};
  if (b.p.number("uniform", size == 1 ? 1 : 0) == 0) std::iota(pattern.begin(), pattern.end(), 1);
  const auto dst = b.output("dst", (rows - 1) * pitch + n * size);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(n * rows * size, Limit::write, [=](bool async) {
    return async ? gpumem_fill_2d_async(ctx, at(dst), pitch, pattern.data(), size, n, rows, nullptr)
                 : gpumem_fill_2d(ctx, at(dst), pitch, pattern.data(), size, n, rows);
  });
}

// Over a link the bytes count once.
Instance make_copy(Builder b) {
  const int64_t row = b.p.number("bytes");
  const int64_t rows = b.p.number("rows", 1);
  const int64_t slices = b.p.number("slices", 1);
  const int64_t src_pitch = b.p.number("src_pitch", row);
  const int64_t dst_pitch = b.p.number("dst_pitch", row);
  const int64_t src_slice = b.p.number("src_slice", rows * src_pitch);
  const int64_t dst_slice = b.p.number("dst_slice", rows * dst_pitch);
  const auto src = b.input("src", reach({slices, rows, row}, {src_slice, src_pitch, 1}), any_bits(1));
  const auto dst = b.output("dst", reach({slices, rows, row}, {dst_slice, dst_pitch, 1}));
  gpumem_ctx* const ctx = b.ctx;
  const int64_t times = src->on_host() == dst->on_host() ? 2 : 1;
  return b.finish(times * row * rows * slices, Limit::copy, [=](bool async) {
    return async ? gpumem_copy_3d_async(ctx, at(dst), dst_pitch, dst_slice, at(src), src_pitch, src_slice, row, rows,
                                        slices, nullptr)
                 : gpumem_copy_3d(ctx, at(dst), dst_pitch, dst_slice, at(src), src_pitch, src_slice, row, rows, slices);
  });
}

Instance make_gather(Builder b) {
  const int64_t row = b.p.number("row_bytes");
  const int64_t n = b.p.number("n");
  const int64_t rows = b.p.number("src_rows");
  const int64_t src_pitch = b.p.number("src_pitch", row);
  const int64_t dst_pitch = b.p.number("dst_pitch", row);
  const gpumem_dtype type = b.p.dtype("index_type");
  const auto src = b.input("src", (rows - 1) * src_pitch + row, any_bits(1));
  const auto index = b.input("index", n * kDtypeBytes[type], some_rows(type, static_cast<uint64_t>(rows)));
  const auto dst = b.output("dst", (n - 1) * dst_pitch + row);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(n * (2 * row + kDtypeBytes[type]), Limit::copy, [=](bool async) {
    return async ? gpumem_gather_async(ctx, row, at(src), rows, src_pitch, type, at(index), n, at(dst), dst_pitch,
                                       nullptr, nullptr)
                 : gpumem_gather(ctx, row, at(src), rows, src_pitch, type, at(index), n, at(dst), dst_pitch);
  });
}

Instance make_scatter(Builder b) {
  const int64_t row = b.p.number("row_bytes");
  const int64_t n = b.p.number("n");
  const int64_t rows = b.p.number("dst_rows");
  if (n > rows) throw Failure("more rows are scattered than there are: which of them stay is not defined");
  const int64_t src_pitch = b.p.number("src_pitch", row);
  const int64_t dst_pitch = b.p.number("dst_pitch", row);
  const gpumem_dtype type = b.p.dtype("index_type");
  const auto src = b.input("src", (n - 1) * src_pitch + row, any_bits(1));
  const auto index = b.input("index", n * kDtypeBytes[type], some_rows(type, static_cast<uint64_t>(rows)));
  const auto dst = b.output("dst", (rows - 1) * dst_pitch + row);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(n * (2 * row + kDtypeBytes[type]), Limit::copy, [=](bool async) {
    return async ? gpumem_scatter_async(ctx, row, at(src), src_pitch, type, at(index), n, at(dst), rows, dst_pitch,
                                        nullptr, nullptr)
                 : gpumem_scatter(ctx, row, at(src), src_pitch, type, at(index), n, at(dst), rows, dst_pitch);
  });
}

// ---------------------------------------------------------------------------------------------------- elementwise

Instance make_axpby(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  const int64_t n = b.p.number("n");
  const int64_t size = kDtypeBytes[dtype];
  const auto x = b.input("x", n * size, values(dtype, 1));
  const auto y = b.input("y", n * size, values(dtype, 2));
  const auto z = b.output("z", n * size);
  const double alpha = x ? 0.5 : 0;
  const double beta = y ? -0.25 : 0;
  gpumem_ctx* const ctx = b.ctx;
  const int64_t arrays = 1 + (x ? 1 : 0) + (y ? 1 : 0);
  return b.finish(arrays * n * size, Limit::copy, [=](bool async) {
    if (dtype == GPUMEM_F32) {
      const auto a = static_cast<float>(alpha);
      const auto c = static_cast<float>(beta);
      return async ? gpumem_axpby_f32_async(ctx, a, at<float>(x), c, at<float>(y), at<float>(z), n, nullptr)
                   : gpumem_axpby_f32(ctx, a, at<float>(x), c, at<float>(y), at<float>(z), n);
    }
    return async ? gpumem_axpby_f64_async(ctx, alpha, at<double>(x), beta, at<double>(y), at<double>(z), n, nullptr)
                 : gpumem_axpby_f64(ctx, alpha, at<double>(x), beta, at<double>(y), at<double>(z), n);
  });
}

Instance make_convert(Builder b) {
  const gpumem_dtype from = b.p.dtype("from");
  const gpumem_dtype to = b.p.dtype("to");
  const int64_t n = b.p.number("n");
  const auto src = b.input("src", n * kDtypeBytes[from], values(from, 1));
  const auto dst = b.output("dst", n * kDtypeBytes[to]);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(n * (kDtypeBytes[from] + kDtypeBytes[to]), Limit::copy, [=](bool async) {
    return async ? gpumem_convert_async(ctx, from, at(src), to, at(dst), n, nullptr)
                 : gpumem_convert(ctx, from, at(src), to, at(dst), n);
  });
}

// The sources of a lincomb or a multiply, in the types of its arrays.
template <class T>
struct Sources {
  std::vector<OperandPtr> operands;
  std::vector<const T*> x;
  std::vector<T> factors;
  Extents strides;
};

// Calls whichever form of the function of type T there is.
gpumem_status lincomb(gpumem_ctx* ctx, const Extents& e, const Sources<float>& s, float* z, const Extents& zs,
                      bool async) {
  const auto rank = static_cast<int32_t>(e.size());
  const auto terms = static_cast<int32_t>(s.x.size());
  return async ? gpumem_lincomb_f32_async(ctx, rank, e.data(), terms, s.factors.data(), s.x.data(), s.strides.data(), z,
                                          zs.data(), nullptr)
               : gpumem_lincomb_f32(ctx, rank, e.data(), terms, s.factors.data(), s.x.data(), s.strides.data(), z,
                                    zs.data());
}
gpumem_status lincomb(gpumem_ctx* ctx, const Extents& e, const Sources<double>& s, double* z, const Extents& zs,
                      bool async) {
  const auto rank = static_cast<int32_t>(e.size());
  const auto terms = static_cast<int32_t>(s.x.size());
  return async ? gpumem_lincomb_f64_async(ctx, rank, e.data(), terms, s.factors.data(), s.x.data(), s.strides.data(), z,
                                          zs.data(), nullptr)
               : gpumem_lincomb_f64(ctx, rank, e.data(), terms, s.factors.data(), s.x.data(), s.strides.data(), z,
                                    zs.data());
}
gpumem_status multiply(gpumem_ctx* ctx, const Extents& e, const Sources<float>& s, float* z, const Extents& zs,
                       bool async) {
  const auto rank = static_cast<int32_t>(e.size());
  const int64_t* const y_strides = s.strides.data() + rank;
  return async ? gpumem_multiply_f32_async(ctx, rank, e.data(), s.x[0], s.strides.data(), s.x[1], y_strides, z,
                                           zs.data(), nullptr)
               : gpumem_multiply_f32(ctx, rank, e.data(), s.x[0], s.strides.data(), s.x[1], y_strides, z, zs.data());
}
gpumem_status multiply(gpumem_ctx* ctx, const Extents& e, const Sources<double>& s, double* z, const Extents& zs,
                       bool async) {
  const auto rank = static_cast<int32_t>(e.size());
  const int64_t* const y_strides = s.strides.data() + rank;
  return async ? gpumem_multiply_f64_async(ctx, rank, e.data(), s.x[0], s.strides.data(), s.x[1], y_strides, z,
                                           zs.data(), nullptr)
               : gpumem_multiply_f64(ctx, rank, e.data(), s.x[0], s.strides.data(), s.x[1], y_strides, z, zs.data());
}

template <class T>
Instance make_arithmetic(Builder b, gpumem_dtype dtype) {
  const Extents extents = b.p.numbers("extents");
  const Extents z_strides = b.p.has("z_strides") ? b.p.numbers("z_strides") : row_major(extents);
  const bool is_product = b.p.text("op") == "multiply";
  const int64_t terms = is_product ? 2 : b.p.number("terms");
  Sources<T> sources;
  int64_t read = 0;
  for (int64_t i = 0; i < terms; ++i) {
    const std::string key = format("x%d", static_cast<int>(i));
    const Extents strides = b.p.has(key + "_strides") ? b.p.numbers(key + "_strides") : z_strides;
    const auto x = b.input(key, reach(extents, strides) * kDtypeBytes[dtype], values(dtype, static_cast<uint64_t>(i)));
    sources.operands.push_back(x);
    sources.x.push_back(at<T>(x));
    sources.factors.push_back(x ? static_cast<T>(0.5) - static_cast<T>(i) : T{0});
    sources.strides.insert(sources.strides.end(), strides.begin(), strides.end());
    read += x ? 1 : 0;
  }
  const auto z = b.output("z", reach(extents, z_strides) * kDtypeBytes[dtype]);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish((read + 1) * product(extents) * kDtypeBytes[dtype], Limit::copy, [=](bool async) {
    return is_product ? multiply(ctx, extents, sources, at<T>(z), z_strides, async)
                      : lincomb(ctx, extents, sources, at<T>(z), z_strides, async);
  });
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
  const auto src = b.input("src", (src_rows - 1) * src_pitch + src_cols * pixel, values(dtype, 1));
  const auto dst = b.output("dst", (dst_rows - 1) * dst_pitch + dst_cols * pixel);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish((src_rows * src_cols + dst_rows * dst_cols) * pixel, Limit::copy, [=](bool async) {
    return async ? gpumem_resize_2d_async(ctx, filter, dtype, channels, at(src), src_rows, src_cols, src_pitch, at(dst),
                                          dst_rows, dst_cols, dst_pitch, nullptr)
                 : gpumem_resize_2d(ctx, filter, dtype, channels, at(src), src_rows, src_cols, src_pitch, at(dst),
                                    dst_rows, dst_cols, dst_pitch);
  });
}

Instance make_any_arithmetic(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  return dtype == GPUMEM_F32 ? make_arithmetic<float>(std::move(b), dtype)
                             : make_arithmetic<double>(std::move(b), dtype);
}

}  // namespace

Instance make_instance(gpumem_ctx* ctx, const Problem& problem, Place place, const Kinds& kinds) {
  static const std::map<std::string, Instance (*)(Builder)> kMakers = {
      {"reduce", make_reduce},
      {"reduce_axis", make_reduce_axis},
      {"reduce_segments", make_reduce_segments},
      {"transpose", make_transpose},
      {"permute", make_permute},
      {"fill", make_fill},
      {"copy", make_copy},
      {"axpby", make_axpby},
      {"convert", make_convert},
      {"gather", make_gather},
      {"scatter", make_scatter},
      {"resize", make_resize},
      {"arithmetic", make_any_arithmetic},
  };
  const auto maker = kMakers.find(problem.family());
  if (maker == kMakers.end()) throw Failure("'" + problem.family() + "' can't be run by the command");
  return maker->second(Builder(ctx, problem, place, kinds));
}

}  // namespace tool
