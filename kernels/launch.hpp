// Where and with what a kernel is launched. Plain C++: builds without CUDA see it too.
#pragma once

struct CUstream_st;

namespace gpumem {
struct Config;
}

namespace gpumem::kernels {

// A stream, and whether kernels on it may start before the one before them has ended (programmatic dependent launch).
struct Stream {
  CUstream_st* native = nullptr;
  bool programmatic_launch = false;

  Stream(CUstream_st* stream = nullptr, bool early = false) noexcept : native(stream), programmatic_launch(early) {}
  operator CUstream_st*() const noexcept { return native; }
};

class TextureObjects;  // kernels/textbook/texture_objects.hpp

// What the execute function of an implementation gets besides parameters and configuration.
struct Launch : Stream {
  void* workspace = nullptr;  // Config::workspace_bytes
  TextureObjects* textures = nullptr;
};

// A cudaError_t.
using LaunchResult = int;

// What executes an implementation of an operation that is only launched.
template <class Params>
using Execute = LaunchResult(const Params& params, const Config& config, const Launch& launch);

// Whether the code for the current device is of compute capability 9.0 or newer, where kernels may start early. An error where
// there is no code for the device at all.
LaunchResult code_has_programmatic_launch(bool& answer);

}  // namespace gpumem::kernels
