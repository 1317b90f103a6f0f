// Pulls that are not worth a launch each: one launch of a reader's device moves all that it has of them.
#pragma once

#include <optional>
#include <vector>

#include "dist/movement.hpp"
#include "kernels/permute/pieces.hpp"

namespace gpumem {

class Batches {
 public:
  explicit Batches(size_t members) : pieces_(members) {}

  // Of a plan: its next pull, and whether it comes from another device.
  void add(const Shape& shape, const Index& src_strides, const Index& dst_strides, bool crosses);
  void clear() noexcept;
  // Pull `number`, which the member `reader` moves. False: it has to go by itself.
  bool take(size_t number, size_t reader, const void* src, void* dst);
  // Enqueues what was taken since clear(), as often as it is called.
  void launch(size_t reader, Context& context, NativeStream stream) const;
  bool empty(size_t reader) const noexcept { return pieces_[reader].empty(); }

 private:
  // Bytes of one run without gaps, and the axes along which it is repeated.
  struct Runs {
    int64_t bytes = 0;
    int32_t rank = 0;
    int64_t extent[kPieceAxes] = {};
    int64_t src_stride[kPieceAxes] = {};  // bytes
    int64_t dst_stride[kPieceAxes] = {};
    uint64_t places = 0;  // all bits of those
    int64_t all = 0;      // bytes
  };

  std::vector<std::optional<Runs>> runs_;        // of each pull
  std::vector<std::vector<MovedPiece>> pieces_;  // that were taken, of each member
};

}  // namespace gpumem
