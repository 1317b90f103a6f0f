// Elements of a member's memory brought together and spread again, by the operations that every program has.
#pragma once

#include "context/context.hpp"
#include "dist/layout.hpp"

namespace gpumem {

// Elements of an array in a member's memory: their first, and their strides.
struct Strided {
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
  // The longest run of elements without gaps.
  int64_t run(const Index& strides) const noexcept;
  // Axes of extent 1 have no stride.
  bool same_places(const Index& a, const Index& b) const noexcept;
  bool is_tight(const Index& strides) const noexcept { return same_places(strides, tight_strides()); }
};

// Memory for a while: on a side of the context, in the order of its own stream.
class TemporaryBlock {
 public:
  TemporaryBlock(Context& context, bool on_host, int64_t bytes);
  ~TemporaryBlock();
  TemporaryBlock(const TemporaryBlock&) = delete;
  TemporaryBlock& operator=(const TemporaryBlock&) = delete;

  void* get() const noexcept { return p_; }

 private:
  Context& context_;
  const bool on_heap_;
  void* p_;
};

// Of a piece whose operands were looked up before and whose elements are disjoint.
void move_part(Context& context, const Shape& shape, const Strided& src, const Operand& src_operand, const Strided& dst,
               const Operand& dst_operand, NativeStream stream, Until until);

// All complete on return.
void move(Context& context, const Shape& shape, const Strided& src, const Strided& dst);
// To heap memory, without gaps, and back.
void pack(Context& context, const Shape& shape, const Strided& src, bool on_host, void* to);
void unpack(Context& context, const Shape& shape, const void* from, const Strided& dst, bool on_host);

}  // namespace gpumem
