// Results that a program has written as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tool {

// An object of that schema; else a Failure that names the file, and says that it is `otherwise`.
nlohmann::json read_json(const std::string& path, const char* schema, const char* otherwise);

}  // namespace tool
