// The tool's reader of .npy files: a grid or a Failure.
#include "tools/npy.hpp"

#include <vector>

#include "fuzz/fuzz.hpp"
#include "tools/failure.hpp"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const gpumem_fuzz::File file(data, size);
  try {
    tool::NpyReader reader(file.path(), tool::NpyReader::Takes::grid);
    const tool::NpyHeader& header = reader.header();
    const int64_t bytes = header.rows * header.cols * header.element_bytes;
    gpumem_fuzz::require(header.rows >= 0 && header.cols >= 0 && bytes <= static_cast<int64_t>(size),
                         "a grid of more elements than the file has");
    std::vector<int32_t> grid(static_cast<size_t>(header.rows * header.cols));
    reader.read(grid);
  } catch (const tool::Failure&) {
  }
  return 0;
}
