// From the words of the command line to a sub-command.
#pragma once

namespace tool {

// The exit status: the sub-command's, 0 after --help or --version, 2 after a mistake in the arguments, which is told on standard
// error. What a sub-command throws passes through.
int run_command_line(int argc, char** argv);

}  // namespace tool
