// The operations, as the API delegates them: checked arguments in, work done or enqueued, an Error otherwise.
#pragma once

#include <cstdint>

#include "context/context.hpp"

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

struct PermuteCall {
  int64_t element_bytes;
  int32_t rank;
  const int64_t* extents;  // of src
  const int32_t* order;
  const void* src;
  const int64_t* src_strides;  // nullptr: row-major without gaps
  void* dst;
  const int64_t* dst_strides;
};

struct FillCall {
  void* dst;
  int64_t pattern_bytes;
  int64_t count;          // of a row
  bool has_rows = false;  // gpumem_fill_2d()
  int64_t rows = 1;
  int64_t pitch_bytes = 0;
};

// Where one side's rows lie.
struct CopySide {
  int64_t pitch_bytes = 0;
  int64_t slice_bytes = 0;
};

struct CopyCall {
  void* dst;
  CopySide dst_side;
  const void* src;
  CopySide src_side;
  int64_t row_bytes;
  int64_t rows = 1;
  int64_t slices = 1;
  int32_t rank = 1;  // of gpumem_copy(), gpumem_copy_2d(), gpumem_copy_3d()
};

// A number as the bits of the arrays' own type: a value of another type, or a comparison, would depend on the program's
// floating-point environment.
struct AxpbyCall {
  gpumem_dtype dtype;  // f32 or f64
  uint64_t alpha;
  const void* x;  // not looked at when its factor is 0
  uint64_t beta;
  const void* y;
  void* z;
  int64_t n;
};
// Rows of row_bytes bytes, by index: of src in a gather, of dst in a scatter. The other matrix has n rows.
struct RowsCall {
  int64_t row_bytes;
  const void* src;
  int64_t src_rows;
  int64_t src_pitch;  // bytes
  gpumem_dtype index_type;
  const void* index;
  int64_t n;
  void* dst;
  int64_t dst_rows;
  int64_t dst_pitch;
};
struct GatherCall : RowsCall {};
struct ScatterCall : RowsCall {};
struct ResizeCall {
  gpumem_filter filter;
  gpumem_dtype dtype;
  int32_t channels;
  const void* src;
  int64_t src_rows;
  int64_t src_cols;
  int64_t src_pitch;  // bytes
  void* dst;
  int64_t dst_rows;
  int64_t dst_cols;
  int64_t dst_pitch;
};

// Memory.
void* allocate(Context& context, gpumem_memory_kind kind, int64_t bytes);
void free_memory(Context& context, void* p);
void* allocate_async(Context& context, int64_t bytes, int64_t alignment, StreamCache& cache);
void free_async(Context& context, void* p, const StreamCache& on);
// Behind all work that the process has given the device, on whatever stream, for which it waits. Throws CAPTURING, and p is then live.
void free_after_device(Context& context, void* p);
void use_on(Context& context, const void* p, NativeStream stream);
void trim(Context& context, int64_t keep_bytes);
void check_memory(Context& context);
void register_host(Context& context, void* p, int64_t bytes);
void unregister_host(Context& context, void* p);
void label(Context& context, const void* p, const char* text);
void read_stats(Context& context, gpumem_memory_stats_info& info);
void prefetch(Context& context, const void* p, int64_t bytes, int32_t device, NativeStream stream, Until until);
void advise(Context& context, const void* p, int64_t bytes, gpumem_advice advice, int32_t device);
gpumem_managed_info query_managed(Context& context, const void* p, int64_t bytes);

// Movement.
void copy(Context& context, const CopyCall& call, NativeStream stream, Until until);
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
void permute(Context& context, const PermuteCall& call, NativeStream stream, Until until);

// Elementwise. Until::complete is for the context's own stream.
void axpby(Context& context, const AxpbyCall& call, NativeStream stream, Until until);

// Rows by index. The plain forms are complete on return, on the context's own stream.
void gather(Context& context, const GatherCall& call);
void gather_async(Context& context, const GatherCall& call, gpumem_status* status, NativeStream stream);
void scatter(Context& context, const ScatterCall& call);
void scatter_async(Context& context, const ScatterCall& call, gpumem_status* status, NativeStream stream);

// Images. Until::complete is for the context's own stream.
void resize(Context& context, const ResizeCall& call, NativeStream stream, Until until);

}  // namespace gpumem
