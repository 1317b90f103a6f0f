// Scans of many lines on the host. A task has lines that are next to each other, and takes a block of each at a time. If
// the elements of a line are not neighbours, the blocks are copied, so that each cache line is read and written once.
#include <atomic>

#include "backend/host/implementations.hpp"
#include "backend/host/scan.hpp"
#include "base/float_environment.hpp"

namespace gpumem::host {
namespace {

constexpr int64_t kTogether = kScanLinesTogether;
// Up to so many elements are folded one by one. AMD EPYC, f32, one thread: 333 ns for 32 elements, 783 for 64, 1,786 for
// 128. A whole block takes 850.
constexpr int64_t kShort = 64;

struct LinesScratch {
  alignas(64) char x[kTogether][8 * kLeafTerms];
  alignas(64) char results[kTogether][8 * kLeafTerms];
  double prefixes[kLeafTerms + 1];
  ReduceNode levels[kTogether][kTreeLevels];
};
static_assert(sizeof(LinesScratch) <= kScanLinesTaskBytes);

// Copies `count` elements of each of the lines, in the order of the memory. F: how one is copied.
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

// Prefixes of n <= kLeafLanes elements. A new element changes one sum of each step of the fold.
template <class T>
void fold_short(const ScanParams& p, const void* x, int64_t n, double* prefixes) noexcept {
  const bool product = p.op == GPUMEM_PROD;
  const auto combine = [product](double a, double b) { return product ? a * b : a + b; };
  const double neutral = product ? 1 : 0;
  const auto lanes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
  double sums[2 * kLeafLanes];  // those of the step with m sums begin at m
  std::fill_n(sums, 2 * lanes, neutral);
  prefixes[0] = neutral;
  for (int64_t i = 0; i < n; ++i) {
    sums[lanes + i] = combine(neutral, converted<double>(element_at<T>(x, i)));
    for (int64_t m = lanes / 2; m > 0; m /= 2) {
      const int64_t at = i % m;
      sums[m + at] = combine(sums[2 * m + at], sums[3 * m + at]);
    }
    prefixes[i + p.exclusive] = canonical(sums[1]);
  }
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
      for (int64_t begin = 0; begin < longest; begin += kLeafTerms) scan_blocks(begin);
    }
    return fits_ ? worst_ : std::max<gpumem_status>(worst_, GPUMEM_OVERFLOW);
  }

 private:
  // The next block of each line.
  void scan_blocks(int64_t begin) noexcept {
    const int64_t count = std::min<int64_t>(kLeafTerms, line_[0].n - begin);  // of lines with one length
    if (x_stride_ != 1) {
      for_each_element(x_bytes_, count_, count, [&]<int64_t kBytes>(int64_t l, int64_t i) {
        std::memcpy(own_.x[l] + i * kBytes, line_[l].x + (begin + i) * x_stride_ * kBytes, kBytes);
      });
    }
    for (int64_t l = 0; l < count_; ++l) {
      if (begin >= line_[l].n) continue;
      const char* x = x_stride_ != 1 ? own_.x[l] : line_[l].x + begin * x_bytes_;
      char* result = result_stride_ != 1 ? own_.results[l] : line_[l].result + begin * result_bytes_;
      scan_block_of(l, begin, x, result, std::min<int64_t>(kLeafTerms, line_[l].n - begin));
    }
    if (result_stride_ == 1) return;
    for_each_element(result_bytes_, count_, count, [&]<int64_t kBytes>(int64_t l, int64_t i) {
      std::memcpy(line_[l].result + (begin + i) * result_stride_ * kBytes, own_.results[l] + i * kBytes, kBytes);
    });
  }

  void scan_block_of(int64_t l, int64_t begin, const char* x, char* result, int64_t count) noexcept {
    if (!is_ordered(p_)) return scan_words_of(l, begin, x, result, count);
    if (line_[l].n <= kShort) {
      for_floating_type(p_.dtype,
                        [&]<gpumem_dtype kType>() { fold_short<ElementOf<kType>>(p_, x, count, own_.prefixes); });
    } else {
      const bool whole = count == kLeafTerms && aligned(x, x_bytes_);
      if (!whole && x != own_.x[l]) std::memcpy(own_.x[l], x, static_cast<size_t>(count * x_bytes_));
      if (!whole) pad_block(p_, own_.x[l], count);
      scan_block(team_, p_, own_.levels[l], begin / kLeafTerms, whole ? x : own_.x[l], own_.prefixes);
    }
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
