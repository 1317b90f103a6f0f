// Shows the cost of uncoalesced access by each block's own clock.
#include <algorithm>
#include <vector>

#include "bench/block_clock.hpp"
#include "bench/suites.hpp"
#include "failure.hpp"
#include "problems/contents.hpp"
#include "text.hpp"

namespace tool {
namespace {

void check_cuda(int error) {
  if (error != 0) throw Failure(format("the sum with a clock in it failed: CUDA error %d", error));
}

int64_t sum_of_cubes(gpumem_ctx* ctx, const int32_t* x, int64_t n) {
  int64_t sum = 0;
  check(gpumem_reduce_i32(ctx, GPUMEM_SUM_CUBES, x, n, 1, &sum), "summing cubes");
  return sum;
}

Row clocked_row(Session& session, int64_t n, const std::string& access) {
  gpumem_ctx* const ctx = session.ctx();
  int count = 0;
  check_cuda(blocks_that_fill(session.device(), count));
  std::vector<BlockClock> blocks(static_cast<std::size_t>(count));
  const auto bytes = static_cast<int64_t>(blocks.size() * sizeof blocks[0]);
  const Operand x(ctx, "device", n * 4, 0);
  const Operand out(ctx, "device", bytes, 0);
  x.fill(values(GPUMEM_I32, 1));
  const ClockedSum sum{reinterpret_cast<const int32_t*>(x.get()), n, access == "coalesced",
                       reinterpret_cast<BlockClock*>(out.get())};
  void* stream = nullptr;
  check(gpumem_stream_native(ctx, nullptr, &stream), "asking for the context's stream");
  const auto enqueue = [&] { check_cuda(enqueue_clocked_sum(session.device(), sum, count, stream)); };

  Row row;
  row.problem =
      format("sum_cubes dtype=i32 n=%lld access=%s blocks=%d", static_cast<long long>(n), access.c_str(), count);
  row.variant = access;
  row.timer = "events";
  row.bytes = n * 4;
  session.take(
      row, [&] { return session.time_by_events(enqueue); }, Limit::read);
  check(gpumem_copy(ctx, blocks.data(), out.get(), bytes), "reading the blocks' clocks");
  int64_t all = 0;
  for (const BlockClock& block : blocks) all += block.sum;
  row.verified = all == sum_of_cubes(ctx, sum.x, n);
  const auto middle = blocks.begin() + count / 2;
  std::nth_element(blocks.begin(), middle, blocks.end(),
                   [](const BlockClock& a, const BlockClock& b) { return a.cycles < b.cycles; });
  row.block_cycles = static_cast<double>(middle->cycles);
  return row;
}

}  // namespace

void add_clocked(std::vector<Step>& steps, const Session& session, int64_t n) {
  if (!session.on_device()) return;
  for (const std::string access : {"strided", "coalesced"}) {
    steps.push_back({"sum of cubes", access + " with a clock", [=](Session& s) { return clocked_row(s, n, access); }});
  }
}

}  // namespace tool
