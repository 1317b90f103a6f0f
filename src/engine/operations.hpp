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
  const void* y = nullptr;  // the second operand of GPUMEM_DOT
  int64_t y_stride = 1;
};

struct ReduceAxisCall {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  gpumem_axis axis;
  const void* x;
  int64_t rows;
  int64_t cols;
  int64_t ld;
  int64_t batches;
  int64_t batch_stride;
};

struct ReduceSegmentsCall {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  const void* x;
  int64_t n;
  const int64_t* offsets;
  int64_t segments;
};

struct TransposeCall {
  int64_t element_bytes;
  int64_t rows;
  int64_t cols;
  const void* src;
  int64_t src_ld;
  void* dst;
  int64_t dst_ld;
  int64_t batches = 1;
  int64_t src_batch_stride = 0;
  int64_t dst_batch_stride = 0;
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

// Reduce. The plain forms run on the context's own stream and are complete on return. op is one of all gpumem_reduce_op values,
// the GPUMEM_ARG_*, GPUMEM_DOT and GPUMEM_NRM2 included: which of them a public function takes is the API's matter.
void reduce(Context& context, const ReduceCall& call, void* result, int64_t* index);
void reduce_async(Context& context, const ReduceCall& call, const ReduceTarget& target, NativeStream stream);
void reduce_axis(Context& context, const ReduceAxisCall& call, void* result);
void reduce_axis_async(Context& context, const ReduceAxisCall& call, void* result, gpumem_status* status,
                       NativeStream stream);
void reduce_segments(Context& context, const ReduceSegmentsCall& call, void* result);
void reduce_segments_async(Context& context, const ReduceSegmentsCall& call, void* result, gpumem_status* status,
                           NativeStream stream);

// Rearrange.
void transpose(Context& context, const TransposeCall& call, NativeStream stream, Until until);

}  // namespace gpumem
