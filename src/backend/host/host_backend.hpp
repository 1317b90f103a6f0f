// The CPU as a device: the whole seam, on the program's processors.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/host_queue.hpp"
#include "backend/host/mappings.hpp"
#include "backend/host/parallel.hpp"
#include "backend/host/reduce.hpp"
#include "backend/launchers.hpp"

namespace gpumem {

class HostBackend final : public Host {
 public:
  explicit HostBackend(const HostOptions& options);

  const DeviceProps& props() const noexcept override { return props_; }
  void check_health() override {}
  void warmup() override;

  Location classify(const void* p) override;
  void* allocate(gpumem_memory_kind kind, size_t bytes) override;
  void release(gpumem_memory_kind kind, void* p, size_t bytes) noexcept override;
  void* allocate_async(NativeStream stream, size_t bytes) override;
  void release_async(NativeStream stream, void* p, size_t bytes) noexcept override;
  bool watched() const noexcept override { return false; }
  void begin_block(void*, size_t) noexcept override {}
  void end_block(void*) noexcept override {}
  void trim(size_t) noexcept override {}         // nothing is kept
  void register_host(void*, size_t) override {}  // nothing but the host reaches it
  void unregister_host(void*) noexcept override {}
  void make_resident(void* p, size_t bytes) noexcept override;
  void prefetch(NativeStream, const void*, size_t, int32_t) override {}  // one memory: it is there already
  void prefetch_to_overwrite(NativeStream, const void*, size_t) override {}
  ManagedState managed_state(const void*, size_t) override { return {}; }
  void advise(const void*, size_t, gpumem_advice, int32_t) override {}

  void copy(NativeStream stream, void* dst, const void* src, size_t bytes, Until until) override;
  const void* hole(const void* p, size_t bytes, size_t gap, bool writable) noexcept override {
    return host_hole(mappings_, p, bytes, gap, writable);
  }

  void move_part(const CopyParams& block, int64_t first, int64_t last, bool around_caches) noexcept override;
  void parallel(int64_t tasks, gpumem_task_fn task, void* state) noexcept override;

  ReduceNode reduce(NativeStream stream, const ReduceArgs& args) override;
  void reduce_async(NativeStream stream, const ReduceArgs& args, const ReduceTarget& target) override;
  gpumem_status reduce_axis(NativeStream stream, const ReduceAxisArgs& args, Until until) override;
  gpumem_status reduce_segments(NativeStream stream, const ReduceSegmentsArgs& args, Until until) override;
  void transpose(NativeStream stream, const TransposeArgs& args, Until until) override;
  void permute(NativeStream stream, const PermuteArgs& args, Until until) override;
  void fill(NativeStream stream, const FillArgs& args, Until until) override;
  void axpby(NativeStream stream, const AxpbyArgs& args, Until until) override;
  BadIndex gather(NativeStream stream, const GatherScatterArgs& args, Until until) override;
  BadIndex scatter(NativeStream stream, const GatherScatterArgs& args, Until until) override;
  void copy_block(NativeStream stream, const CopyArgs& args, Until until) override;
  void resize(NativeStream stream, const ResizeArgs& args, Until until) override;

  NativeStream own_stream() noexcept override { return &own_queue_; }
  NativeStream create_stream() override;
  NativeStream create_side_stream() override { return create_stream(); }
  void finish_stream(NativeStream stream) noexcept override;
  void destroy_stream(NativeStream stream) noexcept override;
  NativeStream wrap_stream(void* native) override;
  void unwrap_stream(NativeStream) noexcept override {}
  void synchronize(NativeStream stream) override;
  void synchronize_device() override { own_queue_.drain(); }
  void await_order() override { own_queue_.drain(); }
  bool idle(NativeStream stream) override;
  bool capturing(NativeStream) override { return false; }
  void host_callback(NativeStream stream, std::unique_ptr<HostTask> task) override;
  NativeEvent create_event() override;
  NativeEvent create_fence() override { return create_event(); }
  void destroy_event(NativeEvent event) noexcept override;
  void record(NativeEvent event, NativeStream stream) override;
  void wait_event(NativeStream stream, NativeEvent event) override;
  void synchronize_event(NativeEvent event) override;
  bool passed(NativeEvent event) override;
  double elapsed_seconds(NativeEvent start, NativeEvent end) override;

 private:
  // Runs f on the stream: now in this thread (complete, or no stream), or later in the stream's.
  template <class F>
  void submit(NativeStream stream, Until until, F f) {
    if (stream == nullptr) {
      f();
    } else if (until == Until::complete) {
      static_cast<HostQueue*>(stream)->run(f);
    } else {
      static_cast<HostQueue*>(stream)->enqueue(f);
    }
  }

  template <class Job, class Args>
  gpumem_status run_lines(NativeStream stream, HostWay way, const Args& args, Until until);

  template <class Family>
  BadIndex move_rows(NativeStream stream, const GatherScatterArgs& args, Until until);

  void copy_now(void* dst, const void* src, size_t bytes) const noexcept;

  DeviceProps props_;
  HostTeam team_;
  MappingsFile mappings_;
  HostQueue own_queue_;
  std::mutex queues_mutex_;
  std::vector<std::unique_ptr<HostQueue>> queues_;  // of all streams; those that ended wait for another one
  std::vector<HostQueue*> ended_queues_;
};

// Launchers that stand in files of their own.
void add_copy_host_names(LauncherNames& names);
void add_axpby_host_names(LauncherNames& names);
void add_rows_host_names(LauncherNames& names);
void add_permute_host_names(LauncherNames& names);
void add_resize_host_names(LauncherNames& names);
void add_transpose_host_names(LauncherNames& names);

}  // namespace gpumem
