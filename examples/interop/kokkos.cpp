// A program with Kokkos: gpumem works on the memory of its views, wherever its execution space has them.
#include <Kokkos_Core.hpp>
#include <gpumem.hpp>
#include <iostream>

constexpr int rows = 300, cols = 200;

// The memory of a view without gaps; Kokkos knows whether the host may read it.
template <typename View>
gpumem::device_view<typename View::value_type> memory_of(const View &view) {
  return {view.data(), static_cast<std::int64_t>(view.span())};
}

static int run() {
  gpumem::context ctx;
  Kokkos::View<double **, Kokkos::LayoutRight> a("a", rows, cols);  // row by row
  Kokkos::View<double **, Kokkos::LayoutLeft> b("b", rows,
                                                cols);  // column by column: a row-major matrix of cols x rows
  Kokkos::parallel_for(
      "fill", rows * cols, KOKKOS_LAMBDA(int i) { a(i / cols, i % cols) = 1.0 / (i + 1); });
  Kokkos::fence();  // what Kokkos has enqueued is done; gpumem's calls are done when they return

  ctx.transpose(gpumem::matrix_view(memory_of(a), rows, cols), gpumem::matrix_view(memory_of(b), cols, rows));
  const double sum = ctx.reduce(gpumem::reduce_op::sum, memory_of(a));

  int differences = 0;
  Kokkos::parallel_reduce(
      "compare", rows * cols,
      KOKKOS_LAMBDA(int i, int &count) { count += a(i / cols, i % cols) != b(i / cols, i % cols) ? 1 : 0; },
      differences);
  std::cout << sum << ' ' << differences << '\n';
  return differences != 0 || sum < 11.57 || sum > 11.58;
}

int main(int argc, char **argv) {
  Kokkos::initialize(argc, argv);
  int outcome = 1;
  try {
    outcome = run();
  } catch (const gpumem::error &e) {
    std::cerr << e.what() << '\n';
  }
  Kokkos::finalize();
  return outcome;
}
