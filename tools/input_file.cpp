#include "input_file.hpp"

#include <cerrno>
#include <system_error>

#include "failure.hpp"

namespace tool {

// A folder can be opened but not read.
std::ifstream open_input(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (file) file.peek();
  if (!file.is_open() || file.bad()) {
    throw Failure(path + ": cannot be read: " + std::generic_category().message(errno));
  }
  file.clear();
  return file;
}

}  // namespace tool
