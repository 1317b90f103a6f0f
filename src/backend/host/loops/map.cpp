// Elementwise functions, comparisons, selections and scaled conversions along rows; compiled once per instruction set
// (loops.hpp). The loops take contiguous operands only. Blocks that stay in L1 hold the elements of an operand that is
// repeated or has gaps, and results that go around the caches.
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/host/loops/common.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/stream_stores.hpp"
#include "kernels/map/element.hpp"
#include "kernels/sizes.hpp"

// Before a loop: no iteration reads what an earlier one wrote.
#if defined(__clang__)
#define GPUMEM_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define GPUMEM_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace gpumem {
namespace {

constexpr int64_t kDirectBytes = int64_t{16} << 10;  // of a block without a buffer
constexpr int64_t kShortBytes = 1024;
constexpr int64_t kLongRow = 8192;  // elements

template <class T>
constexpr int64_t kSize = sizeof(T);

template <class T>
inline void store_as(char* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

// x, y and z may be the same, element by element: each is read before it is written.
using Run = void (*)(const char* x, const char* y, char* z, int64_t n);

template <gpumem_map_op kOp, class T>
void map_run(const char* x, const char* y, char* z, int64_t n) {
  GPUMEM_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    T second{};
    if constexpr (takes_two(kOp)) second = load_as<T>(y + i * kSize<T>);
    store_as(z + i * kSize<T>, mapped<kOp>(load_as<T>(x + i * kSize<T>), second));
  }
}

template <gpumem_compare_op kOp, class T>
void compare_run(const char* x, const char* y, char* z, int64_t n) {
  GPUMEM_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    z[i] = static_cast<char>(compared<kOp>(load_as<T>(x + i * kSize<T>), load_as<T>(y + i * kSize<T>)));
  }
}

// The results of signed types are those of unsigned ones, except in these functions.
constexpr bool has_sign(gpumem_map_op op) {
  return op == GPUMEM_MAP_ABSOLUTE || divides(op) || op == GPUMEM_MAP_MINIMUM || op == GPUMEM_MAP_MAXIMUM ||
         op == GPUMEM_MAP_SHIFT_RIGHT;
}

template <gpumem_map_op kOp, gpumem_dtype kType>
constexpr Run run_of() {
  if constexpr (!map_takes(kOp, kType)) {
    return nullptr;
  } else if constexpr (is_floating(kType)) {
    return map_run<kOp, ElementOf<kType>>;
  } else {
    using T = ElementOf<kType>;
    using Word = std::conditional_t<has_sign(kOp), T, std::make_unsigned_t<T>>;
    return map_run<(kOp >= GPUMEM_MAP_FLOOR && kOp <= GPUMEM_MAP_ROUND ? GPUMEM_MAP_ROUND : kOp), Word>;
  }
}

using RunsOfType = std::array<Run, kMapOps>;
constexpr ByType<RunsOfType> kRuns = by_type<RunsOfType>([]<gpumem_dtype kType>() {
  return []<gpumem_map_op... kOps>(std::integer_sequence<gpumem_map_op, kOps...>) {
    return RunsOfType{run_of<kOps, kType>()...};
  }
  (std::make_integer_sequence<gpumem_map_op, kMapOps>{});
});

using Comparisons = std::array<Run, 4>;
constexpr ByType<Comparisons> kComparisons = by_type<Comparisons>([]<gpumem_dtype kType>() {
  using T = ElementOf<kType>;
  return Comparisons{compare_run<GPUMEM_LESS, T>, compare_run<GPUMEM_LESS_EQUAL, T>, compare_run<GPUMEM_EQUAL, T>,
                     compare_run<GPUMEM_NOT_EQUAL, T>};
});

struct Sixteen {
  uint64_t half[2];
};
template <int kBytes>
using Moved = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t,
                       std::conditional_t<kBytes == 4, uint32_t, std::conditional_t<kBytes == 8, uint64_t, Sixteen>>>>;

template <int kBytes>
void where_run(const char* mask, const char* x, const char* y, char* z, int64_t n) {
  using T = Moved<kBytes>;
  GPUMEM_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const T a = load_as<T>(x + i * kSize<T>);
    const T b = load_as<T>(y + i * kSize<T>);
    store_as(z + i * kSize<T>, mask[i] != 0 ? a : b);
  }
}

void scale_run(const char* v, const char* scale, const char* offset, double nan_value, char* z, int64_t n) {
  GPUMEM_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    store_as(z + 8 * i, scaled(load_as<double>(v + 8 * i), load_as<double>(scale + 8 * i),
                               load_as<double>(offset + 8 * i), nan_value));
  }
}

template <class T>
bool has_zero(const char* y, int64_t n) {
  T zeros = 0;
  for (int64_t i = 0; i < n; ++i) zeros |= static_cast<T>(load_as<T>(y + i * kSize<T>) == 0);
  return zeros != 0;
}

// `rows` rows of n elements, from `src` to `dst`. Steps and rows are in bytes. One side is contiguous.
struct Spread {
  const char* src;
  int64_t step;
  int64_t row;
  char* dst;
  int64_t to_step;
  int64_t to_row;
  int64_t n;
  int64_t rows;
};

template <int kBytes>
void spread_elements(const char* src, int64_t step, char* dst, int64_t to_step, int64_t n) {
  using T = Moved<kBytes>;
  if (step == 0) {
    const T v = load_as<T>(src);
    for (int64_t i = 0; i < n; ++i) store_as(dst + i * kBytes, v);
  } else if (to_step == kBytes) {
    GPUMEM_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) store_as(dst + i * kBytes, load_as<T>(src + i * step));
  } else {
    GPUMEM_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) store_as(dst + i * to_step, load_as<T>(src + i * kBytes));
  }
}

void spread(const Spread& of, int64_t bytes) {
  for_size(bytes, [&]<int kBytes>() {
    const Spread s = of;  // a copy in registers, which stores cannot alias
    for (int64_t r = 0; r < s.rows; ++r) {
      spread_elements<kBytes>(s.src + r * s.row, s.step, s.dst + r * s.to_row, s.to_step, s.n);
    }
  });
}

// Contiguous operands, z at `to`.
void run_block(const MapRow& r, const char* const* x, char* to, int64_t n) {
  switch (r.kind) {
    case MapKind::map:
      kRuns[r.dtype][static_cast<size_t>(r.op)](x[0], x[1], to, n);
      break;
    case MapKind::compare:
      kComparisons[r.dtype][static_cast<size_t>(r.op)](x[0], x[1], to, n);
      break;
    case MapKind::where:
      for_size(r.z_bytes, [&]<int kBytes>() { where_run<kBytes>(x[0], x[1], x[2], to, n); });
      break;
    case MapKind::convert_scaled: {
      char* const numbers = r.buffer + (MapRow::kBuffers - 1) * r.buffer_bytes;
      const bool from_double = r.dtype == GPUMEM_F64;
      const bool to_double = r.dst_type == GPUMEM_F64;
      if (!from_double) GPUMEM_LOOPS::convert({r.dtype, x[0], GPUMEM_F64, numbers, n, false});
      scale_run(from_double ? x[0] : numbers, x[1], x[2], r.nan_value, to_double ? to : numbers, n);
      if (!to_double) GPUMEM_LOOPS::convert({GPUMEM_F64, numbers, r.dst_type, to, n, false});
      break;
    }
  }
}

bool divides_by_zero(const MapRow& r, const char* y, int64_t n) {
  if (r.kind != MapKind::map || !divides(r.op) || is_floating(r.dtype)) return false;
  return for_size(r.z_bytes, [&]<int kBytes>() {
    if constexpr (kBytes == 16)
      return false;
    else
      return has_zero<Moved<kBytes>>(y, n);
  });
}

int64_t widest_of(const MapRow& r) {
  int64_t widest = r.kind == MapKind::convert_scaled ? 8 : r.z_bytes;
  for (int k = 0; k < r.sources; ++k) widest = r.bytes[k] > widest ? r.bytes[k] : widest;
  return widest;
}

// Several rows per block.
bool map_short_rows(const MapRow& r) {
  char* const out = r.buffer + kMaxMapSources * r.buffer_bytes;
  const bool direct = r.z_step == r.z_bytes && r.z_row == r.n * r.z_bytes;
  const int64_t most = r.buffer_bytes / widest_of(r) / r.n;
  const auto own = [&](int k) { return r.buffer + k * r.buffer_bytes; };
  const auto bring = [&](int k, int64_t first, int64_t rows) {
    spread({r.x[k] + first * r.x_row[k], r.step[k], r.x_row[k], own(k), r.bytes[k], r.n * r.bytes[k], r.n, rows},
           r.bytes[k]);
  };
  bool joined[kMaxMapSources] = {};
  for (int k = 0; k < r.sources; ++k) {
    joined[k] = r.step[k] == r.bytes[k] && r.x_row[k] == r.n * r.bytes[k];
    if (r.x_row[k] == 0) bring(k, 0, most < r.rows ? most : r.rows);
  }
  bool right = true;
  for (int64_t first = 0; first < r.rows; first += most) {
    const int64_t rows = most < r.rows - first ? most : r.rows - first;
    const char* x[kMaxMapSources] = {out, out, out};  // sources that the function does not have are not read
    for (int k = 0; k < r.sources; ++k) {
      x[k] = joined[k] ? r.x[k] + first * r.x_row[k] : own(k);
      if (!joined[k] && r.x_row[k] != 0) bring(k, first, rows);
    }
    char* const z = r.z + first * r.z_row;
    if (divides_by_zero(r, x[1], rows * r.n)) right = false;
    run_block(r, x, direct ? z : out, rows * r.n);
    if (!direct) spread({out, r.z_bytes, r.n * r.z_bytes, z, r.z_step, r.z_row, r.n, rows}, r.z_bytes);
  }
  return right;
}

}  // namespace

namespace GPUMEM_LOOPS {
bool map(const MapRow& r) {
  if (r.rows > 1) return map_short_rows(r);
  char* const out = r.buffer + kMaxMapSources * r.buffer_bytes;
  const bool direct = r.z_step == r.z_bytes && !r.stream;
  bool buffered = !direct || r.kind == MapKind::convert_scaled;
  bool repeats = false;
  for (int k = 0; k < r.sources; ++k) {
    buffered = buffered || r.step[k] != r.bytes[k];
    repeats = repeats || r.step[k] == 0;
  }
  // A short block costs little to fill with a repeated element.
  const int64_t room = repeats && r.n < kLongRow && r.buffer_bytes > kShortBytes ? kShortBytes : r.buffer_bytes;
  const int64_t most = (buffered ? room : kDirectBytes) / widest_of(r);
  for (int k = 0; k < r.sources; ++k) {
    if (r.step[k] == 0)
      spread({r.x[k], 0, 0, r.buffer + k * r.buffer_bytes, r.bytes[k], 0, r.n < most ? r.n : most, 1}, r.bytes[k]);
  }
  bool right = true;
  int64_t count = r.stream ? most - static_cast<int64_t>(reinterpret_cast<uintptr_t>(r.z) % kLine) / r.z_bytes : most;
  for (int64_t at = 0; at < r.n; at += count, count = most) {
    if (count > r.n - at) count = r.n - at;
    const char* x[kMaxMapSources] = {out, out, out};  // sources that the function does not have are not read
    for (int k = 0; k < r.sources; ++k) {
      const char* from = r.x[k] + at * r.step[k];
      char* const own = r.buffer + k * r.buffer_bytes;
      x[k] = r.step[k] == r.bytes[k] ? from : own;
      if (r.step[k] == r.bytes[k]) {
        for (int64_t line = 0; r.ahead && line < count * r.bytes[k]; line += kLineBytes) prefetch_ahead(from + line);
      } else if (r.step[k] != 0) {
        spread({from, r.step[k], 0, own, r.bytes[k], 0, count, 1}, r.bytes[k]);
      }
    }
    char* const z = r.z + at * r.z_step;
    if (divides_by_zero(r, x[1], count)) right = false;
    run_block(r, x, direct ? z : out, count);
    if (r.stream) {
      stream_row(z, out, count * r.z_bytes);
    } else if (!direct) {
      spread({out, r.z_bytes, 0, z, r.z_step, 0, count, 1}, r.z_bytes);
    }
  }
  if (r.stream) stream_fence();
  return right;
}
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
