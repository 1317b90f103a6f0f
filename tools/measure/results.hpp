// A file of results: where, when and with what it was measured, then rows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace measure {

// Empty strings become null.
struct Machine {
  std::string program;
  std::string version;  // of the library
  std::string device;   // "NVIDIA H200", or "host: " and the processor's name
  std::string driver;
  std::string toolkit;  // CUDA's, that the program was built with
  std::string cpu;
  int threads = 0;       // of the library's host backend
  int peer_threads = 0;  // of OpenMP
  std::string date;      // UTC, 2026-11-21T10:00:00Z
  std::string commit;
};

// Bytes a second of this machine, measured in the same run; 0 while unknown.
struct Ceilings {
  double read = 0;
  double write = 0;
  double copy = 0;
  double to_device = 0;
  double from_device = 0;
  double theoretical = 0;  // as the device states it
};

// Six significant digits; null where it is no finite number.
nlohmann::ordered_json rounded(double value);
nlohmann::ordered_json text_or_null(const std::string& text);

// schema, program, version, date, commit, device, host, ceilings (in GB/s).
nlohmann::ordered_json head(const std::string& schema, const Machine& machine, const Ceilings& ceilings);

// A member a line, and an element a line where a member is an array of objects.
std::string in_lines(const nlohmann::ordered_json& document);

}  // namespace measure
