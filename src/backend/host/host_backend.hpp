// The backend interface, implemented on the host's processors.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/host_queue.hpp"
#include "backend/host/mappings.hpp"
#include "backend/host/parallel.hpp"
#include "backend/host/reduce.hpp"

namespace gpumem {

// The pages of a large workspace, which the next call uses again: their first touch takes longer than many a task.
class KeptPages {
 public:
  struct Pages {
    void* p = nullptr;
    size_t bytes = 0;
  };
  KeptPages() = default;
  ~KeptPages() { trim(0); }
  KeptPages(const KeptPages&) = delete;
  KeptPages& operator=(const KeptPages&) = delete;

  Pages take(size_t bytes);  // at least so many
  void give_back(Pages pages) noexcept;
  void trim(size_t keep_bytes) noexcept;

 private:
  std::mutex mutex_;
  Pages kept_;
};

class HostBackend final : public Host {
 public:
  explicit HostBackend(const HostOptions& options);

  const DeviceProps& props() const noexcept override { return props_; }
  void warmup() override;

  Location classify(const void* p) override;
  Location classify_unreachable(const void* p) noexcept override;
  void* allocate(gpumem_memory_kind kind, size_t bytes) override;
  void release(gpumem_memory_kind kind, void* p, size_t bytes) noexcept override;
  void* allocate_async(NativeStream stream, size_t bytes) override;
  void release_async(NativeStream stream, void* p, size_t bytes) noexcept override;
  std::shared_ptr<void> scratch(NativeStream stream, size_t bytes) override;
  void read_all(NativeStream stream, const void* p, size_t bytes, int32_t blocks) override;
  void make_resident(void* p, size_t bytes) noexcept override;
  void trim(size_t keep_bytes) noexcept override { kept_pages_.trim(keep_bytes); }

  const void* hole(const void* p, size_t bytes, size_t gap, bool writable) noexcept override {
    return host_hole(mappings_, p, bytes, gap, writable);
  }

  void move_part(const CopyParams& block, int64_t first, int64_t last, bool around_caches) noexcept override;
  void parallel(int64_t tasks, gpumem_task_fn task, void* state) noexcept override;

  ReduceNode reduce(NativeStream stream, const ReduceParams& params, const Configured<ReduceParams>& planned) override;
  void reduce_async(NativeStream stream, const ReduceParams& params, const Configured<ReduceParams>& planned) override;
  gpumem_status reduce_lines(NativeStream stream, const ReduceAxisParams& params,
                             const Configured<ReduceAxisParams>& planned, Completion completion) override;
  gpumem_status reduce_lines(NativeStream stream, const ReduceSegmentsParams& params,
                             const Configured<ReduceSegmentsParams>& planned, Completion completion) override;
  BadIndex gather_scatter(NativeStream stream, NamedRows named, const GatherScatterParams& params,
                          const Configured<GatherScatterParams>& planned, Completion completion) override;
  void launch(NativeStream stream, const AnyWork& work, Completion completion) override;

  NativeStream own_stream() noexcept override { return &own_queue_; }
  NativeStream create_stream() override;
  void finish_stream(NativeStream stream) noexcept override;
  void destroy_stream(NativeStream stream) noexcept override;
  NativeStream wrap_stream(void* native) override;
  void synchronize(NativeStream stream) override;
  void synchronize_device() override { own_queue_.drain(); }
  void await_order() override { own_queue_.drain(); }
  bool idle(NativeStream stream) override;
  void host_callback(NativeStream stream, HostTask task) override;
  void waiting_callback(NativeStream stream, HostTask task) override;
  NativeEvent create_event() override;
  void destroy_event(NativeEvent event) noexcept override;
  void record(NativeEvent event, NativeStream stream) override;
  void wait_event(NativeStream stream, NativeEvent event) override;
  void synchronize_event(NativeEvent event) override;
  bool passed(NativeEvent event) override;
  double elapsed_seconds(NativeEvent start, NativeEvent end) override;

 private:
  // Runs f now in this thread (complete, or no stream), or later in the stream.
  template <class F>
  void submit(NativeStream stream, Completion completion, F f) {
    if (stream == nullptr) {
      run_watched(f);
    } else if (completion == Completion::blocking) {
      static_cast<HostQueue*>(stream)->run([&] { run_watched(f); });
    } else {
      const WatchedLaunch launch(stream);
      static_cast<HostQueue*>(stream)->enqueue(std::move(f));
    }
  }
  template <class F>
  static void run_watched(F& f) {
    LaunchWatch* const watch = launch_watch();
    if (watch == nullptr) return f();
    const auto begin = LaunchWatch::Clock::now();
    f();
    watch->ran(begin, LaunchWatch::Clock::now());
  }

  // Runs f when the stream's work so far is done.
  template <class F>
  void after_work(NativeStream stream, const F& f) noexcept {
    auto* const queue = static_cast<HostQueue*>(stream);
    if (queue == nullptr || queue->idle()) return f();
    try {
      queue->enqueue(f);
    } catch (const std::exception&) {
      queue->drain();
      f();
    }
  }

  template <class Job, class Params>
  gpumem_status run_lines(NativeStream stream, const Params& params, const Configured<Params>& planned,
                          Completion completion);

  std::shared_ptr<char[]> workspace_of(size_t bytes);

  DeviceProps props_;
  HostTeam team_;
  MappingsFile mappings_;
  KeptPages kept_pages_;  // the tasks of the queues use it
  QueueWorkers workers_;
  HostQueue own_queue_;
  std::mutex queues_mutex_;
  std::vector<std::unique_ptr<HostQueue>> queues_;  // of all streams; destroyed ones are reused
  std::vector<HostQueue*> ended_queues_;
};

}  // namespace gpumem
