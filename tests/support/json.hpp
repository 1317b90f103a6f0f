// A strict reader of JSON (RFC 8259), as small as the tests need it: a text that it takes is JSON.
#pragma once

#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpumem_test {

struct Json {
  enum class Type { null, boolean, number, string, array, object };
  Type type = Type::null;
  std::string text;  // of a string, unescaped but for \u; of a number or a boolean, as it was written
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;

  // The member of an object; null when there is none.
  const Json& member(std::string_view name) const {
    static const Json kNull;
    for (const auto& [key, value] : members) {
      if (key == name) return value;
    }
    return kNull;
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  std::optional<Json> read() {
    Json json;
    if (!value(json)) return std::nullopt;
    spaces();
    if (at_ != text_.size()) return std::nullopt;
    return json;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void spaces() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool value(Json& out) {
    spaces();
    switch (peek()) {
      case '{':
        return object(out);
      case '[':
        return array(out);
      case '"':
        out.type = Json::Type::string;
        return string(out.text);
      case 't':
      case 'f':
        out.type = Json::Type::boolean;
        out.text = peek() == 't' ? "true" : "false";
        return take(out.text);
      case 'n':
        return take("null");
      default:
        return number(out);
    }
  }

  bool digits() {
    const size_t start = at_;
    while (std::isdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
    return at_ > start;
  }

  bool number(Json& out) {
    const size_t start = at_;
    take("-");
    const size_t first = at_;
    if (!digits() || (text_[first] == '0' && at_ - first > 1)) return false;
    if (take(".") && !digits()) return false;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (!take("+")) take("-");
      if (!digits()) return false;
    }
    out.type = Json::Type::number;
    out.text = text_.substr(start, at_ - start);
    return true;
  }

  bool string(std::string& out) {
    if (!take("\"")) return false;
    while (at_ < text_.size() && peek() != '"') {
      if (static_cast<unsigned char>(peek()) < 0x20) return false;
      if (peek() != '\\') {
        out += text_[at_++];
      } else if (!escape(out)) {
        return false;
      }
    }
    return take("\"");
  }

  bool escape(std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    ++at_;
    if (const size_t letter = kLetters.find(peek()); letter != std::string_view::npos) {
      out += kMeanings[letter];
      ++at_;
      return true;
    }
    if (!take("u")) return false;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (std::isxdigit(static_cast<unsigned char>(peek())) == 0) return false;
      out += peek();
    }
    return true;
  }

  bool array(Json& out) {
    out.type = Json::Type::array;
    take("[");
    spaces();
    if (take("]")) return true;
    do {
      if (!value(out.items.emplace_back())) return false;
      spaces();
    } while (take(","));
    return take("]");
  }

  bool object(Json& out) {
    out.type = Json::Type::object;
    take("{");
    spaces();
    if (take("}")) return true;
    do {
      spaces();
      auto& [key, member] = out.members.emplace_back();
      if (!string(key)) return false;
      spaces();
      if (!take(":") || !value(member)) return false;
      spaces();
    } while (take(","));
    return take("}");
  }

  std::string_view text_;
  size_t at_ = 0;
};

inline std::optional<Json> parse_json(std::string_view text) { return JsonReader(text).read(); }

}  // namespace gpumem_test
