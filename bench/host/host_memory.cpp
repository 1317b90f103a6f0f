#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"
#include "measure/statistics.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kCeilingBytes = std::size_t{1} << 29;

// The best of a few runs: a ceiling is what the machine can do.
double best_rate(double bytes, const std::function<void()>& call) {
  const auto sample = host_sampler(call, {std::chrono::milliseconds(0), std::chrono::milliseconds(1)});
  double best = 0;
  for (int i = 0; i < 15; ++i) best = std::max(best, bytes / sample());
  return best;
}

}  // namespace

HostBuffer::HostBuffer(std::size_t bytes)
    : bytes_(bytes), memory_(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage)) {
  if (!memory_) throw std::bad_alloc();
  poison();
}

void HostBuffer::poison() const { openmp::fill_bytes(memory_.get(), kPoison, bytes_); }

void HostBuffer::Free::operator()(void* p) const { std::free(p); }

Ceilings measure_host_ceilings() {
  const HostBuffer a(kCeilingBytes), b(kCeilingBytes);
  const auto bytes = static_cast<double>(kCeilingBytes);
  const auto words = static_cast<int64_t>(kCeilingBytes / 8);
  volatile uint64_t sink = 0;
  Ceilings c;
  c.read = best_rate(bytes, [&] { sink = openmp::read_all(a.as<uint64_t>(), words); });
  c.write = std::max(best_rate(bytes, [&] { openmp::fill_bytes(b.as<void>(), 0x3C, kCeilingBytes); }),
                     best_rate(bytes, [&] { openmp::stream_fill(b.as<void>(), 0x3C, kCeilingBytes); }));
  c.copy = std::max(best_rate(2 * bytes, [&] { openmp::copy(b.as<void>(), a.as<void>(), kCeilingBytes); }),
                    best_rate(2 * bytes, [&] { openmp::stream_copy(b.as<void>(), a.as<void>(), kCeilingBytes); }));
  (void)sink;
  return c;
}

}  // namespace bench
