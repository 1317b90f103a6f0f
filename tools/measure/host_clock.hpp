// Times calls that are complete on return, by the host's clock.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

namespace measure {

using Seconds = std::chrono::duration<double>;

struct HostClock {
  // Before a sample nothing runs for this long, so that the other side's worker threads have stopped spinning.
  std::chrono::milliseconds settle{0};
  // Short calls are repeated until a sample lasts this long, and the mean of the sample's calls counts.
  std::chrono::microseconds target{2000};
};

// A sampler for Side::sample: settles, makes one untimed call (so that this side's threads are awake and its code and data
// are where repeated calls find them), then times as many calls as `clock` asks for. The count is set by the first sample.
std::function<double()> host_sampler(std::function<void()> call, HostClock clock);

// A sampler that times one call: for long ones, and for those that are not the same a second time.
std::function<double()> one_call_sampler(std::function<void()> call);

// So many samples: at most `most`, and no more than `fewest` once they make up half a second.
std::vector<double> take_samples(const std::function<double()>& sample, int fewest, int most);

}  // namespace measure
