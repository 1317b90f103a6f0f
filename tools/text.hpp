// Text for people.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// "268 MB": three digits, decimal units.
std::string format_bytes(int64_t bytes);

// "64 KiB": whole binary units, for sizes that are powers of two.
std::string format_size(int64_t bytes);

// "59.1 us": three digits.
std::string format_seconds(double seconds);

// Text from outside, for a terminal, a page or a table: what is obeyed there and not shown, and bytes that are no UTF-8, as \xNN or \uNNNN.
std::string printable(std::string_view text);

// "1 row", "2 rows".
template <std::integral T>
std::string counted(T count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

// With a space between each two.
std::string joined(const std::vector<std::string>& words, std::size_t from = 0);

// Every line of the text behind `indent` spaces, without a newline at the end.
std::string indented(std::string_view text, int indent);

}  // namespace tool
