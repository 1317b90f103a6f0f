// Shared by the host's scans of one sequence and of many lines. Everything has internal linkage, like
// kernels/scan/element.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/host/host_backend.hpp"
#include "base/checked.hpp"
#include "kernels/nodes.hpp"
#include "kernels/scan/element.hpp"

namespace gpumem::host {
namespace {

template <class T>
T element_at(const void* x, int64_t i) noexcept {
  T v;
  std::memcpy(&v, static_cast<const char*>(x) + i * static_cast<int64_t>(sizeof v), sizeof v);
  return v;
}

// One of the sequences that a call scans.
struct Line {
  const char* x = nullptr;
  char* result = nullptr;
  int64_t n = 0;
  bool sound = true;
};
// In elements. The stride of a single element is not used, and may be any number.
inline bool has_strides(const ScanParams& p) noexcept { return p.view.rank > 0 && p.view.extents[0] > 1; }
inline int64_t x_stride(const ScanParams& p) noexcept { return has_strides(p) ? p.view.x_strides[0] : 1; }
inline int64_t result_stride(const ScanParams& p) noexcept { return has_strides(p) ? p.view.result_strides[0] : 1; }
inline Line line_of(const ScanParams& p, int64_t index) noexcept {
  const char* const x = static_cast<const char*>(p.x);
  char* const result = static_cast<char*>(p.result);
  const int64_t bytes = element_bytes(p.dtype);
  const int64_t result_bytes = element_bytes(p.result_type);
  if (p.offsets != nullptr) {
    int64_t bounds[2];
    std::memcpy(bounds, reinterpret_cast<const char*>(p.offsets) + index * int64_t{sizeof(int64_t)}, sizeof bounds);
    if (bounds[0] < 0 || bounds[0] > bounds[1] || bounds[1] > p.n) return {x, result, 0, false};
    return {x + bounds[0] * bytes, result + bounds[0] * result_bytes, bounds[1] - bounds[0]};
  }
  if (p.view.rank == 0) return {x, result, p.n};
  const LineStart start = start_of_line(p.view, index);
  return {x + start.x * bytes, result + start.result * result_bytes, p.view.extents[0]};
}

inline int64_t rows_of(int64_t count) noexcept { return ceil_div(count, int64_t{kLeafLanes}); }

// The prefixes of block q, which has whole rows, and the prefix before it. levels: of the blocks before, as for
// push_node().
inline void scan_block(const HostTeam& team, const ScanParams& p, ReduceNode* levels, int64_t q, const void* block,
                       int64_t rows, double (&prefixes)[kLeafTerms + 1]) noexcept {
  const NodeKind kind = node_kind(p.dtype, p.op);
  double before[kTreeLevels];
  int32_t count = 0;
  for (auto left = static_cast<uint64_t>(q); left != 0; left &= left - 1) {
    before[count++] = std::bit_cast<double>(levels[std::countr_zero(left)].word[0]);
  }
  if (p.exclusive != 0) prefixes[0] = canonical(std::bit_cast<double>(fold_nodes(kind, levels, 1, q).word[0]));
  const double sum =
      team.loops.scan({p.dtype, p.op == GPUMEM_PROD, block, rows, before, count, prefixes + p.exclusive});
  push_node(kind, levels, 1, q, {{std::bit_cast<uint64_t>(sum)}});
}

// Makes the elements past `count` in its row neutral.
inline void pad_block(const ScanParams& p, char* block, int64_t count) noexcept {
  for_floating_type(p.dtype, [&]<gpumem_dtype kType>() {
    using T = ElementOf<kType>;
    const T neutral = converted<T>(p.op == GPUMEM_PROD ? 1.0f : 0.0f);
    for (int64_t i = count; i < rows_of(count) * kLeafLanes; ++i) {
      std::memcpy(block + i * static_cast<int64_t>(sizeof neutral), &neutral, sizeof neutral);
    }
  });
}

// Copies elements to a block. Those past the end are neutral.
inline void fill_block(const ScanParams& p, char* block, const void* from, int64_t count) noexcept {
  const int64_t bytes = element_bytes(p.dtype);
  std::memcpy(block, from, static_cast<size_t>(count * bytes));
  pad_block(p, block, count);
}

inline void store_prefixes(const HostTeam& team, const ScanParams& p, const double* values, void* to,
                           int64_t count) noexcept {
  if (p.result_type == GPUMEM_F64) {
    std::memcpy(to, values, static_cast<size_t>(count) * 8);
  } else {
    team.loops.convert(
        {GPUMEM_F64, reinterpret_cast<const char*>(values), p.result_type, static_cast<char*>(to), count, false});
  }
}

// Returns the word after the elements. fits becomes false if a value does not fit.
template <class Scan>
typename Scan::Word scan_words(const Scan& scan, const ScanParams& p, int64_t first, int64_t end,
                               typename Scan::Word word, bool& fits) noexcept {
  const char* x = static_cast<const char*>(p.x);
  char* result = static_cast<char*>(p.result);
  const auto run = [&]<bool kExclusive>(int64_t from, int64_t to) {
    bool beyond = false;
    for (int64_t i = from; i < to; ++i) {
      const auto term = scan.word(element_at<typename Scan::T>(x, i));
      const auto after = Scan::combine(word, term);
      beyond |= Scan::overflows(word, term, after);
      const typename Scan::Result value = scan.value(kExclusive ? word : after);
      std::memcpy(result + i * static_cast<int64_t>(sizeof value), &value, sizeof value);
      word = after;
    }
    return beyond;
  };
  if (p.exclusive == 0) {
    fits &= !run.template operator()<false>(first, end);
    return word;
  }
  // An exclusive scan has no place for the sum of all elements.
  const int64_t last = end == p.n ? end - 1 : end;
  fits &= !run.template operator()<true>(first, last);
  run.template operator()<true>(last, end);
  return word;
}

template <class F>
void for_words(const ScanParams& p, const F& f) noexcept {
  for_scan_types(p, [&]<gpumem_dtype kType, gpumem_dtype kResult>() {
    for_kind<kType, kResult>(p.op, [&]<class Scan>() { f(Scan(p.op)); });
  });
}

}  // namespace
}  // namespace gpumem::host
