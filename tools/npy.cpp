#include "npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "input_file.hpp"
#include "interrupted.hpp"
#include "literal.hpp"
#include "output_file.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint32_t kLongestHeader = 10000;  // NumPy's own limit
constexpr int64_t kChunkElements = int64_t{1} << 20;

// As numpy.dtype() names them, without a byte order. Grids use the first five.
struct ElementType {
  std::string_view names[4];
  int64_t bytes;
  gpumem_dtype type;
};
constexpr ElementType kElementTypes[] = {
    {{"i1", "b", "int8", "byte"}, 1, GPUMEM_I8},      {{"u1", "B", "uint8", "ubyte"}, 1, GPUMEM_U8},
    {{"i2", "h", "int16", "short"}, 2, GPUMEM_I16},   {{"u2", "H", "uint16", "ushort"}, 2, GPUMEM_U16},
    {{"i4", "i", "int32", "intc"}, 4, GPUMEM_I32},    {{"u4", "I", "uint32", "uintc"}, 4, GPUMEM_U32},
    {{"i8", "l", "int64", "q"}, 8, GPUMEM_I64},       {{"u8", "L", "uint64", "Q"}, 8, GPUMEM_U64},
    {{"f2", "e", "float16", "half"}, 2, GPUMEM_F16},  {{"f4", "f", "float32", "single"}, 4, GPUMEM_F32},
    {{"f8", "d", "float64", "double"}, 8, GPUMEM_F64}};
constexpr std::ptrdiff_t kGridTypes = 5;
constexpr std::string_view kBools[] = {"b1", "?", "bool"};

constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};

// The header is a Python dictionary: {'descr': '<i2', 'fortran_order': False, 'shape': (344, 403), }.
class HeaderText {
 public:
  HeaderText(const std::string& path, const std::string& text, bool long_suffix, NpyReader::Takes takes)
      : path_(path), is_grid_(takes == NpyReader::Takes::grid) {
    std::optional<Literal> literal = parse_literal(text, long_suffix);
    if (!literal || literal->kind != Literal::Kind::dictionary) fail("the header is not a Python dictionary");
    fields_ = std::move(*literal);
    for (const Literal& key : fields_.keys) {
      if (key.kind != Literal::Kind::string ||
          std::find(std::begin(kKeys), std::end(kKeys), key.text) == std::end(kKeys))
        fail("the header has a key other than 'descr', 'fortran_order' and 'shape'");
    }
  }

  NpyHeader parse() const {
    NpyHeader header;
    parse_dtype(header);
    parse_order(header);
    parse_shape(header);
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Failure(path_ + ": " + what); }

  const Literal& value_of(std::string_view key) const {
    const Literal* value = fields_.find(key);
    if (value == nullptr) fail("the header has no '" + std::string(key) + "'");
    return *value;
  }

  // Only short names have a byte order; '=', '|' and none mean this machine's.
  void parse_dtype(NpyHeader& header) const {
    const Literal& value = value_of("descr");
    if (value.kind != Literal::Kind::string) fail("structured dtypes are not supported");
    std::string_view name = value.text;
    const bool has_order = name.size() > 1 && name.size() <= 3 && name.find_first_of("<>=|") == 0;
    const char order = has_order ? name.front() : '=';
    if (has_order) name.remove_prefix(1);
    const ElementType* const end = is_grid_ ? kElementTypes + kGridTypes : std::end(kElementTypes);
    const ElementType* const type = std::find_if(std::begin(kElementTypes), end, [&](const auto& t) {
      return std::find(std::begin(t.names), std::end(t.names), name) != std::end(t.names);
    });
    if (type == end) {
      const bool is_bool = std::find(std::begin(kBools), std::end(kBools), name) != std::end(kBools);
      fail("dtype '" + value.text + "' is not supported, expected " +
           (is_grid_ ? "i1, u1, i2, u2 or i4" : "i1 to i8, u1 to u8, f2, f4 or f8") +
           (is_bool ? ": save .view('u1') of the array, which has bools as numbers" : ""));
    }
    header.dtype = value.text;
    header.type = type->type;
    header.element_bytes = type->bytes;
    header.big_endian = order == '>' || (order != '<' && std::endian::native == std::endian::big);
  }

  void parse_order(NpyHeader& header) const {
    const Literal& value = value_of("fortran_order");
    if (value.kind != Literal::Kind::boolean) fail("'fortran_order' is neither True nor False");
    header.fortran_order = value.number != 0;
  }

  void parse_shape(NpyHeader& header) const {
    const Literal& value = value_of("shape");
    const auto is_count = [](const Literal& extent) {
      return extent.kind == Literal::Kind::integer && extent.number >= 0;
    };
    if (value.kind != Literal::Kind::tuple || !std::all_of(value.items.begin(), value.items.end(), is_count)) {
      fail("'shape' is not a tuple of counts");
    }
    header.elements = 1;
    for (const Literal& extent : value.items) {
      if (__builtin_mul_overflow(header.elements, extent.number, &header.elements) ||
          header.elements > std::numeric_limits<int64_t>::max() / 8) {
        fail("the shape is too large");
      }
    }
    if (!is_grid_) return;
    if (value.items.size() != 2)
      fail("the array's number of axes is " + std::to_string(value.items.size()) + ", expected two");
    header.rows = value.items[0].number;
    header.cols = value.items[1].number;
  }

  const std::string& path_;
  bool is_grid_;
  Literal fields_;
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

NpyHeader read_header(std::ifstream& file, const std::string& path, NpyReader::Takes takes) {
  std::string magic(kMagic.size(), '\0');
  if (!file.read(magic.data(), static_cast<std::streamsize>(magic.size())) || magic != kMagic) {
    throw Failure(path + ": not an .npy file");
  }
  const std::string version = read_bytes(file, path, 2);
  const int major = static_cast<unsigned char>(version[0]);
  const int minor = static_cast<unsigned char>(version[1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw Failure(
        format("%s: .npy version %d.%d is not supported, expected 1.0, 2.0 or 3.0", path.c_str(), major, minor));
  }
  const uint32_t length = from_little_endian(read_bytes(file, path, major == 1 ? 2 : 4));
  if (length > kLongestHeader) {
    throw Failure(format("%s: the header has %u bytes, expected at most %u", path.c_str(), length, kLongestHeader));
  }
  return HeaderText(path, read_bytes(file, path, length), major < 3, takes).parse();
}

template <class T>
int32_t element(const std::vector<char>& raw, int64_t i, bool swap) {
  std::array<char, sizeof(T)> bytes;
  std::copy_n(raw.begin() + i * static_cast<int64_t>(sizeof(T)), sizeof(T), bytes.begin());
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

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
  switch (static_cast<decltype(GPUMEM_I8)>(header.type)) {
    case GPUMEM_I8:
      return place<int8_t>(header, raw, first, count, grid);
    case GPUMEM_U8:
      return place<uint8_t>(header, raw, first, count, grid);
    case GPUMEM_I16:
      return place<int16_t>(header, raw, first, count, grid);
    case GPUMEM_U16:
      return place<uint16_t>(header, raw, first, count, grid);
    case GPUMEM_I32:
      return place<int32_t>(header, raw, first, count, grid);
    case GPUMEM_U32:
    case GPUMEM_I64:
    case GPUMEM_U64:
    case GPUMEM_F16:
    case GPUMEM_BF16:
    case GPUMEM_F32:
    case GPUMEM_F64:
      break;  // not read as a grid
  }
}

}  // namespace

NpyReader::NpyReader(const std::string& path, Takes takes) : path_(path), file_(open_input(path)) {
  header_ = read_header(file_, path_, takes);
  // A damaged header must not cause a large allocation.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path_, error)) return;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path_, error));
  const int64_t expected = file_.tellg() + header_.elements * header_.element_bytes;
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
    stop_if_interrupted();
    const int64_t here = std::min(kChunkElements, count - first);
    if (!file_.read(raw.data(), here * header_.element_bytes)) throw Failure(path_ + ": the data is cut off");
    place(header_, raw, first, here, grid);
  }
}

void NpyReader::read_as_stored(unsigned char* into) {
  const int64_t bytes = header_.elements * header_.element_bytes;
  if (!file_.read(reinterpret_cast<char*>(into), bytes)) throw Failure(path_ + ": the data is cut off");
  if (header_.big_endian == (std::endian::native == std::endian::big)) return;
  for (int64_t at = 0; at < bytes; at += header_.element_bytes) {
    std::reverse(into + at, into + at + header_.element_bytes);
  }
}

void write_npy(const std::string& path, std::span<const int32_t> grid, int64_t rows, int64_t cols) {
  const char order = std::endian::native == std::endian::big ? '>' : '<';
  std::string header = format("{'descr': '%ci4', 'fortran_order': False, 'shape': (%lld, %lld), }", order,
                              static_cast<long long>(rows), static_cast<long long>(cols));
  // The data starts at a multiple of 64 bytes; the header ends in a newline.
  const std::size_t prefix = kMagic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ').append("\n");

  OutputFile file(path);
  file.write(kMagic);
  file.write(std::string{1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)});
  file.write(header);
  constexpr std::size_t kPiece = 16 << 20;
  const std::string_view data(reinterpret_cast<const char*>(grid.data()), grid.size_bytes());
  for (std::size_t at = 0; at < data.size(); at += kPiece) {
    stop_if_interrupted();
    file.write(data.substr(at, kPiece));
  }
  file.finish();
}

}  // namespace tool
