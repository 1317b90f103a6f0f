// How many operations.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "support/random.hpp"

namespace gpumem_test {

// GPUMEM_SOAK_OPERATIONS, over all threads; else so many. Prints the seed.
inline int64_t soak_operations(int64_t otherwise) {
  test_seed();
  const char* given = std::getenv("GPUMEM_SOAK_OPERATIONS");
  if (given == nullptr) return otherwise;
  char* end = nullptr;
  const int64_t operations = std::strtoll(given, &end, 0);
  EXPECT_TRUE(*end == '\0' && operations > 0) << "GPUMEM_SOAK_OPERATIONS is '" << given << "'; expected a number";
  return operations;
}

}  // namespace gpumem_test
