// After the device is lost, each function says so, or what it says has nothing to do with the device; and everything can be destroyed.
// A lost device is lost for the process, so each call has one of its own; no CUDA is used in this one.
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
    "explain",        "free",          "free_async",    "host_register",    "host_unregister",
    "managed_advise", "memory_label",  "managed_query", "managed_prefetch", "managed_prefetch_async",
    "memory_check",   "pointer_query", "stream_wrap",   "stream_native",    "tune",
};

enum class Known : bool { no, yes };  // to the library, before the call

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

// One line to the parent: the call's name and its two statuses, what destroying gave, and the sentence.
void try_call(size_t number, Known known, FILE* out) {
  auto& objects = *new Objects(On::cuda);  // what is left of it is the process's
  if (!move_to_device(objects)) return void(std::fprintf(out, "no device memory\n"));
  const auto [name, call] = call_of(objects, number);
  if (name.empty()) return void(std::fprintf(out, "end\n"));
  lose_device();
  if (known == Known::yes) gpumem_ctx_synchronize(objects.ctx);
  const gpumem_status first = call();
  const std::string sentence = first == GPUMEM_OK ? "" : last_error();
  const gpumem_status second = first == GPUMEM_OK ? first : call();
  std::fprintf(out, "%s %d %d %d %s\n", name.c_str(), first, second, destroy_all(objects, name), sentence.c_str());
}

// The child's line; "" for a child that ended without one, "hangs" for one that did not end.
std::string in_child(size_t number, Known known) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    FILE* const out = fdopen(ends[1], "w");
    try_call(number, known, out);
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

class LostDevice : public testing::TestWithParam<Known> {};

TEST_P(LostDevice, EachCallSaysSoAndEverythingEnds) {
  if (!has_device()) GTEST_SKIP() << "there is no GPU";
  int64_t calls = 0;
  const size_t step = quick_run() ? 7 : 1;
  for (size_t number = 0;; number += step) {
    const std::string line = in_child(number, GetParam());
    if (line == "end\n") break;
    char name[64] = {};
    int first = -1;
    int second = -1;
    int ended = -1;
    ASSERT_EQ(std::sscanf(line.c_str(), "%63s %d %d %d", name, &first, &second, &ended), 4) << number << ": " << line;
    const bool lost = first == GPUMEM_DEVICE_FAULT && second == GPUMEM_DEVICE_FAULT;
    const bool may = kWithoutDevice.count(name) != 0 || (GetParam() == Known::no && kBeforeTheDevice.count(name) != 0);
    EXPECT_TRUE(lost || may) << line;
    EXPECT_EQ(ended, GPUMEM_OK) << "destroying after " << line;
    if (!lost) std::printf("without the device: %s", line.c_str());
    ++calls;
  }
  std::printf("%lld calls, each in a process of its own\n", static_cast<long long>(calls));
  EXPECT_GT(calls, quick_run() ? 20 : 150);
}

INSTANTIATE_TEST_SUITE_P(Found, LostDevice, testing::Values(Known::no, Known::yes),
                         [](const auto& known) { return known.param == Known::yes ? "before" : "by_the_call"; });

}  // namespace
}  // namespace gpumem_test
