// Smallest and largest elements, and the first of them; compiled once for each instruction set (loops.hpp). Elements are
// compared as integers of their own width whose order is that of the keys of kernels/elements.hpp; the loops are written so
// that compilers turn them into vectors.
#include "backend/host/loops/common.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/order.hpp"

namespace gpumem {
namespace {

template <class Type>
ReduceNode range(const void* x, const void*, int64_t n) {
  const auto* first = static_cast<const Bits<typename Type::T>*>(x);
  auto low = Type::order(first[0]);
  auto high = low;
  over_blocks(first, n, [&](const Bits<typename Type::T>* v, int64_t count) {
    const auto here = Type::range(v, count);
    low = here.low < low ? here.low : low;
    high = here.high > high ? here.high : high;
  });
  return {{key(low), key(high), 0, 0}};
}

// The place of the first element that is sought, a value or any NaN, which is known to be there. In steps, each without a branch but at its end.
template <class Type, class T = typename Type::T>
int64_t first_of(const Bits<typename Type::T>* x, int64_t n, T value, bool nan) {
  constexpr int64_t kStep = 64;
  int64_t at = 0;
  const auto sought = [&](T v) { return nan ? Type::is_nan(v) : v == value; };
  for (; at + kStep <= n; at += kStep) {
    const Range<T> here = Type::range(x + at, kStep);
    if (nan ? Type::is_nan(here.low) || Type::is_nan(here.high) : here.low == value || here.high == value) break;
  }
  while (!sought(Type::order(x[at]))) ++at;
  return at;
}

// Only the block with the best value is searched for its place.
template <class Type, bool kMaximum>
ReduceNode first(const void* data, const void*, int64_t n) {
  using T = typename Type::T;
  const auto* x = static_cast<const Bits<typename Type::T>*>(data);
  T best{};
  int64_t block = -1;
  bool nan = false;
  for (int64_t at = 0; at < n && !nan; at += kBlock<T>) {
    prefetch_block_ahead(x + at);
    const Range<T> here = Type::range(x + at, n - at < kBlock<T> ? n - at : kBlock<T>);
    nan = Type::is_nan(here.low) || Type::is_nan(here.high);
    const T candidate = kMaximum ? here.high : here.low;
    if (nan || block < 0 || (kMaximum ? candidate > best : candidate < best)) {
      best = candidate;
      block = at;
    }
  }
  const int64_t index = block + first_of<Type>(x + block, n - block < kBlock<T> ? n - block : kBlock<T>, best, nan);
  const uint64_t rank = nan ? 0 : kMaximum ? key(best) ^ static_cast<std::make_unsigned_t<T>>(-1) : key(best);
  return {{rank, static_cast<uint64_t>(index), 0, 0}};
}

}  // namespace

namespace GPUMEM_LOOPS {
const RangeLoops ranges = {by_type<ReduceLoop>([]<gpumem_dtype kType>() { return range<Ordered<kType>>; }),
                           by_type<ReduceLoop>([]<gpumem_dtype kType>() { return first<Ordered<kType>, false>; }),
                           by_type<ReduceLoop>([]<gpumem_dtype kType>() { return first<Ordered<kType>, true>; })};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
