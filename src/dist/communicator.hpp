// Communication between the processes of a dist: over the program's transport, polled, with a deadline. Errors are
// persistent, because processes may no longer agree on the next message.
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
// Concatenates parts: the length of each, then its bytes.
void put_part(Bytes& to, const Bytes& part);

// Splits a concatenation; process -1: one of several. Throws PEER_LOST if it ends too early.
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

// Memory of messages. It is never freed if requests were abandoned, because a transport may still write to it.
class MessageMemory {
 public:
  explicit MessageMemory(size_t bytes);
  ~MessageMemory();
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;

  char* data() const noexcept;

  bool under_way = false;

 private:
  struct Block;  // in front of the bytes, so that keeping it needs no memory
  static Block* take(size_t bytes);

  Block* const block_;
};

enum class CallKind : uint16_t { create, plan, execute, reduce };

// Precedes each message. A transport may lose, duplicate, swap, cut or change messages, and another process may be at a
// different call. So every field is compared with the expected value.
struct MessageHeader {
  static constexpr uint32_t kMagic = 0x6d656d67;
  static constexpr uint32_t kVersion = 4;      // of the whole protocol
  static constexpr uint16_t kPieces = 65535;   // data of a call; other values number its agreements
  static constexpr uint16_t kGivenUp = 65534;  // the sender can't go on; an error message follows

  uint32_t magic = kMagic;
  uint32_t version = kVersion;  // at the same place in every version
  int64_t sequence = 0;         // counts messages from its sender to its receiver
  int64_t call = 0;             // counts the sender's collective calls
  int64_t plan = 0;
  CallKind kind = CallKind::create;
  uint16_t part = 0;
  int32_t rank = 0;
  int64_t bytes = 0;
  uint64_t of_body = 0;  // checksum of the payload, except for pieces
  uint64_t sum = 0;      // checksum of the fields above; repeated behind pieces, which may be cut
};
constexpr int64_t kHeaderBytes = sizeof(MessageHeader);
static_assert(kHeaderBytes == 64);
constexpr int64_t kTrailerBytes = sizeof MessageHeader::sum;
// Every process must be able to receive this much at any time: the notice that another one has given up.
constexpr int64_t kNoticeBytes = 256;

constexpr int64_t kMostMessageBytes = int64_t{1} << 30;

class Communicator {
 public:
  // transport: nullptr for a single process. It is released at the end.
  Communicator(const gpumem_dist_transport* transport, double deadline_s) noexcept;
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int32_t rank() const noexcept { return transport_.rank; }
  int32_t size() const noexcept { return transport_.size; }
  bool alone() const noexcept { return size() == 1; }

  void require_sound() const;
  gpumem_status status() const noexcept;
  void abort() noexcept;
  bool aborted() const noexcept { return aborted_.load(std::memory_order_relaxed); }
  // Makes the error persistent if there are several processes, and notifies the others once, without waiting.
  void give_up(const Error& error) noexcept;
  // The same without notifying, in any thread.
  void stick(const Error& error) noexcept;

  // beside: the transport is called in a thread of the library.
  void begin_call(CallKind kind, int64_t plan, bool beside = false);

  void* begin_send(const void* p, int64_t bytes, int32_t to);
  void* begin_receive(void* p, int64_t bytes, int32_t from);
  bool ended(void* request, int32_t process);
  // Header of the next message to a process, with the next sequence number.
  MessageHeader next_header(int32_t to, uint16_t part, int64_t bytes, uint64_t of_body = 0);
  int64_t next_from(int32_t from) { return received_[static_cast<size_t>(from)]++; }
  // bytes: -1: any number. Throws PEER_LOST if another message came.
  MessageHeader read_header(const char* message, int32_t from, int64_t sequence, uint16_t part, int64_t bytes) const;
  [[noreturn]] void fail_changed(int32_t from, int64_t sequence) const;
  // Between polls of ended(); -1: several processes. Throws TIMED_OUT, or PEER_LOST after abort().
  void pause(int32_t process = -1);
  std::chrono::duration<double> deadline() const noexcept { return deadline_; }
  void begin_deadline() noexcept {
    last_ = std::chrono::steady_clock::now();
    pauses_ = 0;
  }

  // Combines the results of make() in pairs along a binary tree: merge(theirs, ours, their rank), nearest higher rank
  // first. Every process gets the outcome. If make() throws on one process, or calls differ, this throws on all. One
  // agreement may be nested in the make() of another: its failure is the outcome of both. Collective.
  using Make = std::function<Bytes()>;
  using Merge = std::function<Bytes(const Bytes&, const Bytes&, int32_t)>;
  Bytes agree(uint64_t call, const Make& make, const Merge& merge);
  // Gathers the results of make(), ordered by rank.
  std::vector<Bytes> all_gather(const Make& make);

 private:
  [[noreturn]] void lose(gpumem_status status, const char* sentence);
  [[noreturn]] void lose_transport(const char* could_not, int32_t process);
  void send(int32_t to, const Bytes& bytes);
  Bytes receive(int32_t from);
  void wait_for(void* request, int32_t process);
  Bytes combine(Bytes mine, const Merge& merge);

  gpumem_dist_transport transport_;
  const std::chrono::duration<double> deadline_;
  std::chrono::steady_clock::time_point last_;
  int64_t pauses_ = 0;
  MessageHeader call_{.call = -1};
  std::vector<int64_t> sent_;
  std::vector<int64_t> received_;
  bool beside_ = false;
  bool told_ = false;  // the others know that this process has given up
  std::atomic<bool> aborted_{false};
  mutable std::mutex mutex_;
  std::optional<Error> lost_;
};

}  // namespace gpumem
