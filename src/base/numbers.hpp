// Numbers as text, independent of the program's locale.
#pragma once

#include <charconv>
#include <iterator>
#include <string>
#include <string_view>

namespace gpumem {

template <class T>
bool parse_number(std::string_view text, T& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

inline std::string decimal(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, std::end(text), value, std::chars_format::fixed, digits);
  return end.ec == std::errc() ? std::string(text, end.ptr) : "0";
}

}  // namespace gpumem
