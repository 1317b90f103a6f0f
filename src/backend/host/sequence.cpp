#include "backend/host/sequence.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

#include "backend/host/parallel.hpp"
#include "kernels/order.hpp"
#include "kernels/sizes.hpp"

namespace gpumem {
namespace {

constexpr auto kRoot = [](double x) noexcept { return std::sqrt(x); };

void gather_run(int32_t bytes, char* to, const PitchedElements& from, int64_t first, int64_t count) noexcept {
  const int64_t pitch = from.pitch;
  const char* at = from.data + first * pitch;
  if (pitch == bytes) return static_cast<void>(std::memcpy(to, at, static_cast<size_t>(count * bytes)));
  for_size(bytes, [=]<int kBytes>() {
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * kBytes, at + i * pitch, kBytes);
  });
}

// Copies elements [first, first + count) of a view in row-major order, by runs of its last axis.
void gather_view(int32_t bytes, char* to, const ReduceView& view, const PitchedElements& from, int64_t first,
                 int64_t count) noexcept {
  const int32_t last = view.rank - 1;
  int64_t at[kMaxReduceRank];
  int64_t offset = 0;
  for (int32_t d = last; d >= 0; --d) {
    at[d] = first % view.extents[d];
    first /= view.extents[d];
    offset += at[d] * from.strides[d];
  }
  for (;;) {
    const int64_t run = std::min(view.extents[last] - at[last], count);
    gather_run(bytes, to, {from.data + offset * bytes, from.strides[last] * bytes}, 0, run);
    count -= run;
    if (count == 0) return;
    to += run * bytes;
    offset += run * from.strides[last];
    at[last] += run;
    for (int32_t d = last; at[d] == view.extents[d]; --d) {
      offset += from.strides[d - 1] - at[d] * from.strides[d];
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

template <class Node>
inline gpumem_status values_of_nodes(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode* nodes, int64_t count,
                                     char* result) noexcept {
  constexpr int64_t kWord = sizeof(uint64_t);
  const bool pairs = value_words(op) == 2;
  gpumem_status worst = GPUMEM_OK;
  for (int64_t i = 0; i < count; ++i) {
    const ReduceValue value = value_of(dtype, op, Node(nodes[i]), kRoot);
    worst = std::max(worst, value.status);
    if (pairs) {
      std::memcpy(result + i * 2 * kWord, value.word, 2 * kWord);
    } else {
      std::memcpy(result + i * kWord, value.word, kWord);
    }
  }
  return worst;
}

// One task at a time. It stores the holder's process, so that a forked child does not wait for a thread of its parent.
class LastResortLock {
 public:
  void lock() noexcept {
    const pid_t self = getpid();
    for (pid_t holder = 0; !holder_.compare_exchange_weak(holder, self, std::memory_order_acquire);) {
      if (holder != self) continue;
      std::this_thread::yield();
      holder = 0;
    }
  }
  void unlock() noexcept { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<pid_t> holder_{0};
};

using RangeValues = gpumem_status (*)(gpumem_reduce_op op, const ReduceNode* nodes, int64_t count,
                                      char* result) noexcept;
constexpr ByType<RangeValues> kRangeValues = by_type<RangeValues>([]<gpumem_dtype kType>() -> RangeValues {
  return [](gpumem_reduce_op op, const ReduceNode* nodes, int64_t count, char* result) noexcept {
    return values_of_nodes<RangeNode>(kType, op, nodes, count, result);
  };
});

}  // namespace

Sequence::Sequence(const Loops& loops, gpumem_dtype dtype, gpumem_reduce_op op, PitchedElements x, PitchedElements y,
                   bool one_by_one, const ReduceView* view) noexcept
    : loop_(loops.reduce(dtype, op)),
      kind_(node_kind(dtype, op)),
      bytes_(element_bytes(dtype)),
      x_(x),
      y_(y),
      view_(view) {
  gather_ = one_by_one || !side_by_side(x_) || !side_by_side(y_);
}

void Sequence::gather(char* to, const PitchedElements& from, int64_t first, int64_t count) const noexcept {
  if (from.data == nullptr) return;
  if (from.strides != nullptr) return gather_view(bytes_, to, *view_, from, first, count);
  gather_run(bytes_, to, from, first, count);
}

bool Sequence::is_square() const noexcept {
  if (x_.data != y_.data || x_.pitch != y_.pitch || (x_.strides == nullptr) != (y_.strides == nullptr)) return false;
  return x_.strides == nullptr || std::equal(x_.strides, x_.strides + view_->rank, y_.strides);
}

bool Sequence::side_by_side(const PitchedElements& operand) const noexcept {
  if (operand.data == nullptr) return true;
  if (operand.strides != nullptr) return false;
  return operand.pitch == bytes_ && reinterpret_cast<uintptr_t>(operand.data) % static_cast<uintptr_t>(bytes_) == 0;
}

ReduceNode Sequence::node(int64_t first, int64_t last) const noexcept {
  ReduceNode found;
  if (gather_) {
    found = gathered(first, last);
  } else {
    const char* y = y_.data == nullptr ? nullptr : y_.data + first * y_.pitch;
    found = loop_(x_.data + first * x_.pitch, y, last - first);
  }
  if (kind_ == NodeKind::arg) found.word[1] += static_cast<uint64_t>(first);
  return found;
}

// One 1024-element block at a time; indices count from `first` here.
ReduceNode Sequence::gathered(int64_t first, int64_t last) const noexcept {
  constexpr int64_t kRoom = int64_t{kLeafTerms} * 8;
  alignas(64) static char last_resort[2 * kRoom];  // used if memory has run out
  static constinit LastResortLock last_resort_taken;
  const TaskMemory memory(y_.data == nullptr ? kRoom : 2 * kRoom);
  std::unique_lock<LastResortLock> lock(last_resort_taken, std::defer_lock);
  if (memory.get() == nullptr) lock.lock();
  char* const x = memory.get() != nullptr ? static_cast<char*>(memory.get()) : last_resort;
  char* const y = x + kRoom;
  const bool same = is_square();
  constexpr int kLevels = 54;  // for 2^63 elements, because the stack is small
  ReduceNode levels[kLevels];
  int64_t leaves = 0;
  for (int64_t at = first; at < last; at += kLeafTerms) {
    const int64_t count = std::min<int64_t>(kLeafTerms, last - at);
    gather(x, x_, at, count);
    if (!same) gather(y, y_, at, count);
    ReduceNode leaf = loop_(x, y_.data == nullptr ? nullptr : same ? x : y, count);
    if (kind_ == NodeKind::arg) leaf.word[1] += static_cast<uint64_t>(at - first);
    push_node(kind_, levels, 1, leaves++, leaf);
  }
  return fold_nodes(kind_, levels, 1, leaves);
}

ReduceValue value_of_node(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node) noexcept {
  return value_of(dtype, op, node, kRoot);
}

gpumem_status write_value(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node, char* result) noexcept {
  const ReduceValue value = value_of_node(dtype, op, node);
  std::memcpy(result, value.word, static_cast<size_t>(value_words(op)) * sizeof(uint64_t));
  return value.status;
}

gpumem_status write_values(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode* nodes, int64_t count,
                           char* result) noexcept {
  const NodeKind kind = node_kind(dtype, op);
  if (kind == NodeKind::range) return kRangeValues[dtype](op, nodes, count, result);
  return with_node(kind, [&](auto node) { return values_of_nodes<decltype(node)>(dtype, op, nodes, count, result); });
}

gpumem_status write_found(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode* nodes, int64_t count, char* values,
                          char* indices) noexcept {
  constexpr int64_t kWord = sizeof(uint64_t);
  gpumem_status worst = GPUMEM_OK;
  for (int64_t i = 0; i < count; ++i) {
    const ReduceValue found = value_of(dtype, op, ArgNode(nodes[i]));
    worst = std::max(worst, found.status);
    if (values != nullptr) std::memcpy(values + i * kWord, &found.word[0], kWord);
    std::memcpy(indices + i * kWord, &found.word[1], kWord);
  }
  return worst;
}

gpumem_status write_empty(gpumem_dtype dtype, gpumem_reduce_op op, char* result) noexcept {
  if (!has_empty_value(dtype, op)) return write_zeros(op, result, GPUMEM_EMPTY);
  return write_value(dtype, op, empty_node(node_kind(dtype, op)), result);
}

gpumem_status write_zeros(gpumem_reduce_op op, char* result, gpumem_status status) noexcept {
  std::memset(result, 0, static_cast<size_t>(value_words(op)) * sizeof(uint64_t));
  return status;
}

}  // namespace gpumem
