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

// With the largest unit that leaves at least 1 before the point.
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

}  // namespace

std::string format(const char* pattern, ...) {
  va_list args;
  va_list again;
  va_start(args, pattern);
  va_copy(again, args);
  // Where the analyzer follows a call into here, it does not see that va_start() was.
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

// Those of ASCII, and of UTF-8 U+0080 to U+009F, which terminals obey too.
std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0; };
    if (at(i) < ' ' || at(i) == 0x7f) {
      shown += format("\\x%02x", at(i));
    } else if (at(i) == 0xc2 && at(i + 1) >= 0x80 && at(i + 1) < 0xa0) {
      shown += format("\\x%02x", at(++i));
    } else {
      shown += text[i];
    }
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
