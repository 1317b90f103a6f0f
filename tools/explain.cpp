// gpumem explain: where the operation of a problem line would run, and by which variant.
#include "explain.hpp"

#include <cstdio>

#include "bench/problem.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "resources.hpp"
#include "text.hpp"

namespace tool {
std::string explanation(gpumem_ctx* ctx, const std::string& line, gpumem_format format) {
  int64_t needed = 0;
  try {
    check(gpumem_explain(ctx, line.c_str(), format, nullptr, 0, &needed), "explaining the line");
  } catch (const CallFailure& failure) {
    if (failure.status == GPUMEM_INVALID_ARGUMENT) throw Mistake(failure.reason);
    throw;
  }
  std::string text(static_cast<std::size_t>(needed), '\0');
  check(gpumem_explain(ctx, line.c_str(), format, text.data(), needed, nullptr), "explaining the line");
  text.pop_back();  // the NUL
  return text;
}

int run_explain(const ExplainOptions& options) {
  const Context ctx = create_context(options.device);
  const std::string line = with_operands(joined(options.words));
  const std::string text = explanation(ctx.get(), line, options.json ? GPUMEM_FORMAT_JSON : GPUMEM_FORMAT_TEXT);
  std::fputs(text.c_str(), stdout);
  if (options.json) std::fputc('\n', stdout);
  return 0;
}

}  // namespace tool
