// dst[i] = src[i] as another type; compiled once per instruction set (loops.hpp). Blocks that stay in L1 are converted
// through a hub, a type that can represent every element of src. So each type needs one loop to each hub and one from
// it, not one per type.
#include <cstring>

#include "backend/host/loops/common.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/stream_stores.hpp"
#include "kernels/convert/element.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace gpumem {
namespace {

constexpr int64_t kBlockElements = 256;

// 64-bit integers become doubles by rounding to odd, because another rounding follows. NaNs are canonical from here on.
template <class Hub, class T>
inline Hub to_hub(T v) {
  if constexpr (std::is_same_v<Hub, T> && !kIsInteger<T>) return canonical(v);
  if constexpr (std::is_same_v<Hub, double> && kIsInteger<T> && sizeof(T) == 8) return odd<double>(v);
  return converted<Hub>(v);
}

template <class Hub, class T, Hub (*kTo)(T) = to_hub<Hub, T>>
void load(const char* __restrict src, int64_t n, Hub* __restrict hub) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Half>) {
    for (; i + 8 <= n; i += 8) {
      const __m256 v = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i * 2)));
      const __m256 is_nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
      _mm256_storeu_ps(hub + i, _mm256_blendv_ps(v, _mm256_set1_ps(float_of(0x7fc00000u)), is_nan));
    }
  }
#endif
  for (; i < n; ++i) hub[i] = kTo(load_as<T>(src + i * static_cast<int64_t>(sizeof(T))));
}

template <class Hub, class T>
void store(const char* __restrict hub, int64_t n, char* __restrict dst) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Half> && std::is_same_v<Hub, float>) {
    for (; i + 8 <= n; i += 8) {
      const __m256 v = load_as<__m256>(hub + i * 4);
      const __m128i halves = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i * 2), halves);
    }
  }
#endif
  for (; i < n; ++i) {
    const T v = converted<T>(load_as<Hub>(hub + i * static_cast<int64_t>(sizeof(Hub))));
    std::memcpy(dst + i * static_cast<int64_t>(sizeof(T)), &v, sizeof v);
  }
}

template <class Hub>
using Load = void (*)(const char* __restrict src, int64_t n, Hub* __restrict hub);
using Store = void (*)(const char* __restrict hub, int64_t n, char* __restrict dst);

enum class HubType { i32, i64, f32, f64 };

constexpr HubType hub_of(gpumem_dtype from, gpumem_dtype to) {
  const bool short_integer = !is_floating(from) && element_bytes(from) <= 2;
  if (!is_floating(from) && !is_floating(to)) {
    const bool fits = short_integer || from == GPUMEM_I32 || (from == GPUMEM_U32 && element_bytes(to) <= 4);
    return fits ? HubType::i32 : HubType::i64;
  }
  const bool short_float = is_floating(from) && from != GPUMEM_F64;
  return short_integer || short_float ? HubType::f32 : HubType::f64;
}

template <class Hub, HubType kHub>
constexpr ByType<Load<Hub>> kLoads = by_type<Load<Hub>>([]<gpumem_dtype kFrom>() -> Load<Hub> {
  if constexpr (hub_of(kFrom, GPUMEM_I8) == kHub || hub_of(kFrom, GPUMEM_U64) == kHub ||
                hub_of(kFrom, GPUMEM_F32) == kHub)
    return load<Hub, ElementOf<kFrom>>;
  return nullptr;
});
template <class Hub>
constexpr ByType<Store> kStores = by_type<Store>([]<gpumem_dtype kTo>() -> Store {
  if constexpr (!kIsInteger<Hub> || !is_floating(kTo)) return store<Hub, ElementOf<kTo>>;
  return nullptr;
});

// Blocks end at a line boundary of dst if its elements can begin there. load: nullptr if src is the hub. out: a block
// that is written before dst; nullptr if dst is written directly.
template <class Hub>
inline void in_blocks(const ConvertRun& run, Load<Hub> load, Store store, char* out) {
  const int64_t from = element_bytes(run.src_type);
  const int64_t to = element_bytes(run.dst_type);
  alignas(kLine) Hub hub[kBlockElements];
  int64_t count = kBlockElements - static_cast<int64_t>(reinterpret_cast<uintptr_t>(run.dst) % kLine) / to;
  for (int64_t at = 0; at < run.n; at += count, count = kBlockElements) {
    if (count > run.n - at) count = run.n - at;
    const char* src = run.src + at * from;
    char* dst = run.dst + at * to;
    for (int64_t line = 0; line < count * from; line += kLineBytes) prefetch_ahead(src + line);
    if (load != nullptr) load(src, count, hub);
    store(load != nullptr ? reinterpret_cast<const char*>(hub) : src, count, out != nullptr ? out : dst);
    if (out != nullptr) stream_row(dst, out, count * to);
  }
}

// A separate function, because only these conversions need the memory.
template <class Hub>
[[gnu::noinline]] void around_caches(const ConvertRun& run, Load<Hub> load, Store store) {
  alignas(kLine) char out[kBlockElements * 8];
  in_blocks<Hub>(run, load, store, out);
  stream_fence();
}

template <class Hub>
void through(const ConvertRun& run, Load<Hub> load, Store store) {
  run.stream ? around_caches<Hub>(run, load, store) : in_blocks<Hub>(run, load, store, nullptr);
}

template <class Hub, HubType kHub>
void through(const ConvertRun& run) {
  Load<Hub> first = kLoads<Hub, kHub>[run.src_type];
  // Excluded if dst overwrites src, and if dst is f16, because f16 needs canonical NaNs.
  constexpr gpumem_dtype kTypes[] = {GPUMEM_I32, GPUMEM_I64, GPUMEM_F32, GPUMEM_F64};
  if (run.src_type == kTypes[static_cast<int>(kHub)] && run.src != run.dst && run.dst_type != GPUMEM_F16)
    first = nullptr;
  if constexpr (kHub == HubType::f64) {
    if (run.dst_type == GPUMEM_F64 && run.src_type == GPUMEM_I64) first = load<double, int64_t, converted>;
    if (run.dst_type == GPUMEM_F64 && run.src_type == GPUMEM_U64) first = load<double, uint64_t, converted>;
  }
  through<Hub>(run, first, kStores<Hub>[run.dst_type]);
}

}  // namespace

namespace GPUMEM_LOOPS {
void convert(const ConvertRun& run) {
  if (run.src_type == run.dst_type) {
    const int64_t bytes = run.n * element_bytes(run.src_type);
    if (!run.stream) return static_cast<void>(std::memcpy(run.dst, run.src, static_cast<size_t>(bytes)));
    stream_row(run.dst, run.src, bytes);
    return stream_fence();
  }
  switch (hub_of(run.src_type, run.dst_type)) {
    case HubType::i32:
      return through<int32_t, HubType::i32>(run);
    case HubType::i64:
      return through<int64_t, HubType::i64>(run);
    case HubType::f32:
      return through<float, HubType::f32>(run);
    case HubType::f64:
      return through<double, HubType::f64>(run);
  }
}
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
