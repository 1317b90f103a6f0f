// Exact sums of integers. A thread gathers the terms of a chunk in words that can't overflow and adds those up in 64, 128 or 256
// bits: what a whole block can hold at most.
#include "kernels/reduce/unordered.cuh"

namespace gpumem::kernels {
namespace {

// An element's value: its bits extended by the sign, if there is one.
template <bool kSigned, int kBytes>
__device__ __forceinline__ int64_t extended(uint64_t bits) {
  if constexpr (!kSigned) return static_cast<int64_t>(bits);
  return static_cast<int64_t>(bits << (64 - 8 * kBytes)) >> (64 - 8 * kBytes);
}
template <bool kSigned, int kBytes>
__device__ __forceinline__ uint64_t magnitude(uint64_t bits) {
  if constexpr (!kSigned) return bits;
  const int64_t v = extended<kSigned, kBytes>(bits);
  return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

// Terms: add(word) adds the elements of a word, add_one(bits) those of less than a word one by one, flush() empties what a chunk may have
// filled, total is what Node holds. Bounds are for chunks of 8 words and 2^31 elements a thread.
template <int kElementBytes, class TheNode>
struct Terms {
  static constexpr int kBytes = kElementBytes;
  using Node = TheNode;
  __device__ void flush() {}
};

// A chunk's terms gather in a word of their own.
template <int kElementBytes, class Chunk, class TheNode = NarrowNode>
struct ChunkTerms : Terms<kElementBytes, TheNode> {
  Chunk chunk = 0;
  decltype(TheNode::sum) total = 0;
  __device__ void flush() {
    total += chunk;
    chunk = 0;
  }
};

// The elements of a word, each added to `sum`.
template <int kBytes>
__device__ __forceinline__ int32_t add_elements(int32_t w, int32_t sum) {
  return kBytes == 1 ? __dp4a(w, 0x01010101, sum) : __dp2a_lo(w, 0x0101, sum);
}
template <int kBytes>
__device__ __forceinline__ uint32_t add_elements(uint32_t w, uint32_t sum) {
  return kBytes == 1 ? __dp4a(w, 0x01010101u, sum) : __dp2a_lo(w, 0x0101u, sum);
}
template <bool kIsSigned>
using Word32 = std::conditional_t<kIsSigned, int32_t, uint32_t>;

// 128 elements below 2^8, or 64 below 2^16.
template <int kElementBytes, bool kIsSigned>
struct ShortSum : ChunkTerms<kElementBytes, int32_t> {
  __device__ void add(uint32_t w) {
    using Word = Word32<kIsSigned>;
    this->chunk =
        static_cast<int32_t>(add_elements<kElementBytes>(static_cast<Word>(w), static_cast<Word>(this->chunk)));
  }
  __device__ void add_one(uint64_t bits) { this->total += extended<kIsSigned, kElementBytes>(bits); }
};

// |-128| is 128 as u8.
template <int kElementBytes>
struct ShortSumAbs : ChunkTerms<kElementBytes, uint32_t> {
  __device__ void add(uint32_t w) {
    this->chunk = add_elements<kElementBytes>(kElementBytes == 1 ? __vabs4(w) : __vabs2(w), this->chunk);
  }
  __device__ void add_one(uint64_t bits) { this->total += static_cast<int64_t>(magnitude<true, kElementBytes>(bits)); }
};

// 128 squares below 2^16.
template <bool kIsSigned>
struct SumSquares8 : ChunkTerms<1, uint32_t> {
  __device__ void add(uint32_t w) {
    if constexpr (kIsSigned) {
      chunk = static_cast<uint32_t>(__dp4a(static_cast<int>(w), static_cast<int>(w), static_cast<int>(chunk)));
    } else {
      chunk = __dp4a(w, w, chunk);
    }
  }
  __device__ void add_one(uint64_t bits) {
    const auto m = static_cast<int64_t>(magnitude<kIsSigned, 1>(bits));
    total += m * m;
  }
};

// 128 cubes of at most 255^3 stay below 2^31.
template <bool kIsSigned>
struct SumCubes8 : ChunkTerms<1, Word32<kIsSigned>> {
  __device__ void add(uint32_t w) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t byte = (w >> (8 * i)) & 0xffu;
      const auto v = kIsSigned ? static_cast<Word32<kIsSigned>>(static_cast<int8_t>(byte)) : Word32<kIsSigned>(byte);
      this->chunk += v * v * v;
    }
  }
  __device__ void add_one(uint64_t bits) {
    const int64_t v = extended<kIsSigned, 1>(bits);
    this->total += v * v * v;
  }
};

template <bool kIsSigned>
struct SumSquares16 : Terms<2, WideNode> {
  uint64_t total = 0;  // 2^31 squares below 2^32
  __device__ void add(uint32_t w) {
    add_one(w & 0xffffu);
    add_one(w >> 16);
  }
  __device__ void add_one(uint64_t bits) {
    const auto m = static_cast<uint32_t>(magnitude<kIsSigned, 2>(bits));
    total += static_cast<uint64_t>(m) * m;
  }
};

// 64 cubes below 2^48.
template <bool kIsSigned>
struct SumCubes16 : ChunkTerms<2, int64_t, WideNode> {
  __device__ void add(uint32_t w) {
    add_cube(w & 0xffffu);
    add_cube(w >> 16);
  }
  __device__ void add_cube(uint32_t bits) {
    const auto v = kIsSigned ? static_cast<int32_t>(static_cast<int16_t>(bits)) : static_cast<int32_t>(bits);
    chunk += static_cast<int64_t>(static_cast<uint32_t>(v) * static_cast<uint32_t>(v)) * v;
  }
  __device__ void add_one(uint64_t bits) {
    add_cube(static_cast<uint32_t>(bits));
    flush();
  }
};

template <bool kIsSigned>
struct Sum32 : Terms<4, NarrowNode> {
  int64_t total = 0;
  __device__ void add(uint32_t w) {
    total += kIsSigned ? static_cast<int64_t>(static_cast<int32_t>(w)) : static_cast<int64_t>(w);
  }
};

struct SumAbs32 : Terms<4, NarrowNode> {
  int64_t total = 0;
  __device__ void add(uint32_t w) { total += static_cast<int32_t>(w) < 0 ? 0u - w : w; }
};

// The halves of the squares are summed apart.
template <bool kIsSigned>
struct SumSquares32 : Terms<4, WideNode> {
  SquaresNode squares;
  __device__ void add(uint32_t w) { squares.add(static_cast<uint32_t>(magnitude<kIsSigned, 4>(w))); }
};

// v^3 = (square's low half * v) + (square's high half * v) * 2^32. The low 32 bits of the first product are summed apart; the
// rest of both, below 2^63 in size, in two words.
template <bool kIsSigned>
struct SumCubes32 : Terms<4, WideNode> {
  uint64_t low = 0;     // of terms below 2^32
  uint64_t middle = 0;  // of what lies above, modulo 2^64
  int64_t high = 0;     // and its carries
  __device__ void add(uint32_t w) {
    const auto m = static_cast<uint32_t>(magnitude<kIsSigned, 4>(w));
    const uint64_t square = static_cast<uint64_t>(m) * m;
    const uint64_t first = static_cast<uint64_t>(static_cast<uint32_t>(square)) * m;
    const uint64_t rest = static_cast<uint64_t>(static_cast<uint32_t>(square >> 32)) * m + (first >> 32);
    const bool negative = kIsSigned && static_cast<int32_t>(w) < 0;
    // -(rest * 2^32 + f) = ~rest * 2^32 + (2^32 - f)
    const uint64_t term = negative ? ~rest : rest;
    low += negative ? (uint64_t{1} << 32) - static_cast<uint32_t>(first) : static_cast<uint32_t>(first);
    middle += term;
    high += static_cast<int64_t>(middle < term) - static_cast<int64_t>(negative);
  }
};

template <bool kIsSigned, bool kAbsolute>
struct Sum64 : Terms<8, WideNode> {
  Int128 total = 0;
  __device__ void add(uint64_t v) {
    if constexpr (kAbsolute) {
      total += static_cast<Int128>(magnitude<kIsSigned, 8>(v));
    } else {
      total += kIsSigned ? static_cast<Int128>(static_cast<int64_t>(v)) : static_cast<Int128>(v);
    }
  }
};

template <gpumem_dtype kType, gpumem_reduce_op kOp>
struct Power64 : Terms<8, IntegerNode> {
  IntegerNode total;
  __device__ void add(uint64_t v) { total = combine(total, integer_term(kType, kOp, v)); }
};

template <class TheTerms>
__device__ __forceinline__ auto total_of(const TheTerms& t) {
  return typename TheTerms::Node(t.total);
}
template <bool kIsSigned>
__device__ __forceinline__ WideNode total_of(const SumSquares32<kIsSigned>& t) {
  return WideNode(t.squares);
}
template <bool kIsSigned>
__device__ __forceinline__ WideNode total_of(const SumCubes32<kIsSigned>& t) {
  const auto above = static_cast<Uint128>(t.middle) + (static_cast<Uint128>(static_cast<uint64_t>(t.high)) << 64);
  return WideNode(static_cast<Int128>((above << 32) + t.low));
}

template <class TheTerms>
class IntegerState {
 public:
  using Node = typename TheTerms::Node;
  static constexpr int kBytes = TheTerms::kBytes;
  static constexpr Values kValues = Values::one;

  __device__ IntegerState(gpumem_dtype, gpumem_reduce_op) {}
  __device__ void begin(int64_t) {}
  __device__ void take(const uint4& w, int) {
    if constexpr (kBytes == 8) {
      terms_.add(static_cast<uint64_t>(w.y) << 32 | w.x);
      terms_.add(static_cast<uint64_t>(w.w) << 32 | w.z);
    } else {
      terms_.add(w.x);
      terms_.add(w.y);
      terms_.add(w.z);
      terms_.add(w.w);
    }
  }
  __device__ void end() { terms_.flush(); }
  __device__ void take_element(uint64_t bits, int64_t) {
    if constexpr (kBytes < 4) {
      terms_.add_one(bits);
    } else {
      terms_.add(static_cast<std::conditional_t<kBytes == 4, uint32_t, uint64_t>>(bits));
    }
  }
  __device__ Node node(const WordSpan&, Node* shared) { return block_tree(total_of(terms_), shared); }

  __device__ static ReduceValue value(gpumem_dtype, gpumem_reduce_op, const NarrowNode& whole) {
    return {{static_cast<uint64_t>(whole.sum)}, GPUMEM_OK};
  }
  __device__ static ReduceValue value(gpumem_dtype dtype, gpumem_reduce_op, const WideNode& whole) {
    const auto low = static_cast<uint64_t>(whole.sum);
    const bool fits = is_signed_integer(dtype) ? whole.sum == static_cast<int64_t>(low) : whole.sum == Int128{low};
    return fits ? ReduceValue{{low}, GPUMEM_OK} : ReduceValue{{}, GPUMEM_OVERFLOW};
  }
  __device__ static ReduceValue value(gpumem_dtype dtype, gpumem_reduce_op op, const IntegerNode& whole) {
    return value_of(dtype, op, whole);
  }

 private:
  TheTerms terms_;
};

template <class Sum, class SumAbs, class SumSquares, class SumCubes>
cudaError_t start(const ReduceLaunch& launch, Stream stream) {
  switch (addend_of(launch.op)) {
    case Addend::element:
      return start_tiles<IntegerState<Sum>>(launch, stream);
    case Addend::magnitude:
      return start_tiles<IntegerState<SumAbs>>(launch, stream);
    case Addend::square:
      return start_tiles<IntegerState<SumSquares>>(launch, stream);
    case Addend::cube:
      return start_tiles<IntegerState<SumCubes>>(launch, stream);
    case Addend::product:
      break;
  }
  return cudaErrorInvalidValue;
}

template <gpumem_dtype kType>
using Squares64 = Power64<kType, GPUMEM_SUM_SQUARES>;
template <gpumem_dtype kType>
using Cubes64 = Power64<kType, GPUMEM_SUM_CUBES>;

}  // namespace

// An unsigned element is its own absolute value.
LaunchResult reduce_tiles_integer(const ReduceLaunch& launch, Stream stream) {
  switch (static_cast<decltype(GPUMEM_I8)>(launch.dtype)) {
    case GPUMEM_I8:
      return start<ShortSum<1, true>, ShortSumAbs<1>, SumSquares8<true>, SumCubes8<true>>(launch, stream);
    case GPUMEM_U8:
      return start<ShortSum<1, false>, ShortSum<1, false>, SumSquares8<false>, SumCubes8<false>>(launch, stream);
    case GPUMEM_I16:
      return start<ShortSum<2, true>, ShortSumAbs<2>, SumSquares16<true>, SumCubes16<true>>(launch, stream);
    case GPUMEM_U16:
      return start<ShortSum<2, false>, ShortSum<2, false>, SumSquares16<false>, SumCubes16<false>>(launch, stream);
    case GPUMEM_I32:
      return start<Sum32<true>, SumAbs32, SumSquares32<true>, SumCubes32<true>>(launch, stream);
    case GPUMEM_U32:
      return start<Sum32<false>, Sum32<false>, SumSquares32<false>, SumCubes32<false>>(launch, stream);
    case GPUMEM_I64:
      return start<Sum64<true, false>, Sum64<true, true>, Squares64<GPUMEM_I64>, Cubes64<GPUMEM_I64>>(launch, stream);
    case GPUMEM_U64:
      return start<Sum64<false, false>, Sum64<false, false>, Squares64<GPUMEM_U64>, Cubes64<GPUMEM_U64>>(launch,
                                                                                                         stream);
    case GPUMEM_F16:
    case GPUMEM_BF16:
    case GPUMEM_F32:
    case GPUMEM_F64:
      break;
  }
  return cudaErrorInvalidValue;
}

}  // namespace gpumem::kernels
