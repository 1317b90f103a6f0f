#include "ops/rows.hpp"

#include <optional>
#include <string>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "kernels/elements.hpp"

namespace gpumem {
namespace {

[[noreturn]] void fail_elsewhere(const char* argument, const Operand& operand, ExecutionSpace space) {
  fail(GPUMEM_UNSUPPORTED, "%s is %s memory, but the work runs where dst is, %s; expected memory of that side",
       argument, kind_name(operand.kind), space == ExecutionSpace::cuda ? "on the device" : "on the host");
}

}  // namespace

void require_index_type(const char* argument, gpumem_dtype index_type) {
  if (is_dtype(index_type) && !is_floating(index_type) && element_bytes(index_type) >= 4) return;
  fail(GPUMEM_INVALID_ARGUMENT, "%s is %d; expected GPUMEM_I32 (4), GPUMEM_U32 (5), GPUMEM_I64 (6) or GPUMEM_U64 (7)",
       argument, index_type);
}

void require_pitch(const char* argument, int64_t pitch, int64_t rows, int64_t row_bytes) {
  if (rows > 1) require_at_least(argument, pitch, "row_bytes", row_bytes);
}

void require_rows(const BadIndex& bad, gpumem_dtype index_type, const char* name, int64_t count) {
  if (bad.at < 0) return;
  const uint64_t value = extend(index_type, bad.bits);
  const std::string text =
      is_signed_integer(index_type) ? std::to_string(static_cast<int64_t>(value)) : std::to_string(value);
  fail(GPUMEM_OUT_OF_RANGE, "index[%lld] is %s; expected 0 or more, and less than %s = %lld", ll(bad.at), text.c_str(),
       name, ll(count));
}

ByteRange range_of_rows(const char* argument, const void* p, int64_t rows, int64_t pitch, int64_t row_bytes,
                        const char* what) {
  const int64_t bytes = rows == 0 ? 0 : checked_extent(rows, pitch, row_bytes, what);
  return {argument, p, bytes, spacing_of(row_bytes, {{rows, pitch}}, 1)};
}

Placement place_rows(Planner& planner, const RowRanges& ranges, Completion completion) {
  std::optional<Operand> src;
  std::optional<Operand> dst;
  if (ranges.src.bytes > 0) src = planner.look_up_here(ranges.src, Access::read);
  const Operand index = planner.look_up_index(ranges.index);
  if (ranges.dst.bytes > 0) dst = planner.look_up_here(ranges.dst, Access::write);
  const bool on_cuda = planner.on_cuda();
  Placement placement = src && dst ? place(on_cuda, *src, *dst) : place(on_cuda, dst ? *dst : src ? *src : index);
  if (src && dst) require_disjoint(ranges.dst, ranges.src);
  if (dst) require_disjoint(ranges.dst, ranges.index);
  if (src) placement.host_side = src->host_side();
  placement.stage_index = on_cuda && read_elsewhere(placement.space, index, completion);
  placement.index_side = index.host_side();
  if (completion == Completion::asynchronous && placement.stage_src) {
    fail_elsewhere(ranges.src.argument, *src, placement.space);
  }
  if (completion == Completion::asynchronous && placement.stage_index) {
    fail_elsewhere(ranges.index.argument, index, placement.space);
  }
  return placement;
}

}  // namespace gpumem
