// The results of one run: a table for a person on stdout, the same numbers as JSON in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/case.hpp"

namespace bench {

// Where and with what a run was made. Empty strings become null.
struct Machine {
  std::string program;
  std::string device;
  std::string driver;
  std::string toolkit;
  std::string cpu;
  int threads = 0;       // of the library's host backend
  int peer_threads = 0;  // of OpenMP
  std::string date;      // UTC, 2026-11-21T10:00:00Z
  std::string commit;
};

// Bytes per second of this machine, measured in the same run; 0 while unknown.
struct Ceilings {
  double read = 0;
  double write = 0;
  double copy = 0;
  double theoretical = 0;  // as the device states it
};

struct Row {
  std::string family;
  std::string name;
  std::string peer;
  Bar bar;
  double ours_us = 0;
  double peer_us = 0;   // NaN without a peer
  double gbs = 0;       // NaN when no bytes are counted
  double fraction = 0;  // of the case's ceiling; NaN without one
  double spread = 0;    // the wider of both sides'
  int repeats = 0;
  std::string wrong;  // what a verification complained about; the figures are void then

  double ratio() const { return peer_us / ours_us; }
  double added_us() const { return ours_us - peer_us; }
  bool met() const;
};

struct SkippedRow {
  std::string family;
  std::string name;
  std::string peer;
  std::string reason;
};

class Report {
 public:
  Machine machine;
  Ceilings ceilings;
  bool quick = false;

  double ceiling(Ceiling which) const;

  void print_heading() const;
  void add(const Row& row);  // prints it too
  void skip(const SkippedRow& row);
  void print_summary() const;

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<SkippedRow>& skipped() const { return skipped_; }

  bool all_right() const;  // no verification complained
  std::string json() const;
  void write(const std::string& path) const;  // throws std::runtime_error

 private:
  std::vector<Row> rows_;
  std::vector<SkippedRow> skipped_;
};

}  // namespace bench
