// The rows of a run, in every output form of `gpumem bench`. All forms have the same numbers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tool {

struct Group {
  std::string name;
  std::vector<const Row*> rows;
  std::vector<const Row*> skipped;
};
std::vector<Group> groups_of(const std::vector<Row>& rows);

// The share of a full bar: of the group's measured peak if it has one, else of its fastest row.
double bar_of(const Row& row, const Group& group);

std::string title_of(const Results& results);     // "NVIDIA H200, driver 580.95.05, 16 threads"
std::string ceilings_of(const Results& results);  // "read 4597 GB/s, ..."; empty if unknown
std::string label_text(const Row& row);           // "strided", or with further details
std::string time_text(const Row& row);
std::string rate_text(const Row& row);  // "4144 GB/s", or "" if no bytes are counted
std::string share_text(const Row& row);
std::string verdict_of(const Results& results);  // "all verified", or the errors

std::string as_table(const Results& results);
std::string as_json(const Results& results);
std::string as_csv(const Results& results);
std::string as_svg(const Results& results);
std::string as_html(const Results& results);

}  // namespace tool
