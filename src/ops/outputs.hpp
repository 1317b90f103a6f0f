// Looks up an operation's operands and refuses those that it can't use.
#pragma once

#include <cstdint>
#include <span>

#include "ops/operand.hpp"

namespace gpumem {

struct Inputs {
  ByteRange range[2] = {};
  size_t count = 0;

  std::span<const ByteRange> all() const noexcept { return {range, count}; }
};

struct Output {
  const char* argument = "";
  void* p = nullptr;
  int64_t bytes = 0;  // 0: no output
  int64_t alignment = 1;
  bool may_be_null = false;  // the output is optional
  uint64_t empty_word = 0;   // each word of the result of no elements
  Operand where{};

  bool wanted() const noexcept { return bytes > 0 && !(may_be_null && p == nullptr); }
};

// The deferred status of an asynchronous call. write_empty_values() sets it to GPUMEM_OK.
inline Output status_of(gpumem_status* status) noexcept {
  return {"status", status, sizeof(gpumem_status), sizeof(gpumem_status), true};
}

// Looks the outputs up. Throws UNSUPPORTED for another device, and INVALID_ARGUMENT if one overlaps an input or output.
// Throws INVALID_POINTER if a stream of a CUDA or strict host context is to write pageable memory.
void check_outputs(Context& context, std::span<Output> outputs, std::span<const ByteRange> inputs,
                   Completion completion);

// Copies host memory to an output after the context's own stream. Complete on return.
void store(Context& context, const Output& output, const void* value);
// Writes the results of no elements in the order of the stream. Completion::blocking requires the context's own stream.
void write_empty_values(Context& context, std::span<const Output> outputs, NativeStream stream, Completion completion);

}  // namespace gpumem
