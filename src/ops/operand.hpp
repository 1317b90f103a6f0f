// Looking a pointer up: what kind of memory it is, where it lies, and whether a range of it is sound.
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
  bool mixed = false;           // host memory that is registered with the driver in part
  uintptr_t base = 0;           // 0: unknown
  int64_t bytes = 0;            // of the allocation; 0: unknown
  const void* first = nullptr;  // what look_up_range() was asked about
  int64_t extent = 0;

  // Memory that an ordinary load can reach without moving pages of a GPU.
  bool on_host() const noexcept { return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED; }
  // Meaningless where the operand does not lie in host memory.
  HostSide host_side() const noexcept {
    if (mixed) return HostSide::mixed;
    return kind == GPUMEM_MEMORY_PAGEABLE ? HostSide::pageable : HostSide::locked;
  }
};

// What p is. Throws INVALID_POINTER for NULL and for memory that was freed or is not mapped.
Operand look_up(Context& context, const void* p, const char* argument);

// The same for bytes >= 1 from p on: throws OUT_OF_RANGE when they run past the allocation, INVALID_POINTER when more than `gap`
// of them in a row can't be accessed (see gap_of()), UNSUPPORTED for device memory on a host context.
Operand look_up_range(Context& context, const void* p, int64_t bytes, Access access, const char* argument,
                      int64_t gap = 0);

// Whether these few bytes are surely memory of the program that the host can read: told without a question to the driver. Where it is
// false, look_up_range() tells.
bool host_can_read(Context& context, const void* p, int64_t bytes) noexcept;

// `count` repetitions, `stride` elements apart.
struct Repeat {
  int64_t count;
  int64_t stride;  // not looked at where count is 1
};

// The longest gap, in bytes, between the elements of a run that is repeated, where the result may be repeated in turn: pages in such a
// gap need not be mapped.
int64_t gap_of(int64_t run, std::span<const Repeat> repeats, int64_t element_bytes) noexcept;
inline int64_t gap_of(int64_t run, std::initializer_list<Repeat> repeats, int64_t element_bytes) noexcept {
  return gap_of(run, std::span(repeats.begin(), repeats.size()), element_bytes);
}

// Throw UNSUPPORTED for memory of a CUDA device on a host context, and for memory of another CUDA device than the context's.
void require_host_memory(const DeviceProps& own, const Operand& operand, const char* argument);
void require_same_device(const DeviceProps& own, const Operand& operand, const char* argument);

// Memory that an argument names.
struct ByteRange {
  const char* argument;
  const void* p;
  int64_t bytes;
  int64_t gap = 0;  // of gap_of()
};

// Throws INVALID_ARGUMENT when the two ranges share bytes.
void require_disjoint(const ByteRange& a, const ByteRange& b);

// Rows of row_bytes bytes, a whole number of pitches apart.
struct ColumnBlock {
  const void* p;
  int64_t row_bytes;
};

// Whether two blocks of columns of one matrix with that pitch have no column in common.
bool disjoint_columns(const ColumnBlock& a, const ColumnBlock& b, int64_t pitch_bytes) noexcept;

}  // namespace gpumem
