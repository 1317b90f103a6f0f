// A transport for tests, over pairs of sockets that are made before the processes (or threads) are. It holds the library to what
// gpumem.h says of a transport's calls, and does what a test orders: lose, delay, fail, die.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpumem.h"
#include "support/random.hpp"

namespace gpumem_test {

// A socket between each two ranks.
class Mesh {
 public:
  explicit Mesh(int size) : size_(size), ends_(static_cast<size_t>(size * size), -1) {
    for (int one = 0; one < size; ++one) {
      for (int other = 0; other < one; ++other) {
        int pair[2] = {-1, -1};
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0) << std::strerror(errno);
        end(one, other) = pair[0];
        end(other, one) = pair[1];
      }
    }
  }
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  ~Mesh() { close_all(); }

  int size() const { return size_; }
  int& end(int rank, int peer) { return ends_[static_cast<size_t>(rank * size_ + peer)]; }
  void close_ends_of(int rank) {
    for (int peer = 0; peer < size_; ++peer) {
      if (end(rank, peer) >= 0) close(end(rank, peer));
      end(rank, peer) = -1;
    }
  }
  void close_all() {
    for (int rank = 0; rank < size_; ++rank) close_ends_of(rank);
  }
  // In the process of `rank`: a peer that dies is seen when nobody else holds its ends.
  void keep(int rank) {
    for (int other = 0; other < size_; ++other) {
      if (other != rank) close_ends_of(other);
    }
  }

 private:
  int size_;
  std::vector<int> ends_;
};

// What goes wrong at the call number `at`, counted from 1 since it was ordered, of isend() (fail_irecv and fail_test of irecv() and
// test()). What is lost is that message and all that follow to its rank: messages come in order. What lies breaks its promise: one message is
// dropped, comes twice, comes without its end or with more behind it, with other bytes in its first 64, or behind the next one to its rank.
struct Fault {
  enum What {
    none,
    lose,
    delay,
    kill,
    stop,
    fail_isend,
    fail_irecv,
    fail_test,
    slow,
    drop,
    twice,
    cut,
    lengthen,
    garble,
    swap
  };
  What what = none;
  int64_t at = 1;
  double seconds = 0;  // of a delay; of each test() of a slow transport
};

class SocketTransport {
 public:
  SocketTransport(Mesh& mesh, int rank) : mesh_(mesh), rank_(rank), peers_(static_cast<size_t>(mesh.size())) {}
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;
  // What has not ended by then may still come, as gpumem.h says: its memory is there, whatever was destroyed.
  ~SocketTransport() {
    for (const auto& [request, owned] : live_) {
      if (request->sum == 0) std::memset(request->p, 0xDD, static_cast<size_t>(request->room));
      misused(request->sum != 0 && sum_of(request->p, request->room) != request->sum,
              "memory that may be sent was changed");
    }
    EXPECT_EQ(misuse_, "") << "the library's call of the transport";
  }

  gpumem_dist_transport table() {
    gpumem_dist_transport table;
    EXPECT_EQ(gpumem_dist_transport_init(&table, sizeof table), GPUMEM_OK);
    table.user = this;
    table.rank = rank_;
    table.size = mesh_.size();
    table.isend = [](void* user, const void* p, int64_t bytes, int32_t to, void** request) {
      const Turn turn(self(user));
      return self(user).isend(p, bytes, to, request);
    };
    table.irecv = [](void* user, void* p, int64_t bytes, int32_t from, void** request) {
      const Turn turn(self(user));
      return self(user).irecv(p, bytes, from, request);
    };
    table.test = [](void* user, void* request, int32_t* done) {
      const Turn turn(self(user));
      return self(user).test(request, done);
    };
    table.release = [](void* user) { self(user).release(); };
    return table;
  }

  void order(const Fault& fault) {
    fault_ = fault;
    calls_ = 0;
  }
  // A peer that is gone is then only silent, as over a network.
  void see_no_ends() { sees_ends_ = false; }
  // Exchanges that are only enqueued call it in a thread of the library.
  void allow_any_thread() { any_thread_ = true; }
  // A message that is longer than what is received, as where processes carry out different plans, then fails, as in MPI.
  void allow_longer() { allows_longer_ = true; }
  // What it changes of each message before it is sent, which is a lie, too.
  std::function<void(char* p, int64_t bytes)> edit;
  // Whether what was ordered has been done.
  bool is_done() const { return calls_ >= fault_.at; }
  int released() const { return released_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Request {
    int32_t peer = 0;
    char* p = nullptr;
    uint64_t room = 0;    // bytes at p
    uint64_t length = 0;  // of the message: its head, which goes before it
    uint64_t at = 0;      // bytes that have gone or come, those of the head counted in
    uint64_t sum = 0;     // of what is sent, at the start; 0: received
    Clock::time_point not_before{};
    bool done = false;
  };
  struct Peer {
    std::deque<Request*> sends, receives;
    Request* late = nullptr;  // goes behind the next one
    bool gone = false;
    bool cut = false;     // by a Fault::lose
    bool broken = false;  // by a message that was too long
  };
  static constexpr uint64_t kHead = sizeof Request::length;

  // One call at a time.
  struct Turn {
    explicit Turn(SocketTransport& of) : lock(of.turn_, std::try_to_lock) {
      of.misused(!lock.owns_lock(), "two calls at a time");
    }
    std::unique_lock<std::mutex> lock;
  };

  static SocketTransport& self(void* user) { return *static_cast<SocketTransport*>(user); }

  static uint64_t sum_of(const char* p, uint64_t bytes) {
    uint64_t sum = 0xCBF29CE484222325u;  // FNV-1a
    for (uint64_t i = 0; i < bytes; ++i) sum = (sum ^ static_cast<unsigned char>(p[i])) * 0x100000001B3u;
    return sum;
  }

  bool misused(bool wrong, const char* what) {
    if (wrong && misuse_.empty()) misuse_ = what;
    return wrong;
  }
  bool misused_call(const void* p, int64_t bytes, int32_t peer) {
    return misused_here() || misused(p == nullptr, "no memory") ||
           misused(bytes < 1 || bytes > int64_t{1} << 30, "a message of no such length") ||
           misused(peer < 0 || peer >= mesh_.size(), "no such rank") || misused(peer == rank_, "a message to itself");
  }
  bool misused_here() {
    return misused(released_ != 0, "a call after release()") ||
           misused(!any_thread_ && std::this_thread::get_id() != thread_, "a call in another thread");
  }

  bool is_due(std::initializer_list<Fault::What> kinds) {
    for (const Fault::What kind : kinds) {
      if (fault_.what == kind) return ++calls_ == fault_.at;
    }
    return false;
  }

  Request* begin(void* p, int64_t bytes, int32_t peer, void** request) {
    auto made = std::make_unique<Request>();
    Request* const r = made.get();
    r->peer = peer;
    r->p = static_cast<char*>(p);
    r->room = r->length = static_cast<uint64_t>(bytes);
    live_[r] = std::move(made);
    *request = r;
    return r;
  }

  int32_t isend(const void* p, int64_t bytes, int32_t to, void** request) {
    if (misused_call(p, bytes, to)) return 1;
    if (edit) edit(static_cast<char*>(const_cast<void*>(p)), bytes);
    const bool due = is_due({Fault::lose, Fault::delay, Fault::kill, Fault::stop, Fault::fail_isend, Fault::drop,
                             Fault::twice, Fault::cut, Fault::lengthen, Fault::garble, Fault::swap});
    if (due && fault_.what == Fault::fail_isend) return 17;
    Peer& peer = peers_[static_cast<size_t>(to)];
    Request* const r = begin(const_cast<void*>(p), bytes, to, request);
    r->sum = sum_of(r->p, r->length);
    peer.sends.push_back(r);
    if (due && fault_.what >= Fault::drop) lie(peer, *r);
    if (!due && peer.late != nullptr) peer.sends.push_back(std::exchange(peer.late, nullptr));
    if (due && fault_.what == Fault::delay) {
      r->not_before =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(fault_.seconds));
    }
    peer.cut = peer.cut || (due && fault_.what == Fault::lose);
    if (peer.cut) {
      r->done = true;
      peer.sends.pop_back();
    }
    if (due && (fault_.what == Fault::kill || fault_.what == Fault::stop)) {
      // In the middle of the message, where it is the next to go.
      if (peer.sends.front() == r) write_some(to, *r, kHead + r->length / 2);
      raise(fault_.what == Fault::kill ? SIGKILL : SIGSTOP);
    }
    progress();
    return 0;
  }

  // Another message in the place of the last one, which its sender takes for sent.
  void lie(Peer& peer, Request& r) {
    auto made = std::make_unique<Request>();
    std::vector<char>& bytes = lies_.emplace_back(r.p, r.p + r.length);
    if (fault_.what == Fault::cut) bytes.resize(bytes.size() - 1 - random_.below(bytes.size()));
    if (fault_.what == Fault::lengthen) bytes.insert(bytes.end(), 8, 'l');
    for (size_t i = 0; fault_.what == Fault::garble && i < bytes.size() && i < 64; ++i) {
      if (random_.below(2) == 0) bytes[i] = static_cast<char>(random_.below(256));
    }
    made->p = bytes.data();
    made->length = made->room = bytes.size();
    made->peer = r.peer;
    made->sum = sum_of(made->p, made->length);
    if (fault_.what != Fault::twice) {
      r.done = true;
      peer.sends.pop_back();
    }
    if (fault_.what == Fault::drop) return;
    (fault_.what == Fault::swap ? peer.late : peer.sends.emplace_back()) = made.get();
    told_.push_back(std::move(made));
  }

  int32_t irecv(void* p, int64_t bytes, int32_t from, void** request) {
    if (misused_call(p, bytes, from)) return 1;
    if (is_due({Fault::fail_irecv})) return 17;
    // Nobody may look at it before it is done, nor behind what came; all of it would be too much of what is hardly used.
    std::memset(p, 0xEE, static_cast<size_t>(std::min<int64_t>(bytes, 1 << 16)));
    peers_[static_cast<size_t>(from)].receives.push_back(begin(p, bytes, from, request));
    return 0;
  }

  int32_t test(void* request, int32_t* done) {
    if (misused_here() || misused(done == nullptr, "no place for the answer")) return 1;
    const auto found = live_.find(static_cast<Request*>(request));
    if (misused(found == live_.end(), "a test of a request that is none any more")) return 1;
    if (is_due({Fault::fail_test})) return 17;
    if (fault_.what == Fault::slow) std::this_thread::sleep_for(std::chrono::duration<double>(fault_.seconds));
    idle_ = progress() ? 0 : idle_ + 1;
    if (idle_ > 20) wait_a_little();
    const Request& r = *found->second;
    *done = r.done ? 1 : 0;
    const Peer& peer = peers_[static_cast<size_t>(r.peer)];
    if (!r.done) return peer.broken || (sees_ends_ && peer.gone) ? 1 : 0;
    live_.erase(found);
    return 0;
  }

  void release() {
    misused_here();
    ++released_;
    mesh_.close_ends_of(rank_);
  }

  // Whether anything moved.
  bool progress() {
    const int64_t before = moved_;
    for (int32_t i = 0; i < mesh_.size(); ++i) {
      Peer& peer = peers_[static_cast<size_t>(i)];
      while (!peer.sends.empty() && peer.sends.front()->not_before <= Clock::now()) {
        Request& r = *peer.sends.front();
        write_some(i, r, kHead + r.length);
        if (!is_whole(r)) break;
        r.done = true;
        misused(sum_of(r.p, r.length) != r.sum, "memory that is being sent was changed");
        peer.sends.pop_front();
      }
      while (!peer.receives.empty() && !peer.broken) {
        Request& r = *peer.receives.front();
        read_some(i, r);
        if (!is_whole(r)) break;
        r.done = true;
        peer.receives.pop_front();
      }
    }
    return moved_ != before;
  }

  // More processes than cores wait for each other: those with nothing to do leave the cores to the others.
  void wait_a_little() {
    std::vector<pollfd> ends;
    for (int32_t i = 0; i < mesh_.size(); ++i) {
      const Peer& peer = peers_[static_cast<size_t>(i)];
      const int events = (peer.receives.empty() ? 0 : POLLIN) | (peer.sends.empty() ? 0 : POLLOUT);
      if (events != 0 && !peer.gone) ends.push_back({mesh_.end(rank_, i), static_cast<short>(events), 0});
    }
    const timespec most{0, 50000};
    ppoll(ends.data(), ends.size(), &most, nullptr);
  }

  static bool is_whole(const Request& r) { return r.at >= kHead && r.at == kHead + r.length; }

  // The bytes from r.at on that lie together.
  static std::pair<char*, size_t> rest(Request& r, uint64_t end) {
    if (r.at < kHead) return {reinterpret_cast<char*>(&r.length) + r.at, kHead - r.at};
    return {r.p + (r.at - kHead), end - r.at};
  }

  // Up to byte `end`, as far as the socket takes it.
  void write_some(int32_t to, Request& r, uint64_t end) {
    while (r.at < end) {
      const auto [p, bytes] = rest(r, end);
      const ssize_t wrote = ::send(mesh_.end(rank_, to), p, bytes, MSG_NOSIGNAL);
      if (wrote < 0) return look_for_end(to);
      r.at += static_cast<uint64_t>(wrote);
      moved_ += wrote;
    }
  }

  void read_some(int32_t from, Request& r) {
    while (!is_whole(r)) {
      const auto [p, bytes] = rest(r, kHead + r.length);
      const ssize_t got = ::recv(mesh_.end(rank_, from), p, bytes, 0);
      errno = got == 0 ? ECONNRESET : errno;
      if (got <= 0) return look_for_end(from);
      r.at += static_cast<uint64_t>(got);
      moved_ += got;
      if (r.at != kHead || r.length <= r.room) continue;
      misused(!allows_longer_, "a message that is longer than what is received");
      peers_[static_cast<size_t>(from)].broken = true;
      r.at = r.length = 0;
      return;
    }
  }

  void look_for_end(int32_t peer) {
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) peers_[static_cast<size_t>(peer)].gone = true;
  }

  Mesh& mesh_;
  int rank_;
  std::thread::id thread_ = std::this_thread::get_id();
  bool any_thread_ = false;
  std::mutex turn_;
  std::vector<Peer> peers_;
  std::map<Request*, std::unique_ptr<Request>> live_;
  Fault fault_;
  int64_t calls_ = 0;
  Random random_{0x11E5};
  std::deque<std::vector<char>> lies_;
  std::deque<std::unique_ptr<Request>> told_;
  int released_ = 0;
  int64_t moved_ = 0;  // bytes, to and fro
  int64_t idle_ = 0;   // calls in which none moved
  bool sees_ends_ = true;
  bool allows_longer_ = false;
  std::string misuse_;
};

}  // namespace gpumem_test
