// A problem line with operands of its own: memory of the kinds, extents and alignments that it names.
#pragma once

#include <memory>
#include <vector>

#include "ops/call_record.hpp"
#include "ops/planner.hpp"

namespace gpumem {

// Plans a line, and notes the ranges of its operands.
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
  // on_host: all of them in ordinary host memory, whatever the line says. results: where those of reductions go.
  OperandsOfLine(Context& context, const CallRecord& record, const std::vector<NotingPlanner::Range>& ranges,
                 ExecutionSpace results, bool on_host);

  // Inputs and outputs as at first: values that do not leave their types, and bytes that no result has.
  void renew();
  // Behind the context's own stream; given Completion::asynchronous, without waiting.
  void run();
  // Whether the results have the same bytes.
  bool same_results(OperandsOfLine& other);

  const CallRecord& record() const noexcept { return record_; }

 private:
  struct Buffer {
    const void* address_in_line;  // the line's address; nullptr: a result's
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
