// What `gpumem grid` found, and how it is told.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <string>

#include "grid_statistics.hpp"
#include "measure/statistics.hpp"
#include "picture.hpp"

namespace tool {

// One operation on the grid: how fast it was, where it ran and why.
struct Operation {
  int64_t bytes = 0;  // read, and written where it writes
  measure::Summary timing;
  std::string explanation;  // of gpumem_explain(): text, or JSON when that was asked for
};

struct GridReport {
  std::string source;  // the file's name, or how the grid was generated
  std::string dtype;   // of the source
  std::string output;  // the file with the transposed grid; empty: none was written
  int64_t rows = 0;
  int64_t cols = 0;
  gpumem_device_info device{};
  Statistics library;
  Statistics plain;
  bool statistics_agree = false;
  bool transposition_agrees = false;
  Operation sum;
  Operation transpose;

  bool agrees() const { return statistics_agree && transposition_agrees; }
};

// The two grids in host memory.
void print_report(const GridReport& report, const GridView& grid, const GridView& transposed);
void print_report_json(const GridReport& report);
// Of a grid without elements, which no device sees.
void print_empty_report(const GridReport& report, bool as_json);

}  // namespace tool
