// Registers cases with Google Benchmark, measures them in pairs and reports them.
//
// A case becomes two benchmarks, <family>/<case>/vs:<peer>/ours and .../peer. The first of the two that runs measures
// both: ours, peer, peer, ours, ours, peer ... So a drift of the machine hits both sides alike and neither is always
// first. Each benchmark then gives its own samples to Google Benchmark as manual time, so that its filters and its
// --benchmark_out work as usual.
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/report.hpp"

namespace bench {

struct Options {
  std::string out;   // a folder or a file.json; empty: no file
  std::string name;  // the results file's name in that folder, without .json; filled by the program
  bool quick = false;
  int repeats = 21;
};

// Takes the program's own options (--out=PATH --quick --repeats=N --help) out of argv. Returns false if the program has
// nothing more to do; `status` is its exit status then.
bool parse_options(int& argc, char** argv, const char* about, Options& options, int& status);

// Runs the cases that Google Benchmark's options and --quick leave, then the summaries. Prints the table, and writes
// the JSON. Returns the exit status: 1 if a result was wrong.
int run_cases(int argc, char** argv, const Options& options, Report& report, const std::vector<Case>& cases,
              const std::vector<Summary>& summaries = {});

// Returns main()'s status: run's, or 1 after it has printed an exception's message.
int main_of(const char* name, int argc, char** argv, int (*run)(int, char**));

}  // namespace bench
