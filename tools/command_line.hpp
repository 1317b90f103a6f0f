// Parses the command line and runs a sub-command.
#pragma once

namespace tool {

// Returns the sub-command's exit status, 0 after --help or --version, or 2 after an error message about the arguments.
// Exceptions of a sub-command pass through.
int run_command_line(int argc, char** argv);

}  // namespace tool
