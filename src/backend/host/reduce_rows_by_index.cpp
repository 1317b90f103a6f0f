// Reductions of rows by index on the host. A stable counting sort gives the numbers of each bin's rows. These rows are
// copied next to each other, up to a block of kLeafTerms at a time, and the loops for columns reduce them. All of the
// index is checked before a result is written.
// Moves: reads index twice and x once. Writes the number of each row once and reads it once. The copies stay in a
//        core's caches.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "backend/host/by_index.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/reduce.hpp"
#include "base/float_environment.hpp"
#include "kernels/order.hpp"

namespace gpumem::host {
namespace {

constexpr int64_t kLine = 64;                         // the alignment of scratch memory
constexpr int64_t kBufferBytes = int64_t{256} << 10;  // of rows next to each other
constexpr int64_t kSharedColumns = 64;                // with partial results of all pieces of a bin
constexpr int64_t kPiecesPerWorker = 4;

// The columns that a worker reduces together.
int64_t strip_columns(const ReduceByIndexParams& p, int64_t rows) noexcept {
  const int64_t row_bytes = std::min<int64_t>(rows, kLeafTerms) * element_bytes(p.dtype);
  return std::min({kBufferBytes / row_bytes, kStripColumns, p.cols});
}

// A worker's memory: the scratch memory of the loops, then rows, then the partial results of a strip. The last part has
// subtrees, for bins with several blocks.
struct Scratch {
  static constexpr int64_t kNodesAt = kColumnScratchBytes + kBufferBytes;
  static constexpr int64_t kLevelsAt = kNodesAt + kStripColumns * int64_t{sizeof(ReduceNode)};
  static int64_t bytes(const ReduceByIndexParams& p) noexcept {
    const auto levels = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(ceil_div(p.n, int64_t{kLeafTerms}))));
    const int64_t subtrees = strip_columns(p, kLeafTerms) * levels;
    return kLevelsAt + ceil_div(subtrees * int64_t{sizeof(ReduceNode)}, kLine) * kLine;
  }

  char* memory;
  char* rows() const noexcept { return memory + kColumnScratchBytes; }
  ReduceNode* nodes() const noexcept { return reinterpret_cast<ReduceNode*>(memory + kNodesAt); }
  ReduceNode* levels() const noexcept { return reinterpret_cast<ReduceNode*>(memory + kLevelsAt); }
};

int64_t shared_nodes(int64_t workers) noexcept { return workers > 1 ? kPiecesPerWorker * workers * kSharedColumns : 0; }

template <class Index>
class RowsByIndex {
 public:
  RowsByIndex(const HostTeam& team, const ReduceByIndexParams& p, const Config& config, char* workspace) noexcept
      : team_(team),
        p_(p),
        loop_(team.loops.lines(p.dtype, p.op)),
        kind_(node_kind(p.dtype, p.op)),
        bytes_(element_bytes(p.dtype)),
        tasks_(config.grid),
        tile_(config.tile),
        workers_(config.own.get<RowsWork>().workers),
        scratch_bytes_(Scratch::bytes(p)),
        large_(std::max(int64_t{1} << 18, p.elements() / 16) / p.cols),
        scratch_(workspace + -reinterpret_cast<uintptr_t>(workspace) % kLine),
        partial_(reinterpret_cast<ReduceNode*>(scratch_ + workers_ * scratch_bytes_)),
        ends_(reinterpret_cast<int64_t*>(partial_ + shared_nodes(workers_))),
        places_(ends_ + p.bins),
        order_(places_ + tasks_ * p.bins) {}

  void run() noexcept {
    FirstBad bad(p_);
    team_.parallel(tasks_, [&](int64_t task) { count(task, bad); });
    if (bad.any()) return bad.report(GPUMEM_OK);
    place_bins();
    team_.parallel(tasks_, [this](int64_t task) { move(task); });
    const int64_t together = std::max<int64_t>(1, p_.bins / (16 * workers_));
    team_.parallel(workers_, [&](int64_t worker) {
      const DefaultFloatEnvironment environment;
      for (int64_t first = 0; (first = next_.fetch_add(together, std::memory_order_relaxed)) < p_.bins;) {
        const int64_t last = std::min(first + together, p_.bins);
        for (int64_t bin = first; bin < last; ++bin) reduce_bin(bin, scratch(worker));
      }
    });
    for (int64_t bin = 0; workers_ > 1 && bin < p_.bins; ++bin) {
      if (is_large(rows_of(bin))) share_bin(bin);
    }
    bad.report(worst_.write_to(nullptr));
  }

 private:
  struct Rows {
    const int64_t* first;
    int64_t count;
  };
  struct Columns {
    int64_t first;
    int64_t count;
  };

  int64_t first(int64_t task) const noexcept { return std::min(task * tile_, p_.n); }
  Scratch scratch(int64_t worker) const noexcept { return {scratch_ + worker * scratch_bytes_}; }
  bool is_large(const Rows& rows) const noexcept { return workers_ > 1 && rows.count > large_; }
  char* result(int64_t bin, int64_t column) const noexcept { return result_at(p_, bin * p_.cols + column); }
  Rows rows_of(int64_t bin) const noexcept {
    const int64_t begin = bin > 0 ? ends_[bin - 1] : 0;
    return {order_ + begin, ends_[bin] - begin};
  }

  void count(int64_t task, FirstBad& bad) const noexcept {
    int64_t* const table = places_ + task * p_.bins;
    std::fill_n(table, p_.bins, 0);
    for_bins<Index>(p_, first(task), first(task + 1), bad, [table](uint64_t bin, int64_t) { ++table[bin]; });
  }

  // The counts become the first places of each task's rows.
  void place_bins() const noexcept {
    int64_t at = 0;
    for (int64_t bin = 0; bin < p_.bins; ++bin) {
      for (int64_t task = 0; task < tasks_; ++task) at += std::exchange(places_[task * p_.bins + bin], at);
      ends_[bin] = at;
    }
  }

  void move(int64_t task) const noexcept {
    const auto* const index = static_cast<const Index*>(p_.index);
    int64_t* const places = places_ + task * p_.bins;
    const int64_t last = first(task + 1);
    for (int64_t i = first(task); i < last; ++i) order_[places[index[i]]++] = i;
  }

  void reduce_bin(int64_t bin, const Scratch& scratch) noexcept {
    const Rows rows = rows_of(bin);
    if (is_large(rows)) return;
    if (rows.count == 0) {
      for (int64_t c = 0; c < p_.cols; ++c) worst_.add(write_empty(p_.dtype, p_.op, result(bin, c)));
      return;
    }
    const int64_t strip = strip_columns(p_, rows.count);
    for (int64_t c = 0; c < p_.cols; c += strip) {
      const Columns columns{c, std::min(strip, p_.cols - c)};
      if (rows.count <= kLeafTerms && loop_.segments != nullptr) {
        reduce_block(rows, columns, scratch, {.values = result(bin, c)});
      } else {
        reduce_blocks(rows, columns, scratch, scratch.nodes());
        worst_.add(write_values(p_.dtype, p_.op, scratch.nodes(), columns.count, result(bin, c)));
      }
    }
  }

  // A unit of work is a strip of columns, and a piece of the rows: an aligned run of 2^k blocks.
  void share_bin(int64_t bin) noexcept {
    const Rows rows = rows_of(bin);
    const int64_t strip = strip_columns(p_, kLeafTerms);
    const int64_t strips = ceil_div(p_.cols, strip);
    const int64_t wanted = std::max<int64_t>(1, shared_nodes(workers_) / std::max(p_.cols, kSharedColumns));
    const int64_t least = std::max<int64_t>(ceil_div(rows.count, wanted), kLeafTerms);
    const auto piece = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
    const int64_t pieces = ceil_div(rows.count, piece);
    std::atomic<int64_t> next{0};
    team_.parallel(workers_, [&](int64_t worker) {
      const DefaultFloatEnvironment environment;
      for (int64_t unit = 0; (unit = next.fetch_add(1, std::memory_order_relaxed)) < strips * pieces;) {
        const int64_t begin = unit / strips * piece;
        const int64_t c = unit % strips * strip;
        const Columns columns{c, std::min(strip, p_.cols - c)};
        const Scratch own = scratch(worker);
        ReduceNode* const nodes = pieces > 1 ? partial_ + unit / strips * p_.cols + c : own.nodes();
        reduce_blocks({rows.first + begin, std::min(piece, rows.count - begin)}, columns, own, nodes);
        if (pieces == 1) worst_.add(write_values(p_.dtype, p_.op, nodes, columns.count, result(bin, c)));
      }
    });
    if (pieces == 1) return;
    const DefaultFloatEnvironment environment;
    for (int64_t c = 0; c < p_.cols; ++c) {
      const ReduceNode node = fold_all(kind_, partial_ + c, p_.cols, pieces);
      worst_.add(write_value(p_.dtype, p_.op, node, result(bin, c)));
    }
  }

  void reduce_blocks(const Rows& rows, const Columns& columns, const Scratch& scratch, ReduceNode* to) const noexcept {
    if (rows.count <= kLeafTerms) return reduce_block(rows, columns, scratch, {.nodes = to});
    ReduceNode* const levels = scratch.levels();
    int64_t blocks = 0;
    for (int64_t at = 0; at < rows.count; at += kLeafTerms, ++blocks) {
      reduce_block({rows.first + at, std::min<int64_t>(kLeafTerms, rows.count - at)}, columns, scratch, {.nodes = to});
      for (int64_t c = 0; c < columns.count; ++c) push_node(kind_, levels + c, columns.count, blocks, to[c]);
    }
    for (int64_t c = 0; c < columns.count; ++c) to[c] = fold_nodes(kind_, levels + c, columns.count, blocks);
  }

  // Up to a block of rows, which are read where they are if they follow each other.
  void reduce_block(const Rows& rows, const Columns& columns, const Scratch& scratch,
                    const LineResults& to) const noexcept {
    const char* const x = static_cast<const char*>(p_.x) + columns.first * bytes_;
    const int64_t pitch = p_.ld * bytes_;
    const int64_t* const numbers = rows.first;
    if (numbers[rows.count - 1] - numbers[0] == rows.count - 1) {
      return loop_.columns(x + numbers[0] * pitch, pitch, rows.count, columns.count, scratch.memory, to);
    }
    constexpr int64_t kAhead = 16;
    const int64_t width = columns.count * bytes_;
    const int64_t last = order_ + p_.n - 1 - numbers;
    char* together = scratch.rows();
    for (int64_t r = 0; r < rows.count; ++r, together += width) {
      const char* const ahead = x + numbers[std::min(r + kAhead, last)] * pitch;
      for (int64_t byte = 0; byte < std::min<int64_t>(width, 256); byte += 64) __builtin_prefetch(ahead + byte);
      std::memcpy(together, x + numbers[r] * pitch, static_cast<size_t>(width));
    }
    loop_.columns(scratch.rows(), width, rows.count, columns.count, scratch.memory, to);
  }

  const HostTeam& team_;
  const ReduceByIndexParams& p_;
  const LineLoop loop_;
  const NodeKind kind_;
  const int64_t bytes_;
  const int64_t tasks_;
  const int64_t tile_;
  const int64_t workers_;
  const int64_t scratch_bytes_;
  const int64_t large_;  // rows of a bin that is worth several workers
  char* const scratch_;
  ReduceNode* const partial_;
  int64_t* const ends_;  // of the bins
  int64_t* const places_;
  int64_t* const order_;
  std::atomic<int64_t> next_{0};
  WorstStatus worst_;
};

}  // namespace

int64_t by_index_rows_workspace_bytes(const ReduceByIndexParams& p, int64_t tasks, int64_t workers) noexcept {
  const int64_t nodes = shared_nodes(workers) * int64_t{sizeof(ReduceNode)};
  return kLine + workers * Scratch::bytes(p) + nodes + 8 * (p.bins + tasks * p.bins + p.n);
}

void reduce_by_index_rows(const HostTeam& team, const ReduceByIndexParams& p, const Config& config, char* workspace) {
  for_index(p, [&]<class Index>() { RowsByIndex<Index>(team, p, config, workspace).run(); });
}

}  // namespace gpumem::host
