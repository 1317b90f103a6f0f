// Sums of floating-point elements of many lines, with the bits of a reduction of each prefix (kernels/order.hpp).
// Moves: reads each element once and writes each result once.
// Access: a warp has a line, and takes a block of 1024 elements of it at a time (block.cuh).
// Shapes: lines of any length. Fewer rows of a block than eight take as many steps.
#include "kernels/scan/block.cuh"

namespace gpumem::kernels {
namespace {

struct Arguments : BlockArguments {
  Report report;
  LineNumbers numbers;
};

struct SubtreesOfLine {
  const double* level;  // the reductions of aligned groups of 2^k blocks
  uint32_t block;

  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    for (uint32_t left = block; left != 0; left &= left - 1) f(level[__ffs(static_cast<int>(left)) - 1]);
  }
};

static_assert(kScanWarps * kLevels * sizeof(double) <= kScanStaticBytes);

// A warp has a line.
template <gpumem_dtype kType, gpumem_dtype kResult>
__global__ void __launch_bounds__(kScanWarps * 32, resident_blocks(4, kScanWarps * 32))
    sums_of_lines(const __grid_constant__ Arguments a) {
  using Scan = BlockScan<Add, kType, kResult, 1>;  // a line may have a single row
  __shared__ double levels[kScanWarps][kLevels];
  synchronize_and_trigger();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  auto* const x = dynamic_shared<typename Scan::T>() + warp * kLeafTerms;
  double* const of_line = levels[warp];
  const Line line = line_of(a.p, a.numbers, int64_t{blockIdx.x} * warps() + warp);
  const int64_t x_stride = a.p.view.rank > 0 ? a.p.view.x_strides[0] : 1;
  const int64_t result_stride = a.p.view.rank > 0 ? a.p.view.result_strides[0] : 1;
  const auto blocks = static_cast<uint32_t>((line.n + kLeafTerms - 1) / kLeafTerms);
#pragma unroll 1
  for (uint32_t block = 0; block < blocks; ++block) {
    Scan scan{{a, line, int64_t{block} * kLeafTerms, x_stride, result_stride}, x, lane};
    double subtree = scan.reduction();
    scan.write(a.p.exclusive, SubtreesOfLine{of_line, block});
    int level = 0;
    for (; (block >> level & 1) != 0; ++level) subtree = Add::of(of_line[level], subtree);
    __syncwarp();
    if (lane == 0) of_line[level] = subtree;
    __syncwarp();
  }
  write_report(a.report, line.sound ? GPUMEM_OK : GPUMEM_OUT_OF_RANGE);
}

}  // namespace

LaunchResult scan_sums_of_lines(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a{block_arguments(p), {}, line_numbers(p)};
  const LaunchResult error = begin_report(p, launch, a.report);
  if (error != cudaSuccess) return error;
  void (*kernel)(Arguments) = nullptr;
  for_scan_types(p, [&]<gpumem_dtype kType, gpumem_dtype kResult>() {
    if constexpr (is_floating(kType)) kernel = sums_of_lines<kType, kResult>;
  });
  return start_blocks(kernel, a, config, launch);
}

}  // namespace gpumem::kernels
