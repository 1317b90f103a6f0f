// Sorts on the host: a radix sort of bytes, the lowest first. The first pass reads keys, and the last one writes the
// outputs. Passes between them move items of a key and its position between two arrays. Bytes that are the same in all
// keys take no pass. Segments are sorted by one task each, and long ones by all tasks together. In short segments, the
// place of a key is the number of keys that are before it.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "base/checked.hpp"

namespace gpumem::host {
namespace {

constexpr int kDigits = 256;

struct NoPosition {};

// Packed: a key of 8 bytes and a position of 4 take 12.
template <class Word, class Position>
struct [[gnu::packed]] Item {
  Word key;
  Position position;
};
template <class Word>
struct Item<Word, NoPosition> {
  Word key;
};

// Keys and sorted may have any alignment.
template <class Word>
Word key_at(const void* keys, int64_t i) noexcept {
  Word key;
  std::memcpy(&key, static_cast<const char*>(keys) + i * static_cast<int64_t>(sizeof key), sizeof key);
  return key;
}
template <class Word>
void store_key(void* sorted, int64_t i, Word key) noexcept {
  std::memcpy(static_cast<char*>(sorted) + i * static_cast<int64_t>(sizeof key), &key, sizeof key);
}
void store_position(const SortParams& p, int64_t i, uint64_t position) noexcept {
  if (element_bytes(p.order_type) == 4) {
    static_cast<uint32_t*>(p.order)[i] = static_cast<uint32_t>(position);
  } else {
    static_cast<uint64_t*>(p.order)[i] = position;
  }
}

bool in_place(const SortParams& p) noexcept { return p.keys == p.sorted; }
int64_t item_bytes(const SortParams& p) noexcept {
  return element_bytes(p.dtype) + (p.order == nullptr ? 0 : positions_are_wide(p) ? 8 : 4);
}
int64_t table_bytes(const SortParams& p) noexcept { return int64_t{element_bytes(p.dtype)} * kDigits * 8; }

template <class Word, class Position>
class RadixSort {
 public:
  // first_position: of keys[0].
  RadixSort(const HostTeam& team, const SortParams& p, int64_t tasks, char* tables, char* items,
            int64_t first_position = 0) noexcept
      : team_(team),
        p_(p),
        rank_(rank_of_keys<Word>(p.dtype, p.descending != 0)),
        tasks_(tasks),
        tile_(ceil_div(p.n, tasks)),
        first_position_(first_position),
        tables_(reinterpret_cast<Table*>(tables)),
        items_(reinterpret_cast<One*>(items)) {}

  void run() const noexcept {
    team_.parallel(tasks_, [this](int64_t task) { count_keys(task); });
    int passes[kBytes];
    const int count = passes_of(passes);
    // Sorted in place in a single pass, keys go through an array of items too.
    const bool copies = count == 1 && in_place(p_);
    for (int k = 0; k < count; ++k) pass(k, passes[k], k + 1 == count && !copies);
    if (count == 0) return move_all(keys());
    if (copies) move_all(Items{items_});
  }

 private:
  using One = Item<Word, Position>;
  static constexpr int kBytes = sizeof(Word);
  using Table = int64_t[kBytes][kDigits];

  int64_t first(int64_t task) const noexcept { return std::min(task * tile_, p_.n); }

  // The loops work on copies of what they read, because their stores may alias anything else.
  struct Keys {
    const void* keys;
    int64_t first_position;
    One operator()(int64_t i) const noexcept {
      One item;
      item.key = key_at<Word>(keys, i);
      if constexpr (!std::is_same_v<Position, NoPosition>) item.position = static_cast<Position>(first_position + i);
      return item;
    }
  };
  Keys keys() const noexcept { return {p_.keys, first_position_}; }
  struct Items {
    const One* items;
    One operator()(int64_t i) const noexcept { return items[i]; }
  };
  struct ToItems {
    One* items;
    void operator()(int64_t i, const One& item) const noexcept { items[i] = item; }
  };
  template <class Number>
  struct ToOutputs {
    void* sorted;
    Number* order;
    void operator()(int64_t i, const One& item) const noexcept {
      if (sorted != nullptr) store_key<Word>(sorted, i, item.key);
      if constexpr (!std::is_same_v<Position, NoPosition>) order[i] = static_cast<Number>(item.position);
    }
  };
  // Calls f with a function that stores an item to the outputs.
  template <class F>
  void with_outputs(const F& f) const noexcept {
    if (p_.order != nullptr && element_bytes(p_.order_type) == 8) {
      f(ToOutputs<uint64_t>{p_.sorted, static_cast<uint64_t*>(p_.order)});
    } else {
      f(ToOutputs<uint32_t>{p_.sorted, static_cast<uint32_t*>(p_.order)});
    }
  }
  template <class Load>
  void move_all(const Load& load) const noexcept {
    with_outputs([&](auto store) {
      team_.parallel(tasks_, [&](int64_t task) {
        for (int64_t i = first(task); i < first(task + 1); ++i) store(i, load(i));
      });
    });
  }

  void count_keys(int64_t task) const noexcept {
    Table& table = tables_[task];
    std::memset(&table, 0, sizeof table);
    const RankOf<Word> rank_of = rank_;
    const int64_t last = first(task + 1);
    for (int64_t i = first(task); i < last; ++i) {
      const Word rank = rank_of(key_at<Word>(p_.keys, i));
      for (int byte = 0; byte < kBytes; ++byte) ++table[byte][rank >> (8 * byte) & 0xff];
    }
  }

  // The bytes in which keys differ.
  int passes_of(int (&passes)[kBytes]) const noexcept {
    int count = 0;
    const Word of_first = rank_(key_at<Word>(p_.keys, 0));
    for (int byte = 0; byte < kBytes; ++byte) {
      int64_t same = 0;
      for (int64_t task = 0; task < tasks_; ++task) same += tables_[task][byte][of_first >> (8 * byte) & 0xff];
      if (same != p_.n) passes[count++] = byte;
    }
    return count;
  }

  // The tables' counts become the first places of each task's elements.
  void place(int byte) const noexcept {
    int64_t at = 0;
    for (int d = 0; d < kDigits; ++d) {
      for (int64_t task = 0; task < tasks_; ++task) at += std::exchange(tables_[task][byte][d], at);
    }
  }

  void pass(int k, int byte, bool last) const noexcept {
    const Items from{items_ + (k % 2 == 0 ? p_.n : 0)};
    const ToItems to{items_ + (k % 2 == 0 ? 0 : p_.n)};
    // With one task, the counts of all keys hold in each pass.
    if (k > 0 && tasks_ > 1) team_.parallel(tasks_, [&](int64_t task) { count_items(task, byte, from); });
    place(byte);
    if (last) return with_outputs([&](auto outputs) { scatter_from(k, byte, from, outputs); });
    scatter_from(k, byte, from, to);
  }
  template <class Store>
  void scatter_from(int k, int byte, const Items& from, const Store& store) const noexcept {
    k == 0 ? scatter(byte, keys(), store) : scatter(byte, from, store);
  }

  void count_items(int64_t task, int byte, const Items& from) const noexcept {
    int64_t counts[kDigits] = {};
    const RankOf<Word> rank = rank_;
    const int64_t last = first(task + 1);
    for (int64_t i = first(task); i < last; ++i) ++counts[rank(from(i).key) >> (8 * byte) & 0xff];
    std::memcpy(tables_[task][byte], counts, sizeof counts);
  }

  template <class Load, class Store>
  void scatter(int byte, const Load& load_item, const Store& store_item) const noexcept {
    team_.parallel(tasks_, [&, this](int64_t task) {
      const Load load = load_item;
      const Store store = store_item;
      const RankOf<Word> rank = rank_;
      int64_t places[kDigits];
      std::memcpy(places, tables_[task][byte], sizeof places);
      const int64_t last = first(task + 1);
      for (int64_t i = first(task); i < last; ++i) {
        const One item = load(i);
        store(places[rank(item.key) >> (8 * byte) & 0xff]++, item);
      }
    });
  }

  const HostTeam& team_;
  const SortParams& p_;
  const RankOf<Word> rank_;
  const int64_t tasks_;
  const int64_t tile_;
  const int64_t first_position_;
  Table* const tables_;
  One* const items_;
};

// f(a Word, a position)
template <class F>
void for_types(const SortParams& p, const F& f) {
  for_word(p.dtype, [&]<class Word>() {
    if (p.order == nullptr) return f.template operator()<Word, NoPosition>();
    if (!positions_are_wide(p)) return f.template operator()<Word, uint32_t>();
    f.template operator()<Word, uint64_t>();
  });
}

int64_t item_arrays(const SortParams& p) noexcept {
  return std::clamp(element_bytes(p.dtype) - 1, in_place(p) ? 1 : 0, 2);
}

// The keys from `first` on, with their outputs.
SortParams part_of(const SortParams& p, int64_t first, int64_t n) noexcept {
  SortParams part = p;
  part.keys = static_cast<const char*>(p.keys) + first * element_bytes(p.dtype);
  part.n = n;
  if (p.sorted != nullptr) part.sorted = static_cast<char*>(p.sorted) + first * element_bytes(p.dtype);
  if (p.order != nullptr) part.order = static_cast<char*>(p.order) + first * element_bytes(p.order_type);
  return part;
}

// From then on a radix sort is faster, because of its tables.
template <class Word>
constexpr int64_t kFewKeys = sizeof(Word) == 4 ? 128 : 64;
constexpr int64_t kVectorBytes = 16;  // gcc compares wider vectors one element at a time

// The number of keys that are before each one, by signed ranks. There are kLanes more ranks, of any value.
template <class Lane>
void count_before(const Lane* ranks, int64_t count, Lane* places) noexcept {
  constexpr int64_t kLanes = kVectorBytes / sizeof(Lane);
  typedef Lane Lanes
      __attribute__((vector_size(kVectorBytes)));  // NOLINT(modernize-use-using): gcc drops it from a using
  Lanes lane;
  for (int64_t l = 0; l < kLanes; ++l) lane[l] = static_cast<Lane>(l);
  for (int64_t first = 0; first < count; first += kLanes) {
    Lanes own;
    std::memcpy(&own, ranks + first, sizeof own);
    Lanes before{};  // a comparison that is true is -1
    const int64_t last = std::min(first + kLanes, count);
    for (int64_t j = 0; j < first; ++j) before -= ranks[j] <= own;
    for (int64_t j = first; j < last; ++j) {
      before -= (ranks[j] < own) | ((ranks[j] == own) & (static_cast<Lane>(j - first) < lane));
    }
    for (int64_t j = last; j < count; ++j) before -= ranks[j] < own;
    std::memcpy(places + first, &before, sizeof before);
  }
}

template <class Word, class Position>
class SegmentsSort {
 public:
  SegmentsSort(const HostTeam& team, const SortParams& p, const Config& config, char* workspace) noexcept
      : team_(team),
        p_(p),
        rank_(rank_of_keys<Word>(p.dtype, p.descending != 0)),
        tasks_(config.grid),
        tile_(config.tile),
        tables_(workspace),
        items_(workspace + tasks_ * table_bytes(p)) {}

  void run() const noexcept {
    std::atomic<int64_t> many{0};
    team_.parallel(tasks_, [&](int64_t task) {
      const int64_t left = sort_task(task);
      if (left > 0) many.fetch_add(left, std::memory_order_relaxed);
    });
    if (many.load(std::memory_order_relaxed) == 0) return;
    for (int64_t s = 0; s < p_.segments; ++s) {
      if (is_long(length(s))) sort_keys(s, std::min(length(s) / kSortTaskKeys, tasks_), tables_, items_);
    }
  }

 private:
  using Lane = std::conditional_t<sizeof(Word) == 8, int64_t, int32_t>;

  int64_t length(int64_t s) const noexcept { return p_.offsets[s + 1] - p_.offsets[s]; }
  // A shorter segment fits the task's part of the workspace.
  bool is_long(int64_t length) const noexcept { return tasks_ > 1 && length > kSortTaskKeys; }

  // The segments that begin in the task's part of the keys. Returns the number of those that are left.
  int64_t sort_task(int64_t task) const noexcept {
    const int64_t* const end = p_.offsets + p_.segments;
    const int64_t first = std::lower_bound(p_.offsets, end, task * tile_) - p_.offsets;
    char* const tables = tables_ + task * table_bytes(p_);
    char* const items = items_ + task * (p_.n / tasks_) * item_arrays(p_) * item_bytes(p_);
    int64_t left = 0;
    for (int64_t s = first; s < p_.segments && p_.offsets[s] < (task + 1) * tile_; ++s) {
      if (is_long(length(s))) {
        ++left;
      } else if (length(s) > kFewKeys<Word>) {
        sort_keys(s, 1, tables, items);
      } else {
        sort_few(s);
      }
    }
    return left;
  }

  void sort_keys(int64_t s, int64_t tasks, char* tables, char* items) const noexcept {
    const int64_t first = p_.offsets[s];
    const SortParams part = part_of(p_, first, length(s));
    RadixSort<Word, Position>(team_, part, tasks, tables, items, first).run();
  }

  void sort_few(int64_t s) const noexcept {
    // Lanes are signed, and ranks are not.
    constexpr Word kTop = sizeof(Word) < sizeof(Lane) ? 0 : static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    constexpr int64_t kPadding = kVectorBytes / sizeof(Lane);
    constexpr int64_t kMost = kFewKeys<Word>;
    const int64_t first = p_.offsets[s];
    const int64_t count = length(s);
    Word keys[kMost];
    Lane ranks[kMost + kPadding];
    Lane places[kMost + kPadding];
    for (int64_t i = 0; i < count; ++i) {
      keys[i] = key_at<Word>(p_.keys, first + i);
      ranks[i] = static_cast<Lane>(rank_(keys[i]) ^ kTop);
    }
    std::fill_n(ranks + count, kPadding, Lane{0});
    count_before(ranks, count, places);
    if (p_.sorted != nullptr) {
      for (int64_t i = 0; i < count; ++i) store_key(p_.sorted, first + places[i], keys[i]);
    }
    if (p_.order == nullptr) return;
    for (int64_t i = 0; i < count; ++i) store_position(p_, first + places[i], static_cast<uint64_t>(first + i));
  }

  const HostTeam& team_;
  const SortParams& p_;
  const RankOf<Word> rank_;
  const int64_t tasks_;
  const int64_t tile_;
  char* const tables_;
  char* const items_;
};

bool offsets_are_in_order(const HostTeam& team, const SortParams& p, int64_t tasks) noexcept {
  std::atomic<bool> bad{p.offsets[0] < 0 || p.offsets[p.segments] > p.n};
  team.parallel(tasks, [&](int64_t task) {
    const int64_t share = ceil_div(p.segments, tasks);
    const int64_t first = std::min(task * share, p.segments);
    if (!std::is_sorted(p.offsets + first, p.offsets + std::min(first + share, p.segments) + 1)) {
      bad.store(true, std::memory_order_relaxed);
    }
  });
  const gpumem_status status = bad.load(std::memory_order_relaxed) ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK;
  if (p.status != nullptr) *p.status = status;
  return status == GPUMEM_OK;
}

// By comparisons.
void sort_one(const SortParams& p, int64_t first_position, char* workspace) {
  auto* const positions = reinterpret_cast<uint64_t*>(workspace);
  char* const keys = workspace + p.n * 8;
  std::memcpy(keys, p.keys, static_cast<size_t>(p.n * element_bytes(p.dtype)));
  std::iota(positions, positions + p.n, uint64_t{0});
  for_word(p.dtype, [&]<class Word>() {
    const auto key = [&](uint64_t at) { return key_at<Word>(keys, static_cast<int64_t>(at)); };
    const RankOf<Word> rank = rank_of_keys<Word>(p.dtype, p.descending != 0);
    std::stable_sort(positions, positions + p.n, [&](uint64_t a, uint64_t b) { return rank(key(a)) < rank(key(b)); });
    for (int64_t i = 0; i < p.n; ++i) {
      if (p.sorted != nullptr) store_key(p.sorted, i, key(positions[i]));
      if (p.order != nullptr) store_position(p, i, static_cast<uint64_t>(first_position) + positions[i]);
    }
  });
}

}  // namespace

int64_t sort_workspace_bytes(const SortParams& p, int64_t tasks) noexcept {
  return tasks * table_bytes(p) + item_arrays(p) * p.n * item_bytes(p);
}
// A copy of the keys, and positions.
int64_t sort_serial_workspace_bytes(const SortParams& p) noexcept { return p.n * (element_bytes(p.dtype) + 8); }

void sort_parallel(const HostTeam& team, const SortParams& p, const Config& config, char* workspace) {
  for_types(p, [&]<class Word, class Position>() {
    char* const items = workspace + config.grid * table_bytes(p);
    RadixSort<Word, Position>(team, p, config.grid, workspace, items).run();
  });
}

void sort_segments(const HostTeam& team, const SortParams& p, const Config& config, char* workspace) {
  if (!offsets_are_in_order(team, p, config.grid)) return;
  for_types(p, [&]<class Word, class Position>() { SegmentsSort<Word, Position>(team, p, config, workspace).run(); });
}

// The definition only.
void sort_serial(const HostTeam& team, const SortParams& p, const Config&, char* workspace) {
  if (!p.in_segments()) return sort_one(p, 0, workspace);
  if (!offsets_are_in_order(team, p, 1)) return;
  for (int64_t s = 0; s < p.segments; ++s) {
    const int64_t first = p.offsets[s];
    sort_one(part_of(p, first, p.offsets[s + 1] - first), first, workspace);
  }
}

}  // namespace gpumem::host
