// A JSON document, written from front to back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tool {

class Json {
 public:
  Json& open_object(std::string_view key = {}) { return open(key, '{'); }
  Json& close_object() { return close('}'); }
  Json& open_array(std::string_view key = {}) { return open(key, '['); }
  Json& close_array() { return close(']'); }

  // Members of an object; an empty key makes them elements of an array.
  Json& string(std::string_view key, std::string_view value);
  Json& integer(std::string_view key, int64_t value);
  Json& number(std::string_view key, double value);
  Json& boolean(std::string_view key, bool value);
  Json& null(std::string_view key);
  Json& raw(std::string_view key, std::string_view json);  // a value that is JSON already

  const std::string& text() const { return text_; }

 private:
  Json& open(std::string_view key, char bracket);
  Json& close(char bracket);
  void begin(std::string_view key);
  void quote(std::string_view value);

  std::string text_;
  bool first_ = true;  // nothing yet in the object or array that is open
};

}  // namespace tool
