// One run of benchmarks: a context, the measured operations, and the resulting rows.
#pragma once

#include <gpumem.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/results.hpp"
#include "problems/instance.hpp"
#include "resources.hpp"

namespace tool {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Row {
  std::string group;
  std::string label;  // distinguishes the row within its group
  std::string problem;
  std::string variant;
  std::string chosen_by;
  std::string timer;  // "events", or "host" for the processor's clock
  int64_t bytes = 0;  // 0: not counted
  int samples = 0;
  double median_us = kUnknown;
  double q1_us = kUnknown;
  double q3_us = kUnknown;
  double gbs = kUnknown;
  double of_ceiling = kUnknown;
  double block_cycles = kUnknown;  // of the middle block, by its multiprocessor's clock
  std::optional<bool> verified;
  std::string skipped;  // the reason, if figures are missing

  bool wrong() const { return verified == false; }
};

struct Results {
  measure::Machine machine;
  measure::Ceilings ceilings;
  std::vector<Row> rows;
  int64_t cached_bytes = 0;  // rows of up to this size that caches may hold have no share of a peak
  bool quick = false;
  bool interrupted = false;
};

enum class Timer { automatic, host };

class Session {
 public:
  Session(int32_t device, int samples, bool quick);

  gpumem_ctx* ctx() const { return ctx_.get(); }
  bool on_device() const { return on_device_; }
  int32_t device() const { return device_; }
  bool quick() const { return quick_; }
  const Results& results() const { return results_; }
  Results& results() { return results_; }

  // Seconds of a call between two events of the device, after work that empties its L2 and gives the host time to
  // enqueue.
  double time_by_events(const std::function<void()>& enqueue);
  void take(Row& row, const std::function<double()>& sample, Limit limit);

  void measure_ceilings();

  // The host context that computes the expected results; never the measured context.
  gpumem_ctx* reference() const { return reference_.get(); }

 private:
  double ceiling(Limit limit) const;

  void prepare_emptying(int64_t bytes);

  Context ctx_;
  Context reference_;
  int32_t device_ = 0;
  bool on_device_ = false;
  bool quick_;
  int samples_;
  int64_t cached_bytes_ = 0;  // smaller data is not limited by memory
  Results results_;
  // Read before each sample by events, on the stream of ctx_. Implementations are forced in ctx_ only.
  Context emptying_;
  Stream emptying_stream_;
  std::shared_ptr<Operand> read_;
  std::shared_ptr<Operand> found_;
};

// A problem with its memory, measured once per forced implementation.
class Subject {
 public:
  Subject(Session& session, const std::string& line, const Kinds& kinds);
  // variant: forced; empty: the library's choice. Throws a Failure of GPUMEM_UNSUPPORTED if it does not fit.
  Row measured(const std::string& variant, Timer timer);
  // Compares bit by bit with the reference.
  bool right(bool async = false);

 private:
  void make_reference();

  Session& session_;
  std::string line_;
  Problem problem_;
  Instance instance_;
  std::optional<Instance> reference_;
};

}  // namespace tool
