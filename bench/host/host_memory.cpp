#include <algorithm>
#include <cstdlib>
#include <new>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"

namespace bench {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kCeilingBytes = std::size_t{1} << 29;

// The best of a few runs, because a peak is the most that the machine can do.
double best_rate(double bytes, const std::function<void()>& call) {
  const auto sample = host_sampler(call, {std::chrono::milliseconds(0), std::chrono::milliseconds(1)});
  double best = 0;
  for (int i = 0; i < 15; ++i) best = std::max(best, bytes / sample());
  return best;
}

}  // namespace

OperandPtr host_memory(const Context& ctx, int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::shared_ptr<void> memory(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage), std::free);
  if (!memory) throw std::bad_alloc();
  openmp::fill_bytes(memory.get(), kSpoiled, size);
  return std::make_shared<tool::Operand>(ctx.get(), memory, bytes, true);
}

tool::Instance host_instance(const Context& ctx, const Problem& problem) {
  return make_instance(
      ctx.get(), problem, tool::Place::as_given, {},
      [&](const std::string&, const std::string&, int64_t bytes, int64_t) { return host_memory(ctx, bytes); });
}

Ceilings measure_host_ceilings(const Context& ctx) {
  const OperandPtr src = host_memory(ctx, kCeilingBytes), dst = host_memory(ctx, kCeilingBytes);
  void *const a = src->get(), *const b = dst->get();
  const auto bytes = static_cast<double>(kCeilingBytes);
  volatile uint64_t sink = 0;
  Ceilings c;
  c.read = best_rate(bytes, [&] { sink = openmp::read_all(src->as<uint64_t>(), int64_t{kCeilingBytes / 8}); });
  c.write = std::max(best_rate(bytes, [&] { openmp::fill_bytes(b, 0x3C, kCeilingBytes); }),
                     best_rate(bytes, [&] { openmp::stream_fill(b, 0x3C, kCeilingBytes); }));
  c.copy = std::max(best_rate(2 * bytes, [&] { openmp::copy(b, a, kCeilingBytes); }),
                    best_rate(2 * bytes, [&] { openmp::stream_copy(b, a, kCeilingBytes); }));
  (void)sink;
  return c;
}

}  // namespace bench
