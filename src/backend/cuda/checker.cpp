#include "backend/cuda/checker.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>

#include "backend/cuda/nvtx_domain.hpp"
#include "base/caller_state.hpp"

#if __has_include(<nvtx3/nvToolsExtMem.h>)
#include <nvtx3/nvToolsExtMem.h>
#define GPUMEM_HAS_NVTX_MEMORY 1
#endif

namespace gpumem {

#ifdef GPUMEM_HAS_NVTX_MEMORY
namespace {

// nullptr: no tool accepted it.
nvtxMemHeapHandle_t register_heap(void* p, size_t bytes) noexcept {
  const nvtxMemVirtualRangeDesc_t range{.size = bytes, .ptr = p};
  nvtxMemHeapDesc_t heap{};
  heap.extCompatID = NVTX_EXT_COMPATID_MEM;
  heap.structSize = sizeof heap;
  heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
  heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  heap.typeSpecificDescSize = sizeof range;
  heap.typeSpecificDesc = &range;
  const nvtxMemHeapHandle_t name = nvtxMemHeapRegister(nvtx_domain(), &heap);
  return reinterpret_cast<intptr_t>(name) == -1 ? nullptr : name;  // NVTX_MEM_HEAP_HANDLE_NO_TOOL
}

}  // namespace

// A tool sets this variable to be loaded by NVTX. Without it, the driver is not asked.
void Checker::open() {
  if (::secure_getenv("NVTX_INJECTION64_PATH") == nullptr) return;
  constexpr size_t kBytes = 256;
  void* p = nullptr;
  if (cudaMalloc(&p, kBytes) != cudaSuccess) return static_cast<void>(cudaGetLastError());
  if (const nvtxMemHeapHandle_t heap = register_heap(p, kBytes)) {
    attached_ = true;
    nvtxMemHeapUnregister(nvtx_domain(), heap);
  }
  static_cast<void>(cudaFree(p));
}

// Without memory for the name, the tool sees the heap as a whole.
void Checker::begin_heap(void* p, size_t bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    Heap& heap = heaps_[p];
    heap = {register_heap(p, bytes), bytes};
  } catch (const std::bad_alloc&) {
  }
}

void Checker::end_heap(void* p) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = heaps_.find(p);
  if (found == heaps_.end()) return;
  if (found->second.name != nullptr)
    nvtxMemHeapUnregister(nvtx_domain(), static_cast<nvtxMemHeapHandle_t>(found->second.name));
  heaps_.erase(found);
}

const Checker::Heap* Checker::heap_of(void* p) const noexcept {
  const auto behind = heaps_.upper_bound(p);
  if (behind == heaps_.begin()) return nullptr;
  const auto& [start, heap] = *std::prev(behind);
  const bool inside = static_cast<char*>(p) < static_cast<char*>(start) + heap.bytes;
  return inside && heap.name != nullptr ? &heap : nullptr;
}

void Checker::begin_block(void* p, size_t bytes) noexcept {
  const KeptThreadState kept;
  const nvtxMemVirtualRangeDesc_t range{.size = bytes, .ptr = p};
  nvtxMemRegionsRegisterBatch_t blocks{};
  blocks.extCompatID = NVTX_EXT_COMPATID_MEM;
  blocks.structSize = sizeof blocks;
  blocks.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  blocks.regionCount = 1;
  blocks.regionDescElementSize = sizeof range;
  blocks.regionDescElements = &range;
  const std::lock_guard<std::mutex> lock(mutex_);
  const Heap* heap = heap_of(p);
  if (heap == nullptr) return;
  blocks.heap = static_cast<nvtxMemHeapHandle_t>(heap->name);
  nvtxMemRegionsRegister(nvtx_domain(), &blocks);
}

void Checker::end_block(void* p) noexcept {
  const KeptThreadState kept;
  nvtxMemRegionRef_t block{};
  block.pointer = p;
  nvtxMemRegionsUnregisterBatch_t blocks{};
  blocks.extCompatID = NVTX_EXT_COMPATID_MEM;
  blocks.structSize = sizeof blocks;
  blocks.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  blocks.refCount = 1;
  blocks.refElementSize = sizeof block;
  blocks.refElements = &block;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (heap_of(p) == nullptr) return;
  nvtxMemRegionsUnregister(nvtx_domain(), &blocks);
}
#else
void Checker::open() {}
void Checker::begin_heap(void*, size_t) noexcept {}
void Checker::end_heap(void*) noexcept {}
void Checker::begin_block(void*, size_t) noexcept {}
void Checker::end_block(void*) noexcept {}
#endif

}  // namespace gpumem
