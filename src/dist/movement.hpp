// Packs and unpacks elements of a participant's memory with the public operations.
#pragma once

#include <optional>

#include "base/error.hpp"
#include "context/context.hpp"
#include "dist/layout.hpp"
#include "kernels/copy/params.hpp"
#include "ops/operations.hpp"

namespace gpumem {

struct StridedArray {
  void* p;
  const Index& strides;
};

struct Shape {
  int64_t element_bytes = 0;
  Index extents = kOnes;

  int64_t bytes() const noexcept { return element_bytes * product(extents); }
  // From the first element to the end of the last, in elements.
  int64_t reach(const Index& strides) const noexcept;
  Index tight_strides() const noexcept;
  // Axes of extent 1 have no stride.
  bool same_places(const Index& a, const Index& b) const noexcept;
  bool is_tight(const Index& strides) const noexcept { return same_places(strides, tight_strides()); }
};

// The axis to cut a piece along, so that its parts are far apart.
size_t slowest_axis(const Shape& shape, const Index& strides) noexcept;
// Strides without padding, in the axis order of `strides`.
Index tight_as(const Shape& shape, const Index& strides) noexcept;
std::optional<CopyParams> as_rows(const Shape& shape, char* dst, const Index& dst_strides, const char* src,
                                  const Index& src_strides) noexcept;
// Long enough for a copy engine (bench/experiments.csv).
constexpr int64_t kLongRow = 1024;  // bytes
inline bool are_long(const std::optional<CopyParams>& rows) noexcept { return rows && rows->row_bytes >= kLongRow; }

// A stream of a context, and the cache whose memory is in its order.
struct WorkStream {
  NativeStream stream;
  StreamCache* cache;

  static WorkStream own(Context& context) noexcept { return {context.own_stream(), &context.device_memory().own()}; }
};

// Temporary memory on one side of the context. Device memory is ordered by a stream.
class TemporaryBlock {
 public:
  TemporaryBlock(Context& context, bool on_host, int64_t bytes)
      : TemporaryBlock(context, on_host, bytes, WorkStream::own(context)) {}
  TemporaryBlock(Context& context, bool on_host, int64_t bytes, const WorkStream& on);
  ~TemporaryBlock();
  TemporaryBlock(const TemporaryBlock&) = delete;
  TemporaryBlock& operator=(const TemporaryBlock&) = delete;

  void* get() const noexcept { return p_; }

 private:
  Context& context_;
  const StreamCache& cache_;
  const bool on_heap_;
  void* p_;
};

// Whether make_block() succeeded: memory may be short, and a captured stream can't allocate.
template <class F>
bool has_block(const F& make_block) {
  try {
    make_block();
    return true;
  } catch (const Error& error) {
    if (error.status() != GPUMEM_OUT_OF_MEMORY && error.status() != GPUMEM_CAPTURING) throw;
    return false;
  }
}

// For a piece with operands looked up before and disjoint elements.
void move_part(Context& context, const Shape& shape, const StridedArray& src, const Operand& src_operand,
               const StridedArray& dst, const Operand& dst_operand, NativeStream stream, Completion completion,
               Occupancy occupancy = Occupancy::full);

void move(Context& context, const Shape& shape, const StridedArray& src, const StridedArray& dst, NativeStream stream,
          Completion completion = Completion::blocking);
// Between an operand that was looked up before and pageable memory without padding; blocking. On a host context, they
// allocate nothing from its pools, and the operand may already be freed in the order of a stream that waits for them.
void pack(Context& context, const Shape& shape, const StridedArray& src, const Operand& operand, void* to,
          const WorkStream& on);
void unpack(Context& context, const Shape& shape, const void* from, const StridedArray& dst, const Operand& operand,
            const WorkStream& on);

}  // namespace gpumem
