// Small pictures of grids for a terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "terminal.hpp"

namespace tool {

// Lines of text, each `columns` wide on the screen.
struct Picture {
  int columns = 0;
  std::vector<std::string> lines;
};

struct GridView {
  std::span<const int32_t> heights;
  int64_t rows = 0;
  int64_t cols = 0;
};

// scale: terminal columns per column of the grid; rows keep the aspect. Each spot of the picture is the mean of the
// heights that it covers: a coloured half block, or a character that is darker for greater heights.
Picture draw(const GridView& grid, double scale, Colours colours);

double side_by_side_scale(int64_t rows, int64_t cols, int terminal_columns);

std::string side_by_side(const Picture& left, const std::string& left_title, const Picture& right,
                         const std::string& right_title);

}  // namespace tool
