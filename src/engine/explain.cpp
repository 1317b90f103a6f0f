#include "engine/explain.hpp"

#include <cstdio>
#include <string_view>

#include "engine/error.hpp"
#include "engine/names.hpp"
#include "engine/plan.hpp"

namespace gpumem {
namespace {

const char* chosen_by_name(ChosenBy by) noexcept {
  switch (by) {
    case ChosenBy::tuning:
      return "tuning";
    case ChosenBy::environment:
      return "environment";
    case ChosenBy::program:
      return "program";
    default:
      return "table";
  }
}

// JSON strings: names of devices come from drivers, so everything is escaped.
std::string quoted(std::string_view text) {
  std::string out(1, '"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

std::string field(const char* name, std::string_view text) { return quoted(name).append(": ").append(quoted(text)); }
std::string field(const char* name, int64_t value) { return quoted(name).append(": ").append(std::to_string(value)); }

// One row that was not taken, and why.
struct PassedOver {
  const char* name;
  const char* reason;
};

// What both formats print.
struct Report {
  const char* family;
  std::string problem;
  bool empty;
  const DeviceProps* props;
  const char* placement;
  const char* variant;
  ChosenBy by;
  LaunchShape shape;
  std::vector<PassedOver> passed_over;
};

template <class Family>
Report report_of(Context& context, const Plan<Family>& plan, std::string problem) {
  Report report{Family::name, std::move(problem), plan.empty,          nullptr, plan.placement.reason,
                nullptr,      plan.decision.by,   plan.decision.shape, {}};
  if (plan.empty) return report;
  const DeviceProps& props = context.running(plan.placement.runs).props();
  report.props = &props;
  const auto table = Family::table();
  report.variant = table[plan.decision.row].name;
  for (int32_t row = 0; row < static_cast<int32_t>(table.size()); ++row) {
    if (row == plan.decision.row) continue;
    const char* reason = rejection(table[row], props, plan.problem);
    if (reason == nullptr) {
      reason = plan.decision.by == ChosenBy::table ? "it fits too, and stands later in the table"
                                                   : "it fits too; another was asked for";
    }
    report.passed_over.push_back({table[row].name, reason});
  }
  return report;
}

std::string as_text(const Report& r) {
  std::string out = r.family;
  out.append(": ").append(r.problem).append("\n");
  if (r.empty) return out.append("  nothing to do: no kernel runs\n");
  char line[512];
  const auto print = [&](const char* format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    out.append(line);
  };
  print("  runs on   %s: %s\n", r.props->name, r.placement);
  print("  variant   %s, chosen by the %s\n", r.variant, chosen_by_name(r.by));
  const auto grid = static_cast<long long>(r.shape.grid);
  const auto tile = static_cast<long long>(r.shape.tile);
  if (r.props->backend == Runs::cuda) {
    print("  launch    %lld blocks of %d threads, tiles of %lld\n", grid, r.shape.block, tile);
  } else {
    print("  launch    %lld tasks on up to %d threads, tiles of %lld\n", grid, r.props->multiprocessors, tile);
  }
  for (const PassedOver& row : r.passed_over) print("  not taken %-18s %s\n", row.name, row.reason);
  return out;
}

std::string as_json(const Report& r) {
  std::string out = "{";
  const auto add = [&](auto... parts) { (out.append(parts), ...); };
  add(field("family", r.family), ", ", field("problem", r.problem), ", \"empty\": ", r.empty ? "true" : "false");
  if (r.empty) return out.append("}");
  add(", ", field("runs_on", r.props->backend == Runs::cuda ? "cuda" : "host"), ", ", field("device", r.props->name));
  add(", ", field("placement", r.placement), ", ", field("variant", r.variant), ", ",
      field("chosen_by", chosen_by_name(r.by)));
  add(", \"launch\": {", field("grid", r.shape.grid), ", ", field("block", r.shape.block), ", ");
  add(field("per_thread", r.shape.per_thread), ", ", field("tile", r.shape.tile), "}, \"not_taken\": [");
  for (size_t i = 0; i < r.passed_over.size(); ++i) {
    add(i == 0 ? "{" : ", {", field("variant", r.passed_over[i].name), ", ", field("reason", r.passed_over[i].reason),
        "}");
  }
  return out.append("]}");
}

std::string counted(int64_t n, gpumem_dtype dtype) { return std::to_string(n).append(" ").append(dtype_name(dtype)); }

Report explain_reduce(Context& context, const gpumem_problem& p) {
  const ReduceCall call{p.dtype, p.op, p.src, p.n, p.src_stride, p.src2, p.src2_stride};
  const auto planned = plan(context, call, Until::complete);
  std::string words = std::string(op_name(p.op)) + " of " + counted(p.n, p.dtype);
  if (p.op == GPUMEM_DOT) {
    words += ", strides " + std::to_string(p.src_stride) + " and " + std::to_string(p.src2_stride);
  } else {
    words += ", stride " + std::to_string(p.src_stride);
  }
  return report_of(context, planned, std::move(words));
}

Report explain_reduce_axis(Context& context, const gpumem_problem& p) {
  const ReduceAxisCall call{p.dtype, p.op, p.axis, p.src, p.rows, p.cols, p.src_stride, p.batches, p.batch_stride};
  const auto planned = plan(context, call);
  return report_of(context, planned,
                   std::string(op_name(p.op)) +
                       (p.axis == GPUMEM_AXIS_ROWS ? " of each row of " : " of each column of ") +
                       std::to_string(p.batches) + " x " + std::to_string(p.rows) + " x " + counted(p.cols, p.dtype) +
                       ", leading dimension " + std::to_string(p.src_stride));
}

Report explain_reduce_segments(Context& context, const gpumem_problem& p) {
  const auto planned = plan(context, ReduceSegmentsCall{p.dtype, p.op, p.src, p.n, p.offsets, p.rows}, Until::complete);
  return report_of(
      context, planned,
      std::string(op_name(p.op)) + " of each of " + std::to_string(p.rows) + " segments of " + counted(p.n, p.dtype));
}

Report explain_transpose(Context& context, const gpumem_problem& p) {
  const auto planned =
      plan(context, TransposeCall{p.element_bytes, p.rows, p.cols, p.src, p.src_stride, p.dst, p.dst_stride});
  return report_of(context, planned,
                   std::to_string(p.rows) + " x " + std::to_string(p.cols) + " elements of " +
                       std::to_string(p.element_bytes) + " bytes, leading dimensions " + std::to_string(p.src_stride) +
                       " and " + std::to_string(p.dst_stride));
}

Report explain_fill(Context& context, const gpumem_problem& p) {
  const auto planned = plan(context, FillCall{p.dst, p.element_bytes, p.n}, p.src);
  return report_of(context, planned,
                   std::to_string(p.n) + " patterns of " + std::to_string(p.element_bytes) + " bytes");
}

Report report_on(Context& context, const gpumem_problem& problem) {
  switch (problem.family) {
    case GPUMEM_FAMILY_REDUCE:
      return explain_reduce(context, problem);
    case GPUMEM_FAMILY_TRANSPOSE:
      return explain_transpose(context, problem);
    case GPUMEM_FAMILY_FILL:
      return explain_fill(context, problem);
    case GPUMEM_FAMILY_REDUCE_AXIS:
      return explain_reduce_axis(context, problem);
    default:
      return explain_reduce_segments(context, problem);
  }
}

}  // namespace

std::string explain(Context& context, const gpumem_problem& problem, gpumem_format format) {
  if (format != GPUMEM_FORMAT_TEXT && format != GPUMEM_FORMAT_JSON) {
    fail(GPUMEM_INVALID_ARGUMENT, "format is %d; expected GPUMEM_FORMAT_TEXT (0) or GPUMEM_FORMAT_JSON (1)", format);
  }
  static_cast<void>(family_names(problem.family));  // refuses what is no family
  const Report report = report_on(context, problem);
  return format == GPUMEM_FORMAT_JSON ? as_json(report) : as_text(report);
}

}  // namespace gpumem
