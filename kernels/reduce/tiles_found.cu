// The place of the minimum or maximum. A thread keeps the lowest rank and the chunk that it was first seen in; in the end those
// threads that have the block's lowest rank read that chunk again for the place.
#include "kernels/reduce/keys.cuh"
#include "kernels/reduce/unordered.cuh"

namespace gpumem::kernels {
namespace {

template <KeyClass kClass>
class FoundState {
 public:
  using Node = FoundNode;
  static constexpr int kBytes = key_bytes(kClass);
  static constexpr bool kOfLines = false;

  __device__ FoundState(gpumem_dtype dtype, gpumem_reduce_op op)
      : dtype_(dtype), maximum_(op == GPUMEM_ARG_MAX), keys_(dtype) {}
  __device__ void begin(int64_t word) {
    chunk_ = word;
    keys_ = KeyRange<kClass>(dtype_);
  }
  __device__ void take(const uint4& w) { keys_.take(w); }
  __device__ void end() {
    const RangeNode range(keys_.node().stored());
    if (range.low > range.high) return;  // no words
    const bool nan = is_nan_key(dtype_, range.low) || is_nan_key(dtype_, range.high);
    const uint64_t rank = nan ? 0 : maximum_ ? range.high ^ all_bits(dtype_) : range.low;
    if (rank < best_ || first_ < 0) {
      best_ = rank;
      first_ = chunk_;
    }
  }
  __device__ void take_element(uint64_t bits, int64_t index) {
    end_ = combine(end_, FoundNode(rank_of(dtype_, maximum_, key_of(dtype_, bits)), index));
  }
  __device__ Node node(const WordSpan& span, Node* shared) {
    // Places so far are those of the words of a chunk: enough to know the rank, not the place.
    const uint64_t mine = first_ >= 0 && best_ < end_.rank ? best_ : end_.rank;
    const Node lowest = block_tree(Node(mine, 0), shared);
    if (blockDim.x > 32) __syncthreads();
    if (threadIdx.x == 0) shared[0] = lowest;
    __syncthreads();
    const uint64_t rank = shared[0].rank;
    __syncthreads();
    Node found = end_;
    if (first_ >= 0 && best_ == rank) found = combine(found, place(span));
    return block_tree(found, shared);
  }

  __device__ static ReduceValue value(gpumem_dtype dtype, gpumem_reduce_op op, const Node& whole) {
    return for_type<kClass>(dtype, [&](gpumem_dtype type) { return value_of(type, op, whole); });
  }

 private:
  // The first element of the lowest rank in its chunk, whose words are asked for at once.
  __device__ Node place(const WordSpan& span) const {
    constexpr int kPerWord = 16 / kBytes;
    uint4 words[kChunkWords];
#pragma unroll
    for (int i = 0; i < kChunkWords; ++i) {
      const int64_t word = first_ + i * 32;
      words[i] = word < span.count ? reinterpret_cast<const uint4*>(span.words)[word] : uint4{};
    }
    Node found;
#pragma unroll
    for (int i = 0; i < kChunkWords; ++i) {
      const uint32_t part[4] = {words[i].x, words[i].y, words[i].z, words[i].w};
#pragma unroll 1
      for (int k = 0; k < kPerWord; ++k) {
        const int64_t index = (first_ + i * 32) * kPerWord + k;
        if (first_ + i * 32 < span.count && rank(bits_of(part, k)) == best_) {
          found = combine(found, Node(best_, span.head + index));
        }
      }
    }
    return found;
  }
  __device__ __forceinline__ uint64_t rank(uint64_t bits) const {
    return for_type<kClass>(dtype_, [&](gpumem_dtype type) { return rank_of(type, maximum_, key_of(type, bits)); });
  }
  __device__ __forceinline__ static uint64_t bits_of(const uint32_t (&part)[4], int k) {
    if constexpr (kBytes == 8) {
      return k == 0 ? static_cast<uint64_t>(part[1]) << 32 | part[0] : static_cast<uint64_t>(part[3]) << 32 | part[2];
    } else {
      constexpr int kPerPart = 4 / kBytes;
      const int at = k / kPerPart;
      const uint32_t word = at < 2 ? (at == 0 ? part[0] : part[1]) : (at == 2 ? part[2] : part[3]);
      return word >> (8 * kBytes * (k % kPerPart)) & (~uint32_t{0} >> (32 - 8 * kBytes));
    }
  }

  gpumem_dtype dtype_;
  bool maximum_;
  KeyRange<kClass> keys_;
  int64_t chunk_ = 0;
  int64_t first_ = -1;  // first word of the chunk with the lowest rank; -1: no chunk yet
  uint64_t best_ = ~uint64_t{0};
  FoundNode end_;
};

}  // namespace

cudaError_t reduce_tiles_found(const ReduceLaunch& launch, Stream stream) {
  return for_key_class(launch.dtype,
                       [&]<KeyClass kClass>() { return start_tiles<FoundState<kClass>>(launch, stream); });
}

}  // namespace gpumem::kernels
