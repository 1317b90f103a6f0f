// The families on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include <atomic>
#include <chrono>
#include <cstring>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"
#include "engine/error.hpp"
#include "kernels/fill/fill.hpp"
#include "kernels/reduce/reduce_i32.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem {
namespace {

cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

cudaError_t fill_memset(const kernels::FillLaunch& launch, cudaStream_t stream) {
  return cudaMemsetAsync(launch.dst, launch.word[0], static_cast<size_t>(launch.bytes), stream);
}

constexpr Launcher<decltype(&kernels::reduce_one_block)> kReduce[] = {
    {"one_block", kernels::reduce_one_block},
    {"last_block", kernels::reduce_last_block},
    {"two_pass", kernels::reduce_two_pass},
    {"two_pass_elements", kernels::reduce_two_pass_elements},
};
constexpr Launcher<decltype(&kernels::transpose_tile_vec16)> kTranspose[] = {
    {"tile_vec16", kernels::transpose_tile_vec16},
    {"tile_padded", kernels::transpose_tile_padded},
    {"tile_bytes", kernels::transpose_tile_bytes},
};
constexpr Launcher<decltype(&kernels::fill_vec16)> kFill[] = {
    {"memset", fill_memset},
    {"vec16", kernels::fill_vec16},
    {"bytes", kernels::fill_bytes},
};

}  // namespace

LauncherNames cuda_launcher_names() { return {names_of(kReduce), names_of(kTranspose), names_of(kFill)}; }

void CudaBackend::warmup() {
  const DeviceScope scope = enter();
  GPUMEM_CUDA(kernels::reduce_preload());
  GPUMEM_CUDA(kernels::transpose_preload());
  GPUMEM_CUDA(kernels::fill_preload());
}

// The value comes straight into memory that the host watches: several microseconds sooner than a copy and a wait for the
// stream. A wait that gets long gives the processor back.
void CudaBackend::wait_for(const ResultSlots::Lease& slot, cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::microseconds(50);
  // The caller may touch managed memory as soon as it has the value, which some devices allow only when no kernel is running.
  if (!props_.concurrent_managed) GPUMEM_CUDA(cudaStreamSynchronize(stream));
  const auto start = Clock::now();
  while (slot.host()->ticket != slot.ticket()) {
    if (Clock::now() - start > kPatience) {
      GPUMEM_CUDA(cudaStreamSynchronize(stream));
      break;
    }
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (slot.host()->ticket != slot.ticket()) fail(GPUMEM_INTERNAL, "a reduction ended without handing its value over");
}

Int128 CudaBackend::reduce(NativeStream stream, const ReduceArgs& args) {
  const DeviceScope scope = enter();
  const auto& launcher = kReduce[row_of_backend(ReduceFamily::table(), args.variant)];
  const ResultSlots::Lease slot(slots_);
  const kernels::ReduceLaunch launch{args.x,    args.n,   args.stride,   args.shape.grid, args.shape.tile,
                                     partials_, counter_, slot.device(), slot.ticket()};
  {
    const std::lock_guard<std::mutex> lock(launching_);
    GPUMEM_CUDA(launcher.launch(args.op, launch, native(stream)));
  }
  wait_for(slot, native(stream));
  const uint64_t low = slot.host()->low;
  const uint64_t high = slot.host()->high;
  return static_cast<Int128>(static_cast<int64_t>(high)) * (Int128{1} << 64) + static_cast<Int128>(low);
}

void CudaBackend::transpose(NativeStream stream, const TransposeArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto& launcher = kTranspose[row_of_backend(TransposeFamily::table(), args.variant)];
  const kernels::TransposeLaunch launch{args.src,  args.src_ld, args.dst,       args.dst_ld,
                                        args.rows, args.cols,   args.shape.grid};
  GPUMEM_CUDA(launcher.launch(args.element_bytes, launch, native(stream)));
  finish(native(stream), until);
}

void CudaBackend::fill(NativeStream stream, const FillArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto& launcher = kFill[row_of_backend(FillFamily::table(), args.variant)];
  require_open(stream);
  kernels::FillLaunch launch{args.dst, args.bytes, {}, args.shape.grid};
  std::memcpy(launch.word, args.word, sizeof launch.word);
  GPUMEM_CUDA(launcher.launch(launch, native(stream)));
  finish(native(stream), until);
}

}  // namespace gpumem
