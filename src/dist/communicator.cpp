#include "dist/communicator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "base/sentences.hpp"

namespace gpumem {
namespace {

// How often a wait yields before it sleeps.
constexpr int64_t kYields = 4096;
constexpr gpumem_dist_transport kAlone = {
    sizeof(gpumem_dist_transport), nullptr, 0, 1, nullptr, nullptr, nullptr, nullptr};
constexpr auto kNap = std::chrono::microseconds(50);

}  // namespace

void append(Bytes& to, const void* p, size_t bytes) {
  const size_t before = to.size();
  to.resize(before + bytes);
  if (bytes > 0) std::memcpy(to.data() + before, p, bytes);
}

void append_part(Bytes& to, const Bytes& part) {
  const auto length = static_cast<int64_t>(part.size());
  append(to, &length, sizeof length);
  append(to, part.data(), part.size());
}

std::vector<Bytes> parts_of(const Bytes& all) {
  std::vector<Bytes> parts;
  for (size_t at = 0; at < all.size();) {
    int64_t length = 0;
    std::memcpy(&length, all.data() + at, sizeof length);
    at += sizeof length;
    parts.emplace_back(all.data() + at, all.data() + at + length);
    at += static_cast<size_t>(length);
  }
  return parts;
}

void keep_for_ever(std::shared_ptr<void> memory) {
  static auto* const kept = new std::vector<std::shared_ptr<void>>;  // of the process: nothing at its end frees it
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(std::move(memory));
}

Communicator::Communicator(const gpumem_dist_transport* transport, double deadline_s) noexcept
    : transport_(transport == nullptr ? kAlone : *transport), deadline_(deadline_s) {}

Communicator::~Communicator() {
  if (transport_.release != nullptr) transport_.release(transport_.user);
}

void Communicator::require_sound() const {
  if (aborted_.load()) throw Error(GPUMEM_PEER_LOST, "dist was ended by gpumem_dist_abort()");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lost_) throw Error(*lost_);
}

gpumem_status Communicator::status() const noexcept {
  if (aborted_.load()) return GPUMEM_PEER_LOST;
  const std::lock_guard<std::mutex> lock(mutex_);
  return lost_ ? lost_->status() : GPUMEM_OK;
}

void Communicator::abort() noexcept { aborted_.store(true); }

void Communicator::stick(const Error& error) noexcept {
  if (alone()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!lost_) lost_ = error;
}

void Communicator::lose(gpumem_status status, const char* sentence) {
  stick(Error(status, sentence));
  require_sound();
  throw Error(status, sentence);
}

void* Communicator::begin_send(const void* p, int64_t bytes, int32_t to) {
  void* request = nullptr;
  if (transport_.isend(transport_.user, p, bytes, to, &request) == 0) return request;
  char sentence[96];
  std::snprintf(sentence, sizeof sentence, "the transport could not send to process %d", to);
  lose(GPUMEM_PEER_LOST, sentence);
}

void* Communicator::begin_receive(void* p, int64_t bytes, int32_t from) {
  void* request = nullptr;
  if (transport_.irecv(transport_.user, p, bytes, from, &request) == 0) return request;
  char sentence[96];
  std::snprintf(sentence, sizeof sentence, "the transport could not receive from process %d", from);
  lose(GPUMEM_PEER_LOST, sentence);
}

bool Communicator::ended(void* request) {
  int32_t done = 0;
  if (transport_.test(transport_.user, request, &done) != 0) {
    lose(GPUMEM_PEER_LOST, "a message to or from another process failed in the transport");
  }
  if (done == 0) return false;
  begin_deadline();
  pauses_ = 0;
  return true;
}

void Communicator::pause() {
  if (aborted_.load(std::memory_order_relaxed)) require_sound();
  if (std::chrono::steady_clock::now() - last_ > deadline_) {
    char sentence[128];
    std::snprintf(sentence, sizeof sentence,
                  "no message came from another process, or went to one, for %lld ms, the deadline",
                  ll(std::chrono::duration_cast<std::chrono::milliseconds>(deadline_).count()));
    lose(GPUMEM_TIMED_OUT, sentence);
  }
  if (++pauses_ < kYields) return std::this_thread::yield();
  std::this_thread::sleep_for(kNap);
}

void Communicator::wait_for(void* request) {
  while (!ended(request)) pause();
}

// The length first. Both are copies, which stay behind if the wait fails.
void Communicator::send(int32_t to, const Bytes& bytes) {
  const auto copy = std::make_shared<Bytes>();
  append_part(*copy, bytes);
  try {
    const auto total = static_cast<int64_t>(copy->size());
    wait_for(begin_send(copy->data(), sizeof(int64_t), to));
    for (int64_t at = sizeof(int64_t); at < total; at += kMostMessageBytes) {
      wait_for(begin_send(copy->data() + at, std::min(kMostMessageBytes, total - at), to));
    }
  } catch (...) {
    keep_for_ever(copy);
    throw;
  }
}

Bytes Communicator::receive(int32_t from) {
  const auto length = std::make_shared<int64_t>();
  const auto bytes = std::make_shared<Bytes>();
  try {
    wait_for(begin_receive(length.get(), sizeof *length, from));
    if (*length < 0 || *length > INT64_MAX / 2) {
      lose(GPUMEM_PEER_LOST,
           "another process is in another call; expected the same calls in the same order everywhere");
    }
    bytes->resize(static_cast<size_t>(*length));
    for (int64_t at = 0; at < *length; at += kMostMessageBytes) {
      wait_for(begin_receive(bytes->data() + at, std::min(kMostMessageBytes, *length - at), from));
    }
  } catch (...) {
    keep_for_ever(length);
    keep_for_ever(bytes);
    throw;
  }
  return std::move(*bytes);
}

// Along the tree to rank 0, and back.
Bytes Communicator::combine(Bytes mine, const Merge& merge) {
  begin_deadline();
  int32_t step = 1;
  for (; step < size() && (rank() & step) == 0; step *= 2) {
    if (rank() + step < size()) mine = merge(receive(rank() + step), mine);
  }
  if (rank() != 0) {
    send(rank() - step, mine);
    mine = receive(rank() - step);
  }
  for (step /= 2; step > 0; step /= 2) {
    if (rank() + step < size()) send(rank() + step, mine);
  }
  return mine;
}

namespace {

// In front of what is combined: of which call it is, and what one that failed had to say.
struct Head {
  uint64_t call = 0;
  int32_t rank = 0;
  gpumem_status status = GPUMEM_OK;
  char sentence[400] = {};

  void refuse(gpumem_status why, const char* words) noexcept {
    status = why;
    std::snprintf(sentence, sizeof sentence, "%.399s", words);
  }
};

Bytes behind(const Head& head, const Bytes& bytes) {
  Bytes all;
  append(all, &head, sizeof head);
  append(all, bytes.data(), bytes.size());
  return all;
}
Head head_of(const Bytes& bytes) noexcept {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}
Bytes rest_of(const Bytes& bytes) { return {bytes.begin() + sizeof(Head), bytes.end()}; }

}  // namespace

Bytes Communicator::agree(uint64_t call, const Make& make, const Merge& merge) {
  if (alone()) return make();
  std::optional<Error> failed;
  Bytes made;
  try {
    made = make();
  } catch (const Error& error) {
    if (status() != GPUMEM_OK) throw;  // the others know, or wait in vain
    failed = error;
  } catch (const std::bad_alloc&) {
    failed = Error(GPUMEM_OUT_OF_MEMORY, "host memory has run out inside the library");
  }
  Head head{.call = call, .rank = rank()};
  if (failed) head.refuse(failed->status(), failed->what());
  const Bytes all = combine(behind(head, made), [&](const Bytes& theirs, const Bytes& ours) {
    Head mine = head_of(ours);
    const Head other = head_of(theirs);
    if (mine.status != GPUMEM_OK) return ours;
    if (other.status != GPUMEM_OK) return theirs;
    if (mine.call == other.call) return behind(mine, merge(rest_of(theirs), rest_of(ours)));
    mine.rank = other.rank;
    mine.refuse(GPUMEM_INVALID_ARGUMENT,
                "it is in another call than others, or one of another dtype or op; expected the same");
    return behind(mine, {});
  });
  if (failed) throw Error(*failed);
  if (const Head head_of_all = head_of(all); head_of_all.status != GPUMEM_OK) {
    fail(head_of_all.status, "process %d: %s", head_of_all.rank, head_of_all.sentence);
  }
  return rest_of(all);
}

std::vector<Bytes> Communicator::all_gather(const Make& make) {
  const Bytes all = agree(
      0,
      [&] {
        Bytes mine;
        append_part(mine, make());
        return mine;
      },
      [](const Bytes& theirs, const Bytes& ours) {
        Bytes both = ours;
        append(both, theirs.data(), theirs.size());
        return both;
      });
  return parts_of(all);
}

}  // namespace gpumem
