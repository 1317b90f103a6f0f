// Sorts on the host: a radix sort of bytes, the lowest first. The first pass reads keys, and the last one writes the
// outputs. Passes between them move items of a key and its position between two arrays. Bytes that are the same in all
// keys take no pass.
#include <algorithm>
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
  return element_bytes(p.dtype) + (p.order != nullptr ? position_bytes(p) : 0);
}
int64_t table_bytes(const SortParams& p) noexcept { return int64_t{element_bytes(p.dtype)} * kDigits * 8; }

template <class Word, class Position>
class RadixSort {
 public:
  RadixSort(const HostTeam& team, const SortParams& p, const Config& config, char* workspace) noexcept
      : team_(team),
        p_(p),
        rank_(rank_of_keys<Word>(p.dtype, p.descending != 0)),
        tasks_(config.grid),
        tile_(config.tile),
        tables_(reinterpret_cast<Table*>(workspace)),
        items_(reinterpret_cast<One*>(workspace + tasks_ * table_bytes(p))) {}

  void run() const noexcept {
    team_.parallel(tasks_, [this](int64_t task) { count_keys(task); });
    int passes[kBytes];
    const int count = passes_of(passes);
    // Sorted in place in a single pass, keys go through an array of items too.
    const bool copies = count == 1 && in_place(p_);
    for (int k = 0; k < count; ++k) pass(k, passes[k], k + 1 == count && !copies);
    if (count == 0) return move_all(Keys{p_.keys});
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
    One operator()(int64_t i) const noexcept {
      One item;
      item.key = key_at<Word>(keys, i);
      if constexpr (!std::is_same_v<Position, NoPosition>) item.position = static_cast<Position>(i);
      return item;
    }
  };
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
    k == 0 ? scatter(byte, Keys{p_.keys}, store) : scatter(byte, from, store);
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
  Table* const tables_;
  One* const items_;
};

}  // namespace

int64_t sort_workspace_bytes(const SortParams& p, int64_t tasks) noexcept {
  const int64_t arrays = std::clamp(element_bytes(p.dtype) - 1, in_place(p) ? 1 : 0, 2);
  return tasks * table_bytes(p) + arrays * p.n * item_bytes(p);
}
// A copy of the keys, and positions.
int64_t sort_serial_workspace_bytes(const SortParams& p) noexcept { return p.n * (element_bytes(p.dtype) + 8); }

void sort_parallel(const HostTeam& team, const SortParams& p, const Config& config, char* workspace) {
  for_word(p.dtype, [&]<class Word>() {
    if (p.order == nullptr) return RadixSort<Word, NoPosition>(team, p, config, workspace).run();
    if (position_bytes(p) == 4) return RadixSort<Word, uint32_t>(team, p, config, workspace).run();
    RadixSort<Word, uint64_t>(team, p, config, workspace).run();
  });
}

// The definition only.
void sort_serial(const HostTeam&, const SortParams& p, const Config&, char* workspace) {
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
      if (p.order != nullptr) store_position(p, i, positions[i]);
    }
  });
}

}  // namespace gpumem::host
