// Elementwise functions, comparisons, selections and scaled conversions as calls.
#include <algorithm>
#include <array>
#include <utility>

#include "failure.hpp"
#include "problems/builder.hpp"
#include "text.hpp"

namespace tool {
namespace {

// By gpumem_map_op, whose numbers have a gap, and by gpumem_compare_op.
constexpr std::array kFunctions = {"negate",     "absolute", "reciprocal", "square_root",
                                   "floor",      "ceil",     "truncate",   "round",
                                   "not",        "",         "",           "",
                                   "",           "",         "",           "",
                                   "add",        "subtract", "multiply",   "divide",
                                   "remainder",  "minimum",  "maximum",    "copy_sign",
                                   "and",        "or",       "xor",        "shift_left",
                                   "shift_right"};
constexpr std::array kComparisons = {"less", "less_equal", "equal", "not_equal", "greater_equal", "greater"};

template <class Names>
int32_t number_of(const Names& names, const std::string& name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw Failure("'op=" + name + "' names no function");
  return static_cast<int32_t>(found - names.begin());
}

struct Views {
  Extents extents;
  std::vector<OperandPtr> p;
  std::vector<Extents> strides;

  int32_t rank() const { return static_cast<int32_t>(extents.size()); }
};

// The bytes that a view reads or writes; a repeated element counts once.
int64_t view_bytes(const Problem& p, const MapOperand& operand) {
  if (p.text(operand.key) == "none") return 0;
  const Extents extents = p.numbers("extents");
  Extents strides = row_major(extents);
  if (p.has(operand.key + "_strides")) {
    strides = p.numbers(operand.key + "_strides");
  } else if (operand.key == "scale" || operand.key == "offset") {
    strides.assign(extents.size(), 0);
  }
  int64_t bytes = operand.bytes;
  for (std::size_t d = 0; d < extents.size(); ++d) bytes *= strides[d] != 0 ? extents[d] : 1;
  return bytes;
}

// Numbers, of which no integer is 0 in most arrays. A mask has every byte.
Contents contents_of(const Problem& p, const MapOperand& operand, uint64_t seed) {
  if (operand.key == "mask") return values(GPUMEM_U8, seed);
  if (operand.key == "scale" || operand.key == "offset") return values(GPUMEM_F64, seed);
  if (p.text("kind") == "where") return elements(static_cast<int>(operand.bytes));
  return values(p.dtype(p.has("from") ? "from" : "dtype"), seed);
}

}  // namespace

std::vector<MapOperand> map_operands(const Problem& p) {
  const std::string kind = p.text("kind");
  if (kind == "where") {
    const int64_t bytes = p.number("bytes");
    return {{"mask", 1}, {"x", bytes}, {"y", bytes}, {"z", bytes}};
  }
  if (kind == "convert_scaled") {
    return {{"src", kDtypeBytes[p.dtype("from")]}, {"scale", 8}, {"offset", 8}, {"dst", kDtypeBytes[p.dtype("to")]}};
  }
  const int64_t bytes = kDtypeBytes[p.dtype()];
  if (kind == "compare") return {{"x", bytes}, {"y", bytes}, {"mask", 1}};
  if (number_of(kFunctions, p.text("op")) < GPUMEM_MAP_ADD) return {{"x", bytes}, {"z", bytes}};
  return {{"x", bytes}, {"y", bytes}, {"z", bytes}};
}

int64_t map_bytes(const Problem& p) {
  int64_t bytes = 0;
  for (const MapOperand& operand : map_operands(p)) bytes += view_bytes(p, operand);
  return bytes;
}

Instance make_map(Builder b) {
  const std::vector<MapOperand> operands = map_operands(b.p);
  Views v{b.p.numbers("extents"), {}, {}};
  for (const MapOperand& operand : operands) {
    const bool factor = operand.key == "scale" || operand.key == "offset";
    Extents strides = factor ? Extents(v.extents.size(), 0) : row_major(v.extents);
    if (b.p.has(operand.key + "_strides")) strides = b.p.numbers(operand.key + "_strides");
    const int64_t bytes = reach(v.extents, strides) * operand.bytes;
    v.strides.push_back(strides);
    if (&operand == &operands.back()) {
      v.p.push_back(b.output(operand.key, bytes));
    } else {
      v.p.push_back(b.input(operand.key, bytes, contents_of(b.p, operand, v.p.size())));
    }
  }
  gpumem_ctx* const ctx = b.ctx;
  const std::string kind = b.p.text("kind");
  const auto strides = [](const Views& of, std::size_t k) { return of.strides[k].data(); };
  if (kind == "compare") {
    const int32_t op = number_of(kComparisons, b.p.text("op"));
    const gpumem_dtype dtype = b.p.dtype();
    return b.finish(Limit::copy, [=](On on) {
      return call(on, gpumem_compare, gpumem_compare_async, ctx, op, dtype, v.rank(), v.extents.data(), at(v.p[0]),
                  strides(v, 0), at(v.p[1]), strides(v, 1), at<uint8_t>(v.p[2]), strides(v, 2));
    });
  }
  if (kind == "where") {
    const int64_t bytes = b.p.number("bytes");
    return b.finish(Limit::copy, [=](On on) {
      return call(on, gpumem_where, gpumem_where_async, ctx, bytes, v.rank(), v.extents.data(), at<uint8_t>(v.p[0]),
                  strides(v, 0), at(v.p[1]), strides(v, 1), at(v.p[2]), strides(v, 2), at(v.p[3]), strides(v, 3));
    });
  }
  if (kind == "convert_scaled") {
    const gpumem_dtype from = b.p.dtype("from");
    const gpumem_dtype to = b.p.dtype("to");
    return b.finish(Limit::copy, [=](On on) {
      return call(on, gpumem_convert_scaled, gpumem_convert_scaled_async, ctx, v.rank(), v.extents.data(), from,
                  at(v.p[0]), strides(v, 0), at<double>(v.p[1]), strides(v, 1), at<double>(v.p[2]), strides(v, 2), 0.0,
                  to, at(v.p[3]), strides(v, 3));
    });
  }
  const int32_t op = number_of(kFunctions, b.p.text("op"));
  const gpumem_dtype dtype = b.p.dtype();
  const bool two = v.p.size() == 3;
  return b.finish(Limit::copy, [=](On on) {
    return call(on, gpumem_map, gpumem_map_async, ctx, op, dtype, v.rank(), v.extents.data(), at(v.p[0]), strides(v, 0),
                two ? at(v.p[1]) : nullptr, two ? strides(v, 1) : nullptr, at(v.p.back()), strides(v, v.p.size() - 1));
  });
}

}  // namespace tool
