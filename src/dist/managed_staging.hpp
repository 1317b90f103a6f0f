// Managed memory that another device reads stays on its member's device: the owner brings pieces together in memory that the reader
// reaches. Read where it lies, its pages would move to and fro with every call.
#pragma once

#include <memory>
#include <vector>

#include "dist/peer_copy_pipeline.hpp"

namespace gpumem {

class ManagedStaging {
 public:
  ManagedStaging(const Group& group, int64_t workspace_bytes) noexcept
      : group_(group), workspace_bytes_(workspace_bytes) {}

  // Enqueues the owner's part, and what was taken before where its memory is wanted. False: there is no memory to read it from.
  bool take(const Crossed& piece, size_t owner, NativeStream of_owner);
  void finish();
  // Where something failed, and the members' streams have been waited for.
  void abandon() noexcept;

 private:
  struct Part {
    Crossed lent;  // from the block
    size_t owner;
    NativeStream of_owner;
    std::unique_ptr<TemporaryBlock> block;
  };

  bool add(const Crossed& part, size_t owner, NativeStream of_owner);

  const Group group_;
  const int64_t workspace_bytes_;
  std::vector<Part> parts_;
  int64_t bytes_ = 0;
};

}  // namespace gpumem
