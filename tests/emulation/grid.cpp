#include "emulation/grid.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "emulation/fiber.hpp"
#include "emulation/report.hpp"
#include "emulation/shared_memory.hpp"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace gpumem_emulation {
namespace {

constexpr uint64_t kMostThreads = 1024;
constexpr size_t kMostShared = size_t{227} << 10;

enum class State { ready, at_barrier, in_warp, returned };

struct Thread {
  Fiber* fiber = nullptr;  // from the thread's first step to its last
  uint3 index;
  State state = State::ready;
  Site site;
  const Gathered* waits_for = nullptr;
};

struct Warp {
  uint32_t returned = 0;  // lanes; also those that were never there
  std::vector<std::unique_ptr<Gathered>> meetings;
};

// The block that runs. One at a time in a process.
struct Block {
  std::vector<Thread> threads{kMostThreads};
  std::vector<Warp> warps{kMostThreads / 32};
  std::vector<uint32_t> ready;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> idle;
  uint32_t count = 0;
  uint32_t current = 0;
  uint32_t returned = 0;
  uint32_t at_barrier = 0;
  uint32_t held = 0;
  Arrivals passed{};  // of the barrier that was passed last
  Site barrier;
  const std::function<void()>* body = nullptr;
  void* dynamic_shared = nullptr;
  unsigned number = 0;  // blocks that started before it
  alignas(16) unsigned char cluster[kClusterBytes];
  Fiber outside;
};

Block& block() {
  static Block& only = *std::make_unique<Block>().release();  // lives as long as the process
  return only;
}

std::string place(const Site& site) {
  const std::string path = site.file_name();
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(site.line());
}

bool same(const Site& a, const Site& b) {
  return a.line() == b.line() && (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

std::string name(const uint3& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

std::string here() { return "thread " + name(threadIdx) + " of block " + name(blockIdx); }

void make_ready(Block& b, uint32_t thread) {
  b.threads[thread].state = State::ready;
  b.ready.push_back(thread);
}

// Any thread that can go on becomes the current one. False: there is none.
bool choose(Block& b) {
  if (b.ready.empty()) return false;
  const uint64_t pick = shuffled(b.ready.size());
  b.current = b.ready[pick];
  b.ready[pick] = b.ready.back();
  b.ready.pop_back();
  threadIdx = b.threads[b.current].index;
  return true;
}

void live();

// The current thread's fiber; one that has not begun gets any that is idle.
Fiber& fiber_of_current(Block& b) {
  Thread& thread = b.threads[b.current];
  if (thread.fiber == nullptr) {
    if (b.idle.empty()) b.idle.push_back(b.fibers.emplace_back(std::make_unique<Fiber>(live)).get());
    thread.fiber = b.idle.back();
    b.idle.pop_back();
  }
  return *thread.fiber;
}

// Leaves the current thread, which waits, until it is chosen again.
void wait(Block& b) {
  Fiber& from = *b.threads[b.current].fiber;
  Fiber& to = choose(b) ? fiber_of_current(b) : b.outside;
  if (&to != &from) Fiber::change(from, to);
}

// A thread that has returned counts as arrived, as on hardware.
void open_barrier_if_all_came(Block& b) {
  if (b.at_barrier == 0 || b.at_barrier + b.returned != b.count) return;
  b.passed = {static_cast<int>(b.at_barrier), static_cast<int>(b.held)};
  b.at_barrier = b.held = 0;
  for (uint32_t i = 0; i < b.count; ++i) {
    if (b.threads[i].state == State::at_barrier) make_ready(b, i);
  }
}

void open_meeting_if_all_came(Block& b, Warp& warp, Gathered& meeting) {
  if (meeting.complete || (meeting.mask & ~(meeting.there | warp.returned)) != 0) return;
  meeting.complete = true;
  const auto first = static_cast<uint32_t>(&warp - b.warps.data()) * 32;
  for (uint32_t i = first; i < std::min(first + 32, b.count); ++i) {
    if (b.threads[i].state == State::in_warp && b.threads[i].waits_for == &meeting) make_ready(b, i);
  }
}

void end_current(Block& b) {
  const uint32_t me = b.current;
  b.threads[me].state = State::returned;
  b.threads[me].fiber = nullptr;
  ++b.returned;
  Warp& warp = b.warps[me / 32];
  warp.returned |= 1u << me % 32;
  for (auto& meeting : warp.meetings) {
    if (meeting->mask != 0) open_meeting_if_all_came(b, warp, *meeting);
  }
  open_barrier_if_all_came(b);
}

// What a fiber does: one thread's body after the other. A thread that never waits needs no switch.
void live() {
  Block& b = block();
  for (;;) {
    Fiber& mine = *b.threads[b.current].fiber;
    (*b.body)();
    end_current(b);
    const bool some = choose(b);
    Thread& next = b.threads[b.current];
    if (some && next.fiber == nullptr) {
      next.fiber = &mine;
      continue;
    }
    b.idle.push_back(&mine);
    Fiber::change(mine, some ? *next.fiber : b.outside);
  }
}

// The threads that wait for what never comes.
std::string waiting_threads(const Block& b) {
  std::string text;
  int listed = 0;
  for (uint32_t i = 0; i < b.count && listed < 4; ++i) {
    const Thread& thread = b.threads[i];
    if (thread.state == State::returned) continue;
    const bool first_there = std::none_of(b.threads.begin(), b.threads.begin() + i, [&](const Thread& other) {
      return other.state == thread.state && same(other.site, thread.site);
    });
    if (!first_there) continue;
    text += (listed++ == 0 ? "" : "; ") + std::string("thread ") + name(thread.index) +
            (thread.state == State::at_barrier ? " waits for the block at " : " waits for lanes of its warp at ") +
            place(thread.site);
  }
  return text;
}

void run_block(Block& b) {
  b.ready.clear();
  b.returned = b.at_barrier = b.held = 0;
  const uint32_t warps = (b.count + 31) / 32;
  for (uint32_t w = 0; w < warps; ++w) {
    const uint32_t lanes = std::min<uint32_t>(32, b.count - 32 * w);
    b.warps[w].returned = lanes == 32 ? 0 : ~uint32_t{0} << lanes;
  }
  for (uint32_t i = 0; i < b.count; ++i) {
    Thread& thread = b.threads[i];
    thread.index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
    make_ready(b, i);
  }
  choose(b);
  Fiber::change(b.outside, fiber_of_current(b));
  if (b.returned == b.count) return;
  give_up("block " + name(blockIdx) + " hangs: " + waiting_threads(b));
}

// A permutation of 0 .. count - 1 without a table: i -> (a * i + c) mod count, where a and count have no common factor.
class Order {
 public:
  explicit Order(uint64_t count) : count_(count), offset_(shuffled(count)) {
    do {
      factor_ = 1 + shuffled(count);
    } while (std::gcd(factor_, count) != 1);
  }
  uint64_t operator[](uint64_t i) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((Wide{factor_} * i + offset_) % count_);
  }

 private:
  uint64_t count_;
  uint64_t offset_;
  uint64_t factor_ = 1;
};

}  // namespace

// SplitMix64 (Steele, Lea and Flood, 2014). Called by the thread that runs a kernel alone.
uint64_t shuffled(uint64_t bound) {
  static uint64_t state = seed();
  state += 0x9E3779B97F4A7C15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{z ^ (z >> 31)} * bound >> 64);
}

bool launchable(const Kernel& kernel) {
  const auto& [function, grid, block, body, shared_bytes] = kernel;
  const bool some = grid.x > 0 && grid.y > 0 && grid.z > 0 && block.x > 0 && block.y > 0 && block.z > 0;
  return some && grid.x <= 0x7fffffff && grid.y <= 65535 && grid.z <= 65535 && block.x <= 1024 && block.y <= 1024 &&
         block.z <= 64 && uint64_t{block.x} * block.y * block.z <= kMostThreads && shared_bytes <= kMostShared;
}

void run(const Kernel& kernel) {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  Block& b = block();
  gridDim = kernel.grid;
  blockDim = kernel.block;
  b.count = kernel.block.x * kernel.block.y * kernel.block.z;
  b.body = &kernel.body;
  SharedMemory shared(kernel.function);
  std::vector<uint4> dynamic_shared((kernel.shared_bytes + sizeof(uint4) - 1) / sizeof(uint4));
  b.dynamic_shared = dynamic_shared.data();
  std::memset(b.cluster, 0, sizeof b.cluster);
  const uint64_t blocks = uint64_t{gridDim.x} * gridDim.y * gridDim.z;
  const Order order(blocks);
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t at = order[i];
    b.number = static_cast<unsigned>(i);
    blockIdx = {static_cast<unsigned>(at % gridDim.x), static_cast<unsigned>(at / gridDim.x % gridDim.y),
                static_cast<unsigned>(at / gridDim.x / gridDim.y)};
    shared.spoil();
    if (kernel.shared_bytes > 0) std::memset(b.dynamic_shared, SharedMemory::kPattern, kernel.shared_bytes);
    run_block(b);
  }
}

void* dynamic_shared() { return block().dynamic_shared; }

unsigned started_blocks() { return block().number; }

void* cluster_memory() { return block().cluster; }

Arrivals block_barrier(bool predicate, const Site& site) {
  Block& b = block();
  if (b.at_barrier > 0 && !same(b.barrier, site)) {
    give_up(here() + " comes to the barrier at " + place(site) + " while others wait at " + place(b.barrier));
  }
  b.barrier = site;
  ++b.at_barrier;
  b.held += predicate ? 1 : 0;
  Thread& me = b.threads[b.current];
  me.state = State::at_barrier;
  me.site = site;
  open_barrier_if_all_came(b);
  wait(b);
  return b.passed;
}

uint32_t lane() { return block().current % 32; }

Gathered& meet_warp(uint32_t mask, Exchange kind, uint64_t value, const Site& site) {
  Block& b = block();
  Thread& me = b.threads[b.current];
  Warp& warp = b.warps[b.current / 32];
  const uint32_t mine = 1u << b.current % 32;
  if ((mask & mine) == 0) give_up(here() + " is not in the mask that it gives at " + place(site));
  Gathered* meeting = nullptr;
  Gathered* unused = nullptr;
  for (auto& candidate : warp.meetings) {
    if (candidate->mask == 0) {
      unused = candidate.get();
    } else if (!candidate->complete && (candidate->mask & mask) != 0) {
      if (candidate->mask != mask || candidate->kind != kind) {
        give_up(here() + " at " + place(site) + " meets lanes with another mask or purpose at " +
                place(candidate->site));
      }
      meeting = candidate.get();
    }
  }
  if (meeting == nullptr) {
    if (unused == nullptr) unused = warp.meetings.emplace_back(std::make_unique<Gathered>()).get();
    meeting = unused;
    meeting->mask = mask;
    meeting->there = meeting->left = 0;
    meeting->complete = false;
    meeting->kind = kind;
    meeting->site = site;
  }
  meeting->there |= mine;
  meeting->value[b.current % 32] = value;
  me.state = State::in_warp;
  me.site = site;
  me.waits_for = meeting;
  open_meeting_if_all_came(b, warp, *meeting);
  wait(b);
  return *meeting;
}

void leave_warp(Gathered& gathered) {
  gathered.left |= 1u << lane();
  if (gathered.left == gathered.there) gathered.mask = 0;
}

}  // namespace gpumem_emulation
