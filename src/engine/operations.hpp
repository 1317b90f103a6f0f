// The operations, as the API delegates them: checked arguments in, work done or enqueued, an Error otherwise.
#pragma once

#include <cstdint>

#include "engine/context.hpp"

namespace gpumem {

struct ReduceCall {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  const void* x;
  int64_t n;
  int64_t stride;
};

struct TransposeCall {
  int64_t element_bytes;
  int64_t rows;
  int64_t cols;
  const void* src;
  int64_t src_ld;
  void* dst;
  int64_t dst_ld;
};

struct FillCall {
  void* dst;
  int64_t pattern_bytes;
  int64_t count;
};

// Memory.
void* allocate(Context& context, gpumem_memory_kind kind, int64_t bytes);
void free_memory(Context& context, void* p);
void prefetch(Context& context, const void* p, int64_t bytes, int32_t device, NativeStream stream, Until until);
void advise(Context& context, const void* p, int64_t bytes, gpumem_advice advice, int32_t device);

// Movement.
void copy(Context& context, void* dst, const void* src, int64_t bytes, NativeStream stream, Until until);
void fill(Context& context, const FillCall& call, const void* pattern, NativeStream stream, Until until);

// Reduce, rearrange; complete on return, on the context's own stream.
void reduce_i32(Context& context, const ReduceCall& call, int64_t* result);
void transpose(Context& context, const TransposeCall& call);

}  // namespace gpumem
