// gpumem bench: measures, verifies the results, and shows the figures.
#include <cstdio>
#include <string>

#include "bench/session.hpp"
#include "bench/show.hpp"
#include "bench/suites.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "interrupted.hpp"
#include "measure/progress.hpp"
#include "output_file.hpp"
#include "text.hpp"

namespace tool {
namespace {

bool is_no_mistake(gpumem_status status) { return status == GPUMEM_UNSUPPORTED || status == GPUMEM_OUT_OF_MEMORY; }

// "the variant x of y, forced by the program, does not fit: it ...": the label already names the variant.
std::string why_not(const std::string& reason) {
  constexpr const char* kBefore = "does not fit: ";
  const auto at = reason.find(kBefore);
  return at == std::string::npos ? reason : reason.substr(at + std::string(kBefore).size());
}

// For a single line, a refusal fails the command. In a suite it skips the row.
Row run_step(Session& session, const Step& step, bool alone) {
  Row row;
  try {
    row = step.run(session);
  } catch (const CallFailure& failure) {
    if (alone || !is_no_mistake(failure.status)) throw;
    row = {};
    row.skipped = why_not(failure.reason);
  }
  row.group = step.group;
  row.label = step.label;
  return row;
}

// Each step is destroyed when it is done, because it owns memory.
void run_steps(Session& session, std::vector<Step> steps) {
  measure::Progress progress(steps.size());
  const bool alone = steps.size() == 1;
  for (Step& step : steps) {
    stop_if_interrupted();
    progress.step(printable(step.group + ": " + step.label));
    session.results().rows.push_back(run_step(session, step, alone));
    step.run = {};
  }
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.finish();
}

void write_results(const Results& results, const BenchOptions& options) {
  const std::string text = options.json ? as_json(results) : (options.csv ? as_csv(results) : as_table(results));
  std::fputs(text.c_str(), stdout);
  if (!options.plot.empty()) write_file(options.plot, as_svg(results));
  if (!options.report.empty()) write_file(options.report, as_html(results));
}

}  // namespace

int run_bench(const BenchOptions& options) {
  for (const std::string& path : {options.plot, options.report}) try_output(path);
  watch_interrupts();
  Session session(options.device, options.samples > 0 ? options.samples : (options.quick ? 5 : 21), options.quick);
  std::vector<Step> steps = steps_of(options.words, session);
  if (!options.quick) session.measure_ceilings();
  try {
    run_steps(session, std::move(steps));
  } catch (const Interrupted&) {
    session.results().interrupted = true;
  }
  write_results(session.results(), options);
  if (session.results().interrupted) return kInterruptedStatus;
  for (const Row& row : session.results().rows) {
    if (row.wrong()) return 1;
  }
  return 0;
}

}  // namespace tool
