// Operands that are read for z. Those across PCIe or NVLink are staged.
#pragma once

#include <array>
#include <cstddef>
#include <forward_list>
#include <optional>
#include <vector>

#include "kernels/arithmetic/params.hpp"
#include "ops/placement.hpp"
#include "ops/plan.hpp"
#include "ops/planner.hpp"
#include "ops/workspace.hpp"

namespace gpumem {

class Sources {
 public:
  // Workspaces next to z for the duration of the work, and the address of each source then.
  struct Brought {
    std::forward_list<std::optional<Workspace>> rooms;  // few calls need any
    std::array<const void*, kMaxTerms + kMaxDots> at{};
    std::optional<Workspace> numbers;
  };

  // Looks up z now and each source in add(). The bytes of an element are a power of two. Asynchronous calls move no
  // operand: add() then throws UNSUPPORTED for an operand on the other side.
  Sources(Planner& planner, const ByteRange& z, int64_t element_bytes, Completion completion);
  // is_z: the source is z itself, element by element. Returns the address that the table is to see.
  const void* add(const ByteRange& range, bool is_z);
  // The same for an f64 that is no part of z, and that the work reads first. Kernels can read it in pinned memory.
  const double* add_number(const char* argument, const double* p);

  bool read_z() const noexcept { return read_z_; }
  Placement place() const noexcept;

  // In the order of add_number().
  const double* number(const Brought& brought, size_t i) const noexcept;

  // Copies remote sources next to z, aligned to their elements. Overlapping views of one array are copied once.
  void bring(Context& context, ExecutionSpace space, Brought& brought) const;

 private:
  struct Number {
    const double* p;
    bool staged;
    HostSide host_side;
  };
  void bring_numbers(Context& context, ExecutionSpace space, Brought& brought) const;

  struct Source {
    const void* p;
    int64_t bytes;
    gpumem_memory_kind kind;
    HostSide host_side;
    bool staged;  // on the other side than z

    uintptr_t begin() const noexcept { return reinterpret_cast<uintptr_t>(p); }
    uintptr_t end() const noexcept { return begin() + static_cast<uintptr_t>(bytes); }
  };

  Planner& planner_;
  ByteRange z_;
  Operand z_lies_;
  uintptr_t element_bytes_;
  Completion until_;
  bool read_z_ = false;
  bool any_staged_ = false;
  size_t count_ = 0;
  std::array<Source, kMaxTerms + kMaxDots> sources_{};
  std::vector<Number> numbers_;  // few calls have any
};

// A plan and its sources, in the order of add(). An empty plan has no sources.
template <class Family>
struct SourcedPlan {
  Plan<Family> plan;
  std::optional<Sources> sources;
};

// Throws INVALID_ARGUMENT for a number that is no element type.
void require_dtype(const char* argument, gpumem_dtype dtype);
// Throws for element types that axpby and arithmetic do not support.
void require_f32_or_f64(gpumem_dtype dtype);

}  // namespace gpumem
