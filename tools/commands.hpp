// The sub-commands. Each takes what was parsed, prints to stdout and returns the exit status; what fails is thrown.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tool {

struct Shape {
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t elements() const { return rows * cols; }
};

struct ListOptions {
  bool json = false;
};
int run_devices(const ListOptions& options);
int run_variants(const ListOptions& options);

struct ExplainOptions {
  std::string line;
  int32_t device = GPUMEM_DEVICE_BEST;
  bool json = false;
};
int run_explain(const ExplainOptions& options);

struct GridOptions {
  std::string file;  // empty: generate
  std::optional<Shape> generate;
  uint64_t seed = 0;
  std::string out;  // empty: not written
  int32_t device = GPUMEM_DEVICE_BEST;
  bool json = false;
};
int run_grid(const GridOptions& options);

struct ReplayOptions {
  std::string file;
  int32_t device = GPUMEM_DEVICE_BEST;
  bool json = false;
};
int run_replay(const ReplayOptions& options);

}  // namespace tool
