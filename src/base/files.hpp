// Reads and replaces whole files. Functions with a `what`, such as "the tuning file", throw FILE_ERROR.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpumem {

std::optional<std::string> read_file(const char* what, const char* path);

// Writes a temporary file and renames it, so a reader sees the old or the new contents in full. The mode is preserved.
void replace_file(const char* what, const std::string& path, std::string_view text);

// Reads the beginning of a file of unknown size (/proc), NUL-terminated; "" if it cannot. No lock, no allocation.
void read_beginning(const char* path, char* text, size_t capacity) noexcept;

}  // namespace gpumem
