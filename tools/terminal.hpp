// What the standard streams are connected to.
#pragma once

#include <string>
#include <string_view>

namespace tool {

enum class Colours { none, palette256, rgb24 };

// What standard output can show. none: not a terminal, NO_COLOR is set, a dumb terminal, or not UTF-8.
Colours output_colours();

// The width of standard output's terminal, 80 if it is none.
int output_columns();

}  // namespace tool
