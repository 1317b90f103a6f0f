#include "ops/copy/ring_copy.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

#include "base/checked.hpp"
#include "base/scope_exit.hpp"
#include "memory/pinned_rings.hpp"

namespace gpumem {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;

// Bytes of a chunk that one thread moves.
constexpr int64_t kHostPart = 256 * kKiB;

// Short results are likely to be read soon and fit the caches. Chunks that are reused at once are better left there.
// That pays only after the first pass through them.
bool goes_around_caches(int64_t bytes, ExecutionSpace to, int32_t threads) noexcept {
  if (to == ExecutionSpace::cuda) return bytes > kMostReadEarly && bytes < 256 * kMiB;
  return bytes >= (threads >= 4 ? 32 : 2) * kMiB;
}

// Parts of a merged block of up to `most` bytes each: whole slices, whole rows, or parts of a row.
std::vector<CopyParams> pieces_of(const CopyParams& b, int64_t most) {
  std::vector<CopyParams> pieces;
  const auto add = [&](int64_t slice, int64_t row, int64_t at) -> CopyParams& {
    CopyParams piece = b;
    piece.dst += slice * b.dst_slice + row * b.dst_pitch + at;
    piece.src += slice * b.src_slice + row * b.src_pitch + at;
    return pieces.emplace_back(piece);
  };
  const int64_t slice_bytes = b.row_bytes * b.rows;
  if (slice_bytes <= most) {
    const int64_t slices = most / slice_bytes;
    pieces.reserve(static_cast<size_t>(ceil_div(b.slices, slices)));
    for (int64_t slice = 0; slice < b.slices; slice += slices) {
      add(slice, 0, 0).slices = std::min(slices, b.slices - slice);
    }
    return pieces;
  }
  const int64_t rows = std::max<int64_t>(most / b.row_bytes, 1);
  pieces.reserve(static_cast<size_t>(b.slices * ceil_div(b.rows, rows) * ceil_div(b.row_bytes, most)));
  for (int64_t slice = 0; slice < b.slices; ++slice) {
    for (int64_t row = 0; row < b.rows; row += rows) {
      for (int64_t at = 0; at < b.row_bytes; at += most) {
        CopyParams& piece = add(slice, row, at);
        piece.slices = 1;
        piece.rows = std::min(rows, b.rows - row);
        piece.row_bytes = std::min(most, b.row_bytes - at);
      }
    }
  }
  return pieces;
}

void by_copy_engine(Backend& device, NativeStream stream, const CopyParams& block) {
  device.launch(stream, Work<CopyFamily>{merged(block), by_driver()}, Completion::asynchronous);
}

struct RingCopy {
  RingCopy(Context& context, NativeStream stream, const CopyParams& block, int64_t piece_bytes, ExecutionSpace to)
      : host_(context.host()),
        device_(context.device()),
        rings_(context.rings()),
        stream_(stream),
        to_(to),
        around_caches_(goes_around_caches(block.bytes(), to, host_.props().multiprocessors)),
        pieces_(pieces_of(block, piece_bytes)) {}

  Host& host_;
  Backend& device_;
  PinnedRings& rings_;
  const NativeStream stream_;
  const ExecutionSpace to_;
  const bool around_caches_;
  const std::vector<CopyParams> pieces_;
};

// One copy that host threads share. Each takes the next piece.
class SharedCopy : RingCopy {
 public:
  SharedCopy(Context& context, NativeStream stream, const CopyParams& block, const Config& shape, ExecutionSpace to)
      : RingCopy(context, stream, block, shape.tile, to),
        slots_(static_cast<size_t>(shape.per_thread)),
        shares_(static_cast<size_t>(std::min(count(), shape.grid))) {}

  void run(Completion completion) {
    if (count() == 1) return run_whole(completion);
    if (several()) start_ = rings_.fences().record(stream_);
    // The watch sees the launches of this thread only, and the others may take all pieces.
    if (LaunchWatch* const watch = launch_watch(); watch != nullptr && several()) watch->begins(this);
    host_.parallel(static_cast<int64_t>(shares_.size()), [this](int64_t i) { take_part(static_cast<size_t>(i)); });
    if (failed_) {
      for (const Share& share : shares_) {
        if (share.link != nullptr) device_.finish_stream(share.link);
      }
      std::rethrow_exception(failed_);
    }
    for (const Share& share : shares_) {
      if (share.last != nullptr && share.link != stream_) share.last->hold(stream_);
    }
    if (completion == Completion::blocking && to_ == ExecutionSpace::cuda) device_.synchronize(stream_);
  }

 private:
  void run_whole(Completion completion) {
    const PinnedRings::Lease ring = rings_.lend(stream_);
    ScopeExit finish([this] { device_.finish_stream(stream_); });
    move_whole(ring->slots[0], completion);
    finish.release();
  }

  void move_whole(PinnedRing::Slot& slot, Completion completion) {
    if (slot.free != nullptr) slot.free->wait();
    slot.free = nullptr;
    const CopyParams& piece = pieces_[0];
    if (to_ == ExecutionSpace::host) {
      by_copy_engine(device_, stream_, into(piece, slot.chunk));
      complete(slot);
      return move(out_of(piece, slot.chunk));
    }
    send_whole(piece, slot);
    if (completion == Completion::asynchronous) {
      slot.free = rings_.fences().record(stream_);
      return;
    }
    complete(slot);
    if (!reads_early(piece) || std::memcmp(slot.chunk, piece.src, static_cast<size_t>(piece.row_bytes)) == 0) return;
    send_whole(piece, slot);
    complete(slot);
  }

  void send_whole(const CopyParams& piece, const PinnedRing::Slot& slot) {
    move(into(piece, slot.chunk));
    by_copy_engine(device_, stream_, out_of(piece, slot.chunk));
  }

  // The last bytes of a chunk are the completion word of a copy that is short enough not to use them.
  void complete(const PinnedRing::Slot& slot) {
    if (pieces_[0].bytes() > kMostFetchedWhole) return device_.synchronize(stream_);
    device_.synchronize_by(stream_, *reinterpret_cast<uint32_t*>(slot.chunk + kRingChunkBytes - sizeof(uint32_t)));
  }

  struct Share {
    NativeStream link = nullptr;
    FencePtr last;  // after all its transfers
  };

  int64_t count() const noexcept { return static_cast<int64_t>(pieces_.size()); }
  bool several() const noexcept { return shares_.size() > 1; }

  bool next(int64_t& piece) noexcept {
    piece = next_.fetch_add(1, std::memory_order_relaxed);
    return piece < count();
  }

  // A thread that finds no piece left takes no ring.
  void take_part(size_t thread) noexcept {
    try {
      int64_t first = 0;
      if (!next(first)) return;
      const PinnedRings::Lease ring = rings_.lend(stream_);
      Share& share = shares_[thread];
      share.link = several() ? ring->link : stream_;
      if (start_ != nullptr) start_->hold(share.link);
      if (to_ == ExecutionSpace::cuda) {
        share.last = send(*ring, share.link, first);
      } else {
        fetch(*ring, share.link, first);
      }
    } catch (...) {
      next_.store(count(), std::memory_order_relaxed);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failed_) failed_ = std::current_exception();
    }
  }

  void move(const CopyParams& block) noexcept { host_.move_part(block, 0, block.bytes(), around_caches_); }

  FencePtr send(PinnedRing& ring, NativeStream link, int64_t piece) {
    size_t k = 0;
    for (;;) {
      PinnedRing::Slot& slot = ring.slots[k++ % slots_];
      if (slot.free != nullptr) slot.free->wait();
      const CopyParams& block = pieces_[static_cast<size_t>(piece)];
      move(into(block, slot.chunk));
      by_copy_engine(device_, link, out_of(block, slot.chunk));
      slot.free = rings_.fences().record(link);
      if (!next(piece)) return slot.free;
    }
  }

  // The copy engine fills chunks ahead of the host, which empties them in the same order.
  void fetch(PinnedRing& ring, NativeStream link, int64_t piece) {
    std::array<int64_t, kRingSlots> flying{};
    size_t filled = 0;
    size_t emptied = 0;
    for (bool more = true; more || emptied != filled;) {
      if (more) {
        PinnedRing::Slot& slot = ring.slots[filled % slots_];
        if (slot.free != nullptr) slot.free->wait();
        by_copy_engine(device_, link, into(pieces_[static_cast<size_t>(piece)], slot.chunk));
        slot.free = rings_.fences().record(link);
        flying[filled++ % slots_] = piece;
      }
      if (!more || filled - emptied == slots_) {
        PinnedRing::Slot& slot = ring.slots[emptied % slots_];
        slot.free->wait();
        move(out_of(pieces_[static_cast<size_t>(flying[emptied++ % slots_])], slot.chunk));
        slot.free = nullptr;
      }
      more = more && next(piece);
    }
  }

  const size_t slots_;
  std::vector<Share> shares_;
  FencePtr start_;  // passed when earlier enqueued work is complete
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failed_;
};

// One copy in a stream's order. Several pieces use the ring's own stream, so that copy engine and host overlap.
class EnqueuedCopy : RingCopy {
 public:
  EnqueuedCopy(Context& context, NativeStream stream, const CopyParams& block, ExecutionSpace to)
      : RingCopy(context, stream, block, kRingChunkBytes, to),
        ring_(rings_.lend(stream)),
        link_(pieces_.size() > 1 ? ring_->link : stream) {}

  void run() {
    ScopeExit finish([this] {
      device_.finish_stream(stream_);
      device_.finish_stream(link_);
    });
    to_ == ExecutionSpace::cuda ? send() : fetch();
    finish.release();
  }

 private:
  PinnedRing::Slot& slot_of(size_t piece) const noexcept { return ring_->slots[piece % ring_->slots.size()]; }

  void by_host(const CopyParams& block) {
    device_.host_callback(stream_, [block, &host = host_, around_caches = around_caches_] {
      host.parallel(ceil_div(block.bytes(), kHostPart), [&](int64_t i) {
        host.move_part(block, i * kHostPart, std::min((i + 1) * kHostPart, block.bytes()), around_caches);
      });
    });
  }

  // Later work of `after` waits for the work that `before` has so far.
  void order(NativeStream before, NativeStream after) {
    if (before != after) rings_.fences().record(before)->hold(after);
  }

  void send() {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      PinnedRing::Slot& slot = slot_of(i);
      if (slot.free != nullptr) slot.free->hold(stream_);
      by_host(into(pieces_[i], slot.chunk));
      order(stream_, link_);
      by_copy_engine(device_, link_, out_of(pieces_[i], slot.chunk));
      slot.free = rings_.fences().record(link_);
    }
    if (link_ != stream_) slot_of(pieces_.size() - 1).free->hold(stream_);
  }

  void fetch() {
    order(stream_, link_);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      PinnedRing::Slot& slot = slot_of(i);
      if (slot.free != nullptr) slot.free->hold(link_);
      by_copy_engine(device_, link_, into(pieces_[i], slot.chunk));
      order(link_, stream_);
      by_host(out_of(pieces_[i], slot.chunk));
      slot.free = rings_.fences().record(stream_);
    }
  }

  const PinnedRings::Lease ring_;
  const NativeStream link_;
};

}  // namespace

int32_t driver_variant() noexcept { return find_variant(family_names(CopyFamily::id), "driver"); }
int32_t rings_variant() noexcept { return find_variant(family_names(CopyFamily::id), "rings"); }

Configured<CopyParams> by_driver() noexcept {
  return {&CopyFamily::table()[static_cast<size_t>(driver_variant())], {}};
}

void move_across(Context& context, NativeStream stream, const CopyParams& params,
                 const Selection<CopyParams>& selection, Completion completion) {
  if (selection.row != rings_variant()) {
    return context.device().launch(stream, Work<CopyFamily>{params, selection}, completion);
  }
  SharedCopy(context, stream, params, selection.config, params.to_device ? ExecutionSpace::cuda : ExecutionSpace::host)
      .run(completion);
}

void enqueue_through_rings(Context& context, NativeStream stream, const CopyParams& block, ExecutionSpace to) {
  EnqueuedCopy(context, stream, merged(block), to).run();
}

}  // namespace gpumem
