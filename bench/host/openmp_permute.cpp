#include "host/openmp_peers.hpp"

#include <algorithm>
#include <cstring>

namespace bench::openmp {
namespace {

constexpr int kMaxRank = 5;
constexpr int64_t kTile = 32;

struct Axis {
  int64_t extent = 1, src = 0, dst = 0;
};

// Precomputed per tile or run: the places of every index of the outer axes.
struct Outer {
  Axis axes[kMaxRank];
  int rank = 0;
  int64_t count = 1;

  void add(const Axis& axis) {
    axes[rank++] = axis;
    count *= axis.extent;
  }
  Axis at(int64_t number) const {
    Axis place;
    for (int d = 0; d < rank; ++d) {
      place.src += number % axes[d].extent * axes[d].src;
      place.dst += number % axes[d].extent * axes[d].dst;
      number /= axes[d].extent;
    }
    return place;
  }
};

void rows(const uint32_t* src, uint32_t* dst, const Outer& outer, int64_t run) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < outer.count; ++i) {
    const Axis at = outer.at(i);
    std::memcpy(dst + at.dst, src + at.src, static_cast<std::size_t>(run) * 4);
  }
}

// across is the fastest axis of src, down is the fastest of dst.
void tiles(const uint32_t* src, uint32_t* dst, const Outer& outer, const Axis& across, const Axis& down) {
#pragma omp parallel for collapse(3) schedule(static)
  for (int64_t i = 0; i < outer.count; ++i) {
    for (int64_t a0 = 0; a0 < across.extent; a0 += kTile) {
      for (int64_t d0 = 0; d0 < down.extent; d0 += kTile) {
        const Axis at = outer.at(i);
        const int64_t a1 = std::min(a0 + kTile, across.extent), d1 = std::min(d0 + kTile, down.extent);
        for (int64_t a = a0; a < a1; ++a) {
          for (int64_t d = d0; d < d1; ++d) {
            dst[at.dst + a * across.dst + d] = src[at.src + a + d * down.src];
          }
        }
      }
    }
  }
}

}  // namespace

void permute(const uint32_t* src, uint32_t* dst, int rank, const int64_t* extents, const int32_t* order) {
  Axis axes[kMaxRank];  // of src
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    axes[d].extent = extents[d];
    axes[d].src = stride;
    stride *= extents[d];
  }
  stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    axes[order[d]].dst = stride;
    stride *= extents[order[d]];
  }
  const int fastest_of_src = rank - 1;
  const int fastest_of_dst = order[rank - 1];
  Outer outer;
  for (int d = rank - 1; d >= 0; --d) {
    if (order[d] != fastest_of_src && order[d] != fastest_of_dst) outer.add(axes[order[d]]);
  }
  if (fastest_of_src == fastest_of_dst) return rows(src, dst, outer, extents[fastest_of_src]);
  tiles(src, dst, outer, axes[fastest_of_src], axes[fastest_of_dst]);
}

}  // namespace bench::openmp
