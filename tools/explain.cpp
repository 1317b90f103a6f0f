// gpumem explain: where the operation of a problem line would run, and by which variant.
#include "explain.hpp"

#include <cstdio>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "resources.hpp"

namespace tool {
namespace {

constexpr const char* kUsage =
    "usage: gpumem explain [--device host|cuda|N] [--json] LINE\n"
    "\n"
    "Says where the operation of a problem line would run and why, which kernel variant it would take, and why each\n"
    "other one was passed over. Nothing runs. Lines are described in docs/problem-lines.md:\n"
    "\n"
    "  gpumem explain \"transpose bytes=4 rows=16384 cols=16384 src=device dst=device\"\n";

}  // namespace

std::string explanation(gpumem_ctx* ctx, const std::string& line, gpumem_format format) {
  int64_t needed = 0;
  check(gpumem_explain(ctx, line.c_str(), format, nullptr, 0, &needed), "explaining the line");
  std::string text(static_cast<std::size_t>(needed), '\0');
  check(gpumem_explain(ctx, line.c_str(), format, text.data(), needed, nullptr), "explaining the line");
  text.pop_back();  // the NUL
  return text;
}

int run_explain(Args args) {
  if (args.flag("--help")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  const bool as_json = args.flag("--json");
  const auto device = args.value("--device");
  const auto operands = args.operands(1);
  if (operands.empty()) throw UsageError("a problem line is missing");
  const Context ctx = create_context(device ? parse_device(*device) : GPUMEM_DEVICE_BEST);
  const std::string text = explanation(ctx.get(), operands[0], as_json ? GPUMEM_FORMAT_JSON : GPUMEM_FORMAT_TEXT);
  std::fputs(text.c_str(), stdout);
  if (as_json) std::fputc('\n', stdout);
  return 0;
}

}  // namespace tool
