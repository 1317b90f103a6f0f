#include "backend/cuda/result_slots.hpp"

#include "base/await.hpp"

namespace gpumem {

void ResultSlots::open() {
  free_.reserve(slots_);
  void* host = nullptr;
  GPUMEM_CUDA(cudaHostAlloc(&host, slots_ * bytes_, cudaHostAllocMapped | cudaHostAllocPortable));
  host_ = static_cast<char*>(host);
  void* device = nullptr;
  GPUMEM_CUDA(cudaHostGetDevicePointer(&device, host, 0));
  device_ = static_cast<char*>(device);
  for (size_t i = 0; i < slots_; ++i) {
    *reinterpret_cast<kernels::ReduceSlot*>(host_ + i * bytes_) = {};
    free_.push_back(i);
  }
}

void ResultSlots::close() noexcept {
  if (host_ != nullptr) static_cast<void>(cudaFreeHost(host_));
  host_ = nullptr;
}

ResultSlots::Lease::Lease(ResultSlots& slots, bool waits) : slots_(slots) {
  std::unique_lock<std::mutex> lock(slots_.mutex_);
  if (!waits && slots_.free_.empty()) return;
  await(slots_.returned_, lock, [&] { return !slots_.free_.empty(); });
  index_ = slots_.free_.back();
  slots_.free_.pop_back();
  ticket_ = slots_.next_ticket_++;
  if (slots_.next_ticket_ == 0) slots_.next_ticket_ = 1;  // 0 is a slot's initial value
}

ResultSlots::Lease::~Lease() {
  if (!has_slot()) return;
  const std::lock_guard<std::mutex> lock(slots_.mutex_);
  slots_.free_.push_back(index_);
  slots_.returned_.notify_one();
}

volatile kernels::ReduceSlot* ResultSlots::Lease::host() const noexcept {
  return reinterpret_cast<volatile kernels::ReduceSlot*>(slots_.host_ + index_ * slots_.bytes_);
}

kernels::ReduceSlot* ResultSlots::Lease::device() const noexcept {
  return reinterpret_cast<kernels::ReduceSlot*>(slots_.device_ + index_ * slots_.bytes_);
}

}  // namespace gpumem
