#include "args.hpp"

#include <algorithm>
#include <charconv>

namespace tool {

Args::Args(int count, const char* const* values) {
  if (count > 0) words_.assign(values, values + count);
}

bool Args::flag(std::string_view name) {
  const auto at = std::find(words_.begin(), words_.end(), name);
  if (at == words_.end()) return false;
  words_.erase(at);
  return true;
}

std::optional<std::string> Args::value(std::string_view name) {
  const std::string with_equals = std::string(name) + "=";
  for (auto at = words_.begin(); at != words_.end(); ++at) {
    if (at->starts_with(with_equals)) {
      std::string value = at->substr(with_equals.size());
      words_.erase(at);
      return value;
    }
    if (*at == name) {
      if (at + 1 == words_.end()) throw UsageError(std::string(name) + " needs a value");
      std::string value = *(at + 1);
      words_.erase(at, at + 2);
      return value;
    }
  }
  return std::nullopt;
}

std::vector<std::string> Args::operands(std::size_t most) {
  for (const std::string& word : words_) {
    if (word.starts_with("-") && word.size() > 1) throw UsageError("unknown option '" + word + "'");
  }
  if (words_.size() > most) throw UsageError("unexpected argument '" + words_[most] + "'");
  return words_;
}

int64_t parse_integer(const std::string& word, std::string_view what, int64_t min, int64_t max) {
  int64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stopped_at, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stopped_at != end || value < min || value > max) {
    throw UsageError(std::string(what) + " is '" + word + "', expected a whole number from " + std::to_string(min) +
                     " to " + std::to_string(max));
  }
  return value;
}

}  // namespace tool
