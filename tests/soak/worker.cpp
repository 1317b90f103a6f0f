#include "soak/worker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "support/memory.hpp"
#include "support/numbers.hpp"
#include "support/status.hpp"

namespace gpumem_test {
namespace {

// Of one thread.
constexpr size_t kMostBlocks = 48;
constexpr int64_t kMostLiveBytes = int64_t{16} << 20;
constexpr int64_t kLargestBlock = int64_t{1} << 20;
constexpr int64_t kLargestManaged = 4096;

}  // namespace

// What is cheap comes often, so that many operations end in a bearable time.
const Worker::Operation Worker::kOperations[] = {
    {"allocate", 4000, &Worker::allocate},
    {"release", 3900, &Worker::release},
    {"pointer query", 3000, &Worker::query},
    {"stream query", 2000, &Worker::query_stream},
    {"change of stream", 1500, &Worker::change_stream},
    {"exchange", 1500, &Worker::exchange},
    {"label", 1500, &Worker::label},
    {"fill_async", 800, &Worker::refill},
    {"copy_async", 600, &Worker::copy},
    {"statistics", 600, &Worker::statistics},
    {"check", 400, &Worker::check_one},
    {"fill", 60, &Worker::refill_now},
    {"copy", 60, &Worker::copy_now},
    {"settle", 60, &Worker::settle},
    {"stream of its own", 12, &Worker::stream_of_its_own},
    {"registration", 6, &Worker::registration},
    {"trim", 2, &Worker::trim},
};

Worker::Worker(Shared& shared, int round, int thread)
    : shared_(shared),
      ctx_(shared.ctx),
      thread_(thread),
      random_(static_cast<uint64_t>(round * 64 + thread + 1)),
      landing_(kChecks * static_cast<size_t>(kLargestBlock)) {
  void* sums = nullptr;
  expect(gpumem_alloc_pinned(ctx_, kChecks * sizeof(Sum), &sums));
  sums_ = static_cast<Sum*>(sums);
  expect(gpumem_event_create(ctx_, &event_));
}

void Worker::run(int64_t operations) {
  for (operation_ = 0; operation_ < operations && !shared_.failed; ++operation_) {
    const Operation& operation = blocks_.empty() ? kOperations[0] : any_operation();
    name_ = operation.name;
    (this->*operation.run)();
  }
}

void Worker::collect() {
  for (const Block& block : shared_.exchanged) {
    if (block.p != nullptr) blocks_.push_back(block);
  }
}

void Worker::finish() {
  name_ = "finish";
  while (!blocks_.empty()) release();
  settle();
  if (own_ != nullptr) stream_of_its_own();
  if (registered_) registration();
  expect(gpumem_event_destroy(event_));
  expect(gpumem_free(ctx_, sums_));
}

const Worker::Operation& Worker::any_operation() {
  static const uint64_t all = [] {
    uint64_t sum = 0;
    for (const Operation& operation : kOperations) sum += operation.weight;
    return sum;
  }();
  uint64_t left = random_.below(all);
  const Operation* operation = kOperations;
  for (; left >= operation->weight; ++operation) left -= operation->weight;
  return *operation;
}

gpumem_stream* Worker::any_stream() {
  const uint64_t way = random_.below(10);
  return way == 0 ? nullptr : way == 1 && own_ != nullptr ? own_ : shared_stream();
}

Block Worker::without_contents(int64_t bytes) {
  Block block{nullptr, bytes, GPUMEM_MEMORY_DEVICE, any_stream()};
  const uint64_t way = random_.below(64);
  if (way == 0) {
    block.kind = GPUMEM_MEMORY_PINNED;
    expect(gpumem_alloc_pinned(ctx_, bytes, &block.p));
  } else if (way < 3) {
    expect(gpumem_alloc_device(ctx_, bytes, &block.p));
    if (random_.below(2) == 0) block.stream = nullptr;
    if (block.stream != nullptr) declare_or_not(block);
  } else {
    expect(gpumem_alloc_async(ctx_, bytes, int64_t{1} << random_.below(22), block.stream, &block.p));
  }
  return block;
}

Block Worker::of_managed_memory() {
  Block block{nullptr, log_uniform(8, kLargestManaged, random_), GPUMEM_MEMORY_MANAGED, any_stream()};
  expect(gpumem_alloc_managed(ctx_, block.bytes, &block.p));
  return block;
}

void Worker::allocate() {
  const int64_t bytes = log_uniform(8, kLargestBlock, random_);
  if (blocks_.size() >= kMostBlocks || live_bytes_ + bytes > kMostLiveBytes) return release();
  const bool managed = shared_.managed && random_.below(1000) == 0;
  blocks_.push_back(managed ? of_managed_memory() : without_contents(bytes));
  live_bytes_ += blocks_.back().bytes;
  fill(blocks_.back());
}

// The memory may go to the next before the check is done: in the streams' order, that is after it.
void Worker::release() {
  Block& chosen = any_block();
  const Block block = chosen;
  remove(chosen);
  check(block);
  if (block.kind != GPUMEM_MEMORY_DEVICE || random_.below(64) == 0) return expect(gpumem_free(ctx_, block.p));
  const bool anywhere = block.declared && random_.below(2) == 0;
  expect(gpumem_free_async(ctx_, block.p, anywhere ? any_stream() : block.stream));
}

void Worker::remove(Block& block) {
  live_bytes_ -= block.bytes;
  std::swap(block, blocks_.back());
  blocks_.pop_back();
}

void Worker::fill(Block& block) {
  block.pattern = random_.bits() >> 17;
  expect(gpumem_fill_async(ctx_, block.p, &block.pattern, 8, block.words(), block.stream));
}

void Worker::refill() { fill(any_block()); }

void Worker::refill_now() {
  Block& block = any_block();
  block.pattern = random_.bits() >> 17;
  expect(gpumem_stream_synchronize(ctx_, block.stream));
  expect(gpumem_fill(ctx_, block.p, &block.pattern, 8, block.words()));
}

// From now on the block's work goes to another stream, which waits for what it was until now.
void Worker::move(Block& block, gpumem_stream* to) {
  if (block.stream == to) return;
  expect(gpumem_event_record(ctx_, event_, block.stream));
  expect(gpumem_stream_wait_event(ctx_, to, event_));
  block.stream = to;
  declare_or_not(block);
}

// A use that is not declared is waited for where it is: the block is then freed on that stream.
void Worker::declare_or_not(Block& block) {
  block.declared = random_.below(2) == 0;
  if (block.declared) expect(gpumem_memory_used_on(ctx_, block.p, block.stream));
}

void Worker::change_stream() { move(any_block(), any_stream()); }

// Two blocks, both on one stream then: the smaller one gets the beginning of the other.
bool Worker::choose_copy(Block*& to, const Block*& from) {
  const size_t count = blocks_.size();
  if (count < 2) return false;
  const size_t at = random_.below(count);
  Block* small = &blocks_[at];
  Block* large = &blocks_[(at + 1 + random_.below(count - 1)) % count];
  if (small->bytes > large->bytes) std::swap(small, large);
  move(*large, small->stream);
  small->pattern = large->pattern;
  to = small;
  from = large;
  return true;
}

void Worker::copy() {
  Block* to = nullptr;
  const Block* from = nullptr;
  if (choose_copy(to, from)) expect(gpumem_copy_async(ctx_, to->p, from->p, to->words() * 8, to->stream));
}

void Worker::copy_now() {
  Block* to = nullptr;
  const Block* from = nullptr;
  if (!choose_copy(to, from)) return;
  expect(gpumem_stream_synchronize(ctx_, to->stream));
  expect(gpumem_copy(ctx_, to->p, from->p, to->words() * 8));
}

uint64_t* Worker::landing(size_t slot) const {
  return reinterpret_cast<uint64_t*>(landing_.first() + slot * static_cast<size_t>(kLargestBlock));
}

void Worker::check(const Block& block) {
  if (checks_.size() == kChecks) settle();
  const size_t slot = checks_.size();
  checks_.push_back({block, operation_, random_.below(2) == 0});
  if (checks_.back().copied) {
    *landing(slot) = ~block.pattern;
    return expect(gpumem_copy_async(ctx_, landing(slot), block.p, block.words() * 8, block.stream));
  }
  Sum& sum = sums_[slot];
  sum = {~uint64_t{0}, GPUMEM_INTERNAL};
  expect(gpumem_reduce_async(ctx_, GPUMEM_U64, GPUMEM_SUM, block.p, block.words(), 1, &sum.value, &sum.status,
                             block.stream));
}

void Worker::check_one() { check(any_block()); }

void Worker::settle() {
  if (random_.below(8) == 0) {
    expect(gpumem_ctx_synchronize(ctx_));
  } else {
    for (const Check& check : checks_) expect(gpumem_stream_synchronize(ctx_, check.block.stream));
  }
  for (size_t slot = 0; slot < checks_.size(); ++slot) verify(slot);
  checks_.clear();
}

void Worker::verify(size_t slot) {
  const Check& check = checks_[slot];
  check.copied ? verify_copy(check, landing(slot)) : verify_sum(check, sums_[slot]);
}

void Worker::verify_copy(const Check& check, const uint64_t* words) {
  const uint64_t pattern = check.block.pattern;
  const uint64_t* const end = words + check.block.words();
  const uint64_t* const wrong = std::find_if(words, end, [&](uint64_t word) { return word != pattern; });
  if (wrong == end) return;
  fail(describe(check) + ": word " + std::to_string(wrong - words) + " is " + std::to_string(*wrong) + ", expected " +
       std::to_string(pattern));
}

void Worker::verify_sum(const Check& check, const Sum& sum) {
  const uint64_t expected = check.block.pattern * static_cast<uint64_t>(check.block.words());
  if (sum.status == GPUMEM_OK && sum.value == expected) return;
  fail(describe(check) + ": sum " + std::to_string(sum.value) + ", expected " + std::to_string(expected) + ", status " +
       gpumem_status_name(sum.status));
}

std::string Worker::describe(const Check& check) {
  return std::string(kind_name(check.block.kind)) + " block of " + std::to_string(check.block.bytes) +
         " bytes, read by operation " + std::to_string(check.operation);
}

// Another thread goes on with the block, and this one with a block of another thread.
void Worker::exchange() {
  Block& block = any_block();
  if (block.stream == own_) move(block, shared_stream());
  {
    const std::lock_guard<std::mutex> lock(shared_.mutex);
    Block& other = shared_.exchanged[random_.below(shared_.exchanged.size())];
    live_bytes_ += other.bytes - block.bytes;
    std::swap(block, other);
  }
  if (block.p == nullptr) remove(block);
}

void Worker::query() {
  const Block& block = any_block();
  const int64_t offset = random_.between(0, block.bytes - 1);
  gpumem_pointer_info info;
  expect(gpumem_pointer_info_init(&info, sizeof info));
  expect(gpumem_pointer_query(ctx_, static_cast<char*>(block.p) + offset, &info));
  const bool same = info.kind == block.kind && info.ours == 1 && info.base == block.p &&
                    info.size_bytes == block.bytes && info.offset_bytes == offset;
  if (!same) fail("byte " + std::to_string(offset) + " is not said to be in its block");
}

void Worker::label() { expect(gpumem_memory_label(ctx_, any_block().p, random_.below(4) == 0 ? nullptr : "soak")); }

void Worker::statistics() {
  gpumem_memory_stats_info stats;
  expect(gpumem_memory_stats_init(&stats, sizeof stats));
  expect(gpumem_memory_stats(ctx_, &stats));
  if (stats.pinned_blocks < 1) fail("no pinned block is said to be alive");
}

void Worker::query_stream() {
  const gpumem_status status = gpumem_stream_query(ctx_, any_stream());
  if (status != GPUMEM_NOT_READY) expect(status);
}

// Makes it, or ends it, with work on it.
void Worker::stream_of_its_own() {
  if (own_ == nullptr) {
    const bool wrapped = random_.below(4) == 0;
    return expect(wrapped ? gpumem_stream_wrap(ctx_, nullptr, &own_) : gpumem_stream_create(ctx_, &own_));
  }
  settle();
  for (Block& block : blocks_) {
    if (block.stream == own_) move(block, shared_stream());
  }
  expect(gpumem_stream_destroy(std::exchange(own_, nullptr)));
}

void Worker::registration() {
  settle();
  expect(registered_ ? gpumem_host_unregister(ctx_, landing_.first())
                     : gpumem_host_register(ctx_, landing_.first(), static_cast<int64_t>(landing_.bytes())));
  registered_ = !registered_;
}

void Worker::trim() { expect(gpumem_memory_trim(ctx_, random_.below(2) == 0 ? 0 : random_.between(0, 1 << 26))); }

void Worker::expect(gpumem_status got) {
  if (got != GPUMEM_OK) fail(ok(got).message());
}

// Only the first failure is told: what comes after it is its doing.
void Worker::fail(const std::string& what) {
  if (shared_.failed.exchange(true)) return;
  ADD_FAILURE() << "seed " << test_seed() << ", thread " << thread_ << ", operation " << operation_ << " (" << name_
                << "): " << what;
}

}  // namespace gpumem_test
