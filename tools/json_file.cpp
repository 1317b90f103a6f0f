#include "json_file.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "failure.hpp"

namespace tool {

nlohmann::json read_json(const std::string& path, const char* schema, const char* otherwise) {
  std::error_code error;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, error)) throw Failure(path + ": cannot be opened for reading");
  auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != schema) throw Failure(path + ": " + otherwise);
  return json;
}

}  // namespace tool
