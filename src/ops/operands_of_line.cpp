#include "ops/operands_of_line.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/sentences.hpp"
#include "kernels/values.hpp"
#include "memory/scratch.hpp"
#include "ops/operations.hpp"
#include "ops/problem_fields.hpp"

namespace gpumem {
namespace {

constexpr size_t kBlockElements = 65521;  // a prime, so rows and tiles have different values
constexpr size_t kAlignment = 4096;

// The bits of element i. Integers are below 64, so no sum of cubes overflows 64 bits. Floating-point numbers are in [1,
// 2), so products and sums are never NaN.
uint64_t element(gpumem_dtype dtype, size_t i) noexcept {
  uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15;
  bits ^= bits >> 31;
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_F16:
      return 0x3c00 | (bits & 0x3ff);
    case GPUMEM_BF16:
      return 0x3f80 | (bits & 0x7f);
    case GPUMEM_F32:
      return 0x3f800000 | (bits & 0x7fffff);
    case GPUMEM_F64:
      return 0x3ff0000000000000 | (bits & 0xfffffffffffff);
    case GPUMEM_I8:
    case GPUMEM_U8:
    case GPUMEM_I16:
    case GPUMEM_U16:
    case GPUMEM_I32:
    case GPUMEM_U32:
    case GPUMEM_I64:
    case GPUMEM_U64:
      break;
  }
  return bits & 0x3f;
}
uint64_t one(gpumem_dtype dtype) noexcept {
  return for_float_or_double(dtype,
                             []<class T>() { return uint64_t{sizeof(T) == 4 ? 0x3f800000 : 0x3ff0000000000000}; });
}

template <class F>
std::vector<unsigned char> block_of(size_t count, int64_t bytes, const F& value) {
  require_available_for_call(count * static_cast<size_t>(bytes));
  std::vector<unsigned char> block(count * static_cast<size_t>(bytes));
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = value(i);
    std::memcpy(block.data() + i * static_cast<size_t>(bytes), &bits, static_cast<size_t>(bytes));
  }
  return block;
}

template <class Call>
gpumem_dtype dtype_of(const Call& call) noexcept {
  if constexpr (requires { call.dtype; }) {
    return call.dtype;
  } else if constexpr (requires { call.src_type; }) {
    return call.src_type;
  } else {
    static_assert(
        requires { call.element_bytes; } || requires { call.row_bytes; } || requires { call.pattern_bytes; },
        "a call names the type of its elements, or moves bytes");
    return GPUMEM_U8;
  }
}

class Placing : public OperandsAlone {
 public:
  template <class F>
  explicit Placing(F at) : at_(std::move(at)) {}

  template <class P>
  void operand(std::string_view, P*& p, uint64_t = 16) {
    p = static_cast<P*>(at_(p));
  }
  void factor(std::string_view key, const void*& p, uint64_t& factor, gpumem_dtype dtype) {
    if (is_zero(dtype, factor)) return;
    factor = one(dtype);
    operand(key, p);
  }

 private:
  std::function<void*(const void*)> at_;
};

void perform(Context& c, const ReduceParams& p, NativeStream s, Completion u) { reduce(c, p, s, u); }
void perform(Context& c, const ReduceAxisParams& p, NativeStream s, Completion u) { reduce_axis(c, p, s, u); }
void perform(Context& c, const ReduceSegmentsParams& p, NativeStream s, Completion u) {
  try {
    reduce_segments(c, p, s, u);
  } catch (const Error& error) {  // all results exist: an empty segment has 0
    if (error.status() != GPUMEM_EMPTY) throw;
  }
}
void perform(Context& c, const TransposeParams& p, NativeStream s, Completion u) { transpose(c, p, s, u); }
void perform(Context& c, const CopyParams& p, NativeStream s, Completion u) { copy(c, p, s, u); }
void perform(Context& c, const AxpbyParams& p, NativeStream s, Completion u) { axpby(c, p, s, u); }
void perform(Context& c, const ConvertParams& p, NativeStream s, Completion u) { convert(c, p, s, u); }
void perform(Context& c, const GatherParams& p, NativeStream s, Completion u) { gather(c, p, s, u); }
void perform(Context& c, const ScatterParams& p, NativeStream s, Completion u) { scatter(c, p, s, u); }
void perform(Context& c, const ResizeParams& p, NativeStream s, Completion u) { resize(c, p, s, u); }
void perform(Context& c, const MapParams& p, NativeStream s, Completion u) { map(c, p, s, u); }
void perform(Context& c, const ScanParams& p, NativeStream s, Completion u) {
  try {
    scan(c, p, s, u);
  } catch (const Error& error) {  // every variant writes the same values
    if (error.status() != GPUMEM_OVERFLOW) throw;
  }
}
void perform(Context& c, const SortParams& p, NativeStream s, Completion u) { sort(c, p, s, u); }
void perform(Context& c, const SelectParams& p, NativeStream s, Completion u) { select_rows(c, p, s, u); }
void perform(Context& c, const ReduceByIndexParams& p, NativeStream s, Completion u) {
  try {
    reduce_by_index(c, p, s, u);
  } catch (const Error& error) {  // as for segments
    if (error.status() != GPUMEM_EMPTY) throw;
  }
}
void perform(Context& c, const CopyBoxesParams& p, NativeStream s, Completion u) { copy_equal_boxes(c, p, s, u); }
void perform(Context& c, FillParams p, NativeStream s, Completion u) {
  unsigned char pattern[sizeof p.word];
  std::copy_n(p.word, sizeof pattern, pattern);
  p.pattern = pattern;
  fill(c, p, s, u);
}
void perform(Context& c, const PermuteParams& p, NativeStream s, Completion u) {
  permute(c,
          {p.element_bytes, p.rank, p.has_extents ? p.extents : nullptr, p.has_order ? p.order : nullptr, p.src,
           p.has_src_strides ? p.src_strides : nullptr, p.dst, p.has_dst_strides ? p.dst_strides : nullptr},
          s, u);
}
void perform(Context& c, const ArithmeticParams& p, NativeStream s, Completion u) {
  unsigned char factors[kMaxTerms * 8];
  const int64_t bytes = element_bytes(p.dtype);
  for (int32_t k = 0; k < p.terms; ++k) std::memcpy(factors + k * bytes, &p.factors[k], static_cast<size_t>(bytes));
  ArithmeticCall call{.op = p.op,
                      .dtype = p.dtype,
                      .rank = p.rank,
                      .extents = p.extents,
                      .terms = p.terms,
                      .factors = p.op == Arithmetic::lincomb ? factors : nullptr,
                      .x = p.x,
                      .z = p.z,
                      .z_strides = p.z_strides,
                      .in_memory = p.in_memory,
                      .has_dots = p.dots > 0,
                      .dots = p.dots,
                      .w = p.w,
                      .results = p.results};
  for (int32_t k = 0; k < p.terms; ++k) call.x_strides[k] = p.x_strides[k];
  for (int32_t k = 0; k < p.dots; ++k) call.w_strides[k] = p.w_strides[k];
  arithmetic(c, call, s, u);
}

}  // namespace

Operand NotingPlanner::look_up(const ByteRange& range, Access access) {
  const Operand operand = LinePlanner::look_up(range, access);
  const auto same = [&](const Range& there) { return there.range.p == range.p; };
  auto place = std::find_if(ranges_.begin(), ranges_.end(), same);
  if (place == ranges_.end()) place = ranges_.insert(place, {range, operand.kind, false, false});
  place->range.bytes = std::max(place->range.bytes, range.bytes);
  (access == Access::read ? place->read : place->written) = true;
  return operand;
}

OperandsOfLine::OperandsOfLine(Context& context, const CallRecord& record,
                               const std::vector<NotingPlanner::Range>& ranges, ExecutionSpace results, bool on_host)
    : context_(context), record_(record), on_host_(on_host) {
  buffers_.reserve(ranges.size() + 3);
  for (const NotingPlanner::Range& r : ranges) {
    add_buffer(r.range.p, r.kind, r.range.bytes, reinterpret_cast<uintptr_t>(r.range.p) % kAlignment, r.read,
               r.written);
  }
  Placing placing([this](const void* p) -> void* {
    for (const Buffer& buffer : buffers_) {
      if (buffer.address_in_line == p) return buffer.at;
    }
    return nullptr;  // the operation does not access it
  });
  with_call(record_, [&]<class Family>(auto& call) { all_fields(placing, call, record_.completion); });
  with_call(record_, [&]<class Family>(auto& call) {
    if constexpr (std::is_same_v<Family, ReduceFamily>) {
      add_result(call.result, 16, results);
      if (is_search(call.op)) add_result(call.index, 8, results);
    } else if constexpr (requires { call.lines(); }) {
      add_result(call.result, call.lines() * 8 * value_words(call.op), results);
      if (is_search(call.op)) add_result(call.index, call.lines() * 8, results);
    } else if constexpr (std::is_same_v<Family, ReduceSegmentsFamily>) {
      add_result(call.result, call.segments * 8 * value_words(call.op), results);
    } else if constexpr (requires { call.bins; }) {
      add_result(call.result, call.bins * 8 * value_words(call.op), results);
    } else if constexpr (requires { call.kept; }) {
      add_result(call.kept, 8, results);
    } else if constexpr (requires { call.dots; }) {
      if (call.dots > 0) add_result(call.results, call.dots * 8, results);
    }
  });
}

template <class T>
void OperandsOfLine::add_result(T*& field, int64_t bytes, ExecutionSpace results) {
  const size_t family = record_.call.index();
  const bool value =
      family == GPUMEM_FAMILY_REDUCE || family == GPUMEM_FAMILY_SELECT || family == GPUMEM_FAMILY_ARITHMETIC;
  gpumem_memory_kind kind = results == ExecutionSpace::cuda ? GPUMEM_MEMORY_DEVICE : GPUMEM_MEMORY_PINNED;
  if (record_.completion == Completion::blocking && (value || results == ExecutionSpace::host))
    kind = GPUMEM_MEMORY_PAGEABLE;
  field = static_cast<T*>(add_buffer(nullptr, kind, bytes, 0, false, true));
}

void* OperandsOfLine::add_buffer(const void* address_in_line, gpumem_memory_kind kind, int64_t bytes, size_t misaligned,
                                 bool read, bool written) {
  Buffer& buffer = buffers_.emplace_back(Buffer{address_in_line, nullptr, bytes, read, written, {}});
  const int64_t taken = bytes + static_cast<int64_t>(kAlignment + misaligned);
  void* p = nullptr;
  if (on_host_ || kind == GPUMEM_MEMORY_PAGEABLE) {
    const auto pages = std::make_shared<Scratch>(context_.host(), GPUMEM_MEMORY_PAGEABLE, static_cast<size_t>(taken));
    p = pages->get();
    buffer.memory = pages;
  } else {
    if (!context_.on_cuda() || kind == GPUMEM_MEMORY_MANAGED) require_available_for_call(static_cast<size_t>(taken));
    p = allocate(context_, kind, taken);
    buffer.memory = std::shared_ptr<void>(p, [&context = context_](void* q) {
      try {
        free_memory(context, q);
      } catch (const std::exception&) {  // after a fault, the context frees it
      }
    });
  }
  const auto up = (kAlignment - reinterpret_cast<uintptr_t>(p) % kAlignment) % kAlignment;
  return buffer.at = static_cast<char*>(p) + up + misaligned;
}

void OperandsOfLine::move(void* dst, const void* src, int64_t bytes) {
  if (!context_.on_cuda()) return static_cast<void>(std::memcpy(dst, src, static_cast<size_t>(bytes)));
  context_.device().copy(context_.own_stream(), dst, src, static_cast<size_t>(bytes), Completion::blocking);
}

// Repeats the block: the part that is filled already is copied after itself.
void OperandsOfLine::fill(const Buffer& buffer, std::vector<unsigned char> block) {
  char* const at = static_cast<char*>(buffer.at);
  int64_t done = std::min(buffer.bytes, static_cast<int64_t>(block.size()));
  move(at, block.data(), done);
  for (; done < buffer.bytes; done += std::min(done, buffer.bytes - done))
    move(at + done, at, std::min(done, buffer.bytes - done));
}

std::vector<unsigned char> OperandsOfLine::contents(const Buffer& buffer) const {
  if (!buffer.read) return std::vector<unsigned char>(size_t{1} << 16, 0xa5);
  std::vector<unsigned char> block;
  with_call(record_, [&]<class Family>(const auto& call) {
    if constexpr (requires { call.offsets; }) {
      if (buffer.at != call.offsets) return;
      block = block_of(static_cast<size_t>(call.segments) + 1, 8, [&](size_t i) {
        const auto k = static_cast<int64_t>(i);
        return static_cast<uint64_t>(call.n / call.segments * k + std::min(k, call.n % call.segments));
      });
    } else if constexpr (requires { call.bins; }) {
      if (buffer.at != call.index) return;
      block = block_of(static_cast<size_t>(call.n), element_bytes(call.index_type),
                       [&](size_t i) { return element(GPUMEM_F64, i) % index_limit(call.index_type, call.bins); });
    } else if constexpr (requires {
                           call.mask;
                           call.kept;
                         }) {
      if (buffer.at == call.mask)
        block = block_of(kBlockElements, 1, [&](size_t i) { return element(GPUMEM_U8, i) & 1; });
    } else if constexpr (requires {
                           call.index;
                           call.src_rows;
                         }) {
      if (buffer.at != call.index) return;
      // Steps by a prime that does not divide the number of rows reach each row once.
      constexpr bool gathers = std::is_same_v<Family, GatherFamily>;
      const auto rows = static_cast<uint64_t>(gathers ? call.src_rows : call.dst_rows);
      if (rows == 0) {
        fail(GPUMEM_OUT_OF_RANGE, "line: %s is 0; expected a row for the index to name",
             gathers ? "src_rows" : "dst_rows");
      }
      const uint64_t most =
          call.index_type == GPUMEM_I64 || call.index_type == GPUMEM_U64 ? rows : std::min<uint64_t>(rows, 1u << 31);
      if (!gathers && static_cast<uint64_t>(call.n) > most) {
        fail(GPUMEM_UNSUPPORTED,
             "line: %lld rows go to %llu; expected at most as many, since which of two stays is not defined",
             ll(call.n), static_cast<unsigned long long>(most));
      }
      const uint64_t step = most % 7919 != 0 ? 7919 : 7907;
      block = block_of(static_cast<size_t>(call.n), element_bytes(call.index_type),
                       [&](size_t i) { return i % most * step % most; });
    }
  });
  if (!block.empty()) return block;
  gpumem_dtype dtype = GPUMEM_U8;
  with_call(record_, [&]<class Family>(const auto& call) { dtype = dtype_of(call); });
  return block_of(kBlockElements, element_bytes(dtype), [&](size_t i) { return element(dtype, i); });
}

void OperandsOfLine::renew() {
  for (const Buffer& buffer : buffers_) fill(buffer, contents(buffer));
}

void OperandsOfLine::run() {
  with_call(record_, [&]<class Family>(const auto& call) {
    perform(context_, call, context_.own_stream(), record_.completion);
  });
}

bool OperandsOfLine::same_results(OperandsOfLine& other) {
  constexpr int64_t kPiece = int64_t{16} << 20;
  std::vector<char> own(static_cast<size_t>(kPiece));
  std::vector<char> others(static_cast<size_t>(kPiece));
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    for (int64_t at = 0; buffer.written && at < buffer.bytes; at += kPiece) {
      const int64_t bytes = std::min(kPiece, buffer.bytes - at);
      move(own.data(), static_cast<char*>(buffer.at) + at, bytes);
      move(others.data(), static_cast<char*>(other.buffers_[i].at) + at, bytes);
      if (std::memcmp(own.data(), others.data(), static_cast<size_t>(bytes)) != 0) return false;
    }
  }
  return true;
}

}  // namespace gpumem
