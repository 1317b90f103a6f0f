#include "text.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace tool {
namespace {

struct Unit {
  double size;
  const char* name;
};

// The largest unit that leaves at least 1 before the point.
template <std::size_t N>
std::string in_units(double value, const std::array<Unit, N>& units) {
  const Unit* unit = &units.back();
  for (const Unit& candidate : units) {
    if (value >= candidate.size) {
      unit = &candidate;
      break;
    }
  }
  const double scaled = value / unit->size;
  const int decimals = scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  return format("%.*f %s", decimals, scaled, unit->name);
}

struct Character {
  unsigned code;
  std::size_t bytes;
  bool valid;
};

// The first character. An invalid byte counts as one.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const Character byte{lead, 1, lead < 0x80};
  const std::size_t bytes = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (bytes == 1 || bytes > text.size()) return byte;
  unsigned code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return byte;
    code = code << 6 | (next & 0x3fu);
  }
  constexpr unsigned kLeast[] = {0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[bytes - 2] || code > 0x10ffff || is_surrogate ? byte : Character{code, bytes, true};
}

// Terminals or editors obey it: control characters, and separators of direction, line and paragraph.
bool is_obeyed(unsigned code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string format(const char* pattern, ...) {
  va_list args;
  va_list again;
  va_start(args, pattern);
  va_copy(again, args);
  // The analyzer follows calls into this function, but does not see their va_start().
  const int length = std::vsnprintf(nullptr, 0, pattern, args);  // NOLINT(clang-analyzer-valist.Uninitialized)
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(args);
  return text;
}

std::string format_bytes(int64_t bytes) {
  if (bytes < 1000) return format("%d B", static_cast<int>(bytes));
  static constexpr std::array<Unit, 4> kUnits{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  return in_units(static_cast<double>(bytes), kUnits);
}

std::string format_size(int64_t bytes) {
  if (bytes >= 1 << 20) return format("%lld MiB", static_cast<long long>(bytes >> 20));
  return bytes >= 1 << 10 ? format("%lld KiB", static_cast<long long>(bytes >> 10))
                          : format("%lld B", static_cast<long long>(bytes));
}

std::string format_seconds(double seconds) {
  static constexpr std::array<Unit, 4> kUnits{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  return in_units(seconds, kUnits);
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character c = first_of(text);
    if (!c.valid || is_obeyed(c.code)) {
      shown += format(c.code < 0x100 ? "\\x%02x" : "\\u%04x", c.code);
    } else {
      shown += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return shown;
}

std::string joined(const std::vector<std::string>& words, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i) text += (i == from ? "" : " ") + words[i];
  return text;
}

std::string indented(std::string_view text, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string out = margin;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += margin;
  }
  return out;
}

}  // namespace tool
