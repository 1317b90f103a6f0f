// z = f(x), f(x, y), x < y, mask ? x : y, or (src + offset) * scale as another type, over views of up to eight axes.
// Moves: reads each source once and writes z once. A repeated element is read by every warp, from the caches.
// Access: vectors: a row of z is divided into items of neighbouring elements, which begin where z is aligned. An access
//         has up to 16 bytes. A source that is aligned differently is read by element, which hits the same sectors. A
//         thread keeps two items in flight.
//         table: as vectors, for scaled conversions of 1-byte elements. Each block first computes the 256 results in
//         shared memory, in eight copies, so that lanes with different elements rarely share a bank.
//         elements: an item is one element, in one access or byte by byte for any address.
// Shapes: vectors, table: rows of z without gaps. elements: all others, and elements of 16 bytes.
// The function is looked up at run time, because the kernels are memory-bound. A thread reads only the elements of z
// that it overwrites itself, so z may be a source.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "kernels/alignment.hpp"
#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/map/element.hpp"
#include "kernels/map/limits.hpp"
#include "kernels/map/map.hpp"
#include "kernels/map/packed.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

// Distances are in bytes. Axis 0 is the row.
struct MapSide {
  char* first;
  int64_t stride[kMaxMapRank];
};

struct MapViews {
  MapSide x[kMaxMapSources];
  MapSide z;
  Divisor<uint32_t> count[kMaxMapRank];  // items of a row, then extents
  int64_t length;                        // of a row
  uint32_t items;
  int32_t rank;
  int32_t boundary;  // elements of z
  int32_t z_shift;   // log2 of its bytes
  int32_t op;
  gpumem_dtype src_type;
  gpumem_dtype dst_type;
  bool two;      // sources of a function
  bool aligned;  // every operand to its elements
  double nan_value;
  gpumem_status* status;
};

// An item's first element in each operand, and those of its elements that exist: [from, to).
template <int kSources>
struct MapItem {
  const char* x[kSources];
  char* z;
  int32_t from = 0;
  int32_t to = 0;

  template <int kCount>
  __device__ __forceinline__ void find(const MapViews& v, uint32_t item) {
    uint32_t rest = v.count[0].quotient(item);
    int64_t at = int64_t{item - rest * v.count[0].value} * kCount;
#pragma unroll
    for (int k = 0; k < kSources; ++k) x[k] = v.x[k].first;
    z = v.z.first;
#pragma unroll 1
    for (int a = 1; a < v.rank; ++a) {
      const uint32_t above = a + 1 < v.rank ? v.count[a].quotient(rest) : 0;
      const int64_t digit = rest - above * v.count[a].value;
      rest = above;
#pragma unroll
      for (int k = 0; k < kSources; ++k) {
        if (has(v, k)) x[k] += digit * v.x[k].stride[a];
      }
      z += digit * v.z.stride[a];
    }
    if constexpr (kCount > 1) {
      at -= static_cast<uint32_t>(reinterpret_cast<uintptr_t>(z) >> v.z_shift) & static_cast<uint32_t>(v.boundary - 1);
    }
    from = at < 0 ? static_cast<int32_t>(-at) : 0;
    to = static_cast<int32_t>(min(v.length - at, int64_t{kCount}));
#pragma unroll
    for (int k = 0; k < kSources; ++k) {
      if (has(v, k)) x[k] += at * v.x[k].stride[0];
    }
    z += at * v.z.stride[0];
  }

 private:
  // Whether the distance to a source is needed: a conversion often has no scale or no offset.
  static __device__ __forceinline__ bool has(const MapViews& v, int k) {
    return kSources < 3 || k == 0 || v.x[k].first != nullptr;
  }
};

// Neighbouring elements. Short ones stay in words, because registers of one element would have to be joined again.
template <class T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) MapRun {
  static constexpr bool kShort = sizeof(T) < 4 && kCount * sizeof(T) % 4 == 0;
  static constexpr int kOfWord = kShort ? 4 / static_cast<int>(sizeof(T)) : 1;
  using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;  // of a short one
  std::conditional_t<kShort, uint32_t, T> word[kCount / kOfWord];

  __device__ __forceinline__ T get(int e) const {
    if constexpr (kShort) {
      return std::bit_cast<T>(static_cast<Bits>(word[e / kOfWord] >> e % kOfWord * 8 * static_cast<int>(sizeof(T))));
    } else {
      return word[e];
    }
  }
  __device__ __forceinline__ void set(int e, T v) {
    if constexpr (kShort) {
      const int shift = e % kOfWord * 8 * static_cast<int>(sizeof(T));
      uint32_t& to = word[e / kOfWord];
      to = (to & ~(uint32_t{static_cast<Bits>(~Bits{0})} << shift)) | uint32_t{std::bit_cast<Bits>(v)} << shift;
    } else {
      word[e] = v;
    }
  }
};

template <class T, int kCount>
__device__ __forceinline__ MapRun<T, kCount> load_run(const MapViews& v, const char* p, int64_t step, int from,
                                                      int to) {
  MapRun<T, kCount> run{};
  if constexpr (kCount == 1) {
    const auto* at = reinterpret_cast<const T*>(p);
    run.set(0, v.aligned ? Aligned::load(at) : Bytewise::load(at));
  } else {
    constexpr int kWordBytes = alignof(MapRun<T, kCount>);
    using Words = std::array<WordOf<kWordBytes>, sizeof(run) / kWordBytes>;
    const bool in_words = step == sizeof(T) && reinterpret_cast<uintptr_t>(p) % kWordBytes == 0;
    if (in_words && to - from == kCount) {
      Words words;
#pragma unroll
      for (size_t w = 0; w < words.size(); ++w) words[w] = reinterpret_cast<const WordOf<kWordBytes>*>(p)[w];
      run = std::bit_cast<MapRun<T, kCount>>(words);
    } else if (step == 0) {
      const T same = *reinterpret_cast<const T*>(p);
#pragma unroll
      for (int e = 0; e < kCount; ++e) run.set(e, same);
    } else {
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        if (e >= from && e < to) run.set(e, *reinterpret_cast<const T*>(p + e * step));
      }
    }
  }
  return run;
}

template <class T, int kCount>
__device__ __forceinline__ void store_run(const MapViews& v, char* p, int from, int to, const MapRun<T, kCount>& run) {
  if constexpr (kCount == 1) {
    auto* at = reinterpret_cast<T*>(p);
    v.aligned ? Aligned::store(at, run.get(0)) : Bytewise::store(at, run.get(0));
  } else if (to - from == kCount) {
    constexpr int kWordBytes = alignof(MapRun<T, kCount>);
    using Words = std::array<WordOf<kWordBytes>, sizeof(run) / kWordBytes>;
    const auto words = std::bit_cast<Words>(run);
#pragma unroll
    for (size_t w = 0; w < words.size(); ++w) reinterpret_cast<WordOf<kWordBytes>*>(p)[w] = words[w];
  } else {
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      if (e >= from && e < to) reinterpret_cast<T*>(p)[e] = run.get(e);
    }
  }
}

template <class F>
__device__ __forceinline__ void for_map_op(int32_t op, const F& f) {
  switch (static_cast<decltype(GPUMEM_MAP_NEGATE)>(op)) {
    case GPUMEM_MAP_NEGATE:
      return f.template operator()<GPUMEM_MAP_NEGATE>();
    case GPUMEM_MAP_ABSOLUTE:
      return f.template operator()<GPUMEM_MAP_ABSOLUTE>();
    case GPUMEM_MAP_RECIPROCAL:
      return f.template operator()<GPUMEM_MAP_RECIPROCAL>();
    case GPUMEM_MAP_SQUARE_ROOT:
      return f.template operator()<GPUMEM_MAP_SQUARE_ROOT>();
    case GPUMEM_MAP_FLOOR:
      return f.template operator()<GPUMEM_MAP_FLOOR>();
    case GPUMEM_MAP_CEIL:
      return f.template operator()<GPUMEM_MAP_CEIL>();
    case GPUMEM_MAP_TRUNCATE:
      return f.template operator()<GPUMEM_MAP_TRUNCATE>();
    case GPUMEM_MAP_ROUND:
      return f.template operator()<GPUMEM_MAP_ROUND>();
    case GPUMEM_MAP_NOT:
      return f.template operator()<GPUMEM_MAP_NOT>();
    case GPUMEM_MAP_ADD:
      return f.template operator()<GPUMEM_MAP_ADD>();
    case GPUMEM_MAP_SUBTRACT:
      return f.template operator()<GPUMEM_MAP_SUBTRACT>();
    case GPUMEM_MAP_MULTIPLY:
      return f.template operator()<GPUMEM_MAP_MULTIPLY>();
    case GPUMEM_MAP_DIVIDE:
      return f.template operator()<GPUMEM_MAP_DIVIDE>();
    case GPUMEM_MAP_REMAINDER:
      return f.template operator()<GPUMEM_MAP_REMAINDER>();
    case GPUMEM_MAP_MINIMUM:
      return f.template operator()<GPUMEM_MAP_MINIMUM>();
    case GPUMEM_MAP_MAXIMUM:
      return f.template operator()<GPUMEM_MAP_MAXIMUM>();
    case GPUMEM_MAP_COPY_SIGN:
      return f.template operator()<GPUMEM_MAP_COPY_SIGN>();
    case GPUMEM_MAP_AND:
      return f.template operator()<GPUMEM_MAP_AND>();
    case GPUMEM_MAP_OR:
      return f.template operator()<GPUMEM_MAP_OR>();
    case GPUMEM_MAP_XOR:
      return f.template operator()<GPUMEM_MAP_XOR>();
    case GPUMEM_MAP_SHIFT_LEFT:
      return f.template operator()<GPUMEM_MAP_SHIFT_LEFT>();
    case GPUMEM_MAP_SHIFT_RIGHT:
      return f.template operator()<GPUMEM_MAP_SHIFT_RIGHT>();
  }
}

template <gpumem_map_op kOp, class T, int kCount>
__device__ __forceinline__ MapRun<T, kCount> mapped_run(const MapRun<T, kCount>& x, const MapRun<T, kCount>& y) {
  MapRun<T, kCount> z{};
  if constexpr (kCount > 1 && is_packed<kOp, T>()) {
    using Words = std::array<uint32_t, sizeof(z) / 4>;
    const auto a = std::bit_cast<Words>(x);
    const auto b = std::bit_cast<Words>(y);
    Words words;
#pragma unroll
    for (size_t w = 0; w < words.size(); ++w) words[w] = packed_mapped<kOp, T>(a[w], b[w]);
    z = std::bit_cast<MapRun<T, kCount>>(words);
  } else {
#pragma unroll
    for (int e = 0; e < kCount; ++e) z.set(e, mapped<kOp>(x.get(e), y.get(e)));
  }
  return z;
}

// The work on an item: load() begins the loads, and finish() computes and stores.
template <gpumem_dtype kType, int kCount>
struct Function {
  using T = ElementOf<kType>;
  static constexpr int kSources = 2;
  using Item = MapItem<kSources>;
  MapRun<T, kCount> x;
  MapRun<T, kCount> y;

  __device__ __forceinline__ void load(const MapViews& v, const Item& at) {
    x = load_run<T, kCount>(v, at.x[0], v.x[0].stride[0], at.from, at.to);
    if (v.two) y = load_run<T, kCount>(v, at.x[1], v.x[1].stride[0], at.from, at.to);
  }
  __device__ __forceinline__ bool finish(const MapViews& v, const Item& at) {
    MapRun<T, kCount> z{};
    for_map_op(v.op, [&]<gpumem_map_op kOp>() {
      if constexpr (map_takes(kOp, kType)) {
        z = mapped_run<kOp>(x, y);
      }
    });
    store_run<T, kCount>(v, at.z, at.from, at.to, z);
    bool right = true;
    if constexpr (kIsInteger<T>) {
      if (divides(v.op)) {
#pragma unroll
        for (int e = 0; e < kCount; ++e) right = right && (e < at.from || e >= at.to || y.get(e) != 0);
      }
    }
    return right;
  }
};

template <gpumem_dtype kType, int kCount>
struct Comparison {
  using T = ElementOf<kType>;
  static constexpr int kSources = 2;
  using Item = MapItem<kSources>;
  MapRun<T, kCount> x;
  MapRun<T, kCount> y;

  __device__ __forceinline__ void load(const MapViews& v, const Item& at) {
    x = load_run<T, kCount>(v, at.x[0], v.x[0].stride[0], at.from, at.to);
    y = load_run<T, kCount>(v, at.x[1], v.x[1].stride[0], at.from, at.to);
  }
  __device__ __forceinline__ bool finish(const MapViews& v, const Item& at) {
    MapRun<uint8_t, kCount> z{};
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      const bool less = compared<GPUMEM_LESS>(x.get(e), y.get(e));
      const bool equal = compared<GPUMEM_EQUAL>(x.get(e), y.get(e));
      const bool strict = v.op == GPUMEM_LESS ? less : v.op == GPUMEM_EQUAL ? equal : !equal;
      z.set(e, (v.op == GPUMEM_LESS_EQUAL ? less || equal : strict) ? 1 : 0);
    }
    store_run<uint8_t, kCount>(v, at.z, at.from, at.to, z);
    return true;
  }
};

template <int kBytes, int kCount>
struct Choice {
  using T = WordOf<kBytes>;
  static constexpr int kSources = 3;
  using Item = MapItem<kSources>;
  MapRun<uint8_t, kCount> mask;
  MapRun<T, kCount> x;
  MapRun<T, kCount> y;

  __device__ __forceinline__ void load(const MapViews& v, const Item& at) {
    mask = load_run<uint8_t, kCount>(v, at.x[0], v.x[0].stride[0], at.from, at.to);
    x = load_run<T, kCount>(v, at.x[1], v.x[1].stride[0], at.from, at.to);
    y = load_run<T, kCount>(v, at.x[2], v.x[2].stride[0], at.from, at.to);
  }
  __device__ __forceinline__ bool finish(const MapViews& v, const Item& at) {
#pragma unroll
    for (int e = 0; e < kCount; ++e) x.set(e, mask.get(e) != 0 ? x.get(e) : y.get(e));
    store_run<T, kCount>(v, at.z, at.from, at.to, x);
    return true;
  }
};

// Else the bytes are those of one element.
constexpr bool in_words(int bytes) { return bytes % 4 == 0; }

// A scale or an offset of an item's elements: one number, or one per element.
template <int kCount>
struct Factor {
  double same;

  static __device__ __forceinline__ bool is_one(const MapViews& v, int k) {
    return kCount == 1 || v.x[k].first == nullptr || v.x[k].stride[0] == 0;
  }
  static __device__ __forceinline__ double load(const MapViews& v, const char* p) {
    return load_run<double, 1>(v, p, 0, 0, 1).get(0);
  }
  __device__ __forceinline__ void begin(const MapViews& v, const char* at, int k, double otherwise) {
    same = otherwise;
    if (v.x[k].first != nullptr && is_one(v, k)) same = load(v, at);
  }
  __device__ __forceinline__ double get(const MapViews& v, const char* at, int k, int e) const {
    return is_one(v, k) ? same : load(v, at + e * v.x[k].stride[0]);
  }
};

// A number as another type. A NaN gives some NaN, which the caller replaces. kWhole: the result is stored as a whole.
// Otherwise converted() avoids a mistake of ptxas (see low_of() in kernels/convert/element.hpp).
template <class To, bool kWhole>
__device__ __forceinline__ To element_of(double number) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<To, float>) return static_cast<float>(number);
  if constexpr (kWhole && std::is_same_v<To, Half>) return {__half_as_ushort(__double2half(number))};
  if constexpr (kWhole && std::is_same_v<To, Brain>) return {__bfloat16_as_ushort(__double2bfloat16(number))};
#endif
  return converted<To>(number);
}

// The types are looked up at run time, so that one kernel serves all pairs. Elements stay raw until finish(), because a
// conversion would wait for their load.
template <int kCount>
struct Conversion {
  static constexpr int kSources = 3;
  using Item = MapItem<kSources>;
  template <int kBytes>
  using Raw = std::array<uint32_t, in_words(kCount* kBytes) ? kCount * kBytes / 4 : 1>;
  Raw<8> src;
  Factor<kCount> factor;
  Factor<kCount> offset;

  __device__ __forceinline__ void load(const MapViews& v, const Item& at) {
    factor.begin(v, at.x[1], 1, kNoScale);
    offset.begin(v, at.x[2], 2, kNoOffset);
    for_size(element_bytes(v.src_type), [&]<int kBytes>() {
      if constexpr (kBytes <= 8) {
        const auto run = load_run<WordOf<kBytes>, kCount>(v, at.x[0], v.x[0].stride[0], at.from, at.to);
        Raw<kBytes> raw;
        if constexpr (in_words(kCount * kBytes)) {
          raw = std::bit_cast<Raw<kBytes>>(run);
        } else {
          raw[0] = run.get(0);
        }
#pragma unroll
        for (size_t w = 0; w < raw.size(); ++w) src[w] = raw[w];
      }
    });
  }

  __device__ __forceinline__ bool finish(const MapViews& v, const Item& at) {
    MapRun<double, kCount> number{};
    uint32_t nans = 0;  // a bit per element of src
    for_type(v.src_type, [&]<gpumem_dtype kFrom>() {
      using From = ElementOf<kFrom>;
      Raw<sizeof(From)> raw;
#pragma unroll
      for (size_t w = 0; w < raw.size(); ++w) raw[w] = src[w];
      if constexpr (in_words(kCount * sizeof(From))) {
        const auto run = std::bit_cast<MapRun<From, kCount>>(raw);
#pragma unroll
        for (int e = 0; e < kCount; ++e) number.set(e, converted<double>(run.get(e)));
      } else {
        using Word = WordOf<sizeof(From)>;
        number.set(0, converted<double>(std::bit_cast<From>(static_cast<Word>(raw[0]))));
      }
      if constexpr (is_floating(kFrom)) {
#pragma unroll
        for (int e = 0; e < kCount; ++e) nans |= number.get(e) != number.get(e) ? 1u << e : 0;
      }
    });
    uint32_t nan_results = 0;
    if (scale(number, v, at)) {
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        if ((nans >> e & 1) != 0) number.set(e, v.nan_value);
        if (number.get(e) == number.get(e)) continue;
        number.set(e, std::bit_cast<double>(kCanonicalNan));
        nan_results |= 1u << e;
      }
    }
    for_type(v.dst_type, [&]<gpumem_dtype kTo>() {
      using To = ElementOf<kTo>;
      MapRun<To, kCount> run{};
#pragma unroll
      for (int e = 0; e < kCount; ++e) run.set(e, element_of<To, (kCount > 1)>(number.get(e)));
      if constexpr (is_floating(kTo) && sizeof(To) < sizeof(double)) {
        if (nan_results != 0) {
          const To nan = converted<To>(std::bit_cast<double>(kCanonicalNan));
#pragma unroll
          for (int e = 0; e < kCount; ++e) {
            if ((nan_results >> e & 1) != 0) run.set(e, nan);
          }
        }
      }
      store_run(v, at.z, at.from, at.to, run);
    });
    return true;
  }

 private:
  // Returns whether a number is NaN.
  __device__ __forceinline__ bool scale(MapRun<double, kCount>& number, const MapViews& v, const Item& at) const {
    bool has_nan = false;
    if (Factor<kCount>::is_one(v, 1) && Factor<kCount>::is_one(v, 2)) {
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        number.set(e, (number.get(e) + offset.same) * factor.same);
        has_nan = has_nan || number.get(e) != number.get(e);
      }
    } else {
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        if (e < at.from || e >= at.to) continue;
        number.set(e, (number.get(e) + offset.get(v, at.x[2], 2, e)) * factor.get(v, at.x[1], 1, e));
        has_nan = has_nan || number.get(e) != number.get(e);
      }
    }
    return has_nan;
  }
};

struct TableViews : MapViews {
  const double* factor[kMaxMapSources];  // scale and offset
  int32_t channels;
  bool interleaved;             // neighbouring elements are of different channels
  bool varies[kMaxMapSources];  // scale and offset, from channel to channel
};

// The results are looked up in shared memory.
template <int kBytes, int kCount>
struct Lookup {
  static constexpr int kSources = 3;
  static constexpr int kCopies = 8;
  using Item = MapItem<kSources>;
  using To = WordOf<kBytes>;
  MapRun<uint8_t, kCount> src;

  static constexpr int table_bytes(int32_t channels) { return channels * 256 * kCopies * 4; }
  static __device__ __forceinline__ double factor(const TableViews& v, int k, int channel, double otherwise) {
    return v.factor[k] == nullptr ? otherwise : v.factor[k][v.varies[k] ? channel : 0];
  }
  static __device__ __forceinline__ void prepare(const TableViews& v) {
    auto* const table = dynamic_shared<uint32_t>();
    const int byte = threadIdx.x;
    static_assert(kMapThreads == 256);
    for (int channel = 0; channel < v.channels; ++channel) {
      const double number = scaled(v.src_type == GPUMEM_I8 ? static_cast<int8_t>(byte) : byte,
                                   factor(v, 1, channel, kNoScale), factor(v, 2, channel, kNoOffset), 0);
      uint32_t bits = 0;
      for_type(v.dst_type, [&]<gpumem_dtype kTo>() {
        if constexpr (element_bytes(kTo) == kBytes) bits = std::bit_cast<To>(converted<ElementOf<kTo>>(number));
      });
#pragma unroll
      for (int copy = 0; copy < kCopies; ++copy) {
        table[(channel * 256 + byte) * kCopies + (copy + threadIdx.x) % kCopies] = bits;
      }
    }
    __syncthreads();
  }

  __device__ __forceinline__ void load(const TableViews& v, const Item& at) {
    src = load_run<uint8_t, kCount>(v, at.x[0], v.x[0].stride[0], at.from, at.to);
  }
  // Of the item's first element, which may be before the row.
  static __device__ __forceinline__ int first_channel(const TableViews& v, const Item& at) {
    if (v.channels == 1) return 0;
    if (!v.interleaved) {
      const int64_t bytes = v.varies[1] ? at.x[1] - v.x[1].first : at.x[2] - v.x[2].first;
      return static_cast<int>(bytes / static_cast<int64_t>(sizeof(double)));
    }
    constexpr int64_t kAhead = 12 * kCount;  // a multiple of all numbers of channels
    const auto place = static_cast<uint64_t>(((at.z - v.z.first) >> v.z_shift) + kAhead);
    return static_cast<int>(v.channels == 3 ? place % 3 : place & static_cast<uint64_t>(v.channels - 1));
  }
  __device__ __forceinline__ void finish(const TableViews& v, const Item& at) const {
    store_run<To, kCount>(v, at.z, at.from, at.to, v.interleaved ? looked_up<true>(v, at) : looked_up<false>(v, at));
  }

 private:
  // The place of an entry is made of bits: channel, byte, copy.
  template <bool kInterleaved>
  __device__ __forceinline__ MapRun<To, kCount> looked_up(const TableViews& v, const Item& at) const {
    constexpr int kEach = 4 / kBytes;  // results per word
    constexpr int kShift = std::countr_zero(static_cast<unsigned>(kCopies));
    constexpr uint32_t kOfChannel = 256 * kCopies;
    const auto* const table = dynamic_shared<uint32_t>();
    const auto bytes = std::bit_cast<std::array<uint32_t, kCount / 4>>(src);
    const uint32_t copy = threadIdx.x % kCopies;
    const uint32_t end = static_cast<uint32_t>(v.channels) * kOfChannel + copy;
    uint32_t base = static_cast<uint32_t>(first_channel(v, at)) * kOfChannel + copy;
    std::array<uint32_t, kCount / kEach> words;
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      const int right = e % 4 * 8 - kShift;
      const uint32_t byte = (right < 0 ? bytes[e / 4] << -right : bytes[e / 4] >> right) & (255u << kShift);
      const uint32_t result = table[byte | base] << e % kEach * 8 * kBytes;
      words[e / kEach] = e % kEach == 0 ? result : words[e / kEach] | result;
      if (!kInterleaved) continue;
      base += kOfChannel;
      if (base == end) base = copy;
    }
    return std::bit_cast<MapRun<To, kCount>>(words);
  }
};

template <class OnItem, int kCount>
__global__ void __launch_bounds__(kMapThreads) map_kernel(const __grid_constant__ MapViews v) {
  synchronize_and_trigger();
  constexpr int kItems = map_items(kCount);
  const uint32_t first = blockIdx.x * static_cast<uint32_t>(kMapThreads * kItems) + threadIdx.x;
  typename OnItem::Item at[kItems];
  OnItem work[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const uint32_t item = first + static_cast<uint32_t>(k * kMapThreads);
    if (item < v.items) at[k].template find<kCount>(v, item);
    if (at[k].from < at[k].to) work[k].load(v, at[k]);
  }
  bool right = true;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (at[k].from < at[k].to) right = work[k].finish(v, at[k]) && right;
  }
  if (!right && v.status != nullptr) *v.status = GPUMEM_OUT_OF_RANGE;
}

// Blocks take many items each, because their tables take as long as some. The next item is loaded early.
template <int kBytes, int kCount>
__global__ void __launch_bounds__(kMapThreads, kTableBlocks) lookup_kernel(const __grid_constant__ TableViews v) {
  synchronize_and_trigger();
  using OnItem = Lookup<kBytes, kCount>;
  const uint32_t step = gridDim.x * kMapThreads;
  uint32_t item = blockIdx.x * static_cast<uint32_t>(kMapThreads) + threadIdx.x;
  typename OnItem::Item at;
  OnItem work;
  const auto begin = [&](uint32_t of, typename OnItem::Item& its, OnItem& its_work) {
    its.template find<kCount>(v, of);
    if (its.from < its.to) its_work.load(v, its);
  };
  if (item < v.items) begin(item, at, work);
  OnItem::prepare(v);
  while (item < v.items) {
    const typename OnItem::Item here = at;
    const OnItem loaded = work;
    item += step;
    if (item < v.items) begin(item, at, work);
    if (here.from < here.to) loaded.finish(v, here);
  }
}

__global__ void map_status_kernel(gpumem_status* status) {
  synchronize_and_trigger();
  *status = GPUMEM_OK;
}

MapSide side_of(const MapParams& p, const void* first, const int64_t* strides, int64_t bytes) {
  MapSide side{static_cast<char*>(const_cast<void*>(first)), {}};
  for (int32_t a = 0; a < p.rank; ++a) side.stride[a] = strides[p.rank - 1 - a] * bytes;
  return side;
}

MapViews views_of(const MapParams& p, const MapRows& rows) {
  MapViews v{};
  v.rank = p.rank;
  v.boundary = static_cast<int32_t>(rows.boundary);
  v.op = p.op;
  v.src_type = p.dtype;
  v.dst_type = p.dst_type;
  v.two = p.sources == 2;
  v.nan_value = p.nan_value;
  v.status = p.status;
  v.length = p.extents[p.rank - 1];
  v.items = static_cast<uint32_t>(rows.rows * rows.items);
  v.count[0] = Divisor<uint32_t>(static_cast<uint32_t>(rows.items));
  for (int32_t a = 1; a < p.rank; ++a) v.count[a] = Divisor<uint32_t>(static_cast<uint32_t>(p.extents[p.rank - 1 - a]));
  v.z = side_of(p, p.z, p.z_strides, p.z_bytes());
  v.z_shift = std::countr_zero(static_cast<uint64_t>(p.z_bytes()));
  v.aligned = aligned(p.z, p.z_bytes());
  for (int32_t k = 0; k < p.sources; ++k) {
    v.x[k] = side_of(p, p.x[k], p.x_strides[k], p.source_bytes(k));
    v.aligned = v.aligned && aligned(p.x[k], p.source_bytes(k));
  }
  return v;
}

// kVectors: false for items of one element.
template <bool kVectors>
auto kernel_of(const MapParams& p) {
  void (*kernel)(MapViews) = nullptr;
  if (p.kind == MapKind::convert_scaled) {
    constexpr int kCount = kVectors ? map_vector(MapKind::convert_scaled, 4) : 1;
    constexpr int kWide = kVectors ? map_vector(MapKind::convert_scaled, 8) : 1;
    const bool wide = element_bytes(p.dst_type) > 4;
    return kernel = wide ? map_kernel<Conversion<kWide>, kWide> : map_kernel<Conversion<kCount>, kCount>;
  }
  if (p.kind == MapKind::where) {
    for_size(p.element_bytes, [&]<int kBytes>() {
      constexpr int kCount = kVectors ? map_vector(MapKind::where, kBytes) : 1;
      kernel = map_kernel<Choice<kBytes, kCount>, kCount>;
    });
    return kernel;
  }
  for_type(p.dtype, [&]<gpumem_dtype kType>() {
    constexpr int kBytes = element_bytes(kType);
    constexpr int kCount = kVectors ? map_vector(MapKind::map, kBytes) : 1;
    constexpr int kCompared = kVectors ? map_vector(MapKind::compare, kBytes) : 1;
    kernel = p.kind == MapKind::map ? map_kernel<Function<kType, kCount>, kCount>
                                    : map_kernel<Comparison<kType, kCompared>, kCompared>;
  });
  return kernel;
}

// Halves of a view that has too many items, along its longest axis.
template <bool kVectors>
LaunchResult start(const MapParams& p, const Launch& launch) {
  const MapRows rows = map_rows(p, kVectors ? map_vector(p) : 1);
  if (rows.rows > kMostMapItems / rows.items) {
    const auto d = std::max_element(p.extents, p.extents + p.rank) - p.extents;
    MapParams half = p;
    half.extents[d] /= 2;
    const LaunchResult result = start<kVectors>(half, launch);
    if (result != 0) return result;
    for (int32_t k = 0; k < p.sources; ++k) {
      if (p.x[k] == nullptr) continue;
      half.x[k] = static_cast<const char*>(p.x[k]) + half.extents[d] * p.x_strides[k][d] * p.source_bytes(k);
    }
    half.z = static_cast<char*>(p.z) + half.extents[d] * p.z_strides[d] * p.z_bytes();
    half.extents[d] = p.extents[d] - half.extents[d];
    return start<kVectors>(half, launch);
  }
  const MapViews views = views_of(p, rows);
  const int64_t blocks = ceil_div(views.items, int64_t{kMapThreads} * map_items(kVectors ? map_vector(p) : 1));
  return enqueue_programmatic(kernel_of<kVectors>(p), static_cast<unsigned>(blocks), kMapThreads, launch, views);
}

template <bool kVectors>
LaunchResult launch_all(const MapParams& params, const Launch& launch) {
  const MapParams p = without_greater(params);
  if (p.status != nullptr) {
    const LaunchResult result = enqueue_programmatic(map_status_kernel, 1, 1, launch, p.status);
    if (result != 0) return result;
  }
  return start<kVectors>(p, launch);
}

}  // namespace

LaunchResult map_vectors(const MapParams& params, const Config&, const Launch& launch) {
  return launch_all<true>(params, launch);
}
LaunchResult map_elements(const MapParams& params, const Config&, const Launch& launch) {
  return launch_all<false>(params, launch);
}
LaunchResult map_table_lookup(const MapParams& params, const Config& config, const Launch& launch) {
  const MapTable table = map_table(params);
  TableViews views{
      views_of(table.p, map_rows(table.p, table_vector(params.z_bytes()))), {}, table.channels, table.interleaved, {}};
  for (int k : {1, 2}) {
    views.factor[k] = reinterpret_cast<const double*>(views.x[k].first);
    if (!table.varies[k] || table.interleaved) views.x[k].first = nullptr;  // no item needs it
  }
  std::copy(table.varies, table.varies + kMaxMapSources, views.varies);
  return for_size(params.z_bytes(), [&]<int kBytes>() {
    if constexpr (kBytes <= 4) {
      constexpr int kCount = table_vector(kBytes);
      using OnItem = Lookup<kBytes, kCount>;
      const int bytes = OnItem::table_bytes(table.channels);
      return enqueue_shared(lookup_kernel<kBytes, kCount>, static_cast<unsigned>(config.grid), kMapThreads,
                            {.bytes = bytes, .most = OnItem::table_bytes(kMostTableChannels)}, launch, views);
    } else {
      return cudaErrorInvalidValue;  // planned otherwise than launched
    }
  });
}

LaunchResult map_preload() { return preload(map_kernel<Function<GPUMEM_F32, 4>, 4>); }

}  // namespace gpumem::kernels
