#include "dist/device_transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {
namespace {

// Equal in all containers of a machine, and different on other machines.
std::string this_machine() {
  char name[256] = {};
  read_beginning("/proc/sys/kernel/random/boot_id", name, sizeof name);
  if (name[0] == '\0' && gethostname(name, sizeof name - 1) != 0) return {};
  return {name, std::strcspn(name, "\n")};
}

bool is_turned_off() {
  const char* asked = ::secure_getenv("GPUMEM_DIST_LINK");
  if (asked == nullptr || *asked == '\0') return false;
  if (std::strcmp(asked, "staged") == 0) return true;
  fail(GPUMEM_INVALID_ARGUMENT, "the environment's GPUMEM_DIST_LINK is '%s'; expected staged, or no such variable",
       asked);
}

// Describes the devices of this process's participants; empty if it can't or must not have a link.
Bytes offer_link(const std::vector<Context*>& contexts) {
  const bool off = is_turned_off();
  Bytes offer;
  try {
    const auto on_cuda = [](const Context* context) { return context->on_cuda(); };
    if (off || !std::all_of(contexts.begin(), contexts.end(), on_cuda)) return {};
    if (const std::string why = why_no_link(); !why.empty()) {
      contexts[0]->log.write(GPUMEM_LOG_INFO, "pieces between processes go through host memory: %s", why.c_str());
      return {};
    }
    const std::string machine = this_machine();
    for (Context* context : contexts) {
      const std::string place = machine + " " + bus_id(context->device().props().ordinal);
      put_part(offer, Bytes(place.begin(), place.end()));
    }
  } catch (const std::exception&) {
    return {};
  }
  return offer;
}

bool can_join(const std::vector<Bytes>& offers, const Members& members) {
  std::vector<Bytes> places;
  for (size_t i = 0; i < offers.size(); ++i) {
    if (offers[i].empty()) return false;
    const auto process = static_cast<int32_t>(i);
    for (Reader reader(offers[i], process); !reader.empty();) {
      places.push_back(reader.take_part());
      if (members.process_of(static_cast<int32_t>(places.size()) - 1) == process) continue;
      fail(GPUMEM_PEER_LOST, "process %d tells the place of another number of members than it has", process);
    }
  }
  std::sort(places.begin(), places.end());
  return places.size() == static_cast<size_t>(members.all()) &&
         std::adjacent_find(places.begin(), places.end()) == places.end();
}

// Takes half of the deadline, so that processes waiting for this one do not reach theirs.
void wait_until_ready(Link& link, Communicator& communicator) {
  const auto end = std::chrono::steady_clock::now() + communicator.deadline() / 2;
  communicator.begin_deadline();
  while (!link.ready()) {
    if (std::chrono::steady_clock::now() > end)
      throw Error(GPUMEM_TIMED_OUT, "its communicator did not come up in time");
    communicator.pause();
  }
}

}  // namespace

DeviceTransport::DeviceTransport(std::unique_ptr<Link> joined, const std::vector<Context*>& contexts)
    : link(std::move(joined)), contexts_(contexts) {
  ScopeExit undo([this]() noexcept { end_streams(); });
  for (Context* context : contexts) {
    Backend& device = context->device();
    ready.emplace_back(device);
    for (auto& fences : done) fences.emplace_back(device);
    streams.push_back(device.create_side_stream());
  }
  undo.release();
}

// The link ends first, because it ends its work on the streams. Streams that it may still use are never destroyed.
DeviceTransport::~DeviceTransport() {
  if (link->close()) end_streams();
}

void DeviceTransport::end_streams() noexcept {
  for (size_t i = 0; i < streams.size(); ++i) contexts_[i]->device().destroy_stream(streams[i]);
}

std::unique_ptr<DeviceTransport> join_link(Communicator& communicator, const std::vector<Context*>& contexts,
                                           const Members& members) {
  if (communicator.alone()) {
    static_cast<void>(is_turned_off());  // checks the value
    return nullptr;
  }
  if (!can_join(communicator.all_gather([&] { return offer_link(contexts); }), members)) return nullptr;
  std::optional<Error> failed;
  const std::vector<Bytes> ids = communicator.all_gather([&] {
    Bytes mine;
    try {
      if (communicator.rank() == 0) put(mine, make_link_id());
    } catch (const std::exception&) {
      failed = current_error();  // all processes learn that it failed
    }
    return mine;
  });
  std::unique_ptr<DeviceTransport> wire;
  if (!ids[0].empty()) {
    std::unique_ptr<Link> link;
    try {
      std::vector<int32_t> ordinals;
      ordinals.reserve(contexts.size());
      for (Context* context : contexts) ordinals.push_back(context->device().props().ordinal);
      link = begin_link(Reader(ids[0], 0).take<LinkId>(), ordinals, members.first(), members.all());
      wait_until_ready(*link, communicator);
      wire = std::make_unique<DeviceTransport>(std::move(link), contexts);
    } catch (const std::exception&) {
      failed = current_error();
      if (link) link->abort();
    }
  }
  const std::vector<Bytes> outcomes = communicator.all_gather([&] {
    Bytes mine;
    put(mine, static_cast<uint8_t>(wire != nullptr));
    return mine;
  });
  const auto joined = [](const Bytes& outcome) { return Reader(outcome).take<uint8_t>() == 1; };
  if (std::all_of(outcomes.begin(), outcomes.end(), joined)) return wire;
  if (wire) wire->link->abort();
  contexts[0]->log.write(GPUMEM_LOG_WARNING, "pieces between processes go through host memory: %s",
                         failed ? failed->what() : "NCCL failed on another process");
  return nullptr;
}

}  // namespace gpumem
