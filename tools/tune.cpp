// gpumem tune: measures which variants are fastest for problem lines, and keeps what it found in a file.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/problem.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "explain.hpp"
#include "failure.hpp"
#include "interrupted.hpp"
#include "json_file.hpp"
#include "measure/progress.hpp"
#include "resources.hpp"
#include "text.hpp"

namespace tool {
namespace {

// Lines that the shell has divided into words: one that begins with KEY= goes on with the line before.
std::vector<std::string> lines_of(const std::vector<std::string>& words) {
  std::vector<std::string> lines;
  for (const std::string& word : words) {
    const bool goes_on = !lines.empty() && word.find('=') < word.find_first_of(" \t\n");
    if (goes_on) {
      lines.back().append(" ").append(word);
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

// The problems of a profile's rows, each once, the one that took most time first.
std::vector<std::string> problems_of(const std::string& path) {
  const auto json = read_json(path, "gpumem.profile/1",
                              "no profile as JSON, which gpumem_profile_write() and GPUMEM_PROFILE=<path>.json write");
  std::vector<std::string> problems;
  for (const JsonRow& row : rows_of(path, json)) {
    const std::string problem = row.text("problem");
    const bool is_new = std::find(problems.begin(), problems.end(), problem) == problems.end();
    if (!row.text("variant").empty() && is_new) problems.push_back(problem);
  }
  if (problems.empty()) throw Failure(path + ": the profile has no operations");
  return problems;
}

int32_t stop_when_interrupted(void*, double) { return interrupted() ? 1 : 0; }

gpumem_tune_info tuned(gpumem_ctx* ctx, const std::string& line, double budget_s) {
  gpumem_tune_options options;
  check(gpumem_tune_options_init(&options, sizeof options), "preparing the tuning");
  options.budget_s = budget_s;
  options.progress = stop_when_interrupted;
  gpumem_tune_info info;
  check(gpumem_tune_info_init(&info, sizeof info), "preparing the tuning");
  const gpumem_status status = gpumem_tune(ctx, line.c_str(), &options, &info);
  if (interrupted()) throw Interrupted{};
  check(status, "tuning '" + line + "'");
  return info;
}

nlohmann::ordered_json tuned_json(const std::string& line, const gpumem_tune_info& info) {
  return {{"problem", line},
          {"failed", nullptr},
          {"skipped", nullptr},
          {"adopted", info.adopted != 0},
          {"candidates", info.candidates},
          {"table", info.table},
          {"table_us", info.table_s * 1e6},
          {"winner", info.winner},
          {"winner_us", info.winner_s * 1e6},
          {"ratio", info.ratio},
          {"spread", info.spread},
          {"reason", info.reason}};
}

void print_tuned(const std::string& line, const gpumem_tune_info& info) {
  std::printf("%s\n", printable(line).c_str());
  if (info.candidates > 0) {
    std::printf("  %s %s of the table, %s %s (%.2f times as fast, spread %.1f %%)\n",
                format_seconds(info.table_s).c_str(), info.table, format_seconds(info.winner_s).c_str(), info.winner,
                info.ratio, 100 * info.spread);
  }
  std::printf("  %s: %s\n", info.adopted != 0 ? "adopted" : "the table's choice stays", info.reason);
}

// Prints what is no JSON at once. Whether no line failed: of a profile, what this context can't do is none of its problems.
bool tune_lines(gpumem_ctx* ctx, const std::vector<std::string>& lines, const TuneOptions& options,
                nlohmann::ordered_json& rows) {
  std::size_t adopted = 0;
  std::size_t skipped = 0;
  std::size_t failed = 0;
  measure::Progress progress(lines.size());
  for (const std::string& line : lines) {
    progress.step(printable(line));
    try {
      const gpumem_tune_info info = tuned(ctx, line, options.budget_s);
      progress.clear();
      adopted += info.adopted != 0 ? 1 : 0;
      rows.push_back(tuned_json(line, info));
      if (!options.json) print_tuned(line, info);
    } catch (const CallFailure& failure) {
      const bool passed = !options.profile.empty() && failure.status == GPUMEM_UNSUPPORTED;
      ++(passed ? skipped : failed);
      progress.clear();
      rows.push_back({{"problem", line}, {"failed", nullptr}, {"skipped", nullptr}, {"adopted", false}});
      rows.back()[passed ? "skipped" : "failed"] = failure.reason;
      if (!options.json)
        std::printf("%s\n  %s: %s\n", printable(line).c_str(), passed ? "skipped" : "FAILED",
                    printable(failure.reason).c_str());
    }
  }
  if (!options.json && lines.size() > 1) {
    std::printf("%zu problems: %zu adopted, %zu skipped, %zu failed\n", lines.size(), adopted, skipped, failed);
  }
  return failed == 0;
}

}  // namespace

int run_tune(const TuneOptions& options) {
  watch_interrupts();
  std::vector<std::string> lines = options.profile.empty() ? lines_of(options.words) : problems_of(options.profile);
  const Context ctx = create_context(options.device);
  if (options.profile.empty()) {
    for (std::string& line : lines) {  // a mistake in one is told before the others take their time
      line = with_operands(line);
      try {
        explanation(ctx.get(), line, GPUMEM_FORMAT_TEXT);
      } catch (const CallFailure&) {
        // what can't be done here is marked so when it is its turn
      }
    }
  }
  const auto save = [&] {
    if (!options.out.empty()) check(gpumem_tuning_save(ctx.get(), options.out.c_str()), "writing " + options.out);
  };
  if (!options.out.empty() && std::filesystem::exists(options.out)) {
    check(gpumem_tuning_load(ctx.get(), options.out.c_str(), nullptr, nullptr), "reading " + options.out);
  }
  save();  // what can't be written is told now
  nlohmann::ordered_json json = {{"device", device_json(device_of(ctx.get()))}, {"rows", nlohmann::json::array()}};
  bool well = true;
  try {
    well = tune_lines(ctx.get(), lines, options, json["rows"]);
  } catch (const Interrupted&) {
  }
  save();
  json["interrupted"] = interrupted();
  if (options.json) {
    print_json("tune", json);
  } else if (interrupted()) {
    std::printf("INTERRUPTED: the rest was not measured\n");
  }
  return interrupted() ? kInterruptedStatus : (well ? 0 : 1);
}

}  // namespace tool
