// Files by their whole contents. All of it throws FILE_ERROR; what: "the tuning file", as a sentence names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpumem {

// Nothing where there is no such file.
std::optional<std::string> read_file(const char* what, const char* path);

// Written aside and renamed: who reads the file meanwhile sees all of what was there before, or all of this. The mode
// stays as it was.
void replace_file(const char* what, const std::string& path, std::string_view text);

}  // namespace gpumem
