// Exchanges that are only enqueued: peer reads on their readers' streams, transfers on the link's.
#include <algorithm>
#include <string>

#include "base/scope_exit.hpp"
#include "context/streams.hpp"
#include "dist/exchange.hpp"
#include "ops/placement.hpp"

namespace gpumem {

void Exchange::find_pairs() {
  for (const BoxOverlap& piece : route_.pulls) {
    pairs_.emplace_back(group_.members.local(piece.src_member), group_.members.local(piece.dst_member));
  }
  std::sort(pairs_.begin(), pairs_.end());
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  for (const BoxOverlap& piece : route_.pulls) {
    const std::pair pair(group_.members.local(piece.src_member), group_.members.local(piece.dst_member));
    pair_of_.push_back(static_cast<size_t>(std::lower_bound(pairs_.begin(), pairs_.end(), pair) - pairs_.begin()));
  }
  if (avoids_host() && !pairs_.empty()) fences_.emplace(group_.contexts);
}

void Exchange::require_enqueued(const Operands& operands, const std::vector<NativeStream>& streams) const {
  const auto capture_of = [&](size_t member) { return group_.contexts[member]->device().capture_id(streams[member]); };
  const uint64_t capture = pairs_.empty() ? 0 : capture_of(pairs_.front().first);
  for (const auto& [from, to] : pairs_) {
    const Operand& src = operands.src[from].operand;
    const Operand& dst = operands.dst[to].operand;
    Context& context = *group_.contexts[to];
    if (src.on_host() != dst.on_host() && (context.on_cuda() || context.strict_host())) {
      const std::string of_src = "src[" + std::to_string(from) + "]";
      const std::string of_dst = "dst[" + std::to_string(to) + "]";
      fail_on_two_sides(of_src.c_str(), src, of_dst.c_str(), dst);
    }
    if (src.on_host()) require_not_capturing(context, streams[to], "an exchange of host memory");
    require_same_device(context.device().props(), dst, ("dst[" + std::to_string(to) + "]").c_str());
    if (!on_two_devices(context, *group_.contexts[from]))
      require_same_device(context.device().props(), src, ("src[" + std::to_string(from) + "]").c_str());
    if (capture_of(from) == capture && capture_of(to) == capture) continue;
    fail(GPUMEM_CAPTURING,
         "some of the members' streams are being captured into a graph and others are not, or into another one; "
         "expected one graph for all, or none");
  }
  for (const BoxOverlap& piece : route_.pulls) {
    if (is_there(piece, operands) || src_as_read(piece, operands)) continue;
    const size_t from = group_.members.local(piece.src_member);
    fail(GPUMEM_UNSUPPORTED,
         "src[%zu] is memory that the device of member %d can't read; expected device or managed memory that it "
         "reaches, or "
         "gpumem_dist_execute()",
         from, piece.dst_member);
  }
}

void Exchange::require_near(const Operands& operands, const std::vector<NativeStream>& streams) const {
  for (size_t i = 0; i < streams.size(); ++i) {
    require_not_capturing(*group_.contexts[i], streams[i], "an exchange between processes");
  }
  for (const bool sends : {true, false}) {
    for (const std::vector<Message>& packets : sends ? route_.linked_sends : route_.linked_receives) {
      for (const Message& packet : packets) {
        for (const BoxOverlap& piece : packet.pieces) {
          const int32_t member = sends ? piece.src_member : piece.dst_member;
          const Side& side = sends ? src_side(piece, operands) : dst_side(piece, operands);
          if (is_near(group_.context_of(member), side.operand)) continue;
          fail(GPUMEM_UNSUPPORTED,
               "%s[%zu] is not on the device of member %d; expected device or managed memory there, or "
               "gpumem_dist_execute()",
               sends ? "src" : "dst", group_.members.local(member), member);
        }
      }
    }
  }
}

// Orders each pair's reader behind its owner's earlier work, or back: the owner behind the reads.
void Exchange::order(const std::vector<NativeStream>& streams, bool back) const {
  std::vector<bool> recorded(streams.size());
  const auto for_each = [&](const auto& f) {
    for (const auto& [src, dst] : pairs_) {
      // The legacy stream has one name on all devices.
      const bool one = streams[src] == streams[dst] && !on_two_devices(*group_.contexts[src], *group_.contexts[dst]);
      if (!one) f(back ? dst : src, back ? src : dst);
    }
  };
  for_each([&](size_t first, size_t) {
    if (!recorded[first]) fences_->of(first).record(streams[first]);
    recorded[first] = true;
  });
  for_each([&](size_t first, size_t second) { fences_->of(first).wait(*group_.contexts[second], streams[second]); });
}

void Exchange::enqueue(const void* const* src, void* const* dst, const std::vector<NativeStream>& streams,
                       const char* src_name, Order order_by) {
  for (const auto& [from, to] : pairs_) {
    if (group_.contexts[from]->on_cuda() == group_.contexts[to]->on_cuda()) continue;
    fail(GPUMEM_UNSUPPORTED,
         "member %zu of this process pulls from member %zu, and one works on a device, the other on the host; expected "
         "two of a kind",
         to, from);
  }
  Operands operands = look_up_all(src, dst, src_name);
  reach_all(operands);
  require_enqueued(operands, streams);
  enqueue_pulls(operands, streams, order_by);
}

void Exchange::enqueue_pulls(const Operands& operands, const std::vector<NativeStream>& streams, Order order_by) {
  const ScopedOverride by_table(GPUMEM_FAMILY_PERMUTE);
  const ScopeExit end([this]() noexcept {
    at_work_.clear();
    peer_copies_.abandon();
    managed_staging_.abandon();
    batches_.abandon();
  });
  const bool captured =
      !pairs_.empty() && group_.contexts[pairs_[0].first]->device().capturing(streams[pairs_[0].first]);
  const bool members_order = order_by == Order::members;
  if (members_order) order(streams, false);
  try {
    pull_together(operands, streams, captured);
    for (const size_t i : here_) {
      const BoxOverlap& piece = route_.pulls[i];
      const size_t to = group_.members.local(piece.dst_member);
      move_part(*group_.contexts[to], piece.shape, src_of(piece, operands), *src_as_read(piece, operands),
                dst_of(piece, operands), dst_side(piece, operands).operand, streams[to], Completion::asynchronous,
                peer_copies_.occupancy(to, piece.shape.bytes()));
    }
    peer_copies_.finish();
    if (members_order || batches_.has_room()) order(streams, true);
    batches_.leave_room(streams);
  } catch (...) {  // the program may free memory that earlier pieces still use
    try {
      order(streams, true);
    } catch (const std::exception&) {
      // The device is lost, or memory has run out.
    }
    for (size_t i = 0; i < streams.size(); ++i) group_.contexts[i]->device().finish_stream(streams[i]);
    throw;
  }
}

void Exchange::enqueue_linked(const std::vector<WorkStream>& on, const void* const* src, void* const* dst,
                              const ReadStreams& read_streams, Progress& progress) {
  on_ = on;
  const ScopeExit end([this]() noexcept {
    end_rounds();
    under_way_ = false;
    at_work_.clear();
  });
  const auto keep_blocks = [&] {
    for (auto* slots : {&rounds_.outgoing, &rounds_.incoming}) {
      for (std::vector<Slot>& of_all : *slots) {
        for (size_t at = 0; at < of_all.size(); ++at) {
          if (!group_.contexts[at]->device_memory().pooled()) progress.blocks.push_back(std::move(of_all[at].block));
        }
      }
    }
  };
  Operands operands;
  std::vector<NativeStream> streams;
  const auto make_ready = [&] {
    streams = read_streams();
    operands = look_up_all(src, dst, "src");
    reach_all(operands);
    require_enqueued(operands, streams);
    require_near(operands, streams);
    open_slots(operands);
    return Bytes();
  };
  agree(make_ready);
  const ScopedOverride by_table(GPUMEM_FAMILY_PERMUTE);
  try {
    const auto follow = [&](size_t at, NativeStream first, NativeStream second) {
      const MemberFence& fence = progress.fences.emplace_back(group_.contexts[at]->device());
      fence.record(first);
      fence.wait(*group_.contexts[at], second);
    };
    for (size_t at = 0; at < streams.size(); ++at) follow(at, streams[at], on_[at].stream);
    enqueue_rounds(operands, progress);
    for (size_t at = 0; at < streams.size(); ++at) follow(at, on_[at].stream, streams[at]);
    keep_blocks();
  } catch (...) {  // the program may free memory that is still used
    give_up(current_error());
    if (is_linked() && !group_.wire->link->abort()) throw;  // the streams may wait for it without end
    for (size_t at = 0; at < streams.size(); ++at) {
      for (const NativeStream stream : {on_[at].stream, streams[at]})
        group_.contexts[at]->device().finish_stream(stream);
    }
    throw;
  }
}

}  // namespace gpumem
