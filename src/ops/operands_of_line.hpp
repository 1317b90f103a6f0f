// Operands for an operation descriptor, with the kinds of memory, extents and alignments that it names.
#pragma once

#include <memory>
#include <vector>

#include "ops/call_record.hpp"
#include "ops/planner.hpp"

namespace gpumem {

// Also records the ranges of the operands.
class NotingPlanner final : public LinePlanner {
 public:
  using LinePlanner::LinePlanner;

  struct Range {
    ByteRange range;
    gpumem_memory_kind kind;
    bool read;
    bool written;
  };
  Operand look_up(const ByteRange& range, Access access) override;
  const std::vector<Range>& ranges() const noexcept { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

class OperandsOfLine {
 public:
  // on_host: all operands are in pageable memory instead. results: where results of reductions go.
  OperandsOfLine(Context& context, const CallRecord& record, const std::vector<NotingPlanner::Range>& ranges,
                 ExecutionSpace results, bool on_host);

  // Restores the initial contents. Outputs have a pattern that no result has.
  void renew();
  // Runs on the context's own stream. Does not wait if the descriptor's call is asynchronous.
  void run();
  bool same_results(OperandsOfLine& other);

  const CallRecord& record() const noexcept { return record_; }

 private:
  struct Buffer {
    const void* address_in_line;  // nullptr for a result
    void* at;
    int64_t bytes;
    bool read;
    bool written;
    std::shared_ptr<void> memory;
  };

  void* add_buffer(const void* address_in_line, gpumem_memory_kind kind, int64_t bytes, size_t misaligned, bool read,
                   bool written);
  template <class T>
  void add_result(T*& field, int64_t bytes, ExecutionSpace results);
  void move(void* dst, const void* src, int64_t bytes);
  void fill(const Buffer& buffer, std::vector<unsigned char> block);
  std::vector<unsigned char> contents(const Buffer& buffer) const;

  Context& context_;
  CallRecord record_;
  bool on_host_;
  std::vector<Buffer> buffers_;
};

}  // namespace gpumem
