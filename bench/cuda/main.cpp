// bench_cuda: the CUDA backend compared with CUB, cuBLAS and the CUDA runtime.
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cuda/cuda_cases.hpp"
#include "cuda/peers_reproducible.hpp"
#include "measure/machine.hpp"
#include "support/runner.hpp"

namespace {

std::string cuda_version(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }

std::string driver_version() {
  if (const std::string release = bench::driver_release(); !release.empty()) return release;
  int version = 0;
  bench::check_cuda(cudaDriverGetVersion(&version));
  return "CUDA " + cuda_version(version);
}

int run(int argc, char** argv) {
  bench::Options options;
  int status = 0;
  if (!bench::parse_options(argc, argv, "compares gpumem's CUDA backend with baselines", options, status))
    return status;

  const bench::Context ctx = bench::make_context(GPUMEM_DEVICE_CUDA);
  bench::check_cuda(cudaSetDevice(bench::device_of(ctx.get()).device));
  const auto gpu = std::make_shared<bench::Gpu>(ctx);
  bench::Report report;
  report.machine.device = gpu->info.name;
  report.machine.driver = driver_version();
  report.machine.toolkit = cuda_version(CUDART_VERSION);
  report.machine.threads = static_cast<int>(std::thread::hardware_concurrency());
  report.ceilings = tool::ceilings_of(ctx.get());
  options.name = bench::slug(gpu->info.name);

  std::vector<bench::Case> cases;
  bench::add_cuda_reductions(cases, gpu);
  bench::add_cuda_reduce_kinds(cases, gpu);
  bench::add_cuda_lines(cases, gpu);
  bench::add_cuda_heap_copy(cases, gpu);
  bench::add_cuda_managed(cases, gpu);
  bench::add_cuda_dispatch(cases, gpu);
  bench::add_cuda_pool(cases, gpu);
  bench::add_cuda_dist(cases);
  if (!gpu->blas) std::puts("built without cuBLAS: its rows are left out");
  if (!bench::CubReproducible::built())
    std::puts("built without CCCL 3.1 or newer: CUB's reproducible sum is left out");
  std::vector<bench::Summary> summaries = bench::cuda_reduce_summaries();
  summaries.push_back(bench::cuda_permute_summary());
  return bench::run_cases(argc, argv, options, report, cases, summaries);
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of("bench_cuda", argc, argv, run); }
