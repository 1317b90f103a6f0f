#include "cuda/gated_timer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cuda/kernels.hpp"
#include "measure/host_clock.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLeastFlush = std::size_t{256} << 20;
constexpr double kSampleSeconds = 100e-6;
constexpr int kMostCalls = 16;
constexpr int kColdCalls = 8;

// Opens the gate at the end of the scope, even after an exception.
class Release {
 public:
  explicit Release(volatile int* flag) : flag_(flag) {}
  ~Release() { open(); }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  void open() { *flag_ = 1; }

 private:
  volatile int* flag_;
};

}  // namespace

GatedTimer::GatedTimer(std::size_t l2_bytes) : flush_(std::max(kLeastFlush, 4 * l2_bytes)) {
  check_cuda(cudaMemset(flush_.as(), 0x3C, flush_.bytes()));
}

void GatedTimer::flush_l2() {
  launch_read(flush_.as(), static_cast<int64_t>(flush_.bytes()), sink_.as<unsigned int>(), cudaStreamLegacy);
}

double GatedTimer::seconds(const std::function<void()>& call, int calls, Gated how) {
  volatile int* flags = flags_.as<int>();
  check_cuda(cudaDeviceSynchronize());
  flags[0] = 0;
  flags[1] = 0;
  Release release(flags);
  if (how.cold) flush_l2();
  if (how.gate) {
    launch_gate(flags_.as<int>(), flags_.as<int>() + 1, how.stream);
  } else {
    check_cuda(cudaDeviceSynchronize());
  }
  check_cuda(cudaEventRecord(start_.get(), how.stream));
  for (int i = 0; i < calls; ++i) call();
  const cudaError_t recorded = cudaEventRecord(end_.get(), how.stream);
  release.open();
  check_cuda(recorded);
  check_cuda(cudaEventSynchronize(end_.get()));
  if (flags[1]) throw std::runtime_error("the call waited for the device before its work was enqueued");
  float ms = 0;
  check_cuda(cudaEventElapsedTime(&ms, start_.get(), end_.get()));
  return static_cast<double>(ms) * 1e-3;
}

std::function<double()> gated_sampler(std::shared_ptr<GatedTimer> timer, std::function<void()> call, Gated how) {
  auto calls = std::make_shared<int>(how.cold || !how.batch ? 1 : 0);
  auto loaded = std::make_shared<bool>(false);  // the first call may load modules, which would wait for the gate
  return [timer, call = std::move(call), how, calls, loaded] {
    if (!how.cold || !*loaded) call();
    *loaded = true;
    if (*calls == 0) {
      const double one = timer->seconds(call, 1, how);
      *calls = static_cast<int>(std::clamp(kSampleSeconds / one, 1.0, double{kMostCalls}));
    }
    return timer->seconds(call, *calls, how) / *calls;
  };
}

std::function<double()> cold_host_sampler(std::shared_ptr<GatedTimer> timer, std::function<void()> call) {
  return [timer, call = std::move(call)] {
    double total = 0;
    for (int i = 0; i < kColdCalls; ++i) {
      timer->flush_l2();
      check_cuda(cudaDeviceSynchronize());
      const auto begin = Clock::now();
      call();
      total += measure::Seconds(Clock::now() - begin).count();
    }
    return total / kColdCalls;
  };
}

}  // namespace bench
