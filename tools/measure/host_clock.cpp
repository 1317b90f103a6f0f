#include "measure/host_clock.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

namespace measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostCalls = 4096;

double seconds_of(const std::function<void()>& call, int calls) {
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return Seconds(Clock::now() - begin).count();
}

int calls_for(double seconds_a_call, Seconds target) {
  const double wanted = target.count() / std::max(seconds_a_call, 1e-9);
  return static_cast<int>(std::clamp(wanted + 1, 1.0, double{kMostCalls}));
}

}  // namespace

std::function<double()> host_sampler(std::function<void()> call, HostClock clock) {
  auto calls = std::make_shared<int>(0);
  return [call = std::move(call), clock, calls] {
    if (clock.settle.count() > 0) std::this_thread::sleep_for(clock.settle);
    call();
    if (*calls == 0) *calls = calls_for(seconds_of(call, 1), clock.target);
    return seconds_of(call, *calls) / *calls;
  };
}

std::function<double()> one_call_sampler(std::function<void()> call) {
  return [call = std::move(call)] { return seconds_of(call, 1); };
}

std::vector<double> take_samples(const std::function<double()>& sample, int fewest, int most) {
  constexpr double kEnoughSeconds = 0.5;
  std::vector<double> seconds;
  double total = 0;
  const auto taken = [&] { return static_cast<int>(seconds.size()); };
  while (taken() < fewest || (taken() < most && total < kEnoughSeconds)) total += seconds.emplace_back(sample());
  return seconds;
}

}  // namespace measure
