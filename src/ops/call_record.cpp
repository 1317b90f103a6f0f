#include "ops/call_record.hpp"

#include <algorithm>
#include <type_traits>

namespace gpumem {
namespace {

// Nothing runs when a thread begins or ends, and a call copies no more than this.
static_assert(std::is_trivially_destructible_v<CallRecord> && sizeof(CallRecord) <= 720);
constinit thread_local CallRecord t_last_call;

template <class T>
bool copy_axes(const T* from, int32_t rank, T* to) noexcept {
  if (from == nullptr || rank < 0 || rank > kMaxPermuteRank) return false;
  std::copy_n(from, rank, to);
  return true;
}

}  // namespace

PermuteRecord::PermuteRecord(const PermuteParams& c) noexcept
    : element_bytes(c.element_bytes), rank(c.rank), src(c.src), dst(c.dst) {
  has_extents = copy_axes(c.extents, rank, extents);
  has_order = copy_axes(c.order, rank, order);
  has_src_strides = copy_axes(c.src_strides, rank, src_strides);
  has_dst_strides = copy_axes(c.dst_strides, rank, dst_strides);
}

PermuteParams PermuteRecord::call() const noexcept {
  return {.element_bytes = element_bytes,
          .rank = rank,
          .extents = has_extents ? extents : nullptr,
          .order = has_order ? order : nullptr,
          .src = src,
          .src_strides = has_src_strides ? src_strides : nullptr,
          .dst = dst,
          .dst_strides = has_dst_strides ? dst_strides : nullptr};
}

const Seen* CallRecord::find(const void* p) const noexcept {
  for (int32_t i = 0; i < seen_count; ++i) {
    if (seen[static_cast<size_t>(i)].p == p) return &seen[static_cast<size_t>(i)];
  }
  return nullptr;
}

CallRecord& last_call() noexcept { return t_last_call; }

}  // namespace gpumem
