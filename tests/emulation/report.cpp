#include "emulation/report.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>

namespace gpumem_emulation {
namespace {

uint64_t chosen_seed() {
  const char* given = std::getenv("GPUMEM_EMULATION_SEED");
  if (given != nullptr) return std::strtoull(given, nullptr, 0);
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

// At the start, since some tests watch what is printed while the library works; on standard error, since programs hand their
// results over on standard output.
[[gnu::constructor]] void print_seed() {
  std::fprintf(stderr, "GPUMEM_EMULATION_SEED=%llu\n", static_cast<unsigned long long>(seed()));
}

}  // namespace

uint64_t seed() {
  static const uint64_t value = chosen_seed();
  return value;
}

void give_up(const std::string& sentence) {
  std::fprintf(stderr, "emulated device: %s (GPUMEM_EMULATION_SEED=%llu)\n", sentence.c_str(),
               static_cast<unsigned long long>(seed()));
  std::abort();
}

}  // namespace gpumem_emulation
