// The sub-commands. Each takes its parsed options, prints to stdout and returns the exit status. Failures are thrown.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  std::vector<std::string> words;  // an operation descriptor
  int32_t device = GPUMEM_DEVICE_BEST;
  bool json = false;
};
int run_explain(const ExplainOptions& options);

struct GridOptions {
  std::string file;  // empty: generate
  std::optional<Shape> generate;
  std::optional<uint64_t> seed;
  std::string out;
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

struct BenchOptions {
  std::vector<std::string> words;  // a suite, or an operation descriptor
  int32_t device = GPUMEM_DEVICE_BEST;
  int samples = 0;  // 0: chosen automatically
  bool quick = false;
  bool json = false;
  bool csv = false;
  std::string plot;  // files; empty: none
  std::string report;
};
int run_bench(const BenchOptions& options);

struct TuneOptions {
  std::vector<std::string> words;  // operation descriptors, whole or word by word
  std::string profile;             // its problems replace lines
  std::string out;
  double budget_s = 2;  // per line
  int32_t device = GPUMEM_DEVICE_BEST;
  bool json = false;
};
int run_tune(const TuneOptions& options);

struct CompareOptions {
  std::string before;
  std::string after;
  bool json = false;
};
int run_compare(const CompareOptions& options);

struct ReduceOptions {
  std::string file;
  std::string op = "sum";
  int32_t device = GPUMEM_DEVICE_BEST;
  bool json = false;
};
int run_reduce(const ReduceOptions& options);

struct CeilingOptions {
  int32_t device = GPUMEM_DEVICE_BEST;
  bool json = false;
};
int run_ceiling(const CeilingOptions& options);

struct DoctorOptions {
  bool json = false;
};
int run_doctor(const DoctorOptions& options);

}  // namespace tool
