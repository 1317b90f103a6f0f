// Many pieces in one launch. They are kernel parameters, so no memory has to outlive the call, and a graph keeps them.
// Neighbouring pieces of one shape are a group, which has the shape and the first piece's addresses once. If a call needs
// several launches, they run at the same time.
// Access: a block moves up to 1024 words of one group. It finds the group by the number of its first block.
// H200: 12 us per call back to back for the 26 pieces around a box of 128^3 f32, 9 of them from each peer device.
#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/enqueue.cuh"
#include "kernels/permute/permute.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kPieceThreads;
constexpr int kAtOnce = kPieceAtOnce;

// Words from the first piece of the group.
struct PieceOffset {
  int32_t src = 0;
  int32_t dst = 0;
};
struct PieceGroup {
  MovedPiece first{};
  uint32_t words = 0;  // of all pieces
  int32_t first_offset = 0;
};

// Groups from the front, and offsets from the back.
template <int kBytes>
struct PieceBatch {
  static constexpr int kMostGroups = kBytes / static_cast<int>(sizeof(PieceGroup));
  static constexpr int kMostOffsets = kBytes / static_cast<int>(sizeof(PieceOffset));
  int32_t groups = 0;
  int32_t offsets = 0;
  bool follows = false;   // another launch of the call
  bool followed = false;  // by another launch of the call
  union {
    PieceGroup group[kMostGroups];
    PieceOffset offset[kMostOffsets];
  };
  PieceBatch() {}

  bool has_room(bool for_group) const {
    const size_t more = sizeof(PieceOffset) + (for_group ? sizeof(PieceGroup) : 0);
    return groups * sizeof(PieceGroup) + offsets * sizeof(PieceOffset) + more <= kBytes;
  }
};

struct Distance {
  uint64_t src = 0;
  uint64_t dst = 0;
};

__device__ __forceinline__ Distance distance_of(const MovedPiece& piece, uint32_t word) {
  Distance at;
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

// offsets: those of the group, backwards.
template <class T>
__device__ __forceinline__ void move_words(const PieceGroup& group, const PieceOffset* offsets, uint32_t first) {
  const bool several = group.words != group.first.words;
  T word[kAtOnce];
  T* to[kAtOnce];
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) {
    const uint32_t number = first + i * kThreads;
    if (number >= group.words) break;
    const uint32_t piece = several ? number / group.first.words : 0;
    const PieceOffset& offset = *(offsets - piece);
    const Distance at = distance_of(group.first, number - piece * group.first.words);
    word[i] = (reinterpret_cast<const T*>(group.first.src) + offset.src)[at.src];
    to[i] = reinterpret_cast<T*>(group.first.dst) + offset.dst + at.dst;
  }
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) {
    if (first + i * kThreads >= group.words) break;
    *to[i] = word[i];
  }
}

template <int kBytes>
__device__ __forceinline__ void move_group(const PieceBatch<kBytes>& batch) {
  int low = 0;  // the last group that begins at this block or before
  for (int high = batch.groups; high - low > 1;) {
    const int middle = (low + high) / 2;
    (batch.group[middle].first.first_block <= blockIdx.x ? low : high) = middle;
  }
  const PieceGroup& group = batch.group[low];
  const PieceOffset* const offsets = batch.offset + (batch.kMostOffsets - 1 - group.first_offset);
  const uint32_t first = (blockIdx.x - group.first.first_block) * kPieceWords + threadIdx.x;
  switch (group.first.shift) {
    case 0:
      return move_words<WordOf<1>>(group, offsets, first);
    case 1:
      return move_words<WordOf<2>>(group, offsets, first);
    case 2:
      return move_words<WordOf<4>>(group, offsets, first);
    case 3:
      return move_words<WordOf<8>>(group, offsets, first);
    default:
      return move_words<WordOf<16>>(group, offsets, first);
  }
}

// A launch that follows another one of the call starts after that one has waited for earlier work, and completes after
// it. So the next call's work begins after both.
template <int kBytes>
__global__ void __launch_bounds__(kThreads, resident_blocks(7, kThreads))
    pieces_kernel(const __grid_constant__ PieceBatch<kBytes> batch) {
  if (!batch.follows) grid_dependency_synchronize();
  if (batch.followed || batch.follows || gridDim.x <= kFewBlocks) trigger_programmatic_launch();
  move_group(batch);
  if (batch.follows) grid_dependency_synchronize();
}

constexpr uint32_t kMostWords = INT32_MAX;  // of a group
constexpr uint32_t kMostBlocks = kMostWords / kPieceWords + 1;
uint32_t blocks_of(const PieceGroup& group) { return static_cast<uint32_t>(ceil_div(group.words, kPieceWords)); }

bool same_shape(const MovedPiece& a, const MovedPiece& b) {
  return a.words == b.words && a.shift == b.shift && a.rank == b.rank && std::ranges::equal(a.extent, b.extent) &&
         std::ranges::equal(a.src_stride, b.src_stride) && std::ranges::equal(a.dst_stride, b.dst_stride);
}
// nullopt: too far.
std::optional<PieceOffset> offset_of(const MovedPiece& piece, const MovedPiece& first) {
  const auto words = [&](const char* to, const char* from) {
    return (reinterpret_cast<intptr_t>(to) - reinterpret_cast<intptr_t>(from)) >> first.shift;
  };
  const int64_t src = words(piece.src, first.src);
  const int64_t dst = words(piece.dst, first.dst);
  if (src != static_cast<int32_t>(src) || dst != static_cast<int32_t>(dst)) return std::nullopt;
  return PieceOffset{static_cast<int32_t>(src), static_cast<int32_t>(dst)};
}

// Launches as many of the pieces as one launch takes.
template <int kBytes>
cudaError_t start(std::span<const MovedPiece>& pieces, bool follows, Stream stream) {
  const auto batch = std::make_unique<PieceBatch<kBytes>>();
  uint32_t blocks = 0;
  size_t taken = 0;
  for (; taken < pieces.size(); ++taken) {
    const MovedPiece& piece = pieces[taken];
    PieceGroup* group = batch->groups == 0 ? nullptr : &batch->group[batch->groups - 1];
    std::optional<PieceOffset> offset;
    if (group != nullptr && same_shape(piece, group->first) && group->words <= kMostWords - piece.words) {
      offset = offset_of(piece, group->first);
    }
    if (!batch->has_room(!offset)) break;
    if (!offset) {
      const uint32_t before = group == nullptr ? 0 : blocks_of(*group);
      if (blocks > INT32_MAX - 2 * kMostBlocks) break;
      blocks += before;
      group = &batch->group[batch->groups++];
      *group = {piece, 0, batch->offsets};
      group->first.first_block = blocks;
    }
    group->words += piece.words;
    batch->offset[PieceBatch<kBytes>::kMostOffsets - 1 - batch->offsets++] = offset.value_or(PieceOffset{});
  }
  pieces = pieces.subspan(taken);
  batch->follows = follows;
  batch->followed = !pieces.empty();
  blocks += blocks_of(batch->group[batch->groups - 1]);
  return enqueue_programmatic(pieces_kernel<kBytes>, blocks, kThreads, stream, *batch);
}

constexpr int kFewPieces = 32;  // a box has 26 neighbours
constexpr int kFewBytes = kFewPieces * static_cast<int>(sizeof(PieceGroup) + sizeof(PieceOffset));
// The runtime copies them to the stack, and a second copy would be too much there.
constexpr int kMostBytes = 10 << 10;

}  // namespace

LaunchResult permute_pieces(std::span<const MovedPiece> pieces, Stream stream) {
  cudaError_t error = cudaSuccess;
  for (bool follows = false; error == cudaSuccess && !pieces.empty(); follows = true) {
    error = pieces.size() <= kFewPieces ? start<kFewBytes>(pieces, follows, stream)
                                        : start<kMostBytes>(pieces, follows, stream);
  }
  return error;
}

LaunchResult permute_pieces_preload() { return preload(pieces_kernel<kFewBytes>, pieces_kernel<kMostBytes>); }

}  // namespace gpumem::kernels
