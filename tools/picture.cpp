#include "picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "text.hpp"

namespace tool {
namespace {

constexpr int kWidest = 120;  // both pictures and the gap
constexpr int kGap = 3;
constexpr double kTallestSpots = 72;                // two spots per line
constexpr std::string_view kShades = " .:-=+*#%@";  // low to high

struct Colour {
  int red;
  int green;
  int blue;
};

// Evenly spaced colours of an atlas, from the lowest to the highest ground.
constexpr std::array<Colour, 6> kAtlas{
    {{28, 84, 62}, {86, 140, 74}, {190, 186, 110}, {186, 138, 82}, {126, 88, 66}, {248, 248, 248}}};

struct Raster {
  int width;
  int height;
  std::vector<double> spots;
  double at(int y, int x) const {
    return spots[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
};

// Elements [begin, end) that spot i of n covers along an axis; at least one.
struct Range {
  int64_t begin;
  int64_t end;
};
Range covered(int i, int n, int64_t extent) {
  const int64_t begin = extent * i / n;
  return {begin, std::max(begin + 1, extent * (i + 1) / n)};
}

double mean_height(const GridView& grid, Range rows, Range cols) {
  double sum = 0;
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = cols.begin; x < cols.end; ++x) sum += grid.heights[static_cast<std::size_t>(y * grid.cols + x)];
  }
  return sum / static_cast<double>((rows.end - rows.begin) * (cols.end - cols.begin));
}

Raster shrink(const GridView& grid, int height, int width) {
  Raster raster{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      raster.spots.push_back(mean_height(grid, covered(y, height, grid.rows), covered(x, width, grid.cols)));
    }
  }
  const auto [low, high] = std::minmax_element(raster.spots.begin(), raster.spots.end());
  const double lowest = *low;
  const double range = *high > lowest ? *high - lowest : 1;
  for (double& spot : raster.spots) spot = (spot - lowest) / range;
  return raster;
}

Colour atlas_colour(double height) {
  const double place = height * (kAtlas.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kAtlas.size() - 2);
  const double weight = place - static_cast<double>(below);
  const auto blend = [&](int Colour::*channel) {
    return static_cast<int>(std::lround((1 - weight) * kAtlas[below].*channel + weight * kAtlas[below + 1].*channel));
  };
  return {blend(&Colour::red), blend(&Colour::green), blend(&Colour::blue)};
}

// layer: 38 for the foreground, 48 for the background.
std::string escape(int layer, Colour c, Colours colours) {
  if (colours == Colours::rgb24) return format("\033[%d;2;%d;%d;%dm", layer, c.red, c.green, c.blue);
  const auto level = [](int channel) { return (channel * 5 + 127) / 255; };  // the palette's 6 x 6 x 6 cube
  return format("\033[%d;5;%dm", layer, 16 + 36 * level(c.red) + 6 * level(c.green) + level(c.blue));
}

// Two rows of spots per line: an upper half block in the upper spot's colour on the lower spot's.
std::string coloured_line(const Raster& raster, int y, Colours colours) {
  std::string line;
  for (int x = 0; x < raster.width; ++x) {
    line += escape(38, atlas_colour(raster.at(y, x)), colours);
    if (y + 1 < raster.height) line += escape(48, atlas_colour(raster.at(y + 1, x)), colours);
    line += "\u2580";
  }
  return line + "\033[0m";
}

std::string shaded_line(const Raster& raster, int y) {
  std::string line;
  for (int x = 0; x < raster.width; ++x) {
    const double below = raster.at(std::min(y + 1, raster.height - 1), x);
    const double height = (raster.at(y, x) + below) / 2;
    line += kShades[std::min(static_cast<std::size_t>(height * kShades.size()), kShades.size() - 1)];
  }
  return line;
}

std::string padded(const std::string& text, int shown, int columns) {
  return text + std::string(static_cast<std::size_t>(std::max(0, columns - shown)), ' ');
}

}  // namespace

Picture draw(const GridView& grid, double scale, Colours colours) {
  const auto spots = [&](int64_t extent) {
    return std::max(1, static_cast<int>(std::lround(static_cast<double>(extent) * scale)));
  };
  const Raster raster = shrink(grid, spots(grid.rows), spots(grid.cols));
  Picture picture{raster.width, {}};
  for (int y = 0; y < raster.height; y += 2) {
    picture.lines.push_back(colours == Colours::none ? shaded_line(raster, y) : coloured_line(raster, y, colours));
  }
  return picture;
}

double side_by_side_scale(int64_t rows, int64_t cols, int terminal_columns) {
  const int width = std::clamp(terminal_columns, 20, kWidest) - kGap - 1;
  return std::min(width / static_cast<double>(rows + cols), kTallestSpots / static_cast<double>(std::max(rows, cols)));
}

std::string side_by_side(const Picture& left, const std::string& left_title, const Picture& right,
                         const std::string& right_title) {
  const int left_columns = std::max(left.columns, static_cast<int>(left_title.size())) + kGap;
  std::string text = padded(left_title, static_cast<int>(left_title.size()), left_columns) + right_title + "\n";
  for (std::size_t i = 0; i < std::max(left.lines.size(), right.lines.size()); ++i) {
    const bool has_left = i < left.lines.size();
    const bool has_right = i < right.lines.size();
    std::string line = has_left ? left.lines[i] : std::string();
    if (has_right) line = padded(line, has_left ? left.columns : 0, left_columns) + right.lines[i];
    text += line + "\n";
  }
  return text;
}

}  // namespace tool
