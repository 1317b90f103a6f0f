// Scans of a few long lines of a view, one after the other.
// Moves: as the scan of one sequence. Elements and results that are not neighbours are copied too.
// Access: that of the scan, and of a thread per element of the copies.
#include "kernels/scan/lines.cuh"

namespace gpumem::kernels {
namespace {

// The elements of a line, a thread each.
__global__ void __launch_bounds__(kScanLinesThreads)
    copy_line(const __grid_constant__ Elements from, const __grid_constant__ Elements to, int64_t n) {
  const int64_t all = int64_t{gridDim.x} * kScanLinesThreads;
  for (int64_t i = int64_t{blockIdx.x} * kScanLinesThreads + threadIdx.x; i < n; i += all) {
    to.store(to.at(0, i), from.load(from.at(0, i)));
  }
}

__global__ void report_worst(const gpumem_status* statuses, int64_t lines, gpumem_status* status) {
  gpumem_status worst = GPUMEM_OK;
  for (int64_t l = 0; l < lines; ++l) worst = max(worst, statuses[l]);
  *status = worst;
}

// One line of the view of p, with its elements and results copied to scratch memory if they are not neighbours.
cudaError_t scan_one_line(const ScanParams& p, int64_t index, const ScanEachLine& each, const Launch& launch) {
  char* const scratch = static_cast<char*>(launch.workspace);
  const ScanView& view = p.view;
  const int bytes[] = {element_bytes(p.dtype), element_bytes(p.result_type)};
  ScanParams line = p;
  line.view = {};
  line.n = view.extents[0];
  line.status = p.status == nullptr ? nullptr : reinterpret_cast<gpumem_status*>(scratch) + index;
  const LineStart start = start_of_line(view, index);
  const char* const x = static_cast<const char*>(p.x) + start.x * bytes[0];
  char* const result = static_cast<char*>(p.result) + start.result * bytes[1];
  const auto copy = [&](const char* from, int64_t from_stride, char* to, int64_t to_stride, int size) {
    const auto grid = static_cast<unsigned>(each.grid < kFewBlocks ? kFewBlocks : each.grid);
    return enqueue(copy_line, grid, kScanLinesThreads, launch,
                   Elements{const_cast<char*>(from), from_stride * size, size, aligned(from, size)},
                   Elements{to, to_stride * size, size, aligned(to, size)}, line.n);
  };
  line.x = x;
  line.result = result;
  cudaError_t error = cudaSuccess;
  if (each.x >= 0) {
    line.x = scratch + each.x;
    error = copy(x, view.x_strides[0], scratch + each.x, 1, bytes[0]);
  }
  if (each.result >= 0) line.result = scratch + each.result;
  Config config{each.grid, each.block};
  config.shared_bytes = each.shared_bytes;
  config.workspace_bytes = each.scan_bytes;
  Launch own = launch;
  own.workspace = scratch + scan_statuses_bytes(p.line_count());
  if (error == cudaSuccess) {
    error =
        static_cast<cudaError_t>(is_ordered(p) ? scan_ordered(line, config, own) : scan_look_back(line, config, own));
  }
  if (error != cudaSuccess || each.result < 0) return error;
  return copy(scratch + each.result, 1, result, view.result_strides[0], bytes[1]);
}

}  // namespace

LaunchResult scan_each_line(const ScanParams& p, const Config& config, const Launch& launch) {
  const auto each = config.own.get<ScanEachLine>();
  for (int64_t l = 0; l < p.line_count(); ++l) {
    const cudaError_t error = scan_one_line(p, l, each, launch);
    if (error != cudaSuccess) return error;
  }
  if (p.status == nullptr) return cudaSuccess;
  return enqueue(report_worst, 1, 1, launch, static_cast<const gpumem_status*>(launch.workspace), p.line_count(),
                 p.status);
}

}  // namespace gpumem::kernels
