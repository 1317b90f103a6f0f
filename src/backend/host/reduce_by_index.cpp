// Reductions by index on the host. All of the index is checked before a result is written.
// tables: each task has a table of bins, and the tables are added up. sorted: a stable counting sort by bins, and then a
// reduction of segments. Many bins are sorted in two steps, so that each step writes to few places at a time. The second
// step and the reduction of its bins stay in a core's caches. An index in order needs no sort.
// Moves: tables reads x and index once. sorted reads index twice (and a copy of it, for many bins), and reads and writes
//        the elements once before the reduction reads them. An index in order is read twice, and x once.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "backend/host/by_index.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/reduce.hpp"
#include "base/checked.hpp"
#include "kernels/sort/params.hpp"

namespace gpumem::host {
namespace {

template <class Word>
Word element_at(const void* x, int64_t i) noexcept {
  Word word;
  std::memcpy(&word, static_cast<const char*>(x) + i * int64_t{sizeof word}, sizeof word);
  return word;
}

// The same for the elements of these rows: add(value of the bin, element of x).
template <class Index, class Add>
void for_values(const ReduceByIndexParams& p, int64_t first, int64_t last, FirstBad& bad, const Add& add) noexcept {
  if (p.of_vector()) return for_bins<Index>(p, first, last, bad, add);
  for_bins<Index>(p, first, last, bad, [&add, cols = p.cols, ld = p.ld](uint64_t bin, int64_t row) {
    const uint64_t value = bin * static_cast<uint64_t>(cols);
    for (int64_t c = 0; c < cols; ++c) add(value + static_cast<uint64_t>(c), row * ld + c);
  });
}

template <class Index>
void fill_table(const ReduceByIndexParams& p, int64_t first, int64_t last, FirstBad& bad, uint64_t* table) noexcept {
  if (p.x == nullptr) {
    return for_bins<Index>(p, first, last, bad, [table](uint64_t bin, int64_t) { ++table[bin]; });
  }
  const uint64_t sign = is_signed_integer(p.dtype) ? sign_bit(p.dtype) : 0;
  for_word(p.dtype, [&]<class Word>() {
    const auto value = [sign, x = p.x](int64_t i) { return (uint64_t{element_at<Word>(x, i)} ^ sign) - sign; };
    if (p.op == GPUMEM_SUM) {
      return for_values<Index>(p, first, last, bad, [=](uint64_t at, int64_t i) { table[at] += value(i); });
    }
    for_values<Index>(p, first, last, bad, [=, op = p.op](uint64_t at, int64_t i) {
      table[at] = std::max(table[at], extreme_code(op, static_cast<int64_t>(value(i))));
    });
  });
}

// Never throws: without memory, it does without the parts of long segments.
gpumem_status reduce_bins(const HostTeam& team, const ReduceSegmentsParams& segments, int64_t tile) noexcept {
  const Config config{1, 1, 1, tile};
  try {
    return SegmentReduction(team, {}, segments, config).run();
  } catch (const std::bad_alloc&) {
    return SegmentReduction(team, {.serial = true}, segments, config).run();
  }
}

template <class Word>
struct [[gnu::packed]] BinItem {
  Word element;
  uint32_t bin;  // of the bucket
};

template <class Index, class Word>
class CountingSort {
 public:
  CountingSort(const HostTeam& team, const ReduceByIndexParams& p, const Config& config, char* workspace) noexcept
      : team_(team),
        p_(p),
        index_(static_cast<const Index*>(p.index)),
        cut_(config.own.get<BinBuckets>()),
        tasks_(config.grid),
        tile_(config.tile),
        offsets_(reinterpret_cast<int64_t*>(workspace)),
        tables_(offsets_ + by_index_offsets(cut_, p)),
        sorted_(reinterpret_cast<Word*>(tables_ + tasks_ * cut_.buckets)),
        items_(reinterpret_cast<BinItem<Word>*>(sorted_ + p.n)) {}

  void run() const noexcept {
    FirstBad bad(p_);
    if (in_order()) {
      team_.parallel(tasks_, [this](int64_t task) { find_bins(task); });
      return bad.report(reduce_all(p_.x));
    }
    team_.parallel(tasks_, [&](int64_t task) { count(task, bad); });
    if (bad.any()) return bad.report(GPUMEM_OK);
    place_buckets();
    if (cut_.shift == 0) {
      team_.parallel(tasks_, [this](int64_t task) {
        move(task, [x = p_.x, to = sorted_](int64_t at, uint64_t, int64_t i) { to[at] = element_at<Word>(x, i); });
      });
      return bad.report(reduce_all(sorted_));
    }
    team_.parallel(tasks_, [this](int64_t task) {
      const uint64_t low = (uint64_t{1} << cut_.shift) - 1;
      move(task, [x = p_.x, to = items_, low](int64_t at, uint64_t bin, int64_t i) {
        constexpr int64_t kAhead = 12;
        __builtin_prefetch(to + at + kAhead, 1);
        to[at] = {element_at<Word>(x, i), static_cast<uint32_t>(bin & low)};
      });
    });
    bad.report(reduce_buckets());
  }

 private:
  static constexpr int64_t kBlock = 512;
  struct Bucket {
    int64_t begin;  // of its items
    int64_t count;
    int64_t first_bin;
    int64_t bins;
    int64_t* offsets;  // bins + 2 of them
    // Whether its elements are worth several threads.
    bool large(int64_t n) const noexcept { return count > std::max(int64_t{1} << 18, n / 16); }
  };

  int64_t first(int64_t task) const noexcept { return std::min(task * tile_, p_.n); }

  gpumem_status reduce_all(const void* x) const noexcept {
    return reduce_bins(team_, segments({0, p_.n, 0, p_.bins, offsets_}, x), cut_.segments_tile);
  }
  ReduceSegmentsParams segments(const Bucket& bucket, const void* x) const noexcept {
    return {.dtype = p_.dtype,
            .op = p_.op,
            .x = x,
            .n = bucket.count,
            .offsets = bucket.offsets,
            .segments = bucket.bins,
            .result = result_at(p_, bucket.first_bin)};
  }

  // Whether the index never decreases and has no bad number. One thread looks at the first block.
  bool in_order() const noexcept {
    if (index_[p_.n - 1] >= p_.limit() || descends(0, kBlock)) return false;
    std::atomic<bool> ordered{true};
    team_.parallel(tasks_, [&](int64_t task) {
      const int64_t last = first(task + 1);
      for (int64_t at = first(task); at < last && ordered.load(std::memory_order_relaxed); at += kBlock) {
        if (descends(at, std::min(at + kBlock, last))) ordered.store(false, std::memory_order_relaxed);
      }
    });
    return ordered.load(std::memory_order_relaxed);
  }
  // From one of these elements to the next.
  bool descends(int64_t begin, int64_t end) const noexcept {
    const Index* const index = index_;
    Index found = 0;
    for (int64_t i = begin; i < std::min(end, p_.n - 1); ++i) found |= index[i] > index[i + 1] ? 1 : 0;
    return found != 0;
  }

  // Of an index in order: the offsets of the bins after the task's first, up to the next task's first. A task has all
  // elements of a bin.
  void find_bins(int64_t task) const noexcept {
    const int64_t begin = first_of_bin(first(task));
    const int64_t end = first_of_bin(first(task + 1));
    const int64_t first_bin = task > 0 ? bin_of(begin) : 0;
    const int64_t last_bin = bin_of(end);
    if (task == 0) offsets_[0] = 0;
    std::fill(offsets_ + first_bin + 1, offsets_ + last_bin + 1, 0);
    for (int64_t i = begin; i < end; ++i) offsets_[index_[i] + 1] = i + 1;
    int64_t at = begin;
    for (int64_t bin = first_bin + 1; bin <= last_bin; ++bin) offsets_[bin] = at = std::max(at, offsets_[bin]);
  }
  int64_t first_of_bin(int64_t i) const noexcept {
    return i == p_.n ? i : std::lower_bound(index_, index_ + i, index_[i]) - index_;
  }
  int64_t bin_of(int64_t i) const noexcept { return i < p_.n ? static_cast<int64_t>(index_[i]) : p_.bins; }

  void count(int64_t task, FirstBad& bad) const noexcept {
    int64_t* const table = tables_ + task * cut_.buckets;
    std::fill_n(table, cut_.buckets, 0);
    for_bins<Index>(p_, first(task), first(task + 1), bad,
                    [table, shift = cut_.shift](uint64_t bin, int64_t) { ++table[bin >> shift]; });
  }

  // The counts become the first places of each task's elements. With buckets of one bin, these are the offsets too.
  void place_buckets() const noexcept {
    int64_t at = 0;
    for (int64_t bucket = 0; bucket < cut_.buckets; ++bucket) {
      offsets_[bucket] = at;
      for (int64_t task = 0; task < tasks_; ++task) at += std::exchange(tables_[task * cut_.buckets + bucket], at);
    }
    offsets_[cut_.buckets] = at;
  }

  template <class Store>
  void move(int64_t task, const Store& store) const noexcept {
    const Index* const index = index_;
    int64_t* const places = tables_ + task * cut_.buckets;
    const int32_t shift = cut_.shift;
    const int64_t last = first(task + 1);
    for (int64_t i = first(task); i < last; ++i) store(places[index[i] >> shift]++, index[i], i);
  }

  Bucket bucket_at(int64_t bucket) const noexcept {
    const int64_t* const ends = tables_ + (tasks_ - 1) * cut_.buckets;
    const int64_t begin = bucket > 0 ? ends[bucket - 1] : 0;
    const int64_t first_bin = bucket << cut_.shift;
    return {begin, ends[bucket] - begin, first_bin, std::min(int64_t{1} << cut_.shift, p_.bins - first_bin),
            offsets_ + first_bin + 2 * bucket};
  }

  // A task sorts its buckets to the same place one after the other, so that they stay in the caches.
  gpumem_status reduce_buckets() const noexcept {
    WorstStatus worst;
    const int64_t groups = tasks_ == 1 ? 1 : std::min(8 * tasks_, cut_.buckets);
    team_.parallel(groups, [&](int64_t group) {
      const int64_t last = (group + 1) * cut_.buckets / groups;
      Word* place = nullptr;
      for (int64_t i = group * cut_.buckets / groups; i < last; ++i) {
        const Bucket bucket = bucket_at(i);
        if (place == nullptr || bucket.large(p_.n)) place = sorted_ + bucket.begin;
        sort(bucket, place);
        if (bucket.large(p_.n)) {
          place = nullptr;
        } else {
          worst.add(SegmentReduction(team_, {.serial = true}, segments(bucket, place), {1, 1, 1, bucket.bins}).run());
        }
      }
    });
    for (int64_t i = 0; i < cut_.buckets; ++i) {
      const Bucket bucket = bucket_at(i);
      if (bucket.large(p_.n))
        worst.add(reduce_bins(team_, segments(bucket, sorted_ + bucket.begin), cut_.segments_tile));
    }
    return worst.write_to(nullptr);
  }

  // While elements move, the offset of a bin is the place of its next element, which ends as the next bin's first. So
  // places are stored one bin further on.
  void sort(const Bucket& bucket, Word* to) const noexcept {
    int64_t* const offsets = bucket.offsets;
    const BinItem<Word>* const items = items_ + bucket.begin;
    std::fill_n(offsets, bucket.bins + 2, 0);
    for (int64_t i = 0; i < bucket.count; ++i) ++offsets[items[i].bin + 2];
    for (int64_t bin = 1; bin < bucket.bins; ++bin) offsets[bin + 1] += offsets[bin];
    for (int64_t i = 0; i < bucket.count; ++i) {
      const BinItem<Word> item = items[i];
      to[offsets[item.bin + 1]++] = item.element;
    }
  }

  const HostTeam& team_;
  const ReduceByIndexParams& p_;
  const Index* const index_;
  const BinBuckets cut_;
  const int64_t tasks_;
  const int64_t tile_;
  int64_t* const offsets_;
  int64_t* const tables_;
  Word* const sorted_;
  BinItem<Word>* const items_;
};

}  // namespace

int64_t by_index_serial_workspace_bytes(const ReduceByIndexParams& p) noexcept {
  return 8 * (p.values() + 1) + (p.x == nullptr ? 0 : p.elements() * element_bytes(p.dtype));
}

// config.tile: elements per task.
void reduce_by_index_tables(const HostTeam& team, const ReduceByIndexParams& p, const Config& config, char* workspace) {
  auto* const tables = reinterpret_cast<uint64_t*>(workspace);
  FirstBad bad(p);
  team.parallel(config.grid, [&](int64_t task) {
    uint64_t* const table = tables + task * p.values();
    std::fill_n(table, p.values(), 0);
    for_index(p, [&]<class Index>() {
      fill_table<Index>(p, task * config.tile, std::min((task + 1) * config.tile, p.n), bad, table);
    });
  });
  if (bad.any()) return bad.report(GPUMEM_OK);
  auto* const result = static_cast<uint64_t*>(p.result);
  const bool extremes = p.x != nullptr && p.extremes();
  std::atomic<bool> empty{false};
  team.parallel(config.grid, [&](int64_t task) {
    const int64_t values = p.values();
    const int64_t first = values / config.grid * task;
    const int64_t last = task + 1 == config.grid ? values : first + values / config.grid;
    for (int64_t bin = first; bin < last; ++bin) {
      uint64_t value = tables[bin];
      for (int64_t t = 1; t < config.grid; ++t) {
        const uint64_t other = tables[t * values + bin];
        value = extremes ? std::max(value, other) : value + other;
      }
      if (extremes && value == 0) empty.store(true, std::memory_order_relaxed);
      result[bin] = extremes && value != 0 ? value_of_code(p.op, value) : value;
    }
  });
  bad.report(empty.load(std::memory_order_relaxed) ? GPUMEM_EMPTY : GPUMEM_OK);
}

void reduce_by_index_sorted(const HostTeam& team, const ReduceByIndexParams& p, const Config& config, char* workspace) {
  for_index(p, [&]<class Index>() {
    for_word(p.dtype, [&]<class Word>() { CountingSort<Index, Word>(team, p, config, workspace).run(); });
  });
}

// The definition only.
void reduce_by_index_serial(const HostTeam&, const ReduceByIndexParams& p, const Config&, char* workspace) {
  auto* const offsets = reinterpret_cast<int64_t*>(workspace);
  const int64_t values = p.values();
  char* const sorted = workspace + 8 * (values + 1);
  FirstBad bad(p);
  std::fill_n(offsets, values + 1, 0);
  for_index(
      p, [&]<class Index>() { for_values<Index>(p, 0, p.n, bad, [&](uint64_t at, int64_t) { ++offsets[at + 1]; }); });
  if (bad.any()) return bad.report(GPUMEM_OK);
  if (p.x == nullptr) {
    std::memcpy(p.result, offsets + 1, static_cast<size_t>(8 * p.bins));
    return bad.report(GPUMEM_OK);
  }
  for (int64_t at = 0; at < values; ++at) offsets[at + 1] += offsets[at];
  const int64_t bytes = element_bytes(p.dtype);
  for_index(p, [&]<class Index>() {
    for_values<Index>(p, 0, p.n, bad, [&](uint64_t at, int64_t i) {
      std::memcpy(sorted + offsets[at]++ * bytes, static_cast<const char*>(p.x) + i * bytes,
                  static_cast<size_t>(bytes));
    });
  });
  std::memmove(offsets + 1, offsets, static_cast<size_t>(8 * values));  // each is the end of its bin now
  offsets[0] = 0;
  const ReduceSegmentsParams segments{.dtype = p.dtype,
                                      .op = p.op,
                                      .x = sorted,
                                      .n = p.elements(),
                                      .offsets = offsets,
                                      .segments = values,
                                      .result = p.result};
  bad.report(reduce_bins(no_team(), segments, std::max<int64_t>(values, 1)));
}

}  // namespace gpumem::host
