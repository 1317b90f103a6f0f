#include "ops/profile.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/float_environment.hpp"
#include "base/limits.hpp"
#include "base/scope_exit.hpp"
#include "base/sentences.hpp"
#include "context/context.hpp"

namespace gpumem {

Profile::Profile(Context& context) : context_(context), events_(context.device(), EventPool::Of::time) {}
Profile::~Profile() { forget(); }

void Profile::forget() noexcept {
  for (Record& record : records_) record.time.give_back(events_);
  if (base_ != nullptr) events_.give_back(std::exchange(base_, nullptr));
  records_.clear();
  added_ = read_ = 0;
  folded_ = {};
}

// A new stream passes the base event at once, whatever other streams wait for.
void Profile::begin(int64_t most_records) {
  constexpr int64_t kMost = int64_t{1} << 24;
  if (most_records < 1 || most_records > kMost) {
    fail(GPUMEM_INVALID_ARGUMENT, "most_records is %lld; expected 1 to %lld", ll(most_records), ll(kMost));
  }
  end();
  const std::lock_guard<std::mutex> lock(mutex_);
  forget();
  require_available_for_call(static_cast<size_t>(most_records) * sizeof(Record));  // later calls then can't fail
  records_.reserve(static_cast<size_t>(most_records));
  most_ = static_cast<size_t>(most_records);
  Backend& device = context_.device();
  const NativeStream side = device.create_side_stream();
  const ScopeExit destroy([&] { device.destroy_stream(side); });
  base_ = events_.take();
  device.record(base_, side);
  device.synchronize_event(base_);
  start_ = CallTime::Clock::now();
  on_.store(true, std::memory_order_relaxed);
}

// Whether its time is known, or never will be.
bool Profile::read(Record& record) noexcept {
  CallTime& time = record.time;
  if (!time.awaited()) return true;
  try {
    if (!context_.device().passed(time.end)) return false;
    time.seconds = context_.device().elapsed_seconds(time.begin, time.end);
    // From the same two events as the time in a trace.
    const std::chrono::duration<double> since(context_.device().elapsed_seconds(base_, time.begin));
    time.started = start_ + std::chrono::duration_cast<CallTime::Clock::duration>(since);
  } catch (const Error&) {  // the device is lost
  }
  time.give_back(events_);
  return true;
}

void Profile::Total::add(const CallWork& work, double took) noexcept {
  ++calls;
  bytes += work.bytes;
  if (took < 0) return;
  ++timed;
  timed_bytes += work.bytes;
  seconds += took;
}

void Profile::fold(Record& record) noexcept {
  if (!read(record)) record.time.give_back(events_);  // the call still runs, so its time is dropped
  const CallWork work = work_of(record.call);
  folded_[static_cast<size_t>(work.from)][static_cast<size_t>(work.to)].add(work, record.time.seconds);
}

void Profile::add(CallTimer& timer) noexcept {
  const DefaultFloatEnvironment environment;
  Record record{last_call(), {}, 0};
  if (!timer.finish(record.time)) return;
  if (!record.time.awaited()) record.thread = ::gettid();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!on() || record.call.row < 0) {  // no work except writing a sum of 0
    return record.time.give_back(events_);
  }
  // Reads two per added record, so that unread ones do not accumulate.
  for (int i = 0; i < 2 && read_ < added_ && read(records_[read_ % most_]); ++i) ++read_;
  if (added_ < most_) {
    records_.push_back(record);
  } else {
    fold(records_[added_ % most_]);
    records_[added_ % most_] = record;
    read_ = std::max(read_, added_ - most_ + 1);
  }
  ++added_;
}

}  // namespace gpumem
