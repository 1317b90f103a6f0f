// gpumem compare: two files of `gpumem bench --json`, row by row.
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "json_file.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr double kTolerated = 1.05;

struct Times {
  double median = 0;
  double q1 = 0;
  double q3 = 0;
};

using Label = std::pair<std::string, std::string>;  // group and label

struct Run {
  std::vector<Label> order;
  std::map<Label, Times> rows;
};

Run read_run(const std::string& path) {
  const auto json = read_json(path, "gpumem.bench/1", "no results of gpumem bench --json");
  Run run;
  try {
    for (const auto& row : json.at("rows")) {
      if (!row.at("skipped").is_null()) continue;
      const Label label(row.at("group"), row.at("label"));
      if (row.at("verified") == false)
        throw Failure(path + ": '" + label.second + "' is wrong, and its time means nothing");
      run.order.push_back(label);
      run.rows[label] = {row.at("median_us"), row.at("q1_us"), row.at("q3_us")};
    }
  } catch (const nlohmann::json::exception& error) {
    throw Failure(path + ": a row is not as it should be: " + error.what());
  }
  return run;
}

// Beyond 5 %, and beyond what both runs scatter.
bool slower(const Times& a, const Times& b) { return b.median > kTolerated * a.median && b.q1 > a.q3; }

const char* verdict(const Times& a, const Times& b) {
  if (slower(a, b)) return "slower";
  return slower(b, a) ? "faster" : "";
}

}  // namespace

int run_compare(const CompareOptions& options) {
  const Run before = read_run(options.before);
  const Run after = read_run(options.after);
  nlohmann::ordered_json json = {
      {"before", options.before}, {"after", options.after}, {"rows", nlohmann::json::array()}};
  std::size_t compared = 0;
  std::size_t worse = 0;
  for (const Label& label : before.order) {
    const auto found = after.rows.find(label);
    if (found == after.rows.end()) continue;
    const Times& a = before.rows.at(label);
    const Times& b = found->second;
    ++compared;
    worse += slower(a, b) ? 1 : 0;
    json["rows"].push_back({{"group", label.first},
                            {"label", label.second},
                            {"before_us", a.median},
                            {"after_us", b.median},
                            {"ratio", b.median / a.median},
                            {"verdict", verdict(a, b)}});
    if (options.json) continue;
    std::printf("%-60s %10s %10s %7.3f  %s\n", (label.first + ": " + label.second).c_str(),
                format_seconds(a.median * 1e-6).c_str(), format_seconds(b.median * 1e-6).c_str(), b.median / a.median,
                verdict(a, b));
  }
  if (compared == 0) throw Failure(options.after + ": no row is of " + options.before + " too");
  if (options.json) {
    print_json(json);
  } else {
    std::printf("\n%zu rows in both, %zu of them slower\n", compared, worse);
  }
  return worse > 0 ? 1 : 0;
}

}  // namespace tool
