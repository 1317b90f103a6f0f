// Properties of the terminal of a standard stream.
#pragma once

#include <string>
#include <string_view>

namespace tool {

enum class Colours { none, palette256, rgb24 };

// none: standard output is not a terminal, NO_COLOR is set, the terminal is dumb, or the text is not UTF-8.
Colours output_colours();

// The width of the terminal of standard output, or 80.
int output_columns();

}  // namespace tool
