// A fluid by the lattice Boltzmann method: D3Q19, BGK collisions, a periodic box. It starts as the ABC flow, an exact
// solution of the Navier-Stokes equations, whose kinetic energy decays as exp(-2 viscosity k^2 t). The program computes
// the viscosity from this decay. It fails if the viscosity is wrong, or if mass or momentum changes.
// usage: lbm [CELLS [STEPS]]    CELLS per axis, 16 or more; STEPS, a multiple of 20
#include <gpumem.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace {

using std::int64_t;
using grid = gpumem::grid_view<double>;
using arrays = gpumem::device_view<double>;

constexpr int pairs = 9, every = 20;
constexpr double speed = 0.03, omega = 1.25, viscosity = (1 / omega - 0.5) / 3, pi = 3.14159265358979323846;

// Direction 0 is rest. Directions 1 to 9 are one of each pair: along one axis, then along two. Directions 10 to 18 are
// their opposites, in the same order.
constexpr int of_pair[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},  {0, 0, 1},  {1, 1, 0},
                              {0, 1, 1}, {1, 0, 1}, {1, -1, 0}, {0, 1, -1}, {1, 0, -1}};
int velocity(int64_t i, int axis) { return i <= pairs ? of_pair[i][axis] : -of_pair[i - pairs][axis]; }
double weight(int64_t i) { return i == 0 ? 1.0 / 3 : (i - 1) % pairs < 3 ? 1.0 / 18 : 1.0 / 36; }

struct fluid {
  gpumem::stream_ref stream;
  int64_t n, cells;
  arrays f, g;  // 19 populations, divided by their weights: after a collision, and after a move
  arrays j;     // the density, and the momentum along the first direction of each pair
  arrays q;     // the part of an equilibrium that depends on no direction, and the squares of j divided by the density
  std::vector<grid> from, to;
  std::vector<gpumem::term<double>> sums[5];  // of populations: the density, in two parts, and the momentum

  // Arrays i to i + m - 1 of x, and array i as an operand for all pairs: the stride 0 repeats it
  grid rows(arrays x, int64_t i, int64_t m = 1) const { return {x.subview(i * cells, m * cells), {m, cells}}; }
  grid repeated(arrays x, int64_t i) const { return {x.subview(i * cells, cells), {pairs, cells}, {0, 1}}; }

  // Prepares population i: its terms of the sums, and its boxes. Along an axis, the box at the edge wraps around.
  void prepare(int64_t i) {
    sums[i / 10].push_back({weight(i), rows(g, i)});
    if (i == 18) sums[1].push_back({1, rows(j, 0)});  // what the first part gave: a call takes up to 16 terms
    for (int d = 0; d < 3; ++d) {
      if (velocity(i, d) != 0) sums[2 + d].push_back({weight(i) * velocity(i, d), rows(g, i)});
    }
    for (int box = 0; box < 8; ++box) {
      int64_t old[4] = {i}, next[4] = {i}, extents[4] = {1};
      for (int d = 0; d < 3; ++d) {
        const int64_t c = velocity(i, d), edge = box >> d & 1;
        extents[d + 1] = edge == 1 ? c * c : n - c * c;  // a box with an extent of 0 is skipped
        old[d + 1] = edge == 1 ? (c > 0 ? n - 1 : 0) : (c < 0 ? 1 : 0);
        next[d + 1] = edge == 1 ? (c < 0 ? n - 1 : 0) : (c > 0 ? 1 : 0);
      }
      from.push_back(grid(f, {19, n, n, n}).part({old, 4}, {extents, 4}));
      to.push_back(grid(g, {19, n, n, n}).part({next, 4}, {extents, 4}));
    }
  }

  void move() const { stream.copy_boxes(from, to); }
  void sum() const {
    for (int k = 0; k < 5; ++k) stream.lincomb(sums[k], rows(j, k < 2 ? 0 : k - 1));
  }

  // f = (1 - rate) g + rate (density + 3 j + 9/2 j^2 / density - 3/2 momentum^2 / density). With rate 1, g is not read.
  void collide(double rate) const {
    const grid density = rows(j, 0), along = rows(j, 1, pairs), squares = rows(q, 1, pairs);
    for (int p = 4; p <= pairs; ++p) {
      const double cx = velocity(p, 0), cy = velocity(p, 1), cz = velocity(p, 2);
      stream.lincomb({{cx, rows(j, 1)}, {cy, rows(j, 2)}, {cz, rows(j, 3)}}, rows(j, p));
    }
    stream.map(gpumem::map_op::divide, along, repeated(j, 0), squares);
    stream.multiply(along, squares, squares);
    stream.lincomb({{1, density}, {-1.5, rows(q, 1)}, {-1.5, rows(q, 2)}, {-1.5, rows(q, 3)}}, rows(q, 0));
    stream.lincomb({{1 - rate, rows(g, 0)}, {rate, rows(q, 0)}}, rows(f, 0));
    for (int sign = 1, i = 1; i < 19; sign = -1, i += pairs) {
      const grid before = rows(g, i, pairs), after = rows(f, i, pairs);
      const double odd = sign * 3 * rate;
      stream.lincomb({{1 - rate, before}, {rate, repeated(q, 0)}, {odd, along}, {4.5 * rate, squares}}, after);
    }
  }

  // Five numbers: the mass, the three components of the momentum, and the sum of its squares
  void report(arrays numbers) const {
    stream.reduce_axis(gpumem::reduce_op::sum, gpumem::axis::rows, gpumem::matrix_view(j, 4, cells), numbers);
    stream.dot(j.subview(cells, 3 * cells), j.subview(cells, 3 * cells), numbers.subview(4, 1));
  }
};

// Density and momentum of the ABC flow. Its pressure is a third of the density.
std::vector<double> abc_flow(int n, double k) {
  const int cells = n * n * n;
  std::vector<double> start(std::size_t{4} * cells, 1 + 4.5 * speed * speed);
  for (int i = 0; i < cells; ++i) {
    const int x[] = {i / n / n, i / n % n, i % n};
    double u[3];
    for (int d = 0; d < 3; ++d) {
      u[d] = speed * (std::sin(k * x[(d + 2) % 3]) + std::cos(k * x[(d + 1) % 3]));
      start[i] -= 1.5 * u[d] * u[d];
    }
    for (int d = 0; d < 3; ++d) start[(d + 1) * cells + i] = start[i] * u[d];
  }
  return start;
}

bool run(int n, int steps) {
  const int last = steps / every, middle = last / 2;
  const int64_t cells = int64_t{n} * n * n;
  const double k = 2 * pi / n;
  const gpumem::context ctx;
  const auto stream = ctx.create_stream();
  auto memory = ctx.alloc_device<double>(58 * cells), log = ctx.alloc_device<double>(5L * (last + 1));
  const auto part = [&](int64_t i, int64_t count) { return memory.subview(i * cells, count * cells); };
  fluid box{stream, n, cells, part(0, 19), part(19, 19), part(38, 10), part(48, 10), {}, {}, {}};
  for (int64_t i = 0; i < 19; ++i) box.prepare(i);
  const std::vector<double> start = abc_flow(n, k);
  ctx.copy(part(38, 4), start);
  box.report(log);
  box.collide(1);  // the equilibrium
  for (int step = 1; step <= steps; ++step) {
    box.move();
    box.sum();
    if (step % every == 0) box.report(log.subview(5L * step / every, 5));
    box.collide(omega);
  }
  auto shown = ctx.alloc_pinned<double>(log.size());
  stream.copy(shown, log);
  stream.synchronize();  // the only wait
  bool good = true;
  for (const double *x = shown.begin(); x != shown.end(); x += 5) {
    std::printf("mass %.17g momentum %.17g %.17g %.17g squares %.17g\n", x[0], x[1], x[2], x[3], x[4]);
    for (int i = 0; i < 4; ++i) good = good && std::abs(x[i] - shown[i]) < 1e-11 * shown[0];
  }
  const double found = std::log(shown[5 * middle + 4] / shown[5 * last + 4]) / (2 * k * k * every * (last - middle));
  good = good && std::abs(found / viscosity - 1) < 0.01;
  std::printf("viscosity %.17g, expected %.17g: %s\n", found, viscosity, good ? "right" : "wrong");
  return good;
}

}  // namespace

int main(int argc, char **argv) try {
  return run(argc > 1 ? std::atoi(argv[1]) : 32, argc > 2 ? std::atoi(argv[2]) : 40) ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "lbm: %s\n", failure.what());
  return 1;
}
