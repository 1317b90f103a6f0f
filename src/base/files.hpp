// Files by their whole contents. What is told a `what` throws FILE_ERROR; what: "the tuning file", as a sentence names it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpumem {

// Nothing where there is no such file.
std::optional<std::string> read_file(const char* what, const char* path);

// Written aside and renamed: who reads the file meanwhile sees all of what was there before, or all of this. The mode
// stays as it was.
void replace_file(const char* what, const std::string& path, std::string_view text);

// The beginning of a file that may have no size, such as those of /proc, ended by a zero. "" if it cannot be read. Takes no lock and no memory.
void read_beginning(const char* path, char* text, size_t capacity) noexcept;

}  // namespace gpumem
