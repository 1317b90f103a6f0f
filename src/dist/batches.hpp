// Combines peer reads that are too small for a launch each into one launch per reading device. Very short runs on
// another device are packed by their owner first, also by one launch.
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
  Batches(const std::vector<Context*>& contexts, int64_t workspace_bytes)
      : contexts_(contexts), workspace_bytes_(workspace_bytes), members_(contexts.size()) {}

  // While planning: adds the plan's next peer read.
  void add(const Shape& shape, const Index& src_strides, const Index& dst_strides, size_t owner, size_t reader);

  // In a run: allocates memory for packing, if available, for the participants' streams, except captured ones.
  void make_room(const std::vector<NativeStream>& streams);
  const void* room_of(size_t owner) const noexcept {
    return members_[owner].block ? members_[owner].block->get() : nullptr;
  }
  void clear() noexcept;
  // Takes a peer read in a run. False: it has to go separately.
  bool take(size_t number, const void* src, void* dst);
  // pack() enqueues the owners' packing, with the readers' streams behind it; launch() enqueues a reader's part. Both
  // cover everything taken since clear(), and may be called again.
  void pack(const std::vector<NativeStream>& streams) const;
  void launch(size_t reader, NativeStream stream) const;
  bool empty(size_t reader) const noexcept { return members_[reader].moved.empty(); }
  bool packs(size_t owner) const noexcept { return !members_[owner].packed.empty(); }
  bool has_room() const noexcept {
    return std::any_of(members_.begin(), members_.end(), [](const Member& member) { return member.block.has_value(); });
  }
  // The owners' streams, which are behind the readers', order the release of the memory.
  void leave_room(const std::vector<NativeStream>& streams);
  // Requires that the streams were waited for.
  void abandon() noexcept;

 private:
  struct Runs {
    StridedRuns runs;
    size_t owner = 0;
    size_t reader = 0;
    int64_t packed = -1;  // offset in the owner's room; -1: not packed
  };
  struct Member {
    std::vector<MovedPiece> moved{};
    std::vector<MovedPiece> packed{};
    int64_t room = 0;  // bytes
    std::vector<size_t> readers_of_room{};
    std::vector<OpenedMemory> opened{};
    std::optional<TemporaryBlock> block{};
    std::optional<MemberFence> fence{};
  };

  const std::vector<Context*>& contexts_;
  const int64_t workspace_bytes_;
  std::vector<std::optional<Runs>> runs_;
  std::vector<Member> members_;
};

}  // namespace gpumem
