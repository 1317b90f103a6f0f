// Text of others as it stands in sentences of the library, which may be shown on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpumem {

// Copies as much of the text as fits with a NUL. What a terminal obeys, or what hides or turns round its neighbours, becomes \xNN or \uNNNN:
// control characters, those of direction (bidirectional), line and paragraph separators, and each byte that is no UTF-8.
void copy_printable(char* to, size_t capacity, std::string_view text) noexcept;

}  // namespace gpumem
