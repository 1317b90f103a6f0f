#include "support/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "text.hpp"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;

std::string gigabytes(double bytes_per_s) { return bytes_per_s > 0 ? rounded(bytes_per_s / 1e9).dump() : "-"; }

// By BarKind: its name in the file, and its display.
struct KindText {
  const char* name;
  const char* shown;
};
constexpr KindText kKinds[] = {{"", ""},
                               {"ratio", ">= %.3g"},
                               {"of_ceiling", ">= %.3g of max"},
                               {"at_most_us", "<= %.6g us"},
                               {"at_most_added_us", "<= +%.3g us"}};
const KindText& text_of(const Bar& bar) { return kKinds[static_cast<int>(bar.kind)]; }

Json json_row(const Row& r) {
  const bool barred = r.bar.kind != BarKind::none;
  Json row = {{"family", r.family},
              {"case", r.name},
              {"ours_us", rounded(r.ours_us)},
              {"peer_us", rounded(r.peer_us)},
              {"peer", text_or_null(r.peer)},
              {"ratio", rounded(r.ratio())},
              {"bar", barred ? rounded(r.bar.value) : Json()},
              {"bar_kind", text_or_null(text_of(r.bar).name)},
              {"met", barred ? Json(r.met()) : Json()},
              {"gbs", rounded(r.gbs)},
              {"fraction_of_ceiling", rounded(r.fraction)},
              {"spread", rounded(r.spread)},
              {"repeats", r.repeats}};
  if (!r.wrong.empty()) row["wrong"] = r.wrong;
  return row;
}

std::string cell(double v, int width, int digits) {
  return std::isfinite(v) ? tool::format("%*.*f", width, digits, v) : tool::format("%*s", width, "-");
}

std::string bar_text(const Row& r) {
  if (r.bar.kind == BarKind::none) return "";
  return tool::format(text_of(r.bar).shown, r.bar.value) + (r.met() ? "  met" : "  MISSED");
}

}  // namespace

bool Row::met() const {
  if (!wrong.empty()) return false;
  switch (bar.kind) {
    case BarKind::ratio:
      return ratio() >= bar.value;
    case BarKind::of_ceiling:
      return fraction >= bar.value;
    case BarKind::at_most:
      return ours_us <= bar.value;
    case BarKind::at_most_added:
      return added_us() <= bar.value;
    case BarKind::none:
      break;
  }
  return true;
}

double Report::ceiling(Ceiling which) const {
  const double by_ceiling[] = {0, ceilings.read, ceilings.write, ceilings.copy, ceilings.theoretical};
  return by_ceiling[static_cast<int>(which)];
}

void Report::print_heading() const {
  std::printf("%s on %s%s%s, %s, %d threads (OpenMP %d)\n", machine.program.c_str(), machine.device.c_str(),
              machine.driver.empty() ? "" : ", driver ", machine.driver.c_str(), machine.cpu.c_str(), machine.threads,
              machine.peer_threads);
  std::printf("ceilings, GB/s: read %s, write %s, copy %s, theoretical %s\n\n", gigabytes(ceilings.read).c_str(),
              gigabytes(ceilings.write).c_str(), gigabytes(ceilings.copy).c_str(),
              gigabytes(ceilings.theoretical).c_str());
  std::printf("%-52s %-22s %11s %11s %7s %9s %6s %7s  %s\n", "case", "baseline", "ours us", "baseline us", "ratio",
              "GB/s", "of max", "spread", "target");
  std::fflush(stdout);
}

void Report::add(const Row& r) {
  rows_.push_back(r);
  const std::string name = r.family + "/" + r.name;
  if (!r.wrong.empty()) {
    std::printf("%-52s %-22s WRONG: %s\n", name.c_str(), r.peer.c_str(), r.wrong.c_str());
  } else {
    std::printf("%-52s %-22s %s %s %s %s %s %s  %s\n", name.c_str(), r.peer.empty() ? "-" : r.peer.c_str(),
                cell(r.ours_us, 11, 2).c_str(), cell(r.peer_us, 11, 2).c_str(), cell(r.ratio(), 7, 3).c_str(),
                cell(r.gbs, 9, 1).c_str(), cell(r.fraction, 6, 3).c_str(), cell(r.spread, 7, 3).c_str(),
                bar_text(r).c_str());
  }
  std::fflush(stdout);
}

void Report::skip(const SkippedRow& row) {
  skipped_.push_back(row);
  if (row.family == "ladder") return;  // implementations of other backends: the file lists them
  std::printf("%s/%s skipped: %s\n", row.family.c_str(), row.name.c_str(), row.reason.c_str());
  std::fflush(stdout);
}

void Report::print_summary() const {
  int barred = 0, met = 0, wrong = 0;
  for (const Row& r : rows_) {
    wrong += !r.wrong.empty();
    if (r.bar.kind == BarKind::none) continue;
    ++barred;
    met += r.met();
  }
  std::printf("\n%zu rows, %zu skipped, %d wrong; %d of %d targets met\n", rows_.size(), skipped_.size(), wrong, met,
              barred);
  for (const Row& r : rows_) {
    if (r.bar.kind != BarKind::none && !r.met()) {
      const bool of_ceiling = r.bar.kind == BarKind::of_ceiling;
      std::printf("  missed: %s/%s vs %s: %s, target %s\n", r.family.c_str(), r.name.c_str(),
                  of_ceiling ? "ceiling" : r.peer.c_str(), cell(of_ceiling ? r.fraction : r.ratio(), 0, 3).c_str(),
                  bar_text(r).c_str());
    }
  }
  std::fflush(stdout);
}

bool Report::all_right() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const Row& r) { return r.wrong.empty(); });
}

std::string Report::json() const {
  Json json = head("gpumem.peers/1", machine, ceilings);
  json["quick"] = quick;
  json["rows"] = Json::array();
  for (const Row& row : rows_) json["rows"].push_back(json_row(row));
  json["skipped"] = Json::array();
  for (const SkippedRow& k : skipped_) {
    json["skipped"].push_back(
        {{"family", k.family}, {"case", k.name}, {"peer", text_or_null(k.peer)}, {"reason", k.reason}});
  }
  return in_lines(json);
}

void Report::write(const std::string& path) const {
  const std::string partial = path + ".partial";
  std::ofstream out(partial);
  out << json();
  out.close();
  if (!out || std::rename(partial.c_str(), path.c_str()) != 0) throw std::runtime_error("can't write " + path);
}

}  // namespace bench
