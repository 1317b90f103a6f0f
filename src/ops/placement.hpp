// Where work runs: a pure function of where its operands lie.
#pragma once

#include <array>

#include "base/device_props.hpp"
#include "ops/operand.hpp"

namespace gpumem {

// Managed memory that work on the device uses.
struct ManagedRange {
  const void* p;
  int64_t bytes;
  bool overwritten;  // all of it, before any of it is read
};

struct Placement {
  ExecutionSpace space = ExecutionSpace::host;
  bool stage_src = false;  // an operand (src, or y) lies elsewhere and is copied next to the work first
  const char* reason = "";
  HostSide host_side = HostSide::locked;  // of what is moved: that operand, or dst where that is
  bool streamed = false;                  // the operand is moved to the device in pieces
  bool stage_index = false;               // the index of rows lies elsewhere and is copied next to the work first
  HostSide index_side = HostSide::locked;
  Across across = Across::nothing;  // between the sides of a copy
  bool bring_dst = false;           // dst lies elsewhere than the work, which copies it there piece by piece
  std::array<ManagedRange, 9> managed{};
  int32_t managed_ranges = 0;

  // Notes an operand that the work uses where it lies.
  void uses(const Operand& operand) noexcept;
  void overwrites(const void* p) noexcept;
};

// What textures need of the address of an image, and more than any other kernel does.
constexpr size_t kWorkspaceAlignment = 512;
// Stands in a plan for memory of a Workspace, and is as aligned.
inline void* placeholder() noexcept { return reinterpret_cast<void*>(uintptr_t{kWorkspaceAlignment}); }

// One operand.
Placement place(bool on_cuda, const Operand& operand) noexcept;
// One operand in host memory, on a context with a device that is to reduce it.
Placement place_streamed(const Operand& x) noexcept;
// Two operands that are read: the work runs where x lies. What is staged is y.
Placement place_beside_x(bool on_cuda, const Operand& x, const Operand& y) noexcept;
// The work runs where z lies; staged: another operand lies elsewhere.
Placement place_beside_z(bool on_cuda, const Operand& z, bool staged) noexcept;
// The work runs where dst lies.
Placement place(bool on_cuda, const Operand& src, const Operand& dst) noexcept;
// The same of either form of a call: the _async one, which moves no operand, throws UNSUPPORTED where src would have to be.
Placement place(bool on_cuda, const Operand& src, const Operand& dst, Completion completion);
// As place(), but between host and device the device does the work whichever side dst lies on: for what the link is slower than.
Placement place_across(bool on_cuda, const Operand& src, const Operand& dst) noexcept;

// Whether an index or offsets have to be moved next to the work. Kernels read pinned memory, but not as often as those are read: the plain
// form moves it too.
bool read_elsewhere(ExecutionSpace space, const Operand& index, Completion completion) noexcept;

// Throws UNSUPPORTED: of a call that moves no operand.
[[noreturn]] void fail_on_two_sides(const char* a_name, const Operand& a, const char* b_name, const Operand& b);

// Managed memory that work on the device is about to use is prefetched to it, in the order of the stream. Left to the faults of a kernel
// it arrives at a fifth of the speed, and pages that nobody has touched yet are created at a tenth (bench/experiments.csv). A hint that is
// not taken is no error, and nothing moves that the program has advised to lie elsewhere.
void prefetch_managed(Context& context, const Placement& placement, NativeStream stream);

// Memory of a CUDA device that is not the context's.
bool on_another_device(int32_t own, const Operand& operand) noexcept;
// A copy: one between host and device, or between devices, runs on neither side.
Placement place_copy(bool on_cuda, int32_t own, const Operand& src, const Operand& dst) noexcept;

}  // namespace gpumem
