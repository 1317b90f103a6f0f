// After the device is lost, each function says so, or what it says has nothing to do with the device; and everything can be destroyed.
// After a reset, a new context works. A lost device is lost for the process, so each call has one of its own; no CUDA is used in this one.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/each_call.hpp"
#include "fault/lost_device.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

constexpr int kMostSeconds = 60;  // of one call: longer is a hang

// Functions that do nothing with the device.
const std::set<std::string_view> kWithoutDevice = {
    "ctx_destroy",    "ctx_device",   "ctx_set_log",    "memory_stats",   "memory_trace",
    "memory_used_on", "profile_end",  "profile_report", "profile_write",  "tuning_load",
    "tuning_save",    "tuning_clear", "variant_force",  "stream_destroy", "event_destroy",
};
// And those that can do theirs, or refuse an argument, before the device would be asked: on a context that knows, they say so too.
const std::set<std::string_view> kBeforeTheDevice = {
    "alloc_device",  // from memory that the pool has free
    "explain",        "free",          "free_async",    "host_register",    "host_unregister",
    "managed_advise", "memory_label",  "managed_query", "managed_prefetch", "managed_prefetch_async",
    "memory_check",   "pointer_query", "stream_wrap",   "stream_native",    "tune",
};

// By a fault that the library learns of by the call, or has met before; by a reset, which every call finds out about by itself.
enum class Lost { found_by_the_call, found_before, reset };

// The calls of all three lists, one after the other; "" after the last.
std::pair<std::string, CallOnce> call_of(Objects& objects, size_t number) {
  std::pair<std::string, CallOnce> found;
  const auto look = [&](const auto& calls, auto* handle) {
    if (number < calls.size()) {
      found = {calls[number].name, [call = calls[number], handle] { return call.run(handle); }};
      number = SIZE_MAX;
    } else if (number != SIZE_MAX) {
      number -= calls.size();
    }
  };
  look(calls_with_context(objects.out), objects.ctx);
  look(calls_with_stream(objects.ctx, objects.event, objects.out), objects.stream);
  look(calls_with_event(objects.ctx, objects.event, objects.out), objects.later_event);
  return found;
}

// What a call reads and writes, in memory of the device.
bool move_to_device(Objects& objects) {
  void* p = nullptr;
  const Operands here;
  if (gpumem_alloc_device(objects.ctx, 4096, &p) != GPUMEM_OK) return false;
  if (gpumem_copy(objects.ctx, static_cast<char*>(p) + 2048, &here, sizeof here) != GPUMEM_OK) return false;
  objects.out.bytes = static_cast<unsigned char*>(p);
  objects.out.results = reinterpret_cast<int64_t*>(objects.out.bytes + 1024);
  operands() = reinterpret_cast<const Operands*>(objects.out.bytes + 2048);
  return true;
}

// All kinds of things that a context has, all of them used.
struct Belongings {
  gpumem_stream* borrowed = nullptr;
  void* p = nullptr;
  std::vector<char> heap = std::vector<char>(1 << 20);
  std::vector<char> registered = std::vector<char>(1 << 16);
  gpumem_dist* dist = nullptr;
  gpumem_dist_plan* plan = nullptr;

  bool acquire(Objects& objects) {
    gpumem_ctx* const ctx = objects.ctx;
    gpumem_ctx* const contexts[] = {ctx, ctx};
    gpumem_dist_options options;
    gpumem_dist_layout layout;
    gpumem_dist_options_init(&options, sizeof options);
    gpumem_dist_layout_init(&layout, sizeof layout);
    options.contexts = contexts;
    options.members = 2;
    const int64_t extent = 4, lower[] = {0, 2}, upper[] = {2, 4};
    layout.element_bytes = 4;
    layout.rank = 1;
    layout.extents = &extent;
    layout.boxes = 2;
    layout.lower = lower;
    layout.upper = upper;
    const auto bytes = static_cast<int64_t>(heap.size());
    int64_t sum = 0;
    const gpumem_status statuses[] = {
        gpumem_profile_begin(ctx, 16),
        gpumem_stream_wrap(ctx, nullptr, &borrowed),
        gpumem_alloc_pinned(ctx, 64, &p),
        gpumem_alloc_managed(ctx, 64, &p),
        gpumem_host_register(ctx, registered.data(), static_cast<int64_t>(registered.size())),
        gpumem_alloc_async(ctx, bytes, 256, objects.stream, &p),
        gpumem_memory_used_on(ctx, p, borrowed),
        gpumem_copy_async(ctx, p, heap.data(), bytes, objects.stream),
        gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<const int32_t*>(p), bytes / 4, 1, &sum),
        run_async(ctx, sound_resize(objects.out.bytes), borrowed),
        gpumem_event_record(ctx, objects.event, borrowed),
        gpumem_dist_create(&options, &dist),
        gpumem_dist_plan_reduce(dist, &layout, nullptr, &plan),
        gpumem_dist_plan_destroy(plan),
        gpumem_dist_plan_redistribute(dist, &layout, &layout, nullptr, nullptr, &plan),
    };
    return std::ranges::all_of(statuses, [](gpumem_status status) { return status == GPUMEM_OK; });
  }
  gpumem_status destroy() const {
    gpumem_status worst = GPUMEM_OK;
    for (const gpumem_status status :
         {gpumem_dist_plan_destroy(plan), gpumem_dist_destroy(dist), gpumem_stream_destroy(borrowed)}) {
      if (status != GPUMEM_OK) worst = status;
    }
    return worst;
  }
};

// On a context of its own.
gpumem_status add_up() {
  const gpumem_ctx_options options = options_for(On::cuda, 2);
  std::vector<int32_t> ones(1 << 18, 1);
  const auto bytes = static_cast<int64_t>(ones.size() * sizeof ones[0]);
  gpumem_ctx* ctx = nullptr;
  void* p = nullptr;
  int64_t sum = 0;
  gpumem_status status = gpumem_ctx_create(&options, &ctx);
  const auto then = [&](gpumem_status next) { status = status == GPUMEM_OK ? next : status; };
  if (status == GPUMEM_OK) then(gpumem_host_register(ctx, ones.data(), bytes));
  if (status == GPUMEM_OK) then(gpumem_alloc_device(ctx, bytes, &p));
  if (status == GPUMEM_OK) then(gpumem_copy(ctx, p, ones.data(), bytes));
  if (status == GPUMEM_OK) then(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), 1 << 18, 1, &sum));
  if (status == GPUMEM_OK) then(sum == 1 << 18 ? GPUMEM_OK : GPUMEM_INTERNAL);
  if (status == GPUMEM_OK) then(gpumem_free(ctx, p));
  if (status == GPUMEM_OK) then(gpumem_host_unregister(ctx, ones.data()));
  then(gpumem_ctx_destroy(ctx));
  return status;
}

// Ends by the status of what could not be destroyed.
gpumem_status destroy_all(Objects& objects, const std::string& name) {
  gpumem_status worst = GPUMEM_OK;
  const auto note = [&](gpumem_status status, const char* destroyer) {
    if (status == GPUMEM_OK || (status == GPUMEM_INVALID_HANDLE && name == destroyer)) return;
    worst = status;
  };
  note(gpumem_stream_destroy(objects.stream), "stream_destroy");
  note(gpumem_event_destroy(objects.event), "event_destroy");
  note(gpumem_event_destroy(objects.later_event), "event_destroy");
  if (name == "stream_create" || name == "stream_wrap") gpumem_stream_destroy(objects.out.stream);
  if (name == "event_create") gpumem_event_destroy(objects.out.event);
  note(gpumem_ctx_destroy(objects.ctx), "ctx_destroy");
  return worst;
}

// One line to the parent: the call's name and its two statuses, what destroying gave and a new context, and the sentence.
void try_call(size_t number, Lost how, FILE* out) {
  auto& objects = *new Objects(On::cuda);  // what is left of it is the process's
  if (!move_to_device(objects)) return void(std::fprintf(out, "no device memory\n"));
  const auto [name, call] = call_of(objects, number);
  if (name.empty()) return void(std::fprintf(out, "end\n"));
  auto& belongings = *new Belongings;
  const bool is_reset = how == Lost::reset;
  if (is_reset && !belongings.acquire(objects)) return void(std::fprintf(out, "not all can be made\n"));
  is_reset ? reset_device() : lose_device();
  if (how == Lost::found_before) gpumem_ctx_synchronize(objects.ctx);
  const gpumem_status first = call();
  const std::string sentence = first == GPUMEM_OK ? "" : last_error();
  const gpumem_status second = first == GPUMEM_OK ? first : call();
  const gpumem_status before = is_reset ? add_up() : GPUMEM_OK;  // while the lost context is still there
  gpumem_status ended = belongings.destroy();
  if (const gpumem_status rest = destroy_all(objects, name); rest != GPUMEM_OK) ended = rest;
  const gpumem_status after = is_reset && before == GPUMEM_OK ? add_up() : before;
  std::fprintf(out, "%s %d %d %d %d %s\n", name.c_str(), first, second, ended, after, sentence.c_str());
}

// The child's line; "" for a child that ended without one, "hangs" for one that did not end.
template <class F>
std::string line_of_child(const F& f) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    FILE* const out = fdopen(ends[1], "w");
    f(out);
    std::fflush(out);
    _exit(0);
  }
  close(ends[1]);
  pollfd wait{ends[0], POLLIN, 0};
  char line[1024] = {};
  const bool ended = poll(&wait, 1, kMostSeconds * 1000) > 0;
  if (!ended) kill(child, SIGKILL);
  const ssize_t length = read(ends[0], line, sizeof line - 1);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return ended ? std::string(line, static_cast<size_t>(std::max<ssize_t>(length, 0))) : "hangs";
}

// Found out in a process of its own.
bool has_device() {
  const pid_t child = fork();
  if (child == 0) _exit(cuda_devices() > 0 ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

class LostDevice : public testing::TestWithParam<Lost> {};

TEST_P(LostDevice, EachCallSaysSoAndEverythingEnds) {
  if (!has_device()) GTEST_SKIP() << "there is no GPU";
  int64_t calls = 0;
  const size_t step = quick_run() ? 7 : 1;
  for (size_t number = 0;; number += step) {
    const std::string line = line_of_child([&](FILE* out) { try_call(number, GetParam(), out); });
    if (line == "end\n") break;
    char name[64] = {};
    int first = -1;
    int second = -1;
    int ended = -1;
    int after = -1;
    ASSERT_EQ(std::sscanf(line.c_str(), "%63s %d %d %d %d", name, &first, &second, &ended, &after), 5)
        << number << ": " << line;
    const bool lost = first == GPUMEM_DEVICE_FAULT && second == GPUMEM_DEVICE_FAULT;
    const bool may =
        kWithoutDevice.count(name) != 0 || (GetParam() == Lost::found_by_the_call && kBeforeTheDevice.count(name) != 0);
    EXPECT_TRUE(lost || may) << line;
    EXPECT_EQ(ended, GPUMEM_OK) << "destroying after " << line;
    EXPECT_EQ(after, GPUMEM_OK) << "a new context after " << line;
    if (!lost) std::printf("without the device: %s", line.c_str());
    ++calls;
  }
  std::printf("%lld calls, each in a process of its own\n", static_cast<long long>(calls));
  EXPECT_GT(calls, quick_run() ? 20 : 150);
}

INSTANTIATE_TEST_SUITE_P(Found, LostDevice, testing::Values(Lost::found_by_the_call, Lost::found_before, Lost::reset),
                         [](const auto& how) {
                           return how.param == Lost::reset          ? "after_a_reset"
                                  : how.param == Lost::found_before ? "before"
                                                                    : "by_the_call";
                         });

// The sentence says what has happened, the status sticks, and the process's own context of the device is made anew.
void look_at_a_reset(FILE* out) {
  const int32_t device = 0;
  gpumem_ctx* shared = nullptr;
  gpumem_ctx* again = nullptr;
  void* const p = gpumem_cupy_malloc(nullptr, 4096, device);
  const bool made = p != nullptr && gpumem_shared_ctx(device, &shared) == GPUMEM_OK;
  reset_device();
  const gpumem_status status = gpumem_ctx_status(shared);
  const std::string sentence = last_error();
  gpumem_cupy_free(nullptr, p, device);
  void* const q = gpumem_cupy_malloc(nullptr, 4096, device);
  const bool anew = q != nullptr && gpumem_shared_ctx(device, &again) == GPUMEM_OK && again != shared;
  gpumem_cupy_free(nullptr, q, device);
  std::fprintf(out, "%d %d %d %d %s\n", made, status, anew, gpumem_ctx_status(shared), sentence.c_str());
}

TEST(ResetDevice, IsToldAndTheProcessHasANewContext) {
  if (!has_device()) GTEST_SKIP() << "there is no GPU";
  const std::string line = line_of_child(look_at_a_reset);
  EXPECT_EQ(line.find("1 203 1 203 "), 0u) << line;
  EXPECT_NE(line.find("was reset"), std::string::npos) << line;
}

}  // namespace
}  // namespace gpumem_test
