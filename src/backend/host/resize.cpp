// Resizing on the host: one launcher a variant, in the order of the table's host rows.
#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/host/host_backend.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/resize/coordinates.hpp"
#include "kernels/resize/limits.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

int size_index(gpumem_dtype dtype) noexcept { return std::countr_zero(static_cast<unsigned>(element_bytes(dtype))); }

// Bytes that a task has for a column: its place, and four channels of the weights and of a pixel of each of two lines.
constexpr int64_t kRoomOfColumn = sizeof(ResizeColumn) + 12 * sizeof(uint32_t);

// Some rows of dst by some of its columns, for which there is room.
struct Piece {
  int64_t first_row;
  int64_t last_row;
  int64_t first_col;
  int64_t cols;
  char* room;
};

const char* src_row(const ResizeParams& a, int64_t row) noexcept {
  return static_cast<const char*>(a.src) + row * a.src_pitch;
}
char* dst_at(const ResizeParams& a, int64_t row, int64_t col) noexcept {
  return static_cast<char*>(a.dst) + row * a.dst_pitch + col * a.channels * element_bytes(a.dtype);
}

void take_piece(const HostTeam& team, const ResizeParams& a, const Piece& p) noexcept {
  const auto loop = team.loops.resizes.take[a.channels - 1][size_index(a.dtype)];
  const int64_t pixel = int64_t{a.channels} * element_bytes(a.dtype);
  const ResizeAxis across = resize_axis(a.src_cols, a.dst_cols);
  const ResizeAxis down = resize_axis(a.src_rows, a.dst_rows);
  auto* const columns = reinterpret_cast<ResizeColumn*>(p.room);
  for (int64_t i = 0; i < p.cols; ++i) columns[i] = {resize_nearest(across, p.first_col + i) * pixel, 0};
  int64_t before = -1;  // rows of an enlarged image repeat
  for (int64_t row = p.first_row; row < p.last_row; ++row) {
    const int64_t from = resize_nearest(down, row);
    char* const dst = dst_at(a, row, p.first_col);
    if (from == before) {
      std::memcpy(dst, dst_at(a, row - 1, p.first_col), static_cast<size_t>(p.cols * pixel));
    } else {
      loop(src_row(a, from), columns, p.cols, dst);
    }
    before = from;
  }
}

// The two rows of src between which a row of dst lies, blended along themselves. Neighbouring rows of an enlarged image have
// theirs in common.
template <class T>
class BlendedLines {
 public:
  using Line = typename ResizeBlend<T>::Line;
  static_assert(sizeof(Line) == sizeof(uint32_t));

  BlendedLines(const HostTeam& team, const ResizeParams& a, const Piece& p) noexcept
      : args_(a),
        cols_(p.cols),
        loop_(team.loops.resizes.across[a.channels - 1][size_index(a.dtype)]),
        columns_(reinterpret_cast<ResizeColumn*>(p.room)) {
    weights_ = reinterpret_cast<uint32_t*>(columns_ + cols_);
    auto* const lines = reinterpret_cast<Line*>(weights_ + 4 * cols_);
    held_[0].line = lines;
    held_[1].line = lines + 4 * cols_;
    const ResizeAxis across = resize_axis(a.src_cols, a.dst_cols);
    const int64_t pixel = int64_t{a.channels} * static_cast<int64_t>(sizeof(T));
    for (int64_t i = 0; i < p.cols; ++i) {
      const ResizeTap tap = resize_tap<ResizeBlend<T>::kAcross>(across, p.first_col + i);
      columns_[i] = {tap.index * pixel, tap.weight != 0 ? pixel : 0};
      std::fill_n(weights_ + i * a.channels, a.channels, tap.weight);
    }
  }

  // The line of a row of src; `other` is one that must stay.
  const Line* line(int64_t row, int64_t other) noexcept {
    for (const Held& held : held_) {
      if (held.row == row) return held.line;
    }
    Held& free = held_[0].row == other ? held_[1] : held_[0];
    free.row = row;
    loop_(src_row(args_, row), columns_, weights_, cols_, free.line);
    return free.line;
  }

 private:
  struct Held {
    int64_t row = -1;
    Line* line = nullptr;
  };

  const ResizeParams& args_;
  int64_t cols_;
  ResizeAcross loop_;
  ResizeColumn* columns_;
  uint32_t* weights_;
  Held held_[2];
};

template <class T>
void blend_piece(const HostTeam& team, const ResizeParams& a, const Piece& p) noexcept {
  const DefaultFloatEnvironment environment;
  const auto loop = team.loops.resizes.down[size_index(a.dtype)];
  const ResizeAxis down = resize_axis(a.src_rows, a.dst_rows);
  BlendedLines<T> lines(team, a, p);
  for (int64_t row = p.first_row; row < p.last_row; ++row) {
    const ResizeTap tap = resize_tap<ResizeBlend<T>::kDown>(down, row);
    const auto* upper = lines.line(tap.index, tap.next());
    const auto* lower = lines.line(tap.next(), tap.index);
    loop(upper, lower, tap.weight, p.cols * a.channels, dst_at(a, row, p.first_col));
  }
}

void resize_piece(const HostTeam& team, const ResizeParams& a, const Piece& piece) noexcept {
  if (a.filter == GPUMEM_FILTER_NEAREST) return take_piece(team, a, piece);
  for_pixel_type(a.dtype, [&]<class T>() { blend_piece<T>(team, a, piece); });
}

// A task works its columns out once, for a band of shape.tile rows; where memory has run out, as many as the stack has room for at a
// time.
void resize_parallel(const HostTeam& team, const ResizeParams& a, const LaunchShape& shape) {
  const int64_t across = ceil_div(a.dst_cols, kHostResizeCols);
  team.parallel(across * ceil_div(a.dst_rows, shape.tile), [&](int64_t i) {
    const int64_t row = i / across * shape.tile;
    const int64_t end_row = std::min(row + shape.tile, a.dst_rows);
    const int64_t col = i % across * kHostResizeCols;
    const int64_t end_col = std::min(col + kHostResizeCols, a.dst_cols);
    alignas(64) char small[kHostStackBuffer / 2];
    const int64_t room = (end_col - col) * kRoomOfColumn;
    const TaskMemory large(room > int64_t{sizeof small} ? room : 0);
    const int64_t at_once = large.get() != nullptr ? kHostResizeCols : int64_t{sizeof small} / kRoomOfColumn;
    char* const memory = large.get() != nullptr ? static_cast<char*>(large.get()) : small;
    for (int64_t first = col; first < end_col; first += at_once) {
      resize_piece(team, a, {row, end_row, first, std::min(at_once, end_col - first), memory});
    }
  });
}

void resize_serial(const HostTeam&, const ResizeParams& a, const LaunchShape& shape) {
  resize_parallel(no_team(), a, shape);
}

constexpr HostLauncher<ResizeParams> kResize[] = {{"host_parallel", resize_parallel}, {"host_serial", resize_serial}};

}  // namespace

ResizeFamily::HostTable ResizeFamily::on_host() noexcept { return kResize; }

}  // namespace gpumem
