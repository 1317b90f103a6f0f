// In-place transposes of non-square matrices on the host, in scratch memory that is allocated before they are enqueued.
#pragma once

#include <cstdint>

#include "backend/host/implementations.hpp"
#include "backend/host/parallel.hpp"
#include "kernels/transpose/c2r.hpp"

namespace gpumem {

// The passes of c2r.hpp. Every thread permutes a row, or a group of neighbouring columns, in scratch memory of
// max(rows, cols) elements or kHostInPlaceBytes. All of it together is at most half of the data.
class C2rTranspose {
 public:
  C2rTranspose(const HostTeam& team, const TransposeParams& params, const host::C2rShares& shares) noexcept
      : team_(team), params_(params), d_(params.rows, params.cols), shares_(shares) {}
  void run(char* scratch) const noexcept;

 private:
  template <int kBytes>
  void passes(char* scratch) const noexcept;
  template <int kBytes>
  void rows(char* scratch) const noexcept;
  template <int kBytes>
  void columns(char* scratch, bool rotation) const noexcept;

  const HostTeam& team_;
  TransposeParams params_;
  Decomposition d_;
  host::C2rShares shares_;
};

}  // namespace gpumem
