#include "ops/report.hpp"

#include <cstdio>
#include <string_view>

#include "base/sentences.hpp"

namespace gpumem {
namespace {

constexpr const char* kChosenBy[] = {"table", "tuning", "environment", "program"};

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

}  // namespace

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
  const auto grid = ll(r.shape.grid);
  const auto tile = ll(r.shape.tile);
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
  add(field("schema", "gpumem.explain/1"), ", ", field("line", r.line), ", ", field("family", r.family));
  add(", \"empty\": ", r.empty ? "true" : "false");
  if (r.empty) return out.append("}");
  add(", ", field("runs_on", r.props->backend == Runs::cuda ? "cuda" : "host"), ", ", field("device", r.props->name));
  if (!r.fused.empty()) add(", ", field("fused", r.fused));
  add(", ", field("placement", r.placement), ", ", field("variant", r.variant), ", ",
      field("chosen_by", kChosenBy[static_cast<int>(r.by)]));
  add(", \"launch\": {", field("grid", r.shape.grid), ", ", field("block", r.shape.block), ", ");
  add(field("per_thread", r.shape.per_thread), ", ", field("tile", r.shape.tile), "}, \"not_taken\": [");
  for (size_t i = 0; i < r.passed_over.size(); ++i) {
    add(i == 0 ? "{" : ", {", field("variant", r.passed_over[i].name), ", ", field("reason", r.passed_over[i].reason),
        "}");
  }
  return out.append("]}");
}

}  // namespace gpumem
