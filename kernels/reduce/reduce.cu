// The host code that all reduction kernels share.
#include "kernels/enqueue.cuh"
#include "kernels/reduce/lines.cuh"

namespace gpumem::kernels {
namespace {

__global__ void hand_over_kernel(ReduceScratch scratch, gpumem_status* status, ReduceSlot* slot, uint32_t ticket) {
  synchronize_and_trigger();
  const gpumem_status value = *scratch.status;
  *scratch.status = GPUMEM_OK;
  scratch.counters[kLongRunCounter] = 0;
  if (status != nullptr) store_anywhere(status, value);
  if (slot == nullptr) return;
  volatile ReduceSlot* out = slot;
  out->status = value;
  __threadfence_system();
  out->ticket = ticket;
}

}  // namespace

LaunchResult reduce_tiles(const ReduceLaunch& launch, Stream stream) {
  switch (node_kind(launch.dtype, launch.op)) {
    case NodeKind::integer:
    case NodeKind::integer_product:
      return reduce_tiles_integer(launch, stream);
    case NodeKind::range:
      return reduce_tiles_range(launch, stream);
    case NodeKind::arg:
      return reduce_tiles_arg(launch, stream);
    case NodeKind::sum:
    case NodeKind::product:
    case NodeKind::compensated:
    case NodeKind::norm:
      return reduce_tiles_sum(launch, stream);
    case NodeKind::order_free:
      break;
  }
  return cudaErrorInvalidValue;
}

LaunchResult reduce_single_tile(const ReduceLaunch& launch, Stream stream) {
  ReduceLaunch short_launch = launch;
  short_launch.single_tile = true;
  return reduce_tiles(short_launch, stream);
}

// Requests all of a multiprocessor's shared memory, so that it holds only one block.
bool reduce_clusters_fit(int64_t shared_bytes) noexcept {
  const auto* kernel = reinterpret_cast<const void*>(hand_over_kernel);
  const auto bytes = static_cast<int>(shared_bytes);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {1, kClusterBlocks, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1, kClusterBlocks);
  config.blockDim = dim3(64 * kSingleTileChunks);
  config.dynamicSmemBytes = static_cast<size_t>(bytes);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  const bool known = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess &&
                     cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  return known && clusters > 0;
}

LaunchResult reduce_hand_over_status(const ReduceLaunch& launch, Stream stream) {
  return enqueue_programmatic(hand_over_kernel, 1, 1, stream, launch.scratch, launch.status, launch.slot,
                              launch.ticket);
}

}  // namespace gpumem::kernels
