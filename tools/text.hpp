// Text for people.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// "268 MB": three digits, decimal units.
std::string format_bytes(int64_t bytes);

// "64 KiB": whole binary units, for powers of two.
std::string format_size(int64_t bytes);

// "59.1 us": three digits.
std::string format_seconds(double seconds);

// Makes outside text safe for a terminal, a page or a table: control characters and invalid UTF-8 become \xNN or
// \uNNNN.
std::string printable(std::string_view text);

// "1 row", "2 rows".
template <std::integral T>
std::string counted(T count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& words, std::size_t from = 0);

// No newline at the end.
std::string indented(std::string_view text, int indent);

}  // namespace tool
