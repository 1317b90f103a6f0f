// The heat equation on a terrain, whose height is the temperature at the start: explicit steps, fixed
// edges. A step is one call.
// usage: heat [TERRAIN.npy]    of int16 or int32; without it a small terrain by a formula
#include <gpumem.hpp>

#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using gpumem::grid_view;
using gpumem::matrix_view;

constexpr int steps = 500, every = 100;

struct terrain {
  std::int64_t rows, cols;
  std::vector<std::int32_t> heights;
};

template <class T>
std::vector<std::int32_t> elements(const std::string &file, std::size_t from, std::int64_t count) {
  if ((file.size() - from) / sizeof(T) < static_cast<std::size_t>(count))
    throw std::runtime_error("the file is too short");
  std::vector<T> values(static_cast<std::size_t>(count));
  std::memcpy(values.data(), file.data() + from, values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

// A file of NumPy: 10 bytes, of which the last two are the size of the header, a text; then the elements.
terrain read_terrain(const char *path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  if (file.size() < 10 || file.compare(0, 7, "\x93NUMPY\1") != 0) throw std::runtime_error("there is no file of NumPy");
  const std::size_t begin = 10 + static_cast<unsigned char>(file[8]) + 256U * static_cast<unsigned char>(file[9]);
  if (file.size() < begin) throw std::runtime_error("the file is too short");
  const std::string header = file.substr(10, begin - 10);
  const auto has = [&](const char *word) { return header.find(word) != std::string::npos; };
  long long rows = 0, cols = 0;
  char end = 0;
  if (!has("'shape': (") || !has("'fortran_order': False") || !(has("'<i2'") || has("'<i4'")) ||
      std::sscanf(&header[header.find("'shape': (")], "'shape': (%lld, %lld%c", &rows, &cols, &end) != 3 ||
      end != ')' || rows < 3 || cols < 3 || rows > INT32_MAX / cols) {
    throw std::runtime_error("the file is not of int16 or int32 in three rows and columns or more");
  }
  const std::int64_t count = rows * cols;
  return {rows, cols,
          has("'<i4'") ? elements<std::int32_t>(file, begin, count) : elements<std::int16_t>(file, begin, count)};
}

terrain make_terrain() {
  terrain made{96, 128, {}};
  for (int i = 0; i < 96; ++i) {
    for (int j = 0; j < 128; ++j) made.heights.push_back((i * i * 7 + j * j * 3 + i * j * 5) % 1009);
  }
  return made;
}

void print_bits(int step, const char *what, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::printf("step %d %s %016llX\n", step, what, static_cast<unsigned long long>(bits));
}

void run(const terrain &ground) {
  const std::int64_t rows = ground.rows, cols = ground.cols, n = rows * cols;
  gpumem::context ctx;
  auto stepping = ctx.create_stream(), copying = ctx.create_stream();
  auto turned = ctx.create_event(), copied = ctx.create_event();
  auto heights = ctx.alloc_device<std::int32_t>(n);
  auto u = ctx.alloc_device<double>(n), v = ctx.alloc_device<double>(n);
  auto difference = ctx.alloc_device<double>(n), transposed = ctx.alloc_device<double>(n);
  auto snapshot = ctx.alloc_pinned<double>(n), norm = ctx.alloc_pinned<double>(1);

  ctx.copy(heights, ground.heights);
  ctx.convert(heights, u);  // heights become temperatures
  ctx.copy(v, u);           // the edges too, which no step writes
  gpumem::device_view<double> from = u, to = v;
  for (int step = 1; step <= steps; ++step) {
    const grid_view old(from, {rows, cols}), next(to, {rows, cols});
    const auto shifted = [&](std::int64_t i, std::int64_t j) { return old.part({i, j}, {rows - 2, cols - 2}); };
    stepping.lincomb({{0.125, shifted(0, 1)},
                      {0.125, shifted(1, 0)},
                      {0.5, shifted(1, 1)},
                      {0.125, shifted(1, 2)},
                      {0.125, shifted(2, 1)}},
                     next.part({1, 1}, {rows - 2, cols - 2}));
    std::swap(from, to);
    if (step % every != 0) continue;

    stepping.lincomb({{1, next}, {-1, old}}, grid_view(difference, {rows, cols}));
    stepping.nrm2(difference, norm);
    // The snapshot before has left `transposed` when this one is turned; its copy goes on beside the next steps.
    stepping.wait(copied);
    stepping.transpose(matrix_view(from, rows, cols), matrix_view(transposed, cols, rows));
    stepping.record(turned);
    copying.wait(turned);
    copying.copy(snapshot, transposed);
    copying.record(copied);
    ctx.synchronize(turned);
    print_bits(step, "residual", norm[0]);
  }
  ctx.synchronize(copied);
  print_bits(steps, "centre", snapshot[cols / 2 * rows + rows / 2]);
}

}  // namespace

int main(int argc, char **argv) try {
  run(argc > 1 ? read_terrain(argv[1]) : make_terrain());
} catch (const std::exception &failure) {
  std::fprintf(stderr, "heat: %s\n", failure.what());
  return 1;
}
