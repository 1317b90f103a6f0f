// A libnccl.so.2 for ranks that are threads of one process, on emulated devices. Communicators block, as in NCCL: until all ranks have come,
// and in the first group of two ranks until both are there; a later group is only enqueued. It holds the calls to what NCCL asks for, and
// fails as FAKE_NCCL says: "init" (rank 1's communicator), "slow_init" (rank 1 joins once that is no longer asked for), "connect" (the first group
// of a rank never returns), "send" (the tenth one), "async" (from the third group on), "hang" (the third group of a communicator never completes),
// "stuck" (nor does ncclCommAbort() return then).
#include "dist/fake_nccl.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

enum Result { kSuccess = 0, kSystemError = 2, kInvalidArgument = 4, kInvalidUsage = 5, kRemoteError = 6 };

struct UniqueId {
  char bytes[128];
};

struct Config {
  size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, min_ctas, max_ctas;
  const char* net_name;
  int split_share;
};

// A send or receive, in whose memory the other side looks once both are there.
struct Side {
  void* p = nullptr;
  size_t bytes = 0;
  bool there = false;
};
struct Exchange {
  Side sends, receives;
  bool copying = false;
  bool done = false;
};

}  // namespace

struct ncclComm {
  std::string id;
  int rank = 0, ranks = 0, device = 0;
  int groups = 0;
  bool up = false;
  bool busy = false;  // in a call
  bool aborted = false, finalized = false;
  struct Operation {
    bool sends;
    int peer;
    void* p;
    size_t bytes;
    void* stream;
  };
  std::vector<Operation> pending;
  std::map<std::tuple<int, int>, size_t> made;  // exchanges from a rank to another so far, of this one
};

namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  FakeNcclDevice device{};
  std::string misuse;
  std::map<std::tuple<std::string, int, int, size_t>, std::shared_ptr<Exchange>> exchanges;
  std::map<std::string, std::map<int, int>> joined;        // the device of each rank that has come
  std::set<std::tuple<std::string, int, int, bool>> came;  // to the first exchange from a rank to another: each side
  FakeNcclTraffic traffic{};
  size_t comms = 0;
  int sends = 0;
  int ids = 0;
  std::vector<ncclComm*> ended;  // which kernels may still look at
};

State& state() {
  static State& only = *std::make_unique<State>().release();
  return only;
}

bool asked_for(const char* what) {
  const char* asked = std::getenv("FAKE_NCCL");
  return asked != nullptr && std::strcmp(asked, what) == 0;
}

int wrong(const std::string& what) {
  if (state().misuse.empty()) state().misuse = what;
  return kInvalidUsage;
}

// Of this thread: communicators that are used in a group, which is open to this depth.
thread_local int depth = 0;
thread_local std::vector<ncclComm*> used;

// All operations of a group of one communicator: they don't wait for each other.
struct Kernel {
  ncclComm* comm;
  bool hangs;
  std::vector<std::shared_ptr<Exchange>> sends, receives;

  static void run(void* argument) {
    const std::unique_ptr<Kernel> self(static_cast<Kernel*>(argument));
    State& s = state();
    std::unique_lock<std::mutex> lock(s.mutex);
    self->run(s, lock);
    for (const auto& e : self->sends) {  // the memory may be gone from now on
      e->sends.there = false;
      s.changed.wait(lock, [&] { return !e->copying; });
    }
  }

 private:
  void run(State& s, std::unique_lock<std::mutex>& lock) {
    const auto wait = [&](const bool& what) { s.changed.wait(lock, [&] { return what || comm->aborted; }); };
    bool never = false;
    if (hangs) wait(never);
    for (const auto& e : sends) e->sends.there = true;
    for (const auto& e : receives) e->receives.there = true;
    s.changed.notify_all();
    for (const auto& e : receives) {
      wait(e->sends.there);
      if (comm->aborted) return;
      if (e->sends.bytes != e->receives.bytes) {
        wrong(std::to_string(e->sends.bytes) + " bytes are sent and " + std::to_string(e->receives.bytes) +
              " received");
        continue;
      }
      e->copying = true;
      lock.unlock();
      s.device.copy(e->receives.p, e->sends.p, e->sends.bytes);
      lock.lock();
      e->copying = false;
      s.traffic.bytes += e->sends.bytes;
      ++s.traffic.operations;
      e->done = true;
      s.changed.notify_all();
    }
    for (const auto& e : sends) wait(e->done);
  }
};

// Completion the other ranks are there that a group needs.
void meet(const std::vector<ncclComm*>& comms, State& s, std::unique_lock<std::mutex>& lock) {
  const auto wait_for_ever = [&] { s.changed.wait(lock, [] { return false; }); };
  using Side = std::tuple<std::string, int, int, bool>;
  std::vector<Side> others;
  for (ncclComm* comm : comms) {
    for (const ncclComm::Operation& o : comm->pending) {
      const int from = o.sends ? comm->rank : o.peer, to = o.sends ? o.peer : comm->rank;
      if (!s.came.emplace(comm->id, from, to, o.sends).second) continue;
      others.emplace_back(comm->id, from, to, !o.sends);
      if (!asked_for("connect")) continue;
      --s.comms;  // it is left behind
      wait_for_ever();
    }
  }
  s.changed.notify_all();
  for (ncclComm* comm : comms) {
    if (comm->up) continue;
    s.changed.wait(lock, [&] { return s.joined[comm->id].size() == static_cast<size_t>(comm->ranks); });
    comm->up = true;
  }
  for (const Side& other : others) s.changed.wait(lock, [&] { return s.came.contains(other); });
}

// With the lock held: gives the streams what a group has.
void enqueue(ncclComm* comm) {
  State& s = state();
  if (comm->pending.empty()) return;
  auto kernel = std::make_unique<Kernel>();
  kernel->comm = comm;
  kernel->hangs = ++comm->groups >= 3 && (asked_for("hang") || asked_for("stuck"));
  void* const stream = comm->pending.front().stream;
  for (const ncclComm::Operation& o : comm->pending) {
    if (o.stream != stream) wrong("two streams in one group of a communicator");
    const int from = o.sends ? comm->rank : o.peer, to = o.sends ? o.peer : comm->rank;
    const size_t number = comm->made[{from, to}]++;
    auto& e = s.exchanges[{comm->id, from, to, number}];
    if (e == nullptr) e = std::make_shared<Exchange>();
    (o.sends ? e->sends : e->receives) = {o.p, o.bytes, false};
    (o.sends ? kernel->sends : kernel->receives).push_back(e);
  }
  comm->pending.clear();
  s.device.run(stream, Kernel::run, kernel.release());
}

int add(bool sends, void* p, size_t count, int type, int peer, ncclComm* comm, void* stream) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (depth == 0) return wrong("a send or receive outside a group");
  if (p == nullptr || count == 0 || type != 0) return wrong("no memory, no bytes or another type than bytes");
  if (peer < 0 || peer >= comm->ranks || peer == comm->rank) return wrong("no such peer");
  if (comm->busy || !comm->up) return wrong("a communicator is used in two calls, or before it is up");
  for (const auto& o : comm->pending) {
    if (o.sends == sends && o.peer == peer) return wrong("two operations of one group with one peer");
  }
  if (sends && ++s.sends == 10 && asked_for("send")) return kSystemError;
  comm->pending.push_back({sends, peer, p, count, stream});
  if (std::find(used.begin(), used.end(), comm) == used.end()) used.push_back(comm);
  return kSuccess;
}

}  // namespace

extern "C" {

void fake_nccl_use(const FakeNcclDevice* device) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().device = *device;
}
const char* fake_nccl_misuse() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().misuse.c_str();
}
FakeNcclTraffic fake_nccl_traffic() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().sends = 0;
  return std::exchange(state().traffic, {});
}
size_t fake_nccl_comms() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().comms;
}

int ncclGetVersion(int* version) {
  *version = asked_for("old") ? 21703 : 22803;
  return kSuccess;
}
const char* ncclGetErrorString(int result) { return result == kRemoteError ? "remote error" : "some error"; }

int ncclGetUniqueId(UniqueId* id) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  std::memset(id, 0, sizeof *id);
  std::strcpy(id->bytes, ("fake " + std::to_string(++state().ids)).c_str());
  return kSuccess;
}

int ncclCommInitRankConfig(ncclComm** comm, int ranks, UniqueId id, int rank, Config* config) {
  State& s = state();
  std::unique_lock<std::mutex> lock(s.mutex);
  while (rank == 1 && asked_for("slow_init")) s.changed.wait_for(lock, std::chrono::milliseconds(10));
  *comm = nullptr;
  if (config->size != sizeof(Config) || config->magic != 0xcafebeef || config->version < 21800 ||
      config->blocking != 1 || config->cga_cluster_size != INT_MIN || config->min_ctas != INT_MIN ||
      config->max_ctas != INT_MIN || config->net_name != nullptr || config->split_share != INT_MIN) {
    return wrong("a configuration of another layout");
  }
  if (depth == 0) return wrong("ranks are begun outside a group");
  auto& joined = s.joined[id.bytes];
  const int device = s.device.current_device();
  for (const auto& [other, its] : joined) {
    if (its == device) return wrong("two ranks on one device");
  }
  if (rank < 0 || rank >= ranks || !joined.emplace(rank, device).second) return wrong("no such rank, or one twice");
  s.changed.notify_all();
  if (rank == 1 && asked_for("init")) return kSystemError;
  auto made = std::make_unique<ncclComm>();
  made->id = id.bytes;
  made->rank = rank;
  made->ranks = ranks;
  made->device = device;
  used.push_back(made.get());
  *comm = made.release();
  ++s.comms;
  return kSuccess;
}

int ncclCommGetAsyncError(ncclComm* comm, int* result) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  *result = asked_for("async") && comm->groups >= 2 ? kRemoteError : kSuccess;
  return kSuccess;
}

int ncclSend(const void* p, size_t count, int type, int peer, ncclComm* comm, void* stream) {
  return add(true, const_cast<void*>(p), count, type, peer, comm, stream);
}
int ncclRecv(void* p, size_t count, int type, int peer, ncclComm* comm, void* stream) {
  return add(false, p, count, type, peer, comm, stream);
}

int ncclGroupStart() {
  ++depth;
  return kSuccess;
}
int ncclGroupEnd() {
  State& s = state();
  std::unique_lock<std::mutex> lock(s.mutex);
  if (depth-- != 1) return wrong("groups are not balanced");
  const std::vector<ncclComm*> comms = std::exchange(used, {});
  for (ncclComm* comm : comms) comm->busy = true;
  meet(comms, s, lock);
  for (ncclComm* comm : comms) {
    enqueue(comm);
    comm->busy = false;
  }
  return kSuccess;
}

int ncclCommFinalize(ncclComm* comm) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  if (comm->busy || comm->aborted || comm->finalized) return wrong("finalized while in a call, or twice");
  comm->finalized = true;
  return kSuccess;
}
int ncclCommDestroy(ncclComm* comm) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  if (comm->busy || !comm->finalized) return wrong("destroyed before it is finalized");
  --state().comms;
  const std::unique_ptr<ncclComm> owned(comm);
  return kSuccess;
}
// What waits sees it; the communicator itself stays, since kernels look at it.
int ncclCommAbort(ncclComm* comm) {
  if (asked_for("stuck")) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    std::fputs("it returns late\n", stderr);
  }
  const std::lock_guard<std::mutex> lock(state().mutex);
  if (comm->busy || comm->aborted) return wrong("aborted while in a call, or twice");
  comm->aborted = true;
  --state().comms;
  state().ended.push_back(comm);
  state().changed.notify_all();
  return kSuccess;
}
}
