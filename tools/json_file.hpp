// Reads results that a program has written as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tool {

// Returns an object of that schema. Otherwise throws a Failure that names the file and says that it is `otherwise`.
nlohmann::json read_json(const std::string& path, const char* schema, const char* otherwise);

// One of the object's rows. A wrong member throws a Failure that names the file, the row and the member.
class JsonRow {
 public:
  JsonRow(std::string where, const nlohmann::json& row) : where_(std::move(where)), row_(row) {}

  std::string text(const char* member) const;
  double positive(const char* member) const;
  const nlohmann::json& at(const char* member) const;

 private:
  std::string where_;  // "run.json: row 3"
  const nlohmann::json& row_;
};

// Valid as long as the object.
std::vector<JsonRow> rows_of(const std::string& path, const nlohmann::json& object);

}  // namespace tool
