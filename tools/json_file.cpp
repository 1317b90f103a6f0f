#include "json_file.hpp"

#include <fstream>

#include "failure.hpp"
#include "input_file.hpp"

namespace tool {
namespace {

[[noreturn]] void fail_type(const std::string& what, const nlohmann::json& value, const char* expected) {
  throw Failure(what + " is of the type " + value.type_name() + "; expected " + expected);
}

}  // namespace

nlohmann::json read_json(const std::string& path, const char* schema, const char* otherwise) {
  std::ifstream file = open_input(path);
  if (file.peek() == std::ifstream::traits_type::eof()) throw Failure(path + ": it is empty, and so " + otherwise);
  auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("schema")) throw Failure(path + ": " + otherwise);
  if (json["schema"] == schema) return json;
  throw Failure(path + ": its schema is " + json["schema"].dump() + ", expected \"" + schema + "\"");
}

const nlohmann::json& JsonRow::at(const char* member) const {
  if (!row_.is_object()) fail_type(where_, row_, "object");
  const auto found = row_.find(member);
  if (found == row_.end()) throw Failure(where_ + " has no '" + member + "'");
  return *found;
}

std::string JsonRow::text(const char* member) const {
  const nlohmann::json& value = at(member);
  if (!value.is_string()) fail_type(where_ + ": '" + member + "'", value, "string");
  return value;
}

double JsonRow::positive(const char* member) const {
  const nlohmann::json& value = at(member);
  if (!value.is_number()) fail_type(where_ + ": '" + member + "'", value, "number");
  if (value > 0) return value;
  throw Failure(where_ + ": '" + member + "' is " + value.dump() + "; expected more than 0");
}

std::vector<JsonRow> rows_of(const std::string& path, const nlohmann::json& object) {
  const auto list = object.find("rows");
  if (list == object.end() || !list->is_array()) throw Failure(path + ": it has no list of rows");
  std::vector<JsonRow> rows;
  for (const auto& row : *list) rows.emplace_back(path + ": row " + std::to_string(rows.size() + 1), row);
  return rows;
}

}  // namespace tool
