#include "ops/call_work.hpp"

#include <bit>

#include "ops/problem_fields.hpp"

namespace gpumem {
namespace {

int64_t size_of(gpumem_dtype dtype) noexcept { return traits_of(dtype).bytes; }

template <class T>
int64_t product(const T* extents, int32_t rank) noexcept {
  int64_t n = 1;
  for (int32_t d = 0; d < rank; ++d) n *= extents[d];
  return n;
}

// Bytes and flops per call. A copy's bytes count once.
CallWork amount(const ReduceParams& c) noexcept {
  const bool dot = takes_y(c.op);
  return {c.n * size_of(c.dtype) * (dot ? 2 : 1), dot ? 2 * c.n : 0};
}
CallWork amount(const ReduceAxisParams& c) noexcept {
  return {c.batches * c.rows * c.cols * size_of(c.dtype) + 8 * c.lines() * (is_search(c.op) ? 2 : 1)};
}
CallWork amount(const ReduceSegmentsParams& c) noexcept { return {c.n * size_of(c.dtype) + 8 * (2 * c.segments + 1)}; }
CallWork amount(const TransposeParams& c) noexcept { return {2 * c.batches * c.rows * c.cols * c.element_bytes}; }
CallWork amount(const PermuteParams& c) noexcept { return {2 * product(c.extents, c.rank) * c.element_bytes}; }
CallWork amount(const FillParams& c) noexcept { return {c.elements()}; }
CallWork amount(const CopyParams& c) noexcept { return {2 * c.bytes()}; }
CallWork amount(const AxpbyParams& c) noexcept {
  const int64_t terms = (is_zero(c.dtype, c.alpha) ? 0 : 1) + (is_zero(c.dtype, c.beta) ? 0 : 1);
  return {(terms + 1) * c.n * size_of(c.dtype), std::max<int64_t>(2 * terms - 1, 0) * c.n};
}
CallWork amount(const ConvertParams& c) noexcept { return {c.n * (size_of(c.src_type) + size_of(c.dst_type))}; }
CallWork amount(const ArithmeticParams& c) noexcept {
  const int64_t n = product(c.extents, c.rank);
  int64_t terms = 0;
  for (int32_t k = 0; k < c.terms; ++k) {
    terms += is_zero(c.dtype, c.factors[k]) && !c.has_factor_in_memory(k) ? 0 : 1;
  }
  int64_t reads = terms;  // w that is no source adds one
  for (int32_t k = 0; k < c.dots; ++k) {
    reads += c.w[k] == c.z || std::find(c.x, c.x + c.terms, c.w[k]) != c.x + c.terms ? 0 : 1;
  }
  const bool sum = c.op == Arithmetic::lincomb;
  return {(reads + 1) * n * size_of(c.dtype),
          sum ? (std::max<int64_t>(2 * terms - 1, 0) + int64_t{2} * c.dots) * n : 0};
}
CallWork amount(const GatherScatterParams& c) noexcept { return {c.n * (2 * c.row_bytes + size_of(c.index_type))}; }
// A repeated element counts once.
CallWork amount(const MapParams& c) noexcept {
  int64_t moved = c.elements() * c.z_bytes();
  for (int32_t k = 0; k < c.sources; ++k) {
    int64_t bytes = c.x[k] != nullptr ? c.source_bytes(k) : 0;
    for (int32_t d = 0; d < c.rank; ++d) bytes *= c.x_strides[k][d] != 0 ? c.extents[d] : 1;
    moved += bytes;
  }
  return {moved, c.kind == MapKind::map ? c.elements() : 0};
}
CallWork amount(const ScanParams& c) noexcept { return {c.n * (size_of(c.dtype) + size_of(c.result_type))}; }
CallWork amount(const SortParams& c) noexcept {
  const int64_t keys = (c.sorted != nullptr ? 2 : 1) * size_of(c.dtype);
  const int64_t offsets = c.in_segments() ? 8 * (c.segments + 1) : 0;
  return {c.n * (keys + (c.order != nullptr ? size_of(c.order_type) : 0)) + offsets};
}
// At most: the number of kept rows is not known.
CallWork amount(const SelectParams& c) noexcept {
  const int64_t reads = c.places ? 0 : c.row_bytes;
  return {c.n + c.dst_rows * (reads + c.row_bytes)};
}
CallWork amount(const ReduceByIndexParams& c) noexcept {
  const int64_t elements = c.x != nullptr ? c.elements() * size_of(c.dtype) : 0;
  return {c.n * size_of(c.index_type) + elements + int64_t{8} * value_words(c.op) * c.values()};
}
CallWork amount(const CopyBoxesParams& c) noexcept { return {2 * c.bytes()}; }
CallWork amount(const ResizeParams& c) noexcept {
  const int64_t src_pixels = c.src_pixels != 0 ? c.src_pixels : c.batches * c.src_rows * c.src_cols;
  return {(src_pixels + c.batches * c.dst_rows * c.dst_cols) * c.channels * size_of(c.dtype)};
}

struct Ends : OperandsAlone {
  const void* first = nullptr;
  const void* last = nullptr;

  void operand(std::string_view, const void* p, uint64_t = 16) noexcept {
    if (first == nullptr) first = p;
    last = p;
  }
  void factor(std::string_view key, const void* p, uint64_t factor, gpumem_dtype dtype) noexcept {
    if (!is_zero(dtype, factor)) operand(key, p);
  }
};

class ClassHash {
 public:
  explicit ClassHash(const CallRecord& record) noexcept : record_(record) { mix(record.call.index()); }

  void number(std::string_view, int64_t value) noexcept { mix(size_class(value)); }
  void number(std::string_view, int64_t value, int64_t otherwise) noexcept {
    mix(value == otherwise ? kDefault : size_class(value));
  }
  // A default stride is a product of sizes, so only this states its alignment.
  void stride(std::string_view key, int64_t value, int64_t otherwise) noexcept {
    number(key, value, otherwise);
    mix(divisor_class(value));
  }
  void word(std::string_view, int32_t value, const Words&) noexcept { mix(static_cast<uint64_t>(value)); }
  void word(std::string_view, int32_t value, const Words&, int32_t) noexcept { mix(static_cast<uint64_t>(value)); }
  template <class T>
  bool numbers(std::string_view, const T* list, bool given, char, int32_t count) noexcept {
    mix(given ? static_cast<uint64_t>(count) : kDefault);
    for (int32_t i = 0; given && i < count; ++i) {
      mix(size_class(list[i]));
      if (count > 1) mix(divisor_class(list[i]));  // strides, and the extents that they are made of
    }
    return given;
  }
  void operand(std::string_view, const void* p, uint64_t modulus = 16) noexcept {
    const OperandInfo* seen = record_.find(p);
    if (seen == nullptr) return mix(kDefault);
    const auto which = static_cast<uint64_t>(seen - record_.seen.data());  // twice if used in place
    mix(which << 32 | static_cast<uint64_t>(seen->kind) << 2 | (seen->mixed ? 1 : 0) | (seen->device >= 0 ? 2 : 0));
    mix(reinterpret_cast<uintptr_t>(p) % modulus);
  }
  void factor(std::string_view key, const void* p, uint64_t factor, gpumem_dtype dtype) noexcept {
    if (is_zero(dtype, factor)) return mix(kDefault);
    operand(key, p);
  }

  // Never 0.
  uint64_t value() const noexcept { return hash_ | 1; }

 private:
  static constexpr uint64_t kDefault = ~uint64_t{0};

  static uint64_t size_class(int64_t value) noexcept {
    const auto bits = static_cast<uint64_t>(value);
    return bits <= 16 ? bits : 16 + static_cast<uint64_t>(std::bit_width(bits));
  }
  static uint64_t divisor_class(int64_t value) noexcept {
    return static_cast<uint64_t>(std::min(std::countr_zero(static_cast<uint64_t>(value)), 4));
  }
  void mix(uint64_t word) noexcept {  // splitmix64
    hash_ = (hash_ + word + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    hash_ ^= hash_ >> 29;
  }

  const CallRecord& record_;
  uint64_t hash_ = 0;
};

// The stride between matrices is arbitrary if there is only one matrix.
template <class Call>
void drop_unused(Call& c) noexcept {
  if constexpr (requires { c.batch_stride; }) {
    if (c.batches == 1) c.batch_stride = 0;
  } else if constexpr (requires { c.src_batch_stride; }) {
    if (c.batches == 1) c.src_batch_stride = c.dst_batch_stride = 0;
  }
}

// Visits a copy of the call, because fields() may write the members that it reads.
template <class Visitor>
void visit_fields(const CallRecord& record, Visitor& visitor) noexcept {
  with_call(record, [&]<class Family>(auto copy) {
    drop_unused(copy);
    Completion completion = record.completion;
    all_fields(visitor, copy, completion);
  });
}

bool in_host_memory(gpumem_memory_kind kind) noexcept {
  return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED;
}

}  // namespace

CallWork work_of(const CallRecord& record) {
  CallWork work;
  with_call(record, [&]<class Family>(const auto& call) { work = amount(call); });
  Ends ends;
  visit_fields(record, ends);
  const gpumem_family family = record.family();
  const bool reduces = family == GPUMEM_FAMILY_REDUCE || family == GPUMEM_FAMILY_REDUCE_AXIS ||
                       family == GPUMEM_FAMILY_REDUCE_SEGMENTS || family == GPUMEM_FAMILY_REDUCE_BY_INDEX;
  const OperandInfo* from = record.find(ends.first);
  const OperandInfo* to = reduces ? from : record.find(ends.last);
  if (from == nullptr || to == nullptr) return work;
  work.from = from->kind;
  work.to = to->kind;
  work.crosses = in_host_memory(from->kind) != in_host_memory(to->kind);
  if (family == GPUMEM_FAMILY_COPY && (work.crosses || from->device != to->device)) work.bytes /= 2;
  return work;
}

uint64_t problem_class(const CallRecord& record) noexcept {
  ClassHash hash(record);
  visit_fields(record, hash);
  return hash.value();
}

}  // namespace gpumem
