// z = a0 x0 + a1 x1 + ..., or x0 x1, over views.
// Moves: reads each source once and writes z once. In a stencil, the sources are shifted views of one array, and the
//         caches serve most reads of all but the first.
// Access: one element per access, because views shifted by a column share no 16-byte boundary. Neighbouring threads go
//         along a row of z. Tiles are tall (ViewTiles), because a thread reads its neighbours' elements in the rows
//         above and below.
// Shapes: coalesced: aligned elements, and the number of sources is a constant. bytes: any address.
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
  int64_t stride[kMaxViewRank];
  int64_t step[kArithmeticEach];  // from a thread's first element to its second, third, ...
};

template <class T>
struct Views {
  int64_t extent[kMaxViewRank];
  int64_t length[kMaxViewRank];  // extent of a tile
  Divisor<uint32_t> lanes[2];    // of axes 0 and 1
  Divisor<uint32_t> tiles[2];
  uint32_t last_lanes;  // of axis 2
  int32_t along;
  int32_t step;  // elements
  int32_t terms;
  T factor[kMaxTerms];
  View x[kMaxTerms];
  View z;
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

  template <class T>
  __device__ __forceinline__ explicit ViewPlace(const Views<T>& v) {
    uint32_t tile[3];
    uint32_t lane[3];
    split(blockIdx.x, v.tiles, tile);
    split(threadIdx.x, v.lanes, lane);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const int64_t first = tile[a] * v.length[a];
      at[a] = first + lane[a];
      left[a] = static_cast<int32_t>(min(v.extent[a] - first, v.length[a])) - static_cast<int32_t>(lane[a]);
    }
    exists = left[0] > 0 && left[1] > 0 && left[2] > 0 && lane[2] < v.last_lanes;
  }

  __device__ __forceinline__ char* of(const View& view) const {
    return view.first + (at[0] * view.stride[0] + at[1] * view.stride[1] + at[2] * view.stride[2]);
  }
};

// kTerms: the number of sources, or -1 if only v.terms has it. kRows: arithmetic_by_rows().
template <class T, Arithmetic kOp, int kTerms, class Access, bool kRows>
__global__ void __launch_bounds__(kArithmeticThreads) views_kernel(const __grid_constant__ Views<T> v) {
  synchronize_and_trigger();
  constexpr int kMost = kTerms < 0 ? kMaxTerms : kTerms;
  const int terms = kTerms < 0 ? v.terms : kTerms;
  const ViewPlace here(v);
  if (!here.exists) return;
  const char* from[kMaxTerms];
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    if (k < terms) from[k] = here.of(v.x[k]);
  }
  char* to = here.of(v.z);
  int32_t on = v.along == 0 ? here.left[0] : v.along == 1 ? here.left[1] : here.left[2];

  const auto there = [&](int j) { return !kRows || 32 * j < here.left[0]; };
  const auto offset = [&](const View& view, int j) {
    return kRows ? int64_t{32 * sizeof(T)} * j : j == 0 ? 0 : view.step[j - 1];
  };

  const auto take = [&]<int kCount>() {
    constexpr int kSteps = kRows ? 1 : kCount;
    T x[kMaxTerms][kCount];
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      if (k >= terms) break;
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        if (there(j)) x[k][j] = Access::load(reinterpret_cast<const T*>(from[k] + offset(v.x[k], j)));
      }
      from[k] += v.x[k].step[kSteps - 1];
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (!there(j)) break;
      T z = 0;
#pragma unroll
      for (int k = 0; k < kMost; ++k) {
        if (k >= terms) break;
        const T term = kOp == Arithmetic::multiply ? x[k][j] : product(v.factor[k], x[k][j]);
        z = k == 0 ? term : kOp == Arithmetic::multiply ? product(z, term) : sum(z, term);
      }
      Access::store(reinterpret_cast<T*>(to + offset(v.z, j)), canonical(z));
    }
    to += v.z.step[kSteps - 1];
    on -= kSteps * v.step;
  };
#pragma unroll 1
  while (on > (kRows ? 0 : kArithmeticEach - 1) * v.step) take.template operator()<kArithmeticEach>();
#pragma unroll 1
  while (on > 0) take.template operator()<1>();
}

View view_of(const void* first, const int64_t* strides, const ViewTiles& tiles, int64_t element) {
  View view{static_cast<char*>(const_cast<void*>(first)), {}, {}};
  for (int32_t a = 0; a < kMaxViewRank; ++a) view.stride[a] = tiles.stride(strides, a) * element;
  for (int j = 0; j < kArithmeticEach; ++j) {
    view.step[j] = (j + 1) * tiles.lanes[tiles.along] * view.stride[tiles.along];
  }
  return view;
}

template <class T>
Views<T> views_of(const ArithmeticParams& params, const ViewTiles& tiles) {
  Views<T> v{};
  v.terms = params.terms;
  for (int32_t a = 0; a < kMaxViewRank; ++a) {
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
  for (int k = 0; k < params.terms; ++k) {
    std::memcpy(&v.factor[k], &params.factors[k], sizeof(T));
    v.x[k] = view_of(params.x[k], params.x_strides[k], tiles, sizeof(T));
  }
  v.z = view_of(params.z, params.z_strides, tiles, sizeof(T));
  return v;
}

template <int kTerms>
constexpr bool kMany = kTerms > 3;

template <class T, class Access>
auto kernel_of(const ArithmeticParams& params, bool by_rows) {
  if (params.op == Arithmetic::multiply) return views_kernel<T, Arithmetic::multiply, 2, Access, false>;
  if constexpr (std::is_same_v<Access, Bytewise>) {
    return by_rows ? views_kernel<T, Arithmetic::lincomb, -1, Access, true>
                   : views_kernel<T, Arithmetic::lincomb, -1, Access, false>;
  } else {
    const auto of_terms = [&]<int... kTerms>(std::integer_sequence<int, kTerms...>) {
      constexpr void (*kKernels[2][kMaxTerms + 1])(Views<T>) = {
          {views_kernel<T, Arithmetic::lincomb, kTerms, Access, false>...},
          {views_kernel<T, Arithmetic::lincomb, kTerms, Access, kMany<kTerms>>...}};
      return kKernels[by_rows ? 1 : 0][params.terms];
    };
    return of_terms(std::make_integer_sequence<int, kMaxTerms + 1>{});
  }
}

template <class Access>
LaunchResult start(const ArithmeticParams& params, const Config& config, const Launch& launch) {
  const auto tiles = config.own.get<ViewTiles>();
  const auto start_type = [&]<class T>() {
    return enqueue_programmatic(kernel_of<T, Access>(params, tiles.across > 1), static_cast<unsigned>(config.grid),
                                kArithmeticThreads, launch, views_of<T>(params, tiles));
  };
  return for_float_or_double(params.dtype, start_type);
}

}  // namespace

LaunchResult arithmetic_coalesced(const ArithmeticParams& params, const Config& config, const Launch& launch) {
  return start<Aligned>(params, config, launch);
}
LaunchResult arithmetic_bytes(const ArithmeticParams& params, const Config& config, const Launch& launch) {
  return start<Bytewise>(params, config, launch);
}

LaunchResult arithmetic_preload() { return preload(views_kernel<float, Arithmetic::multiply, 2, Aligned, false>); }

}  // namespace gpumem::kernels
