// The processes of a dist, and how they talk: over the program's transport, polled, with a deadline. What fails here sticks, since the
// processes may no longer agree on which message comes next.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "gpumem.h"

namespace gpumem {

using Bytes = std::vector<char>;
void append(Bytes& to, const void* p, size_t bytes);
template <class T>
void put(Bytes& to, const T& words) {
  append(to, &words, sizeof words);
}
// Several as one: the length of each, then its bytes.
void put_part(Bytes& to, const Bytes& part);

// Takes apart what a process has put together; -1: one of several. Throws PEER_LOST where it ends too early.
class Reader {
 public:
  explicit Reader(const Bytes& bytes, int32_t process = -1) noexcept
      : at_(bytes.data()), left_(bytes.size()), process_(process) {}

  bool empty() const noexcept { return left_ == 0; }
  Bytes take_bytes(size_t bytes);
  Bytes take_rest() { return take_bytes(left_); }
  Bytes take_part();
  template <class T>
  T take() {
    T words;
    std::memcpy(&words, skip(sizeof words), sizeof words);
    return words;
  }

 private:
  const char* skip(size_t bytes);

  const char* at_;
  size_t left_;
  int32_t process_;
};

// Memory of messages. A transport may write to it while requests are under way, so that it is never freed where those were given up.
class MessageMemory {
 public:
  explicit MessageMemory(size_t bytes);
  ~MessageMemory();
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;

  char* data() const noexcept;

  bool under_way = false;

 private:
  struct Block;  // in front of the bytes: to keep it takes no memory
  static Block* take(size_t bytes);

  Block* const block_;
};

enum class CallKind : uint16_t { create, plan, execute, reduce };

// In front of each message. A transport may lose, double, swap, cut or change messages, and the program of another process may be elsewhere:
// so all of it is compared with what must come.
struct MessageHeader {
  static constexpr uint32_t kMagic = 0x6d656d67;
  static constexpr uint32_t kVersion = 2;      // of all that processes tell each other
  static constexpr uint16_t kPieces = 65535;   // parts of a call; others are the numbers of its agreements
  static constexpr uint16_t kGivenUp = 65534;  // the sender can't go on; a sentence follows

  uint32_t magic = kMagic;
  uint32_t version = kVersion;  // where it is in every version
  int64_t sequence = 0;         // among the messages from its sender to its receiver
  int64_t call = 0;             // among the collective calls of the sender
  int64_t plan = 0;
  CallKind kind = CallKind::create;
  uint16_t part = 0;
  int32_t rank = 0;      // of the sender
  int64_t bytes = 0;     // that follow, in the message or behind it
  uint64_t of_body = 0;  // their sum, but of pieces
  uint64_t sum = 0;      // of all before; also behind pieces, which may be cut
};
constexpr int64_t kHeaderBytes = sizeof(MessageHeader);
static_assert(kHeaderBytes == 64);
constexpr int64_t kTrailerBytes = sizeof MessageHeader::sum;
// All that a process must be able to receive at any time: that another one has given up.
constexpr int64_t kNoticeBytes = 256;

// A transport moves at most so many bytes at a time.
constexpr int64_t kMostMessageBytes = int64_t{1} << 30;

class Communicator {
 public:
  // transport: nullptr for one process alone. It is released at the end.
  Communicator(const gpumem_dist_transport* transport, double deadline_s) noexcept;
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int32_t rank() const noexcept { return transport_.rank; }
  int32_t size() const noexcept { return transport_.size; }
  bool alone() const noexcept { return size() == 1; }

  // Throws what sticks.
  void require_sound() const;
  gpumem_status status() const noexcept;
  // From any thread.
  void abort() noexcept;
  bool aborted() const noexcept { return aborted_.load(std::memory_order_relaxed); }
  // What fails sticks where there are several processes, and the others are told, once; nobody waits here until they are.
  void give_up(const Error& error) noexcept;

  // The next collective call, and the plan that it is of.
  void begin_call(CallKind kind, int64_t plan);

  // Messages as they come and go.
  void* begin_send(const void* p, int64_t bytes, int32_t to);
  void* begin_receive(void* p, int64_t bytes, int32_t from);
  bool ended(void* request, int32_t process);
  // Of the next message to a process, and the number of the next one from it.
  MessageHeader next_header(int32_t to, uint16_t part, int64_t bytes, uint64_t of_body = 0);
  int64_t next_from(int32_t from) { return received_[static_cast<size_t>(from)]++; }
  // bytes: -1: any number. Throws PEER_LOST where something else came.
  MessageHeader read_header(const char* message, int32_t from, int64_t sequence, uint16_t part, int64_t bytes) const;
  [[noreturn]] void fail_changed(int32_t from, int64_t sequence) const;
  // Between polls of ended(), -1: of several processes. Throws TIMED_OUT, or PEER_LOST after abort().
  void pause(int32_t process = -1);
  std::chrono::duration<double> deadline() const noexcept { return deadline_; }
  void begin_deadline() noexcept {
    last_ = std::chrono::steady_clock::now();
    pauses_ = 0;
  }

  // What make() gives on each process, combined two at a time along a binary tree: merge(theirs, ours, their rank), of ranks behind, the
  // nearest first. Every
  // process has the outcome. Where make() throws on one, this throws on all; and where calls differ, which are told apart by a number.
  // One agreement may be inside the make() of another: where it fails, that is the outcome of both.
  // Collective.
  using Make = std::function<Bytes()>;
  using Merge = std::function<Bytes(const Bytes&, const Bytes&, int32_t)>;
  Bytes agree(uint64_t call, const Make& make, const Merge& merge);
  // The same, one beside the other, by rank.
  std::vector<Bytes> all_gather(const Make& make);

 private:
  [[noreturn]] void lose(gpumem_status status, const char* sentence);
  void stick(const Error& error) noexcept;
  void send(int32_t to, const Bytes& bytes);
  Bytes receive(int32_t from);
  void wait_for(void* request, int32_t process);
  Bytes combine(Bytes mine, const Merge& merge);

  gpumem_dist_transport transport_;
  const std::chrono::duration<double> deadline_;
  std::chrono::steady_clock::time_point last_;  // when a message came or went
  int64_t pauses_ = 0;                          // since then
  MessageHeader call_{.call = -1};              // under way, or the last
  std::vector<int64_t> sent_;                   // messages to each process
  std::vector<int64_t> received_;               // and from it
  bool told_ = false;                           // the others, that this one has given up
  std::atomic<bool> aborted_{false};
  mutable std::mutex mutex_;
  std::optional<Error> lost_;
};

}  // namespace gpumem
