#include "bench/problem.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "explain.hpp"
#include "failure.hpp"
#include "text.hpp"
#include "variants.hpp"

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
                       {"arg_min", GPUMEM_ARG_MIN, true},
                       {"arg_max", GPUMEM_ARG_MAX, true},
                       {"dot", GPUMEM_DOT, true},
                       {"nrm2", GPUMEM_NRM2, true},
                       {"arg_max_abs", GPUMEM_ARG_MAX_ABS, true}};

std::vector<std::string> operands_of(const Problem& problem) {
  const std::string& family = problem.family();
  if (family == "reduce" && problem.text("op") == "dot") return {"x", "y"};
  if (family == "reduce" || family == "reduce_axis") return {"x"};
  if (family == "reduce_segments") return {"x", "offsets"};
  if (family == "fill") return {"dst"};
  if (family == "axpby") return {"x", "y", "z"};
  if (family == "gather" || family == "scatter") return {"src", "index", "dst"};
  if (family != "arithmetic") return {"src", "dst"};
  std::vector<std::string> keys;
  const int64_t terms = problem.text("op") == "multiply" ? 2 : problem.number("terms", 1);
  for (int64_t i = 0; i < std::min<int64_t>(terms, 8); ++i) keys.push_back(format("x%d", static_cast<int>(i)));
  keys.emplace_back("z");
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
  throw Mistake("'" + name + "' is no reduction here; there are " + names);
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
  throw Mistake("'" + name + "' is no family of operations; there are " + names);
}

std::string with_operands(const std::string& line) {
  const Problem problem(line);
  family_of(problem.family());
  std::string whole = line;
  for (const std::string& key : operands_of(problem)) {
    if (!problem.has(key)) whole += " " + key + "=device";
  }
  return whole;
}

Explained explained(gpumem_ctx* ctx, const std::string& line) {
  const auto json = nlohmann::json::parse(explanation(ctx, line, GPUMEM_FORMAT_JSON));
  if (json.value("empty", false)) throw Failure("'" + line + "' has nothing to do");
  return {json.at("line"), json.at("variant"), json.at("chosen_by"), json.at("runs_on") != "host"};
}

}  // namespace tool
