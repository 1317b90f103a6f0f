// Long pieces from one device of this process to another, which the copy engines carry faster than a kernel that reads them does.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "dist/group.hpp"
#include "dist/member_fences.hpp"
#include "dist/movement.hpp"

namespace gpumem {

// A piece, its operands as its reader sees them, and the reader's stream, which is behind the owner's.
struct Crossed {
  size_t reader;
  Shape shape;
  char* src;
  Index src_strides;
  Operand src_operand;  // as the reader sees it
  char* dst;
  Index dst_strides;
  Operand dst_operand;
  NativeStream of_reader;

  // What lies from `first` on along an axis.
  Crossed part(size_t axis, int64_t first, int64_t length) const noexcept;
  // All of it by a kernel of the reader.
  void pull(Context& by) const;
};

class PeerCopyPipeline {
 public:
  PeerCopyPipeline(const Group& group, int64_t workspace_bytes) noexcept
      : group_(group), workspace_bytes_(workspace_bytes) {}
  ~PeerCopyPipeline();
  PeerCopyPipeline(const PeerCopyPipeline&) = delete;
  PeerCopyPipeline& operator=(const PeerCopyPipeline&) = delete;

  // Enqueues a piece, or keeps it for start() and finish(). False: it is for one kernel. Captured streams take no memory.
  bool take(const Crossed& piece, bool captured);
  // The first parts of what was kept are on their way; and the rest of it, which other work may be enqueued before.
  void start();
  void finish();
  // Of so many bytes that a member permutes meanwhile.
  Occupancy occupancy(size_t member, int64_t bytes) noexcept;
  // Where something failed, and the members' streams have been waited for.
  void abandon() noexcept;

 private:
  static constexpr size_t kBuffers = 2;

  // What a member fetches: parts by its copy engine, into buffers in turn, from where they are permuted.
  struct Fetches {
    explicit Fetches(Context& context);
    ~Fetches();
    Fetches(const Fetches&) = delete;
    Fetches& operator=(const Fetches&) = delete;

    char* buffer_of(size_t part) const noexcept;
    std::array<NativeStream, kBuffers + 1> streams() const noexcept { return {copies[0], copies[1], placing}; }
    void end() noexcept;

    Context& context;
    // A stream for each buffer, so that one copy gets going while another is under way; and one for the permutations.
    const std::array<NativeStream, kBuffers> copies;
    const NativeStream placing;
    const MemberFence begun;
    std::optional<NativeStream>
        beside;  // the reader's stream, while copies are on their way that it has not been put behind
    const std::array<MemberFence, kBuffers> arrived;  // of each buffer: by a copy
    const std::array<MemberFence, kBuffers> left;     // by a permutation
    std::vector<Crossed> parts;
    std::optional<TemporaryBlock> block;
    Operand operand;
    int64_t buffer_bytes = 0;
    int64_t bytes = 0;         // of all parts
    int64_t bytes_beside = 0;  // that the member permutes meanwhile
  };

  void copy_beside(const Crossed& piece, const CopyParams& rows, bool captured);
  bool fetch(const Crossed& piece);
  void copy_part(Fetches& fetches, size_t part);
  void place_part(Fetches& fetches, size_t part);
  // f(fetches, part) for each part from `first` on, in turns for all members.
  template <class F>
  void for_each_part(size_t first, size_t end, const F& f);
  Fetches& fetches_of(size_t member);

  const Group group_;
  const int64_t workspace_bytes_;
  std::vector<std::unique_ptr<Fetches>> fetches_;  // of each member, once it has some
};

}  // namespace gpumem
