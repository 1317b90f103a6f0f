// Text of others in sentences: what a terminal obeys is shown and not sent.
#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/log.hpp"

namespace gpumem {
namespace {

std::string shown(std::string_view text, size_t capacity = 64) {
  std::string buffer(capacity + 1, '#');
  copy_printable(buffer.data(), capacity, text);
  EXPECT_EQ(buffer[capacity], '#') << "a byte behind the end";
  return buffer.c_str();
}

TEST(Printable, WhatIsHarmlessStaysAsItIs) {
  for (const char* text : {"", "plain ~ text", "\u00a0\u00e9\u00ff", "\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a",
                           "\ud7ff\ue000\uffff", "\U00010000\U0001f600\U0010ffff"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(Printable, ControlCharactersAreShown) {
  EXPECT_EQ(shown("a\tb\nc\r\x1b[2J"), "a\\x09b\\x0ac\\x0d\\x1b[2J");
  EXPECT_EQ(shown(std::string_view("\0\x1f\x7f", 3)), "\\x00\\x1f\\x7f");
  EXPECT_EQ(shown("\u0080\u009b\u009f"), "\\x80\\x9b\\x9f");
  EXPECT_EQ(shown("\u061c\u200e\u200f\u2028\u2029"), "\\u061c\\u200e\\u200f\\u2028\\u2029");
  EXPECT_EQ(shown("\u202a\u202b\u202c\u202d\u202e"), "\\u202a\\u202b\\u202c\\u202d\\u202e");
  EXPECT_EQ(shown("\u2066\u2067\u2068\u2069"), "\\u2066\\u2067\\u2068\\u2069");
}

TEST(Printable, BytesThatAreNoUtf8AreShown) {
  EXPECT_EQ(shown("\x80 \xbf \xc0\xaf \xc1\xbf"), "\\x80 \\xbf \\xc0\\xaf \\xc1\\xbf");
  EXPECT_EQ(shown("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf") << "longer than it has to be";
  EXPECT_EQ(shown("\xf0\x8f\xbf\xbf"), "\\xf0\\x8f\\xbf\\xbf") << "likewise";
  EXPECT_EQ(shown("\xed\xa0\x80\xed\xbf\xbf"), "\\xed\\xa0\\x80\\xed\\xbf\\xbf") << "surrogates";
  EXPECT_EQ(shown("\xf4\x90\x80\x80\xf5\xff"), "\\xf4\\x90\\x80\\x80\\xf5\\xff") << "beyond the last";
  EXPECT_EQ(shown("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(shown("\xe2\x80"), "\\xe2\\x80") << "likewise";
  EXPECT_EQ(shown("\xe2\x80z\xc3\xa9"), "\\xe2\\x80z\u00e9");
}

TEST(Printable, TheEndComesBetweenTwoCharacters) {
  const char* const text = "ab\u00e9\x1b\u202e";
  EXPECT_EQ(shown(text, 1), "");
  EXPECT_EQ(shown(text, 3), "ab");
  EXPECT_EQ(shown(text, 4), "ab");
  EXPECT_EQ(shown(text, 5), "ab\u00e9");
  EXPECT_EQ(shown(text, 8), "ab\u00e9");
  EXPECT_EQ(shown(text, 9), "ab\u00e9\\x1b");
  EXPECT_EQ(shown(text, 14), "ab\u00e9\\x1b");
  EXPECT_EQ(shown(text, 15), "ab\u00e9\\x1b\\u202e");
}

TEST(Printable, EverySentenceAndMessageIs) {
  EXPECT_STREQ(Error(GPUMEM_FILE_ERROR, "'\x1b\u202e'").what(), "'\\x1b\\u202e'");
  std::string message;
  Log log;
  log.set([](void* user, gpumem_log_level, const char* text) { *static_cast<std::string*>(user) = text; }, &message);
  log.write(GPUMEM_LOG_INFO, "'%s'", "\n\u009b\xff");
  EXPECT_EQ(message, "'\\x0a\\x9b\\xff'");
}

}  // namespace
}  // namespace gpumem
