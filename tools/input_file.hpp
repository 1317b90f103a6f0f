// Opens input files.
#pragma once

#include <fstream>
#include <string>

namespace tool {

// Throws a Failure with the system's reason.
std::ifstream open_input(const std::string& path);

}  // namespace tool
