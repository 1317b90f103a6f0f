// What the targets share. Each is a program with libFuzzer's entry point, or with one that replays files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace gpumem_fuzz {

// What must hold, whatever the input.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// A file of these bytes, for as long as it lives.
class File {
 public:
  File(const uint8_t* data, size_t size) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(file_ >= 0 && write(file_, data, size) == static_cast<ssize_t>(size), "a file of the input");
  }
  ~File() { close(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace gpumem_fuzz
