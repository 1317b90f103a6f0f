#include "literal.hpp"

#include <algorithm>
#include <charconv>

namespace tool {
namespace {

constexpr int kDeepest = 32;  // of nested brackets

class Parser {
 public:
  Parser(std::string_view text, bool long_suffix) : rest_(text), long_suffix_(long_suffix) {}

  std::optional<Literal> whole() {
    std::optional<Literal> literal = value(0);
    skip_space();
    return rest_.empty() ? literal : std::nullopt;
  }

 private:
  using Kind = Literal::Kind;

  void skip_space() {
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r\f"), rest_.size()));
      if (!rest_.starts_with('#')) return;
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
  }

  bool take(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<Literal> value(int depth) {
    if (depth > kDeepest) return std::nullopt;
    if (take("{")) return dictionary(depth);
    if (take("(")) return items(Kind::tuple, ")", depth);
    if (take("[")) return items(Kind::list, "]", depth);
    if (take("True")) return Literal{Kind::boolean, {}, 1, {}, {}};
    if (take("False")) return Literal{Kind::boolean, {}, 0, {}, {}};
    if (take("None")) return Literal{};
    if (rest_.starts_with("u'") || rest_.starts_with("u\"")) rest_.remove_prefix(1);
    if (rest_.starts_with('\'') || rest_.starts_with('"')) return string();
    return integer();
  }

  std::optional<Literal> string() {
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    Literal literal{Kind::string, std::string(rest_.substr(1, end - 1)), 0, {}, {}};
    rest_.remove_prefix(end + 1);
    if (literal.text.find_first_of("\\\n") != std::string::npos) return std::nullopt;
    return literal;
  }

  std::optional<Literal> integer() {
    Literal literal{Kind::integer, {}, 0, {}, {}};
    if (rest_.starts_with('+')) rest_.remove_prefix(1);
    const char* const end = rest_.data() + rest_.size();
    const auto [stopped_at, error] = std::from_chars(rest_.data(), end, literal.number);
    const std::string_view digits(rest_.data(), static_cast<size_t>(stopped_at - rest_.data()));
    if (error != std::errc{} || (digits.starts_with('0') && literal.number != 0)) return std::nullopt;
    rest_.remove_prefix(digits.size());
    if (long_suffix_ && rest_.starts_with('L')) rest_.remove_prefix(1);
    return literal;
  }

  // Up to the closing bracket, with an optional comma at the end. A single value in parentheses is the value itself.
  std::optional<Literal> items(Kind kind, std::string_view close, int depth) {
    Literal literal{kind, {}, 0, {}, {}};
    bool comma = true;
    while (!take(close)) {
      if (!comma) return std::nullopt;
      std::optional<Literal> item = value(depth + 1);
      if (!item) return std::nullopt;
      literal.items.push_back(std::move(*item));
      comma = take(",");
    }
    if (kind == Kind::tuple && literal.items.size() == 1 && !comma) {
      Literal alone = std::move(literal.items.front());
      return alone;
    }
    return literal;
  }

  std::optional<Literal> dictionary(int depth) {
    Literal literal{Kind::dictionary, {}, 0, {}, {}};
    bool comma = true;
    while (!take("}")) {
      if (!comma) return std::nullopt;
      std::optional<Literal> key = value(depth + 1);
      if (!key || !take(":")) return std::nullopt;
      std::optional<Literal> item = value(depth + 1);
      if (!item) return std::nullopt;
      literal.keys.push_back(std::move(*key));
      literal.items.push_back(std::move(*item));
      comma = take(",");
    }
    return literal;
  }

  std::string_view rest_;
  bool long_suffix_;
};

}  // namespace

const Literal* Literal::find(std::string_view key) const {
  for (size_t i = keys.size(); i-- > 0;) {
    if (keys[i].kind == Kind::string && keys[i].text == key) return &items[i];
  }
  return nullptr;
}

std::optional<Literal> parse_literal(std::string_view text, bool long_suffix) {
  return Parser(text, long_suffix).whole();
}

}  // namespace tool
