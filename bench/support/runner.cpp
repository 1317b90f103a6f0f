#include "support/runner.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>

#include "measure/interrupts.hpp"
#include "measure/machine.hpp"
#include "measure/progress.hpp"
#include "measure/statistics.hpp"

namespace bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Samples {
  std::vector<double> ours, peer;  // seconds per call
  std::string wrong;
};

struct Shared {
  Report* report;
  Progress* progress;
  int repeats;
};

struct Entry {
  Case what;
  Shared* shared;
  bool measured = false;
  std::string failed;  // skipped, or stopped by an error
  Samples samples;
};

double sample_checked(const Side& side, const char* who, Samples& samples) {
  if (side.poison) side.poison();
  const double seconds = side.sample();
  const std::string complaint = side.verify ? side.verify() : "";
  if (!complaint.empty() && samples.wrong.empty()) samples.wrong = std::string(who) + ": " + complaint;
  return seconds;
}

Samples measure(const Pair& pair, int repeats) {
  Samples s;
  const bool has_peer = static_cast<bool>(pair.peer.sample);
  sample_checked(pair.ours, "ours", s);  // one untimed sample of each: lazy loading, page faults, calibration
  if (has_peer) sample_checked(pair.peer, "baseline", s);
  for (int i = 0; i < repeats && s.wrong.empty() && measure::interrupted() == 0; ++i) {
    const bool ours_first = i % 2 == 0;
    if (ours_first) s.ours.push_back(sample_checked(pair.ours, "ours", s));
    if (has_peer) s.peer.push_back(sample_checked(pair.peer, "baseline", s));
    if (!ours_first) s.ours.push_back(sample_checked(pair.ours, "ours", s));
  }
  return s;
}

// A rate far above the memory's means that the device's timer missed the work. Cases that fit in a cache name no peak.
std::string implausible(const Case& c, const Row& row) {
  return c.device_timed && row.fraction > 2
             ? "twice as fast as the measured ceiling: the work was not inside the timed region"
             : "";
}

Row row_of(const Case& c, const Samples& s, const Report& report) {
  Row row{.family = c.family, .name = c.name, .peer = c.peer, .bar = c.bar};
  row.ours_us = median(s.ours) * 1e6;
  row.peer_us = s.peer.empty() ? kNone : median(s.peer) * 1e6;
  row.gbs = c.bytes > 0 ? c.bytes / median(s.ours) / 1e9 : kNone;
  const double ceiling = report.ceiling(c.ceiling);
  row.fraction = c.bytes > 0 && ceiling > 0 ? row.gbs * 1e9 / ceiling : kNone;
  row.spread = s.peer.empty() ? spread(s.ours) : std::max(spread(s.ours), spread(s.peer));
  row.repeats = static_cast<int>(s.ours.size());
  row.wrong = s.wrong.empty() ? implausible(c, row) : s.wrong;
  return row;
}

void measure_entry(Entry& e) {
  e.measured = true;
  e.failed = "stopped";
  if (measure::interrupted() != 0) return;
  e.shared->progress->step(e.what.family + "/" + e.what.name);
  Report& report = *e.shared->report;
  try {
    const Pair pair = e.what.open();
    e.samples = measure(pair, e.shared->repeats * e.what.effort);
    e.shared->progress->clear();
    if (measure::interrupted() != 0) return;
    report.add(row_of(e.what, e.samples, report));
    e.failed = e.samples.wrong;
  } catch (const Skip& skip) {
    e.failed = skip.what();
    e.shared->progress->clear();
    report.skip({e.what.family, e.what.name, e.what.peer, e.failed});
  } catch (const std::exception& error) {
    e.failed = error.what();
    e.shared->progress->clear();
    Row row = row_of(e.what, {}, report);
    row.wrong = e.failed;
    report.add(row);
  }
}

void run_entry(benchmark::State& state, Entry& e, bool peer) {
  if (!e.measured) measure_entry(e);
  const std::vector<double>& samples = peer ? e.samples.peer : e.samples.ours;
  if (!e.failed.empty() || samples.empty()) {
    state.SkipWithError(e.failed.empty() ? "no samples" : e.failed.c_str());
    return;
  }
  std::size_t i = 0;
  for (auto _ : state) state.SetIterationTime(samples[i++ % samples.size()]);
  state.counters["median_us"] = median(samples) * 1e6;
  state.counters["spread"] = spread(samples);
  if (e.what.bytes > 0) state.counters["GB/s"] = e.what.bytes / median(samples) / 1e9;
}

std::string benchmark_name(const Case& c) {
  return c.family + "/" + c.name + (c.peer.empty() ? "" : "/vs:" + slug(c.peer));
}

void register_case(const std::shared_ptr<Entry>& entry, int repeats) {
  const std::string name = benchmark_name(entry->what);
  for (const bool peer : {false, true}) {
    if (peer && entry->what.peer.empty()) continue;
    benchmark::RegisterBenchmark((name + (peer ? "/peer" : "/ours")).c_str(),
                                 [entry, peer](benchmark::State& state) { run_entry(state, *entry, peer); })
        ->UseManualTime()
        ->Iterations(repeats * entry->what.effort)
        ->Unit(benchmark::kMicrosecond);
  }
}

// The row with the median ratio; the lower one of an even number.
std::size_t middle_ratio(const std::vector<double>& ours, const std::vector<double>& peer) {
  std::vector<std::size_t> order(ours.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return peer[a] / ours[a] < peer[b] / ours[b]; });
  return order[(order.size() - 1) / 2];
}

void summarize(const Summary& summary, const std::vector<Case>& cases, Report& report) {
  const auto wanted =
      std::count_if(cases.begin(), cases.end(), [&](const Case& c) { return summary.over(c.family, c.name, c.peer); });
  const auto skipped = std::count_if(report.skipped().begin(), report.skipped().end(),
                                     [&](const SkippedRow& k) { return summary.over(k.family, k.name, k.peer); });
  std::vector<double> ours, peer, spreads;
  for (const Row& r : report.rows()) {
    if (!r.wrong.empty() || !summary.over(r.family, r.name, r.peer)) continue;
    ours.push_back(r.ours_us);
    peer.push_back(r.peer_us);
    spreads.push_back(r.spread);
  }
  if (ours.empty()) return;
  const auto rows = static_cast<int>(ours.size());
  Row row{.family = summary.family, .name = summary.name, .peer = summary.peer};
  if (rows + skipped == wanted) row.bar = summary.bar;
  const std::size_t middle = middle_ratio(ours, peer);
  const bool by_median = summary.of == SummaryOf::median;
  row.ours_us = by_median ? ours[middle] : geometric_mean(ours);
  row.peer_us = by_median ? peer[middle] : geometric_mean(peer);
  row.gbs = row.fraction = kNone;
  row.spread = median(spreads);
  row.repeats = rows;
  report.add(row);
}

// Report prints the table row by row, so Google Benchmark's own display is off.
class Quiet : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

std::string results_path(const Options& options) {
  namespace fs = std::filesystem;
  if (fs::path(options.out).extension() == ".json") return options.out;
  fs::create_directories(options.out);
  return (fs::path(options.out) / (options.name + ".json")).string();
}

void usage(const char* program, const char* about) {
  std::printf(
      "%s: %s\n\n"
      "  --out=PATH      write the results to PATH (a .json file, or a folder for <device>.json)\n"
      "  --quick         a few cases, 5 repeats\n"
      "  --repeats=N     samples of each side of a case (default 21)\n"
      "  --benchmark_*   Google Benchmark's options, for example --benchmark_filter=REGEX\n",
      program, about);
}

}  // namespace

bool parse_options(int& argc, char** argv, const char* about, Options& options, int& status) {
  int kept = 1;
  status = 0;
  bool repeats_given = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--help" || arg == "-h") {
      usage(std::filesystem::path(argv[0]).filename().c_str(), about);
      return false;
    }
    if (arg == "--quick") {
      options.quick = true;
    } else if (arg.rfind("--out=", 0) == 0) {
      options.out = arg.substr(6);
    } else if (arg.rfind("--repeats=", 0) == 0) {
      options.repeats = std::atoi(arg.c_str() + 10);
      repeats_given = true;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  if (options.repeats < 1) {
    std::fprintf(stderr, "--repeats wants a positive number\n");
    status = 2;
    return false;
  }
  if (options.quick && !repeats_given) options.repeats = 5;
  return true;
}

int run_cases(int argc, char** argv, const Options& options, Report& report, const std::vector<Case>& cases,
              const std::vector<Summary>& summaries) {
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;

  const std::string path = options.out.empty() ? "" : results_path(options);
  report.machine.program = program;
  report.machine.cpu = cpu_name();
  report.machine.date = utc_now();
  report.machine.commit = commit();
  report.quick = options.quick;

  const auto wanted = [&](const Case& c) { return !options.quick || c.quick; };
  Progress progress(static_cast<std::size_t>(std::count_if(cases.begin(), cases.end(), wanted)));
  Shared shared{&report, &progress, options.repeats};
  for (const Case& c : cases) {
    if (wanted(c)) register_case(std::make_shared<Entry>(Entry{c, &shared, false, {}, {}}), options.repeats);
  }

  report.print_heading();
  measure::watch_interrupts({SIGINT, SIGTERM});
  Quiet quiet;
  benchmark::RunSpecifiedBenchmarks(&quiet);
  benchmark::ClearRegisteredBenchmarks();
  benchmark::Shutdown();
  for (const Summary& summary : summaries) summarize(summary, cases, report);
  report.print_summary();
  if (!path.empty() && (measure::interrupted() == 0 || !report.rows().empty())) {
    report.write(path);
    std::printf("results in %s\n", path.c_str());
  }
  if (const int signal = measure::interrupted(); signal != 0) {  // ends by the signal, so that a script ends too
    std::fflush(nullptr);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  return report.all_right() ? 0 : 1;
}

int main_of(const char* name, int argc, char** argv, int (*run)(int, char**)) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace bench
