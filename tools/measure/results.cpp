#include "measure/results.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace measure {
namespace {

using Json = nlohmann::ordered_json;

Json gigabytes(double bytes_per_s) { return bytes_per_s > 0 ? rounded(bytes_per_s / 1e9) : Json(); }

Json count_or_null(int count) { return count > 0 ? Json(count) : Json(); }

// Names from drivers and files may not be UTF-8. The output is ASCII, because a terminal may obey other characters.
std::string dumped(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

}  // namespace

Json rounded(double value) {
  if (!std::isfinite(value)) return {};
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return std::strtod(digits, nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json head(const std::string& schema, const Machine& machine, const Ceilings& ceilings) {
  Json json;
  json["schema"] = schema;
  json["program"] = machine.program;
  json["version"] = text_or_null(machine.version);
  json["date"] = machine.date;
  json["commit"] = text_or_null(machine.commit);
  json["device"] = {
      {"name", machine.device}, {"driver", text_or_null(machine.driver)}, {"toolkit", text_or_null(machine.toolkit)}};
  json["host"] = {{"cpu", text_or_null(machine.cpu)},
                  {"threads", machine.threads},
                  {"peer_threads", count_or_null(machine.peer_threads)}};
  json["ceilings"] = {{"read", gigabytes(ceilings.read)},
                      {"write", gigabytes(ceilings.write)},
                      {"copy", gigabytes(ceilings.copy)},
                      {"to_device", gigabytes(ceilings.to_device)},
                      {"from_device", gigabytes(ceilings.from_device)},
                      {"theoretical", gigabytes(ceilings.theoretical)}};
  return json;
}

std::string in_lines(const Json& document) {
  std::string text = "{";
  for (const auto& [key, value] : document.items()) {
    text += (text.size() > 1 ? ",\n  " : "\n  ") + dumped(key) + ": ";
    if (!value.is_array() || value.empty() || !value.front().is_object()) {
      text += dumped(value);
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i) text += (i > 0 ? ",\n    " : "[\n    ") + dumped(value[i]);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

}  // namespace measure
