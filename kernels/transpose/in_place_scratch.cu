// Transposes in place: out of place into scratch memory of the same size, and a copy back. Moves each byte twice.
#include "kernels/copy/copy.hpp"
#include "kernels/copy/limits.hpp"
#include "kernels/transpose/chunks.hpp"
#include "kernels/transpose/limits.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem::kernels {

LaunchResult transpose_in_place_scratch(const TransposeParams& params, const Config& config, const Launch& launch) {
  TransposeParams out = params;
  out.dst = launch.workspace;
  const auto own = config.own.get<InPlaceScratch>();
  Config chunks = config;
  chunks.own.set(own.chunks);
  const auto apart = [&] {
    switch (own.way) {
      case WayApart::narrow:
        return transpose_aos_soa(out, config, launch);
      case WayApart::bytes:
        return transpose_chunks(out, chunks, launch);
      case WayApart::words:
        return transpose_tile_realigned(out, config, launch);
      case WayApart::vectors:
        return transpose_tile_vec16(out, config, launch);
    }
    return -1;
  };
  if (const LaunchResult error = apart(); error != 0) return error;
  const CopyParams back = one_range(params.dst, launch.workspace, config.workspace_bytes);
  return copy_vec16(back, {.grid = ceil_div(config.workspace_bytes, int64_t{16} * kCopyThreads)}, launch);
}

}  // namespace gpumem::kernels
