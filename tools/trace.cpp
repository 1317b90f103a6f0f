#include "trace.hpp"

#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "failure.hpp"
#include "input_file.hpp"
#include "text.hpp"

namespace tool {
namespace {

std::optional<gpumem_memory_kind> kind_of(const std::string& name) {
  if (name == "device") return GPUMEM_MEMORY_DEVICE;
  if (name == "pinned") return GPUMEM_MEMORY_PINNED;
  if (name == "managed") return GPUMEM_MEMORY_MANAGED;
  return std::nullopt;
}

std::optional<TraceEvent> parse(const std::string& line) {
  std::istringstream in(line);
  TraceEvent event{};
  int64_t ns = 0;
  int64_t thread = 0;
  std::string kind = "device";
  in >> event.what >> ns >> thread;
  switch (event.what) {
    case 'a':
      in >> std::hex >> event.address >> std::dec >> event.bytes >> kind >> event.alignment >> std::hex >> event.stream;
      break;
    case 'f':
    case 'u':
      in >> std::hex >> event.address >> event.stream;
      break;
    case 't':
      in >> event.bytes;
      break;
    default:
      return std::nullopt;
  }
  const auto known = kind_of(kind);
  if (in.fail() || !known || event.bytes < 0 || event.alignment < 0) return std::nullopt;
  std::string rest;
  if (in >> rest) return std::nullopt;
  event.kind = *known;
  return event;
}

}  // namespace

std::vector<TraceEvent> read_trace(const std::string& path) {
  constexpr std::string_view kFirst = "gpumem-trace 1\n";
  std::ifstream file = open_input(path);
  std::string line(kFirst.size(), '\0');  // another file may have no end of line
  if (!file.read(line.data(), kFirst.size()) || line != kFirst) {
    throw Failure(path + ": no trace: expected its first line to be 'gpumem-trace 1'");
  }
  std::vector<TraceEvent> events;
  while (std::getline(file, line) && !file.eof()) {  // a last line without its end was cut off
    const auto event = parse(line);
    if (!event) {
      throw Failure(format("%s: line %zu: '%s' is not an event", path.c_str(), events.size() + 2, line.c_str()));
    }
    events.push_back(*event);
  }
  if (file.bad()) throw Failure(path + ": cannot be read to its end");
  return events;
}

}  // namespace tool
