// The operations that the API delegates to. Each throws an Error on failure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "context/ceilings.hpp"
#include "context/context.hpp"
#include "kernels/families.hpp"
#include "kernels/values.hpp"
#include "select/select.hpp"

namespace gpumem {

class Planner;
struct Operand;
template <class Family>
struct Plan;
struct TransposePlan;
struct GatherParams;
struct ScatterParams;

struct TuningLoaded {
  int64_t taken = 0;
  int64_t skipped = 0;
};

void* allocate(Context& context, gpumem_memory_kind kind, int64_t bytes);
void free_memory(Context& context, void* p);
void* allocate_async(Context& context, int64_t bytes, int64_t alignment, StreamCache& cache);
void free_async(Context& context, void* p, const StreamCache& on);
// Wait for all work that the process gave the device, on every stream. Throw CAPTURING, and p then stays live.
void wait_for_device(Context& context);
void free_after_device(Context& context, void* p);
void use_on(Context& context, const void* p, NativeStream stream);
void trim(Context& context, int64_t keep_bytes);
void check_memory(Context& context);
void register_host(Context& context, void* p, int64_t bytes);
void unregister_host(Context& context, void* p);
void label(Context& context, const void* p, const char* text);
void read_stats(Context& context, gpumem_memory_stats_info& info);
void prefetch(Context& context, const void* p, int64_t bytes, int32_t device, NativeStream stream,
              Completion completion);
void advise(Context& context, const void* p, int64_t bytes, gpumem_advice advice, int32_t device);
gpumem_managed_info query_managed(Context& context, const void* p, int64_t bytes);

// Completion::blocking requires the context's own stream.
void copy(Context& context, const CopyParams& params, NativeStream stream, Completion completion);
void fill(Context& context, const FillParams& params, NativeStream stream, Completion completion);
// params.op may be any gpumem_reduce_op. The API decides which ones a public function accepts.
void reduce(Context& context, const ReduceParams& params, NativeStream stream, Completion completion);
void reduce_axis(Context& context, const ReduceAxisParams& params, NativeStream stream, Completion completion);
void reduce_segments(Context& context, const ReduceSegmentsParams& params, NativeStream stream, Completion completion);
void transpose(Context& context, const TransposeParams& params, NativeStream stream, Completion completion);
void permute(Context& context, const PermuteCall& call, NativeStream stream, Completion completion);
// limited: copy engines need a part of the device's memory bandwidth.
enum class Occupancy : int32_t { full, limited };
// As permute(), for operands that were looked up before and have disjoint elements.
void permute_part(Context& context, const PermuteCall& call, const Operand& src, const Operand& dst,
                  NativeStream stream, Completion completion, Occupancy occupancy);
void axpby(Context& context, const AxpbyParams& params, NativeStream stream, Completion completion);
void convert(Context& context, const ConvertParams& params, NativeStream stream, Completion completion);
void arithmetic(Context& context, const ArithmeticCall& call, NativeStream stream, Completion completion);
void gather(Context& context, const GatherScatterParams& params, NativeStream stream, Completion completion);
void scatter(Context& context, const GatherScatterParams& params, NativeStream stream, Completion completion);
void resize(Context& context, const ResizeParams& params, NativeStream stream, Completion completion);
void resize_batch(Context& context, const ResizeBatchCall& call, NativeStream stream, Completion completion);

void map(Context& context, const MapParams& params, NativeStream stream, Completion completion);
void scan(Context& context, const ScanParams& params, NativeStream stream, Completion completion);
// A scan, and the caller's description of its view.
struct ScanAxisCall {
  ScanParams scan;
  int32_t rank;
  const int64_t* extents;
  int32_t axis;
  const int64_t* x_strides;  // nullptr: row-major without padding
  const int64_t* result_strides;
};
void scan_axis(Context& context, const ScanAxisCall& call, NativeStream stream, Completion completion);
void scan_segments(Context& context, const ScanParams& params, NativeStream stream, Completion completion);
void sort(Context& context, const SortParams& params, NativeStream stream, Completion completion);
// params.segments is not the default.
void sort_segments(Context& context, const SortParams& params, NativeStream stream, Completion completion);
void select_rows(Context& context, const SelectParams& params, NativeStream stream, Completion completion);
void reduce_by_index(Context& context, const ReduceByIndexParams& params, NativeStream stream, Completion completion);
// Without counts.
void reduce_rows_by_index(Context& context, const ReduceByIndexParams& params, NativeStream stream,
                          Completion completion);
void copy_boxes(Context& context, const CopyBoxesCall& call, NativeStream stream, Completion completion);
// Of an operation descriptor. Boxes follow each other without overlap.
void copy_equal_boxes(Context& context, const CopyBoxesParams& params, NativeStream stream, Completion completion);

// A reduction up to its partial result, complete on return. checked_value() does the last step and throws OVERFLOW.
ReduceNode reduce_to_node(Context& context, const ReduceParams& params);
// The same, begun on the context's own stream. The second gives the partial results of an ordered sum's subtrees.
// nullptr if it is not possible, or not while others are pending.
std::unique_ptr<PendingNodes> begin_reduce_to_node(Context& context, const ReduceParams& params);
std::unique_ptr<PendingNodes> begin_reduce_to_nodes(Context& context, const ReduceParams& params,
                                                    const LeafTrees& trees);
ReduceValue checked_value(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node);
// Throw INVALID_ARGUMENT. The first refuses operations that gpumem_reduce() does not take. The second refuses those
// that gpumem_argreduce() does not take, and returns the search.
void require_general(gpumem_reduce_op op);
gpumem_reduce_op search_for(gpumem_reduce_op op);

// Decisions before anything runs (plan.hpp). Each throws the errors that the operation has before its first write. Some
// plans depend on completion, because asynchronous calls move no operand.
Plan<ReduceFamily> plan(Planner& planner, const ReduceParams& params, Completion completion);
Plan<ReduceAxisFamily> plan(Planner& planner, const ReduceAxisParams& params, Completion completion);
Plan<ReduceSegmentsFamily> plan(Planner& planner, const ReduceSegmentsParams& params, Completion completion);
TransposePlan plan(Planner& planner, const TransposeParams& params, Completion completion);
Plan<PermuteFamily> plan(Planner& planner, const PermuteParams& params, Completion completion);
// Returns merged parameters.
Plan<CopyFamily> plan(Planner& planner, const CopyParams& params, Completion completion);
Plan<FillFamily> plan(Planner& planner, const FillParams& params, Completion completion);
Plan<AxpbyFamily> plan(Planner& planner, const AxpbyParams& params, Completion completion);
Plan<ConvertFamily> plan(Planner& planner, const ConvertParams& params, Completion completion);
Plan<ArithmeticFamily> plan(Planner& planner, const ArithmeticParams& params, Completion completion);
Plan<GatherFamily> plan(Planner& planner, const GatherParams& params, Completion completion);
Plan<ScatterFamily> plan(Planner& planner, const ScatterParams& params, Completion completion);
// Normalizes params.images, and represents those that are staged by placeholder().
Plan<ResizeFamily> plan(Planner& planner, const ResizeParams& params, Completion completion);
Plan<MapFamily> plan(Planner& planner, const MapParams& params, Completion completion);
Plan<ScanFamily> plan(Planner& planner, const ScanParams& params, Completion completion);
Plan<SortFamily> plan(Planner& planner, const SortParams& params, Completion completion);
Plan<SelectFamily> plan(Planner& planner, const SelectParams& params, Completion completion);
Plan<ReduceByIndexFamily> plan(Planner& planner, const ReduceByIndexParams& params, Completion completion);
// Of equal boxes, one after another.
Plan<CopyBoxesFamily> plan(Planner& planner, const CopyBoxesParams& params, Completion completion);

// Measures on the first call for the device. Throws CAPTURING.
Ceilings ceilings(Context& context);
// Zeros if nothing has been measured.
Ceilings measured_ceilings(const DeviceProps& props);

// Choices that were measured here, from a file (ops/tuning.hpp).
TuningLoaded load_tuning(Context& context, const char* path);
void save_tuning(Context& context, const char* path);

// The plan in words. Throws the operation's errors.
std::string explain(Context& context, std::string_view line, gpumem_format format);

}  // namespace gpumem
