// Where work runs: a pure function of its operands' locations.
#pragma once

#include <array>

#include "base/device_props.hpp"
#include "kernels/arithmetic/params.hpp"
#include "ops/operand.hpp"

namespace gpumem {

struct ManagedRange {
  const void* p;
  int64_t bytes;
  bool overwritten;  // all of it, before any of it is read
};

struct Placement {
  ExecutionSpace space = ExecutionSpace::host;
  bool stage_src = false;  // an operand (src, or y) is on the other side and is copied next to the work first
  const char* reason = "";
  HostSide host_side = HostSide::locked;  // of the staged operand, or of dst if it is brought
  bool streamed = false;                  // the operand is moved to the device in pieces
  bool stage_index = false;  // an index or offsets are on the other side and are copied next to the work first
  HostSide index_side = HostSide::locked;
  Across across = Across::nothing;
  bool bring_dst = false;  // dst is on the other side, and the work copies its results there piece by piece
  std::array<ManagedRange, kMaxTerms + kMaxDots + 1> managed{};
  int32_t managed_ranges = 0;

  void uses(const Operand& operand) noexcept;
  void overwrites(const void* p) noexcept;
};

// The alignment that textures require of an image; the largest of all kernels.
constexpr size_t kWorkspaceAlignment = 512;
// Represents Workspace memory in a plan and has its alignment.
inline void* placeholder() noexcept { return reinterpret_cast<void*>(uintptr_t{kWorkspaceAlignment}); }

Placement place(bool on_cuda, const Operand& operand) noexcept;
Placement place_streamed(const Operand& x) noexcept;
// Two operands that are read. The work runs next to x, and y is staged.
Placement place_beside_x(bool on_cuda, const Operand& x, const Operand& y) noexcept;
// The work runs next to the output. staged: an operand that is read is on the other side.
Placement place_beside_output(bool on_cuda, const Operand& output, bool staged) noexcept;
// The work runs next to dst.
Placement place(bool on_cuda, const Operand& src, const Operand& dst) noexcept;
// As above for both forms. The asynchronous one moves no operand: it throws UNSUPPORTED if src would have to move.
Placement place(bool on_cuda, const Operand& src, const Operand& dst, Completion completion);
// As place(), but between host and device the device always does the work. For work that takes less time than PCIe.
Placement place_across(bool on_cuda, const Operand& src, const Operand& dst) noexcept;

// Whether an index or offsets have to be staged. Blocking calls stage pinned ones too: kernels read them often.
bool read_elsewhere(ExecutionSpace space, const Operand& index, Completion completion) noexcept;

// Of an index or offsets, if the space is known. A blocking call stages those that the work can't read where they are, and
// an asynchronous one throws UNSUPPORTED. beside: the argument that the work runs next to.
void place_index(Placement& placement, bool on_cuda, const char* argument, const Operand& index, const char* beside,
                 Completion completion);

// Throws UNSUPPORTED for a call that moves no operand.
[[noreturn]] void fail_on_two_sides(const char* a_name, const Operand& a, const char* b_name, const Operand& b);

// Prefetches managed memory to the device in the order of the stream. Page faults of a kernel move it at a fifth of the
// speed and create untouched pages at a tenth (bench/experiments.csv). A hint that is not taken is not an error. Memory
// that the program advised to stay elsewhere does not move.
void prefetch_managed(Context& context, const Placement& placement, NativeStream stream);

bool on_another_device(int32_t own, const Operand& operand) noexcept;
// A copy between host and device, or between devices, runs on neither side.
Placement place_copy(bool on_cuda, int32_t own, const Operand& src, const Operand& dst) noexcept;

}  // namespace gpumem
