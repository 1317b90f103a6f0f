// Pulls that are not worth a launch each: one launch of a reader's device moves all that it has of them. What lies in very short runs on
// another device is packed by its owner before, all by one launch too.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "dist/member_fences.hpp"
#include "dist/movement.hpp"
#include "dist/peers.hpp"
#include "kernels/permute/pieces.hpp"

namespace gpumem {

class Batches {
 public:
  // Of the members of this process, by their numbers here.
  Batches(const std::vector<Context*>& contexts, int64_t workspace_bytes)
      : contexts_(contexts), workspace_bytes_(workspace_bytes), members_(contexts.size()) {}

  // Of a plan: its next pull.
  void add(const Shape& shape, const Index& src_strides, const Index& dst_strides, size_t owner, size_t reader);

  // Of a run: memory for what is packed, where there is some, for the members' streams. None of a captured stream.
  void make_room(const std::vector<NativeStream>& streams);
  const void* room_of(size_t owner) const noexcept {
    return members_[owner].block ? members_[owner].block->get() : nullptr;
  }
  void clear() noexcept;
  // A pull. False: it has to go by itself.
  bool take(size_t number, const void* src, void* dst);
  // Enqueues what was taken since clear(), as often as it is called: what owners pack, with the readers' streams behind it, and what
  // readers move.
  void pack(const std::vector<NativeStream>& streams) const;
  void launch(size_t reader, NativeStream stream) const;
  bool empty(size_t reader) const noexcept { return members_[reader].moved.empty(); }
  bool packs(size_t owner) const noexcept { return !members_[owner].packed.empty(); }
  bool has_room() const noexcept {
    return std::any_of(members_.begin(), members_.end(), [](const Member& member) { return member.block.has_value(); });
  }
  // The memory is free again behind what the owners' streams hold, which are behind the readers'.
  void leave_room(const std::vector<NativeStream>& streams);
  // Where the streams have been waited for.
  void abandon() noexcept;

 private:
  // Bytes of one run without gaps, and the axes along which it is repeated.
  struct Runs {
    size_t owner = 0;
    size_t reader = 0;
    int64_t bytes = 0;
    int32_t rank = 0;
    int64_t extent[kPieceAxes] = {};
    int64_t src_stride[kPieceAxes] = {};  // bytes
    int64_t dst_stride[kPieceAxes] = {};
    int64_t all = 0;      // bytes
    int64_t packed = -1;  // where in the owner's room; -1: it is not packed
  };
  struct Member {
    std::vector<MovedPiece> moved{};  // as a reader
    std::vector<MovedPiece> packed{};
    int64_t room = 0;  // bytes
    std::vector<size_t> readers_of_room{};
    std::vector<OpenedMemory> opened{};  // to each of those
    std::optional<TemporaryBlock> block{};
    std::optional<MemberFence> fence{};  // where there is room
  };

  static std::optional<MovedPiece> piece_of(const Runs& runs, const void* src, void* dst);

  const std::vector<Context*>& contexts_;
  const int64_t workspace_bytes_;
  std::vector<std::optional<Runs>> runs_;  // of each pull
  std::vector<Member> members_;
};

}  // namespace gpumem
