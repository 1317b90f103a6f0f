// What a reduction reads, and the nodes and values that it becomes: the parts that vectors, rows, columns and segments share.
// The caller has set the environment of float_environment.hpp.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"
#include "backend/host/loops/loops.hpp"
#include "kernels/values.hpp"

namespace gpumem {

struct PitchedElements {
  const char* data = nullptr;
  int64_t pitch = 0;  // bytes from element to element
};

// Elements at any pitch and any alignment. Those that the loops can't take where they lie are gathered first.
class Sequence {
 public:
  // one_by_one: even if the elements lie side by side.
  Sequence(const Loops& loops, gpumem_dtype dtype, gpumem_reduce_op op, PitchedElements x, PitchedElements y = {},
           bool one_by_one = false) noexcept;

  NodeKind kind() const noexcept { return kind_; }

  // The node of elements [first, last), where first begins a leaf and last > first; indices count from element 0.
  ReduceNode node(int64_t first, int64_t last) const noexcept;

 private:
  ReduceNode gathered(int64_t first, int64_t last) const noexcept;
  bool side_by_side(const PitchedElements& operand) const noexcept;

  ReduceLoop loop_;
  NodeKind kind_;
  int32_t bytes_;
  PitchedElements x_;
  PitchedElements y_;
  bool gather_;
};

ReduceValue value_of_node(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node) noexcept;

// One of many results: zeros where there is no value. Gives the status.
gpumem_status write_value(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node, char* result) noexcept;
// Several that lie side by side; the worst status.
gpumem_status write_values(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode* nodes, int64_t count,
                           char* result) noexcept;
gpumem_status write_empty(gpumem_dtype dtype, gpumem_reduce_op op, char* result) noexcept;
gpumem_status write_zeros(gpumem_reduce_op op, char* result, gpumem_status status) noexcept;

}  // namespace gpumem
