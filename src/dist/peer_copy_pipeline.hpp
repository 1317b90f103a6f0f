// Moves long pieces between devices of this process by the copy engines, which are faster than a kernel's peer reads.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "dist/group.hpp"
#include "dist/member_fences.hpp"
#include "dist/movement.hpp"

namespace gpumem {

// A piece with operands as seen by its reader, and the reader's stream, which is behind the owner's.
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

  Crossed part(size_t axis, int64_t first, int64_t length) const noexcept;
  void pull(Context& by) const;
};

class PeerCopyPipeline {
 public:
  PeerCopyPipeline(const Group& group, int64_t workspace_bytes) noexcept
      : group_(group), workspace_bytes_(workspace_bytes) {}
  ~PeerCopyPipeline();
  PeerCopyPipeline(const PeerCopyPipeline&) = delete;
  PeerCopyPipeline& operator=(const PeerCopyPipeline&) = delete;

  // Enqueues a piece, or keeps it for start(). False: it needs one kernel. Captured streams take no memory.
  bool take(const Crossed& piece, bool captured);
  // start() enqueues the first parts of kept pieces, and finish() the rest. Other work may be enqueued in between.
  void start();
  void finish();
  // For the bytes that a participant permutes meanwhile.
  Occupancy occupancy(size_t member, int64_t bytes) noexcept;
  // After a failure, with the participants' streams waited for.
  void abandon() noexcept;

 private:
  static constexpr size_t kBuffers = 2;

  // Fetches of a participant: its copy engine fills buffers in turn, and a kernel permutes from them.
  struct Fetches {
    explicit Fetches(Context& context);
    ~Fetches();
    Fetches(const Fetches&) = delete;
    Fetches& operator=(const Fetches&) = delete;

    char* buffer_of(size_t part) const noexcept;
    std::array<NativeStream, kBuffers + 1> streams() const noexcept { return {copies[0], copies[1], placing}; }
    void end() noexcept;

    Context& context;
    // One stream per buffer, so that the latencies of copies overlap; one more for the permutations.
    const std::array<NativeStream, kBuffers> copies;
    const NativeStream placing;
    const MemberFence begun;
    std::optional<NativeStream> beside;               // the reader's stream, while it is not ordered behind the copies
    const std::array<MemberFence, kBuffers> arrived;  // per buffer: by a copy
    const std::array<MemberFence, kBuffers> left;     // by a permutation
    std::vector<Crossed> parts;
    std::optional<TemporaryBlock> block;
    Operand operand;
    int64_t buffer_bytes = 0;
    int64_t bytes = 0;
    int64_t bytes_beside = 0;  // permuted by the participant meanwhile
  };

  void copy_beside(const Crossed& piece, const CopyParams& rows, bool captured);
  bool fetch(const Crossed& piece);
  void copy_part(Fetches& fetches, size_t part);
  void place_part(Fetches& fetches, size_t part);
  // f(fetches, part) for each part from `first` on, in turns for all participants.
  template <class F>
  void for_each_part(size_t first, size_t end, const F& f);
  Fetches& fetches_of(size_t member);

  const Group group_;
  const int64_t workspace_bytes_;
  std::vector<std::unique_ptr<Fetches>> fetches_;
};

}  // namespace gpumem
