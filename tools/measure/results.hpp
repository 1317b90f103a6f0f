// A file of results: place, time and versions, then rows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace measure {

// Empty strings become null.
struct Machine {
  std::string program;
  std::string version;
  std::string device;  // "NVIDIA H200", or "host: " and the processor's name
  std::string driver;
  std::string toolkit;  // CUDA's, of the build
  std::string cpu;
  int threads = 0;       // of the library's host backend
  int peer_threads = 0;  // of OpenMP
  std::string date;      // UTC, 2026-11-21T10:00:00Z
  std::string commit;
};

// Bytes per second of this machine, measured in the same run; 0 if unknown.
struct Ceilings {
  double read = 0;
  double write = 0;
  double copy = 0;
  double to_device = 0;
  double from_device = 0;
  double theoretical = 0;
};

// Six significant digits; null if not finite.
nlohmann::ordered_json rounded(double value);
nlohmann::ordered_json text_or_null(const std::string& text);

// schema, program, version, date, commit, device, host, ceilings (in GB/s).
nlohmann::ordered_json head(const std::string& schema, const Machine& machine, const Ceilings& ceilings);

// One member per line, or one element per line for an array of objects.
std::string in_lines(const nlohmann::ordered_json& document);

}  // namespace measure
