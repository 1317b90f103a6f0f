// A file that is whole, or as it was before: written beside its place, and moved there at the end. One at a time: what is beside goes
// when Ctrl-C or the like ends the process.
#pragma once

#include <string>
#include <string_view>

namespace tool {

class OutputFile {
 public:
  // Each throws a Failure with the system's reason. A link stays one, and what it leads to is replaced. What is no
  // ordinary file, as /dev/full, is written where it is; what a standard stream writes to, as /dev/stdout, behind what is
  // there.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  [[noreturn]] void fail(const char* doing) const;

  std::string path_;
  std::string aside_;  // empty: none is left to be moved or removed
  int file_ = -1;
};

// Whether a file can be written there, before minutes go by: else a Failure. An empty path is none.
void try_output(const std::string& path);

}  // namespace tool
