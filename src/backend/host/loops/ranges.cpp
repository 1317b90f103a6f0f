// Smallest and largest elements, and the first of them; compiled once per instruction set (loops.hpp). Elements are
// compared as integers of their own width, in the order of the keys of kernels/elements.hpp. Compilers vectorise the
// loops.
#include "backend/host/loops/common.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/order.hpp"

namespace gpumem {
namespace {

template <class Type, class T = typename Type::T>
void widen(Range<T>& range, const Range<T>& by) {
  range.low = by.low < range.low ? by.low : range.low;
  range.high = by.high > range.high ? by.high : range.high;
}

// Vectors are reduced once at the end, not per block.
template <class Type>
ReduceNode range(const void* x, const void*, int64_t n) {
  using T = typename Type::T;
  constexpr int64_t kWide = kVectorBytes / sizeof(T);
  constexpr int64_t kAtOnce = 4 * kLineBytes / sizeof(T);
  const auto* first = static_cast<const Bits<T>*>(x);
  Range<T> all = Type::range(first, n < kWide ? n : kWide);
  if (n < kWide) return {{key(all.low), key(all.high), 0, 0}};
  typename Type::Ends ends(load_as<VectorOf<T>>(first));
  over_blocks(first, n, [&](const Bits<T>* v, int64_t count) {
    int64_t i = 0;
    for (; i + kAtOnce <= count; i += kAtOnce) {
      for (int64_t k = 0; k < kAtOnce; k += kWide) ends.take(load_as<VectorOf<T>>(v + i + k));
    }
    if (i < count) widen<Type>(all, Type::range(v + i, count - i));
  });
  ends.finish();
  Bits<T> kept[sizeof ends / sizeof(T)];
  std::memcpy(kept, &ends, sizeof ends);
  widen<Type>(all, Type::range(kept, sizeof ends / sizeof(T)));
  return {{key(all.low), key(all.high), 0, 0}};
}

template <class Type, gpumem_reduce_op kOp, class T>
std::make_unsigned_t<T> lowest_rank(const Range<T>& range) {
  const auto low = rank<Type, kOp>(range.low);
  const auto high = rank<Type, kOp>(range.high);
  return low < high ? low : high;
}

// The rank must occur. Each step has only one branch, at its end.
template <class Type, gpumem_reduce_op kOp, class T = typename Type::T>
int64_t first_of(const Bits<typename Type::T>* x, int64_t n, std::make_unsigned_t<T> sought) {
  constexpr int64_t kStep = 64;
  int64_t at = 0;
  while (at + kStep <= n && lowest_rank<Type, kOp>(Type::range(x + at, kStep)) != sought) at += kStep;
  while (rank<Type, kOp>(Type::order(x[at])) != sought) ++at;
  return at;
}

// Only the block with the lowest rank is searched for the position.
template <class Type, gpumem_reduce_op kOp>
ReduceNode first(const void* data, const void*, int64_t n) {
  using T = typename Type::T;
  const auto* x = static_cast<const Bits<typename Type::T>*>(data);
  auto best = static_cast<std::make_unsigned_t<T>>(-1);
  int64_t block = 0;
  for (int64_t at = 0; at < n && best != 0; at += kBlock<T>) {
    prefetch_block_ahead(x + at);
    const auto here = lowest_rank<Type, kOp>(Type::range(x + at, n - at < kBlock<T> ? n - at : kBlock<T>));
    if (here < best) {
      best = here;
      block = at;
    }
  }
  const int64_t index = block + first_of<Type, kOp>(x + block, n - block < kBlock<T> ? n - block : kBlock<T>, best);
  return {{best, static_cast<uint64_t>(index), 0, 0}};
}

template <class Type>
ReduceNode count(const void* x, const void*, int64_t n) {
  using T = typename Type::T;
  int64_t numbers = 0;
  over_blocks(static_cast<const Bits<T>*>(x), n, [&](const Bits<T>* v, int64_t of_block) {
    std::conditional_t<sizeof(T) == 8, int64_t, int32_t> here = 0;
    for (int64_t i = 0; i < of_block; ++i) here += Type::is_number(v[i]) ? 1 : 0;
    numbers += here;
  });
  return {{std::bit_cast<uint64_t>(static_cast<double>(numbers)), 0, 0, 0}};
}
constexpr ByType<ReduceLoop> kCount = by_type<ReduceLoop>([]<gpumem_dtype kType>() -> ReduceLoop {
  if constexpr (is_floating(kType)) return count<Ordered<kType>>;
  return nullptr;
});

template <gpumem_reduce_op kOp>
constexpr ByType<ReduceLoop> kRange = by_type<ReduceLoop>([]<gpumem_dtype kType>() -> ReduceLoop {
  if constexpr (!has_loop(kType, kOp)) {
    return nullptr;
  } else {
    return range<OrderedFor<kType, kOp>>;
  }
});
template <gpumem_reduce_op kOp>
constexpr ByType<ReduceLoop> kFirst = by_type<ReduceLoop>([]<gpumem_dtype kType>() -> ReduceLoop {
  if constexpr (!has_loop(kType, kOp)) {
    return nullptr;
  } else {
    return first<OrderedFor<kType, kOp>, kOp>;
  }
});

}  // namespace

namespace GPUMEM_LOOPS {
const RangeLoops ranges = {
    kRange<GPUMEM_MIN_MAX>,      kRange<GPUMEM_MIN_VALID>, kRange<GPUMEM_MAX_VALID>,   kCount,
    kFirst<GPUMEM_ARG_MIN>,      kFirst<GPUMEM_ARG_MAX>,   kFirst<GPUMEM_ARG_MAX_ABS>, kFirst<GPUMEM_ARG_MIN_VALID>,
    kFirst<GPUMEM_ARG_MAX_VALID>};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
