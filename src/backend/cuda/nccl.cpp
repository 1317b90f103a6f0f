// NCCL as a link (NCCL User Guide, "Creating a communicator with options", "Group Calls", "Fault Tolerance"). It is loaded where a program
// needs it, and stays. Communicators don't block: what is not done at once is ncclInProgress, which is polled.
#include <dlfcn.h>

#include <climits>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "backend/cuda/cuda_check.hpp"
#include "backend/link.hpp"
#include "base/error.hpp"
#include "base/quiet_thread.hpp"

namespace gpumem {
namespace {

// nccl.h, as far as it is used.
using Comm = struct ncclComm*;
constexpr int kSuccess = 0;
constexpr int kInProgress = 7;
constexpr int kChar = 0;
constexpr int kOldest = 21800;  // 2.18.0
constexpr int kUndefined = INT_MIN;

// As of 2.18, which all later versions take.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21801;
  int blocking = 0;
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
  std::string lacking;  // why it can't be used
};

Api load() {
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

const Api& nccl() {
  static const Api& api = *std::make_unique<Api>(load()).release();  // threads may outlive main()
  return api;
}

void check_nccl(int result, const char* call) {
  if (result == kSuccess || result == kInProgress) return;
  fail(GPUMEM_PEER_LOST, "%s: %s", call, nccl().error_string(result));
}

// f in a thread for each communicator. False: one did not come back in time, and its thread is left behind.
template <class F>
bool all_return(const std::vector<Comm>& comms, std::chrono::milliseconds time, const F& f) noexcept {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    size_t left;
  };
  try {
    const auto state = std::make_shared<State>();
    state->left = comms.size();
    for (Comm comm : comms) {
      quiet_thread([state, comm, f] {
        f(comm);
        const std::lock_guard<std::mutex> lock(state->mutex);
        --state->left;
        state->changed.notify_all();
      }).detach();
    }
    std::unique_lock<std::mutex> lock(state->mutex);
    return state->changed.wait_for(lock, time, [&] { return state->left == 0; });
  } catch (const std::exception&) {
    return false;
  }
}

constexpr std::chrono::milliseconds kPatience{1000};

int state_of(Comm comm) noexcept {
  int state = kSuccess;
  const int asked = nccl().async_error(comm, &state);
  return asked == kSuccess ? state : asked;
}

class NcclLink final : public Link {
 public:
  NcclLink(const LinkId& id, const std::vector<int32_t>& ordinals, int32_t first, int32_t all) {
    try {
      open(id, ordinals, first, all);
    } catch (...) {
      abort();
      release();
      throw;
    }
  }
  // The others may still be at work on what this process has sent: a finalized communicator waits for that, and no longer than it may.
  ~NcclLink() override {
    if (!comms_.empty() && !all_return(comms_, kPatience, [](Comm comm) {
          const auto end = std::chrono::steady_clock::now() + kPatience / 2;
          int result = nccl().finalize(comm);
          while (result == kInProgress && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            result = state_of(comm);
          }
          return result == kSuccess ? nccl().destroy(comm) : nccl().abort(comm);
        })) {
      left_behind_ = true;
    }
    release();
  }

  void begin(const std::vector<Transfer>& transfers, const std::vector<NativeStream>& streams) override {
    const DeviceScope scope(contexts_[0].context);
    check_nccl(nccl().group_start(), "ncclGroupStart");
    int result = kSuccess;
    for (const Transfer& t : transfers) {
      const auto stream = static_cast<cudaStream_t>(streams[t.member]);
      const int begun = t.sends ? nccl().send(t.p, t.bytes, kChar, t.peer, comms_[t.member], stream)
                                : nccl().recv(t.p, t.bytes, kChar, t.peer, comms_[t.member], stream);
      if (begun != kSuccess && begun != kInProgress) result = begun;
    }
    const int ended = nccl().group_end();
    check_nccl(result, "ncclSend or ncclRecv");
    check_nccl(ended, "ncclGroupEnd");
  }

  bool ready() override {
    bool all = true;
    for (Comm comm : comms_) {
      const int state = state_of(comm);
      check_nccl(state, "ncclCommGetAsyncError");
      all = all && state == kSuccess;
    }
    return all;
  }

  bool abort() noexcept override {
    std::erase(comms_, nullptr);
    const std::vector<Comm> ended = std::exchange(comms_, {});
    const bool all = all_return(ended, kPatience, [](Comm comm) { return nccl().abort(comm); });
    left_behind_ = left_behind_ || !all;
    return all;
  }

 private:
  struct Device {
    CUcontext context;
    int32_t ordinal;
  };

  void open(const LinkId& id, const std::vector<int32_t>& ordinals, int32_t first, int32_t all) {
    for (const int32_t ordinal : ordinals) {
      CUcontext context = nullptr;
      check_cuda(static_cast<cudaError_t>(driver_api().primary_retain(&context, ordinal)), "cuDevicePrimaryCtxRetain");
      contexts_.push_back({context, ordinal});
    }
    comms_.resize(ordinals.size());
    Config config;
    check_nccl(nccl().group_start(), "ncclGroupStart");
    int result = kSuccess;
    for (size_t i = 0; i < comms_.size(); ++i) {
      const DeviceScope scope(contexts_[i].context);
      const int begun = nccl().init_rank(&comms_[i], all, id, first + static_cast<int32_t>(i), &config);
      if (begun != kSuccess && begun != kInProgress) result = begun;
    }
    const DeviceScope scope(contexts_[0].context);
    const int ended = nccl().group_end();
    check_nccl(result, "ncclCommInitRankConfig");
    check_nccl(ended, "ncclGroupEnd");
  }
  void release() noexcept {
    if (left_behind_) return;  // the threads use the devices' contexts
    for (const Device& device : contexts_) static_cast<void>(driver_api().primary_release(device.ordinal));
  }

  std::vector<Device> contexts_;
  std::vector<Comm> comms_;  // of each member here; none after abort()
  bool left_behind_ = false;
};

}  // namespace

std::string why_no_link() { return nccl().lacking; }

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
