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

// Takes apart what another process has put together. Throws PEER_LOST where it ends too early.
class Reader {
 public:
  explicit Reader(const Bytes& bytes) noexcept : at_(bytes.data()), left_(bytes.size()) {}

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

// In front of each message, or all of it. Bytes that follow, in it or behind it; kGivenUp: none will, since the sender can't go on.
struct MessageHeader {
  static constexpr uint64_t kMagic = 0x67706d656d2d6d73;
  uint64_t magic = kMagic;
  int64_t plan = -1;  // -1: what processes say to each other about a call
  int64_t run = 0;
  int64_t number = 0;
  int64_t bytes = 0;

  friend bool operator==(const MessageHeader&, const MessageHeader&) = default;
};
constexpr int64_t kHeaderBytes = 64;
constexpr int64_t kGivenUp = -1;
void write_header(char* to, const MessageHeader& header) noexcept;
// Throws PEER_LOST for one that has given up.
MessageHeader read_header(const char* from, int32_t process);
[[noreturn]] void fail_in_another_call(int32_t process);

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
  // Only the first is kept, and none where there is one process.
  void stick(const Error& error) noexcept;

  // Messages as they come and go.
  void* begin_send(const void* p, int64_t bytes, int32_t to);
  void* begin_receive(void* p, int64_t bytes, int32_t from);
  bool ended(void* request);
  // Between polls of ended(). Throws TIMED_OUT, or PEER_LOST after abort().
  void pause();
  std::chrono::duration<double> deadline() const noexcept { return deadline_; }
  void begin_deadline() noexcept {
    last_ = std::chrono::steady_clock::now();
    pauses_ = 0;
  }

  // What make() gives on each process, combined two at a time along a binary tree: merge(of a rank behind, ours), the nearest first. Every
  // process has the outcome. Where make() throws on one, this throws on all; and where calls differ, which are told apart by a number.
  // One agreement may be inside the make() of another: where it fails, that is the outcome of both.
  // Collective.
  using Make = std::function<Bytes()>;
  using Merge = std::function<Bytes(const Bytes&, const Bytes&)>;
  Bytes agree(uint64_t call, const Make& make, const Merge& merge);
  // The same, one beside the other, by rank.
  std::vector<Bytes> all_gather(const Make& make);

 private:
  [[noreturn]] void lose(gpumem_status status, const char* sentence);
  void send(int32_t to, const Bytes& bytes);
  Bytes receive(int32_t from);
  void wait_for(void* request);
  Bytes combine(Bytes mine, const Merge& merge);

  gpumem_dist_transport transport_;
  const std::chrono::duration<double> deadline_;
  std::chrono::steady_clock::time_point last_;  // when a message came or went
  int64_t pauses_ = 0;                          // since then
  std::atomic<bool> aborted_{false};
  mutable std::mutex mutex_;
  std::optional<Error> lost_;
};

}  // namespace gpumem
