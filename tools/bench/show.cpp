#include "bench/show.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "terminal.hpp"
#include "text.hpp"

namespace tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBarColumns = 20;

std::string padded(const std::string& text, std::size_t columns) {
  return text.size() < columns ? text + std::string(columns - text.size(), ' ') : text;
}

std::string padded_left(const std::string& text, std::size_t columns) {
  return text.size() < columns ? std::string(columns - text.size(), ' ') + text : text;
}

std::string bar(const Row& row, const Group& group) {
  const auto length = static_cast<std::size_t>(std::lround(bar_of(row, group) * kBarColumns));
  const std::string text(std::max<std::size_t>(length, 1), '#');
  return output_colours() == Colours::none ? text : "\033[36m" + text + "\033[0m";
}

std::string row_line(const Row& row, const Group& group, std::size_t label_columns) {
  std::string line = "  " + padded(label_text(row), label_columns) + padded_left(time_text(row), 10);
  if (row.bytes > 0) line += padded_left(rate_text(row), 12) + padded_left(share_text(row), 7);
  if (row.wrong()) return line + "  WRONG";
  return row.bytes > 0 ? line + "  " + bar(row, group) : line;
}

// Rows that were skipped for one reason share a line. Most rows of a ladder belong to another backend, so they are only
// counted here; JSON lists them.
std::string skipped_lines(const Group& group) {
  std::map<std::string, std::string> labels;
  for (const Row* row : group.skipped) {
    std::string& of_reason = labels[row->skipped];
    of_reason += (of_reason.empty() ? "" : "; ") + row->label;
  }
  if (labels.size() > 6 || group.skipped.size() > 12) {
    return format("  %zu more do not fit here; --json says why\n", group.skipped.size());
  }
  std::string text;
  for (const auto& [reason, of_reason] : labels) {
    text += format("  skipped: %s: %s\n", printable(of_reason).c_str(), printable(reason).c_str());
  }
  return text;
}

}  // namespace

std::vector<Group> groups_of(const std::vector<Row>& rows) {
  std::vector<Group> groups;
  for (const Row& row : rows) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == row.group; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{row.group, {}, {}});
    (row.skipped.empty() ? group->rows : group->skipped).push_back(&row);
  }
  return groups;
}

double bar_of(const Row& row, const Group& group) {
  if (std::isfinite(row.of_ceiling)) return std::clamp(row.of_ceiling, 0.0, 1.0);
  double most = 0;
  for (const Row* other : group.rows) most = std::max(most, other->gbs);
  return most > 0 && std::isfinite(row.gbs) ? row.gbs / most : 0;
}

std::string title_of(const Results& results) {
  const measure::Machine& m = results.machine;
  return printable(m.device + (m.driver.empty() ? "" : ", driver " + m.driver)) + format(", %d threads", m.threads);
}

std::string ceilings_of(const Results& results) {
  const measure::Ceilings& c = results.ceilings;
  const std::pair<const char*, double> kinds[] = {{"read", c.read},           {"write", c.write},
                                                  {"copy", c.copy},           {"to the device", c.to_device},
                                                  {"from it", c.from_device}, {"theoretical", c.theoretical}};
  std::string text;
  for (const auto& [name, rate] : kinds) {
    if (rate > 0)
      text += (text.empty() ? "" : ", ") + std::string(name) + format(" %.*f GB/s", rate < 1e11 ? 1 : 0, rate / 1e9);
  }
  return text;
}

std::string label_text(const Row& row) {
  return printable(row.label) +
         (std::isfinite(row.block_cycles) ? format(", %.0f cycles per block", row.block_cycles) : "");
}

std::string time_text(const Row& row) { return format_seconds(row.median_us * 1e-6); }

std::string rate_text(const Row& row) {
  return std::isfinite(row.gbs) ? format("%.*f GB/s", row.gbs < 100 ? 1 : 0, row.gbs) : "";
}

std::string share_text(const Row& row) {
  return std::isfinite(row.of_ceiling) ? format("%.0f %%", row.of_ceiling * 100) : "";
}

std::string verdict_of(const Results& results) {
  std::size_t measured = 0;
  std::size_t wrong = 0;
  int samples = 0;
  for (const Row& row : results.rows) {
    measured += row.skipped.empty() ? 1 : 0;
    wrong += row.wrong() ? 1 : 0;
    samples = std::max(samples, row.samples);
  }
  std::string text = "nothing measured";
  if (measured > 0) text = counted(measured, "row") + " of up to " + counted(samples, "sample") + ", ";
  if (measured > 0) text += wrong == 0 ? "all verified" : format("%zu WRONG", wrong);
  if (measured < results.rows.size()) text += format(", %zu skipped", results.rows.size() - measured);
  return text + (results.interrupted ? "; INTERRUPTED: the rest was not measured" : "");
}

std::string as_table(const Results& results) {
  const std::string ceilings = ceilings_of(results);
  std::string text = title_of(results) + (results.quick ? ", a quick run" : "") + "\n";
  if (!ceilings.empty()) text += "ceilings: " + ceilings + "\n";
  if (results.cached_bytes > 0) {
    text += "without a share of the ceiling: rows of up to " + format_bytes(results.cached_bytes) +
            ", which caches may hold in part\n";
  }
  std::size_t columns = 0;
  for (const Row& row : results.rows) columns = std::max(columns, row.skipped.empty() ? label_text(row).size() : 0);
  for (const Group& group : groups_of(results.rows)) {
    text += "\n" + printable(group.name) + "\n";
    for (const Row* row : group.rows) text += row_line(*row, group, columns) + "\n";
    text += skipped_lines(group);
  }
  return text + "\n" + verdict_of(results) + "\n";
}

namespace {

Json row_json(const Row& row) {
  return {{"group", row.group},
          {"label", row.label},
          {"problem", measure::text_or_null(row.problem)},
          {"variant", measure::text_or_null(row.variant)},
          {"chosen_by", measure::text_or_null(row.chosen_by)},
          {"timer", measure::text_or_null(row.timer)},
          {"bytes", row.bytes > 0 ? Json(row.bytes) : Json()},
          {"samples", row.samples > 0 ? Json(row.samples) : Json()},
          {"median_us", measure::rounded(row.median_us)},
          {"q1_us", measure::rounded(row.q1_us)},
          {"q3_us", measure::rounded(row.q3_us)},
          {"gbs", measure::rounded(row.gbs)},
          {"of_ceiling", measure::rounded(row.of_ceiling)},
          {"block_cycles", measure::rounded(row.block_cycles)},
          {"verified", row.verified ? Json(*row.verified) : Json()},
          {"skipped", measure::text_or_null(row.skipped)}};
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string text = printable(value.get<std::string>());
  if (text.find_first_of(",\"") == std::string::npos) return text;
  for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2)) text.insert(at, 1, '"');
  return '"' + text + '"';
}

}  // namespace

std::string as_json(const Results& results) {
  Json json = measure::head("gpumem.bench/1", results.machine, results.ceilings);
  json["quick"] = results.quick;
  json["interrupted"] = results.interrupted;
  json["rows"] = Json::array();
  for (const Row& row : results.rows) json["rows"].push_back(row_json(row));
  return measure::in_lines(json);
}

std::string as_csv(const Results& results) {
  std::string text;
  const auto line = [&](const Json& row, bool heading) {
    std::string cells;
    for (const auto& [key, value] : row.items())
      cells += (cells.empty() ? "" : ",") + (heading ? key : csv_cell(value));
    text += cells + "\r\n";
  };
  line(row_json(Row{}), true);
  for (const Row& row : results.rows) line(row_json(row), false);
  return text;
}

}  // namespace tool
