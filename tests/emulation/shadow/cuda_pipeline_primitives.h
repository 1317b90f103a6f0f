// In the place of CUDA's header: copies to shared memory that have not arrived before they are waited for. What was there is
// spoiled at once, so that a kernel that reads too early is found out.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "emulation/device.hpp"
#include "emulation/report.hpp"

namespace gpumem_emulation {

struct PipelinedCopy {
  void* dst;
  const void* src;
  size_t bytes;
  uint64_t commit;
};

// A thread's copies under way, and how many groups of them it has committed.
struct Pipeline {
  std::vector<PipelinedCopy> copies;
  uint64_t commits = 0;
};

inline Pipeline& pipeline_of_thread() {
  static Pipeline pipelines[1024];
  return pipelines[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x];
}

}  // namespace gpumem_emulation

inline void __pipeline_memcpy_async(void* dst, const void* src, size_t bytes, size_t zeros = 0) {
  const bool fits = (bytes == 4 || bytes == 8 || bytes == 16) && zeros <= bytes &&
                    reinterpret_cast<uintptr_t>(dst) % bytes == 0 && reinterpret_cast<uintptr_t>(src) % bytes == 0;
  if (!fits)
    gpumem_emulation::give_up("a copy of " + std::to_string(bytes) +
                              " bytes to shared memory; expected 4, 8 or 16, aligned");
  auto& pipeline = gpumem_emulation::pipeline_of_thread();
  std::memset(dst, 0xA5, bytes);
  pipeline.copies.push_back({dst, src, bytes - zeros, pipeline.commits});
}

inline void __pipeline_commit() { ++gpumem_emulation::pipeline_of_thread().commits; }

inline void __pipeline_wait_prior(size_t groups) {
  auto& pipeline = gpumem_emulation::pipeline_of_thread();
  std::erase_if(pipeline.copies, [&](const gpumem_emulation::PipelinedCopy& copy) {
    if (copy.commit + groups >= pipeline.commits) return false;
    std::memcpy(copy.dst, copy.src, copy.bytes);
    return true;
  });
}
