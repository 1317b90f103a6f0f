// What `gpumem bench` measures, as a list of rows to be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tool {

struct Step {
  std::string group;
  std::string label;
  std::function<Row(Session&)> run;  // a Failure of GPUMEM_UNSUPPORTED or OUT_OF_MEMORY: the row is skipped
};

// The words behind `gpumem bench`: a suite's name, `all`, `ladder` and its name with or without the rest of a line, or a problem
// line. A Failure names a word that is none of these.
std::vector<Step> steps_of(const std::vector<std::string>& words, const Session& session);

// Rows that are no operation of a problem line.
void add_alloc(std::vector<Step>& steps, const Session& session);
void add_managed(std::vector<Step>& steps, const Session& session);
// Sums of the cubes of n elements, with the cycles of a block; none where the command is built without CUDA.
void add_clocked(std::vector<Step>& steps, const Session& session, int64_t n);

}  // namespace tool
