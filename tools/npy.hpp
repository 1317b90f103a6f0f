// NumPy's .npy files, format versions 1.0 to 3.0, accepted and rejected as NumPy does: two-dimensional grids of
// integers, and arrays of types that the library reduces.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace tool {

struct NpyHeader {
  std::string dtype;  // as in the file, "<i2"
  gpumem_dtype type = GPUMEM_I32;
  int64_t element_bytes = 0;
  int64_t elements = 0;
  int64_t rows = 0;  // of a grid
  int64_t cols = 0;
  bool big_endian = false;
  bool fortran_order = false;  // column by column
};

class NpyReader {
 public:
  // grid: two axes of i1, u1, i2, u2 or i4. array: any axes, i1 to i8, u1 to u8, f2, f4 and f8.
  enum class Takes { grid, array };

  // Opens the file and reads its header, in either byte order. Throws a Failure for anything else, and for a file that
  // is shorter than its header says.
  NpyReader(const std::string& path, Takes takes);

  const NpyHeader& header() const { return header_; }

  // Reads the elements, widened to int32 and row by row, into rows * cols places. Ctrl-C stops it.
  void read(std::span<int32_t> grid);

  // Reads the elements of an array in the file's order, in this machine's byte order.
  void read_as_stored(unsigned char* into);

 private:
  std::string path_;
  std::ifstream file_;
  NpyHeader header_;
};

// Writes a rows x cols grid, row by row, as version 1.0. The file is replaced only when all of it is written; Ctrl-C
// leaves the old one.
void write_npy(const std::string& path, std::span<const int32_t> grid, int64_t rows, int64_t cols);

}  // namespace tool
