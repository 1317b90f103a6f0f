#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr int kUsageError = 2;

// Of many words that are one thing, which have a text of their own, the usage says no more than the name.
class Formatter : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? CLI::Formatter::make_option_usage(option) : option->get_name(true);
  }
};

// The sub-command that was asked for.
using Run = std::function<int()>;

// A whole number, all of the word; else a ValidationError that names it.
int64_t parse_integer(const std::string& word, const std::string& what, int64_t min, int64_t max) {
  int64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stopped_at, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stopped_at != end || value < min || value > max) {
    throw CLI::ValidationError(
        what, "'" + word + "' is no whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

double parse_seconds(const std::string& word, const std::string& what) {
  constexpr double kMost = 86400;
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [stopped_at, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stopped_at != end || !(value > 0 && value <= kMost)) {
    throw CLI::ValidationError(what, "'" + word + "' is no number of seconds above 0, and at most a day");
  }
  return value;
}

Shape parse_shape(const std::string& word) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMostElements = std::numeric_limits<int64_t>::max() / 8;
  const auto x = word.find('x');
  if (x == std::string::npos) throw CLI::ValidationError("--generate", "'" + word + "' is not ROWSxCOLS");
  const Shape shape{parse_integer(word.substr(0, x), "the number of rows", 1, kMost),
                    parse_integer(word.substr(x + 1), "the number of columns", 1, kMost)};
  if (shape.elements() > kMostElements) throw CLI::ValidationError("--generate", "'" + word + "' is too large");
  return shape;
}

int32_t parse_device(const std::string& word) {
  if (word == "host") return GPUMEM_DEVICE_HOST;
  if (word == "cuda") return GPUMEM_DEVICE_CUDA;
  try {
    return static_cast<int32_t>(parse_integer(word, "--device", 0, std::numeric_limits<int32_t>::max()));
  } catch (const CLI::ValidationError&) {
    throw CLI::ValidationError("--device", "'" + word + "' is neither host nor cuda nor the ordinal of a device");
  }
}

// An option whose word is parsed into a value.
template <class Parse>
void add_parsed(CLI::App* command, const char* option, const Parse& parse, const char* about, const char* type) {
  command->add_option_function<std::string>(option, parse, about)->type_name(type);
}

void add_device(CLI::App* command, int32_t& device) {
  add_parsed(
      command, "--device", [&device](const std::string& word) { device = parse_device(word); },
      "host, cuda, or the ordinal of a CUDA device; left out: the best device", "WHICH");
}

void add_file(CLI::App* command, const char* option, std::string& path, const char* about, const char* type) {
  command->add_option(option, path, about)->type_name(type)->check([](const std::string& word) {
    return word.empty() ? std::string("the name is empty") : std::string();
  });
}

void add_json(CLI::App* command, bool& json) { command->add_flag("--json", json, "one JSON object instead of text"); }

// A sub-command whose options live as long as the application.
template <class Options>
CLI::App* add(CLI::App& app, Run& run, const char* name, const char* about, int (*function)(const Options&),
              std::shared_ptr<Options>& options) {
  options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand(name, about);
  command->callback([&run, function, options] { run = [function, options] { return function(*options); }; });
  return command;
}

void add_lists(CLI::App& app, Run& run) {
  std::shared_ptr<ListOptions> options;
  CLI::App* command = add(app, run, "devices", "the devices that gpumem can use on this machine", run_devices, options);
  add_json(command, options->json);
  command->footer(
      "Lists the CUDA devices and the host, then the device that a context takes when the program leaves the choice\n"
      "(the variable GPUMEM_DEVICE counts), and why.");
  command = add(app, run, "variants", "the kernel variants of each family of operations", run_variants, options);
  add_json(command, options->json);
  command->footer(
      "In the order in which they are tried, those of all backends. The variable GPUMEM_VARIANT_<FAMILY>=<variant>\n"
      "forces one.");
}

void add_explain(CLI::App& app, Run& run) {
  std::shared_ptr<ExplainOptions> options;
  CLI::App* const command =
      add(app, run, "explain", "where an operation would run, by which variant, and why", run_explain, options);
  command->add_option("LINE", options->words, "the operation as a problem line")->required()->type_name("");
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "Says where the operation of a problem line would run and why, which kernel variant it would take, and why each\n"
      "other one was passed over. Nothing runs. An operand that the line leaves out lies in device memory (x=device).\n"
      "Lines are described in docs/operation-descriptors.md:\n\n"
      "  gpumem explain 'transpose bytes=4 rows=16384 cols=16384 src=device dst=device'");
}

void add_grid(CLI::App& app, Run& run) {
  std::shared_ptr<GridOptions> options;
  CLI::App* const command = add(
      app, run, "grid", "statistics and transposition of a 2-D grid of integers, checked and timed", run_grid, options);
  command->add_option("FILE", options->file, "a two-dimensional .npy of i1, u1, i2, u2 or i4")->type_name("");
  add_parsed(
      command, "--generate", [options](const std::string& word) { options->generate = parse_shape(word); },
      "a terrain of that size instead of a file", "ROWSxCOLS");
  command->parse_complete_callback([options] {
    if (options->file.empty() != options->generate.has_value()) {
      throw CLI::ValidationError("grid", "expected either one FILE or --generate ROWSxCOLS");
    }
    if (options->seed && !options->file.empty()) throw CLI::ValidationError("--seed", "it is of --generate alone");
  });
  add_file(command, "--out", options->out, "write the transposed grid to this .npy", "FILE");
  add_parsed(
      command, "--seed",
      [options](const std::string& word) {
        options->seed = static_cast<uint64_t>(parse_integer(word, "--seed", 0, std::numeric_limits<int64_t>::max()));
      },
      "another terrain (0)", "N");
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "Copies the grid to the device (widened to int32); prints minimum, maximum, sum, mean and roughness (the sum of\n"
      "squares about the mean) beside those of a plain loop; transposes the grid on the device and checks every\n"
      "element; draws both; and says which device did it, why, and how fast.");
}

void add_bench(CLI::App& app, Run& run) {
  std::shared_ptr<BenchOptions> options;
  CLI::App* const command =
      add(app, run, "bench", "timings of transfers, operations and allocations, with their results checked", run_bench,
          options);
  command->add_option("WHAT", options->words, "one suite, ladder and its name, or one problem line")
      ->required()
      ->option_text("REQUIRED");
  add_device(command, options->device);
  add_parsed(
      command, "--samples",
      [options](const std::string& word) {
        options->samples = static_cast<int>(parse_integer(word, "--samples", 1, 10000));
      },
      "at most so many of each row (21)", "N");
  command->add_flag("--quick", options->quick, "small sizes and 5 samples: whether it works, not how fast it is");
  CLI::Option* const json = command->add_flag("--json", options->json, "the results as JSON on standard output");
  command->add_flag("--csv", options->csv, "the same as CSV")->excludes(json);
  add_file(command, "--plot", options->plot, "a picture of the results", "FILE.svg");
  add_file(command, "--report", options->report, "a page of the results, in one file", "FILE.html");
  command->parse_complete_callback([options] {
    if (!options->plot.empty() && options->plot == options->report) {
      throw CLI::ValidationError("bench", "--plot and --report have one file, '" + options->plot + "'");
    }
  });
  command->footer(
      "Suites: transfer, copy, reduce, transpose, permute, alloc, managed, and all of them; ladder reduce, ladder\n"
      "transpose and ladder copy, each with the rest of a problem line or without, take every variant in turn (* "
      "marks\n"
      "the library's choice); ladder access shows what uncoalesced access costs. A problem line is measured as it "
      "is:\n\n"
      "  gpumem bench all --report here.html\n"
      "  gpumem bench ladder transpose 'bytes=4 rows=16384 cols=16384'\n"
      "  gpumem bench 'reduce dtype=f32 op=sum n=1000000'\n\n"
      "A row has the median of its samples. On a device each begins with an empty L2. Every result is compared with "
      "that\n"
      "of the host, and on the host with that of its plainest variant, bit by bit: the exit status is 1 where one is\n"
      "wrong. Ctrl-C ends with the rows so far and status 130.");
}

void add_machine(CLI::App& app, Run& run) {
  std::shared_ptr<DoctorOptions> doctor;
  CLI::App* command = add(app, run, "doctor", "what of this machine is as it should be, and what to do about the rest",
                          run_doctor, doctor);
  add_json(command, doctor->json);
  command->footer(
      "Each line is ok, warn or fail: the driver, permissions, MIG, how much memory may be locked, huge pages, the "
      "NUMA\n"
      "node of each device, each operation against the bits of the host, and a copy between each pair of devices,\n"
      "compared byte by byte. The exit status is 1 where a line fails.");
  std::shared_ptr<CeilingOptions> ceiling;
  command = add(app, run, "ceiling", "how fast the memory of a device is, as measured", run_ceiling, ceiling);
  add_device(command, ceiling->device);
  add_json(command, ceiling->json);
}

void add_reduce(CLI::App& app, Run& run) {
  std::shared_ptr<ReduceOptions> options;
  CLI::App* const command =
      add(app, run, "reduce", "one number of an array in a file, with its bits", run_reduce, options);
  command->add_option("FILE", options->file, "an .npy of i1 to i8, u1 to u8, f2, f4 or f8")->required()->type_name("");
  command
      ->add_option("--op", options->op,
                   "sum (also where it is left out), min, max, sum_abs, sum_squares, sum_cubes, max_abs, min_max, prod "
                   "or, of f8, "
                   "sum_compensated")
      ->type_name("OP");
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "In decimal digits and as the bits of the result, which are the same on every machine: two that differ do not\n"
      "have the same file. Elements are taken in the file's order.");
}

void add_tune(CLI::App& app, Run& run) {
  std::shared_ptr<TuneOptions> options;
  CLI::App* const command =
      add(app, run, "tune", "which variants are fastest for problems, as measured, kept in a file", run_tune, options);
  command->add_option("LINE", options->words, "problem lines")->type_name("");
  add_file(command, "--profile", options->profile, "the problems of a profile, as JSON", "FILE.json");
  add_file(command, "--out", options->out, "read and write what is tuned here", "FILE");
  add_parsed(
      command, "--budget", [options](const std::string& word) { options->budget_s = parse_seconds(word, "--budget"); },
      "seconds for each problem, about, beside a few runs of each variant (2)", "S");
  command->parse_complete_callback([options] {
    if (options->words.empty() == options->profile.empty()) {
      throw CLI::ValidationError("tune", "expected either LINE or --profile FILE.json");
    }
  });
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "A variant is adopted when it wins two rounds by 3 % and by twice the spread; when in doubt, the table's choice\n"
      "stays. Programs take what a file has with gpumem_tuning_load() or GPUMEM_TUNING=<path>:\n\n"
      "  GPUMEM_PROFILE=run.json ./program\n"
      "  gpumem tune --profile run.json.1234.1 --out tuned\n"
      "  GPUMEM_TUNING=tuned ./program");
}

void add_compare(CLI::App& app, Run& run) {
  std::shared_ptr<CompareOptions> options;
  CLI::App* const command =
      add(app, run, "compare", "two results of gpumem bench --json, row by row", run_compare, options);
  command->add_option("BEFORE", options->before, "results")->required()->type_name("");
  command->add_option("AFTER", options->after, "results of the same rows")->required()->type_name("");
  add_json(command, options->json);
  command->footer(
      "A row is slower where its median is by more than 5 %, and the quartiles of both runs lie apart; a row of fewer\n"
      "than 10 samples, as of --quick, is never called so. The exit status is 1 where one is slower, where AFTER has "
      "no\n"
      "times of a row of BEFORE, or where the two are of other problems.");
}

void add_replay(CLI::App& app, Run& run) {
  std::shared_ptr<ReplayOptions> options;
  CLI::App* const command =
      add(app, run, "replay", "the allocations and frees of a trace, made again and timed", run_replay, options);
  command->add_option("FILE", options->file, "a trace")->required()->type_name("");
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "Makes the allocations and frees of a trace, which gpumem_memory_trace() or GPUMEM_TRACE=<path> wrote, one "
      "after\n"
      "the other and as fast as they go, with a stream for each stream of the trace; and says how long they took, "
      "what\n"
      "the pools took for them, and what could not be had.");
}

bool has_subcommand(CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> all = app.get_subcommands(nullptr);
  return std::any_of(all.begin(), all.end(), [&](const CLI::App* command) { return command->get_name() == name; });
}

// The sub-command that the words get to, for the hint at its --help.
std::string deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + deepest(*chosen.front());
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("The memory side of a GPU: what it can do here, and how fast.", "gpumem");
  Run run;
  app.set_version_flag(
      "--version", [] { return "gpumem " + library_version(); }, "the version of the library");
  app.set_help_flag("-h,--help", "this text");
  app.require_subcommand(1);
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(28);
  app.footer(
      "gpumem SUBCOMMAND --help says more.\n\nExit status: 0 success, 1 a failure or a difference, 2 a mistake in the "
      "arguments or in a problem line, 130 interrupted.");
  add_lists(app, run);
  add_explain(app, run);
  add_machine(app, run);
  add_bench(app, run);
  add_tune(app, run);
  add_compare(app, run);
  add_reduce(app, run);
  add_grid(app, run);
  add_replay(app, run);
  try {
    if (argc > 1 && argv[1][0] != '-' && !has_subcommand(app, argv[1])) {
      throw CLI::ValidationError("no such sub-command", argv[1]);
    }
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string unknown = joined(app.remaining(true));
    const std::string sentence = unknown.empty() ? error.what() : "not expected: " + unknown;
    std::fprintf(stderr, "gpumem: %s\ntry '%s --help'\n", printable(sentence).c_str(), deepest(app).c_str());
    return kUsageError;
  }
  return run();
}

}  // namespace tool
