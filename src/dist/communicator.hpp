// The processes of a dist, and how they talk: over the program's transport, polled, with a deadline. What fails here sticks, since
// nobody can know any more which message comes next.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "gpumem.h"

namespace gpumem {

using Bytes = std::vector<char>;
void append(Bytes& to, const void* p, size_t bytes);
// Several as one: the length of each, then its bytes.
void append_part(Bytes& to, const Bytes& part);
std::vector<Bytes> parts_of(const Bytes& all);

// A transport moves at most so many bytes at a time.
constexpr int64_t kMostMessageBytes = int64_t{1} << 30;

class Communicator {
 public:
  // transport: nullptr for one process alone. What it was given is released at the end.
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
  // The first sticks. Nothing of one process alone does.
  void stick(const Error& error) noexcept;

  // Messages as they come and go. The memory stays until the request has ended, or for ever.
  void* begin_send(const void* p, int64_t bytes, int32_t to);
  void* begin_receive(void* p, int64_t bytes, int32_t from);
  bool ended(void* request);
  // Between questions to ended(). Throws TIMED_OUT, or PEER_LOST after abort().
  void pause();
  void begin_deadline() noexcept { last_ = std::chrono::steady_clock::now(); }

  // What make() gives on each process, combined two at a time along a binary tree: merge(of a rank behind, ours), the nearest first. Every
  // process has the outcome. Where make() throws on one, this throws on all; and where calls differ, which are told apart by a number. Collective.
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

// Memory that a transport may still write to when nobody waits for it any more: never freed.
void keep_for_ever(std::shared_ptr<void> memory);

}  // namespace gpumem
