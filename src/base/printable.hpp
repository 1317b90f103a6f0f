// Makes foreign text safe for messages on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpumem {

// Copies as much of the text as fits with a NUL. Writes \xNN or \uNNNN for control characters, bidirectional controls,
// line and paragraph separators, and bytes that are not UTF-8.
void copy_printable(char* to, size_t capacity, std::string_view text) noexcept;

}  // namespace gpumem
