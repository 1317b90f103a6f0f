// Permutations on the host: one loop moves a core of two axes, an outer walk covers the other axes.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/runs.hpp"
#include "backend/host/stream_stores.hpp"
#include "kernels/limits.hpp"
#include "kernels/sizes.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

// From about this size on, whole lines are written around the caches.
constexpr int64_t kStreamedBytes = int64_t{1} << 20;

// If an axis of a core is shorter than a line, the next core continues in the same lines. L2 must hold this many until
// then.
constexpr int64_t kLinesAtOnce = 2048;

// If y has at least this many contiguous bytes in dst, most lines are written whole.
constexpr int64_t kWholeLines = 8 * kLine;

// x by y elements with any strides on both sides, in blocks that stay in L1.
struct StridedBlock {
  const char* src;
  int64_t src_x;  // bytes
  int64_t src_y;
  char* dst;
  int64_t dst_x;
  int64_t dst_y;
  int64_t x;
  int64_t y;
};

constexpr int64_t kBlock = 32;  // elements per side

template <int kBytes>
void move_strided_of(const StridedBlock& b) noexcept {
  for (int64_t x0 = 0; x0 < b.x; x0 += kBlock) {
    for (int64_t y0 = 0; y0 < b.y; y0 += kBlock) {
      const int64_t x1 = std::min(x0 + kBlock, b.x);
      const int64_t y1 = std::min(y0 + kBlock, b.y);
      for (int64_t x = x0; x < x1; ++x) {
        const char* src = b.src + x * b.src_x;
        char* dst = b.dst + x * b.dst_x;
        for (int64_t y = y0; y < y1; ++y) std::memcpy(dst + y * b.dst_y, src + y * b.src_y, kBytes);
      }
    }
  }
}

// The same if y is the fastest axis on both sides. Compilers vectorise loops with known strides.
template <int kBytes>
void move_lines_of(const StridedBlock& block) noexcept {
  const auto lines = [b = block](auto src_y, auto dst_y) {  // a copy, which stores cannot alias
    for (int64_t x = 0; x < b.x; ++x) {
      const char* __restrict const src = b.src + x * b.src_x;
      char* __restrict const dst = b.dst + x * b.dst_x;
      for (int64_t y = 0; y < b.y; ++y) std::memcpy(dst + y * dst_y, src + y * src_y, kBytes);
    }
  };
  using Packed = std::integral_constant<int64_t, kBytes>;
  using EverySecond = std::integral_constant<int64_t, int64_t{2} * kBytes>;
  if (block.dst_y == kBytes && block.src_y == EverySecond::value) return lines(EverySecond{}, Packed{});
  if (block.dst_y == kBytes) return lines(block.src_y, Packed{});
  lines(block.src_y, block.dst_y);
}

struct Axis {
  int64_t extent = 1;
  int64_t src_stride = 0;  // bytes
  int64_t dst_stride = 0;
};

// The core's axes x and y, and the outer axes. The one with the smallest stride on either side comes first, because its
// neighbours share lines. A half-written line of dst costs a read and a write, a line of src only a read. If y is long,
// few lines of dst are half written.
struct Walk {
  Axis x;
  Axis y;
  bool lines = false;  // y is the fastest axis on both sides
  int32_t rank = 0;
  Axis outer[kMaxPermuteRank];
  int64_t count = 1;

  Walk(const PermuteAxes& a, int32_t x_axis, int32_t y_axis) noexcept {
    const bool whole_lines = y_axis >= 0 && a.extent[y_axis] * a.element_bytes >= kWholeLines;
    for (int32_t d = 0; d < a.rank; ++d) {
      const Axis axis{a.extent[d], a.src_stride[d] * a.element_bytes, a.dst_stride[d] * a.element_bytes};
      if (d == x_axis) {
        x = axis;
      } else if (d == y_axis) {
        y = axis;
      } else {
        insert(axis, whole_lines ? 1 : 2);
        count *= axis.extent;
      }
    }
  }

 private:
  void insert(const Axis& axis, int64_t cost_of_dst) noexcept {
    const auto smaller = [&](const Axis& of) noexcept { return std::min(of.src_stride, of.dst_stride / cost_of_dst); };
    int32_t at = rank++;
    for (; at > 0 && smaller(axis) < smaller(outer[at - 1]); --at) outer[at] = outer[at - 1];
    outer[at] = axis;
  }
};

struct Place {
  const Walk& walk;
  int64_t index[kMaxPermuteRank] = {};
  int64_t src = 0;  // bytes
  int64_t dst = 0;

  Place(const Walk& through, int64_t number) noexcept : walk(through) {
    for (int32_t d = 0; d < walk.rank; ++d) {
      index[d] = number % walk.outer[d].extent;
      number /= walk.outer[d].extent;
      src += index[d] * walk.outer[d].src_stride;
      dst += index[d] * walk.outer[d].dst_stride;
    }
  }
  void next() noexcept {
    for (int32_t d = 0; d < walk.rank; ++d) {
      const Axis& axis = walk.outer[d];
      src += axis.src_stride;
      dst += axis.dst_stride;
      if (++index[d] < axis.extent) return;
      src -= axis.extent * axis.src_stride;
      dst -= axis.extent * axis.dst_stride;
      index[d] = 0;
    }
  }
};

struct Band {
  int64_t src;  // bytes from the operands' first elements to the core's
  int64_t dst;
  int64_t first_x, last_x;
  int64_t first_y, last_y;
};

// Cuts the cores' longer axis at multiples of `step` into bands of about `longest`, or smaller ones if the tasks need
// more work. Lines stay whole if there are enough of them, and x is cut. Calls move(band) for every band of every core,
// all cores of a band one after the other.
template <class Move>
void over_bands(const HostTeam& team, int64_t tasks, const Walk& walk, int64_t step, int64_t longest,
                const Move& move) noexcept {
  const bool whole_lines = walk.lines && walk.x.extent >= 4 * tasks;
  const bool cut_x = whole_lines || walk.x.extent > walk.y.extent;
  if (whole_lines) step = 1;
  const int64_t length = cut_x ? walk.x.extent : walk.y.extent;
  const int64_t steps = ceil_div(length, step);
  const int64_t wanted = tasks == 1 ? 1 : ceil_div(4 * tasks, walk.count);
  const int64_t steps_a_band = std::min(ceil_div(steps, wanted), std::max<int64_t>(ceil_div(longest, step), 1));
  const int64_t band = steps_a_band * step;
  const int64_t units = ceil_div(steps, steps_a_band) * walk.count;
  const int64_t units_a_task = ceil_div(units, tasks);
  team.parallel(ceil_div(units, units_a_task), [&](int64_t task) {
    const int64_t last = std::min((task + 1) * units_a_task, units);
    Place place(walk, task * units_a_task % walk.count);
    for (int64_t unit = task * units_a_task; unit < last; ++unit, place.next()) {
      const int64_t first = unit / walk.count * band;
      const int64_t end = std::min(first + band, length);
      if (cut_x) {
        move(Band{place.src, place.dst, first, end, 0, walk.y.extent});
      } else {
        move(Band{place.src, place.dst, 0, walk.x.extent, first, end});
      }
    }
  });
}

int64_t longest_band(const Walk& walk, int64_t element_bytes) noexcept {
  const int64_t shorter = std::min(walk.x.extent, walk.y.extent);
  return shorter * element_bytes < kLine ? kLinesAtOnce : std::max(walk.x.extent, walk.y.extent);
}

struct Operands {
  const char* src;
  char* dst;
};
Operands operands_of(const PermuteParams& args) noexcept {
  return {static_cast<const char*>(args.src), static_cast<char*>(args.dst)};
}

// Of the axes of src but the first: the one with the smallest stride, or -1.
int32_t second_axis(const PermuteAxes& axes) noexcept {
  int32_t next = axes.rank > 1 ? 1 : -1;
  for (int32_t d = 2; d < axes.rank; ++d) {
    if (axes.src_stride[d] < axes.src_stride[next]) next = d;
  }
  return next;
}

// x is the run, y the axis along which runs follow each other.
void move_rows(const HostTeam& team, const PermuteParams& args, int64_t tasks) noexcept {
  const Operands at = operands_of(args);
  const int64_t element = args.axes.element_bytes;
  const Walk walk(args.axes, 0, second_axis(args.axes));
  const int64_t bytes = args.axes.elements() * element;
  const bool stream = bytes >= kStreamedBytes && walk.x.extent * element >= kWholeLines;
  over_bands(team, tasks, walk, kLine, std::max(walk.x.extent, walk.y.extent), [&](const Band& p) {
    move_runs({at.src + p.src + p.first_x * element + p.first_y * walk.y.src_stride, walk.y.src_stride,
               at.dst + p.dst + p.first_x * element + p.first_y * walk.y.dst_stride, walk.y.dst_stride,
               (p.last_x - p.first_x) * element, p.last_y - p.first_y, stream});
  });
}

template <class Move>
void move_cores(const HostTeam& team, const PermuteParams& args, int64_t tasks, const Walk& walk,
                const Move& move) noexcept {
  const Operands at = operands_of(args);
  const int64_t element = args.axes.element_bytes;
  over_bands(team, tasks, walk, kLine, longest_band(walk, element), [&](const Band& p) {
    const char* src = at.src + p.src + p.first_x * walk.x.src_stride + p.first_y * walk.y.src_stride;
    char* dst = at.dst + p.dst + p.first_x * walk.x.dst_stride + p.first_y * walk.y.dst_stride;
    move({src, walk.x.src_stride, walk.y.src_stride, dst, walk.x.dst_stride, walk.y.dst_stride, p.last_x - p.first_x,
          p.last_y - p.first_y});
  });
}

void move_strided(const HostTeam& team, const PermuteParams& args, int64_t tasks, const Walk& walk) noexcept {
  for_size(args.axes.element_bytes,
           [&]<int kBytes>() { move_cores(team, args, tasks, walk, move_strided_of<kBytes>); });
}

// x is the fastest axis of src, y the fastest of dst.
void move_planes(const HostTeam& team, const PermuteParams& args, const Config& shape) noexcept {
  const Operands at = operands_of(args);
  const int64_t element = args.axes.element_bytes;
  const int32_t fastest = src_fastest(args.axes);
  const Walk walk(args.axes, fastest, 0);
  // The transpose loops need blocks of at least 16 bytes per side.
  if (std::min(walk.x.extent, walk.y.extent) * element < 16) return move_strided(team, args, shape.grid, walk);
  const auto loop = team.loops.moves.transpose[log2_of(element)];
  const bool stream = walk.y.extent * element >= kWholeLines &&
                      streams_transpose(args.axes.elements() * element, args.axes.src_stride[0] * element,
                                        args.axes.dst_stride[fastest] * element);
  over_bands(team, shape.grid, walk, shape.tile, longest_band(walk, element), [&](const Band& p) {
    const TaskMemory buffer(stream ? host_transpose_buffer_bytes(element) : 0);
    loop({at.src + p.src, args.axes.src_stride[0], at.dst + p.dst, args.axes.dst_stride[fastest], p.first_y, p.last_y,
          p.first_x, p.last_x, buffer.get()});
  });
}

// x is the axis with the smallest stride of src, y the fastest axis of dst. If these are one axis, it is y.
void move_general(const HostTeam& team, const PermuteParams& args, int64_t tasks) noexcept {
  const PermuteAxes& a = args.axes;
  int32_t closest = 0;
  for (int32_t d = 1; d < a.rank; ++d) {
    const bool moves = a.src_stride[d] > 0;
    if (moves && (a.src_stride[closest] == 0 || a.src_stride[d] < a.src_stride[closest])) closest = d;
  }
  if (closest != 0) return move_strided(team, args, tasks, Walk(a, closest, 0));
  Walk walk(a, second_axis(a), 0);
  walk.lines = true;
  for_size(a.element_bytes, [&]<int kBytes>() { move_cores(team, args, tasks, walk, move_lines_of<kBytes>); });
}

}  // namespace

namespace host {

void permute_tiled(const HostTeam& team, const PermuteParams& args, const Config& config, char*) {
  switch (form_of(args.axes)) {
    case PermuteForm::copy:
    case PermuteForm::rows:
      return move_rows(team, args, config.grid);
    case PermuteForm::planes:
      return move_planes(team, args, config);
    case PermuteForm::general:
      return move_general(team, args, config.grid);
  }
}

// Element by element, the fastest axis of dst first: the reference for the other implementations.
void permute_serial(const HostTeam&, const PermuteParams& args, const Config&, char*) {
  const PermuteAxes& a = args.axes;
  const int64_t elements = a.elements();
  for (int64_t i = 0; i < elements; ++i) {
    int64_t rest = i;
    int64_t from = 0;
    int64_t to = 0;
    for (int32_t d = 0; d < a.rank; ++d) {
      from += rest % a.extent[d] * a.src_stride[d];
      to += rest % a.extent[d] * a.dst_stride[d];
      rest /= a.extent[d];
    }
    std::memcpy(static_cast<char*>(args.dst) + to * a.element_bytes,
                static_cast<const char*>(args.src) + from * a.element_bytes, static_cast<size_t>(a.element_bytes));
  }
}

}  // namespace host

}  // namespace gpumem
