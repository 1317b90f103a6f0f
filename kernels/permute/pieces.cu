// Many pieces in one launch. They are kernel parameters, so no memory has to outlive the call, and a graph keeps them.
// Access: a block moves up to 1024 words of one piece. It finds the piece by the number of its first block.
// H200: 12 us per call back to back for the 26 pieces around a box of 128^3 f32, 9 of them from each peer device.
#include <memory>

#include "kernels/enqueue.cuh"
#include "kernels/permute/permute.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kPieceThreads;
constexpr int kAtOnce = kPieceAtOnce;
constexpr int kFewPieces = 32;  // a box has 26 neighbours
// 10 KiB: the runtime copies them to the stack, and a second copy would be too much there
constexpr int kMostPieces = 128;

template <int kMost>
struct PieceBatch {
  int32_t count = 0;
  MovedPiece piece[kMost];
};

struct Place {
  uint64_t src = 0;
  uint64_t dst = 0;
};

__device__ __forceinline__ Place place_of(const MovedPiece& piece, uint32_t word) {
  Place at;
#pragma unroll
  for (int d = 0; d < kPieceAxes; ++d) {
    if (d >= piece.rank) break;
    uint32_t index = word;
    if (d + 1 < piece.rank) {
      word = index / piece.extent[d];
      index -= word * piece.extent[d];
    }
    at.src += uint64_t{index} * piece.src_stride[d];
    at.dst += uint64_t{index} * piece.dst_stride[d];
  }
  return at;
}

template <class T>
__device__ __forceinline__ void move_words(const MovedPiece& piece, uint32_t first) {
  const auto* const src = reinterpret_cast<const T*>(piece.src);
  auto* const dst = reinterpret_cast<T*>(piece.dst);
  T word[kAtOnce];
  uint64_t to[kAtOnce];
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) {
    const uint32_t number = first + i * kThreads;
    if (number >= piece.words) break;
    const Place at = place_of(piece, number);
    word[i] = src[at.src];
    to[i] = at.dst;
  }
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) {
    if (first + i * kThreads >= piece.words) break;
    dst[to[i]] = word[i];
  }
}

template <int kMost>
__global__ void __launch_bounds__(kThreads) pieces_kernel(const __grid_constant__ PieceBatch<kMost> batch) {
  synchronize_and_trigger();
  int low = 0;  // the last piece that begins at this block or before
  for (int high = batch.count; high - low > 1;) {
    const int middle = (low + high) / 2;
    (batch.piece[middle].first_block <= blockIdx.x ? low : high) = middle;
  }
  const MovedPiece& piece = batch.piece[low];
  const uint32_t first = (blockIdx.x - piece.first_block) * kPieceWords + threadIdx.x;
  switch (piece.shift) {
    case 0:
      return move_words<WordOf<1>>(piece, first);
    case 1:
      return move_words<WordOf<2>>(piece, first);
    case 2:
      return move_words<WordOf<4>>(piece, first);
    case 3:
      return move_words<WordOf<8>>(piece, first);
    default:
      return move_words<WordOf<16>>(piece, first);
  }
}

// Launches as many of the pieces as one launch takes.
template <int kMost>
cudaError_t start(std::span<const MovedPiece>& pieces, Stream stream) {
  const auto batch = std::make_unique<PieceBatch<kMost>>();
  uint32_t blocks = 0;
  for (; static_cast<size_t>(batch->count) < pieces.size() && batch->count < kMost; ++batch->count) {
    MovedPiece& piece = batch->piece[batch->count];
    piece = pieces[static_cast<size_t>(batch->count)];
    const uint32_t more = piece.words / kPieceWords + (piece.words % kPieceWords != 0 ? 1 : 0);
    if (blocks + more > INT32_MAX) break;
    piece.first_block = blocks;
    blocks += more;
  }
  pieces = pieces.subspan(static_cast<size_t>(batch->count));
  return enqueue_programmatic(pieces_kernel<kMost>, blocks, kThreads, stream, *batch);
}

}  // namespace

LaunchResult permute_pieces(std::span<const MovedPiece> pieces, Stream stream) {
  cudaError_t error = cudaSuccess;
  while (error == cudaSuccess && !pieces.empty()) {
    error = pieces.size() <= kFewPieces ? start<kFewPieces>(pieces, stream) : start<kMostPieces>(pieces, stream);
  }
  return error;
}

LaunchResult permute_pieces_preload() { return preload(pieces_kernel<kFewPieces>, pieces_kernel<kMostPieces>); }

}  // namespace gpumem::kernels
