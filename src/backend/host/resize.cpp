// Resizing on the host: one launcher per implementation, in the order of the table's host rows.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/resize/coordinates.hpp"
#include "kernels/resize/limits.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

int size_index(gpumem_dtype dtype) noexcept { return std::countr_zero(static_cast<unsigned>(element_bytes(dtype))); }

// Rounded up to whole eights.
int64_t padded(const ResizeParams& a, int64_t cols) noexcept { return ceil_div(cols * a.channels, 8) * 8; }

// Per task: the positions of columns, the weights or eights of their elements, and two lines.
constexpr int64_t kScratchOfEight = sizeof(ResizeEight) + 16 * sizeof(uint32_t);
int64_t scratch_bytes_of(const ResizeParams& a, int64_t cols) noexcept {
  return cols * int64_t{sizeof(ResizeColumn)} + padded(a, cols) / 8 * kScratchOfEight;
}

struct DstTile {
  int64_t first_row;
  int64_t last_row;
  int64_t first_col;
  int64_t cols;
  char* scratch;
};

const char* src_row(const ResizeParams& a, int64_t row) noexcept {
  return static_cast<const char*>(a.src) + row * a.src_pitch;
}
char* dst_at(const ResizeParams& a, int64_t row, int64_t col) noexcept {
  return static_cast<char*>(a.dst) + row * a.dst_pitch + col * a.channels * element_bytes(a.dtype);
}

void resize_tile(const HostTeam& team, const ResizeParams& a, const DstTile& p) noexcept {
  const auto loop = team.loops.resizes.take[a.channels - 1][size_index(a.dtype)];
  const int64_t pixel = int64_t{a.channels} * element_bytes(a.dtype);
  const ResizeAxis across = resize_axis(a.src_cols, a.dst_cols);
  const ResizeAxis down = resize_axis(a.src_rows, a.dst_rows);
  auto* const columns = reinterpret_cast<ResizeColumn*>(p.scratch);
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

// False: a window of an eight exceeds its row.
template <class T>
bool find_eights(const ResizeParams& a, const ResizeColumn* columns, const uint32_t* weights, int64_t cols,
                 ResizeEight* eights) noexcept {
  constexpr bool kFloats = std::is_same_v<T, float>;
  constexpr int64_t kElement = sizeof(T);
  constexpr int64_t kWindow = kFloats ? 32 : 16;
  const int64_t last = a.src_cols * a.channels * kElement - kWindow;
  if (last < 0) return false;
  const int64_t elements = cols * a.channels;
  int64_t col = 0;
  int32_t channel = 0;
  for (int64_t first = 0; first < padded(a, cols); first += 4) {  // past the end, the last element again
    int64_t left[4];
    int64_t right[4];
    int64_t least = last;
    int64_t most = 0;
    ResizeEight& eight = eights[first / 8];
    const int64_t half = first / 4 % 2;
    for (int k = 0; k < 4; ++k) {
      left[k] = columns[col].at + channel * kElement;
      right[k] = left[k] + columns[col].step;
      least = std::min(least, left[k]);
      most = std::max(most, right[k]);
      eight.weight[half * 4 + k] = weights[col];
      if (first + k + 1 < elements && ++channel == a.channels) {
        channel = 0;
        ++col;
      }
    }
    if (most + kElement > least + kWindow) return false;
    eight.at[half] = least;
    for (int k = 0; k < 4; ++k) {
      const auto l = static_cast<uint32_t>(left[k] - least);
      const auto r = static_cast<uint32_t>(right[k] - least);
      if constexpr (kFloats) {
        eight.pick[half * 8 + k] = l / 4;
        eight.pick[half * 8 + 4 + k] = r / 4;
      } else {
        eight.pick[half * 4 + k] = kElement == 1 ? (l | r << 16 | 0x80008000) : ((l | r << 16) * 0x101 + 0x01000100);
      }
    }
  }
  return true;
}

// The two rows of src around a row of dst, blended along themselves. Neighbouring rows of an enlarged image share
// theirs.
template <class T>
class BlendedLines {
 public:
  using Line = typename ResizeBlend<T>::Line;
  static_assert(sizeof(Line) == sizeof(uint32_t));

  BlendedLines(const HostTeam& team, const ResizeParams& a, const DstTile& p) noexcept
      : args_(a),
        cols_(p.cols),
        loop_(team.loops.resizes.across[a.channels - 1][size_index(a.dtype)]),
        eights_loop_(team.loops.resizes.across_eights[size_index(a.dtype)]),
        columns_(reinterpret_cast<ResizeColumn*>(p.scratch)),
        eights_(reinterpret_cast<ResizeEight*>(columns_ + cols_)) {
    const int64_t elements = padded(a, cols_);
    auto* const lines = reinterpret_cast<Line*>(eights_ + elements / 8);
    held_[0].line = lines;
    held_[1].line = lines + elements;
    const ResizeAxis across = resize_axis(a.src_cols, a.dst_cols);
    const int64_t pixel = int64_t{a.channels} * static_cast<int64_t>(sizeof(T));
    auto* const weights = reinterpret_cast<uint32_t*>(lines);  // of columns, temporarily
    for (int64_t i = 0; i < p.cols; ++i) {
      const ResizeTap tap = resize_tap<ResizeBlend<T>::kAcross>(across, p.first_col + i);
      columns_[i] = {tap.index * pixel, tap.weight != 0 ? pixel : 0};
      weights[i] = tap.weight;
    }
    if (eights_loop_ != nullptr && !find_eights<T>(a, columns_, weights, cols_, eights_)) eights_loop_ = nullptr;
    if (eights_loop_ != nullptr) return;
    weights_ = reinterpret_cast<uint32_t*>(eights_);
    for (int64_t i = 0; i < p.cols; ++i) std::fill_n(weights_ + i * a.channels, a.channels, weights[i]);
  }

  // `other` is a line that must stay.
  const Line* line(int64_t row, int64_t other) noexcept {
    for (const Held& held : held_) {
      if (held.row == row) return held.line;
    }
    Held& free = held_[0].row == other ? held_[1] : held_[0];
    free.row = row;
    const char* const from = src_row(args_, row);
    if (eights_loop_ != nullptr) {
      eights_loop_(from, eights_, padded(args_, cols_) / 8, free.line);
    } else {
      loop_(from, columns_, weights_, cols_, free.line);
    }
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
  ResizeAcrossEights eights_loop_;
  ResizeColumn* columns_;
  ResizeEight* eights_;
  uint32_t* weights_ = nullptr;
  Held held_[2];
};

template <class T>
void blend_piece(const HostTeam& team, const ResizeParams& a, const DstTile& p) noexcept {
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

void resize_piece(const HostTeam& team, const ResizeParams& a, const DstTile& piece) noexcept {
  if (a.filter == GPUMEM_FILTER_NEAREST) return resize_tile(team, a, piece);
  for_pixel_type(a.dtype, [&]<class T>() { blend_piece<T>(team, a, piece); });
}

constexpr int64_t kColsOnStack = 32;
static_assert(kColsOnStack * (int64_t{sizeof(ResizeColumn)} + kScratchOfEight / 2) <= kHostStackBuffer / 2);

}  // namespace

namespace host {

// A task computes its columns once, for a band of config.tile rows. If memory has run out, it takes as many as the
// stack can hold at a time.
void resize_parallel(const HostTeam& team, const ResizeParams& batch, const Config& config, char*) {
  const int64_t across = ceil_div(batch.dst_cols, kHostResizeCols);
  const int64_t tasks_per_image = across * ceil_div(batch.dst_rows, config.tile);
  team.parallel(tasks_per_image * batch.batches, [&](int64_t task) {
    const ResizeParams a = batch.image(task / tasks_per_image);
    const int64_t i = task % tasks_per_image;
    const int64_t row = i / across * config.tile;
    const int64_t end_row = std::min(row + config.tile, a.dst_rows);
    const int64_t col = i % across * kHostResizeCols;
    const int64_t end_col = std::min(col + kHostResizeCols, a.dst_cols);
    alignas(64) char small[kHostStackBuffer / 2];
    const int64_t scratch = scratch_bytes_of(a, end_col - col);
    const bool fits = scratch <= int64_t{sizeof small};
    const TaskMemory large(fits ? 0 : scratch);
    const int64_t at_once = fits || large.get() != nullptr ? kHostResizeCols : kColsOnStack;
    char* const memory = large.get() != nullptr ? static_cast<char*>(large.get()) : small;
    for (int64_t first = col; first < end_col; first += at_once) {
      resize_piece(team, a, {row, end_row, first, std::min(at_once, end_col - first), memory});
    }
  });
}

void resize_serial(const HostTeam&, const ResizeParams& batch, const Config& config, char*) {
  resize_parallel(no_team(), batch, config, nullptr);
}

}  // namespace host

}  // namespace gpumem
