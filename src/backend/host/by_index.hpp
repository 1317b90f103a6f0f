// The index of reductions by index on the host.
#pragma once

#include <atomic>
#include <cstring>

#include "kernels/reduce_by_index/params.hpp"

namespace gpumem::host {

// The first bad place that the tasks find.
class FirstBad {
 public:
  explicit FirstBad(const ReduceByIndexParams& p) noexcept : p_(p), found_(p.n) {}

  void note(int64_t at) noexcept {
    int64_t seen = found_.load(std::memory_order_relaxed);
    while (at < seen && !found_.compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
    }
  }
  bool any() const noexcept { return found_.load(std::memory_order_relaxed) < p_.n; }
  // status: of the results, unless an index is bad.
  void report(gpumem_status status) const noexcept {
    const int64_t at = found_.load(std::memory_order_relaxed);
    ByIndexReport report{-1, static_cast<uint64_t>(status)};
    if (at < p_.n) {
      status = GPUMEM_OUT_OF_RANGE;
      report = {at, 0};
      const int64_t bytes = element_bytes(p_.index_type);
      std::memcpy(&report.bits, static_cast<const char*>(p_.index) + at * bytes, static_cast<size_t>(bytes));
    }
    if (p_.report != nullptr) *p_.report = report;
    if (p_.status != nullptr) std::memcpy(p_.status, &status, sizeof status);
  }

 private:
  const ReduceByIndexParams& p_;
  std::atomic<int64_t> found_;
};

template <class F>
void for_index(const ReduceByIndexParams& p, const F& f) {
  element_bytes(p.index_type) == 4 ? f.template operator()<uint32_t>() : f.template operator()<uint64_t>();
}

// Calls add(bin, i) for the numbers [first, last) of the index, up to a bad one.
template <class Index, class Add>
void for_bins(const ReduceByIndexParams& p, int64_t first, int64_t last, FirstBad& bad, const Add& add) noexcept {
  const auto* const index = static_cast<const Index*>(p.index);
  const uint64_t limit = p.limit();
  for (int64_t i = first; i < last; ++i) {
    const uint64_t bin = index[i];
    if (bin >= limit) return bad.note(i);
    add(bin, i);
  }
}

}  // namespace gpumem::host
