#include "trace.hpp"

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "failure.hpp"
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

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

std::vector<TraceEvent> read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Failure("'" + path + "' can't be read: " + reason());
  std::string line;
  if (!std::getline(file, line) || line != "gpumem-trace 1") {
    throw Failure("'" + path + "' is no trace: expected its first line to be 'gpumem-trace 1'");
  }
  std::vector<TraceEvent> events;
  while (std::getline(file, line) && !file.eof()) {  // a last line without its end was cut off
    const auto event = parse(line);
    if (!event) {
      throw Failure(format("'%s', line %zu: '%s' is no event", path.c_str(), events.size() + 2, line.c_str()));
    }
    events.push_back(*event);
  }
  if (file.bad()) throw Failure("'" + path + "' can't be read to its end: " + reason());
  return events;
}

}  // namespace tool
