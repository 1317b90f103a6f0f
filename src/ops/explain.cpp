// gpumem_explain(): a plan as text or JSON.
#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/sentences.hpp"
#include "ops/plan.hpp"
#include "ops/problem_line.hpp"

namespace gpumem {
namespace {

struct PassedOver {
  const char* name;
  const char* reason;
  bool same_space;  // as the plan's
};

struct Report {
  const char* family;
  std::string line;
  std::string fused;  // only for a permutation: its axes after fusion
  bool empty;
  const DeviceProps* props = nullptr;  // this and all below only if not empty
  const char* placement = nullptr;
  const char* variant = nullptr;
  ChosenBy by{};
  int64_t grid = 1;
  int32_t block = 1;
  int32_t per_thread = 1;
  int64_t tile = 0;
  std::vector<PassedOver> passed_over{};
};

template <class Family>
std::string fused_words(const Plan<Family>&) {
  return {};
}

std::string fused_words(const Plan<PermuteFamily>& plan) {
  const PermuteAxes& axes = plan.params.axes;
  std::string words;
  for (int32_t d = 0; d < axes.rank; ++d) {
    words.append(d == 0 ? "" : " x ").append(std::to_string(axes.extent[d]));
  }
  if (plan.empty) return words;
  return words + " elements of " + std::to_string(axes.element_bytes) + " bytes, the fastest axis of dst first";
}

template <class Family>
Report report_of(const Planner& planner, const Plan<Family>& plan, const CallRecord& record) {
  Report report{.family = Family::name, .line = line_of(record), .fused = fused_words(plan), .empty = plan.empty};
  if (plan.empty) return report;
  const DeviceProps& props = planner.props(plan.placement.space);
  const auto table = Family::table();
  const auto& selection = plan.selection;
  report.props = &props;
  report.placement = plan.placement.reason;
  report.variant = table[selection.row].name;
  report.by = selection.by;
  report.grid = selection.config.grid;
  report.block = selection.config.block;
  report.per_thread = selection.config.per_thread;
  report.tile = selection.config.tile;
  Config unused;
  for (int32_t row = 0; row < static_cast<int32_t>(table.size()); ++row) {
    if (row == selection.row) continue;
    const char* reason = plan_row(table[row], props, plan.params, unused);
    if (reason == nullptr) reason = passed_over(table[row], props, plan.params);
    if (reason == nullptr) {
      reason = selection.by == ChosenBy::table ? "it fits too, but comes later in the table"
                                               : "it fits too, but another variant is requested";
    }
    report.passed_over.push_back({table[row].name, reason, table[row].space == props.backend});
  }
  return report;
}

// Not inlined, because a plan is large and there are many operations.
template <class Family, class Call>
[[gnu::noinline]] Report explained(Planner& planner, const Call& call, const CallRecord& record) {
  return report_of<Family>(planner, plan(planner, call, record.completion), record);
}

constexpr const char* kChosenBy[] = {"table", "tuning", "environment", "program"};

// A JSON string. Control characters were removed from device names, which come from drivers.
std::string quoted(std::string_view text) {
  std::string out(1, '"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
  return out;
}

std::string field(const char* name, std::string_view text) { return quoted(name).append(": ").append(quoted(text)); }
std::string field(const char* name, int64_t value) { return quoted(name).append(": ").append(std::to_string(value)); }

std::string as_text(const Report& r) {
  std::string out = r.line;
  out.append("\n");
  if (r.empty) return out.append("  nothing to do: no kernel runs\n");
  char line[512];
  const auto print = [&](const char* format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    out.append(line);
  };
  print("  runs on   %s: %s\n", r.props->name, r.placement);
  if (!r.fused.empty()) out.append("  fused     ").append(r.fused).append("\n");
  print("  variant   %s, chosen by the %s\n", r.variant, kChosenBy[static_cast<int>(r.by)]);
  const auto grid = ll(r.grid);
  const auto tile = ll(r.tile);
  if (r.props->backend == ExecutionSpace::cuda) {
    print("  launch    %lld block%s of %d threads, tiles of %lld\n", grid, grid == 1 ? "" : "s", r.block, tile);
  } else {
    print("  launch    %lld task%s on up to %d threads, tiles of %lld\n", grid, grid == 1 ? "" : "s",
          r.props->multiprocessors, tile);
  }
  // Variants with the same reason share a line. Those of the other execution space are omitted.
  std::vector<std::pair<std::string, std::string_view>> reasons;
  for (const PassedOver& row : r.passed_over) {
    if (!row.same_space) continue;
    const auto same =
        std::find_if(reasons.begin(), reasons.end(), [&](const auto& of) { return of.second == row.reason; });
    if (same == reasons.end()) {
      reasons.emplace_back(row.name, row.reason);
    } else {
      same->first.append(", ").append(row.name);
    }
  }
  for (auto& [names, reason] : reasons) {
    if (names.find(',') != std::string::npos) names.append(":");
    names.resize(std::max<size_t>(names.size(), 20), ' ');
    out.append("  not taken ").append(names).append(" ").append(reason).append("\n");
  }
  return out;
}

std::string as_json(const Report& r) {
  std::string out = "{";
  const auto add = [&](auto... parts) { (out.append(parts), ...); };
  add(field("schema", "gpumem.explain/1"), ", ", field("line", r.line), ", ", field("family", r.family));
  add(", \"empty\": ", r.empty ? "true" : "false");
  if (r.empty) {
    return out.append(R"(, "runs_on": null, "device": null, "placement": null, "variant": null, "chosen_by": null, )"
                      R"("launch": null, "not_taken": []})");
  }
  add(", ", field("runs_on", r.props->backend == ExecutionSpace::cuda ? "cuda" : "host"), ", ",
      field("device", r.props->name));
  if (!r.fused.empty()) add(", ", field("fused", r.fused));
  add(", ", field("placement", r.placement), ", ", field("variant", r.variant), ", ",
      field("chosen_by", kChosenBy[static_cast<int>(r.by)]));
  add(", \"launch\": {", field("grid", r.grid), ", ", field("block", r.block), ", ");
  add(field("per_thread", r.per_thread), ", ", field("tile", r.tile), "}, \"not_taken\": [");
  for (size_t i = 0; i < r.passed_over.size(); ++i) {
    add(i == 0 ? "{" : ", {", field("variant", r.passed_over[i].name), ", ", field("reason", r.passed_over[i].reason),
        "}");
  }
  return out.append("]}");
}

}  // namespace

std::string explain(Context& context, std::string_view line, gpumem_format format) {
  if (format != GPUMEM_FORMAT_TEXT && format != GPUMEM_FORMAT_JSON) {
    fail(GPUMEM_INVALID_ARGUMENT, "format is %d; expected GPUMEM_FORMAT_TEXT (0) or GPUMEM_FORMAT_JSON (1)", format);
  }
  const CallRecord record = parse_line(line);
  LinePlanner planner(context, record);
  Report report{};
  with_call(record, [&]<class Family>(const auto& call) { report = explained<Family>(planner, call, record); });
  return format == GPUMEM_FORMAT_JSON ? as_json(report) : as_text(report);
}

}  // namespace gpumem
