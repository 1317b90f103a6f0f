#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace tool {
namespace {

constexpr int kDefaultColumns = 80;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = variable(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return value.find("UTF-8") != std::string::npos || value.find("UTF8") != std::string::npos;
  }
  return false;
}

}  // namespace

Colours output_colours() {
  const std::string term = variable("TERM");
  const bool colourless = term.empty() || term == "dumb" || term.starts_with("vt");
  if (isatty(STDOUT_FILENO) == 0 || !variable("NO_COLOR").empty() || colourless || !is_utf8()) return Colours::none;
  const std::string depth = variable("COLORTERM");
  return depth == "truecolor" || depth == "24bit" ? Colours::rgb24 : Colours::palette256;
}

int output_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultColumns;
}

}  // namespace tool
