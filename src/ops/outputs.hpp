// The memory that an operation reads and writes, as its arguments name it: looked up, and refused where it can't be used.
#pragma once

#include <cstdint>
#include <span>

#include "ops/operand.hpp"

namespace gpumem {

// The one or two ranges that an operation reads elements, offsets or indices from.
struct Inputs {
  ByteRange range[2] = {};
  size_t count = 0;

  std::span<const ByteRange> all() const noexcept { return {range, count}; }
};

// Memory that something is written to.
struct Output {
  const char* argument = "";
  void* p = nullptr;
  int64_t bytes = 0;  // 0: nothing
  int64_t alignment = 1;
  bool may_be_null = false;  // the program may do without it
  uint64_t empty_word = 0;   // each word of the result of no elements
  Operand where{};

  bool wanted() const noexcept { return bytes > 0 && !(may_be_null && p == nullptr); }
};

// The status word of the _async forms; write_empty_values() makes it GPUMEM_OK.
inline Output status_of(gpumem_status* status) noexcept {
  return {"status", status, sizeof(gpumem_status), sizeof(gpumem_status), true};
}

// Looks the outputs up, and throws unless each can take what the operation writes: UNSUPPORTED for another device,
// INVALID_ARGUMENT for what overlaps an input or another output, INVALID_POINTER for pageable memory when a stream of a CUDA
// context, or of a strict host context, is to write it.
void check_outputs(Context& context, std::span<Output> outputs, std::span<const ByteRange> inputs,
                   Completion completion);

// Writes bytes of host memory to an output, complete on return and behind the context's own stream.
void store(Context& context, const Output& output, const void* value);
// Writes the results of no elements to all of them, in the order of the stream. Completion::blocking is for the context's own.
void write_empty_values(Context& context, std::span<const Output> outputs, NativeStream stream, Completion completion);

}  // namespace gpumem
