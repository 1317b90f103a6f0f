// What gpumem_explain() says, as text, as JSON, and read back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "support/status.hpp"

namespace gpumem_test {

// The variants of a family, of all backends, in table order.
inline std::vector<std::string> variant_names(gpumem_family family) {
  int32_t count = 0;
  EXPECT_TRUE(ok(gpumem_variant_count(family, &count)));
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    EXPECT_TRUE(ok(gpumem_variant_name(family, i, &name)));
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

inline gpumem_problem problem_of(gpumem_family family) {
  gpumem_problem problem;
  EXPECT_TRUE(ok(gpumem_problem_init(&problem, sizeof problem)));
  problem.family = family;
  return problem;
}

inline gpumem_problem reduce_problem(gpumem_reduce_op op, const void* x, int64_t n, int64_t stride) {
  gpumem_problem problem = problem_of(GPUMEM_FAMILY_REDUCE);
  problem.dtype = GPUMEM_I32;
  problem.op = op;
  problem.src = x;
  problem.n = n;
  problem.src_stride = stride;
  return problem;
}

inline gpumem_problem transpose_problem(int64_t element_bytes, int64_t rows, int64_t cols, const void* src,
                                        int64_t src_ld, void* dst, int64_t dst_ld) {
  gpumem_problem problem = problem_of(GPUMEM_FAMILY_TRANSPOSE);
  problem.element_bytes = element_bytes;
  problem.rows = rows;
  problem.cols = cols;
  problem.src = src;
  problem.src_stride = src_ld;
  problem.dst = dst;
  problem.dst_stride = dst_ld;
  return problem;
}

inline gpumem_problem fill_problem(void* dst, int64_t pattern_bytes, int64_t count) {
  gpumem_problem problem = problem_of(GPUMEM_FAMILY_FILL);
  problem.element_bytes = pattern_bytes;
  problem.dst = dst;
  problem.n = count;
  return problem;
}

inline gpumem_problem permute_problem(int64_t element_bytes, int32_t rank, const int64_t* extents, const int32_t* order,
                                      const void* src, const int64_t* src_strides, void* dst,
                                      const int64_t* dst_strides) {
  gpumem_problem problem = problem_of(GPUMEM_FAMILY_PERMUTE);
  problem.element_bytes = element_bytes;
  problem.rank = rank;
  problem.extents = extents;
  problem.order = order;
  problem.src = src;
  problem.src_strides = src_strides;
  problem.dst = dst;
  problem.dst_strides = dst_strides;
  return problem;
}

inline gpumem_problem copy_problem(void* dst, const void* src, int64_t bytes) {
  gpumem_problem problem = problem_of(GPUMEM_FAMILY_COPY);
  problem.dst = dst;
  problem.src = src;
  problem.n = bytes;
  return problem;
}

inline gpumem_status explain(gpumem_ctx* ctx, const gpumem_problem& problem, gpumem_format format, std::string& text) {
  int64_t needed = 0;
  const gpumem_status sized = gpumem_explain(ctx, &problem, format, nullptr, 0, &needed);
  if (sized != GPUMEM_OK) return sized;
  text.assign(static_cast<size_t>(needed), '\0');
  const gpumem_status written = gpumem_explain(ctx, &problem, format, text.data(), needed, nullptr);
  text.resize(text.size() - 1);
  return written;
}

// The JSON form read back: the variant in use, and why each other one is not.
struct Explained {
  std::string variant;
  std::map<std::string, std::string> not_taken;
  Json json;
};

inline gpumem_status explain(gpumem_ctx* ctx, const gpumem_problem& problem, Explained& explained) {
  std::string text;
  const gpumem_status status = explain(ctx, problem, GPUMEM_FORMAT_JSON, text);
  if (status != GPUMEM_OK) return status;
  std::optional<Json> json = parse_json(text);
  EXPECT_TRUE(json.has_value()) << "no JSON: " << text;
  if (!json) return status;
  explained.json = *json;
  explained.variant = json->member("variant").text;
  for (const Json& row : json->member("not_taken").items) {
    explained.not_taken[row.member("variant").text] = row.member("reason").text;
  }
  return status;
}

}  // namespace gpumem_test
