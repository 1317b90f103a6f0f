// The operands that are read for a z, where some of them lie on the other side of the link than z does.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "kernels/arithmetic/params.hpp"
#include "ops/placement.hpp"
#include "ops/plan.hpp"
#include "ops/planner.hpp"
#include "ops/workspace.hpp"

namespace gpumem {

class Sources {
 public:
  // Memory next to z, for as long as the work lasts, and where each source lies then.
  struct Brought {
    std::array<std::optional<Workspace>, kMaxTerms> rooms;
    std::array<const void*, kMaxTerms> at{};
  };

  // Looks z up, and the sources as they are added; the bytes of an element are a power of two. The _async forms move no operand: with
  // Completion::asynchronous, add() throws UNSUPPORTED for one that lies elsewhere.
  Sources(Planner& planner, const ByteRange& z, int64_t element_bytes, Completion completion);
  // is_z: the source is z itself, element by element. Gives where the table is to see it.
  const void* add(const ByteRange& range, bool is_z);

  bool read_z() const noexcept { return read_z_; }
  // The work runs where z lies.
  Placement place() const noexcept;

  // Brings what lies elsewhere next to z, aligned to its elements. Views of one array overlap: each run of elements is brought once.
  void bring(Context& context, ExecutionSpace space, Brought& brought) const;

 private:
  struct Source {
    ByteRange range{};
    Operand lies{};
    bool staged = false;  // lies on the other side than z

    uintptr_t begin() const noexcept { return reinterpret_cast<uintptr_t>(range.p); }
    uintptr_t end() const noexcept { return begin() + static_cast<uintptr_t>(range.bytes); }
  };

  Planner& planner_;
  ByteRange z_;
  Operand z_lies_;
  uintptr_t element_bytes_;
  Completion until_;
  bool read_z_ = false;
  bool any_staged_ = false;
  size_t count_ = 0;
  std::array<Source, kMaxTerms> sources_{};
};

// A plan, and the operands that it reads, in the order in which they were added. Without sources, it is empty.
template <class Family>
struct SourcedPlan {
  Plan<Family> plan;
  std::optional<Sources> sources;
};

// Throws for elements that z = alpha x + beta y and the like do not have.
void require_f32_or_f64(gpumem_dtype dtype);

}  // namespace gpumem
