// One thread of the soak: a bag of blocks, and random operations on them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "gpumem.h"
#include "support/pages.hpp"
#include "support/random.hpp"

namespace gpumem_test {

struct Block {
  void* p = nullptr;
  int64_t bytes = 0;
  gpumem_memory_kind kind = GPUMEM_MEMORY_DEVICE;
  gpumem_stream* stream = nullptr;  // where all work on it goes
  bool declared = true;             // the memory belongs to the stream, or its use there was declared
  uint64_t pattern = 0;             // what each of its words holds when the stream has passed it; below 2^47
  int64_t words() const { return bytes / 8; }
};

// What the threads have in common.
struct Shared {
  gpumem_ctx* ctx;
  std::vector<gpumem_stream*> streams;
  bool managed;  // the device has managed memory
  std::atomic<bool> failed{false};
  std::mutex mutex{};
  std::array<Block, 16> exchanged{};  // under the mutex: blocks on their way from one thread to another
};

class Worker {
 public:
  // Threads and rounds have each their own numbers.
  Worker(Shared& shared, int round, int thread);

  void run(int64_t operations);
  // Takes what no thread has.
  void collect();
  // Checks and frees all blocks.
  void finish();

 private:
  static constexpr size_t kChecks = 8;

  struct Operation {
    const char* name;
    uint64_t weight;
    void (Worker::*run)();
  };
  static const Operation kOperations[];

  // The contents of a block, on their way to the host.
  struct Check {
    Block block;
    int64_t operation;
    bool copied;  // else summed up
  };
  struct Sum {
    uint64_t value;
    gpumem_status status;
  };

  void allocate();
  void release();
  void refill();
  void refill_now();
  void copy();
  void copy_now();
  void check_one();
  void settle();
  void change_stream();
  void exchange();
  void query();
  void label();
  void statistics();
  void query_stream();
  void stream_of_its_own();
  void registration();
  void trim();

  const Operation& any_operation();
  Block& any_block() { return blocks_[random_.below(blocks_.size())]; }
  gpumem_stream* any_stream();
  gpumem_stream* shared_stream() { return shared_.streams[random_.below(shared_.streams.size())]; }
  Block without_contents(int64_t bytes);
  Block of_managed_memory();
  void fill(Block& block);
  void move(Block& block, gpumem_stream* to);
  void declare_or_not(Block& block);
  bool choose_copy(Block*& to, const Block*& from);
  void check(const Block& block);
  void verify(size_t slot);
  void verify_copy(const Check& check, const uint64_t* words);
  void verify_sum(const Check& check, const Sum& sum);
  static std::string describe(const Check& check);
  void remove(Block& block);
  uint64_t* landing(size_t slot) const;
  void expect(gpumem_status got);
  void fail(const std::string& what);

  Shared& shared_;
  gpumem_ctx* const ctx_;
  const int thread_;
  Random random_;
  const FencedPages landing_;  // of the copies that are compared: room for the largest block a check
  bool registered_ = false;    // the landing is
  Sum* sums_ = nullptr;        // pinned memory: one a check
  gpumem_stream* own_ = nullptr;
  gpumem_event* event_ = nullptr;
  std::vector<Block> blocks_;
  int64_t live_bytes_ = 0;
  std::vector<Check> checks_;
  int64_t operation_ = 0;
  const char* name_ = "start";
};

}  // namespace gpumem_test
