// Scans of many lines on the host. A task has lines that are next to each other. In sums and products of floating-point
// elements, lines that are short, or whose elements are not neighbours, are scanned together, like the columns of a matrix.
// Otherwise, a block of each line is scanned in turn. If the elements of a line are not neighbours, the blocks are copied.
#include <atomic>

#include "backend/host/implementations.hpp"
#include "backend/host/scan.hpp"
#include "base/float_environment.hpp"

namespace gpumem::host {
namespace {

constexpr int64_t kTogether = kScanLinesTogether;
static_assert(kTogether == kScanColumns);
// Up to so many elements, lines are scanned as columns, wherever their elements are. AMD EPYC, one thread, rows of f32: 2.8
// ns per element for 12 elements and 2.3 for 64. By blocks it takes 13.5 and 2.6, and for 100 elements 1.7 instead of 2.4.
constexpr int64_t kShort = 64;

struct LinesScratch {
  alignas(64) char x[kTogether][8 * kLeafTerms];
  alignas(64) char results[kTogether][8 * kLeafTerms];
  alignas(64) double sums[2 * kLeafLanes][kTogether];
  double before[kTreeLevels][kTogether];
  union {
    double prefixes[kLeafTerms + 1];
    double rows[kLeafLanes + 1][kTogether];  // prefixes of all lines. Row 0 is before the others
  };
  ReduceNode levels[kTogether][kTreeLevels];
};
static_assert(sizeof(LinesScratch) <= kScanLinesTaskBytes);

// Calls f with every line and every element of it, in the order of the memory.
template <class F>
void for_each_element(int64_t bytes, int64_t lines, int64_t count, const F& f) {
  const auto all = [&]<int64_t kBytes>() {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t l = 0; l < lines; ++l) f.template operator()<kBytes>(l, i);
    }
  };
  if (bytes == 4) return all.template operator()<4>();
  if (bytes == 8) return all.template operator()<8>();
  bytes == 2 ? all.template operator()<2>() : all.template operator()<1>();
}

class LinesTask {
 public:
  LinesTask(const HostTeam& team, const ScanParams& p, char* scratch) noexcept
      : team_(team),
        p_(p),
        x_bytes_(element_bytes(p.dtype)),
        result_bytes_(element_bytes(p.result_type)),
        x_stride_(x_stride(p)),
        result_stride_(result_stride(p)),
        own_(*reinterpret_cast<LinesScratch*>(scratch)) {}

  gpumem_status scan(int64_t first, int64_t last) noexcept {
    for (int64_t at = first; at < last; at += kTogether) {
      count_ = std::min(kTogether, last - at);
      int64_t longest = 0;
      for (int64_t l = 0; l < count_; ++l) {
        line_[l] = line_of(p_, at + l);
        if (!line_[l].sound) worst_ = GPUMEM_OUT_OF_RANGE;
        longest = std::max(longest, line_[l].n);
      }
      // Columns that are missing would cost as much as others: one line 32 ns per element instead of 2.7.
      if (is_ordered(p_) && count_ == kTogether && (longest <= kShort || x_stride_ != 1)) {
        scan_columns(longest);
        continue;
      }
      for (int64_t begin = 0; begin < longest; begin += kLeafTerms) scan_blocks(begin);
    }
    return fits_ ? worst_ : std::max<gpumem_status>(worst_, GPUMEM_OVERFLOW);
  }

 private:
  // The next block of each line.
  void scan_blocks(int64_t begin) noexcept {
    const int64_t count = std::min<int64_t>(kLeafTerms, line_[0].n - begin);  // of lines with one length
    if (x_stride_ != 1) read(begin, count, own_.x[0], kOfBlocks);
    for (int64_t l = 0; l < count_; ++l) {
      if (begin >= line_[l].n) continue;
      const char* x = x_stride_ != 1 ? own_.x[l] : line_[l].x + begin * x_bytes_;
      char* result = result_stride_ != 1 ? own_.results[l] : line_[l].result + begin * result_bytes_;
      scan_block_of(l, begin, x, result, std::min<int64_t>(kLeafTerms, line_[l].n - begin));
    }
    if (result_stride_ != 1) write(begin, count, own_.results[0], kOfBlocks);
  }

  // Some rows at a time, so that they stay in the first cache.
  void scan_columns(int64_t longest) noexcept {
    ScanColumns c{
        .dtype = p_.dtype,
        .product = p_.op == GPUMEM_PROD,
        .x = nullptr,
        .pitch = 0,
        .rows = 0,
        .lanes = std::min<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(longest))), kLeafLanes),
        .before = own_.before[0],
        .count = 0,
        .sums = own_.sums[0],
        .prefixes = own_.rows[1]};
    const double neutral = c.product ? 1 : 0;
    std::fill_n(own_.rows[0], kTogether, neutral);
    for (int64_t begin = 0; begin < longest; begin += c.rows) {
      if (begin % kLeafTerms == 0) {
        std::fill_n(own_.sums[0], 2 * c.lanes * kTogether, neutral);
        c.count = take_levels(begin / kLeafTerms);
      }
      c.rows = std::min(c.lanes, longest - begin);
      read_rows(begin, c);
      team_.loops.scan_columns(c);
      write_rows(begin, c.rows);
      std::memcpy(own_.rows[0], own_.rows[c.rows], sizeof own_.rows[0]);
      if ((begin + c.rows) % kLeafTerms == 0) push_sums(begin / kLeafTerms);
    }
  }
  // The subtrees before block q.
  int32_t take_levels(int64_t q) noexcept {
    int32_t count = 0;
    for (auto left = static_cast<uint64_t>(q); left != 0; left &= left - 1, ++count) {
      for (int64_t l = 0; l < kTogether; ++l) {
        own_.before[count][l] = std::bit_cast<double>(own_.levels[l][std::countr_zero(left)].word[0]);
      }
    }
    return count;
  }
  void push_sums(int64_t q) noexcept {
    for (int64_t l = 0; l < kTogether; ++l) {
      push_node(node_kind(p_.dtype, p_.op), own_.levels[l], 1, q, {{std::bit_cast<uint64_t>(own_.sums[1][l])}});
    }
  }
  void read_rows(int64_t begin, ScanColumns& c) noexcept {
    c.x = line_[0].x + begin * x_stride_ * x_bytes_;
    c.pitch = x_stride_ * x_bytes_;
    if (distance(&Line::x, x_bytes_) == 1 && aligned(c.x, x_bytes_)) return;
    c.x = own_.x[0];
    c.pitch = kTogether * x_bytes_;
    std::memset(own_.x[0], 0, static_cast<size_t>(c.rows * c.pitch));
    read(begin, c.rows, own_.x[0], kOfRows);
  }
  void write_rows(int64_t begin, int64_t count) noexcept {
    char* const values = own_.results[0];
    store_prefixes(team_, p_, own_.rows[p_.exclusive != 0 ? 0 : 1], values, count * kTogether);
    if (distance(&Line::result, result_bytes_) != 1) return write(begin, count, values, kOfRows);
    char* const to = line_[0].result + begin * result_stride_ * result_bytes_;
    for_each_element(result_bytes_, 1, count, [=, stride = result_stride_]<int64_t kBytes>(int64_t, int64_t i) {
      std::memcpy(to + i * stride * kBytes, values + i * kTogether * kBytes, kTogether * kBytes);
    });
  }

  // Elements from each line to the next one. One line gives 1. 0 if the distances or the lengths differ, or lines do not
  // follow each other.
  template <class Byte>
  int64_t distance(Byte* Line::*start, int64_t bytes) const noexcept {
    const int64_t step = count_ == 1 ? bytes : line_[1].*start - line_[0].*start;
    for (int64_t l = 1; l < count_; ++l) {
      if (line_[l].n != line_[0].n || line_[l].*start - line_[0].*start != l * step) return 0;
    }
    return step > 0 && step % bytes == 0 ? step / bytes : 0;
  }

  // How scratch memory holds some elements of each line: a block of each line, or rows with an element of each line.
  enum Layout { kOfBlocks, kOfRows };
  static int64_t ld(Layout layout, int64_t bytes) noexcept {
    return layout == kOfRows ? kTogether : int64_t{sizeof own_.x[0]} / bytes;
  }
  static int64_t place(Layout layout, int64_t bytes, int64_t l, int64_t i) noexcept {
    return (layout == kOfRows ? i * ld(layout, bytes) + l : l * ld(layout, bytes) + i) * bytes;
  }
  void read(int64_t begin, int64_t count, char* to, Layout layout) const noexcept {
    const int64_t at = begin * x_stride_ * x_bytes_, step = distance(&Line::x, x_bytes_);
    if (layout == kOfBlocks && step == 1) {
      return transpose(x_bytes_, line_[0].x + at, x_stride_, to, ld(layout, x_bytes_), count, count_);
    }
    if (layout == kOfRows && step > 0 && x_stride_ == 1) {
      return transpose(x_bytes_, line_[0].x + at, step, to, ld(layout, x_bytes_), count_, count);
    }
    for_each_element(x_bytes_, count_, count, [&]<int64_t kBytes>(int64_t l, int64_t i) {
      if (begin + i >= line_[l].n) return;
      std::memcpy(to + place(layout, kBytes, l, i), line_[l].x + at + i * x_stride_ * kBytes, kBytes);
    });
  }
  void write(int64_t begin, int64_t count, const char* from, Layout layout) const noexcept {
    const int64_t at = begin * result_stride_ * result_bytes_, step = distance(&Line::result, result_bytes_);
    if (layout == kOfBlocks && step == 1) {
      return transpose(result_bytes_, from, ld(layout, result_bytes_), line_[0].result + at, result_stride_, count_,
                       count);
    }
    if (layout == kOfRows && step > 0 && result_stride_ == 1) {
      return transpose(result_bytes_, from, ld(layout, result_bytes_), line_[0].result + at, step, count, count_);
    }
    for_each_element(result_bytes_, count_, count, [&]<int64_t kBytes>(int64_t l, int64_t i) {
      if (begin + i >= line_[l].n) return;
      std::memcpy(line_[l].result + at + i * result_stride_ * kBytes, from + place(layout, kBytes, l, i), kBytes);
    });
  }
  void transpose(int64_t bytes, const char* src, int64_t src_ld, char* dst, int64_t dst_ld, int64_t rows,
                 int64_t cols) const noexcept {
    team_.loops.moves.transpose[std::countr_zero(static_cast<uint64_t>(bytes))](
        {.src = src, .src_ld = src_ld, .dst = dst, .dst_ld = dst_ld, .last_row = rows, .last_col = cols});
  }

  void scan_block_of(int64_t l, int64_t begin, const char* x, char* result, int64_t count) noexcept {
    if (!is_ordered(p_)) return scan_words_of(l, begin, x, result, count);
    const bool whole = count % kLeafLanes == 0 && aligned(x, x_bytes_);
    if (!whole && x != own_.x[l]) std::memcpy(own_.x[l], x, static_cast<size_t>(count * x_bytes_));
    if (!whole) pad_block(p_, own_.x[l], count);
    scan_block(team_, p_, own_.levels[l], begin / kLeafTerms, whole ? x : own_.x[l], rows_of(count), own_.prefixes);
    store_prefixes(team_, p_, own_.prefixes, result, count);
  }

  void scan_words_of(int64_t l, int64_t begin, const char* x, char* result, int64_t count) noexcept {
    ScanParams part = p_;
    part.x = x;
    part.result = result;
    part.n = begin + count < line_[l].n ? count + 1 : count;  // only the last element has no value in an exclusive scan
    for_words(part, [&](const auto& scan) {
      using Word = typename std::remove_cvref_t<decltype(scan)>::Word;
      const Word before = begin == 0 ? scan.identity() : static_cast<Word>(word_[l]);
      word_[l] = scan_words(scan, part, 0, count, before, fits_);
    });
  }

  const HostTeam& team_;
  const ScanParams& p_;
  const int64_t x_bytes_;
  const int64_t result_bytes_;
  const int64_t x_stride_;
  const int64_t result_stride_;
  LinesScratch& own_;
  int64_t count_ = 0;  // of lines at a time
  Line line_[kTogether];
  uint64_t word_[kTogether] = {};
  bool fits_ = true;
  gpumem_status worst_ = GPUMEM_OK;
};

}  // namespace

void scan_lines(const HostTeam& team, const ScanParams& p, const Config& config, char* workspace) {
  std::atomic<gpumem_status> worst{GPUMEM_OK};
  team.parallel(config.grid, [&](int64_t task) {
    const DefaultFloatEnvironment of_thread;
    LinesTask own(team, p, workspace + task * kScanLinesTaskBytes);
    const int64_t end = std::min((task + 1) * config.tile, p.line_count());
    const gpumem_status found = own.scan(task * config.tile, end);
    for (gpumem_status seen = worst; seen < found && !worst.compare_exchange_weak(seen, found);) {
    }
  });
  if (p.status != nullptr) *p.status = worst;
}

}  // namespace gpumem::host
