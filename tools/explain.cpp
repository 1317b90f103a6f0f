// gpumem explain: tells where an operation would run, and by which implementation.
#include <cstdio>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "problems/problem.hpp"
#include "resources.hpp"
#include "text.hpp"

namespace tool {

int run_explain(const ExplainOptions& options) {
  const Context ctx = create_context(options.device);
  const std::string line = with_operands(joined(options.words));
  const std::string text = explanation(ctx.get(), line, options.json ? GPUMEM_FORMAT_JSON : GPUMEM_FORMAT_TEXT);
  std::fputs(text.c_str(), stdout);
  if (options.json) std::fputc('\n', stdout);
  return 0;
}

}  // namespace tool
