// The arguments of a launch besides parameters and configuration. Plain C++: builds without CUDA include it too.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace gpumem {
struct Config;
}

namespace gpumem::kernels {

// `programmatic_launch`: kernels may start before the previous one has ended (programmatic dependent launch).
struct Stream {
  CUstream_st* native = nullptr;
  bool programmatic_launch = false;

  Stream(CUstream_st* stream = nullptr, bool early = false) noexcept : native(stream), programmatic_launch(early) {}
  operator CUstream_st*() const noexcept { return native; }
};

struct ReduceScratch;  // kernels/reduce/launch.hpp
class TextureObjects;  // kernels/textbook/texture_objects.hpp

struct Launch : Stream {
  void* workspace = nullptr;  // Config::workspace_bytes
  TextureObjects* textures = nullptr;
  const ReduceScratch* reduce_scratch = nullptr;  // if Config::reduce_scratch
};

// A cudaError_t.
using LaunchResult = int;

// Executes an implementation of an operation that only needs a launch.
template <class Params>
using Execute = LaunchResult(const Params& params, const Config& config, const Launch& launch);

// Sets memory of the device, a multiple of 4 bytes. The kernel that follows may start early, which it may not after
// cudaMemsetAsync().
LaunchResult set_bytes(void* words, int64_t bytes, unsigned char value, const Launch& launch);

// `answer`: the code for the current device is of compute capability 9.0 or newer, so kernels may start early. Returns
// an error if the device has no code.
LaunchResult code_has_programmatic_launch(bool& answer);

}  // namespace gpumem::kernels
