// A file that is either complete or unchanged: a temporary file in its folder replaces it at the end. Only one at a
// time, because a signal that ends the process removes only one temporary file.
#pragma once

#include <string>
#include <string_view>

namespace tool {

class OutputFile {
 public:
  // Each function throws a Failure with the system's reason. A link is kept and its target is replaced. A special file
  // such as /dev/full is written directly. A target of a standard stream, such as /dev/stdout, is appended to.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  [[noreturn]] void fail(const char* doing) const;

  std::string path_;
  std::string aside_;  // empty: nothing to be moved or removed
  int file_ = -1;
};

// Throws a Failure if the file cannot be written, before minutes of work. An empty path is accepted.
void try_output(const std::string& path);

}  // namespace tool
