// The rows of a run, in the forms that `gpumem bench` writes. All have the same numbers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tool {

// Rows of one group, in the order in which they were measured.
struct Group {
  std::string name;
  std::vector<const Row*> rows;     // with figures
  std::vector<const Row*> skipped;  // without
};
std::vector<Group> groups_of(const std::vector<Row>& rows);

// The share of a full bar: of the ceiling where the group has one, else of the group's fastest.
double bar_of(const Row& row, const Group& group);

std::string title_of(const Results& results);     // "NVIDIA H200, driver 580.95.05, 16 threads"
std::string ceilings_of(const Results& results);  // "read 4597 GB/s, ..."; empty where none are known
std::string label_text(const Row& row);           // "strided", or with what else is known of it
std::string time_text(const Row& row);            // "518 us"
std::string rate_text(const Row& row);            // "4144 GB/s", or "" where no bytes are counted
std::string share_text(const Row& row);           // "97 %"
std::string verdict_of(const Results& results);   // "all verified", or what is wrong

std::string as_table(const Results& results);
std::string as_json(const Results& results);
std::string as_csv(const Results& results);
std::string as_svg(const Results& results);
std::string as_html(const Results& results);

}  // namespace tool
