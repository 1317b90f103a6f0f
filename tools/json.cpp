#include "json.hpp"

#include <cmath>

#include "text.hpp"

namespace tool {

Json& Json::string(std::string_view key, std::string_view value) {
  begin(key);
  quote(value);
  return *this;
}

Json& Json::integer(std::string_view key, int64_t value) { return raw(key, std::to_string(value)); }

// 17 significant digits give a double back exactly. JSON has no infinities.
Json& Json::number(std::string_view key, double value) {
  return std::isfinite(value) ? raw(key, format("%.17g", value)) : null(key);
}

Json& Json::boolean(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }

Json& Json::null(std::string_view key) { return raw(key, "null"); }

Json& Json::raw(std::string_view key, std::string_view json) {
  begin(key);
  text_ += json;
  return *this;
}

Json& Json::open(std::string_view key, char bracket) {
  begin(key);
  text_ += bracket;
  first_ = true;
  return *this;
}

Json& Json::close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

void Json::begin(std::string_view key) {
  if (!first_) text_ += ", ";
  first_ = false;
  if (key.empty()) return;
  quote(key);
  text_ += ": ";
}

void Json::quote(std::string_view value) {
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += format("\\u%04x", static_cast<unsigned>(c));
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace tool
