// Robust statistics of a few samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace measure {

// The p-quantile (0 <= p <= 1) by linear interpolation between order statistics; NaN if empty.
inline double quantile(std::vector<double> v, double p) {
  if (v.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(v.begin(), v.end());
  const double at = p * static_cast<double>(v.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, v.size() - 1);
  return v[low] + (at - std::floor(at)) * (v[high] - v[low]);
}

inline double median(const std::vector<double>& v) { return quantile(v, 0.5); }

inline double geometric_mean(const std::vector<double>& v) {
  double logarithms = 0;
  for (const double x : v) logarithms += std::log(x);
  return std::exp(logarithms / static_cast<double>(v.size()));
}

// The interquartile range over the median: 0.02 means that half of the samples are within about 1 % of the middle.
inline double spread(const std::vector<double>& v) { return (quantile(v, 0.75) - quantile(v, 0.25)) / median(v); }

struct Summary {
  double median = 0;
  double q1 = 0;  // quartiles
  double q3 = 0;
  double least = 0;
  double greatest = 0;
  int samples = 0;
};

inline Summary summary(const std::vector<double>& v) {
  return {median(v), quantile(v, 0.25), quantile(v, 0.75), quantile(v, 0), quantile(v, 1), static_cast<int>(v.size())};
}

}  // namespace measure
