#include "ops/explain.hpp"

#include "base/error.hpp"
#include "ops/problem_line.hpp"
#include "ops/report.hpp"

namespace gpumem {
namespace {

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
Report report(Planner& planner, const Plan<Family>& plan, const CallRecord& record) {
  Report made = report_of(planner, plan, line_of(record));
  made.fused = fused_words(plan);
  return made;
}

}  // namespace

std::string explain(Context& context, std::string_view line, gpumem_format format) {
  if (format != GPUMEM_FORMAT_TEXT && format != GPUMEM_FORMAT_JSON) {
    fail(GPUMEM_INVALID_ARGUMENT, "format is %d; expected GPUMEM_FORMAT_TEXT (0) or GPUMEM_FORMAT_JSON (1)", format);
  }
  const CallRecord record = parse_line(line);
  LinePlanner planner(context, record);
  std::string words;
  Families::for_each([&]<class Family>() {
    const auto* call = std::get_if<static_cast<size_t>(Family::id)>(&record.call);
    if (call == nullptr) return;
    const Report made = report<Family>(planner, plan(planner, call_of(*call), record.until), record);
    words = format == GPUMEM_FORMAT_JSON ? as_json(made) : as_text(made);
  });
  return words;
}

}  // namespace gpumem
