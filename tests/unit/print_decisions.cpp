// Reads questions (or whole golden lines) from standard input and prints them with today's answers: how a fixture line is made.
#include <iostream>

#include "tests/unit/decisions.hpp"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty() || line[0] == '#') {
      std::cout << line << '\n';
      continue;
    }
    const size_t arrow = line.find(" -> ");
    const std::string question = line.substr(0, arrow);
    std::cout << question << " -> " << gpumem::fixtures::answer(question) << '\n';
  }
}
