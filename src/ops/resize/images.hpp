// The arguments of a resize by name: those of image 3 of a batch are src[3], src_rows[3], and so on.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "ops/plan.hpp"

namespace gpumem {

struct ArgumentName {
  char text[48];

  // index < 0: the name alone.
  ArgumentName(std::string_view before, std::string_view argument, std::string_view after, int64_t index) noexcept {
    char* to = text;
    const auto put = [&](std::string_view part) {
      std::memcpy(to, part.data(), part.size());
      to += part.size();
    };
    put(before);
    put(argument);
    put(after);
    if (index >= 0) {
      *to++ = '[';
      to = std::to_chars(to, text + sizeof text - 2, index).ptr;
      *to++ = ']';
    }
    *to = '\0';
  }
  operator const char*() const noexcept { return text; }  // NOLINT(google-explicit-constructor): it is a name
};

struct ImageNames {
  ArgumentName image;
  ArgumentName rows;
  ArgumentName cols;
  ArgumentName pitch;
  ArgumentName bytes;

  // side: "src" or "dst".
  static ImageNames of(std::string_view side, int64_t index = -1) noexcept {
    return {{"", side, "", index},
            {"", side, "_rows", index},
            {"", side, "_cols", index},
            {"", side, "_pitch_bytes", index},
            {"bytes of ", side, "", index}};
  }
};

}  // namespace gpumem
