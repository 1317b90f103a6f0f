#include "stopwatch.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "failure.hpp"
#include "resources.hpp"

namespace tool {
namespace {

constexpr std::size_t kFewestRepeats = 5;
constexpr std::size_t kMostRepeats = 25;
constexpr double kEnoughSeconds = 0.5;

double time_once(gpumem_ctx* ctx, gpumem_event* start, gpumem_event* end, const std::function<void()>& operation) {
  check(gpumem_event_record(ctx, start, nullptr), "recording an event");
  operation();
  check(gpumem_event_record(ctx, end, nullptr), "recording an event");
  check(gpumem_event_synchronize(end), "waiting for an event");
  double seconds = 0;
  check(gpumem_event_elapsed(start, end, &seconds), "reading the time between two events");
  return seconds;
}

}  // namespace

Timing measure(gpumem_ctx* ctx, const std::function<void()>& operation) {
  const Event start = create_event(ctx);
  const Event end = create_event(ctx);
  operation();
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < kFewestRepeats || (seconds.size() < kMostRepeats && total < kEnoughSeconds)) {
    seconds.push_back(time_once(ctx, start.get(), end.get(), operation));
    total += seconds.back();
  }
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median = seconds.size() % 2 == 1 ? seconds[middle] : std::midpoint(seconds[middle - 1], seconds[middle]);
  return {median, seconds.front(), seconds.back(), static_cast<int>(seconds.size())};
}

double gigabytes_per_second(int64_t bytes, const Timing& timing) {
  return timing.median_s > 0 ? static_cast<double>(bytes) / timing.median_s * 1e-9 : 0;
}

}  // namespace tool
