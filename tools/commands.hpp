// The subcommands. Each takes its arguments, prints to stdout and returns the exit status; what fails is thrown.
#pragma once

#include "args.hpp"

namespace tool {

int run_devices(Args args);
int run_variants(Args args);
int run_explain(Args args);
int run_grid(Args args);
int run_replay(Args args);

}  // namespace tool
