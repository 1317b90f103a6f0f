#include "grid_report.hpp"

#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "device.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace tool {
namespace {

using Json = nlohmann::ordered_json;

std::string shape(int64_t rows, int64_t cols) { return std::to_string(rows) + " x " + std::to_string(cols); }

void print_row(const char* name, const std::string& library, const std::string& plain) {
  std::printf("  %-12s%26s%26s\n", name, library.c_str(), plain.c_str());
}

void print_statistics(const GridReport& report) {
  const auto row = [&](const char* name, const auto& text_of) {
    print_row(name, text_of(*report.library), report.plain ? text_of(*report.plain) : "-");
  };
  print_row("", "gpumem", "plain loop");
  row("minimum", [](const Statistics& s) { return std::to_string(s.min); });
  row("maximum", [](const Statistics& s) { return std::to_string(s.max); });
  row("sum", [](const Statistics& s) { return std::to_string(s.sum); });
  row("mean", [](const Statistics& s) { return format("%.6f", s.mean); });
  row("roughness", [](const Statistics& s) { return s.roughness ? format("%.10g", *s.roughness) : "not known"; });
  const bool has_all = report.library->roughness.has_value();
  if (!has_all) std::printf("  gpumem's sum of the squares, which roughness needs, would leave 64 bits\n");
  if (report.statistics_agree) {
    std::printf("  %s %s\n", has_all ? "the two" : "the others", *report.statistics_agree ? "agree" : "DIFFER");
  }
  if (report.transposition_agrees) {
    std::printf("  the transposed grid %s\n", *report.transposition_agrees ? "is right in every element" : "is WRONG");
  }
}

double gigabytes_per_second(const Operation& operation) {
  return static_cast<double>(operation.bytes) / operation.timing.median * 1e-9;
}

void print_operation(const char* name, const char* counted, const Operation& operation) {
  const measure::Summary& t = operation.timing;
  std::printf("%s: %.1f GB/s (%s %s in %s, the median of %d runs from %s to %s)\n", name,
              gigabytes_per_second(operation), format_bytes(operation.bytes).c_str(), counted,
              format_seconds(t.median).c_str(), t.samples, format_seconds(t.least).c_str(),
              format_seconds(t.greatest).c_str());
  std::printf("%s\n", indented(operation.explanation, 2).c_str());
}

Json statistics_json(const Statistics& s) {
  return {{"min", s.min},
          {"max", s.max},
          {"sum", s.sum},
          {"mean", s.mean},
          {"roughness", s.roughness ? Json(*s.roughness) : Json()}};
}

Json operation_json(const Operation& operation) {
  return {{"bytes", operation.bytes},
          {"median_s", operation.timing.median},
          {"fastest_s", operation.timing.least},
          {"slowest_s", operation.timing.greatest},
          {"repeats", operation.timing.samples},
          {"gb_per_s", gigabytes_per_second(operation)},
          {"explain", Json::parse(operation.explanation)}};
}

template <class T, class Make>
Json known(const std::optional<T>& value, const Make& make) {
  return value ? Json(make(*value)) : Json();
}

}  // namespace

void print_report(const GridReport& report, const GridView& grid, const GridView& transposed) {
  const int64_t elements = report.rows * report.cols;
  std::printf("%s\n%s, %s widened to int32, %s\n\n", printable(report.source).c_str(),
              shape(report.rows, report.cols).c_str(), report.dtype.c_str(), format_bytes(elements * 4).c_str());
  if (elements == 0) std::printf("no elements, and so no statistics\n");
  if (report.transposition_agrees) {
    const Colours colours = output_colours();
    const double scale = side_by_side_scale(report.rows, report.cols, output_columns());
    std::printf("%s\n",
                side_by_side(draw(grid, scale, colours), shape(grid.rows, grid.cols), draw(transposed, scale, colours),
                             "transposed: " + shape(transposed.rows, transposed.cols))
                    .c_str());
  }
  if (report.library) print_statistics(report);
  if (report.device) std::printf("\ndevice: %s\n  %s\n", device_title(*report.device).c_str(), report.device->reason);
  if (report.sum) print_operation("sum", "read", *report.sum);
  if (report.transpose) print_operation("transpose", "read and written", *report.transpose);
  if (!report.output.empty()) std::printf("wrote %s\n", printable(report.output).c_str());
  if (report.interrupted) std::printf("INTERRUPTED: the rest was not done\n");
}

void print_report_json(const GridReport& report) {
  print_json("grid", {{"source", report.source},
                      {"dtype", report.dtype},
                      {"rows", report.rows},
                      {"cols", report.cols},
                      {"interrupted", report.interrupted},
                      {"device", known(report.device, device_json)},
                      {"statistics", known(report.library, statistics_json)},
                      {"plain_loop", known(report.plain, statistics_json)},
                      {"statistics_agree", known(report.statistics_agree, std::identity())},
                      {"transposition_agrees", known(report.transposition_agrees, std::identity())},
                      {"sum", known(report.sum, operation_json)},
                      {"transpose", known(report.transpose, operation_json)},
                      {"output", report.output.empty() ? Json() : Json(report.output)}});
}

}  // namespace tool
