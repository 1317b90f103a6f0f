// gpumem tune: measures which implementations are fastest for operation descriptors, and writes the choices to a file.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "interrupted.hpp"
#include "json_file.hpp"
#include "measure/progress.hpp"
#include "measure/results.hpp"
#include "problems/problem.hpp"
#include "resources.hpp"
#include "text.hpp"

namespace tool {
namespace {

// Joins words that the shell has divided: a word that begins with KEY= continues the line before.
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

// Each once, in the profile's order: the longest first.
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

enum class Outcome { done, failed, skipped };

struct Tuned {
  std::string line;
  gpumem_tune_info info{};
  Outcome outcome = Outcome::done;
  std::string why_not{};
  bool dropped = false;  // an earlier choice was removed

  bool measured() const { return info.table_s > 0; }
};

bool is_tuned(gpumem_ctx* ctx, const std::string& line) {
  try {
    return nlohmann::json::parse(explanation(ctx, line, GPUMEM_FORMAT_JSON)).at("chosen_by") == "tuning";
  } catch (const Failure&) {
    return false;  // tuning reports it
  }
}

nlohmann::ordered_json tuned_json(const Tuned& tuned) {
  const gpumem_tune_info& info = tuned.info;
  const auto if_measured = [&](auto value) { return tuned.measured() ? nlohmann::json(value) : nlohmann::json(); };
  const bool done = tuned.outcome == Outcome::done;
  const auto if_done = [&](auto value) { return done ? nlohmann::json(value) : nlohmann::json(); };
  const auto why = [&](Outcome of) { return tuned.outcome == of ? nlohmann::json(tuned.why_not) : nlohmann::json(); };
  return {{"problem", tuned.line},
          {"failed", why(Outcome::failed)},
          {"skipped", why(Outcome::skipped)},
          {"adopted", info.adopted != 0},
          {"dropped", tuned.dropped},
          {"candidates", if_done(info.candidates)},
          {"table", measure::text_or_null(info.table)},
          {"table_us", if_measured(info.table_s * 1e6)},
          {"winner", if_measured(info.winner)},
          {"winner_us", if_measured(info.winner_s * 1e6)},
          {"ratio", if_measured(info.ratio)},
          {"spread", if_measured(info.spread)},
          {"reason", if_done(info.reason)}};
}

void print_tuned(const Tuned& tuned) {
  const gpumem_tune_info& info = tuned.info;
  std::printf("%s\n", printable(tuned.line).c_str());
  if (tuned.outcome != Outcome::done) {
    std::printf("  %s: %s\n", tuned.outcome == Outcome::failed ? "FAILED" : "skipped",
                printable(tuned.why_not).c_str());
    return;
  }
  if (tuned.measured()) {
    std::printf("  %s %s of the table, %s %s (%.2f times as fast, spread %.1f %%)\n",
                format_seconds(info.table_s).c_str(), info.table, format_seconds(info.winner_s).c_str(), info.winner,
                info.ratio, 100 * info.spread);
  }
  const char* const verdict = info.adopted != 0 ? "adopted"
                              : tuned.dropped   ? "the earlier tuned choice is dropped; the table's choice is back"
                                                : "the table's choice stays";
  std::printf("  %s: %s\n", verdict, info.reason);
}

// For a profile, operations that this context does not support are skipped.
Tuned tune_line(gpumem_ctx* ctx, const std::string& line, const TuneOptions& options) {
  Tuned result{.line = line};
  const bool was_tuned = is_tuned(ctx, line);
  try {
    result.info = tuned(ctx, line, options.budget_s);
    result.dropped = was_tuned && result.info.adopted == 0;
  } catch (const CallFailure& failure) {
    const bool passed = !options.profile.empty() && failure.status == GPUMEM_UNSUPPORTED;
    result.outcome = passed ? Outcome::skipped : Outcome::failed;
    result.why_not = failure.reason;
  }
  return result;
}

// Returns the number of failed lines.
std::size_t tune_lines(gpumem_ctx* ctx, const std::vector<std::string>& lines, const TuneOptions& options,
                       nlohmann::ordered_json& rows) {
  std::size_t adopted = 0;
  std::size_t skipped = 0;
  std::size_t failed = 0;
  measure::Progress progress(lines.size());
  for (const std::string& line : lines) {
    progress.step(printable(line));
    const Tuned tuned = tune_line(ctx, line, options);
    progress.clear();
    adopted += tuned.info.adopted != 0 ? 1 : 0;
    skipped += tuned.outcome == Outcome::skipped ? 1 : 0;
    failed += tuned.outcome == Outcome::failed ? 1 : 0;
    rows.push_back(tuned_json(tuned));
    if (!options.json) print_tuned(tuned);
  }
  if (!options.json && lines.size() > 1) {
    std::printf("%zu problems: %zu adopted, %zu skipped, %zu failed\n", lines.size(), adopted, skipped, failed);
  }
  return failed;
}

// The line in the shortest form of explain. A Failure names the line.
std::string shortest(gpumem_ctx* ctx, const std::string& line) {
  try {
    const std::string whole = with_operands(line);
    return nlohmann::json::parse(explanation(ctx, whole, GPUMEM_FORMAT_JSON)).at("line");
  } catch (const Mistake& mistake) {
    throw Mistake("'" + line + "': " + mistake.what());
  } catch (const CallFailure&) {
    return with_operands(line);  // an unsupported operation is marked when it is its turn
  }
}

}  // namespace

int run_tune(const TuneOptions& options) {
  watch_interrupts();
  std::vector<std::string> lines = options.profile.empty() ? lines_of(options.words) : problems_of(options.profile);
  const Context ctx = create_context(options.device);
  if (options.profile.empty()) {  // reports errors in any line before the first one is tuned
    for (std::string& line : lines) line = shortest(ctx.get(), line);
  }
  const auto save = [&] {
    if (!options.out.empty()) check(gpumem_tuning_save(ctx.get(), options.out.c_str()), "writing " + options.out);
  };
  if (!options.out.empty() && std::filesystem::exists(options.out)) {
    check(gpumem_tuning_load(ctx.get(), options.out.c_str(), nullptr, nullptr), "reading " + options.out);
  }
  save();  // reports at once if the file cannot be written
  nlohmann::ordered_json json = {{"device", device_json(device_of(ctx.get()))}, {"rows", nlohmann::json::array()}};
  std::size_t failed = 0;
  try {
    failed = tune_lines(ctx.get(), lines, options, json["rows"]);
  } catch (const Interrupted&) {
  }
  save();
  json["interrupted"] = interrupted();
  if (options.json) {
    print_json("tune", json);
  } else if (interrupted()) {
    std::printf("INTERRUPTED: the rest was not measured\n");
  }
  if (interrupted()) return kInterruptedStatus;
  if (failed > 0) throw Failure(counted(failed, "problem") + " failed, of " + std::to_string(lines.size()));
  return 0;
}

}  // namespace tool
