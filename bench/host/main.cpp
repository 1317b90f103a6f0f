// bench_host: the host backend compared with OpenMP, the C library and OpenBLAS.
#include <cstdio>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"
#include "measure/machine.hpp"
#include "support/runner.hpp"

namespace {

int run(int argc, char** argv) {
  bench::Options options;
  int status = 0;
  if (!bench::parse_options(argc, argv, "compares gpumem's host backend with baselines", options, status))
    return status;

  const bench::Context ctx = bench::make_context(GPUMEM_DEVICE_HOST);
  const gpumem_device_info info = bench::device_of(ctx.get());
  bench::Report report;
  report.machine.device = "host: " + bench::cpu_name();
  report.machine.threads = info.multiprocessors;
  report.machine.peer_threads = bench::openmp::threads();
  report.ceilings = bench::measure_host_ceilings(ctx);
  options.name = "host-" + bench::slug(bench::cpu_name()) + "-" + std::to_string(info.multiprocessors) + "-threads";

  std::vector<bench::Case> cases;
  bench::add_host_reduce(cases, ctx);
  bench::add_host_lines(cases, ctx);
  bench::add_host_pool(cases, ctx);
  bench::add_startup(cases);
#if !BENCH_HAS_OPENBLAS
  std::puts("built without OpenBLAS: its rows are left out");
#endif
  return bench::run_cases(argc, argv, options, report, cases);
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of("bench_host", argc, argv, run); }
