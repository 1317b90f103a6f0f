// Scans on the host. With several tasks, the first pass reduces each task's elements, and the second one scans them.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/alignment.hpp"
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

struct TaskScratch {
  alignas(64) char block[8 * kLeafTerms];
  double prefixes[kLeafTerms + 1];  // the one before the block first
  ReduceNode total;                 // of a whole task
};
static_assert(sizeof(TaskScratch) <= kScanTaskBytes);

// Floating-point sums and products of neighbouring blocks, in the order of kernels/order.hpp.
class OrderedTask {
 public:
  OrderedTask(const HostTeam& team, const ScanParams& p, const Config& config, char* scratch) noexcept
      : team_(team), p_(p), tile_(config.tile), kind_(node_kind(p.dtype, p.op)), own_(scratch) {}

  void reduce(int64_t task) noexcept {
    const int64_t first = task * tile_;
    const ReduceLoop loop = team_.loops.reduce(p_.dtype, p_.op);
    if (aligned(at(first), element_bytes(p_.dtype))) {
      scratch(task).total = loop(at(first), nullptr, std::min(tile_, p_.n - first));
      return;
    }
    const int64_t blocks = ceil_div(std::min(tile_, p_.n - first), int64_t{kLeafTerms});
    for (int64_t q = 0; q < blocks; ++q) {
      const void* block = block_at(first + q * kLeafTerms, scratch(task));
      push_node(kind_, levels_, 1, q, loop(block, nullptr, kLeafTerms));
    }
    scratch(task).total = fold_nodes(kind_, levels_, 1, blocks);
  }

  void scan(int64_t task) noexcept {
    TaskScratch& own = scratch(task);
    const int level = std::countr_zero(static_cast<uint64_t>(tile_ / kLeafTerms));
    for (int64_t t = 0; t < task; ++t) push_node(kind_, levels_ + level, 1, t, scratch(t).total);
    const int64_t end = std::min((task + 1) * tile_, p_.n);
    for (int64_t first = task * tile_; first < end; first += kLeafTerms) {
      const int64_t q = first / kLeafTerms;
      double before[kTreeLevels];
      int32_t count = 0;
      for (auto left = static_cast<uint64_t>(q); left != 0; left &= left - 1) {
        before[count++] = std::bit_cast<double>(levels_[std::countr_zero(left)].word[0]);
      }
      if (p_.exclusive != 0) {
        own.prefixes[0] = canonical(std::bit_cast<double>(fold_nodes(kind_, levels_, 1, q).word[0]));
      }
      const double sum = team_.loops.scan(
          {p_.dtype, p_.op == GPUMEM_PROD, block_at(first, own), before, count, own.prefixes + p_.exclusive});
      push_node(kind_, levels_, 1, q, {{std::bit_cast<uint64_t>(sum)}});
      store(own.prefixes, first, std::min<int64_t>(kLeafTerms, end - first));
    }
  }

 private:
  TaskScratch& scratch(int64_t task) const noexcept {
    return *reinterpret_cast<TaskScratch*>(own_ + task * kScanTaskBytes);
  }
  const char* at(int64_t i) const noexcept { return static_cast<const char*>(p_.x) + i * element_bytes(p_.dtype); }

  // Elements past the end are neutral.
  const void* block_at(int64_t first, TaskScratch& own) const noexcept {
    const int64_t bytes = element_bytes(p_.dtype);
    const int64_t count = std::min<int64_t>(kLeafTerms, p_.n - first);
    if (count == kLeafTerms && aligned(at(first), bytes)) return at(first);
    std::memcpy(own.block, at(first), static_cast<size_t>(count * bytes));
    for_floating_type(p_.dtype, [&]<gpumem_dtype kType>() {
      using T = ElementOf<kType>;
      const T neutral = converted<T>(p_.op == GPUMEM_PROD ? 1.0f : 0.0f);
      for (int64_t i = count; i < kLeafTerms; ++i) {
        std::memcpy(own.block + i * bytes, &neutral, sizeof neutral);
      }
    });
    return own.block;
  }

  void store(const double* values, int64_t first, int64_t count) const noexcept {
    char* dst = static_cast<char*>(p_.result) + first * element_bytes(p_.result_type);
    if (p_.result_type == GPUMEM_F64) {
      std::memcpy(dst, values, static_cast<size_t>(count) * 8);
    } else {
      team_.loops.convert({GPUMEM_F64, reinterpret_cast<const char*>(values), p_.result_type, dst, count, false});
    }
  }

  const HostTeam& team_;
  const ScanParams& p_;
  const int64_t tile_;
  const NodeKind kind_;
  char* const own_;
  ReduceNode levels_[kTreeLevels];
};

void scan_ordered(const HostTeam& team, const ScanParams& p, const Config& config, char* scratch) {
  if (config.grid > 1) {
    team.parallel(config.grid - 1, [&](int64_t task) {
      const DefaultFloatEnvironment of_thread;
      OrderedTask(team, p, config, scratch).reduce(task);
    });
  }
  team.parallel(config.grid, [&](int64_t task) {
    const DefaultFloatEnvironment of_thread;
    OrderedTask(team, p, config, scratch).scan(task);
  });
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
  // The sum of all elements is no result of an exclusive scan.
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

void set_status(const ScanParams& p, bool fits) noexcept {
  if (p.status != nullptr) *p.status = fits ? GPUMEM_OK : GPUMEM_OVERFLOW;
}

}  // namespace

void scan_parallel(const HostTeam& team, const ScanParams& p, const Config& config, char* workspace) {
  if (is_ordered(p)) {
    scan_ordered(team, p, config, workspace);
    return set_status(p, true);
  }
  std::atomic<bool> all_fit{true};
  for_words(p, [&](const auto& scan) {
    using Scan = std::remove_cvref_t<decltype(scan)>;
    using Word = typename Scan::Word;
    auto* totals = reinterpret_cast<Word*>(workspace);
    team.parallel(config.grid - 1, [&](int64_t task) {
      Word total = Scan::identity();
      for (int64_t i = task * config.tile; i < (task + 1) * config.tile; ++i) {
        total = Scan::combine(total, scan.word(element_at<typename Scan::T>(p.x, i)));
      }
      totals[task] = total;
    });
    team.parallel(config.grid, [&](int64_t task) {
      Word before = Scan::identity();
      for (int64_t t = 0; t < task; ++t) before = Scan::combine(before, totals[t]);
      bool fits = true;
      scan_words(scan, p, task * config.tile, std::min((task + 1) * config.tile, p.n), before, fits);
      if (!fits) all_fit.store(false, std::memory_order_relaxed);
    });
  });
  set_status(p, all_fit);
}

// The definition only. In a floating-point sum, each prefix is folded from the lanes of its last block.
void scan_serial(const HostTeam&, const ScanParams& p, const Config&, char*) {
  const DefaultFloatEnvironment environment;
  bool fits = true;
  for_words(p, [&](const auto& scan) { scan_words(scan, p, 0, p.n, scan.identity(), fits); });
  set_status(p, fits);
  if (!is_ordered(p)) return;
  const NodeKind kind = node_kind(p.dtype, p.op);
  ReduceNode levels[kTreeLevels];
  double lanes[kLeafLanes];
  ReduceNode before = empty_node(kind);
  for_scan_types(p, [&]<gpumem_dtype kType, gpumem_dtype kResult>() {
    using T = ElementOf<kType>;
    if constexpr (!is_floating(kType)) return;
    for (int64_t i = 0; i < p.n; ++i) {
      const double neutral = p.op == GPUMEM_PROD ? 1 : 0;
      if (i % kLeafTerms == 0) std::fill_n(lanes, kLeafLanes, neutral);
      const auto x = converted<double>(element_at<T>(p.x, i));
      double& lane = lanes[i % kLeafLanes];
      lane = p.op == GPUMEM_PROD ? lane * x : lane + x;
      double folded[kLeafLanes];
      std::copy_n(lanes, kLeafLanes, folded);
      for (int half = kLeafLanes / 2; half > 0; half /= 2) {
        for (int m = 0; m < half; ++m) {
          folded[m] = p.op == GPUMEM_PROD ? folded[m] * folded[m + half] : folded[m] + folded[m + half];
        }
      }
      push_node(kind, levels, 1, i / kLeafTerms, {{std::bit_cast<uint64_t>(folded[0])}});
      const ReduceNode after = fold_nodes(kind, levels, 1, i / kLeafTerms + 1);
      const double prefix = canonical(std::bit_cast<double>((p.exclusive != 0 ? before : after).word[0]));
      const auto value = converted<ElementOf<kResult>>(prefix);
      std::memcpy(static_cast<ElementOf<kResult>*>(p.result) + i, &value, sizeof value);
      before = after;
    }
  });
}

}  // namespace gpumem::host
