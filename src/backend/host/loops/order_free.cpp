// Order-free sums (kernels/order_free.hpp); compiled once per instruction set (loops.hpp). All lanes of the vectors have
// one level. A block of terms is read twice: for its largest exponent, and to be split into bins.
#include <bit>
#include <cstring>
#include <type_traits>

#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/sums.hpp"
#include "kernels/order_free.hpp"

namespace gpumem {
namespace {

constexpr int64_t kBlockTerms = 128;
constexpr int kSets = 2;  // of accumulators, because a sum of one set waits for the one before
constexpr int kTermsOfLane = static_cast<int>(kBlockTerms) / (kWide * kSets);
// Lanes are collected after this many terms, so that their carries fit 64 bits.
constexpr int64_t kMostAtOnce = int64_t{1} << 20;
static_assert(kMostAtOnce <= kMostCarriedTerms && kTermsOfLane <= kTermsBetweenCarries);

inline F64s odd(const F64s& v) { return reinterpret_cast<F64s>(reinterpret_cast<Bits64>(v) | 1); }

template <class Range>
class Lanes {
 public:
  Lanes() { begin(Range::kLeast); }

  // kBlockTerms terms. Of a norm they are elements. Not inlined, as the next two: a block is long enough for a call.
  template <class Terms>
  [[gnu::noinline]] void take(const Terms& terms) {
    Bits64 largest{};
    for (int64_t i = 0; i < kBlockTerms; i += kWide) {
      prefetch(terms, i);
      const auto size = reinterpret_cast<Bits64>(magnitude(terms.at(i)));
      largest = size > largest ? size : largest;
    }
    int64_t most = 0;
    for (int k = 0; k < kWide; ++k) most = largest[k] > most ? largest[k] : most;
    if (most < limit_) return split(terms);
    alignas(64) double term[kBlockTerms];
    for (int64_t i = 0; i < kBlockTerms; i += kWide) {
      const F64s v = terms.at(i);
      std::memcpy(term + i, &v, sizeof v);
    }
    take_large(term);
  }

  [[gnu::noinline]] OrderFreeNode node() {
    carry();
    Int128 bin[kBins] = {};
    for (int b = 0; b < kBins; ++b) {
      for (int k = 0; k < kWide; ++k) bin[b] += carried_[b][k];
    }
    return {level_, bin, special_};
  }

 private:
  template <class Terms>
  static void prefetch(const Terms& terms, int64_t i) {
    using T = typename Terms::T;
    if (i * static_cast<int64_t>(sizeof(T)) % kLineBytes != 0) return;
    prefetch_ahead(terms.x + i);
    if constexpr (std::is_same_v<Terms, Products<T>>) prefetch_ahead(terms.y + i);
  }

  void begin(int level) {
    level_ = level;
    limit_ = static_cast<int64_t>(limit_of<Range>(level)) << 52;
    scale_ = scale_of<Range>(level) + F64s{};
    for (int b = 0; b < kBins; ++b) {
      const F64s start = std::bit_cast<double>(start_of<Range>(level, b)) + F64s{};
      for (auto& set : bin_) set[b] = start;
    }
  }
  void carry() {
    for (int b = 0; b < kBins; ++b) {
      const auto start = static_cast<int64_t>(start_of<Range>(level_, b));
      for (auto& set : bin_) {
        carried_[b] += reinterpret_cast<Bits64>(set[b]) - start;
        set[b] = std::bit_cast<double>(start) + F64s{};
      }
    }
    terms_ = 0;
  }

  template <class Terms>
  void split(const Terms& terms) {
    if (terms_ > kTermsBetweenCarries - kTermsOfLane) carry();
    terms_ += kTermsOfLane;
    F64s bin[kSets][kBins];
    std::memcpy(bin, bin_, sizeof bin);
    const F64s scale = scale_;
    for (int64_t i = 0; i < kBlockTerms; i += int64_t{kWide} * kSets) {
      for (int64_t s = 0; s < kSets; ++s) {
        F64s term = terms.at(i + s * kWide);
        term *= scale;
        if constexpr (Range::kSquares) term *= term;
        deposit(bin[s], term, odd);
      }
    }
    std::memcpy(bin_, bin, sizeof bin);
  }

  // A term needs a higher level, or is not finite.
  [[gnu::noinline]] void take_large(double (&term)[kBlockTerms]) {
    int most = 0;
    for (double& v : term) {
      const int field = static_cast<int>(std::bit_cast<uint64_t>(v) >> 52 & 2047);
      if (field != 2047) {
        most = field > most ? field : most;
        continue;
      }
      special_ |= special_of(Range::kSquares ? v * v : v);
      v = 0;
    }
    if (most >= limit_of<Range>(level_)) {
      carry();
      const int level = level_of<Range>(most);
      raise_bins(carried_, level - level_);
      begin(level);
    }
    split(Plain<double>{{term, nullptr}});
  }

  F64s bin_[kSets][kBins];
  Bits64 carried_[kBins] = {};
  F64s scale_;
  int64_t limit_;
  int level_;
  int terms_ = 0;  // per accumulator since the last carry
  uint32_t special_ = 0;
};

[[gnu::noinline]] void add_to(ReduceNode& sum, const OrderFreeNode& node) {
  sum = combine(OrderFreeNode(sum), node).stored();
}

template <class Terms, class Range>
ReduceNode run(const void* x, const void* y, int64_t n) {
  using T = typename Terms::T;
  const auto* at = static_cast<const T*>(x);
  const auto* other = static_cast<const T*>(y);
  ReduceNode sum;
  Lanes<Range> lanes;
  int64_t taken = 0;
  for (; n >= kBlockTerms; n -= kBlockTerms) {
    lanes.take(Terms{{at, other}});
    at += kBlockTerms;
    if (other != nullptr) other += kBlockTerms;
    if ((taken += kBlockTerms) < kMostAtOnce) continue;
    add_to(sum, lanes.node());
    lanes = Lanes<Range>();
    taken = 0;
  }
  if (n > 0) {
    alignas(64) T last[2][kBlockTerms] = {};
    std::memcpy(last[0], at, static_cast<size_t>(n) * sizeof(T));
    if (other != nullptr) std::memcpy(last[1], other, static_cast<size_t>(n) * sizeof(T));
    lanes.take(Terms{{last[0], last[1]}});
  }
  add_to(sum, lanes.node());
  return sum;
}

template <gpumem_dtype kType>
constexpr LoopsByAddend<ReduceLoop> loops_of() {
  LoopsByAddend<ReduceLoop> loops;
  if constexpr (is_floating(kType)) {
    using T = ElementOf<kType>;
    loops.of[static_cast<int>(Addend::element)] = run<Plain<T>, WideTerms>;
    if constexpr (sizeof(T) >= 4) loops.of[static_cast<int>(Addend::dot)] = run<Products<T>, WideTerms>;
    if constexpr (sizeof(T) == 4) loops.of[static_cast<int>(Addend::square)] = run<Squares<T>, WideTerms>;
    if constexpr (sizeof(T) == 8) loops.of[static_cast<int>(Addend::square)] = run<Plain<T>, SquaredTerms>;
  }
  return loops;
}

}  // namespace

namespace GPUMEM_LOOPS {
const OrderFreeLoops order_free =
    by_type<LoopsByAddend<ReduceLoop>>([]<gpumem_dtype kType>() { return loops_of<kType>(); });
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
