#include "dist/background.hpp"

#include <cstdio>
#include <memory>
#include <thread>

#include "base/scope_exit.hpp"

namespace gpumem {

namespace {

// A link that waits for another process would block the next call if its queue were full.
constexpr int kMostWatched = 8;
constexpr auto kNap = std::chrono::microseconds(50);

Error of_earlier_call() {
  const Error error = current_error();
  char sentence[512];
  std::snprintf(sentence, sizeof sentence, "an exchange that was enqueued before: %.460s", error.what());
  return {error.status(), sentence};
}

}  // namespace

struct Background::Run {
  Exchange& exchange;
  int64_t plan;
  Exchange::Operands operands;
};

Background::Background(const Group& group) : group_(group) {
  ScopeExit undo([this]() noexcept { end(); });
  queue_ = host().create_side_stream();
  for (Context* context : group.contexts) {
    work_.push_back({context->device().create_side_stream(), nullptr});
    work_.back().cache = &context->device_memory().open(work_.back().stream);
  }
  earlier_.emplace(group.contexts);
  done_.emplace(host());
  undo.release();
}

Background::~Background() { end(); }

// The runs are over before the memory and the streams that they use.
void Background::end() noexcept {
  if (queue_ != nullptr) {
    host().finish_stream(queue_);
    host().destroy_stream(queue_);
  }
  for (size_t i = 0; i < work_.size(); ++i) {
    Context& context = *group_.contexts[i];
    // After an error, a device may still be at work on them.
    if (work_[i].cache != nullptr) context.device_memory().close(*work_[i].cache, group_.wire == nullptr);
    context.device().destroy_stream(work_[i].stream);
  }
}

void Background::finish() noexcept { host().finish_stream(queue_); }

void Background::run(const Run& what) noexcept {
  try {
    group_.communicator.require_sound();
    group_.communicator.begin_call(CallKind::execute, what.plan, true);
    what.exchange.run_on(work_, what.operands);
  } catch (...) {
    group_.communicator.give_up(of_earlier_call());
  }
}

// The operands are looked up here: the program may free them in the order of a stream that waits for the run.
void Background::enqueue(Exchange& exchange, int64_t plan, const void* const* src, void* const* dst,
                         const Exchange::ReadStreams& read_streams) {
  const size_t members = group_.contexts.size();
  std::vector<NativeStream> streams;
  try {
    streams = read_streams();
    const auto what = std::make_shared<Run>(Run{exchange, plan, exchange.look_up_all(src, dst, "src")});
    for (size_t i = 0; i < members; ++i) {
      earlier_->of(i).record(streams[i]);
      host().wait_event(queue_, earlier_->of(i).native());
    }
    host().waiting_callback(queue_, [this, what] { run(*what); });
  } catch (const std::exception&) {
    finish();
    group_.communicator.require_sound();
    group_.communicator.begin_call(CallKind::execute, plan);
    group_.communicator.give_up(current_error());
    throw;
  }
  try {
    done_->record(queue_);
    for (size_t i = 0; i < members; ++i) done_->wait(*group_.contexts[i], streams[i]);
  } catch (const std::exception&) {
    finish();
    throw;
  }
}

void Background::watch(const Exchange::Progress& progress) noexcept {
  try {
    wait_for(progress, progress.fences.size(), group_);
  } catch (...) {
    group_.communicator.stick(of_earlier_call());
    group_.wire->link->abort();  // the streams go on
  }
}

void Background::enqueue_linked(Exchange& exchange, int64_t plan, const void* const* src, void* const* dst,
                                const Exchange::ReadStreams& read_streams) {
  while (watched_.load() >= kMostWatched) std::this_thread::sleep_for(kNap);
  group_.communicator.require_sound();
  group_.communicator.begin_call(CallKind::execute, plan);
  const auto progress = std::make_shared<Exchange::Progress>();
  exchange.enqueue_linked(work_, src, dst, read_streams, *progress);
  ++watched_;
  try {
    host().waiting_callback(queue_, [this, progress] {
      watch(*progress);
      --watched_;
    });
  } catch (const std::exception&) {
    watch(*progress);
    --watched_;
    throw;
  }
  if (progress->blocks.empty()) return;
  finish();  // their release waits for the streams, which only the thread ends
  progress->blocks.clear();
}

}  // namespace gpumem
