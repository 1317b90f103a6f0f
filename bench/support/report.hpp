// The results of one run: a table on stdout, and the same numbers as JSON in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/results.hpp"
#include "support/case.hpp"

namespace bench {

struct Row {
  std::string family;
  std::string name;
  std::string peer;
  Bar bar = {};
  double ours_us = 0;
  double peer_us = 0;   // NaN without a baseline
  double gbs = 0;       // NaN if no bytes are counted
  double fraction = 0;  // of the case's peak, or NaN
  double spread = 0;    // the wider of both sides'
  int repeats = 0;
  std::string wrong = {};  // the message of a failed verification, which voids the figures

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
  void add(const Row& row);
  void skip(const SkippedRow& row);
  void print_summary() const;

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<SkippedRow>& skipped() const { return skipped_; }

  bool all_right() const;
  std::string json() const;
  void write(const std::string& path) const;

 private:
  std::vector<Row> rows_;
  std::vector<SkippedRow> skipped_;
};

}  // namespace bench
