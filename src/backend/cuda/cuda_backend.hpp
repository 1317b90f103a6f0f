// The CUDA backend. Every call runs inside a DeviceScope, so the caller's current device is unchanged.
#pragma once

#include "backend/backend.hpp"
#include "backend/cuda/checker.hpp"
#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/driver_pool.hpp"
#include "backend/cuda/launch_range.hpp"
#include "backend/cuda/reduce_scratch.hpp"
#include "backend/cuda/result_slots.hpp"
#include "backend/cuda/stream_memory.hpp"
#include "base/error.hpp"
#include "kernels/gather_scatter/gather_scatter.hpp"
#include "kernels/textbook/texture_objects.hpp"

namespace gpumem {

inline cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

class CudaBackend final : public Backend {
 public:
  CudaBackend(int32_t ordinal, bool non_blocking_stream);
  ~CudaBackend() override;

  const DeviceProps& props() const noexcept override { return props_; }
  void check_health() override;
  void warmup() override;
  const char* loss() noexcept override { return primary_.is_lost() ? kLoss : nullptr; }

  Location classify(const void* p) override;
  void* allocate(gpumem_memory_kind kind, size_t bytes) override;
  void release(gpumem_memory_kind kind, void* p, size_t bytes) noexcept override;
  void* allocate_async(NativeStream stream, size_t bytes) override;
  void release_async(NativeStream stream, void* p, size_t bytes) noexcept override;
  std::shared_ptr<void> scratch(NativeStream stream, size_t bytes) override;
  bool watched() const noexcept override { return checker_.attached(); }
  void begin_block(void* p, size_t bytes) noexcept override { checker_.begin_block(p, bytes); }
  void end_block(void* p) noexcept override { checker_.end_block(p); }
  void trim(size_t keep_bytes) noexcept override;
  size_t granule_bytes() const noexcept override { return watched() ? 0 : granule_bytes_; }
  uintptr_t reserve_addresses(size_t bytes) override;
  void release_addresses(uintptr_t base, size_t bytes) noexcept override;
  void map(uintptr_t p, size_t bytes) override;
  void unmap(uintptr_t p, size_t bytes) noexcept override;
  void register_host(void* p, size_t bytes) override;
  void unregister_host(void* p) noexcept override;
  void prefetch(NativeStream stream, const void* p, size_t bytes, int32_t device) override;
  void prefetch_to_overwrite(NativeStream stream, const void* p, size_t bytes) override;
  ManagedState managed_state(const void* p, size_t bytes) override;
  void advise(const void* p, size_t bytes, gpumem_advice advice, int32_t device) override;
  bool reaches_device(int32_t ordinal) override;
  bool reaches(const void* p, size_t bytes) override;

  void copy(NativeStream stream, void* dst, const void* src, size_t bytes, Completion completion) override;
  void move_pieces(NativeStream stream, std::span<const MovedPiece> pieces) override;
  void read_all(NativeStream stream, const void* p, size_t bytes, int32_t blocks) override;

  ReduceNode reduce(NativeStream stream, const ReduceParams& params, const Configured<ReduceParams>& planned) override;
  void reduce_async(NativeStream stream, const ReduceParams& params, const Configured<ReduceParams>& planned) override;
  std::unique_ptr<PendingNodes> begin_reduce(NativeStream stream, const ReduceParams& params,
                                             const Configured<ReduceParams>& planned) override;
  std::unique_ptr<PendingNodes> begin_reduce(NativeStream stream, const ReduceParams& params,
                                             const LeafTrees& trees) override;
  gpumem_status reduce_lines(NativeStream stream, const ReduceAxisParams& params,
                             const Configured<ReduceAxisParams>& planned, Completion completion) override;
  gpumem_status reduce_lines(NativeStream stream, const ReduceSegmentsParams& params,
                             const Configured<ReduceSegmentsParams>& planned, Completion completion) override;
  BadIndex gather_scatter(NativeStream stream, NamedRows named, const GatherScatterParams& params,
                          const Configured<GatherScatterParams>& planned, Completion completion) override;
  void launch(NativeStream stream, const AnyWork& work, Completion completion) override;

  NativeStream own_stream() noexcept override { return own_stream_; }
  NativeStream create_stream() override { return make_stream(cudaStreamDefault); }
  NativeStream create_side_stream() override { return make_stream(cudaStreamNonBlocking); }
  void finish_stream(NativeStream stream) noexcept override;
  void destroy_stream(NativeStream stream) noexcept override;
  NativeStream wrap_stream(void* native) override;
  void unwrap_stream(NativeStream stream) noexcept override;
  void synchronize(NativeStream stream) override;
  void synchronize_by(NativeStream stream, uint32_t& word) override;
  void synchronize_device() override;
  void await_order() override;
  bool idle(NativeStream stream) override;
  bool capturing(NativeStream stream) override;
  uint64_t capture_id(NativeStream stream) override;
  void invalidate_capture(NativeStream stream) noexcept override;
  void host_callback(NativeStream stream, HostTask task) override;
  NativeEvent create_event() override { return make_event(cudaEventDefault); }
  NativeEvent create_fence() override { return make_event(cudaEventDisableTiming); }
  void destroy_event(NativeEvent event) noexcept override;
  void record(NativeEvent event, NativeStream stream) override;
  void wait_event(NativeStream stream, NativeEvent event) override;
  void synchronize_event(NativeEvent event) override;
  bool passed(NativeEvent event) override;
  double elapsed_seconds(NativeEvent start, NativeEvent end) override;

 private:
  static constexpr const char* kLoss =
      "the device was reset, or its primary context released, after ctx was made: its memory, streams and events are "
      "gone";

  // The device's primary context, shared with the program. If the program resets it, its successor has another id.
  class PrimaryContext {
   public:
    explicit PrimaryContext(int32_t ordinal);
    ~PrimaryContext();
    PrimaryContext(const PrimaryContext&) = delete;
    PrimaryContext& operator=(const PrimaryContext&) = delete;
    CUcontext get() const noexcept { return context_; }
    bool is_lost() noexcept;  // asks the driver
    bool was_lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

   private:
    int32_t ordinal_;
    CUcontext context_ = nullptr;
    unsigned long long id_ = 0;
    std::atomic<bool> lost_{false};
  };

  void require_present() const {
    if (primary_.was_lost()) fail(GPUMEM_DEVICE_FAULT, "%s", kLoss);
  }
  DeviceScope enter() const {
    require_present();
    return DeviceScope(primary_.get());
  }
  // Runs f, which destroys something on the device, without throwing. Does nothing after a device reset or during
  // driver shutdown, because the object is already gone.
  template <class F>
  void enter_to_end(const F& f) noexcept {
    if (primary_.is_lost()) return;
    try {
      const DeviceScope scope = enter();
      f();
      static_cast<void>(cudaGetLastError());
    } catch (const Error&) {
    }
  }
  void open(bool non_blocking_stream);
  void open_granules();
  bool opens(cudaMemPool_t pool) const;
  void close() noexcept;
  kernels::Stream kernel_stream(NativeStream stream) const noexcept;
  NativeStream make_stream(unsigned flags);
  NativeEvent make_event(unsigned flags);
  void finish(cudaStream_t stream, Completion completion);
  // Throws CAPTURING for the legacy stream, which takes no work during another blocking stream's capture.
  void require_open(NativeStream stream);
  void wait_for(const ResultSlots::Lease& slot, cudaStream_t stream);
  void launch_to_slot(const ResultSlots::Lease& slot, NativeStream stream, std::string_view name,
                      kernels::ReduceLauncher* launcher, kernels::ReduceLaunch launch);
  class NodesInSlot;
  template <class Params>
  void launch_lines(gpumem_family family, const Implementation<Params>& implementation, kernels::ReduceLaunch launch,
                    NativeStream stream);
  template <class Params>
  gpumem_status run_lines(gpumem_family family, NativeStream stream, const Params& params,
                          const Configured<Params>& planned, Completion completion);
  void warm_up_reductions();
  template <class Params>
  void require_capturable(const Configured<Params>& planned, const char* operation, NativeStream stream);

  DeviceProps props_;
  PrimaryContext primary_;
  bool non_blocking_ = false;         // the own stream: only events order it with others
  bool programmatic_launch_ = false;  // kernels on this device, see kernels::Stream
  cudaStream_t own_stream_ = nullptr;
  cudaEvent_t order_ = nullptr;
  ReduceScratchPool scratch_;
  DriverPool pool_;
  size_t granule_bytes_ = 0;
  CUmemAllocationProp granules_{};
  Checker checker_;
  ResultSlots slots_{64, kSlotBytes};
  ResultSlots node_slots_{16, kSlotBytes + LeafTrees::kMost * sizeof(ReduceNode)};  // with partial results
  kernels::TextureObjects textures_;
  StreamMemory stream_memory_;
};

}  // namespace gpumem
