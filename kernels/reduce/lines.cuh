// The place of a line, and the end of its reduction.
#pragma once

#include "kernels/convert/element.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/values.hpp"

namespace gpumem::kernels {

struct Line {
  const char* x;
  const char* y;
  int64_t n;
  bool sound;  // false: its offsets are invalid
};

__device__ __forceinline__ Line line_of(const ReduceLaunch& launch, int64_t index, int64_t bytes) {
  const LineLayout& lines = launch.lines;
  Line line{static_cast<const char*>(launch.x), static_cast<const char*>(launch.y), lines.length, true};
  if (lines.offsets != nullptr) {
    const int64_t begin = lines.offsets[index];
    const int64_t end = lines.offsets[index + 1];
    line.sound = begin >= 0 && begin <= end && end <= lines.length;
    line.n = line.sound ? end - begin : 0;
    line.x += line.sound ? begin * bytes : 0;
  } else if (lines.count > 1) {
    const int64_t batch = lines.per_batch == lines.count ? 0 : index / lines.per_batch;
    line.x += (batch * lines.batch_stride + (index - batch * lines.per_batch) * lines.pitch) * bytes;
  }
  return line;
}

inline dim3 lines_grid(const ReduceLaunch& launch) {
  return dim3(static_cast<unsigned>(launch.lines.count < kMaxGrid ? launch.lines.count : kMaxGrid),
              static_cast<unsigned>(launch.blocks_per_line));
}

template <class T>
__device__ __forceinline__ void store_anywhere(void* at, T value) {
  if (reinterpret_cast<uintptr_t>(at) % sizeof(T) == 0) {
    *static_cast<T*>(at) = value;
  } else {
    for (size_t i = 0; i < sizeof(T); ++i) {
      static_cast<unsigned char*>(at)[i] = static_cast<unsigned char>(static_cast<uint64_t>(value) >> (8 * i));
    }
  }
}

// As synchronize_and_trigger(), with a single flag: threads have so little work that a few instructions count. Also
// writes GPUMEM_OK if no line can fail. Otherwise reduce_hand_over_status() writes the status.
__device__ __forceinline__ void begin_lines(const ReduceLaunch& launch) {
  grid_dependency_synchronize();
  if (!launch.prepares) return;
  if (gridDim.x * gridDim.y <= kFewBlocks) trigger_programmatic_launch();
  if (launch.status != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *launch.status = GPUMEM_OK;
}

// Stores word `index` of the results of many lines. kBytes: of the elements, or 0 if not known.
template <int kBytes, class Launch>
__device__ __forceinline__ void store_word(const Launch& launch, int64_t index, uint64_t word) {
  if (kBytes == 8 || kBytes == 1 || !launch.rounded) {
    static_cast<uint64_t*>(launch.result)[index] = word;
    return;
  }
  const double value = __longlong_as_double(static_cast<int64_t>(word));
  if (kBytes == 4 || (kBytes == 0 && launch.dtype == GPUMEM_F32)) {
    static_cast<float*>(launch.result)[index] = converted<float>(value);
  } else {
    static_cast<uint16_t*>(launch.result)[index] =
        launch.dtype == GPUMEM_F16 ? converted<Half>(value).bits : converted<Brain>(value).bits;
  }
}

template <class Launch>
__device__ __forceinline__ void store_value(const Launch& launch, const ReduceValue& value, bool pair) {
  if (value.status == GPUMEM_OK) {
    if (launch.result != nullptr) {
      store_anywhere(launch.result, value.word[0]);
      if (pair) store_anywhere(static_cast<char*>(launch.result) + 8, value.word[1]);
    }
    if (launch.index != nullptr) store_anywhere(launch.index, value.word[1]);
  }
  if (launch.status != nullptr) store_anywhere(launch.status, value.status);
}

// The same for aligned destinations. In short sequences, even code that is skipped costs time.
enum class Values { one, pair, placed };
template <Values kValues, class Launch>
__device__ __forceinline__ void store_aligned_value(const Launch& launch, const ReduceValue& value) {
  if (value.status == GPUMEM_OK) {
    auto* result = static_cast<uint64_t*>(launch.result);
    if (result != nullptr) {
      result[0] = value.word[0];
      if (kValues == Values::pair && launch.op == GPUMEM_MIN_MAX) result[1] = value.word[1];
    }
    if (kValues == Values::placed && launch.index != nullptr) *launch.index = static_cast<int64_t>(value.word[1]);
  }
  if (launch.status != nullptr) *launch.status = value.status;
}

// Gives a node to the host. The ticket becomes visible after the node.
__device__ __forceinline__ void publish(ReduceSlot* slot, const ReduceNode& node, uint32_t ticket) {
  volatile ReduceSlot* out = slot;
  for (int i = 0; i < 4; ++i) out->node.word[i] = node.word[i];
  __threadfence_system();
  out->ticket = ticket;
}

struct Root {
  __host__ __device__ double operator()(double x) const { return sqrt(x); }
};

// Ends a search of one of many lines.
__device__ __forceinline__ void store_found(const ReduceLaunch& launch, int64_t index, const ReduceValue& value) {
  if (launch.result != nullptr) static_cast<uint64_t*>(launch.result)[index] = value.word[0];
  launch.index[index] = static_cast<int64_t>(value.word[1]);
  if (value.status != GPUMEM_OK) atomicMax(launch.scratch.status, value.status);
}

// Ends one of many lines, in one thread. The node of a line without elements is the identity. Not inlined, because the
// code before it is the critical part.
template <NodeKind kKind>
__device__ __noinline__ void finish_line(const ReduceLaunch& launch, int64_t index, const Line& line,
                                         const ReduceNode& node) {
  ReduceValue value;
  if (line.n > 0 || (has_empty_value(kKind) && line.sound)) {
    value =
        with_node(kKind, [&](auto kind) { return value_of(launch.dtype, launch.op, decltype(kind)(node), Root{}); });
  } else {
    value.status = line.sound ? GPUMEM_EMPTY : GPUMEM_OUT_OF_RANGE;
  }
  if constexpr (kKind == NodeKind::arg) return store_found(launch, index, value);
  const int words = value_words(launch.op);
  for (int i = 0; i < words; ++i) store_word<0>(launch, index * words + i, value.word[i]);
  if (value.status != GPUMEM_OK) atomicMax(launch.scratch.status, value.status);
}

}  // namespace gpumem::kernels
