#include "ops/tune.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/scope_exit.hpp"
#include "context/streams.hpp"
#include "memory/scratch.hpp"
#include "ops/call_timer.hpp"
#include "ops/call_work.hpp"
#include "ops/operands_of_line.hpp"
#include "ops/plan.hpp"
#include "ops/problem_line.hpp"
#include "ops/profile.hpp"
#include "ops/tuning.hpp"

namespace gpumem {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastGain = 1.03;
constexpr int kFewestSamples = 5;
constexpr int kMostSamples = 31;

struct Problem {
  explicit Problem(const CallRecord& of) noexcept : record(of) {}
  explicit Problem(CallRecord&&) = delete;  // the record outlives the problem

  const CallRecord& record;
  std::vector<NotingPlanner::Range> ranges;
  const char* (*name)(int32_t) noexcept = nullptr;
  bool empty = false;
  ExecutionSpace space = ExecutionSpace::host;
  int32_t table_row = -1;
  int32_t last_row = -1;            // the last that fits
  std::vector<int32_t> candidates;  // variants that fit and that the table may choose, except its own choice
  std::vector<int32_t> revisions;   // of all variants
};

// Ignores overrides and tuning.
Problem plan_line(Context& context, const CallRecord& record) {
  Problem problem(record);
  const ScopedOverride by_table(record.family());
  with_call(record, [&]<class Family>(const auto& call) {
    NotingPlanner planner(context, record);
    const auto planned = plan(planner, call, record.completion);
    problem.ranges = planner.ranges();
    problem.name = family_names(Family::id).variant;
    problem.empty = planned.empty;
    if (planned.empty) return;
    problem.space = planned.placement.space;
    problem.table_row = planned.selection.row;
    const auto table = Family::table();
    for (int32_t row = 0; row < static_cast<int32_t>(table.size()); ++row) {
      const auto& variant = table[static_cast<size_t>(row)];
      problem.revisions.push_back(variant.revision);
      Config config;
      if (taken_by_name(variant)) continue;
      if (plan_row(variant, planner.props(problem.space), planned.params, config) != nullptr) continue;
      problem.last_row = row;
      if (row != problem.table_row) problem.candidates.push_back(row);
    }
  });
  return problem;
}

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

struct Samples {
  std::vector<double> sorted;

  void add(double seconds) { sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), seconds), seconds); }
  double median() const { return quantile(sorted, 0.5); }
  double spread() const { return (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / median(); }
};

struct Round {
  Samples table;
  Samples row;

  double ratio() const { return table.median() / row.median(); }
  double spread() const { return std::max(table.spread(), row.spread()); }
  bool won() const { return ratio() >= kLeastGain && ratio() - 1 >= 2 * spread(); }
};

class Trials {
 public:
  Trials(Context& context, const Problem& problem, const TuneOptions& options)
      : context_(context),
        problem_(problem),
        options_(options),
        events_(context.device(), EventPool::Of::time),
        operands_(context, problem.record, problem.ranges, problem.space, false) {
    const int64_t cache = context.props(problem.space).l2_bytes;
    if (2 * work_of(problem.record).bytes > cache) return;
    flushed_ = static_cast<size_t>(std::min(2 * cache, int64_t{256} << 20)) / 16 * 16;
    flush_.emplace(context.running(problem.space), GPUMEM_MEMORY_DEVICE, flushed_);
    flusher_ = &context.running(problem.space);
  }

  // Runs on renewed operands, so that results can be compared.
  void run_anew(int32_t row) {
    operands_.renew();
    static_cast<void>(measure(row, true));
  }
  OperandsOfLine& operands() noexcept { return operands_; }

  bool flushes() const noexcept { return flush_.has_value(); }

  // Alternates, so that a disturbance of the device affects both.
  Round round(int32_t table, int32_t row, Clock::time_point completion, bool emptied = true) {
    Round r;
    for (int i = 0; i < kFewestSamples || (i < kMostSamples && Clock::now() < completion); ++i) {
      r.table.add(run(table, emptied));
      r.row.add(run(row, emptied));
      if (i == 2 && r.ratio() < 0.67) break;  // it is far behind
    }
    return r;
  }

 private:
  double run(int32_t row, bool emptied) {
    const double measured = measure(row, emptied);
    return options_.time_of == nullptr ? measured : options_.time_of(problem_.name(row), emptied);
  }

  double measure(int32_t row, bool emptied) {
    Backend& device = context_.device();
    const NativeStream stream = context_.own_stream();
    if (flush_ && emptied) {
      const bool beside = context_.on_cuda() && flusher_ == &context_.host();
      flusher_->read_all(beside ? nullptr : stream, flush_->get(), flushed_, 16);
    }
    device.synchronize(stream);
    const ScopedOverride trial(operands_.record().family(), row);
    CallTimer timer(events_, stream, operands_.record().completion);
    operands_.run();
    CallTime time;
    static_cast<void>(timer.finish(time));
    device.synchronize(stream);
    if (!time.awaited()) return time.seconds;
    const double seconds = device.elapsed_seconds(time.begin, time.end);
    time.give_back(events_);
    return seconds;
  }

  Context& context_;
  const Problem& problem_;
  const TuneOptions& options_;
  EventPool events_;
  OperandsOfLine operands_;
  std::optional<Scratch> flush_;  // fills the caches if they would otherwise keep the operands
  size_t flushed_ = 0;
  Backend* flusher_ = nullptr;
};

// An independent reference for the results: the host's last variant, on operands in host memory.
CallRecord on_host(const CallRecord& of) noexcept {
  CallRecord record = of;
  record.completion = Completion::blocking;
  for (OperandInfo& seen : record.seen) seen = {seen.p, GPUMEM_MEMORY_PAGEABLE, kOwnDevice, false};
  return record;
}
void run_reference(Context& context, const CallRecord& record, OperandsOfLine& operands) {
  operands.renew();
  const ScopedOverride trial(record.family(), plan_line(context, record).last_row);
  operands.run();
  context.device().synchronize(context.own_stream());
}

class Progress {
 public:
  Progress(const TuneOptions& options, size_t steps) noexcept : options_(options), steps_(static_cast<double>(steps)) {}

  bool step() {
    done_ += 1;
    return options_.progress == nullptr || options_.progress(options_.user, std::min(done_ / steps_, 1.0)) == 0;
  }
  void finish() {
    done_ = steps_ - 1;
    static_cast<void>(step());
  }

 private:
  const TuneOptions& options_;
  const double steps_;
  double done_ = 0;
};

struct Verdict {
  int32_t row = -1;  // the variant that won both rounds
  Round best;        // the first round of the fastest
  int32_t fastest = -1;
  const char* reason = "no variant won by 3 % and twice the spread";
  bool stopped = false;
};

[[gnu::noinline]] Verdict judge(Context& context, const Problem& problem, const TuneOptions& options) {
  Verdict verdict;
  Trials trials(context, problem, options);
  const CallRecord record = on_host(problem.record);
  OperandsOfLine reference(context, record, problem.ranges, ExecutionSpace::host, true);
  run_reference(context, record, reference);
  const auto right = [&](int32_t row) {
    trials.run_anew(row);
    return trials.operands().same_results(reference);
  };
  if (!right(problem.table_row)) {
    fail(GPUMEM_INTERNAL, "the variant %s has other results than the reference", problem.name(problem.table_row));
  }
  Progress progress(options, problem.candidates.size() + 1);
  const auto share = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(options.budget_s / static_cast<double>(problem.candidates.size() + 2)));
  bool any_won = false;
  for (const int32_t row : problem.candidates) {
    if (!right(row)) {
      context.log.write(GPUMEM_LOG_ERROR, "the variant %s has other results than the reference", problem.name(row));
      continue;
    }
    Round round = trials.round(problem.table_row, row, Clock::now() + share);
    const bool better = verdict.fastest < 0 || round.ratio() > verdict.best.ratio();
    if (any_won ? round.won() && better : round.won() || better) {
      any_won = any_won || round.won();
      verdict.best = std::move(round);
      verdict.fastest = row;
    }
    verdict.stopped = !progress.step();
    if (verdict.stopped) {
      verdict.reason = "it was stopped";
      return verdict;
    }
  }
  if (!any_won) return progress.finish(), verdict;
  const Round again = trials.round(problem.table_row, verdict.fastest, Clock::now() + share);
  verdict.reason = again.won() ? "it won both rounds" : "it won one round of two";
  if (again.won() && trials.flushes()) {  // a program that repeats calls finds its operands in the caches
    const Round warm = trials.round(problem.table_row, verdict.fastest, Clock::now() + share, false);
    if (warm.ratio() < 1 / kLeastGain) {
      progress.finish();
      verdict.reason = "it is faster only with empty caches";
      return verdict;
    }
  }
  if (again.won()) verdict.row = verdict.fastest;
  if (again.ratio() < verdict.best.ratio()) verdict.best = again;
  progress.finish();
  return verdict;
}

}  // namespace

TuneResult tune(Context& context, std::string_view line, const TuneOptions& options) {
  require_none_capturing(context, "gpumem_tune");
  const CallRecord record = parse_line(line);
  const auto before = std::make_unique<const CallRecord>(last_call());
  const ScopeExit restore([&] { last_call() = *before; });
  for (int32_t i = 0; i < record.seen_count; ++i) {
    if (record.seen[static_cast<size_t>(i)].device < 0) continue;
    fail(GPUMEM_UNSUPPORTED, "line: an operand is on CUDA device %d; expected memory of the context's own device",
         record.seen[static_cast<size_t>(i)].device);
  }
  Problem problem = plan_line(context, record);
  TuneResult result;
  result.reason = "there is nothing to do";
  if (problem.empty) return result;
  if (options.reversed && problem.last_row >= 0) {
    std::replace(problem.candidates.begin(), problem.candidates.end(), problem.last_row, problem.table_row);
    problem.table_row = problem.last_row;
  }
  result.table = result.winner = problem.name(problem.table_row);
  result.candidates = static_cast<int32_t>(problem.candidates.size());
  result.reason = "no other variant fits";
  const uint64_t problem_of = problem_class(record);
  const std::string device = device_key(context.props(problem.space));
  if (problem.candidates.empty()) return context.tuning().settle(problem_of, device), result;
  const Verdict verdict = judge(context, problem, options);
  result.reason = verdict.reason;
  if (verdict.fastest < 0) return result;
  result.winner = problem.name(verdict.fastest);
  result.adopted = verdict.row >= 0;
  result.table_s = verdict.best.table.median();
  result.winner_s = verdict.best.row.median();
  result.spread = verdict.best.spread();
  if (result.adopted) {
    const int32_t revision = problem.revisions[static_cast<size_t>(verdict.row)];
    context.tuning().put(
        {device, line_of(record), problem_of, record.family(), {verdict.row, revision}, result.ratio()});
  } else if (!verdict.stopped) {
    context.tuning().settle(problem_of, device);
  }
  return result;
}

}  // namespace gpumem
