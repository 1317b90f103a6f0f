// Times blocking calls by the host's clock.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

namespace measure {

using Seconds = std::chrono::duration<double>;

struct HostClock {
  // Idle time before each sample, so that the other side's worker threads stop spinning.
  std::chrono::milliseconds settle{0};
  // Short calls are repeated until a sample lasts this long; the mean of its calls counts.
  std::chrono::microseconds target{2000};
};

// A sampler for Side::sample. It waits, makes one untimed call, and times as many calls as `clock` requires. The
// untimed call wakes this side's threads and warms its caches. The first sample sets the count.
std::function<double()> host_sampler(std::function<void()> call, HostClock clock);

// For long calls, and for calls that differ when repeated.
std::function<double()> one_call_sampler(std::function<void()> call);

// Takes at most `most` samples, and stops after `fewest` if they took half a second.
std::vector<double> take_samples(const std::function<double()>& sample, int fewest, int most);

}  // namespace measure
