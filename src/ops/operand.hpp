// Looks a pointer up: its kind of memory, its location, and whether a range is valid.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/names.hpp"
#include "context/context.hpp"
#include "memory/registry.hpp"

namespace gpumem {

enum class Access : int32_t { read, write };

struct Operand {
  gpumem_memory_kind kind = GPUMEM_MEMORY_PAGEABLE;
  int32_t device = GPUMEM_DEVICE_HOST;
  bool ours = false;
  bool mixed = false;           // only a part of the host memory is registered with the driver
  uintptr_t base = 0;           // 0: unknown
  int64_t bytes = 0;            // of the allocation; 0: unknown
  const void* first = nullptr;  // the argument of look_up_range()
  int64_t extent = 0;

  // Memory that an ordinary load reaches without migrating pages from a GPU.
  bool on_host() const noexcept { return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED; }
  // Meaningless unless the operand is in host memory.
  HostSide host_side() const noexcept {
    if (mixed) return HostSide::mixed;
    return kind == GPUMEM_MEMORY_PAGEABLE ? HostSide::pageable : HostSide::locked;
  }
};

// Throws INVALID_POINTER for NULL and for memory that was freed or is not mapped.
Operand look_up(Context& context, const void* p, const char* argument);

// Looks up bytes >= 1 from p on. Throws OUT_OF_RANGE past the allocation, UNSUPPORTED for device memory on a host
// context. Throws INVALID_POINTER if more than `gap` bytes in a row are not accessible (see Spacing).
Operand look_up_range(Context& context, const void* p, int64_t bytes, Access access, const char* argument,
                      int64_t gap = 0);

// True if these few bytes are certainly host-readable memory of the program. Does not ask the driver.
bool host_can_read(Context& context, const void* p, int64_t bytes) noexcept;

// `count` repetitions, `stride` elements apart.
struct Repeat {
  int64_t count;
  int64_t stride;  // ignored if count is 1
};

// Where the bytes of a range are: in runs without padding, at distances that are multiples of a step.
struct Spacing {
  int64_t gap = 0;   // the longest padding between two runs. Pages in it need not be mapped
  int64_t run = 0;   // 0: the range is one run
  int64_t step = 0;  // 0: there is one run
};
// Of nested repetitions of `run` elements. Any order is safe; the shortest stride first gives the longest runs.
Spacing spacing_of(int64_t run, std::span<const Repeat> repeats, int64_t element_bytes) noexcept;
inline Spacing spacing_of(int64_t run, std::initializer_list<Repeat> repeats, int64_t element_bytes) noexcept {
  return spacing_of(run, std::span(repeats.begin(), repeats.size()), element_bytes);
}

// Throw UNSUPPORTED for CUDA memory on a host context, and for memory of another CUDA device.
void require_host_memory(const DeviceProps& own, const Operand& operand, const char* argument);
void require_same_device(const DeviceProps& own, const Operand& operand, const char* argument);

struct ByteRange {
  const char* argument;
  const void* p;
  int64_t bytes;
  Spacing spacing = {};
};

// Whether the range is in the operand's allocation. False if its extent is unknown.
bool covers(const Operand& operand, const ByteRange& range) noexcept;

// Throws INVALID_ARGUMENT if the ranges overlap, unless the runs of one are certainly in the padding of the other, as
// different columns of one matrix are.
void require_disjoint(const ByteRange& a, const ByteRange& b);

}  // namespace gpumem
