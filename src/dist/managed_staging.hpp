// Keeps managed memory on its owner's device while another device reads it. The owner gathers pieces in memory that the
// reader reaches. Direct reads would migrate its pages back and forth with every call.
#pragma once

#include <memory>
#include <vector>

#include "dist/peer_copy_pipeline.hpp"

namespace gpumem {

class ManagedStaging {
 public:
  ManagedStaging(const Group& group, int64_t workspace_bytes) noexcept
      : group_(group), workspace_bytes_(workspace_bytes) {}

  // Enqueues the owner's part, and earlier pieces if their memory is needed. False: no memory to stage it.
  bool take(const Crossed& piece, size_t owner, NativeStream of_owner);
  void finish();
  // After a failure, with the participants' streams waited for.
  void abandon() noexcept;

 private:
  struct Part {
    Crossed lent;
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
