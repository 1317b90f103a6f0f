// The arguments of a resize by name: those of image 3 of a batch are src[3], src_rows[3], and so on.
#pragma once

#include <cstdint>
#include <string_view>

#include "ops/lists.hpp"

namespace gpumem {

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
