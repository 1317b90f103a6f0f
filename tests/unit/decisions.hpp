// Golden decisions as text: a device, a problem line, and what is decided there: "-> variant grid x block, per_thread, tile".
#pragma once

#include <cstdint>
#include <string>

namespace gpumem::fixtures {

// An address so many bytes past a multiple of 4096, apart from those of other numbers. Nothing lies there.
inline char* made_up_address(int64_t misalignment, int number = 0) {
  return reinterpret_cast<char*>((uintptr_t{1} << 44) + (static_cast<uintptr_t>(number) << 40) +
                                 static_cast<uintptr_t>(misalignment));
}

struct DecisionLine {
  std::string question;  // what stands before the arrow
  std::string answer;    // what stands after it
};

DecisionLine split(const std::string& line);

// Today's answer. Throws for a question it can't read, or that is refused.
std::string answer(const std::string& question);

}  // namespace gpumem::fixtures
