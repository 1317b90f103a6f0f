// One row of a benchmark: the library's call and its baseline, measured in alternation.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace measure {}

namespace bench {

using namespace measure;  // statistics, clocks and names of machines, shared with the gpumem command

// The measured peak of the device that a case is compared with; none if a cache holds the data. The theoretical one is
// not measured: the device states it.
enum class Ceiling { none, read, write, copy, theoretical };

// The target of a row.
enum class BarKind {
  none,          // reported only
  ratio,         // baseline time / our time >= value
  of_ceiling,    // bytes per second over the case's peak >= value
  at_most,       // our time <= value microseconds
  at_most_added  // our time - baseline time <= value microseconds
};

struct Bar {
  BarKind kind = BarKind::none;
  double value = 0;
};

inline Bar at_least(double ratio) { return {BarKind::ratio, ratio}; }
inline Bar at_least_of_ceiling(double fraction) { return {BarKind::of_ceiling, fraction}; }
inline Bar at_most_us(double us) { return {BarKind::at_most, us}; }
inline Bar at_most_added_us(double us) { return {BarKind::at_most_added, us}; }

// One side of a case. `sample` makes one timed sample and returns the seconds of one call. `poison` spoils the output
// before a sample. `verify` checks it afterwards: "" if every element is right, else the error.
struct Side {
  std::function<double()> sample;
  std::function<void()> poison;
  std::function<std::string()> verify;
};

// Both sides; their captures own the shared memory. A case without a baseline leaves peer.sample empty.
struct Pair {
  Side ours;
  Side peer;
};

struct Case {
  std::string family;
  std::string name;  // words separated by '/', such as "sum/f32/2^28/cold"
  std::string peer;  // empty: no baseline
  Bar bar;
  double bytes = 0;  // per call, read plus written
  Ceiling ceiling = Ceiling::none;
  int effort = 1;              // multiplies the number of samples, because short calls scatter more
  bool quick = false;          // also part of a --quick run
  bool device_timed = false;   // by the device's clock, which could miss work done elsewhere
  std::function<Pair()> open;  // allocates, fills the inputs; the pair is dropped after its last sample
};

enum class SummaryOf { geometric_mean, median };

// A row made of all cases that `over` picks: the geometric means of both sides' times, and so of their ratios, or the
// row with the median ratio. The target is for a run of all of them.
struct Summary {
  std::string family;
  std::string name;
  std::string peer;
  Bar bar;
  std::function<bool(const std::string& family, const std::string& name, const std::string& peer)> over;
  SummaryOf of = SummaryOf::geometric_mean;
};

inline std::string power_name(int log2) { return "2^" + std::to_string(log2); }

// Thrown by open() if a case cannot run on this machine; the reason is reported.
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace bench
