// NCCL as a Link (NCCL User Guide, "Creating a communicator with options", "Group Calls", "Fault Tolerance"). Loaded on
// first use and never unloaded. Calls that wait for other processes, to start or to connect two participants, run on
// threads of their own, which are abandoned if they do not return. A group between connected participants is only
// enqueued, in 9 us. A communicator that does not block would take 58 to 150 us (bench/experiments.csv).
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "backend/cuda/cuda_check.hpp"
#include "backend/link.hpp"
#include "base/error.hpp"
#include "base/made_once.hpp"
#include "base/quiet_thread.hpp"

namespace gpumem {
namespace {

using Comm = struct ncclComm*;
constexpr int kSuccess = 0;
constexpr int kSystemError = 2;
constexpr int kChar = 0;
constexpr int kOldest = 21800;  // 2.18.0
constexpr int kUndefined = INT_MIN;

// As of 2.18; all later versions accept it.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21801;
  int blocking = 1;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
};

struct Api {
  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(LinkId*) = nullptr;
  int (*init_rank)(Comm*, int, LinkId, int, Config*) = nullptr;
  int (*async_error)(Comm, int*) = nullptr;
  int (*send)(const void*, size_t, int, int, Comm, cudaStream_t) = nullptr;
  int (*recv)(void*, size_t, int, int, Comm, cudaStream_t) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*finalize)(Comm) = nullptr;
  int (*destroy)(Comm) = nullptr;
  int (*abort)(Comm) = nullptr;
  const char* (*error_string)(int) = nullptr;
  std::string lacking;
};

Api load_nccl() {
  Api api;
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    api.lacking = dlerror();
    return api;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && api.lacking.empty()) api.lacking = std::string("libnccl.so.2 has no ") + name;
  };
  find(api.get_version, "ncclGetVersion");
  find(api.get_unique_id, "ncclGetUniqueId");
  find(api.init_rank, "ncclCommInitRankConfig");
  find(api.async_error, "ncclCommGetAsyncError");
  find(api.send, "ncclSend");
  find(api.recv, "ncclRecv");
  find(api.group_start, "ncclGroupStart");
  find(api.group_end, "ncclGroupEnd");
  find(api.finalize, "ncclCommFinalize");
  find(api.destroy, "ncclCommDestroy");
  find(api.abort, "ncclCommAbort");
  find(api.error_string, "ncclGetErrorString");
  int version = 0;
  if (api.lacking.empty() && (api.get_version(&version) != kSuccess || version < kOldest)) {
    api.lacking = "NCCL is of version " + std::to_string(version) + "; expected 21800 (2.18) or newer";
  }
  return api;
}

constinit std::atomic<const Api*> g_nccl{nullptr};

// Call after why_no_link() has found it.
const Api& nccl() { return *g_nccl.load(std::memory_order_acquire); }

void check_nccl(int result, const char* call) {
  if (result == kSuccess) return;
  fail(GPUMEM_PEER_LOST, "%s: %s", call, nccl().error_string(result));
}

struct Outcome {
  int result = kSuccess;
  const char* call = "";

  void note(int its_result, const char* its_call) noexcept {
    if (result == kSuccess && its_result != kSuccess) *this = {its_result, its_call};
  }
};

// Calls of all links that have not returned.
constinit std::atomic<int> g_running{0};
constinit std::atomic<pid_t> g_waits_at_exit{0};  // the process; its children do not have the threads

// While the process exits, NCCL and the driver destroy what an abandoned call still uses.
void wait_for_calls() noexcept {
  constexpr std::chrono::milliseconds kNap{1};
  if (g_waits_at_exit.load() != getpid()) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (g_running.load() > 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kNap);
  std::this_thread::sleep_for(kNap);  // the last thread ends
}

// Functions of atexit() run in reverse order. Registered this late, this one precedes those of NCCL.
void wait_at_exit() noexcept {
  if (g_waits_at_exit.exchange(getpid()) != getpid()) static_cast<void>(std::atexit(wait_for_calls));
}

// Calls on threads of their own. A call owns its data, because it may outlive the link.
class Calls {
 public:
  Calls() = default;
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    for (std::thread& thread : threads_) state_->running > 0 ? thread.detach() : thread.join();
  }

  template <class F>
  void start(F f) {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    threads_.reserve(threads_.size() + 1);
    threads_.push_back(quiet_thread([state = state_, f = std::move(f)]() mutable {
      Outcome outcome;
      try {
        const auto call = std::move(f);  // its data may end communicators
        outcome = call();
      } catch (const std::exception&) {  // the driver is shutting down
        outcome.note(kSystemError, "NCCL");
      }
      {
        const std::lock_guard<std::mutex> ended(state->mutex);
        state->outcome.note(outcome.result, outcome.call);
        --state->running;
        state->changed.notify_all();
      }
      --g_running;
    }));
    ++state_->running;
    ++g_running;
  }
  bool over() {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->running > 0) return false;
    join();
    check_nccl(state_->outcome.result, state_->outcome.call);
    return true;
  }
  bool return_by(std::chrono::steady_clock::time_point end) noexcept {
    std::unique_lock<std::mutex> lock(state_->mutex);
    if (!state_->changed.wait_until(lock, end, [this] { return state_->running == 0; })) return false;
    join();
    return true;
  }

 private:
  // A thread that has returned still ends the driver's and NCCL's data of the thread.
  void join() noexcept {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int running = 0;
    Outcome outcome;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::vector<std::thread> threads_;
};

constexpr std::chrono::milliseconds kPatience{1000};

class NcclLink final : public Link {
 public:
  NcclLink(const LinkId& id, const std::vector<int32_t>& ordinals, int32_t first, int32_t all) {
    try {
      open(id, ordinals, first, all);
    } catch (...) {
      release();
      throw;
    }
  }
  ~NcclLink() override { NcclLink::close(); }

  // Others may still be receiving data from this process. A finalized communicator waits for that.
  bool close() noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool all = end([](Comm comm) {
      Outcome outcome;
      outcome.note(nccl().finalize(comm), "ncclCommFinalize");
      outcome.note(nccl().destroy(comm), "ncclCommDestroy");
      return outcome;
    });
    release();
    return all;
  }

  void begin(const std::vector<Transfer>& transfers, const std::vector<NativeStream>& streams) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    require_open();
    bool connected = true;
    for (const Transfer& t : transfers) connected = !connected_.insert({t.member, t.peer, t.sends}).second && connected;
    if (!connected)
      return calls_.start([comms = comms_, context = devices_[0].context, transfers, streams] {
        return group(*comms, context, transfers, streams);
      });
    const Outcome outcome = group(*comms_, devices_[0].context, transfers, streams);
    check_nccl(outcome.result, outcome.call);
  }

  bool ready() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    require_open();
    if (!calls_.over()) return false;
    for (Comm comm : *comms_) {
      int state = kSuccess;
      check_nccl(nccl().async_error(comm, &state), "ncclCommGetAsyncError");
      check_nccl(state, "ncclCommGetAsyncError");
    }
    return true;
  }

  bool abort() noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return end([](Comm comm) { return Outcome{nccl().abort(comm), "ncclCommAbort"}; });
  }

 private:
  void require_open() const {
    if (left_behind_ || comms_->empty())
      fail(GPUMEM_PEER_LOST, "the link between the devices was ended after an error");
  }

  // The last owner, the link or an abandoned call, destroys the remaining communicators.
  struct Comms : std::vector<Comm> {
    Comms() = default;
    Comms(const Comms&) = delete;
    Comms& operator=(const Comms&) = delete;
    ~Comms() {
      for (Comm comm : *this) {
        if (comm != nullptr) nccl().abort(comm);
      }
    }
  };
  struct Device {
    CUcontext context;
    int32_t ordinal;
  };

  static Outcome group(const Comms& comms, CUcontext context, const std::vector<Transfer>& transfers,
                       const std::vector<NativeStream>& streams) {
    const DeviceScope scope(context);
    Outcome outcome;
    outcome.note(nccl().group_start(), "ncclGroupStart");
    for (const Transfer& t : transfers) {
      const auto stream = static_cast<cudaStream_t>(streams[t.member]);
      if (t.sends)
        outcome.note(nccl().send(t.p, t.bytes, kChar, t.peer, comms[t.member], stream), "ncclSend");
      else
        outcome.note(nccl().recv(t.p, t.bytes, kChar, t.peer, comms[t.member], stream), "ncclRecv");
    }
    outcome.note(nccl().group_end(), "ncclGroupEnd");
    return outcome;
  }

  void open(const LinkId& id, const std::vector<int32_t>& ordinals, int32_t first, int32_t all) {
    for (const int32_t ordinal : ordinals) {
      CUcontext context = nullptr;
      check_cuda(static_cast<cudaError_t>(driver_api().primary_retain(&context, ordinal)), "cuDevicePrimaryCtxRetain");
      devices_.push_back({context, ordinal});
    }
    comms_->resize(devices_.size());
    calls_.start([comms = comms_, devices = devices_, id, first, all] {
      Config config;
      Outcome outcome;
      outcome.note(nccl().group_start(), "ncclGroupStart");
      for (size_t i = 0; i < comms->size(); ++i) {
        const DeviceScope scope(devices[i].context);
        const int rank = first + static_cast<int32_t>(i);
        outcome.note(nccl().init_rank(&(*comms)[i], all, id, rank, &config), "ncclCommInitRankConfig");
      }
      const DeviceScope scope(devices[0].context);
      outcome.note(nccl().group_end(), "ncclGroupEnd");
      return outcome;
    });
  }

  // Calls f for each communicator, unless a pending call uses them. False: a call does not return.
  template <class F>
  bool end(const F& f) noexcept {
    if (left_behind_) return false;
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto end = now() + kPatience;
    bool all = calls_.return_by(end);
    try {
      for (size_t i = 0; all && i < comms_->size(); ++i) {
        Comm& comm = (*comms_)[i];
        if (comm != nullptr) calls_.start([f, ended = comm] { return f(ended); });
        comm = nullptr;
      }
      if (all) comms_->clear();
    } catch (const std::exception&) {
      all = false;
    }
    left_behind_ = !calls_.return_by(std::max(end, now() + kPatience / 2)) || !all;
    if (left_behind_) wait_at_exit();
    return !left_behind_;
  }
  void release() noexcept {
    if (left_behind_) return;  // the threads use the devices' contexts
    for (const Device& device : devices_) static_cast<void>(driver_api().primary_release(device.ordinal));
    devices_.clear();
  }

  std::mutex mutex_;  // a thread that watches transfers may abort the link
  std::vector<Device> devices_;
  const std::shared_ptr<Comms> comms_ = std::make_shared<Comms>();  // one per participant here; empty after abort()
  std::set<std::tuple<size_t, int32_t, bool>> connected_;           // participant, peer and direction
  Calls calls_;
  bool left_behind_ = false;
};

}  // namespace

// Searches again on failure, because the library may be present the next time.
std::string why_no_link() {
  if (g_nccl.load(std::memory_order_acquire) != nullptr) return {};
  const Api api = load_nccl();
  if (api.lacking.empty()) made_once(g_nccl, [&] { return api; });
  return api.lacking;
}

std::string bus_id(int32_t ordinal) {
  char id[32] = {};
  GPUMEM_CUDA(cudaDeviceGetPCIBusId(id, sizeof id, ordinal));
  return id;
}

LinkId make_link_id() {
  LinkId id{};
  check_nccl(nccl().get_unique_id(&id), "ncclGetUniqueId");
  return id;
}

std::unique_ptr<Link> begin_link(const LinkId& id, const std::vector<int32_t>& ordinals, int32_t first, int32_t all) {
  return std::make_unique<NcclLink>(id, ordinals, first, all);
}

}  // namespace gpumem
