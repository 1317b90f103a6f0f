// The list of rows that `gpumem bench` measures.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tool {

struct Step {
  std::string group;
  std::string label;
  std::function<Row(Session&)> run;  // a Failure of GPUMEM_UNSUPPORTED or OUT_OF_MEMORY skips the row
};

// words: the arguments of `gpumem bench`. They are the name of a suite, `all`, `ladder` with a name and optional keys,
// or an operation descriptor. A Failure names an unknown word.
std::vector<Step> steps_of(const std::vector<std::string>& words, const Session& session);

// Rows without an operation descriptor.
void add_alloc(std::vector<Step>& steps, const Session& session);
void add_managed(std::vector<Step>& steps, const Session& session);
// Sums of the cubes of n elements, with the cycles of a block. Adds nothing if the command is built without CUDA.
void add_clocked(std::vector<Step>& steps, const Session& session, int64_t n);

}  // namespace tool
