// z = a0 x0 + a1 x1 + ..., or x0 x1, over views.
// Moves: reads each source once and writes z once. In a stencil, the sources are shifted views of one array, and the
//         caches serve most reads of all but the first.
// Access: one element per access, because views shifted by a column share no 16-byte boundary. Neighbouring threads go
//         along a row of z. Tiles are tall (ViewTiles), because a thread reads its neighbours' elements in the rows
//         above and below.
// Shapes: coalesced: aligned elements, up to 8 sources, whose number is a constant, or up to 3 with factors in memory, and
//         up to three axes. general: all aligned elements. bytes: any address.
// H200, share of a copy's rate: five points of 8192 x 8192: f32 0.75, f64 0.90; seven of 384^3: 0.61, 0.69.
// A thread reads only the elements of z that it overwrites itself, so z may be a source.
#include <cstring>
#include <utility>

#include "kernels/arithmetic/arithmetic.hpp"
#include "kernels/arithmetic/limits.hpp"
#include "kernels/division.hpp"
#include "kernels/elements.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/rounded.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

struct View {
  char* first;
  int64_t stride[kTileAxes];
  int64_t step[kArithmeticEach];  // from a thread's first element to its second, third, ...
};

struct Tiling {
  int64_t extent[kTileAxes];
  int64_t length[kTileAxes];   // extent of a tile
  Divisor<uint32_t> lanes[2];  // of axes 0 and 1
  Divisor<uint32_t> tiles[2];
  uint32_t last_lanes;  // of axis 2
  int32_t along;
  int32_t step;  // elements
  int32_t terms;
};

template <class T>
struct Views : Tiling {
  T factor[kFewTerms];
  View x[kFewTerms];
  View z;
  const double* numerator[kTermsInMemory];  // nullptr: 1
  const double* denominator[kTermsInMemory];
};

// Distances are in bytes. The outer axes come last.
struct AnyView {
  char* first;
  int64_t stride[kMaxViewRank];
  int64_t step;
};

template <class T>
struct AnyViews : Tiling {
  bool multiplies;
  int32_t rank;
  Divisor<uint32_t> blocks;  // per index along the outer axes
  Divisor<uint32_t> outer[kMaxViewRank - kTileAxes];
  T factor[kMaxTerms];
  const double* numerator[kMaxTerms];
  const double* denominator[kMaxTerms];
  AnyView operand[kMaxTerms + 1];  // the sources, then z
};

__device__ void split(uint32_t i, const Divisor<uint32_t> (&radix)[2], uint32_t (&digit)[3]) {
  const uint32_t rest = radix[0].quotient(i);
  digit[2] = radix[1].quotient(rest);
  digit[1] = rest - digit[2] * radix[1].value;
  digit[0] = i - rest * radix[0].value;
}

// A thread's first element, and the elements from there to the end of its tile.
struct ViewPlace {
  int64_t at[3];
  int32_t left[3];
  bool exists;

  __device__ __forceinline__ ViewPlace(const Tiling& v, uint32_t block) {
    uint32_t tile[3];
    uint32_t lane[3];
    split(block, v.tiles, tile);
    split(threadIdx.x, v.lanes, lane);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const int64_t first = tile[a] * v.length[a];
      at[a] = first + lane[a];
      left[a] = static_cast<int32_t>(min(v.extent[a] - first, v.length[a])) - static_cast<int32_t>(lane[a]);
    }
    exists = left[0] > 0 && left[1] > 0 && left[2] > 0 && lane[2] < v.last_lanes;
  }

  template <class V>
  __device__ __forceinline__ int64_t offset(const V& view) const {
    return at[0] * view.stride[0] + at[1] * view.stride[1] + at[2] * view.stride[2];
  }
  __device__ __forceinline__ char* of(const View& view) const { return view.first + offset(view); }
};

// The constructor only begins to read factors in memory, so that the first elements do not wait for them.
template <class T, int kTerms, bool kInMemory>
class Factors {
 public:
  __device__ __forceinline__ explicit Factors(const Views<T>& v) {
#pragma unroll
    for (int k = 0; k < kTerms; ++k) {
      value_[k] = v.factor[k];
      if constexpr (kInMemory) {
        numerator_[k] = number_in_memory(v.numerator[k]);
        denominator_[k] = number_in_memory(v.denominator[k]);
      }
    }
  }
  __device__ __forceinline__ void finish() {
    if constexpr (kInMemory) {
      if (finished_) return;
      finished_ = true;
#pragma unroll
      for (int k = 0; k < kTerms; ++k) value_[k] = factor_of(value_[k], numerator_[k], denominator_[k]);
    }
  }
  __device__ __forceinline__ T operator[](int k) const { return value_[k]; }

 private:
  static constexpr int kCount = kTerms > 0 ? kTerms : 1;
  T value_[kCount];
  double numerator_[kInMemory ? kCount : 1];
  double denominator_[kInMemory ? kCount : 1];
  bool finished_ = false;
};

// kRows: arithmetic_by_rows(). kInMemory: factors have numerators and denominators.
template <class T, Arithmetic kOp, int kTerms, bool kRows, bool kInMemory = false>
__global__ void __launch_bounds__(kArithmeticThreads) views_kernel(const __grid_constant__ Views<T> v) {
  synchronize_and_trigger();
  Factors<T, kTerms, kInMemory> factor(v);
  const ViewPlace here(v, blockIdx.x);
  if (!here.exists) return;
  const char* from[kFewTerms];
#pragma unroll
  for (int k = 0; k < kTerms; ++k) from[k] = here.of(v.x[k]);
  char* to = here.of(v.z);
  int32_t on = v.along == 0 ? here.left[0] : v.along == 1 ? here.left[1] : here.left[2];

  const auto there = [&](int j) { return !kRows || 32 * j < here.left[0]; };
  const auto offset = [&](const View& view, int j) {
    return kRows ? int64_t{32 * sizeof(T)} * j : j == 0 ? 0 : view.step[j - 1];
  };

  const auto take = [&]<int kCount>() {
    constexpr int kSteps = kRows ? 1 : kCount;
    T x[kFewTerms][kCount];
#pragma unroll
    for (int k = 0; k < kTerms; ++k) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        if (there(j)) x[k][j] = Aligned::load(reinterpret_cast<const T*>(from[k] + offset(v.x[k], j)));
      }
      from[k] += v.x[k].step[kSteps - 1];
    }
    factor.finish();
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (!there(j)) break;
      T z = 0;
#pragma unroll
      for (int k = 0; k < kTerms; ++k) {
        const T term = kOp == Arithmetic::multiply ? x[k][j] : product(factor[k], x[k][j]);
        z = k == 0 ? term : kOp == Arithmetic::multiply ? product(z, term) : sum(z, term);
      }
      Aligned::store(reinterpret_cast<T*>(to + offset(v.z, j)), canonical(z));
    }
    to += v.z.step[kSteps - 1];
    on -= kSteps * v.step;
  };
#pragma unroll 1
  while (on > (kRows ? 0 : kArithmeticEach - 1) * v.step) take.template operator()<kArithmeticEach>();
#pragma unroll 1
  while (on > 0) take.template operator()<1>();
}

// One source after the other, which needs few registers for any number of them.
template <class T, class Access>
__global__ void __launch_bounds__(kArithmeticThreads) any_kernel(const __grid_constant__ AnyViews<T> v) {
  synchronize_and_trigger();
  __shared__ char* first[kMaxTerms + 1];  // at the block's indices along the outer axes
  __shared__ T factor[kMaxTerms];
  const uint32_t outer = v.blocks.quotient(blockIdx.x);
  if (threadIdx.x <= kMaxTerms) {
    const AnyView& operand = v.operand[threadIdx.x];
    char* at = operand.first;
    uint32_t rest = outer;
#pragma unroll 1
    for (int a = kTileAxes; a < v.rank; ++a) {
      const Divisor<uint32_t>& extent = v.outer[a - kTileAxes];
      const uint32_t above = extent.quotient(rest);
      at += (rest - above * extent.value) * operand.stride[a];
      rest = above;
    }
    first[threadIdx.x] = at;
  }
  if (const uint32_t k = threadIdx.x; k < static_cast<uint32_t>(v.terms)) {
    factor[k] = factor_in_memory(v.factor[k], v.numerator[k], v.denominator[k]);
  }
  __syncthreads();
  const ViewPlace here(v, blockIdx.x - outer * v.blocks.value);
  if (!here.exists) return;
  const auto place = [&](int k, int32_t done) {
    const AnyView& operand = v.operand[k];
    return first[k] + here.offset(operand) + done * operand.step;
  };
  const int32_t on = v.along == 0 ? here.left[0] : v.along == 1 ? here.left[1] : here.left[2];
  const int32_t count = (on + v.step - 1) / v.step;
#pragma unroll 1
  for (int32_t done = 0; done < count; done += kArithmeticAtOnce) {
    const auto there = [&](int j) { return done + j < count; };
    // Neutral: -0 + x is x, and 1 * x is x.
    const T start = v.terms == 0 ? T{0} : v.multiplies ? T{1} : -T{0};
    T z[kArithmeticAtOnce];
#pragma unroll
    for (int j = 0; j < kArithmeticAtOnce; ++j) z[j] = start;
#pragma unroll 1
    for (int k = 0; k < v.terms; ++k) {
      const char* from = place(k, done);
      T x[kArithmeticAtOnce];
#pragma unroll
      for (int j = 0; j < kArithmeticAtOnce; ++j) {
        if (there(j)) x[j] = Access::load(reinterpret_cast<const T*>(from + j * v.operand[k].step));
      }
#pragma unroll
      for (int j = 0; j < kArithmeticAtOnce; ++j) {
        if (there(j)) z[j] = v.multiplies ? product(z[j], x[j]) : sum(z[j], product(factor[k], x[j]));
      }
    }
    char* to = place(kMaxTerms, done);
#pragma unroll
    for (int j = 0; j < kArithmeticAtOnce; ++j) {
      if (there(j)) Access::store(reinterpret_cast<T*>(to + j * v.operand[kMaxTerms].step), canonical(z[j]));
    }
  }
}

View view_of(const void* first, const int64_t* strides, const ViewTiles& tiles, int64_t element) {
  View view{static_cast<char*>(const_cast<void*>(first)), {}, {}};
  for (int32_t a = 0; a < kTileAxes; ++a) view.stride[a] = tiles.stride(strides, a) * element;
  for (int j = 0; j < kArithmeticEach; ++j) {
    view.step[j] = (j + 1) * tiles.lanes[tiles.along] * view.stride[tiles.along];
  }
  return view;
}

void set_tiling(Tiling& v, const ViewTiles& tiles) {
  for (int32_t a = 0; a < kTileAxes; ++a) {
    v.extent[a] = tiles.extent[a];
    v.length[a] = tiles.length(a);
  }
  for (int32_t a = 0; a < 2; ++a) {
    v.lanes[a] = Divisor<uint32_t>(static_cast<uint32_t>(tiles.lanes[a]));
    v.tiles[a] = Divisor<uint32_t>(static_cast<uint32_t>(tiles.count(a)));
  }
  v.last_lanes = static_cast<uint32_t>(tiles.lanes[2]);
  v.along = tiles.along;
  v.step = static_cast<int32_t>(tiles.lanes[tiles.along]);
}

template <class T>
Views<T> views_of(const ArithmeticParams& params, const ViewTiles& tiles) {
  Views<T> v{};
  set_tiling(v, tiles);
  for (int k = 0; k < params.terms; ++k) {
    std::memcpy(&v.factor[k], &params.factors[k], sizeof(T));
    if (k < kTermsInMemory) {
      v.numerator[k] = params.numerators[k];
      v.denominator[k] = params.denominators[k];
    }
    v.x[k] = view_of(params.x[k], params.x_strides[k], tiles, sizeof(T));
  }
  v.z = view_of(params.z, params.z_strides, tiles, sizeof(T));
  return v;
}

AnyView any_view_of(const void* first, const int64_t* strides, const ViewTiles& tiles, int64_t element) {
  AnyView view{static_cast<char*>(const_cast<void*>(first)), {}, 0};
  for (int32_t a = 0; a < tiles.rank; ++a) view.stride[a] = tiles.stride(strides, a) * element;
  view.step = tiles.lanes[tiles.along] * view.stride[tiles.along];
  return view;
}

template <class T>
AnyViews<T> any_views_of(const ArithmeticParams& params, const ViewTiles& tiles) {
  AnyViews<T> v{};
  set_tiling(v, tiles);
  v.terms = params.terms;
  v.multiplies = params.op == Arithmetic::multiply;
  v.rank = tiles.rank;
  v.blocks = Divisor<uint32_t>(static_cast<uint32_t>(tiles.count(0) * tiles.count(1) * tiles.count(2)));
  for (int32_t a = kTileAxes; a < tiles.rank; ++a) {
    v.outer[a - kTileAxes] = Divisor<uint32_t>(static_cast<uint32_t>(tiles.extent[a]));
  }
  for (int k = 0; k < params.terms; ++k) {
    std::memcpy(&v.factor[k], &params.factors[k], sizeof(T));
    v.numerator[k] = params.numerators[k];
    v.denominator[k] = params.denominators[k];
    v.operand[k] = any_view_of(params.x[k], params.x_strides[k], tiles, sizeof(T));
  }
  v.operand[kMaxTerms] = any_view_of(params.z, params.z_strides, tiles, sizeof(T));
  return v;
}

template <int kTerms>
constexpr bool kMany = kTerms > 3;

template <class T>
auto kernel_of(const ArithmeticParams& params, bool by_rows) {
  if (params.op == Arithmetic::multiply) return views_kernel<T, Arithmetic::multiply, 2, false>;
  if (params.in_memory != 0) {
    static_assert(kTermsInMemory == 3);
    constexpr void (*kKernels[])(Views<T>) = {views_kernel<T, Arithmetic::lincomb, 1, false, true>,
                                              views_kernel<T, Arithmetic::lincomb, 2, false, true>,
                                              views_kernel<T, Arithmetic::lincomb, 3, false, true>};
    return kKernels[params.terms - 1];
  }
  const auto of_terms = [&]<int... kTerms>(std::integer_sequence<int, kTerms...>) {
    constexpr void (*kKernels[2][kFewTerms + 1])(Views<T>) = {
        {views_kernel<T, Arithmetic::lincomb, kTerms, false>...},
        {views_kernel<T, Arithmetic::lincomb, kTerms, kMany<kTerms>>...}};
    return kKernels[by_rows ? 1 : 0][params.terms];
  };
  return of_terms(std::make_integer_sequence<int, kFewTerms + 1>{});
}

template <class Access>
LaunchResult start_any(const ArithmeticParams& params, const Config& config, const Launch& launch) {
  const auto own = config.own.get<GeneralConfig>();
  const LaunchResult error = for_float_or_double(params.dtype, [&]<class T>() {
    return enqueue_programmatic(any_kernel<T, Access>, static_cast<unsigned>(config.grid), kArithmeticThreads, launch,
                                any_views_of<T>(params, own.tiles));
  });
  return error == cudaSuccess ? separate_dots(params, own, launch) : error;
}

}  // namespace

LaunchResult arithmetic_coalesced(const ArithmeticParams& params, const Config& config, const Launch& launch) {
  const auto tiles = config.own.get<ViewTiles>();
  return for_float_or_double(params.dtype, [&]<class T>() {
    return enqueue_programmatic(kernel_of<T>(params, tiles.across > 1), static_cast<unsigned>(config.grid),
                                kArithmeticThreads, launch, views_of<T>(params, tiles));
  });
}
LaunchResult arithmetic_general(const ArithmeticParams& params, const Config& config, const Launch& launch) {
  return start_any<Aligned>(params, config, launch);
}
LaunchResult arithmetic_bytes(const ArithmeticParams& params, const Config& config, const Launch& launch) {
  return start_any<Bytewise>(params, config, launch);
}

LaunchResult arithmetic_preload() { return preload(views_kernel<float, Arithmetic::multiply, 2, false>); }

}  // namespace gpumem::kernels
