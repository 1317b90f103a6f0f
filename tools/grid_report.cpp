#include "grid_report.hpp"

#include <cinttypes>
#include <cstdio>

#include "device.hpp"
#include "json.hpp"
#include "text.hpp"

namespace tool {
namespace {

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
  print_row("roughness", a.roughness ? format("%.10g", *a.roughness) : "leaves 64 bits", format("%.10g", *b.roughness));
  std::printf("  the two %s; the transposed grid %s\n", report.statistics_agree ? "agree" : "DIFFER",
              report.transposition_agrees ? "is right in every element" : "is WRONG");
}

void print_operation(const char* name, const char* counted, const Operation& operation) {
  const Timing& t = operation.timing;
  std::printf("%s: %.1f GB/s (%s %s in %s, the median of %d runs from %s to %s)\n", name,
              gigabytes_per_second(operation.bytes, t), format_bytes(operation.bytes).c_str(), counted,
              format_seconds(t.median_s).c_str(), t.repeats, format_seconds(t.fastest_s).c_str(),
              format_seconds(t.slowest_s).c_str());
  std::printf("%s\n", indented(operation.explanation, 2).c_str());
}

void write_statistics(Json& json, const char* key, const Statistics& s) {
  json.open_object(key).integer("min", s.min).integer("max", s.max).integer("sum", s.sum).number("mean", s.mean);
  if (s.roughness) {
    json.number("roughness", *s.roughness);
  } else {
    json.null("roughness");
  }
  json.close_object();
}

void write_operation(Json& json, const char* key, const Operation& operation) {
  json.open_object(key)
      .integer("bytes", operation.bytes)
      .number("median_s", operation.timing.median_s)
      .number("fastest_s", operation.timing.fastest_s)
      .number("slowest_s", operation.timing.slowest_s)
      .integer("repeats", operation.timing.repeats)
      .number("gb_per_s", gigabytes_per_second(operation.bytes, operation.timing))
      .raw("explain", operation.explanation)
      .close_object();
}

void write_source(Json& json, const GridReport& report) {
  json.open_object().string("source", report.source).string("dtype", report.dtype);
  json.integer("rows", report.rows).integer("cols", report.cols);
}

// The end of the report.
void print_with_output(Json& json, const GridReport& report) {
  if (report.output.empty()) {
    json.null("output");
  } else {
    json.string("output", report.output);
  }
  std::printf("%s\n", json.close_object().text().c_str());
}

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
  Json json;
  write_source(json, report);
  json.open_object("device");
  write_device(json, report.device);
  json.close_object();
  write_statistics(json, "statistics", report.library);
  write_statistics(json, "plain_loop", report.plain);
  json.boolean("statistics_agree", report.statistics_agree)
      .boolean("transposition_agrees", report.transposition_agrees);
  write_operation(json, "sum", report.sum);
  write_operation(json, "transpose", report.transpose);
  print_with_output(json, report);
}

void print_empty_report(const GridReport& report, bool as_json) {
  if (as_json) {
    Json json;
    write_source(json, report);
    json.null("statistics");
    return print_with_output(json, report);
  }
  std::printf("%s\n%s of %s: no elements, and so no statistics\n", report.source.c_str(),
              shape(report.rows, report.cols).c_str(), report.dtype.c_str());
  if (!report.output.empty()) std::printf("wrote %s\n", report.output.c_str());
}

}  // namespace tool
