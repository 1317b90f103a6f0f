// The tool's command lines: the input's lines are the words. The sub-commands are stand-ins that look at what was parsed, and do nothing.
#include <vector>

#include "fuzz/fuzz.hpp"
#include "tools/command_line.hpp"
#include "tools/commands.hpp"
#include "tools/device.hpp"

namespace tool {

using gpumem_fuzz::require;

namespace {

int on(int32_t device) {
  require(device >= 0 || device == GPUMEM_DEVICE_BEST || device == GPUMEM_DEVICE_HOST || device == GPUMEM_DEVICE_CUDA,
          "a device that there can't be");
  return 0;
}

}  // namespace

std::string library_version() { return "0.0.0"; }

int run_devices(const ListOptions&) { return 0; }
int run_variants(const ListOptions&) { return 0; }
int run_doctor(const DoctorOptions&) { return 0; }
int run_explain(const ExplainOptions& options) { return on(options.device); }
int run_ceiling(const CeilingOptions& options) { return on(options.device); }
int run_replay(const ReplayOptions& options) { return on(options.device); }
int run_reduce(const ReduceOptions& options) { return on(options.device); }
int run_compare(const CompareOptions&) { return 0; }
int run_grid(const GridOptions& options) {
  require(options.file.empty() == options.generate.has_value(), "a file and a terrain, or neither");
  require(!options.generate || (options.generate->rows >= 1 && options.generate->cols >= 1),
          "a terrain without elements");
  return on(options.device);
}
int run_bench(const BenchOptions& options) {
  require(!options.words.empty() && options.samples >= 0 && options.samples <= 10000, "a measurement of nothing");
  require(!options.json || !options.csv, "two formats");
  return on(options.device);
}
int run_tune(const TuneOptions& options) {
  require(options.words.empty() != options.profile.empty(), "lines and a profile, or neither");
  require(options.budget_s > 0, "no time");
  return on(options.device);
}

}  // namespace tool

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr;
  gpumem_fuzz::require(silent, "/dev/null");
  std::vector<std::string> words = {"gpumem"};
  for (size_t i = 0; i < size; ++i) {
    if (i == 0 || data[i - 1] == '\n') words.emplace_back();
    if (data[i] != '\n' && data[i] != 0) words.back() += static_cast<char>(data[i]);
  }
  std::vector<char*> values;
  for (std::string& word : words) values.push_back(word.data());
  values.push_back(nullptr);
  const int status = tool::run_command_line(static_cast<int>(words.size()), values.data());
  gpumem_fuzz::require(status == 0 || status == 2, "a status that no line has");
  return 0;
}
