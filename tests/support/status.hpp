// Assertions on what a call of the library returned, and on the sentence it left.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <initializer_list>
#include <regex>
#include <string>
#include <string_view>

#include "gpumem.h"

namespace gpumem_test {

inline std::string last_error() {
  int64_t needed = 0;
  if (gpumem_last_error(nullptr, 0, &needed) != GPUMEM_OK) return "(gpumem_last_error failed)";
  std::string text(static_cast<size_t>(needed), '\0');
  if (gpumem_last_error(text.data(), needed, nullptr) != GPUMEM_OK) return "(gpumem_last_error failed)";
  text.resize(text.size() - 1);
  return text;
}

// Leaves a known sentence behind, so that a later check can't be satisfied by an older failure's.
inline void forget_last_error() {
  gpumem_device_info info;
  info.struct_size = sizeof info;
  gpumem_device_query(-424242, &info);
}

inline testing::AssertionResult gives(gpumem_status expected, gpumem_status got) {
  if (got == expected) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure();
  failure << "got " << gpumem_status_name(got) << " (" << got << "), expected " << gpumem_status_name(expected);
  if (got != GPUMEM_OK) failure << "; the last sentence is: " << last_error();
  return failure;
}

inline testing::AssertionResult ok(gpumem_status got) { return gives(GPUMEM_OK, got); }

// True when `word` stands in the text with nothing but punctuation and spaces around it.
inline bool contains_word(std::string_view text, std::string_view word) {
  const auto joins = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !joins(text[at - 1]);
    const size_t end = at + word.size();
    if (starts && (end == text.size() || !joins(text[end]))) return true;
  }
  return false;
}

// Whether one or two words come twice in a row. A format and its argument that both have them give "on the on the
// device".
inline bool repeats_words(const std::string& sentence) {
  static const std::regex twice(R"((^|\s)([a-z]+( [a-z]+)?) \2(?![\w-]))");
  return std::regex_search(sentence, twice);
}

// The status, and a sentence with all of the words: the argument's name, the value that was given. A caller's mistake
// in a value must also say what was expected.
inline testing::AssertionResult refused(gpumem_status expected, gpumem_status got,
                                        std::initializer_list<std::string> words) {
  if (const auto status = gives(expected, got); !status) return status;
  const std::string sentence = last_error();
  forget_last_error();
  for (const std::string& word : words) {
    if (!contains_word(sentence, word)) {
      return testing::AssertionFailure() << "the sentence does not name '" << word << "': " << sentence;
    }
  }
  if (repeats_words(sentence)) return testing::AssertionFailure() << "the sentence says a word twice: " << sentence;
  const bool value = got == GPUMEM_INVALID_ARGUMENT || got == GPUMEM_NOT_FOUND;
  if (value && sentence.find("expected") == std::string::npos) {
    return testing::AssertionFailure() << "the sentence does not say what was expected: " << sentence;
  }
  return testing::AssertionSuccess();
}

}  // namespace gpumem_test
