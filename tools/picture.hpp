// Small pictures of grids for a terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "terminal.hpp"

namespace tool {

// One text line after the other, each `columns` wide on the screen.
struct Picture {
  int columns = 0;
  std::vector<std::string> lines;
};

// A grid of heights in host memory, row after row.
struct GridView {
  std::span<const int32_t> heights;
  int64_t rows = 0;
  int64_t cols = 0;
};

// Draws a grid with the given number of terminal columns for each of its own columns; rows keep the aspect. Each spot of
// the picture is the mean of the heights it covers: a coloured half block, or a character whose darkness says how high.
Picture draw(const GridView& grid, double scale, Colours colours);

// The scale at which a grid and its transposition fit side by side.
double side_by_side_scale(int64_t rows, int64_t cols, int terminal_columns);

// Two pictures with a title over each.
std::string side_by_side(const Picture& left, const std::string& left_title, const Picture& right,
                         const std::string& right_title);

}  // namespace tool
