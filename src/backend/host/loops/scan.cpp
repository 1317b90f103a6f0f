// The prefixes of a block of floating-point elements; compiled once per instruction set (loops.hpp).
#include <cstring>
#include <utility>

#include "backend/host/loops/lane_vectors.hpp"

namespace gpumem {
namespace {

struct Add {
  static constexpr double kNeutral = 0;
  template <class V>
  static V of(const V& a, const V& b) {
    return a + b;
  }
};
struct Multiply {
  static constexpr double kNeutral = 1;
  template <class V>
  static V of(const V& a, const V& b) {
    return a * b;
  }
};

// A prefix that ends in row r has r + 1 elements in the lanes before some place, and r in the others. The prefixes that
// end in a row are folded together. "Parts" are equal pieces of the lanes; a state has the newer value in the first of
// them. Neighbouring states share half of their sums.

// f[j]: the fold of 2 * kHalf parts. Its first j + 1 parts are new.
template <class Op, int kHalf>
inline void fold_parts(const F64s (&old)[2 * kHalf], const F64s (&fresh)[2 * kHalf], F64s* f) {
  if constexpr (kHalf == 1) {
    f[0] = Op::of(fresh[0], old[1]);
    f[1] = Op::of(fresh[0], fresh[1]);
  } else {
    F64s first[kHalf], middle[kHalf], last[kHalf];
#pragma GCC unroll 8
    for (int m = 0; m < kHalf; ++m) {
      first[m] = Op::of(old[m], old[m + kHalf]);
      middle[m] = Op::of(fresh[m], old[m + kHalf]);
      last[m] = Op::of(fresh[m], fresh[m + kHalf]);
    }
    fold_parts<Op, kHalf / 2>(first, middle, f);
    fold_parts<Op, kHalf / 2>(middle, last, f + kHalf);
  }
}
template <class Op>
inline F64s fold_four(const F64s (&v)[4]) {
  return Op::of(Op::of(v[0], v[2]), Op::of(v[1], v[3]));
}

inline void store(double* to, const F64s& v) { std::memcpy(to, &v, sizeof v); }

template <int kStep, int... kLane>
inline void transpose_step(F64s* v, std::integer_sequence<int, kLane...>) {
#pragma GCC unroll 8
  for (int i = 0; i < kWide; ++i) {
    if ((i & kStep) != 0) continue;
    const F64s a = v[i], b = v[i + kStep];
    v[i] = __builtin_shufflevector(a, b, ((kLane & kStep) != 0 ? kWide + kLane - kStep : kLane)...);
    v[i + kStep] = __builtin_shufflevector(a, b, ((kLane & kStep) != 0 ? kWide + kLane : kLane + kStep)...);
  }
}
// Transposes kWide vectors.
template <int kStep = 1>
inline void transpose(F64s* v) {
  transpose_step<kStep>(v, std::make_integer_sequence<int, kWide>{});
  if constexpr (2 * kStep < kWide) transpose<2 * kStep>(v);
}

constexpr int kParts = 8;                       // of the last steps
constexpr int kStates = kLeafLanes / kParts;    // of them, and one for the end of the row
constexpr int kStateStride = kStates + kParts;  // a vector may begin at the second state

struct Scratch {
  alignas(64) double lanes[kLeafLanes];           // without the row's elements
  alignas(64) double quarters[5][32];             // the states of four parts
  alignas(64) double parts[kStates + 1][kParts];  // of kStates parts
  alignas(64) double states[kParts][kStateStride];
};

// Adds a row to the lanes, and folds its prefixes to eight lanes.
template <class Op, class T>
inline void fold_row(const T* x, Scratch& s) {
  for (int64_t m = 0; m < 32; m += kWide) {
    F64s old[4], fresh[4], folded[4];
#pragma GCC unroll 8
    for (int64_t k = 0; k < 4; ++k) {
      old[k] = load(s.lanes + 32 * k + m);
      fresh[k] = Op::of(old[k], load(x + 32 * k + m));
      store(s.lanes + 32 * k + m, fresh[k]);
    }
    fold_parts<Op, 2>(old, fresh, folded);
    store(s.quarters[0] + m, fold_four<Op>(old));
#pragma GCC unroll 8
    for (int64_t k = 0; k < 4; ++k) store(s.quarters[k + 1] + m, folded[k]);
  }
  for (int64_t m = 0; m < kParts; m += kWide) {
    F64s old[4], fresh[4], folded[4];
#pragma GCC unroll 8
    for (int64_t k = 0; k < 4; ++k) old[k] = load(s.quarters[0] + kParts * k + m);
    store(s.parts[0] + m, fold_four<Op>(old));
#pragma GCC unroll 8
    for (int64_t state = 0; state < 4; ++state) {
#pragma GCC unroll 8
      for (int64_t k = 0; k < 4; ++k) fresh[k] = load(s.quarters[state + 1] + kParts * k + m);
      fold_parts<Op, 2>(old, fresh, folded);
#pragma GCC unroll 8
      for (int64_t k = 0; k < 4; ++k) store(s.parts[4 * state + k + 1] + m, folded[k]);
#pragma GCC unroll 8
      for (int64_t k = 0; k < 4; ++k) old[k] = fresh[k];
    }
  }
  for (int64_t m = 0; m < kParts; m += kWide) {
    for (int64_t state = 0; state < kStates; state += kWide) {
      F64s v[kWide];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kWide; ++i) v[i] = load(s.parts[state + i] + m);
      transpose(v);
#pragma GCC unroll 8
      for (int64_t i = 0; i < kWide; ++i) store(s.states[m + i] + state, v[i]);
    }
  }
#pragma GCC unroll 8
  for (int64_t m = 0; m < kParts; ++m) s.states[m][kStates] = s.parts[kStates][m];
}

// Folds the eight lanes of all states, and puts the blocks before this one in front. Returns the last prefix without
// them.
template <class Op>
inline double finish_row(const ScanBlock& b, const Scratch& s, double* prefixes) {
  double last = 0;
  for (int64_t state = 0; state < kStates; state += kWide) {
    F64s old[kParts], fresh[kParts], v[kParts];
#pragma GCC unroll 8
    for (int64_t m = 0; m < kParts; ++m) {
      old[m] = load(s.states[m] + state);
      fresh[m] = load(s.states[m] + state + 1);
    }
    fold_parts<Op, kParts / 2>(old, fresh, v);
    last = v[kParts - 1][kWide - 1];
    for (int64_t i = 0; i < b.count; ++i) {
      const F64s before = b.before[i] - F64s{};  // a sum with +0 would lose the sign of -0
#pragma GCC unroll 8
      for (F64s& part : v) part = Op::of(before, part);
    }
#pragma GCC unroll 8
    for (F64s& part : v) part = canonical(part);
#pragma GCC unroll 8
    for (int64_t k = 0; k < kParts; k += kWide) {
      transpose(v + k);
#pragma GCC unroll 8
      for (int64_t i = 0; i < kWide; ++i) store(prefixes + kParts * (state + i) + k, v[k + i]);
    }
  }
  return last;
}

template <class Op, class T>
double scan_block(const ScanBlock& b) {
  Scratch scratch;
  for (double& lane : scratch.lanes) lane = Op::kNeutral;
  double sum = 0;
  for (int64_t r = 0; r < b.rows; ++r) {
    fold_row<Op>(static_cast<const T*>(b.x) + r * kLeafLanes, scratch);
    sum = finish_row<Op>(b, scratch, b.prefixes + r * kLeafLanes);
  }
  return sum;
}

// A row changes one sum of each step of the fold. Hardware prefetchers do not follow a column over pages.
constexpr int64_t kRowsAhead = 16;
template <class Op, class T>
void scan_columns_of(const ScanColumns& columns) {
  const ScanColumns c = columns;  // a local copy, which stores cannot alias
  constexpr int64_t kVectors = kScanColumns / kWide;
  for (int64_t row = 0; row < c.rows; ++row) {
    const auto* x = reinterpret_cast<const T*>(c.x + row * c.pitch);
    prefetch_ahead(x, kRowsAhead * c.pitch);
    F64s v[kVectors];
    double* sum = c.sums + (c.lanes + row) * kScanColumns;
#pragma GCC unroll 8
    for (int64_t k = 0; k < kVectors; ++k) {
      v[k] = Op::of(load(sum + k * kWide), load(x + k * kWide));
      store(sum + k * kWide, v[k]);
    }
    for (int64_t m = c.lanes / 2; m > 0; m /= 2) {
      const double* other = c.sums + (2 * m + ((row & (2 * m - 1)) ^ m)) * kScanColumns;
      sum = c.sums + (m + (row & (m - 1))) * kScanColumns;
#pragma GCC unroll 8
      for (int64_t k = 0; k < kVectors; ++k) {
        v[k] = Op::of(v[k], load(other + k * kWide));
        store(sum + k * kWide, v[k]);
      }
    }
#pragma GCC unroll 8
    for (int64_t k = 0; k < kVectors; ++k) {
      for (int64_t i = 0; i < c.count; ++i) v[k] = Op::of(load(c.before + i * kScanColumns + k * kWide), v[k]);
      store(c.prefixes + row * kScanColumns + k * kWide, canonical(v[k]));
    }
  }
}

using Scan = double (*)(const ScanBlock& block);
using ColumnScan = void (*)(const ScanColumns& columns);
template <class Op>
constexpr ByType<Scan> kScans = by_type<Scan>([]<gpumem_dtype kType>() -> Scan {
  if constexpr (is_floating(kType)) return scan_block<Op, ElementOf<kType>>;
  return nullptr;
});
template <class Op>
constexpr ByType<ColumnScan> kColumnScans = by_type<ColumnScan>([]<gpumem_dtype kType>() -> ColumnScan {
  if constexpr (is_floating(kType)) return scan_columns_of<Op, ElementOf<kType>>;
  return nullptr;
});

}  // namespace

namespace GPUMEM_LOOPS {
double scan(const ScanBlock& block) {
  return block.product ? kScans<Multiply>[block.dtype](block) : kScans<Add>[block.dtype](block);
}
void scan_columns(const ScanColumns& c) { (c.product ? kColumnScans<Multiply> : kColumnScans<Add>)[c.dtype](c); }
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
