// Scans on the host. With several tasks, the first pass reduces each task's elements, and the second one scans them.
#include <algorithm>
#include <atomic>
#include <bit>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/scan.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/alignment.hpp"
#include "kernels/nodes.hpp"

namespace gpumem::host {
namespace {

struct TaskScratch {
  alignas(64) char block[8 * kLeafTerms];
  double prefixes[kLeafTerms + 1];  // the first one is before the block
  ReduceNode levels[kTreeLevels];
  ReduceNode total;  // of a whole task
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
      const int64_t at = first + q * kLeafTerms;
      const void* block = block_at(at, scratch(task));
      push_node(kind_, scratch(task).levels, 1, q, loop(block, nullptr, count_at(at)));
    }
    scratch(task).total = fold_nodes(kind_, scratch(task).levels, 1, blocks);
  }

  void scan(int64_t task) noexcept {
    TaskScratch& own = scratch(task);
    const int level = std::countr_zero(static_cast<uint64_t>(tile_ / kLeafTerms));
    for (int64_t t = 0; t < task; ++t) push_node(kind_, own.levels + level, 1, t, scratch(t).total);
    const int64_t end = std::min((task + 1) * tile_, p_.n);
    for (int64_t first = task * tile_; first < end; first += kLeafTerms) {
      const int64_t count = count_at(first);
      scan_block(team_, p_, own.levels, first / kLeafTerms, block_at(first, own), rows_of(count), own.prefixes);
      store_prefixes(team_, p_, own.prefixes, static_cast<char*>(p_.result) + first * element_bytes(p_.result_type),
                     count);
    }
  }

 private:
  TaskScratch& scratch(int64_t task) const noexcept {
    return *reinterpret_cast<TaskScratch*>(own_ + task * kScanTaskBytes);
  }
  const char* at(int64_t i) const noexcept { return static_cast<const char*>(p_.x) + i * element_bytes(p_.dtype); }

  int64_t count_at(int64_t first) const noexcept { return std::min<int64_t>(kLeafTerms, p_.n - first); }

  // Has whole rows. Elements past the end are neutral.
  const void* block_at(int64_t first, TaskScratch& own) const noexcept {
    const int64_t count = count_at(first);
    if (count % kLeafLanes == 0 && aligned(at(first), element_bytes(p_.dtype))) return at(first);
    fill_block(p_, own.block, at(first), count);
    return own.block;
  }

  const HostTeam& team_;
  const ScanParams& p_;
  const int64_t tile_;
  const NodeKind kind_;
  char* const own_;
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

}  // namespace gpumem::host
