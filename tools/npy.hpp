// NumPy's .npy files, format versions 1.0 to 3.0: two-dimensional grids of integers, taken and refused as NumPy does.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace tool {

struct NpyHeader {
  std::string dtype;  // as the file gives it, "<i2"
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t element_bytes = 0;  // 1, 2 or 4
  bool is_signed = false;
  bool big_endian = false;
  bool fortran_order = false;  // column after column
};

class NpyReader {
 public:
  // Opens the file and reads its header. Takes i1, u1, i2, u2 and i4 of either byte order, and throws a Failure for
  // anything else, and for a file that is shorter than its header says.
  explicit NpyReader(const std::string& path);

  const NpyHeader& header() const { return header_; }

  // The elements, widened to int32 and row after row, into rows * cols places.
  void read(std::span<int32_t> grid);

 private:
  std::string path_;
  std::ifstream file_;
  NpyHeader header_;
};

// Writes a rows x cols grid, row after row, as version 1.0. The file is replaced when all of it is written.
void write_npy(const std::string& path, std::span<const int32_t> grid, int64_t rows, int64_t cols);

}  // namespace tool
