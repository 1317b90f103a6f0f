// What explain() says of a plan, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "ops/plan.hpp"

namespace gpumem {

// One row that was not taken, and why.
struct PassedOver {
  const char* name;
  const char* reason;
};

// What both formats print.
struct Report {
  const char* family;
  std::string line;
  std::string fused;  // of a permutation: what is left of its axes
  bool empty;
  const DeviceProps* props;
  const char* placement;
  const char* variant;
  ChosenBy by;
  LaunchShape shape;
  std::vector<PassedOver> passed_over;
};

template <class Family>
Report report_of(const Planner& planner, const Plan<Family>& plan, std::string line) {
  Report report{Family::name,     std::move(line),     {}, plan.empty, nullptr, plan.placement.reason, nullptr,
                plan.decision.by, plan.decision.shape, {}};
  if (plan.empty) return report;
  const DeviceProps& props = planner.props(plan.placement.runs);
  report.props = &props;
  const auto table = Family::table();
  report.variant = table[plan.decision.row].name;
  for (int32_t row = 0; row < static_cast<int32_t>(table.size()); ++row) {
    if (row == plan.decision.row) continue;
    const char* reason = rejection(table[row], props, plan.params);
    if (reason == nullptr) reason = passed_over(table[row], props, plan.params);
    if (reason == nullptr) {
      reason = plan.decision.by == ChosenBy::table ? "it fits too, and stands later in the table"
                                                   : "it fits too; another was asked for";
    }
    report.passed_over.push_back({table[row].name, reason});
  }
  return report;
}

std::string as_text(const Report& report);
std::string as_json(const Report& report);

}  // namespace gpumem
