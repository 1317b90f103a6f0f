// The place of the minimum, the maximum or the largest magnitude.
// Access: with elements of 4 and 8 bytes, a thread keeps the lowest rank and its place. Smaller elements go two at a
//         time, and it keeps the lowest rank and its first chunk. At the end, threads with their warp's lowest rank
//         read that chunk again for the place.
#include "kernels/reduce/keys.cuh"
#include "kernels/reduce/unordered.cuh"

namespace gpumem::kernels {
namespace {

// Ranks of elements of 4 and 8 bytes, as rank_of() gives them. kMagnitudes: for ARG_MAX_ABS only.
template <gpumem_dtype kClass, bool kMagnitudes>
class Ranks {
 public:
  using Rank = std::conditional_t<element_bytes(kClass) == 8, uint64_t, uint32_t>;

  __device__ Ranks(gpumem_dtype dtype, gpumem_reduce_op op)
      : flip_((is_signed(dtype) && !kMagnitudes ? kSign : 0) ^ (is_minimum(op) ? 0 : ~Rank{0})),
        of_nan_(static_cast<Rank>(nan_rank(kClass, op))) {}

  // The argument of operator(). A search for magnitudes replaces the elements by them.
  __device__ static Rank sought(Rank bits) {
    if (!kMagnitudes) return bits;
    if (kFloating) return bits & ~kSign;
    return (bits & kSign) != 0 ? 0 - bits : bits;
  }
  __device__ __forceinline__ Rank operator()(Rank bits) const {
    if constexpr (kClass == GPUMEM_F32) {
      const Rank negative = static_cast<Rank>(static_cast<int32_t>(bits) >> 31) & ~kSign;
      const float x = __uint_as_float(bits);
      return x != x ? of_nan_ : bits ^ negative ^ flip_;
    } else if constexpr (kClass == GPUMEM_F64) {
      const Rank negative = static_cast<Rank>(static_cast<int64_t>(bits) >> 63) & ~kSign;
      const double x = __longlong_as_double(static_cast<long long>(bits));
      return x != x ? of_nan_ : bits ^ negative ^ flip_;
    } else {
      return bits ^ flip_;
    }
  }

 private:
  static constexpr bool kFloating = is_floating(kClass);
  static constexpr Rank kSign = Rank{1} << (8 * sizeof(Rank) - 1);
  __device__ static bool is_signed(gpumem_dtype dtype) { return kFloating || is_signed_integer(dtype); }

  Rank flip_;
  Rank of_nan_;
};

template <gpumem_dtype kClass>
struct ArgOf {
  static constexpr int kBytes = element_bytes(kClass);
  static constexpr Values kValues = Values::placed;
  using Node = std::conditional_t<kBytes == 8, ArgNode, SmallArgNode>;

  __device__ static ReduceValue value(gpumem_dtype dtype, gpumem_reduce_op op, const Node& whole) {
    const ArgNode found(whole.stored());
    return for_type<kBytes>(dtype, [&](gpumem_dtype type) { return value_of(type, op, found); });
  }
};

template <gpumem_dtype kClass, int kWords, bool kMagnitudes>
class PlaceState : public ArgOf<kClass> {
 public:
  using ArgOf<kClass>::kBytes;
  using typename ArgOf<kClass>::Node;

  __device__ PlaceState(gpumem_dtype dtype, gpumem_reduce_op op) : rank_(dtype, op) {}
  __device__ void begin(int64_t word) {
    of_chunk_ = static_cast<uint32_t>(word / (32 * kWords)) * kOfChunk;
    if (place_ == kNowhere) place_ = of_chunk_;  // even if no rank is below the highest
  }
  template <int kCount>
  __device__ __forceinline__ void prepare(uint4 (&words)[kCount]) const {
    if constexpr (kMagnitudes) {
#pragma unroll
      for (uint4& w : words) {
        if constexpr (kBytes == 8) {
          const Rank low = rank_.sought(static_cast<uint64_t>(w.y) << 32 | w.x);
          const Rank high = rank_.sought(static_cast<uint64_t>(w.w) << 32 | w.z);
          w = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
               static_cast<uint32_t>(high >> 32)};
        } else {
          w = {rank_.sought(w.x), rank_.sought(w.y), rank_.sought(w.z), rank_.sought(w.w)};
        }
      }
    }
  }
  __device__ __forceinline__ void take(const uint4& w, int i) {
    const uint32_t first = of_chunk_ + static_cast<uint32_t>(i * kPerWord);
    if constexpr (kBytes == 8) {
      take_rank(rank_(static_cast<uint64_t>(w.y) << 32 | w.x), first);
      take_rank(rank_(static_cast<uint64_t>(w.w) << 32 | w.z), first + 1);
    } else {
      take_rank(rank_(w.x), first);
      take_rank(rank_(w.y), first + 1);
      take_rank(rank_(w.z), first + 2);
      take_rank(rank_(w.w), first + 3);
    }
  }
  __device__ void end() {}
  __device__ void take_element(uint64_t bits, int64_t index) {
    end_ = combine(end_, Node(rank_(rank_.sought(static_cast<Rank>(bits))), index));
  }
  __device__ Node node(const WordSpan& span, Node* shared) {
    Node found = end_;
    if (place_ != kNowhere) found = combine(found, Node(best_, index_of(span)));
    return block_tree(found, shared);
  }

 private:
  using Rank = typename Ranks<kClass, kMagnitudes>::Rank;
  static constexpr int kPerWord = 16 / kBytes;
  static constexpr uint32_t kOfChunk = kWords * kPerWord;  // elements of a chunk per thread
  static constexpr uint32_t kNowhere = ~uint32_t{0};

  __device__ __forceinline__ void take_rank(Rank rank, uint32_t place) {
    if (rank >= best_) return;
    best_ = rank;
    place_ = place;
  }
  __device__ int64_t index_of(const WordSpan& span) const {
    const uint32_t in_chunk = place_ % kOfChunk;
    const int64_t chunk = place_ / kOfChunk;
    const int64_t word = chunk * (32 * kWords) + in_chunk / kPerWord * 32 + threadIdx.x % 32;
    return span.head + word * kPerWord + in_chunk % kPerWord;
  }

  Ranks<kClass, kMagnitudes> rank_;
  uint32_t of_chunk_ = 0;
  uint32_t place_ = kNowhere;  // among the elements of the thread's lane in all chunks
  Rank best_ = ~Rank{0};
  Node end_;
};

template <gpumem_dtype kClass, int kWords>
class ChunkState : public ArgOf<kClass> {
 public:
  using ArgOf<kClass>::kBytes;
  using typename ArgOf<kClass>::Node;

  __device__ ChunkState(gpumem_dtype dtype, gpumem_reduce_op op)
      : dtype_(dtype), minimum_(is_minimum(op)), element_(dtype, op) {
    if (kClass == GPUMEM_F16 && skips_nan(op)) nans_ = kAllBits / 2 - static_cast<int>(infinity_bits(dtype));
    if (op != GPUMEM_ARG_MAX_ABS) return;
    opposite_ = kClass == GPUMEM_F16 ? kAllBits : kAllBits + 1;
    lowest_key_ = (kAllBits + 1) / 2;
  }
  __device__ void begin(int64_t word) {
    chunk_ = word;
    keys_ = {};
  }
  __device__ void take(const uint4& w, int) { element_.enter_words(keys_, w); }
  __device__ void end() {
    const uint32_t rank = lowest_rank(SmallRangeNode(keys_));
    if (rank < best_ || first_ < 0) {
      best_ = rank;
      first_ = chunk_;
    }
  }
  __device__ void take_element(uint64_t bits, int64_t index) {
    const uint32_t key = key_of_element(static_cast<uint32_t>(bits));
    end_ = combine(end_, Node(lowest_rank({key, key}), index));
  }
  __device__ Node node(const WordSpan& span, Node* shared) {
    uint32_t lowest = first_ < 0 ? ~uint32_t{0} : best_;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      lowest = min(lowest, __shfl_xor_sync(kWholeWarp, lowest, distance));
    }
    Node found = end_;
    if (first_ >= 0 && best_ == lowest) found = combine(found, place(span));
    return block_tree(found, shared);
  }

 private:
  using Keys = HalfRangeNode<8 * kBytes>;
  static constexpr int kPerWord = 16 / kBytes;
  static constexpr int kAllBits = (1 << 8 * kBytes) - 1;

  struct Sought {  // keys up to low and from high on
    int low;
    int high;
    __device__ bool is_in(const SmallRangeNode& keys) const {
      return static_cast<int>(keys.low) <= low || static_cast<int>(keys.high) >= high;
    }
  };
  // The keys of the lowest rank in a chunk that has no lower one.
  __device__ Sought of_best() const {
    const int best = static_cast<int>(best_);
    if (kClass == GPUMEM_F16 && nans_ != 0) {
      if (best == kAllBits) return {kAllBits, 0};
      if (minimum_) return {best - nans_, kAllBits + 1};
      return {-1, kAllBits - (best - nans_)};
    }
    if (kClass == GPUMEM_F16 && best == 0) {
      const int infinity = static_cast<int>(infinity_bits(dtype_));
      return {kAllBits / 2 - infinity - 1, kAllBits / 2 + infinity + 2};
    }
    if (minimum_) return {best, kAllBits + 1};
    const int key = kAllBits + lowest_key_ - best;
    return {opposite_ - key, key};
  }

  // The first element of the lowest rank in its chunk. All words are loaded at once.
  __device__ Node place(const WordSpan& span) const {
    uint4 words[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int64_t word = first_ + i * 32;
      words[i] = word < span.count ? reinterpret_cast<const uint4*>(span.words)[word] : uint4{};
    }
    const Sought sought = of_best();
    uint4 word{};
    int64_t at = span.count;
#pragma unroll
    for (int i = kWords - 1; i >= 0; --i) {
      Keys keys;
      element_.enter_words(keys, words[i]);
      if (first_ + i * 32 < span.count && sought.is_in(SmallRangeNode(keys))) {
        word = words[i];
        at = first_ + i * 32;
      }
    }
    const uint32_t part[4] = {word.x, word.y, word.z, word.w};
    int first = 0;
#pragma unroll
    for (int k = kPerWord - 1; k >= 0; --k) {
      constexpr int kPerPart = 4 / kBytes;
      const uint32_t key = key_of_element(part[k / kPerPart] >> (8 * kBytes * (k % kPerPart)) & kAllBits);
      if (sought.is_in({key, key})) first = k;
    }
    return Node(best_, span.head + at * kPerWord + first);
  }
  // The keys are range_key(). If it skips NaNs, it gives the best number 0 or kAllBits.
  __device__ __forceinline__ uint32_t lowest_rank(const SmallRangeNode& keys) const {
    if (kClass == GPUMEM_F16 && nans_ != 0) {
      const int rank = minimum_ ? static_cast<int>(keys.low) : kAllBits - static_cast<int>(keys.high);
      return rank > kAllBits - 2 * nans_ ? kAllBits : rank + nans_;
    }
    if (kClass == GPUMEM_F16 && (is_nan_key(dtype_, keys.low) || is_nan_key(dtype_, keys.high))) return 0;
    if (minimum_) return keys.low;
    return kAllBits + lowest_key_ - max(static_cast<int>(keys.high), opposite_ - static_cast<int>(keys.low));
  }
  __device__ __forceinline__ uint32_t key_of_element(uint32_t bits) const {
    const auto key =
        for_type<kBytes>(dtype_, [&](gpumem_dtype type) { return static_cast<uint32_t>(key_of(type, bits)); });
    if (kClass != GPUMEM_F16) return key;
    return (minimum_ ? key - nans_ : key + nans_) & kAllBits;
  }

  gpumem_dtype dtype_;
  bool minimum_;
  int nans_ = 0;  // of each sign, if they are skipped
  // For magnitudes: opposite_ is the sum of the keys of x and -x, whose higher one counts; lowest_key_ is the key of 0.
  int opposite_ = 0;
  int lowest_key_ = 0;
  RangeElement<kBytes> element_;
  Keys keys_;
  int64_t chunk_ = 0;
  int64_t first_ = -1;  // first word of the chunk with the lowest rank; -1: no chunk yet
  uint32_t best_ = ~uint32_t{0};
  Node end_;
};

template <bool kMagnitudes>
cudaError_t start(const ReduceLaunch& launch, Stream stream) {
  return for_key_class(launch.dtype, [&]<gpumem_dtype kClass>() {
    if constexpr (element_bytes(kClass) < 4) {
      return start_tiles<ChunkState<kClass, kChunkWords>, ChunkState<kClass, kFewWords>>(launch, stream);
    } else {
      return start_tiles<PlaceState<kClass, kChunkWords, kMagnitudes>, PlaceState<kClass, kFewWords, kMagnitudes>>(
          launch, stream);
    }
  });
}

}  // namespace

LaunchResult reduce_tiles_arg(const ReduceLaunch& launch, Stream stream) {
  switch (extreme_of(launch.op)) {
    case Extreme::lowest:
    case Extreme::highest:
      return start<false>(launch, stream);
    case Extreme::largest: {
      if (is_floating(launch.dtype) || is_signed_integer(launch.dtype)) return start<true>(launch, stream);
      ReduceLaunch of_elements = launch;  // of the elements' magnitudes
      of_elements.op = GPUMEM_ARG_MAX;
      return start<false>(of_elements, stream);
    }
    case Extreme::both:
      break;
  }
  return cudaErrorInvalidValue;
}

}  // namespace gpumem::kernels
