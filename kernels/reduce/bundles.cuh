// Neighbouring elements that a thread takes at a time where lines are short or lie side by side, and what they add to their
// lines: light sums while they are few, nodes after. The operation is a run-time value here, but for plain sums.
#pragma once

#include "kernels/reduce/blocks.cuh"

namespace gpumem::kernels {

// Up to four elements in one load.
template <int kBytes>
struct Bundle {
  static constexpr int kCount = bundle_elements(kBytes);
  static constexpr int kWordBytes = kCount * kBytes;
  using Element =
      std::conditional_t<kBytes == 8, unsigned long long,
                         std::conditional_t<kBytes == 4, uint32_t, std::conditional_t<kBytes == 2, uint16_t, uint8_t>>>;
  Element element[kCount];

  __device__ __forceinline__ void load_word(const char* p) {
    if constexpr (kWordBytes == 16) {
      const uint4 w = __ldcs(reinterpret_cast<const uint4*>(p));
      memcpy(element, &w, 16);
    } else if constexpr (kWordBytes == 8) {
      const uint2 w = __ldcs(reinterpret_cast<const uint2*>(p));
      memcpy(element, &w, 8);
    } else {
      const unsigned w = __ldcs(reinterpret_cast<const unsigned*>(p));
      memcpy(element, &w, 4);
    }
  }
  // Those of the first `there` alone, each by itself; the others are zeros.
  __device__ __forceinline__ void load_elements(const char* p, int64_t there) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) element[k] = k < there ? reinterpret_cast<const Element*>(p)[k] : Element{};
  }
};

// How elements of a type enter: Light is what a few of them add up to, Node what becomes of many.
template <gpumem_dtype kType, bool kPlain>
struct SumEntry {
  using Node = SumNode;
  using Light = SumNode;
  static constexpr int kBytes = element_bytes(kType);
  gpumem_reduce_op op;
  __device__ explicit SumEntry(const ReduceLaunch& launch) : op(launch.op) {}
  __device__ __forceinline__ void enter(Light& light, uint64_t bits) const {
    const double x = to_double<kType>(bits);
    light.sum += kPlain ? x : sum_term(op, x);
  }
  __device__ Node heavy(const Light& light) const { return light; }
};

struct CompensatedEntry {
  using Node = CompensatedNode;
  using Light = CompensatedNode;
  static constexpr int kBytes = 8;
  __device__ explicit CompensatedEntry(const ReduceLaunch&) {}
  __device__ __forceinline__ void enter(Light& light, uint64_t bits) const {
    light = combine(light, CompensatedNode(__longlong_as_double(static_cast<long long>(bits))));
  }
  __device__ Node heavy(const Light& light) const { return light; }
};

template <int kSize>
struct RangeEntry {
  using Node = RangeNode;
  static constexpr int kBytes = kSize;
  using Key = std::conditional_t<kSize == 8, uint64_t, uint32_t>;
  struct Light {
    Key low = ~Key{0};
    Key high = 0;
  };
  gpumem_dtype dtype;
  __device__ explicit RangeEntry(const ReduceLaunch& launch) : dtype(launch.dtype) {}
  __device__ __forceinline__ void enter(Light& light, uint64_t bits) const {
    const auto key = static_cast<Key>(key_of(dtype, bits));
    light.low = key < light.low ? key : light.low;
    light.high = key > light.high ? key : light.high;
  }
  __device__ Node heavy(const Light& light) const {
    return light.low > light.high ? RangeNode{} : RangeNode{light.low, light.high};
  }
};

// Sums and sums of absolutes of up to 32 bits: 2^31 of them fit 64 bits.
template <int kSize>
struct NarrowEntry {
  using Node = IntegerNode;
  static constexpr int kBytes = kSize;
  struct Light {
    int64_t sum = 0;
  };
  gpumem_dtype dtype;
  bool absolute;
  __device__ explicit NarrowEntry(const ReduceLaunch& launch)
      : dtype(launch.dtype), absolute(launch.op == GPUMEM_SUM_ABS) {}
  __device__ __forceinline__ void enter(Light& light, uint64_t bits) const {
    const auto v = static_cast<int64_t>(extend(dtype, bits));
    light.sum += absolute && v < 0 ? -v : v;
  }
  __device__ Node heavy(const Light& light) const { return IntegerNode(Int128{light.sum}); }
};

template <int kSize>
struct WideEntry {
  using Node = IntegerNode;
  using Light = IntegerNode;
  static constexpr int kBytes = kSize;
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  __device__ explicit WideEntry(const ReduceLaunch& launch) : dtype(launch.dtype), op(launch.op) {}
  __device__ __forceinline__ void enter(Light& light, uint64_t bits) const {
    light = combine(light, integer_term(dtype, op, extend(dtype, bits)));
  }
  __device__ Node heavy(const Light& light) const { return light; }
};

// Whether the order in which terms are added shows in the result.
template <class Entry>
inline constexpr bool is_ordered =
    std::is_same_v<typename Entry::Node, SumNode> || std::is_same_v<typename Entry::Node, CompensatedNode>;

// Whether a term is the element itself: the least registers.
template <class Entry>
inline constexpr bool is_plain_sum = false;
template <gpumem_dtype kType>
inline constexpr bool is_plain_sum<SumEntry<kType, true>> = true;

// Two light sums of one entry.
template <class Entry>
__device__ __forceinline__ typename Entry::Light added(const typename Entry::Light& a, const typename Entry::Light& b) {
  if constexpr (std::is_same_v<typename Entry::Light, typename Entry::Node>) {
    return combine(a, b);
  } else if constexpr (std::is_same_v<typename Entry::Node, RangeNode>) {
    return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high};
  } else {
    return {a.sum + b.sum};
  }
}

// Calls f with the entry of a type and operation.
template <class F>
cudaError_t for_entry(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  const auto by_size = [&]<template <int> class Entry>() {
    switch (element_bytes(dtype)) {
      case 1:
        return f.template operator()<Entry<1>>();
      case 2:
        return f.template operator()<Entry<2>>();
      case 4:
        return f.template operator()<Entry<4>>();
      default:
        return f.template operator()<Entry<8>>();
    }
  };
  switch (node_kind(dtype, op)) {
    case NodeKind::range:
      return by_size.template operator()<RangeEntry>();
    case NodeKind::integer:
      if (element_bytes(dtype) < 8 && (op == GPUMEM_SUM || op == GPUMEM_SUM_ABS)) {
        return by_size.template operator()<NarrowEntry>();
      }
      return by_size.template operator()<WideEntry>();
    case NodeKind::compensated:
      return f.template operator()<CompensatedEntry>();
    default:
      break;
  }
  return for_floating_type(dtype, [&]<gpumem_dtype kType>() {
    if (op == GPUMEM_SUM) return f.template operator()<SumEntry<kType, true>>();
    return f.template operator()<SumEntry<kType, false>>();
  });
}

}  // namespace gpumem::kernels
