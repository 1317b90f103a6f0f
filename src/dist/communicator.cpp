#include "dist/communicator.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <thread>
#include <utility>

#include "base/limits.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

// How often a wait yields before it sleeps.
constexpr int64_t kYields = 4096;
constexpr auto kNap = std::chrono::microseconds(50);
constexpr gpumem_dist_transport kAlone = {
    sizeof(gpumem_dist_transport), nullptr, 0, 1, nullptr, nullptr, nullptr, nullptr};

// In front of what is combined: of which call it is, and what one that failed had to say.
struct Head {
  int32_t version = 1;
  int32_t rank = 0;
  uint64_t call = 0;
  int64_t status = GPUMEM_OK;
  char sentence[400] = {};

  void refuse(gpumem_status why, const char* words) noexcept {
    status = why;
    std::snprintf(sentence, sizeof sentence, "%.399s", words);
  }
};

Bytes with_head(const Head& head, const Bytes& bytes) {
  Bytes all;
  put(all, head);
  append(all, bytes.data(), bytes.size());
  return all;
}

Bytes merged(const Bytes& theirs, const Bytes& ours, const Communicator::Merge& merge) {
  Reader of_theirs(theirs);
  Reader of_ours(ours);
  const auto other = of_theirs.take<Head>();
  auto mine = of_ours.take<Head>();
  if (mine.status != GPUMEM_OK) return ours;
  if (other.status != GPUMEM_OK) return theirs;
  if (mine.call == other.call && mine.version == other.version) {
    return with_head(mine, merge(of_theirs.take_rest(), of_ours.take_rest()));
  }
  mine.rank = other.rank;
  mine.refuse(GPUMEM_INVALID_ARGUMENT,
              "it is in another call than others, or one of another dtype or op; expected the same");
  return with_head(mine, {});
}

}  // namespace

void append(Bytes& to, const void* p, size_t bytes) {
  const size_t before = to.size();
  to.resize(before + bytes);
  if (bytes > 0) std::memcpy(to.data() + before, p, bytes);
}

void put_part(Bytes& to, const Bytes& part) {
  put(to, static_cast<uint64_t>(part.size()));
  append(to, part.data(), part.size());
}

const char* Reader::skip(size_t bytes) {
  if (bytes > left_) {
    fail(GPUMEM_PEER_LOST,
         "a message from another process is too short; expected the same version of the library everywhere");
  }
  left_ -= bytes;
  return std::exchange(at_, at_ + bytes);
}

Bytes Reader::take_bytes(size_t bytes) {
  const char* const from = skip(bytes);
  return {from, from + bytes};
}

Bytes Reader::take_part() { return take_bytes(take<uint64_t>()); }

struct alignas(kHeaderBytes) MessageMemory::Block {
  Block* next = nullptr;

  // Reachable as long as the process lives.
  static std::atomic<Block*>& kept() noexcept {
    static constinit std::atomic<Block*> first{nullptr};
    return first;
  }
};

MessageMemory::MessageMemory(size_t bytes) : block_(take(bytes)) {}

MessageMemory::Block* MessageMemory::take(size_t bytes) {
  require_available_for_call(bytes);
  return new (::operator new (sizeof(Block) + bytes, std::align_val_t{alignof(Block)})) Block;
}

MessageMemory::~MessageMemory() {
  if (!under_way) {
    ::operator delete (block_, std::align_val_t{alignof(Block)});
    return;
  }
  block_->next = Block::kept().load();
  while (!Block::kept().compare_exchange_weak(block_->next, block_)) continue;
}

char* MessageMemory::data() const noexcept { return reinterpret_cast<char*>(block_ + 1); }

void write_header(char* to, const MessageHeader& header) noexcept {
  static_assert(sizeof header <= kHeaderBytes);
  std::memset(to, 0, kHeaderBytes);
  std::memcpy(to, &header, sizeof header);
}

MessageHeader read_header(const char* from, int32_t process) {
  MessageHeader header;
  std::memcpy(&header, from, sizeof header);
  if (header.magic == MessageHeader::kMagic && header.bytes == kGivenUp) {
    fail(GPUMEM_PEER_LOST, "process %d could not go on with its part of a call", process);
  }
  return header;
}

void fail_in_another_call(int32_t process) {
  fail(GPUMEM_PEER_LOST,
       "process %d sent a message of another call; expected the same calls in the same order on every process",
       process);
}

Communicator::Communicator(const gpumem_dist_transport* transport, double deadline_s) noexcept
    : transport_(transport == nullptr ? kAlone : *transport), deadline_(deadline_s) {}

Communicator::~Communicator() {
  if (transport_.release != nullptr) transport_.release(transport_.user);
}

void Communicator::require_sound() const {
  if (aborted()) throw Error(GPUMEM_PEER_LOST, "dist was ended by gpumem_dist_abort()");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lost_) throw Error(*lost_);
}

gpumem_status Communicator::status() const noexcept {
  if (aborted()) return GPUMEM_PEER_LOST;
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
  return true;
}

void Communicator::pause() {
  if (aborted()) require_sound();
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

void Communicator::send(int32_t to, const Bytes& bytes) {
  const auto total = static_cast<int64_t>(bytes.size());
  MessageMemory message(static_cast<size_t>(kHeaderBytes) + bytes.size());
  write_header(message.data(), {.bytes = total});
  if (!bytes.empty()) std::memcpy(message.data() + kHeaderBytes, bytes.data(), bytes.size());
  message.under_way = true;
  wait_for(begin_send(message.data(), kHeaderBytes, to));
  for (int64_t at = 0; at < total; at += kMostMessageBytes) {
    wait_for(begin_send(message.data() + kHeaderBytes + at, std::min(kMostMessageBytes, total - at), to));
  }
  message.under_way = false;
}

Bytes Communicator::receive(int32_t from) {
  MessageMemory head(kHeaderBytes);
  head.under_way = true;
  wait_for(begin_receive(head.data(), kHeaderBytes, from));
  head.under_way = false;
  const MessageHeader header = read_header(head.data(), from);
  if (header.bytes < 0 || header != MessageHeader{.bytes = header.bytes}) fail_in_another_call(from);
  MessageMemory body(static_cast<size_t>(header.bytes));
  body.under_way = true;
  for (int64_t at = 0; at < header.bytes; at += kMostMessageBytes) {
    wait_for(begin_receive(body.data() + at, std::min(kMostMessageBytes, header.bytes - at), from));
  }
  body.under_way = false;
  return {body.data(), body.data() + header.bytes};
}

// Along the tree to rank 0, and back. What fails on the way sticks: the others are somewhere else in it.
Bytes Communicator::combine(Bytes mine, const Merge& merge) {
  try {
    begin_deadline();
    int32_t step = 1;
    for (; step < size() && (rank() & step) == 0; step *= 2) {
      if (rank() + step < size()) mine = merged(receive(rank() + step), mine, merge);
    }
    if (rank() != 0) {
      send(rank() - step, mine);
      mine = receive(rank() - step);
    }
    for (step /= 2; step > 0; step /= 2) {
      if (rank() + step < size()) send(rank() + step, mine);
    }
    return mine;
  } catch (...) {
    stick(current_error());
    throw;
  }
}

Bytes Communicator::agree(uint64_t call, const Make& make, const Merge& merge) {
  if (alone()) return make();
  std::optional<Error> failed;
  Bytes made;
  try {
    made = make();
  } catch (const SharedError&) {
    throw;
  } catch (...) {
    failed = current_error();
    if (status() != GPUMEM_OK) throw Error(*failed);  // the others know, or wait in vain
  }
  Head head{.rank = rank(), .call = call};
  if (failed) head.refuse(failed->status(), failed->what());
  const Bytes all = combine(with_head(head, made), merge);
  if (failed) throw SharedError(failed->status(), failed->what());
  Reader of_all(all);
  if (const auto outcome = of_all.take<Head>(); outcome.status != GPUMEM_OK) {
    char sentence[448];
    std::snprintf(sentence, sizeof sentence, "process %d: %.399s", outcome.rank, outcome.sentence);
    throw SharedError(static_cast<gpumem_status>(outcome.status), sentence);
  }
  return of_all.take_rest();
}

std::vector<Bytes> Communicator::all_gather(const Make& make) {
  const Bytes all = agree(
      0,
      [&] {
        Bytes mine;
        put_part(mine, make());
        return mine;
      },
      [](const Bytes& theirs, const Bytes& ours) {
        Bytes both = ours;
        append(both, theirs.data(), theirs.size());
        return both;
      });
  std::vector<Bytes> parts;
  for (Reader reader(all); !reader.empty();) parts.push_back(reader.take_part());
  return parts;
}

}  // namespace gpumem
