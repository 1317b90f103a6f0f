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

// The usage shows only the name of an option that takes several words and has a description.
class Formatter : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? CLI::Formatter::make_option_usage(option) : option->get_name(true);
  }
};

using Run = std::function<int()>;

// Throws a ValidationError that names the word unless all of it is an integer in range.
int64_t parse_integer(const std::string& word, const std::string& what, int64_t min, int64_t max) {
  int64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stopped_at, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stopped_at != end || value < min || value > max) {
    throw CLI::ValidationError(
        what, "'" + word + "' is not a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

double parse_seconds(const std::string& word, const std::string& what) {
  constexpr double kMost = 86400;
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [stopped_at, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stopped_at != end || !(value > 0 && value <= kMost)) {
    throw CLI::ValidationError(what, "'" + word + "' is not a number of seconds above 0 and at most a day");
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

template <class Parse>
void add_parsed(CLI::App* command, const char* option, const Parse& parse, const char* about, const char* type) {
  command->add_option_function<std::string>(option, parse, about)->type_name(type);
}

void add_device(CLI::App* command, int32_t& device) {
  add_parsed(
      command, "--device", [&device](const std::string& word) { device = parse_device(word); },
      "host, cuda, or the ordinal of a CUDA device; default: the current CUDA device, else the first, else the host",
      "WHICH");
}

void add_file(CLI::App* command, const char* option, std::string& path, const char* about, const char* type) {
  command->add_option(option, path, about)->type_name(type)->check([](const std::string& word) {
    return word.empty() ? std::string("the name is empty") : std::string();
  });
}

void add_json(CLI::App* command, bool& json) { command->add_flag("--json", json, "one JSON object instead of text"); }

// The options of the sub-command live as long as the application.
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
      "Lists the CUDA devices and the host. The last line names the device that a context takes if the program does "
      "not\n"
      "choose one, and why. The variable GPUMEM_DEVICE chooses too.");
  command = add(app, run, "variants", "the kernel variants of each operation", run_variants, options);
  add_json(command, options->json);
  command->footer(
      "Variants of all backends, in the order of selection. The variable GPUMEM_VARIANT_<FAMILY>=<variant>\n"
      "overrides the selection.");
}

void add_explain(CLI::App& app, Run& run) {
  std::shared_ptr<ExplainOptions> options;
  CLI::App* const command =
      add(app, run, "explain", "the device and the variant that an operation would use, and why", run_explain, options);
  command->add_option("LINE", options->words, "the operation descriptor")->required()->type_name("");
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "Says where an operation would run, and why; which kernel variant it would use; and why it would not use the\n"
      "others. Nothing runs. An operand without a word is in device memory (x=device).\n"
      "docs/operation-descriptors.md describes the text:\n\n"
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
    if (options->seed && !options->file.empty()) throw CLI::ValidationError("--seed", "it needs --generate");
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
      "Copies the grid to the device as int32. Prints minimum, maximum, sum, mean and roughness (the sum of squares\n"
      "about the mean) next to the results of a plain loop. Transposes the grid on the device and checks every "
      "element.\n"
      "Draws both grids, and says which device did the work, why, and how fast.");
}

void add_bench(CLI::App& app, Run& run) {
  std::shared_ptr<BenchOptions> options;
  CLI::App* const command =
      add(app, run, "bench", "timings of transfers, operations and allocations, with their results checked", run_bench,
          options);
  command->add_option("WHAT", options->words, "a suite, ladder and its name, or an operation descriptor")
      ->required()
      ->option_text("REQUIRED");
  add_device(command, options->device);
  add_parsed(
      command, "--samples",
      [options](const std::string& word) {
        options->samples = static_cast<int>(parse_integer(word, "--samples", 1, 10000));
      },
      "samples per row, at most (21)", "N");
  command->add_flag("--quick", options->quick, "small sizes and 5 samples: a test, not a measurement");
  CLI::Option* const json = command->add_flag("--json", options->json, "the results as JSON on standard output");
  command->add_flag("--csv", options->csv, "the same as CSV")->excludes(json);
  add_file(command, "--plot", options->plot, "a chart of the results", "FILE.svg");
  add_file(command, "--report", options->report, "the results as one HTML page", "FILE.html");
  command->parse_complete_callback([options] {
    if (!options->plot.empty() && options->plot == options->report) {
      throw CLI::ValidationError("bench", "--plot and --report name the same file, '" + options->plot + "'");
    }
  });
  command->footer(
      "Suites: transfer, copy, reduce, transpose, permute, alloc, managed; all runs each of them. ladder reduce, "
      "ladder\n"
      "transpose and ladder copy time every variant in turn, and mark the library's choice by *; the rest of an\n"
      "operation descriptor may follow. ladder access shows the cost of uncoalesced access. An operation descriptor "
      "is\n"
      "timed by itself:\n\n"
      "  gpumem bench all --report here.html\n"
      "  gpumem bench ladder transpose 'bytes=4 rows=16384 cols=16384'\n"
      "  gpumem bench 'reduce dtype=f32 op=sum n=1000000'\n\n"
      "A row shows the median of its samples. On a device, each sample begins with an empty L2 cache. Every result is\n"
      "compared, bit by bit, with the host's; on the host, with the result of the plainest variant. If one is wrong, "
      "the\n"
      "exit status is 1. Ctrl-C prints the rows so far and exits with status 130.");
}

void add_machine(CLI::App& app, Run& run) {
  std::shared_ptr<DoctorOptions> doctor;
  CLI::App* command =
      add(app, run, "doctor", "checks this machine's setup, and says how to fix it", run_doctor, doctor);
  add_json(command, doctor->json);
  command->footer(
      "Each line is ok, warn or fail. The checks: the driver, permissions, MIG, the limit of locked memory, huge "
      "pages,\n"
      "the NUMA node of each device, each operation against the bits of the host, and a copy between each pair of\n"
      "devices. If a check fails, the exit status is 1.");
  std::shared_ptr<CeilingOptions> ceiling;
  command = add(app, run, "ceiling", "the measured peak bandwidth of a device's memory", run_ceiling, ceiling);
  add_device(command, ceiling->device);
  add_json(command, ceiling->json);
}

void add_reduce(CLI::App& app, Run& run) {
  std::shared_ptr<ReduceOptions> options;
  CLI::App* const command =
      add(app, run, "reduce", "a reduction of the array in a file, with the bits of the result", run_reduce, options);
  command->add_option("FILE", options->file, "an .npy of i1 to i8, u1 to u8, f2, f4 or f8")->required()->type_name("");
  command
      ->add_option(
          "--op", options->op,
          "sum (the default), min, max, sum_abs, sum_squares, sum_cubes, max_abs, min_max, prod, "
          "sum_compensated (f8 only), or without NaNs sum_valid, count_valid, min_valid, max_valid (f2 to f8); "
          "sum_order_free (f2 to f8) and nrm2_order_free (f4, f8) have the bits of any order")
      ->type_name("OP");
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "Prints decimal digits and the bits of the result. The bits are the same on every machine, so two results that "
      "differ\n"
      "come from two different files. Elements are taken in the file's order.");
}

void add_tune(CLI::App& app, Run& run) {
  std::shared_ptr<TuneOptions> options;
  CLI::App* const command =
      add(app, run, "tune", "measures which variants are fastest, and keeps the choices in a file", run_tune, options);
  command->add_option("LINE", options->words, "operation descriptors")->type_name("");
  add_file(command, "--profile", options->profile, "the operations of a profile, as JSON", "FILE.json");
  add_file(command, "--out", options->out, "read and write the tuned choices here", "FILE");
  add_parsed(
      command, "--budget", [options](const std::string& word) { options->budget_s = parse_seconds(word, "--budget"); },
      "seconds per problem, about, in addition to a few runs of each variant (2)", "S");
  command->parse_complete_callback([options] {
    if (options->words.empty() == options->profile.empty()) {
      throw CLI::ValidationError("tune", "expected either LINE or --profile FILE.json");
    }
  });
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "A variant is adopted if it wins two rounds by 3 % and by twice the spread; otherwise the table's choice stays.\n"
      "Programs load the file with gpumem_tuning_load() or GPUMEM_TUNING=<path>:\n\n"
      "  GPUMEM_PROFILE=run.json ./program\n"
      "  gpumem tune --profile run.json.1234.1 --out tuned\n"
      "  GPUMEM_TUNING=tuned ./program");
}

void add_compare(CLI::App& app, Run& run) {
  std::shared_ptr<CompareOptions> options;
  CLI::App* const command =
      add(app, run, "compare", "compares two results of gpumem bench --json, row by row", run_compare, options);
  command->add_option("BEFORE", options->before, "results")->required()->type_name("");
  command->add_option("AFTER", options->after, "results of the same rows")->required()->type_name("");
  add_json(command, options->json);
  command->footer(
      "A row is slower if its median is slower by more than 5 % and the quartiles of both runs do not overlap. Rows "
      "with\n"
      "fewer than 10 samples, as from --quick, are never slower. The exit status is 1 if a row is slower, if AFTER "
      "lacks a\n"
      "row of BEFORE, or if the two files have different operations.");
}

void add_replay(CLI::App& app, Run& run) {
  std::shared_ptr<ReplayOptions> options;
  CLI::App* const command =
      add(app, run, "replay", "repeats the allocations and frees of a trace, and times them", run_replay, options);
  command->add_option("FILE", options->file, "a trace")->required()->type_name("");
  add_device(command, options->device);
  add_json(command, options->json);
  command->footer(
      "A trace is a file that gpumem_memory_trace() or GPUMEM_TRACE=<path> wrote. The command repeats its allocations "
      "and\n"
      "frees one after another, as fast as they go, with a stream for each stream of the trace. It prints the time, "
      "the\n"
      "memory that the pools took, and the allocations that failed.");
}

bool has_subcommand(CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> all = app.get_subcommands(nullptr);
  return std::any_of(all.begin(), all.end(), [&](const CLI::App* command) { return command->get_name() == name; });
}

// The innermost chosen sub-command, for the hint at its --help.
std::string deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + deepest(*chosen.front());
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("The memory side of a GPU: capabilities and speed on this machine.", "gpumem");
  Run run;
  app.set_version_flag(
      "--version", [] { return "gpumem " + library_version(); }, "the version of the library");
  app.set_help_flag("-h,--help", "this text");
  app.require_subcommand(1);
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(28);
  app.footer(
      "gpumem SUBCOMMAND --help says more.\n\nExit status: 0 success, 1 a failure or a difference, 2 a mistake in the "
      "arguments or in an operation descriptor, 130 interrupted.");
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
