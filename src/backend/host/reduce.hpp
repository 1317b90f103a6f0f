// Reductions as jobs. Construction reserves all memory and may throw; run(), called once, does not throw.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/parallel.hpp"
#include "backend/host/sequence.hpp"

namespace gpumem {

class VectorReduction {
 public:
  VectorReduction(const HostTeam& team, HostWay way, const ReduceParams& params, const Config& config);
  ReduceNode run() noexcept;
  void finish() noexcept;

 private:
  const HostTeam& team_;
  ReduceParams params_;
  Config config_;
  Sequence sequence_;
  std::vector<ReduceNode> partial_;  // per task, if there is more than one task
};

// The worst of many statuses, from many threads: a higher code is worse.
class WorstStatus {
 public:
  void add(gpumem_status status) noexcept {
    gpumem_status seen = worst_.load(std::memory_order_relaxed);
    while (status > seen && !worst_.compare_exchange_weak(seen, status, std::memory_order_relaxed)) {
    }
  }
  // To memory of any alignment, or nullptr.
  gpumem_status write_to(gpumem_status* target) const noexcept;

 private:
  std::atomic<gpumem_status> worst_{GPUMEM_OK};
};

template <class Params>
char* result_at(const Params& params, int64_t line) noexcept {
  return static_cast<char*>(params.result) + line * value_words(params.op) * static_cast<int64_t>(sizeof(uint64_t));
}

// Every row or column of matrices. A unit of work is a group of neighbouring lines, or a piece of their length if there
// are fewer groups than threads.
class AxisReduction {
 public:
  AxisReduction(const HostTeam& team, HostWay way, const ReduceAxisParams& params, const Config& config);
  gpumem_status run() noexcept;

 private:
  struct alignas(64) CacheLine {
    char bytes[64];
  };
  struct Unit {
    int64_t matrix;  // for columns only
    int64_t first_line;
    int64_t last_line;
    int64_t piece;
    int64_t first;
    int64_t last;
  };

  void cut_length() noexcept;
  void size_scratch() noexcept;
  Unit unit(int64_t index) const noexcept;
  void reduce(const Unit& unit, char* scratch) noexcept;
  void reduce_row(int64_t row, const Unit& unit) noexcept;
  void reduce_short_rows(const Unit& unit) noexcept;
  void reduce_strip(int64_t first_column, int64_t columns, const Unit& unit, char* scratch) noexcept;
  gpumem_status write(int64_t first_line, int64_t count, const ReduceNode* nodes) const noexcept;
  void put(int64_t first_line, int64_t count, int64_t piece, const ReduceNode* nodes) noexcept;
  LineResults results(int64_t line, ReduceNode* nodes) const noexcept;
  void fold_pieces() noexcept;
  const char* row_at(int64_t row) const noexcept;

  const HostTeam& team_;
  ReduceAxisParams params_;
  NodeKind kind_;
  LineLoop loop_;
  int64_t bytes_;  // per element
  int32_t threads_;
  bool rows_;
  int64_t lines_;  // of all matrices
  int64_t length_;
  int64_t width_;  // lines per group
  int64_t groups_of_matrix_;
  int64_t groups_;
  int64_t piece_;
  int64_t pieces_ = 1;
  bool direct_ = false;  // the loops write the values themselves
  int64_t strip_ = 0;    // columns at a time
  int64_t nodes_at_ = 0;
  int64_t scratch_lines_ = 0;             // cache lines per worker
  std::unique_ptr<CacheLine[]> scratch_;  // of all workers
  std::vector<ReduceNode> partial_;       // by piece, then by line, if there is more than one piece
  std::atomic<int64_t> next_{0};
  WorstStatus worst_;
};

// Segments of a vector. Long ones are deferred until the others are done, and then divided among the threads.
class SegmentReduction {
 public:
  SegmentReduction(const HostTeam& team, HostWay way, const ReduceSegmentsParams& params, const Config& config);
  gpumem_status run() noexcept;

 private:
  struct Segment {
    int64_t first;
    int64_t length;  // negative: the offsets are wrong
  };
  Segment segment(int64_t index) const noexcept;
  // f(index, end of the task's range) returns how many it has done.
  template <class F>
  void for_segments(int64_t task, const F& f) const noexcept;
  void reduce_task(int64_t task) noexcept;
  int64_t reduce_short(int64_t first, int64_t last) noexcept;
  void reduce_long(int64_t index, const Segment& segment) noexcept;
  Sequence sequence(const Segment& segment) const noexcept;

  const HostTeam& team_;
  ReduceSegmentsParams params_;
  Config config_;
  bool serial_;
  LineLoop loop_;
  int64_t bytes_;
  int64_t tasks_;
  std::vector<char> has_long_;       // by task
  std::vector<ReduceNode> partial_;  // of one long segment
  WorstStatus worst_;
};

}  // namespace gpumem
