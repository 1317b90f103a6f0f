#include "npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kChunkElements = int64_t{1} << 20;

// The header is a Python dictionary: {'descr': '<i2', 'fortran_order': False, 'shape': (344, 403), }.
class HeaderText {
 public:
  HeaderText(const std::string& path, std::string text) : path_(path), text_(std::move(text)) {}

  NpyHeader parse() const {
    NpyHeader header;
    parse_dtype(header);
    parse_order(header);
    parse_shape(header);
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Failure(path_ + ": " + what); }

  // What stands behind 'key':.
  std::string_view value_of(std::string_view key) const {
    const std::string_view text = text_;
    auto at = text.find(std::string("'").append(key).append("'"));
    if (at != std::string_view::npos) at = text.find(':', at);
    if (at != std::string_view::npos) at = text.find_first_not_of(' ', at + 1);
    if (at == std::string_view::npos) fail("the header has no '" + std::string(key) + "'");
    return text.substr(at);
  }

  void parse_dtype(NpyHeader& header) const {
    const std::string_view value = value_of("descr");
    const auto end = value.find('\'', 1);
    if (value.front() != '\'' || end == std::string_view::npos) fail("structured dtypes are not supported");
    const std::string_view dtype = value.substr(1, end - 1);
    const std::string_view type = dtype.empty() ? dtype : dtype.substr(1);
    if (type != "i1" && type != "u1" && type != "i2" && type != "u2" && type != "i4") {
      fail("dtype '" + std::string(dtype) + "' is not supported, expected i1, u1, i2, u2 or i4");
    }
    header.dtype = dtype;
    header.is_signed = type[0] == 'i';
    header.element_bytes = type[1] - '0';
    if (dtype[0] != '<' && dtype[0] != '>' && !(dtype[0] == '|' && header.element_bytes == 1)) {
      fail("dtype '" + std::string(dtype) + "' has no known byte order");
    }
    header.big_endian = dtype[0] == '>';
  }

  void parse_order(NpyHeader& header) const {
    const std::string_view value = value_of("fortran_order");
    header.fortran_order = value.starts_with("True");
    if (!header.fortran_order && !value.starts_with("False")) fail("'fortran_order' is neither True nor False");
  }

  void parse_shape(NpyHeader& header) const {
    const std::string_view value = value_of("shape");
    const auto end = value.find(')');
    if (value.front() != '(' || end == std::string_view::npos) fail("'shape' is not a tuple");
    const std::string_view shape = value.substr(0, end + 1);
    std::vector<int64_t> extents;
    for (const char* at = value.data() + 1; at < value.data() + end;) {
      int64_t extent = 0;
      const auto [stopped_at, error] = std::from_chars(at, value.data() + end, extent);
      if (error != std::errc{} || extent < 0) fail("shape " + std::string(shape) + " is not a tuple of counts");
      extents.push_back(extent);
      at = std::find_if_not(stopped_at, value.data() + end, [](char c) { return c == ',' || c == ' '; });
    }
    if (extents.size() != 2) fail("shape " + std::string(shape) + " is not two-dimensional");
    header.rows = extents[0];
    header.cols = extents[1];
    if (header.rows == 0 || header.cols == 0) fail("shape " + std::string(shape) + " has no elements");
    if (header.rows > std::numeric_limits<int64_t>::max() / 4 / header.cols) {
      fail("shape " + std::string(shape) + " is too large");
    }
  }

  const std::string& path_;
  std::string text_;
};

uint32_t from_little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string read_bytes(std::ifstream& file, const std::string& path, std::size_t bytes) {
  std::string text(bytes, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(bytes))) throw Failure(path + ": the header is cut off");
  return text;
}

NpyHeader read_header(std::ifstream& file, const std::string& path) {
  std::string magic(kMagic.size(), '\0');
  if (!file.read(magic.data(), static_cast<std::streamsize>(magic.size())) || magic != kMagic) {
    throw Failure(path + ": not an .npy file");
  }
  const std::string version = read_bytes(file, path, 2);
  if (version[0] != 1 && version[0] != 2) {
    throw Failure(format("%s: .npy version %d is not supported, expected 1 or 2", path.c_str(), version[0]));
  }
  const uint32_t length = from_little_endian(read_bytes(file, path, version[0] == 1 ? 2 : 4));
  if (length > 1U << 20) throw Failure(path + ": the header is longer than 1 MiB");
  return HeaderText(path, read_bytes(file, path, length)).parse();
}

// The i-th element of the raw bytes, widened.
template <class T>
int32_t element(const std::vector<char>& raw, int64_t i, bool swap) {
  std::array<char, sizeof(T)> bytes;
  std::copy_n(raw.begin() + i * static_cast<int64_t>(sizeof(T)), sizeof(T), bytes.begin());
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

// Places elements first .. first+count of the file's order in the grid.
template <class T>
void place(const NpyHeader& header, const std::vector<char>& raw, int64_t first, int64_t count,
           std::span<int32_t> grid) {
  const bool swap = header.big_endian != (std::endian::native == std::endian::big);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = first + i;
    const int64_t at = header.fortran_order ? k % header.rows * header.cols + k / header.rows : k;
    grid[static_cast<std::size_t>(at)] = element<T>(raw, i, swap);
  }
}

void place(const NpyHeader& header, const std::vector<char>& raw, int64_t first, int64_t count,
           std::span<int32_t> grid) {
  switch (header.element_bytes) {
    case 1:
      return header.is_signed ? place<int8_t>(header, raw, first, count, grid)
                              : place<uint8_t>(header, raw, first, count, grid);
    case 2:
      return header.is_signed ? place<int16_t>(header, raw, first, count, grid)
                              : place<uint16_t>(header, raw, first, count, grid);
    default:
      return place<int32_t>(header, raw, first, count, grid);
  }
}

}  // namespace

NpyReader::NpyReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_) throw Failure(path + ": cannot be opened for reading");
  header_ = read_header(file_, path_);
  // Before anybody allocates memory for what a damaged header claims.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path_, error)) return;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path_, error));
  const int64_t expected = file_.tellg() + header_.rows * header_.cols * header_.element_bytes;
  if (!error && size < expected) {
    throw Failure(format("%s: the file has %lld bytes, its header asks for %lld", path_.c_str(),
                         static_cast<long long>(size), static_cast<long long>(expected)));
  }
}

void NpyReader::read(std::span<int32_t> grid) {
  const int64_t count = header_.rows * header_.cols;
  if (static_cast<int64_t>(grid.size()) != count) throw Failure(path_ + ": the grid's size is not the file's");
  std::vector<char> raw(static_cast<std::size_t>(std::min(count, kChunkElements) * header_.element_bytes));
  for (int64_t first = 0; first < count; first += kChunkElements) {
    const int64_t here = std::min(kChunkElements, count - first);
    if (!file_.read(raw.data(), here * header_.element_bytes)) throw Failure(path_ + ": the data is cut off");
    place(header_, raw, first, here, grid);
  }
}

void write_npy(const std::string& path, std::span<const int32_t> grid, int64_t rows, int64_t cols) {
  const char order = std::endian::native == std::endian::big ? '>' : '<';
  std::string header = format("{'descr': '%ci4', 'fortran_order': False, 'shape': (%lld, %lld), }", order,
                              static_cast<long long>(rows), static_cast<long long>(cols));
  // The data starts at a multiple of 64 bytes; the header ends in a newline.
  const std::size_t prefix = kMagic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ').append("\n");

  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) throw Failure(path + ": cannot be opened for writing");
  file << kMagic << '\x01' << '\x00' << static_cast<char>(header.size() & 0xff) << static_cast<char>(header.size() >> 8)
       << header;
  file.write(reinterpret_cast<const char*>(grid.data()), static_cast<std::streamsize>(grid.size_bytes()));
  file.close();
  if (!file) throw Failure(path + ": writing failed");
}

}  // namespace tool
