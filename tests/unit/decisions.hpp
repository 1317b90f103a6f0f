// Golden decisions as text: "device family key=value ... -> variant grid x block, per_thread, tile".
#pragma once

#include <string>

namespace gpumem::fixtures {

struct DecisionLine {
  std::string question;  // what stands before the arrow
  std::string answer;    // what stands after it
};

DecisionLine split(const std::string& line);

// The answer that select() gives today. Throws std::runtime_error for a question it can't read.
std::string answer(const std::string& question);

}  // namespace gpumem::fixtures
