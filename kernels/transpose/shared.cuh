// What the transposes share that work in a block's shared memory: how much of it, and how elements lie in it.
#pragma once

#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {

// Elements of a thread that are under way at once; those that are moved byte by byte would fill its registers.
template <class T>
constexpr int kInFlight = alignof(T) == sizeof(T) ? 4 : 1;

// Where element p lies: its place in a line of 128 bytes is swizzled by the number of the line. So lanes that are any power of two
// elements apart find different banks, as those do that are neighbours.
template <class T>
__device__ int in_banks(int p) {
  constexpr int kBytes = sizeof(T);
  constexpr int kBank = kBytes < 4 ? 4 / kBytes : 1;  // elements
  constexpr int kBanks = kTransposeLine / (kBank * kBytes);
  const unsigned line = static_cast<unsigned>(p) / (kBank * kBanks);
  return static_cast<int>(static_cast<unsigned>(p) ^ (line ^ line / kBanks) % kBanks * kBank);
}

// A kernel on `pieces` pieces, each of them through so much shared memory.
template <class... Parameters>
cudaError_t start_shared(void (*kernel)(Parameters...), const LaunchShape& shape, int64_t pieces, int64_t bytes,
                         Stream stream, std::type_identity_t<Parameters>... arguments) {
  const auto grid = static_cast<unsigned>(pieces < shape.grid ? pieces : shape.grid);
  return enqueue_shared(kernel, grid, transpose_shared_threads(bytes),
                        SharedBytes{static_cast<int>(bytes), static_cast<int>(shape.shared_bytes)}, stream,
                        arguments...);
}

}  // namespace gpumem::kernels
