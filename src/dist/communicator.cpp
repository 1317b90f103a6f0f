#include "dist/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <new>
#include <thread>
#include <utility>

#include "base/limits.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

constexpr int64_t kYields = 4096;
constexpr auto kNap = std::chrono::microseconds(50);
constexpr gpumem_dist_transport kAlone = {
    sizeof(gpumem_dist_transport), nullptr, 0, 1, nullptr, nullptr, nullptr, nullptr};

// Precedes a combined body: the kind of call, and the message of one that failed.
struct Head {
  int32_t rank = 0;
  gpumem_status status = GPUMEM_OK;
  uint64_t call = 0;
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

Bytes merged(const Bytes& theirs, const Bytes& ours, const Communicator::Merge& merge, int32_t from) {
  Reader of_theirs(theirs, from);
  Reader of_ours(ours);
  const auto other = of_theirs.take<Head>();
  auto mine = of_ours.take<Head>();
  if (mine.status != GPUMEM_OK) return ours;
  if (other.status != GPUMEM_OK) return theirs;
  if (mine.call == other.call) return with_head(mine, merge(of_theirs.take_rest(), of_ours.take_rest(), from));
  char sentence[96];
  std::snprintf(sentence, sizeof sentence, "its dtype or op differs from process %d's; expected the same", mine.rank);
  mine.rank = other.rank;
  mine.refuse(GPUMEM_INVALID_ARGUMENT, sentence);
  return with_head(mine, {});
}

bool is_known(gpumem_status status) noexcept {
  return std::strcmp(gpumem_status_name(status), "GPUMEM_UNKNOWN_STATUS") != 0;
}

// The text comes from another process and may be arbitrary.
void end_sentence(char* sentence, size_t bytes) noexcept {
  sentence[bytes - 1] = 0;
  for (; *sentence != 0; ++sentence) {
    if (static_cast<unsigned char>(*sentence) < ' ') *sentence = '?';
  }
}

// Throws PEER_LOST if the head is not one that the process may send.
void check_head(Bytes& body, int32_t from, int32_t size) {
  Head head = Reader(body, from).take<Head>();
  if (!is_known(head.status) || head.rank < 0 || head.rank >= size) {
    fail(GPUMEM_PEER_LOST, "process %d sent the status %d of process %d; expected one of gpumem_status, of 0 to %d",
         from, head.status, head.rank, size - 1);
  }
  end_sentence(head.sentence, sizeof head.sentence);
  std::memcpy(body.data(), &head, sizeof head);
}

// Detects every change of a single word.
uint64_t sum_of(const char* p, size_t bytes) noexcept {
  uint64_t sum = bytes;
  for (size_t at = 0; at < bytes; at += sizeof sum) {
    uint64_t word = 0;
    std::memcpy(&word, p + at, std::min(bytes - at, sizeof word));
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 32;
  }
  return sum;
}
uint64_t sum_of(const MessageHeader& header) noexcept {
  return sum_of(reinterpret_cast<const char*>(&header), offsetof(MessageHeader, sum));
}

struct Place {
  explicit Place(const MessageHeader& of) noexcept {
    constexpr const char* kNames[] = {"gpumem_dist_create()", "the making of plan", "gpumem_dist_execute() of plan",
                                      "a reduction of plan"};
    const auto kind = static_cast<size_t>(of.kind);
    const char* const name = kind < std::size(kNames) ? kNames[kind] : "an unknown one of plan";
    const int used = std::snprintf(words, sizeof words, "call %lld, %s", ll(of.call), name);
    if (of.kind != CallKind::create) std::snprintf(words + used, sizeof words - used, " %lld", ll(of.plan));
  }
  char words[112];
};

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
    fail(GPUMEM_PEER_LOST, "what process %d tells of its part is too short by %llu bytes", process_,
         static_cast<unsigned long long>(bytes - left_));
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

void Communicator::give_up(const Error& error) noexcept {
  stick(error);
  if (std::exchange(told_, true) || sent_.empty()) return;
  try {
    MessageMemory notices(static_cast<size_t>(kNoticeBytes) * static_cast<size_t>(size()));
    notices.under_way = true;
    for (int32_t to = 0; to < size(); ++to) {
      if (to == rank()) continue;
      char* const notice = notices.data() + kNoticeBytes * to;
      constexpr size_t kWords = kNoticeBytes - kHeaderBytes;
      std::memset(notice + kHeaderBytes, 0, kWords);
      std::snprintf(notice + kHeaderBytes, kWords, "%.*s", static_cast<int>(kWords) - 1, error.what());
      const MessageHeader header =
          next_header(to, MessageHeader::kGivenUp, kWords, sum_of(notice + kHeaderBytes, kWords));
      std::memcpy(notice, &header, sizeof header);
      void* request = nullptr;
      static_cast<void>(transport_.isend(transport_.user, notice, kNoticeBytes, to, &request));
    }
  } catch (const std::exception&) {
  }
}

void Communicator::begin_call(CallKind kind, int64_t plan, bool beside) {
  if (alone()) return;
  beside_ = beside;
  sent_.resize(static_cast<size_t>(size()));
  received_.resize(static_cast<size_t>(size()));
  call_ = {.call = call_.call + 1, .plan = plan, .kind = kind, .rank = rank()};
}

MessageHeader Communicator::next_header(int32_t to, uint16_t part, int64_t bytes, uint64_t of_body) {
  MessageHeader header = call_;
  header.sequence = sent_[static_cast<size_t>(to)]++;
  header.part = part;
  header.bytes = bytes;
  header.of_body = of_body;
  header.sum = sum_of(header);
  return header;
}

void Communicator::fail_changed(int32_t from, int64_t sequence) const {
  fail(GPUMEM_PEER_LOST,
       "process %d sent bytes that are not a gpumem message, or that were cut or changed in transit; expected its "
       "message %lld, in %s",
       from, ll(sequence), Place(call_).words);
}

MessageHeader Communicator::read_header(const char* message, int32_t from, int64_t sequence, uint16_t part,
                                        int64_t bytes) const {
  MessageHeader came;
  std::memcpy(&came, message, sizeof came);
  if (came.magic == MessageHeader::kMagic && came.version != MessageHeader::kVersion) {
    fail(GPUMEM_PEER_LOST,
         "process %d has version %u of the messages between processes; expected %u, by the same library everywhere",
         from, came.version, MessageHeader::kVersion);
  }
  if (came.magic != MessageHeader::kMagic || came.sum != sum_of(came)) fail_changed(from, sequence);
  const Place here(call_);
  if (came.rank != from || came.sequence != sequence) {
    fail(GPUMEM_PEER_LOST,
         "message %lld of process %d came; expected message %lld of process %d, in %s: the transport loses, doubles or "
         "swaps messages",
         ll(came.sequence), came.rank, ll(sequence), from, here.words);
  }
  const bool in_another = came.kind != call_.kind || came.plan != call_.plan;
  if (came.part == MessageHeader::kGivenUp && (came.call != call_.call || !in_another)) {
    char words[kNoticeBytes - kHeaderBytes];
    std::memcpy(words, message + kHeaderBytes, sizeof words);
    if (came.of_body != sum_of(words, sizeof words)) fail_changed(from, sequence);
    end_sentence(words, sizeof words);
    fail(GPUMEM_PEER_LOST, "%s (process %d gave up in %s)", words, from, Place(came).words);
  }
  if (came.call != call_.call || in_another) {
    fail(GPUMEM_PEER_LOST, "process %d is in %s; expected %s, where process %d is", from, Place(came).words, here.words,
         rank());
  }
  if (came.part != part || came.bytes < 0 || (bytes >= 0 && came.bytes != bytes)) {
    fail(GPUMEM_PEER_LOST,
         "process %d sends %lld bytes of part %d of %s; expected %lld of part %d, by the same arguments everywhere",
         from, ll(came.bytes), came.part, here.words, ll(bytes), part);
  }
  return came;
}

void Communicator::lose_transport(const char* could_not, int32_t process) {
  char sentence[320];
  std::snprintf(sentence, sizeof sentence, "the transport could not %s process %d, in %s%s", could_not, process,
                Place(call_).words,
                beside_ ? " (in a thread of the library; MPI allows that with MPI_THREAD_MULTIPLE)" : "");
  lose(GPUMEM_PEER_LOST, sentence);
}

void* Communicator::begin_send(const void* p, int64_t bytes, int32_t to) {
  void* request = nullptr;
  if (transport_.isend(transport_.user, p, bytes, to, &request) == 0) return request;
  lose_transport("send to", to);
}

void* Communicator::begin_receive(void* p, int64_t bytes, int32_t from) {
  void* request = nullptr;
  if (transport_.irecv(transport_.user, p, bytes, from, &request) == 0) return request;
  lose_transport("receive from", from);
}

bool Communicator::ended(void* request, int32_t process) {
  int32_t done = 0;
  if (transport_.test(transport_.user, request, &done) != 0) {
    char sentence[256];
    std::snprintf(sentence, sizeof sentence,
                  "a message to or from process %d failed in the transport, in %s: it is lost, or longer than expected",
                  process, Place(call_).words);
    lose(GPUMEM_PEER_LOST, sentence);
  }
  if (done == 0) return false;
  begin_deadline();
  return true;
}

void Communicator::pause(int32_t process) {
  if (aborted()) require_sound();
  if (std::chrono::steady_clock::now() - last_ > deadline_) {
    char name[32] = "another process";
    if (process >= 0) std::snprintf(name, sizeof name, "process %d", process);
    char sentence[256];
    std::snprintf(sentence, sizeof sentence,
                  "%s was waited for in %s; no message came or went for %lld ms, the deadline", name,
                  Place(call_).words, ll(std::chrono::duration_cast<std::chrono::milliseconds>(deadline_).count()));
    lose(GPUMEM_TIMED_OUT, sentence);
  }
  if (++pauses_ < kYields) return std::this_thread::yield();
  std::this_thread::sleep_for(kNap);
}

void Communicator::wait_for(void* request, int32_t process) {
  while (!ended(request, process)) pause(process);
}

void Communicator::send(int32_t to, const Bytes& bytes) {
  const auto total = static_cast<int64_t>(bytes.size());
  MessageMemory message(static_cast<size_t>(kHeaderBytes) + bytes.size());
  const MessageHeader header = next_header(to, call_.part, total, sum_of(bytes.data(), bytes.size()));
  std::memcpy(message.data(), &header, sizeof header);
  if (!bytes.empty()) std::memcpy(message.data() + kHeaderBytes, bytes.data(), bytes.size());
  message.under_way = true;
  wait_for(begin_send(message.data(), kHeaderBytes, to), to);
  for (int64_t at = 0; at < total; at += kMostMessageBytes) {
    wait_for(begin_send(message.data() + kHeaderBytes + at, std::min(kMostMessageBytes, total - at), to), to);
  }
  message.under_way = false;
}

Bytes Communicator::receive(int32_t from) {
  const auto receive_to = [&](MessageMemory& memory, int64_t bytes) {
    std::memset(memory.data(), 0, static_cast<size_t>(bytes));  // a transport may write less
    memory.under_way = true;
    wait_for(begin_receive(memory.data(), bytes, from), from);
    memory.under_way = false;
  };
  const int64_t sequence = next_from(from);
  MessageMemory head(kNoticeBytes);
  receive_to(head, kNoticeBytes);
  const MessageHeader header = read_header(head.data(), from, sequence, call_.part, -1);
  Bytes body;
  while (static_cast<int64_t>(body.size()) < header.bytes) {
    const int64_t bytes = std::min(kMostMessageBytes, header.bytes - static_cast<int64_t>(body.size()));
    MessageMemory next(static_cast<size_t>(bytes));
    receive_to(next, bytes);
    append(body, next.data(), static_cast<size_t>(bytes));
  }
  if (header.of_body != sum_of(body.data(), body.size())) fail_changed(from, sequence);
  check_head(body, from, size());
  return body;
}

// Along the tree to rank 0, and back. A failure on the way is persistent, because the others are elsewhere in the tree.
Bytes Communicator::combine(Bytes mine, const Merge& merge) {
  try {
    begin_deadline();
    int32_t step = 1;
    for (; step < size() && (rank() & step) == 0; step *= 2) {
      const int32_t behind = rank() + step;
      if (behind < size()) mine = merged(receive(behind), mine, merge, behind);
    }
    if (rank() != 0) {
      send(rank() - step, mine);
      mine = receive(rank() - step);
    }
    for (step /= 2; step > 0; step /= 2) {
      if (rank() + step < size()) send(rank() + step, mine);
    }
    ++call_.part;
    return mine;
  } catch (...) {
    give_up(current_error());
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
    if (status() != GPUMEM_OK) throw Error(*failed);  // the others know, or run into their deadlines
  }
  Head head{.rank = rank(), .call = call};
  if (failed) head.refuse(failed->status(), failed->what());
  const Bytes all = combine(with_head(head, made), merge);
  if (failed) throw SharedError(failed->status(), failed->what());
  Reader of_all(all);
  if (const auto outcome = of_all.take<Head>(); outcome.status != GPUMEM_OK) {
    char sentence[448];
    std::snprintf(sentence, sizeof sentence, "process %d: %.399s", outcome.rank, outcome.sentence);
    throw SharedError(outcome.status, sentence);
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
      [](const Bytes& theirs, const Bytes& ours, int32_t) {
        Bytes both = ours;
        append(both, theirs.data(), theirs.size());
        return both;
      });
  std::vector<Bytes> parts;
  for (Reader reader(all); !reader.empty();) parts.push_back(reader.take_part());
  if (static_cast<int32_t>(parts.size()) == size()) return parts;
  fail(GPUMEM_PEER_LOST, "%zu processes told of their part; expected %d", parts.size(), size());
}

}  // namespace gpumem
