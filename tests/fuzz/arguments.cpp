// The tool's command lines: the input's lines are the words. Of the commands, those that touch no file and take little time.
#include "fuzz/fuzz.hpp"
#include "tools/commands.hpp"
#include "tools/failure.hpp"

namespace {

using Command = int (*)(tool::Args);
constexpr Command kCommands[] = {tool::run_devices, tool::run_variants, tool::run_explain};

std::vector<std::string> lines_of(const uint8_t* data, size_t size) {
  std::vector<std::string> lines(1);
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      lines.emplace_back();
    } else if (data[i] != 0) {
      lines.back() += static_cast<char>(data[i]);
    }
  }
  return lines;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr;
  if (!silent || size == 0) return 0;
  const std::vector<std::string> words = lines_of(data + 1, size - 1);
  std::vector<const char*> values;
  for (const std::string& word : words) values.push_back(word.c_str());
  try {
    kCommands[data[0] % std::size(kCommands)](tool::Args(static_cast<int>(values.size()), values.data()));
  } catch (const tool::UsageError&) {
  } catch (const tool::Failure&) {
  }
  return 0;
}
