// A file to be read.
#pragma once

#include <fstream>
#include <string>

namespace tool {

// Else a Failure with the system's reason.
std::ifstream open_input(const std::string& path);

}  // namespace tool
