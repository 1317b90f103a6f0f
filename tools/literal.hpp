// Python literals as ast.literal_eval() takes them: the language of .npy headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

struct Literal {
  enum class Kind { string, integer, boolean, none, tuple, list, dictionary };

  // The value of the last of equal keys, as in Python; nullptr if absent.
  const Literal* find(std::string_view key) const;

  Kind kind = Kind::none;
  std::string text;            // of a string
  int64_t number = 0;          // of an integer or a boolean
  std::vector<Literal> items;  // of a tuple, a list or a dictionary (its values)
  std::vector<Literal> keys;   // of a dictionary
};

// nullopt: not a literal, or an integer does not fit. long_suffix: an L may follow an integer, as in Python 2. Strings
// have no backslashes and are not joined, and integers are decimal, because no writer of headers does otherwise.
std::optional<Literal> parse_literal(std::string_view text, bool long_suffix);

}  // namespace tool
