#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gpumem {
namespace {

struct Character {
  uint32_t code;
  size_t bytes;
  bool valid;
};

// A byte that begins no valid character counts as one character.
Character first_of(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text[0]);
  const Character byte{lead, 1, lead < 0x80};
  const size_t bytes = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (bytes == 1 || bytes > text.size()) return byte;
  uint32_t code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return byte;
    code = code << 6 | (next & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0x80, 0x800, 0x10000};  // of 2, 3 and 4 bytes
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[bytes - 2] || code > 0x10ffff || surrogate ? byte : Character{code, bytes, true};
}

bool obeyed(uint32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

void copy_printable(char* to, size_t capacity, std::string_view text) noexcept {
  constexpr char kDigits[] = "0123456789abcdef";
  while (!text.empty()) {
    const Character c = first_of(text);
    char shown[6] = {'\\', c.code < 0x100 ? 'x' : 'u'};
    size_t length = c.bytes;
    if (c.valid && !obeyed(c.code)) {
      std::memcpy(shown, text.data(), length);
    } else {
      length = c.code < 0x100 ? 4 : 6;
      for (size_t i = 2; i < length; ++i) shown[i] = kDigits[c.code >> (4 * (length - 1 - i)) & 0xf];
    }
    if (length >= capacity) break;
    to = std::copy_n(shown, length, to);
    capacity -= length;
    text.remove_prefix(c.bytes);
  }
  *to = '\0';
}

}  // namespace gpumem
