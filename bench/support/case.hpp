// One row of a benchmark: the library's call and its peer, measured side by side.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace measure {}

namespace bench {

using namespace measure;  // statistics, clocks and names of machines, which the gpumem command has too

// Which ceiling of the device a case is held against; none where it says nothing (data that a cache holds). All are measured
// but the theoretical one, which the device states.
enum class Ceiling { none, read, write, copy, theoretical };

// What "met" means for a row.
enum class BarKind {
  none,          // reported only
  ratio,         // peer time / our time >= value
  of_ceiling,    // bytes a second over the case's ceiling >= value
  at_most,       // our time <= value microseconds
  at_most_added  // our time - peer time <= value microseconds
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
// before a sample and `verify` looks at it afterwards: "" when every element is right, else what was wrong.
struct Side {
  std::function<double()> sample;
  std::function<void()> poison;
  std::function<std::string()> verify;
};

// Both sides, with the memory that they share held by their captures. A case without a peer leaves peer.sample empty.
struct Pair {
  Side ours;
  Side peer;
};

struct Case {
  std::string family;
  std::string
      name;  // words separated by '/', with the element type as one of them where it is a row of a family's grid:
             // "sum/f32/2^28/cold"
  std::string peer;  // the peer's name; empty when there is none
  Bar bar;
  double bytes = 0;  // counted for one call, read plus written
  Ceiling ceiling = Ceiling::none;
  int effort = 1;              // times the samples of an ordinary case: short calls scatter more
  bool quick = false;          // also part of a --quick run
  bool device_timed = false;   // by the device's clock, which could miss work that went elsewhere
  std::function<Pair()> open;  // allocates, fills the inputs; the pair is dropped after its last sample
};

enum class SummaryOf { geometric_mean, median };

// A row made of others, all cases that `over` picks: the geometric means of both sides' times, and so of their ratios; or the row
// that has the median of the ratios. The bar is for a run of all of them.
struct Summary {
  std::string family;
  std::string name;
  std::string peer;
  Bar bar;
  std::function<bool(const std::string& family, const std::string& name, const std::string& peer)> over;
  SummaryOf of = SummaryOf::geometric_mean;
};

inline std::string power_name(int log2) { return "2^" + std::to_string(log2); }

// Thrown by open() when a case can't run on this machine; the reason is reported.
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace bench
