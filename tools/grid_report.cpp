#include "grid_report.hpp"

#include <cstdio>
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
  const Statistics& a = report.library;
  const Statistics& b = report.plain;
  print_row("", "gpumem", "plain loop");
  print_row("minimum", std::to_string(a.min), std::to_string(b.min));
  print_row("maximum", std::to_string(a.max), std::to_string(b.max));
  print_row("sum", std::to_string(a.sum), std::to_string(b.sum));
  print_row("mean", format("%.6f", a.mean), format("%.6f", b.mean));
  print_row("roughness", a.roughness ? format("%.10g", *a.roughness) : "not known", format("%.10g", *b.roughness));
  if (!a.roughness) std::printf("  gpumem's sum of the squares, of which roughness is made, would leave 64 bits\n");
  std::printf("  %s %s; the transposed grid %s\n", a.roughness ? "the two" : "the others",
              report.statistics_agree ? "agree" : "DIFFER",
              report.transposition_agrees ? "is right in every element" : "is WRONG");
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

Json source_json(const GridReport& report) {
  return {{"source", report.source}, {"dtype", report.dtype}, {"rows", report.rows}, {"cols", report.cols}};
}

Json output_json(const GridReport& report) { return report.output.empty() ? Json() : Json(report.output); }

}  // namespace

void print_report(const GridReport& report, const GridView& grid, const GridView& transposed) {
  std::printf("%s\n%s, %s widened to int32, %s\n\n", report.source.c_str(), shape(report.rows, report.cols).c_str(),
              report.dtype.c_str(), format_bytes(report.rows * report.cols * 4).c_str());
  const Colours colours = output_colours();
  const double scale = side_by_side_scale(report.rows, report.cols, output_columns());
  std::printf("%s\n",
              side_by_side(draw(grid, scale, colours), shape(grid.rows, grid.cols), draw(transposed, scale, colours),
                           "transposed: " + shape(transposed.rows, transposed.cols))
                  .c_str());
  print_statistics(report);
  std::printf("\ndevice: %s\n  %s\n", device_title(report.device).c_str(), report.device.reason);
  print_operation("sum", "read", report.sum);
  print_operation("transpose", "read and written", report.transpose);
  if (!report.output.empty()) std::printf("wrote %s\n", report.output.c_str());
}

void print_report_json(const GridReport& report) {
  Json json = source_json(report);
  json["device"] = device_json(report.device);
  json["statistics"] = statistics_json(report.library);
  json["plain_loop"] = statistics_json(report.plain);
  json["statistics_agree"] = report.statistics_agree;
  json["transposition_agrees"] = report.transposition_agrees;
  json["sum"] = operation_json(report.sum);
  json["transpose"] = operation_json(report.transpose);
  json["output"] = output_json(report);
  print_json(json);
}

void print_empty_report(const GridReport& report, bool as_json) {
  if (as_json) {
    Json json = source_json(report);
    json["statistics"] = nullptr;
    json["output"] = output_json(report);
    return print_json(json);
  }
  std::printf("%s\n%s of %s: no elements, and so no statistics\n", report.source.c_str(),
              shape(report.rows, report.cols).c_str(), report.dtype.c_str());
  if (!report.output.empty()) std::printf("wrote %s\n", report.output.c_str());
}

}  // namespace tool
