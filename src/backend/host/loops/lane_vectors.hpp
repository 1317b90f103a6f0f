// Layout, combination and results of vectors of lanes. Everything has internal linkage (loops.hpp says why).
#pragma once

#include <bit>
#include <cstring>
#include <utility>

#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/sums.hpp"
#include "kernels/order.hpp"

namespace gpumem {
namespace {

// A block's rows of up to this many columns without padding are read as one long row.
constexpr int64_t kFewColumns = 64;

inline F64s canonical(const F64s& v) {
  return v == v ? v : std::bit_cast<double>(kCanonicalNan) + F64s{};  // NOLINT(misc-redundant-expression)
}

template <template <class> class Lane>
struct LaneVectors {
  using Vector = Lane<F64s>;
  static constexpr int kMembers = sizeof(Vector) / sizeof(F64s);
  static constexpr int64_t kPlane = kLeafLanes * kFewColumns + kWide;  // one member of the lanes of few columns
  static constexpr int64_t kPlaneBytes = kMembers * kPlane * 8;

  struct Members {
    F64s of[kMembers];
  };

  static Vector joined(Vector a, const Vector& b) {
    a.join(b);
    return a;
  }

  static F64s values(const Vector& lanes) {
    F64s v = lanes.value;
    if constexpr (kMembers == 2) {
      const F64s corrected = lanes.value + lanes.error;
      v = corrected - corrected == 0 ? corrected : v;  // NOLINT(misc-redundant-expression)
    }
    return canonical(v);
  }

  [[gnu::noinline]] static void store(const Vector& lanes, int64_t count, const LineResults& results, int64_t line) {
    if (results.values != nullptr) {
      const F64s v = values(lanes);
      if (count == kWide) {
        std::memcpy(results.values + line * 8, &v, sizeof v);
      } else {
        std::memcpy(results.values + line * 8, &v, static_cast<size_t>(count) * 8);
      }
      return;
    }
    for (int64_t k = 0; k < count; ++k) {
      results.nodes[line + k] = stored(Vector::each(lanes, [k](const F64s& v) { return v[k]; }));
    }
  }

  static Vector from_planes(const double* planes, int64_t e) {
    Members members;
    for (int m = 0; m < kMembers; ++m) members.of[m] = load(planes + m * kPlane + e);
    return std::bit_cast<Vector>(members);
  }
  static void to_planes(double* planes, int64_t e, const Vector& lanes) {
    const auto members = std::bit_cast<Members>(lanes);
    for (int m = 0; m < kMembers; ++m) std::memcpy(planes + m * kPlane + e, &members.of[m], sizeof(F64s));
  }

  // Partial results of `count` windows. more: of lanes that have one term more than the others, few: of the others.
  // Each step joins the upper half of the lanes with the lower one, and keeps the first lanes of both kinds.
  [[gnu::noinline]] static void fold_windows(double* few, double* more, int64_t rows, int64_t count,
                                             const LineResults& results, int64_t line) {
    int64_t rest = rows % kLeafLanes;
    for (int64_t half = kLeafLanes / 2; half > 0; half /= 2) {
      if (rows < half) continue;
      const bool both = rest >= half;
      if (both) rest -= half;
      for (int64_t e = 0; e < count + half - 1; e += kWide) {
        const Vector own = from_planes(more, e);
        const Vector far = from_planes(few, e + half);
        to_planes(few, e, joined(both ? own : from_planes(few, e), far));
        to_planes(more, e, joined(own, both ? from_planes(more, e + half) : far));
      }
    }
    for (int64_t c = 0; c < count; c += kWide) {
      store(from_planes(few, c), count - c < kWide ? count - c : kWide, results, line + c);
    }
  }

  // Folds each vector by halves into a vector of results; kGroup elements are left per line.
  template <int kGroup>
  static Vector members_folded(Vector* lines) {
    if constexpr (kGroup == 1) {
      return lines[0];
    } else {
      constexpr auto kOfVector = std::make_integer_sequence<int, kWide>{};
      const Vector* pair = lines;
      for (int k = 0; k < kGroup / 2; ++k, pair += 2) {
        lines[k] = joined(half_of<kGroup, 0>(pair[0], pair[1], kOfVector),
                          half_of<kGroup, kGroup / 2>(pair[0], pair[1], kOfVector));
      }
      return members_folded<kGroup / 2>(lines);
    }
  }
  template <int kGroup, int kFrom, int... kIndex>
  static Vector half_of(const Vector& a, const Vector& b, std::integer_sequence<int, kIndex...>) {
    constexpr int kHalf = kGroup / 2;
    Members half = std::bit_cast<Members>(a);
    const Members other = std::bit_cast<Members>(b);
    for (int m = 0; m < kMembers; ++m) {
      half.of[m] =
          __builtin_shufflevector(half.of[m], other.of[m], (kIndex / kHalf * kGroup + kFrom + kIndex % kHalf)...);
    }
    return std::bit_cast<Vector>(half);
  }
};

}  // namespace
}  // namespace gpumem
