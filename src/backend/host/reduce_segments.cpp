#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/host/reduce.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"

namespace gpumem {
namespace {

constexpr int64_t kLong = int64_t{1} << 18;           // elements of a segment that is worth several threads
constexpr int64_t kShortestPiece = int64_t{1} << 16;  // an aligned run of 2^k 1024-element blocks
constexpr int64_t kTogether = 64;

}  // namespace

SegmentReduction::SegmentReduction(const HostTeam& team, HostWay way, const ReduceSegmentsParams& params,
                                   const Config& config)
    : team_(team),
      params_(params),
      config_(config),
      serial_(way.serial || team.threads == 1),
      loop_(team.loops.lines(params.dtype, params.op)),
      bytes_(element_bytes(params.dtype)),
      tasks_(way.serial ? std::min<int64_t>(1, params.segments) : ceil_div(params.segments, config.tile)) {
  if (serial_ || params.n <= kLong) return;
  has_long_.resize(static_cast<size_t>(tasks_));
  partial_.resize(size_t{4} * static_cast<size_t>(team.threads));
}

gpumem_status SegmentReduction::run() noexcept {
  team_.parallel(tasks_, [this](int64_t task) { reduce_task(task); });
  for (size_t task = 0; task < has_long_.size(); ++task) {
    if (has_long_[task] == 0) continue;
    for_segments(static_cast<int64_t>(task), [this](int64_t i, int64_t) {
      if (const Segment s = segment(i); s.length > kLong) reduce_long(i, s);
      return 1;
    });
  }
  return worst_.write_to(params_.status);
}

// Offsets are checked before anything is read through them.
SegmentReduction::Segment SegmentReduction::segment(int64_t index) const noexcept {
  int64_t bounds[2];
  std::memcpy(bounds, reinterpret_cast<const char*>(params_.offsets) + index * int64_t{sizeof(int64_t)}, sizeof bounds);
  const bool valid = 0 <= bounds[0] && bounds[0] <= bounds[1] && bounds[1] <= params_.n;
  return valid ? Segment{bounds[0], bounds[1] - bounds[0]} : Segment{0, -1};
}

template <class F>
void SegmentReduction::for_segments(int64_t task, const F& f) const noexcept {
  const int64_t tile = tasks_ == 1 ? params_.segments : config_.tile;
  const int64_t last = std::min((task + 1) * tile, params_.segments);
  for (int64_t i = task * tile; i < last;) i += f(i, last);
}

int64_t SegmentReduction::reduce_short(int64_t first, int64_t last) noexcept {
  int64_t offsets[kTogether + 1];
  int64_t count = 0;
  const int64_t shortest = has_empty_value(params_.dtype, params_.op) ? 0 : 1;
  while (count < std::min(last - first, kTogether)) {
    const Segment s = segment(first + count);
    if (s.length < shortest || s.length > loop_.longest) break;
    offsets[count] = s.first;
    offsets[++count] = s.first + s.length;
  }
  if (count == 0) return 0;
  const auto* x = static_cast<const char*>(params_.x);
  char* const results = result_at(params_, first);
  if (loop_.segments != nullptr) {
    loop_.segments(x, offsets, count, {.values = results});
  } else {
    ReduceNode nodes[kTogether];
    for (int64_t i = 0; i < count; ++i) {
      loop_.rows(x + offsets[i] * bytes_, 0, 1, offsets[i + 1] - offsets[i], {.nodes = &nodes[i]});
    }
    worst_.add(write_values(params_.dtype, params_.op, nodes, count, results));
  }
  return count;
}

void SegmentReduction::reduce_task(int64_t task) noexcept {
  const DefaultFloatEnvironment environment;
  for_segments(task, [&](int64_t i, int64_t last) -> int64_t {
    const int64_t together = loop_.rows != nullptr ? reduce_short(i, last) : 0;
    if (together > 0) return together;
    const Segment s = segment(i);
    if (s.length < 0) {
      worst_.add(write_zeros(params_.op, result_at(params_, i), GPUMEM_OUT_OF_RANGE));
    } else if (s.length == 0) {
      worst_.add(write_empty(params_.dtype, params_.op, result_at(params_, i)));
    } else if (s.length > kLong && !has_long_.empty()) {
      has_long_[static_cast<size_t>(task)] = 1;
    } else {
      worst_.add(write_value(params_.dtype, params_.op, sequence(s).node(0, s.length), result_at(params_, i)));
    }
    return 1;
  });
}

void SegmentReduction::reduce_long(int64_t index, const Segment& s) noexcept {
  const DefaultFloatEnvironment environment;
  const Sequence elements = sequence(s);
  const int64_t least = ceil_div(s.length, static_cast<int64_t>(partial_.size()));
  const auto piece = std::max(kShortestPiece, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least))));
  const int64_t pieces = ceil_div(s.length, piece);
  team_.parallel(pieces, [&](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    partial_[static_cast<size_t>(i)] = elements.node(i * piece, std::min((i + 1) * piece, s.length));
  });
  const ReduceNode node = fold_all(elements.kind(), partial_.data(), 1, pieces);
  worst_.add(write_value(params_.dtype, params_.op, node, result_at(params_, index)));
}

Sequence SegmentReduction::sequence(const Segment& s) const noexcept {
  const PitchedElements elements{static_cast<const char*>(params_.x) + s.first * bytes_, bytes_};
  return {team_.loops, params_.dtype, params_.op, elements};
}

}  // namespace gpumem
