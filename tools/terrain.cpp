#include "terrain.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "interrupted.hpp"

namespace tool {
namespace {

constexpr int64_t kWidestCell = 1024;
constexpr int64_t kNarrowestCell = 4;
constexpr int32_t kWidestAmplitude = 2000;  // all octaves together stay below twice that
constexpr int kNoiseBits = 16;
constexpr int kWeightBits = 8;

// splitmix64's finalizer (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// 0 .. 2^16 - 1.
int32_t lattice(uint64_t seed, int64_t cell, int64_t y, int64_t x) {
  const uint64_t point =
      mix(seed + static_cast<uint64_t>(cell)) ^ mix(static_cast<uint64_t>(y) << 32 ^ static_cast<uint64_t>(x));
  return static_cast<int32_t>(mix(point) >> (64 - kNoiseBits));
}

// 3t^2 - 2t^3 for t = i / cell, in 1/256.
int32_t smooth_weight(int64_t i, int64_t cell) {
  const int64_t t = (i << kWeightBits) / cell;
  return static_cast<int32_t>(t * t * (768 - 2 * t) >> 16);
}

int32_t interpolate(int32_t a, int32_t b, int32_t weight) { return a + ((b - a) * weight >> kWeightBits); }

// Lattice points are `cell` elements apart.
class Octave {
 public:
  Octave(uint64_t seed, int64_t cell, int32_t amplitude, int64_t cols)
      : seed_(seed), cell_(cell), amplitude_(amplitude), weights_(static_cast<std::size_t>(cell)) {
    for (int64_t i = 0; i < cell; ++i) weights_[static_cast<std::size_t>(i)] = smooth_weight(i, cell);
    knots_.resize(static_cast<std::size_t>(cols / cell + 2));
  }

  // Adds the octave's row y, in 1/2^16 of a height.
  void add_row(int64_t y, std::span<int32_t> sums) {
    const int32_t weight = weights_[static_cast<std::size_t>(y % cell_)];
    for (std::size_t j = 0; j < knots_.size(); ++j) {
      const auto x = static_cast<int64_t>(j);
      knots_[j] = interpolate(lattice(seed_, cell_, y / cell_, x), lattice(seed_, cell_, y / cell_ + 1, x), weight);
    }
    const auto cell = static_cast<std::size_t>(cell_);
    for (std::size_t j = 0; j * cell < sums.size(); ++j) {
      const std::size_t end = std::min(cell, sums.size() - j * cell);
      for (std::size_t i = 0; i < end; ++i) {
        sums[j * cell + i] += amplitude_ * interpolate(knots_[j], knots_[j + 1], weights_[i]);
      }
    }
  }

 private:
  uint64_t seed_;
  int64_t cell_;
  int32_t amplitude_;
  std::vector<int32_t> weights_;  // of the right neighbour, by position in the cell
  std::vector<int32_t> knots_;
};

}  // namespace

void generate_terrain(int64_t rows, int64_t cols, uint64_t seed, std::span<int32_t> heights) {
  const auto half = static_cast<uint64_t>(std::min(rows, cols) / 2);
  const int64_t widest = std::clamp(static_cast<int64_t>(std::bit_floor(half)), kNarrowestCell, kWidestCell);
  std::vector<Octave> octaves;
  for (int64_t cell = widest; cell >= kNarrowestCell; cell /= 2) {
    octaves.emplace_back(seed, cell, static_cast<int32_t>(kWidestAmplitude * cell / widest), cols);
  }
  for (int64_t y = 0; y < rows; ++y) {
    stop_if_interrupted();
    const auto row = heights.subspan(static_cast<std::size_t>(y * cols), static_cast<std::size_t>(cols));
    std::fill(row.begin(), row.end(), 0);
    for (Octave& octave : octaves) octave.add_row(y, row);
    for (int32_t& height : row) height >>= kNoiseBits;
  }
}

}  // namespace tool
