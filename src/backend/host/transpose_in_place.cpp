#include "backend/host/transpose_in_place.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "kernels/sizes.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

char* matrix(const TransposeParams& a, int64_t batch) noexcept {
  return static_cast<char*>(a.dst) + batch * a.dst_batch_stride * a.element_bytes;
}

// Calls f(piece, scratch): task t takes every tasks-th piece, with scratch memory of its own.
template <class F>
void share(const HostTeam& team, int64_t pieces, int64_t tasks, char* scratch, int64_t scratch_bytes,
           const F& f) noexcept {
  team.parallel(tasks, [&](int64_t task) {
    for (int64_t piece = task; piece < pieces; piece += tasks) f(piece, scratch + task * scratch_bytes);
  });
}

}  // namespace

// Column j = k*b + r goes to ((i + k) mod m + r*m) mod n: k*b*m is a multiple of n.
template <int kBytes>
void C2rTranspose::rows(char* scratch) const noexcept {
  share(team_, params_.batches * d_.m, shares_.row_tasks, scratch, d_.n * kBytes, [&](int64_t piece, char* permuted) {
    const int64_t i = piece % d_.m;
    char* row = matrix(params_, piece / d_.m) + i * d_.n * kBytes;
    int64_t first = i;
    for (int64_t j = 0; j < d_.n; j += d_.b) {
      int64_t place = first;
      for (int64_t r = j; r < j + d_.b; ++r) {
        const int64_t to = d_.back ? r : place;
        const int64_t from = d_.back ? place : r;
        std::memcpy(permuted + to * kBytes, row + from * kBytes, kBytes);
        place += d_.m;
        if (place >= d_.n) place -= d_.n;
      }
      if (++first == d_.m) first = 0;
    }
    std::memcpy(row, permuted, static_cast<size_t>(d_.n * kBytes));
  });
}

template <int kBytes>
void C2rTranspose::columns(char* scratch, bool rotation) const noexcept {
  using Sources = ColumnSources<int64_t>;
  const int64_t groups = ceil_div(d_.n, shares_.width);
  const int64_t pitch = d_.n * kBytes;
  const Sources of_column_0(d_, rotation, 0, 1);
  const auto permute = [&](int64_t piece, char* copy) {
    const int64_t first = piece % groups * shares_.width;
    const int64_t width = std::min(shares_.width, d_.n - first);
    char* column = matrix(params_, piece / groups) + first * kBytes;
    const int64_t elements = d_.m * width;
    int64_t from_row_0[host::kC2rColumnBytes];  // source of the column in the copy, if column 0 reads row 0
    for (int64_t w = 0; w < width; ++w) from_row_0[w] = Sources::further(d_, rotation, first + w) * width + w;
    const auto row_bytes = static_cast<size_t>(width * kBytes);
    for (int64_t i = 0; !d_.back && i < d_.m; ++i)
      std::memcpy(copy + i * width * kBytes, column + i * pitch, row_bytes);
    Sources sources = of_column_0;
    for (int64_t i = 0; i < d_.m; ++i, sources.advance()) {
      const int64_t source = sources.source() * width;
      char* row = column + i * pitch;
      for (int64_t w = 0; w < width; ++w) {
        int64_t at = source + from_row_0[w];
        if (at >= elements) at -= elements;
        char* const to = d_.back ? copy + at * kBytes : row + w * kBytes;
        const char* const from = d_.back ? row + w * kBytes : copy + at * kBytes;
        std::memcpy(to, from, kBytes);
      }
    }
    for (int64_t i = 0; d_.back && i < d_.m; ++i) std::memcpy(column + i * pitch, copy + i * width * kBytes, row_bytes);
  };
  share(team_, params_.batches * groups, shares_.column_tasks, scratch, shares_.width * d_.m * kBytes, permute);
}

template <int kBytes>
void C2rTranspose::passes(char* scratch) const noexcept {
  if (d_.back || d_.rotates()) columns<kBytes>(scratch, !d_.back);
  rows<kBytes>(scratch);
  if (!d_.back || d_.rotates()) columns<kBytes>(scratch, d_.back);
}

void C2rTranspose::run(char* scratch) const noexcept {
  for_size(params_.element_bytes, [&]<int kBytes>() { passes<kBytes>(scratch); });
}

}  // namespace gpumem
