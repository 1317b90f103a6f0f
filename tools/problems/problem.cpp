#include "problems/problem.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "failure.hpp"
#include "text.hpp"

namespace tool {
namespace {

struct Op {
  const char* name;
  gpumem_reduce_op value;
  bool own_function = false;  // gpumem_reduce() does not take it
};
constexpr Op kOps[] = {{"sum", GPUMEM_SUM},
                       {"min", GPUMEM_MIN},
                       {"max", GPUMEM_MAX},
                       {"sum_abs", GPUMEM_SUM_ABS},
                       {"sum_squares", GPUMEM_SUM_SQUARES},
                       {"sum_cubes", GPUMEM_SUM_CUBES},
                       {"max_abs", GPUMEM_MAX_ABS},
                       {"min_max", GPUMEM_MIN_MAX},
                       {"sum_compensated", GPUMEM_SUM_COMPENSATED},
                       {"prod", GPUMEM_PROD},
                       {"sum_valid", GPUMEM_SUM_VALID},
                       {"count_valid", GPUMEM_COUNT_VALID},
                       {"min_valid", GPUMEM_MIN_VALID},
                       {"max_valid", GPUMEM_MAX_VALID},
                       {"sum_order_free", GPUMEM_SUM_ORDER_FREE},
                       {"nrm2_order_free", GPUMEM_NRM2_ORDER_FREE},
                       {"arg_min", GPUMEM_ARG_MIN, true},
                       {"arg_max", GPUMEM_ARG_MAX, true},
                       {"dot", GPUMEM_DOT, true},
                       {"nrm2", GPUMEM_NRM2, true},
                       {"arg_max_abs", GPUMEM_ARG_MAX_ABS, true},
                       {"arg_min_valid", GPUMEM_ARG_MIN_VALID, true},
                       {"arg_max_valid", GPUMEM_ARG_MAX_VALID, true},
                       {"dot_order_free", GPUMEM_DOT_ORDER_FREE, true}};

// The sources of sums and products, and the second operands of dot products. The library refuses larger numbers.
std::vector<std::string> sources_of(const Problem& problem) {
  const bool product = problem.text("op") == "multiply";
  constexpr int64_t kMostTerms = 16;
  constexpr int64_t kMostDots = 3;
  const int64_t terms = product ? 2 : std::min(problem.number("terms", 1), kMostTerms);
  const int64_t dots = product ? 0 : std::min(problem.number("dots", 0), kMostDots);
  std::vector<std::string> keys;
  keys.reserve(kMostTerms + kMostDots);
  for (int i = 0; i < terms; ++i) keys.push_back(format("x%d", i));
  for (int i = 0; i < dots; ++i) keys.push_back(format("w%d", i));
  return keys;
}

std::vector<std::string> operands_of(const Problem& problem) {
  std::vector<std::string> keys;
  switch (static_cast<decltype(GPUMEM_FAMILY_REDUCE)>(family_of(problem.family()))) {
    case GPUMEM_FAMILY_REDUCE:
      keys = {"x"};
      if (problem.text("op") == "dot" || problem.text("op") == "dot_order_free") keys.emplace_back("y");
      break;
    case GPUMEM_FAMILY_REDUCE_AXIS:
      keys = {"x"};
      break;
    case GPUMEM_FAMILY_REDUCE_SEGMENTS:
      keys = {"x", "offsets"};
      break;
    case GPUMEM_FAMILY_REDUCE_BY_INDEX:
      keys = {"x", "index"};
      break;
    case GPUMEM_FAMILY_FILL:
      keys = {"dst"};
      break;
    case GPUMEM_FAMILY_AXPBY:
      keys = {"x", "y", "z"};
      break;
    case GPUMEM_FAMILY_GATHER:
    case GPUMEM_FAMILY_SCATTER:
      keys = {"src", "index", "dst"};
      break;
    case GPUMEM_FAMILY_TRANSPOSE:
    case GPUMEM_FAMILY_COPY:
    case GPUMEM_FAMILY_COPY_BOXES:
    case GPUMEM_FAMILY_CONVERT:
    case GPUMEM_FAMILY_PERMUTE:
    case GPUMEM_FAMILY_RESIZE:
      keys = {"src", "dst"};
      break;
    case GPUMEM_FAMILY_MAP:
      for (const MapOperand& operand : map_operands(problem)) keys.push_back(operand.key);
      break;
    case GPUMEM_FAMILY_SELECT:
      if (problem.number("dst_rows", 1) == 0) {
        keys = {"mask"};
      } else if (problem.text("of") == "places") {
        keys = {"mask", "dst"};
      } else {
        keys = {"src", "mask", "dst"};
      }
      break;
    case GPUMEM_FAMILY_SCAN:
      keys = {"x", "result"};
      if (problem.has("segments")) keys.emplace_back("offsets");
      break;
    case GPUMEM_FAMILY_ARITHMETIC:
      keys = sources_of(problem);
      keys.emplace_back("z");
      break;
    case GPUMEM_FAMILY_SORT:
      keys = {"keys", "order", "sorted"};
      if (problem.has("segments")) keys.emplace_back("offsets");
      break;
  }
  return keys;
}

}  // namespace

Problem::Problem(const std::string& line) {
  std::istringstream words(line);
  words >> family_;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals != std::string::npos) words_[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

std::string Problem::text(const std::string& key, const std::string& missing) const {
  const auto found = words_.find(key);
  return found == words_.end() ? missing : found->second;
}

int64_t Problem::number(const std::string& key, int64_t missing) const {
  return has(key) ? std::strtoll(words_.at(key).c_str(), nullptr, 10) : missing;
}

std::vector<int64_t> Problem::numbers(const std::string& key) const {
  std::string list = text(key);
  std::replace_if(
      list.begin(), list.end(), [](char c) { return c == 'x' || c == ','; }, ' ');
  std::istringstream in(list);
  std::vector<int64_t> values;
  for (int64_t value = 0; in >> value;) values.push_back(value);
  return values;
}

gpumem_dtype Problem::dtype(const std::string& key) const {
  const auto* const found = std::find(std::begin(kDtypes), std::end(kDtypes), text(key));
  if (found == std::end(kDtypes))
    throw Failure(format("'%s=%s' names no element type", key.c_str(), text(key).c_str()));
  return static_cast<gpumem_dtype>(found - std::begin(kDtypes));
}

gpumem_reduce_op Problem::op() const { return reduce_op(text("op")); }

gpumem_reduce_op reduce_op(const std::string& name, bool all) {
  std::string names;
  for (const Op& op : kOps) {
    if (op.own_function && !all) continue;
    if (op.name == name) return op.value;
    names.append(names.empty() ? "" : ", ").append(op.name);
  }
  throw Mistake("'" + name + "' is not a reduction; expected one of " + names);
}

bool is_family(const std::string& name) {
  return std::any_of(std::begin(kFamilies), std::end(kFamilies), [&](const Family& f) { return f.name == name; });
}

gpumem_family family_of(const std::string& name) {
  std::string names;
  for (const Family& family : kFamilies) {
    if (family.name == name) return family.id;
    names.append(names.empty() ? "" : ", ").append(family.name);
  }
  throw Mistake("'" + name + "' is not an operation; expected one of " + names);
}

int64_t product(const std::vector<int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

gpumem_dtype scan_result_type(const Problem& p) {
  if (p.has("result_type")) return p.dtype("result_type");
  const gpumem_dtype dtype = p.dtype("dtype");
  if (dtype >= GPUMEM_F16) return GPUMEM_F64;
  return dtype % 2 == 0 ? GPUMEM_I64 : GPUMEM_U64;
}

int64_t counted_bytes(const Problem& p) {
  const auto n = [&](const char* key) { return p.number(key, 1); };
  const auto size = [&](const char* key) { return kDtypeBytes[p.dtype(key)]; };
  const auto given = [&](const std::string& key) { return p.text(key) == "none" ? 0 : 1; };
  switch (static_cast<decltype(GPUMEM_FAMILY_REDUCE)>(family_of(p.family()))) {
    case GPUMEM_FAMILY_REDUCE:
      return (p.has("extents") ? product(p.numbers("extents")) : n("n")) * size("dtype") *
             (p.op() == GPUMEM_DOT || p.op() == GPUMEM_DOT_ORDER_FREE ? 2 : 1);
    case GPUMEM_FAMILY_REDUCE_AXIS:
      return n("batches") * n("rows") * n("cols") * size("dtype");
    case GPUMEM_FAMILY_REDUCE_SEGMENTS:
      return n("n") * size("dtype");
    case GPUMEM_FAMILY_REDUCE_BY_INDEX:
      return n("n") * (size("index_type") + (given("x") != 0 ? n("cols") * size("dtype") : 0));
    case GPUMEM_FAMILY_TRANSPOSE:
      return 2 * n("batches") * n("rows") * n("cols") * n("bytes");
    case GPUMEM_FAMILY_PERMUTE:
      return 2 * product(p.numbers("extents")) * n("bytes");
    case GPUMEM_FAMILY_COPY_BOXES:
      return 2 * n("count") * product(p.numbers("extents")) * n("bytes");
    case GPUMEM_FAMILY_FILL:
      return n("n") * n("rows") * n("bytes");
    case GPUMEM_FAMILY_COPY:
      return 2 * n("bytes") * n("rows") * n("slices");
    case GPUMEM_FAMILY_AXPBY:
      return (1 + given("x") + given("y")) * n("n") * size("dtype");
    case GPUMEM_FAMILY_CONVERT:
      return n("n") * (size("from") + size("to"));
    case GPUMEM_FAMILY_GATHER:
    case GPUMEM_FAMILY_SCATTER:
      return n("n") * (2 * n("row_bytes") + size("index_type"));
    case GPUMEM_FAMILY_RESIZE:
      return n("batches") * (n("src_rows") * n("src_cols") + n("dst_rows") * n("dst_cols")) * n("channels") *
             size("dtype");
    case GPUMEM_FAMILY_MAP:
      return map_bytes(p);
    case GPUMEM_FAMILY_SORT:
      return n("n") *
             ((1 + given("sorted")) * size("dtype") +
              (given("order") != 0 ? kDtypeBytes[p.has("order_type") ? p.dtype("order_type") : GPUMEM_I64] : 0));
    case GPUMEM_FAMILY_SELECT:  // the command's mask keeps every second row
      return n("n") +
             p.number("dst_rows", n("n")) / 2 * (p.text("of") == "places" ? size("index_type") : 2 * n("row_bytes"));
    case GPUMEM_FAMILY_SCAN:
      return (p.has("extents") ? product(p.numbers("extents")) : n("n")) *
             (size("dtype") + kDtypeBytes[scan_result_type(p)]);
    case GPUMEM_FAMILY_ARITHMETIC:
      break;
  }
  int64_t arrays = 1;
  for (const std::string& key : sources_of(p)) {
    const std::string memory = p.text(key);  // a w can be another operand, which is read once
    const bool again = key.front() == 'w' && !memory.empty() && std::strchr("xzw", memory.front()) != nullptr;
    arrays += again ? 0 : given(key);
  }
  return arrays * product(p.numbers("extents")) * size("dtype");
}

std::string with_operands(const std::string& line) {
  const Problem problem(line);
  std::string whole = line;
  for (const std::string& key : operands_of(problem)) {
    if (!problem.has(key)) whole += " " + key + "=device";
  }
  return whole;
}

std::vector<const char*> variants_of(gpumem_family family) {
  int32_t count = 0;
  check(gpumem_variant_count(family, &count), "counting the variants");
  std::vector<const char*> names(static_cast<std::size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    check(gpumem_variant_name(family, i, &names[static_cast<std::size_t>(i)]), "asking for a variant's name");
  }
  return names;
}

Forced::Forced(gpumem_ctx* ctx, gpumem_family family, const std::string& name) : ctx_(ctx), family_(family) {
  if (!name.empty()) check(gpumem_variant_force(ctx, family, name.c_str()), "forcing a variant");
}

std::string explanation(gpumem_ctx* ctx, const std::string& line, gpumem_format format) {
  int64_t needed = 0;
  try {
    check(gpumem_explain(ctx, line.c_str(), format, nullptr, 0, &needed), "explaining the line");
  } catch (const CallFailure& failure) {
    if (failure.status == GPUMEM_INVALID_ARGUMENT) throw Mistake(failure.reason);
    throw;
  }
  std::string text(static_cast<std::size_t>(needed), '\0');
  check(gpumem_explain(ctx, line.c_str(), format, text.data(), needed, nullptr), "explaining the line");
  text.pop_back();  // the NUL
  return text;
}

Explained explained(gpumem_ctx* ctx, const std::string& line) {
  const auto json = nlohmann::json::parse(explanation(ctx, line, GPUMEM_FORMAT_JSON));
  if (json.value("empty", false)) throw Failure("'" + line + "' has nothing to do");
  return {json.at("line"), json.at("variant"), json.at("chosen_by"), json.at("runs_on") != "host"};
}

}  // namespace tool
