// The operands of a reduction, its partial results and values, for vectors, rows, columns and segments. The caller has
// set the environment of float_environment.hpp.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"
#include "backend/host/loops/loops.hpp"
#include "kernels/values.hpp"

namespace gpumem {

struct PitchedElements {
  const char* data = nullptr;
  int64_t pitch = 0;
  const int64_t* strides = nullptr;  // of a view, which has a stride per axis instead of the pitch
};

// Elements at any pitch and alignment. Elements that the loops cannot read directly are gathered first.
class Sequence {
 public:
  // one_by_one: even if the elements are contiguous. view: of operands with strides; it outlives the sequence.
  Sequence(const Loops& loops, gpumem_dtype dtype, gpumem_reduce_op op, PitchedElements x, PitchedElements y = {},
           bool one_by_one = false, const ReduceView* view = nullptr) noexcept;

  NodeKind kind() const noexcept { return kind_; }

  // The partial result of elements [first, last), where first begins a 1024-element block and last > first. Indices
  // count from element 0.
  ReduceNode node(int64_t first, int64_t last) const noexcept;

 private:
  ReduceNode gathered(int64_t first, int64_t last) const noexcept;
  void gather(char* to, const PitchedElements& from, int64_t first, int64_t count) const noexcept;
  bool is_square() const noexcept;  // the operands are the same elements
  bool side_by_side(const PitchedElements& operand) const noexcept;

  ReduceLoop loop_;
  NodeKind kind_;
  int32_t bytes_;
  PitchedElements x_;
  PitchedElements y_;
  const ReduceView* view_;
  bool gather_;
};

ReduceValue value_of_node(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node) noexcept;

// Writes zeros if a value does not exist. Returns the status.
gpumem_status write_value(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node, char* result) noexcept;
// Returns the worst status.
gpumem_status write_values(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode* nodes, int64_t count,
                           char* result) noexcept;
// Of a search: the values, unless they are not wanted, and the indices.
gpumem_status write_found(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode* nodes, int64_t count, char* values,
                          char* indices) noexcept;
gpumem_status write_empty(gpumem_dtype dtype, gpumem_reduce_op op, char* result) noexcept;
gpumem_status write_zeros(gpumem_reduce_op op, char* result, gpumem_status status) noexcept;

}  // namespace gpumem
