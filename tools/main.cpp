// The `gpumem` command: finds the subcommand, and turns what it throws into a message and an exit status.
#include <gpumem.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "args.hpp"
#include "commands.hpp"
#include "failure.hpp"

namespace {

constexpr const char* kUsage =
    "usage: gpumem <command> [options]\n"
    "\n"
    "  devices    the devices that gpumem can use on this machine\n"
    "  variants   the kernel variants of each family of operations\n"
    "  explain    where an operation would run, by which variant, and why\n"
    "  grid       statistics and transposition of a 2-D grid of integers, checked and timed\n"
    "  replay     the allocations and frees of a trace, made again and timed\n"
    "\n"
    "  --version  the version of the library\n"
    "  --help     this text; gpumem <command> --help says more\n"
    "\n"
    "exit status: 0 success, 1 a failure or a difference, 2 a mistake in the arguments\n";

int print_version() {
  int32_t major = 0;
  int32_t minor = 0;
  int32_t patch = 0;
  tool::check(gpumem_version(&major, &minor, &patch), "asking for the version");
  std::printf("gpumem %d.%d.%d\n", major, minor, patch);
  return 0;
}

int dispatch(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  const auto args = [&] { return tool::Args(argc - 2, argv + 2); };
  if (command == "devices") return tool::run_devices(args());
  if (command == "variants") return tool::run_variants(args());
  if (command == "explain") return tool::run_explain(args());
  if (command == "grid") return tool::run_grid(args());
  if (command == "replay") return tool::run_replay(args());
  if (command == "--version") return print_version();
  if (command == "--help" || command == "-h") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  throw tool::UsageError(command.empty() ? "a command is missing" : "unknown command '" + std::string(command) + "'");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int status = dispatch(argc, argv);
    const bool failed = std::ferror(stdout) != 0;  // flushed before, maybe, and nothing is left to fail now
    if (std::fclose(stdout) != 0 || failed) throw tool::Failure("writing to the standard output failed");
    return status;
  } catch (const tool::UsageError& error) {
    std::fprintf(stderr, "gpumem: %s\ntry 'gpumem --help'\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpumem: %s\n", error.what());
    return 1;
  }
}
