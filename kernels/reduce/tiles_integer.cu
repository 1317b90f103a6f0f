// Exact sums and products of integers (kernels/accumulators.hpp). A thread adds the terms of a chunk in words that
// cannot overflow. It adds these sums in 64, 128 or 256 bits, which hold the sum of a whole block.
#include "kernels/reduce/terms.cuh"
#include "kernels/reduce/unordered.cuh"

namespace gpumem::kernels {
namespace {

// Terms: add(word) takes a word's elements, add_one(bits) a single one. flush() empties the accumulator of a chunk,
// node() gives the Node. T is the element type. Bounds are for chunks of 8 words and 2^31 elements per thread.
template <class T, class TheNode>
struct Terms {
  static constexpr int kBytes = sizeof(T);
  using Node = TheNode;
  __device__ void flush() {}
};

// Terms whose sum is a Total. The terms of a chunk are first added in a Chunk.
template <class T, Addend kAddend, class Chunk, class Total, class TheNode>
struct ChunkTerms : Terms<T, TheNode> {
  Chunk chunk = 0;
  Total total = 0;
  __device__ void flush() {
    total += chunk;
    chunk = 0;
  }
  __device__ void add_one(uint64_t bits) { total += term_of<kAddend, Total>(static_cast<T>(bits)); }
  __device__ TheNode node() const { return TheNode(total); }
};

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
template <class T>
struct ShortSum : ChunkTerms<T, Addend::element, int32_t, int64_t, NarrowNode> {
  __device__ void add(uint32_t w) {
    using Word = Word32<std::is_signed_v<T>>;
    this->chunk = static_cast<int32_t>(add_elements<sizeof(T)>(static_cast<Word>(w), static_cast<Word>(this->chunk)));
  }
};

// As u8, the magnitude of -128 is 128.
template <class T>
struct ShortSumAbs : ChunkTerms<T, Addend::magnitude, uint32_t, int64_t, NarrowNode> {
  __device__ void add(uint32_t w) {
    this->chunk = add_elements<sizeof(T)>(sizeof(T) == 1 ? __vabs4(w) : __vabs2(w), this->chunk);
  }
};

// 128 squares below 2^16.
template <class T>
struct SumSquares8 : ChunkTerms<T, Addend::square, uint32_t, int64_t, NarrowNode> {
  __device__ void add(uint32_t w) {
    if constexpr (std::is_signed_v<T>) {
      this->chunk =
          static_cast<uint32_t>(__dp4a(static_cast<int>(w), static_cast<int>(w), static_cast<int>(this->chunk)));
    } else {
      this->chunk = __dp4a(w, w, this->chunk);
    }
  }
};

// 128 cubes of at most 255^3 are below 2^31.
template <class T>
struct SumCubes8 : ChunkTerms<T, Addend::cube, Word32<std::is_signed_v<T>>, int64_t, NarrowNode> {
  __device__ void add(uint32_t w) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      this->chunk += term_of<Addend::cube, Word32<std::is_signed_v<T>>>(static_cast<T>(w >> (8 * i)));
    }
  }
};

template <class T>
struct SumSquares16 : Terms<T, WideNode> {
  uint64_t total = 0;  // 2^31 squares below 2^32
  __device__ void add(uint32_t w) {
    add_one(w & 0xffffu);
    add_one(w >> 16);
  }
  __device__ void add_one(uint64_t bits) {  // in 64 bits: one instruction multiplies and adds
    total += term_of<Addend::square, uint64_t, T, uint64_t>(static_cast<T>(bits));
  }
  __device__ WideNode node() const { return WideNode(static_cast<Int128>(total)); }
};

// 64 cubes below 2^48.
template <class T>
struct SumCubes16 : ChunkTerms<T, Addend::cube, int64_t, Int128, WideNode> {
  __device__ void add(uint32_t w) {
    this->chunk += term_of<Addend::cube, int64_t>(static_cast<T>(w));
    this->chunk += term_of<Addend::cube, int64_t>(static_cast<T>(w >> 16));
  }
};

// Sums of 32-bit elements in 64 bits, of 64-bit elements in 128.
template <class T, Addend kAddend>
struct WordSum : Terms<T, std::conditional_t<sizeof(T) == 4, NarrowNode, WideNode>> {
  using Total = std::conditional_t<sizeof(T) == 4, int64_t, Int128>;
  Total total = 0;
  __device__ void add(std::make_unsigned_t<T> w) { total += term_of<kAddend, Total>(static_cast<T>(w)); }
  __device__ auto node() const { return typename WordSum::Node(total); }
};
template <class T>
using Sum = WordSum<T, Addend::element>;
template <class T>
using SumAbs = WordSum<T, std::is_signed_v<T> ? Addend::magnitude : Addend::element>;

template <class T>
struct SumSquares32 : Terms<T, WideNode> {
  SquaresNode squares;
  __device__ void add(uint32_t w) { squares.add(term_of<Addend::square, uint64_t>(static_cast<T>(w))); }
  __device__ WideNode node() const { return WideNode(squares); }
};

template <class T>
struct SumCubes32 : Terms<T, WideNode> {
  CubeSums cubes;
  __device__ void add(uint32_t w) {
    const auto v = static_cast<T>(w);
    cubes.add(unsigned_magnitude(v), is_negative(v));
  }
  __device__ WideNode node() const { return WideNode(cubes.total()); }
};

template <gpumem_dtype kType, gpumem_reduce_op kOp>
struct Power64 : Terms<std::conditional_t<is_signed_integer(kType), int64_t, uint64_t>, IntegerNode> {
  IntegerNode total;
  __device__ void add(uint64_t v) { total = combine(total, integer_term(kType, kOp, v)); }
  __device__ IntegerNode node() const { return total; }
};

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
  __device__ Node node(const WordSpan&, Node* shared) { return block_tree(terms_.node(), shared); }

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

template <int kSize>
class ProductState {
 public:
  using Node = IntegerProductNode;
  static constexpr int kBytes = kSize;
  static constexpr Values kValues = Values::one;

  __device__ ProductState(gpumem_dtype dtype, gpumem_reduce_op op) : element_(dtype, op) {}
  __device__ void begin(int64_t) {}
  __device__ void take(const uint4& w, int) {
    if constexpr (kSize == 8) {
      element_.enter(product_, static_cast<uint64_t>(w.y) << 32 | w.x);
      element_.enter(product_, static_cast<uint64_t>(w.w) << 32 | w.z);
    } else {
      element_.enter_word(product_, w.x);
      element_.enter_word(product_, w.y);
      element_.enter_word(product_, w.z);
      element_.enter_word(product_, w.w);
    }
  }
  __device__ void end() {}
  __device__ void take_element(uint64_t bits, int64_t) {
    element_.enter(product_, static_cast<UnsignedOf<kSize>>(bits));
  }
  __device__ Node node(const WordSpan&, Node* shared) { return block_tree(product_, shared); }
  __device__ static ReduceValue value(gpumem_dtype dtype, gpumem_reduce_op op, const Node& whole) {
    return value_of(dtype, op, whole);
  }

 private:
  ProductElement<kSize> element_;
  Node product_;
};

template <class TheSum, class TheSumAbs, class TheSumSquares, class TheSumCubes>
cudaError_t start(const ReduceLaunch& launch, Stream stream) {
  switch (addend_of(launch.op)) {
    case Addend::element:
      return start_tiles<IntegerState<TheSum>>(launch, stream);
    case Addend::magnitude:
      return start_tiles<IntegerState<TheSumAbs>>(launch, stream);
    case Addend::square:
      return start_tiles<IntegerState<TheSumSquares>>(launch, stream);
    case Addend::cube:
      return start_tiles<IntegerState<TheSumCubes>>(launch, stream);
    case Addend::factor:
      return start_tiles<ProductState<TheSum::kBytes>>(launch, stream);
    case Addend::valid:
    case Addend::present:
    case Addend::dot:
      break;
  }
  return cudaErrorInvalidValue;
}
template <class T>
cudaError_t start8(const ReduceLaunch& launch, Stream stream) {
  using Abs = std::conditional_t<std::is_signed_v<T>, ShortSumAbs<T>, ShortSum<T>>;
  return start<ShortSum<T>, Abs, SumSquares8<T>, SumCubes8<T>>(launch, stream);
}
template <class T>
cudaError_t start16(const ReduceLaunch& launch, Stream stream) {
  using Abs = std::conditional_t<std::is_signed_v<T>, ShortSumAbs<T>, ShortSum<T>>;
  return start<ShortSum<T>, Abs, SumSquares16<T>, SumCubes16<T>>(launch, stream);
}
template <class T>
cudaError_t start32(const ReduceLaunch& launch, Stream stream) {
  return start<Sum<T>, SumAbs<T>, SumSquares32<T>, SumCubes32<T>>(launch, stream);
}
template <gpumem_dtype kType, class T>
cudaError_t start64(const ReduceLaunch& launch, Stream stream) {
  return start<Sum<T>, SumAbs<T>, Power64<kType, GPUMEM_SUM_SQUARES>, Power64<kType, GPUMEM_SUM_CUBES>>(launch, stream);
}

}  // namespace

LaunchResult reduce_tiles_integer(const ReduceLaunch& launch, Stream stream) {
  switch (static_cast<decltype(GPUMEM_I8)>(launch.dtype)) {
    case GPUMEM_I8:
      return start8<int8_t>(launch, stream);
    case GPUMEM_U8:
      return start8<uint8_t>(launch, stream);
    case GPUMEM_I16:
      return start16<int16_t>(launch, stream);
    case GPUMEM_U16:
      return start16<uint16_t>(launch, stream);
    case GPUMEM_I32:
      return start32<int32_t>(launch, stream);
    case GPUMEM_U32:
      return start32<uint32_t>(launch, stream);
    case GPUMEM_I64:
      return start64<GPUMEM_I64, int64_t>(launch, stream);
    case GPUMEM_U64:
      return start64<GPUMEM_U64, uint64_t>(launch, stream);
    case GPUMEM_F16:
    case GPUMEM_BF16:
    case GPUMEM_F32:
    case GPUMEM_F64:
      break;
  }
  return cudaErrorInvalidValue;
}

}  // namespace gpumem::kernels
