// Reductions of host memory on the device: data is copied there in pieces. A piece is a subtree of 2^k 1024-element
// blocks of the reproducible order, so combined pieces give the bits of a single reduction.
#include <algorithm>
#include <vector>

#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

constexpr int64_t kPieceBytes = int64_t{64} << 20;

// Not inlined: the environment's fences hold only for memory, so the partial results must be there.
[[gnu::noinline]] ReduceNode combined(NodeKind kind, const std::vector<ReduceNode>& pieces) noexcept {
  const DefaultFloatEnvironment environment;
  return fold_all(kind, pieces.data(), 1, static_cast<int64_t>(pieces.size()));
}

void move_index(NodeKind kind, int64_t first, ReduceNode& node) noexcept {
  if (kind == NodeKind::arg) node.word[1] += static_cast<uint64_t>(first);
}

}  // namespace

int64_t streamed_piece(gpumem_dtype dtype) noexcept { return kPieceBytes / element_bytes(dtype); }
static_assert(kPieceBytes / 8 % kLeafTerms == 0 && (kPieceBytes & (kPieceBytes - 1)) == 0);

// One buffer: reducing a piece takes a small part of its transfer time, so overlapping the next copy would gain little.
ReduceNode reduce_streamed(Context& context, const Plan<ReduceFamily>& planned, const ReduceParams& call) {
  Backend& device = context.device();
  const NodeKind kind = node_kind(call.dtype, call.op);
  const int64_t bytes = element_bytes(call.dtype);
  const int64_t piece = planned.params.n;
  std::vector<ReduceNode> nodes;
  nodes.reserve(static_cast<size_t>(ceil_div(call.n, piece)));
  const Workspace buffer(context, ExecutionSpace::cuda, piece * bytes);
  // Earlier work may still be writing the data, which the driver may read immediately.
  device.await_order();
  for (int64_t first = 0; first < call.n; first += piece) {
    ReduceParams part = planned.params;
    part.n = std::min(piece, call.n - first);
    const auto selection =
        part.n == piece ? planned.selection : decide<ReduceFamily>(context, planned.placement.space, part);
    transfer(context, buffer.get(), static_cast<const char*>(call.x) + first * bytes, part.n * bytes,
             planned.placement.host_side, ExecutionSpace::cuda);
    part.x = buffer.get();
    nodes.push_back(device.reduce(context.own_stream(), part, selection));
    move_index(kind, first, nodes.back());
  }
  return combined(kind, nodes);
}

}  // namespace gpumem
