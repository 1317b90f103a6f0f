// Transposes in place of matrices that are not square, on the host, in scratch memory that is allocated before they are enqueued.
#pragma once

#include <cstdint>

#include "backend/host/parallel.hpp"
#include "kernels/transpose/c2r.hpp"

namespace gpumem {

// The passes of c2r.hpp. Each thread permutes a row, or a group of neighbouring columns, in scratch memory of its own:
// max(rows, cols) elements or kHostInPlaceBytes, and all of them together no more than half of the data.
class C2rTranspose {
 public:
  C2rTranspose(const HostTeam& team, const TransposeParams& params, int64_t tasks) noexcept;
  int64_t scratch_bytes() const noexcept;
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
  int64_t row_tasks_;
  int64_t width_;  // columns beside each other
  int64_t column_tasks_;
};

}  // namespace gpumem
