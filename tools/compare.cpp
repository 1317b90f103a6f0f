// gpumem compare: compares two files of `gpumem bench --json`, row by row.
#include <algorithm>
#include <cstdio>
#include <map>
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
// With fewer samples, as in a --quick run, quartiles are too close together to compare. Long samples are exempt,
// because bench takes no more of them.
constexpr double kEnoughSamples = 10;
constexpr double kEnoughMicroseconds = 500e3;

struct Times {
  double median = 0;
  double q1 = 0;
  double q3 = 0;
  double samples = 0;
  nlohmann::json problem{};  // and its bytes: the measured work
  nlohmann::json variant{};

  bool has_few() const { return samples < kEnoughSamples && samples * median < kEnoughMicroseconds; }
};

using Label = std::pair<std::string, std::string>;

struct Run {
  std::string path;
  nlohmann::json json;
  std::vector<Label> order;
  std::map<Label, Times> rows;
  std::map<Label, nlohmann::json> skipped;  // the reason

  const Times* find(const Label& label) const {
    const auto found = rows.find(label);
    return found == rows.end() ? nullptr : &found->second;
  }
};

Run read_run(const std::string& path) {
  Run run{path, read_json(path, "gpumem.bench/1", "no results of gpumem bench --json"), {}, {}, {}};
  for (const JsonRow& row : rows_of(path, run.json)) {
    Label label(row.text("group"), row.text("label"));
    if (label.second.ends_with(" *"))
      label.second.resize(label.second.size() - 2);  // the mark of the choice, which may differ
    if (!row.at("skipped").is_null()) {
      run.skipped[label] = row.at("skipped");
      continue;
    }
    if (row.at("verified") == false)
      throw Failure(path + ": '" + label.second + "' is wrong, and its time means nothing");
    const Times times{row.positive("median_us"),
                      row.positive("q1_us"),
                      row.positive("q3_us"),
                      row.positive("samples"),
                      {row.at("problem"), row.at("bytes")},
                      row.at("variant")};
    if (!run.rows.emplace(label, times).second) throw Failure(path + ": '" + label.second + "' is there twice");
    run.order.push_back(label);
  }
  return run;
}

// By more than 5 %, and with disjoint interquartile ranges.
bool slower(const Times& a, const Times& b) {
  return b.median > kTolerated * a.median && b.q1 > a.q3 && !a.has_few() && !b.has_few();
}

// nullptr: the row is absent.
const char* verdict(const Times* a, const Times* b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? "new" : "missing";
  if (a->problem != b->problem) return "unlike";
  if (slower(*a, *b)) return "slower";
  if (slower(*b, *a)) return "faster";
  const double ratio = b->median / a->median;
  return ratio > kTolerated || ratio < 1 / kTolerated ? "unclear" : "";  // too much scatter or too few samples
}

std::vector<std::string> remarks(const Run& before, const Run& after) {
  const auto at = [](const Run& run, const char* member) {
    const nlohmann::json::json_pointer place(member);
    return run.json.contains(place) ? run.json[place] : nlohmann::json();
  };
  std::vector<std::string> found;
  for (const Run* run : {&before, &after}) {
    if (at(*run, "/interrupted") == true) found.push_back(run->path + " was interrupted");
  }
  for (const char* const member : {"/quick", "/device/name", "/device/driver", "/host/cpu", "/host/threads"}) {
    const nlohmann::json a = at(before, member);
    const nlohmann::json b = at(after, member);
    if (a != b) found.push_back(format("%s: %s before, %s after", member + 1, a.dump().c_str(), b.dump().c_str()));
  }
  const auto count = [&](auto&& is) {
    return std::count_if(before.order.begin(), before.order.end(), [&](const Label& label) {
      const Times* const b = after.find(label);
      return b != nullptr && is(*before.find(label), *b);
    });
  };
  const auto few = count([](const Times& a, const Times& b) { return a.has_few() || b.has_few(); });
  if (few > 0) {
    found.push_back(
        counted(few, "row") + (few == 1 ? " has" : " have") +
        format(" fewer than %.0f samples, as of --quick: too few to be called slower or faster", kEnoughSamples));
  }
  const auto others = count([](const Times& a, const Times& b) { return a.variant != b.variant; });
  if (others > 0) found.push_back(counted(others, "row") + " ran by another variant than before");
  return found;
}

void print_line(const std::string& label, const std::string& before, const std::string& after, const std::string& ratio,
                const std::string& verdict) {
  std::printf("%-60s %10s %10s %7s%s%s\n", printable(label).c_str(), before.c_str(), after.c_str(), ratio.c_str(),
              verdict.empty() ? "" : "  ", printable(verdict).c_str());
}

void print_row(const Label& label, const Times* a, const Times* b, const nlohmann::json& skipped) {
  const auto time = [](const Times* t) { return t == nullptr ? "-" : format_seconds(t->median * 1e-6); };
  const std::string ratio = a == nullptr || b == nullptr ? "-" : format("%.3f", b->median / a->median);
  const std::string why = skipped.is_string() ? ": " + skipped.get<std::string>() : "";
  print_line(label.first + ": " + label.second, time(a), time(b), ratio, verdict(a, b) + why);
}

nlohmann::ordered_json row_json(const Label& label, const Times* a, const Times* b, const nlohmann::json& skipped) {
  const auto time = [](const Times* t) { return t == nullptr ? nlohmann::json() : nlohmann::json(t->median); };
  return {{"group", label.first},
          {"label", label.second},
          {"before_us", time(a)},
          {"after_us", time(b)},
          {"ratio", a == nullptr || b == nullptr ? nlohmann::json() : nlohmann::json(b->median / a->median)},
          {"verdict", verdict(a, b)},
          {"skipped", skipped}};
}

}  // namespace

int run_compare(const CompareOptions& options) {
  const Run before = read_run(options.before);
  const Run after = read_run(options.after);
  std::vector<Label> all = before.order;
  std::copy_if(after.order.begin(), after.order.end(), std::back_inserter(all),
               [&](const Label& label) { return before.find(label) == nullptr; });
  const bool related = std::any_of(before.order.begin(), before.order.end(), [&](const Label& label) {
    return after.find(label) != nullptr || after.skipped.count(label) != 0;
  });
  if (!related) throw Failure(after.path + ": no row is of " + before.path + " too");
  const std::size_t compared = before.order.size() + after.order.size() - all.size();
  nlohmann::ordered_json json = {{"before", before.path},
                                 {"after", after.path},
                                 {"remarks", remarks(before, after)},
                                 {"rows", nlohmann::json::array()}};
  std::map<std::string, std::size_t> count;
  if (!options.json) print_line("", "before", "after", "ratio", "");
  for (const Label& label : all) {
    const Times* const a = before.find(label);
    const Times* const b = after.find(label);
    ++count[verdict(a, b)];
    const auto why = after.skipped.find(label);
    const nlohmann::json skipped = why == after.skipped.end() ? nlohmann::json() : why->second;
    json["rows"].push_back(row_json(label, a, b, skipped));
    if (!options.json) print_row(label, a, b, skipped);
  }
  const std::size_t missing = count["missing"];
  if (options.json) {
    print_json("compare", json);
  } else {
    std::printf("\n%s in both, %zu of them slower, %zu faster", counted(compared, "row").c_str(), count["slower"],
                count["faster"]);
    if (count["unlike"] > 0) std::printf("; %zu unlike: of another problem", count["unlike"]);
    if (count["unclear"] > 0)
      std::printf("; %zu apart, but unclear: they scatter or have few samples", count["unclear"]);
    if (missing > 0) std::printf("; %zu missing in %s", missing, printable(after.path).c_str());
    if (count["new"] > 0) std::printf("; %zu new in %s", count["new"], printable(after.path).c_str());
    std::printf("\n");
    for (const auto& remark : json["remarks"]) std::printf("%s\n", printable(remark.get<std::string>()).c_str());
  }
  return count["slower"] + count["unlike"] + missing > 0 ? 1 : 0;
}

}  // namespace tool
