// The picture and the page of `gpumem bench`. Each is one file without scripts or network access, and follows the
// reader's light or dark mode.
#include <algorithm>
#include <cmath>

#include "bench/show.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr const char* kColours =
    ":root{color-scheme:light "
    "dark;--ink:#1c2024;--soft:#60646c;--line:#e0e3e8;--paper:#ffffff;--bar:#2f7dd1;--wrong:#c62a2f}"
    "@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--soft:#a0a6b0;--line:#363a41;--paper:#16181c;--bar:#5ea7f2;"
    "--wrong:#ff7b7b}}";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// ------------------------------------------------------------------------------------------------------- the picture

constexpr int kWidth = 860;
constexpr int kBarsAt = 330;
constexpr int kLongest = 300;
constexpr int kRowHeight = 22;
constexpr int kHeading = 40;

std::string figures(const Row& row) {
  if (row.wrong()) return "wrong";
  const std::string rate = rate_text(row);
  const std::string share = share_text(row);
  return rate.empty() ? time_text(row) : rate + (share.empty() ? "" : "  " + share);
}

std::string svg_row(const Row& row, const Group& group, int y) {
  const double width = std::max(1.0, bar_of(row, group) * kLongest);
  std::string text = format("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", kBarsAt - 12, y + 15) +
                     escaped(label_text(row)) + "</text>";
  if (row.bytes > 0) {
    text += format("<rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>", kBarsAt, y + 4,
                   width, kRowHeight - 8);
  }
  const double at = kBarsAt + (row.bytes > 0 ? width : 0) + 8;
  return text + format("<text class=\"%s\" x=\"%.1f\" y=\"%d\">", row.wrong() ? "wrong" : "soft", at, y + 15) +
         escaped(figures(row)) + "</text>\n";
}

// Moves y to the group's end.
std::string svg_group(const Group& group, int& y) {
  std::string text =
      format("<text class=\"name\" x=\"16\" y=\"%d\">", y + kHeading - 14) + escaped(group.name) + "</text>\n";
  y += kHeading;
  for (const Row* row : group.rows) {
    text += svg_row(*row, group, y);
    y += kRowHeight;
  }
  return text;
}

// ---------------------------------------------------------------------------------------------------------- the page

constexpr const char* kPage =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2.5rem auto;max-width:64rem;padding:0 1.25rem;color:var(--ink);"
    "background:var(--paper)}h1{font-size:1.5rem;margin-bottom:.25rem}h2{font-size:1.05rem;margin:2.2rem 0 .5rem}"
    "p{color:var(--soft);margin:.25rem 0}.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;"
    "font-variant-numeric:tabular-nums;table-layout:fixed;min-width:46rem}col.l{width:17rem}col.v{width:11rem}"
    "col.f{width:6.5rem}th{font-weight:500;color:var(--soft);text-align:right}"
    "th,td{padding:.28rem .6rem;border-bottom:1px solid "
    "var(--line);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}td.n{text-align:right}"
    "th:first-child,td:first-child{text-align:left;padding-left:0}"
    ".bar{background:var(--bar);height:.7rem;border-radius:2px;min-width:2px}.wrong{color:var(--wrong);font-weight:600}"
    "code{font-size:.9em}details{margin:.6rem 0;color:var(--soft)}"
    "@media(max-width:46rem){table{min-width:0;table-layout:auto}col.l,col.v,col.f{width:auto}.b,th:nth-child(2),"
    "td:nth-child(2){display:none}th,td{padding:.28rem .3rem;white-space:normal}td.n{white-space:nowrap}}";

// shares: whether any row of the page has one.
std::string html_row(const Row& row, const Group& group, bool shares) {
  std::string text = "<tr><td title=\"" + escaped(row.problem) + "\">" + escaped(label_text(row)) + "</td><td>" +
                     escaped(row.variant) + "</td><td class=n>" + time_text(row) + "</td><td class=n>" +
                     rate_text(row) + "</td>";
  if (shares) text += "<td class=n>" + share_text(row) + "</td>";
  if (row.wrong()) return text + "<td class=wrong>wrong result</td></tr>\n";
  text += "<td class=b>";
  if (row.bytes > 0) text += format("<div class=bar style=\"width:%.1f%%\"></div>", bar_of(row, group) * 100);
  return text + "</td></tr>\n";
}

std::string html_group(const Group& group, bool shares) {
  std::string text = "<h2>" + escaped(group.name) + "</h2>\n";
  if (!group.rows.empty()) {
    text += "<div class=scroll><table><col class=l><col class=v><col class=f><col class=f>";
    text += shares ? "<col class=f>" : "";
    text += "<col><tr><th></th><th style=\"text-align:left\">variant</th><th>median</th><th>rate</th>";
    text += shares ? "<th>of ceiling</th>" : "";
    text += "<th class=b></th></tr>\n";
    for (const Row* row : group.rows) text += html_row(*row, group, shares);
    text += "</table></div>\n";
  }
  if (group.skipped.empty()) return text;
  text += format("<details><summary>%zu skipped</summary><ul>\n", group.skipped.size());
  for (const Row* row : group.skipped) {
    text += "<li>" + escaped(row->label) + ": " + escaped(row->skipped) + "</li>\n";
  }
  return text + "</ul></details>\n";
}

}  // namespace

std::string as_svg(const Results& results) {
  std::string body;
  int y = 56;
  for (const Group& group : groups_of(results.rows)) {
    if (!group.rows.empty()) body += svg_group(group, y);
  }
  return format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "font-family=\"system-ui,sans-serif\" font-size=\"13\">\n<style>",
             kWidth, y + 24, kWidth, y + 24) +
         kColours +
         "text{fill:var(--ink)}.soft{fill:var(--soft)}.name{font-weight:600}.bar{fill:var(--bar)}.wrong{fill:var(--"
         "wrong)}"
         ".paper{fill:var(--paper)}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
         "<text x=\"16\" y=\"30\" font-size=\"17\" font-weight=\"600\">" +
         escaped(title_of(results)) + "</text>\n<text class=\"soft\" x=\"16\" y=\"50\">" +
         escaped(ceilings_of(results)) + "</text>\n" + body + "</svg>\n";
}

std::string as_html(const Results& results) {
  const measure::Machine& m = results.machine;
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>gpumem on " +
      escaped(m.device) + "</title>\n<style>" + kColours + kPage + "</style></head><body>\n<h1>" +
      escaped(title_of(results)) + "</h1>\n<p>gpumem " + escaped(m.version) + ", " + escaped(m.date) + ", " +
      escaped(m.cpu) + (results.quick ? ", a quick run" : "") + "</p>\n";
  if (const std::string ceilings = ceilings_of(results); !ceilings.empty()) {
    text += "<p>Ceilings: " + escaped(ceilings) + "</p>\n";
  }
  text += "<p>" + escaped(verdict_of(results)) + "</p>\n";
  const bool shares = std::any_of(results.rows.begin(), results.rows.end(),
                                  [](const Row& row) { return std::isfinite(row.of_ceiling); });
  for (const Group& group : groups_of(results.rows)) text += html_group(group, shares);
  return text + "</body></html>\n";
}

}  // namespace tool
