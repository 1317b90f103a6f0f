// Command-line arguments. A command takes out the options that it knows; what is left over is a mistake.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Args {
 public:
  Args(int count, const char* const* values);

  // Takes out --name. True if it was there.
  bool flag(std::string_view name);

  // Takes out --name VALUE or --name=VALUE.
  std::optional<std::string> value(std::string_view name);

  // What is left: at most `most` operands, none of which looks like an option.
  std::vector<std::string> operands(std::size_t most);

 private:
  std::vector<std::string> words_;
};

// A whole decimal number from min to max, or a UsageError that names `what`.
int64_t parse_integer(const std::string& word, std::string_view what, int64_t min, int64_t max);

}  // namespace tool
