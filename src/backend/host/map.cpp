// Elementwise functions, comparisons, selections and scaled conversions over views, on the host.
#include <algorithm>
#include <atomic>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/parallel.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"

namespace gpumem {
namespace {

constexpr double kOne = 1;
constexpr double kMinusZero = -0.0;

// The view's last axis if it is short. Looping over rows of a few elements costs more than striding over them.
struct LastAxis {
  int64_t extent = 1;
  int64_t z_stride = 0;
  int64_t x_strides[kMaxMapSources] = {};
};

LastAxis take_last_axis(MapParams& p) noexcept {
  constexpr int64_t kShort = 16;
  LastAxis axis;
  const int32_t last = p.rank - 1;
  if (last < 1 || p.extents[last] >= kShort || p.extents[last - 1] <= p.extents[last]) return axis;
  axis.extent = p.extents[last];
  axis.z_stride = p.z_strides[last];
  for (int32_t k = 0; k < p.sources; ++k) axis.x_strides[k] = p.x_strides[k][last];
  p.rank = last;
  return axis;
}

MapRow row_of(const MapParams& p, bool large, bool stream) noexcept {
  const int32_t inner = p.rank - 1;
  MapRow row{.kind = p.kind,
             .op = p.op,
             .dtype = p.dtype,
             .dst_type = p.dst_type,
             .sources = p.sources,
             .bytes = {},
             .z_bytes = p.z_bytes(),
             .x = {},
             .step = {},
             .z = nullptr,
             .z_step = p.z_strides[inner] * p.z_bytes(),
             .n = 0,
             .nan_value = p.nan_value,
             .buffer = nullptr,
             .buffer_bytes = 0,
             .ahead = large,
             .stream = stream};
  for (int32_t k = 0; k < p.sources; ++k) {
    row.bytes[k] = p.source_bytes(k);
    row.step[k] = p.x_strides[k][inner] * row.bytes[k];
  }
  return row;
}

// Elements [first, last) of the view, in the order of its axes.
bool rows(const Loops& loops, const MapParams& p, const LastAxis& behind, int64_t first, int64_t last, MapRow row) {
  constexpr int64_t kAtOnce = 512;  // with a short last axis, whose later elements then find the caches warm
  const int32_t inner = p.rank - 1;
  const int64_t longest = behind.extent > 1 ? kAtOnce : p.extents[inner];
  int64_t at[kMaxMapRank];
  int64_t left = first;
  for (int32_t d = inner; d >= 0; left /= p.extents[d--]) at[d] = left % p.extents[d];
  const auto offset = [&](const int64_t* strides, int64_t after) {
    int64_t elements = after;
    for (int32_t d = 0; d < p.rank; ++d) elements += at[d] * strides[d];
    return elements;
  };
  constexpr int64_t kBufferBytes = 4096;
  constexpr int64_t kFewBytes = 64;
  const TaskMemory room(MapRow::kBuffers * kBufferBytes);
  alignas(kFewBytes) char few[MapRow::kBuffers * kFewBytes];  // if memory runs out
  row.buffer = room.get() != nullptr ? static_cast<char*>(room.get()) : few;
  row.buffer_bytes = room.get() != nullptr ? kBufferBytes : kFewBytes;
  row.stream = row.stream && room.get() != nullptr;
  bool right = true;
  for (int64_t i = first; i < last; i += row.n) {
    row.n = std::min({p.extents[inner] - at[inner], last - i, longest});
    for (int64_t b = 0; b < behind.extent; ++b) {
      row.z = static_cast<char*>(p.z) + offset(p.z_strides, b * behind.z_stride) * row.z_bytes;
      for (int32_t k = 0; k < p.sources; ++k) {
        row.x[k] = static_cast<const char*>(p.x[k]) + offset(p.x_strides[k], b * behind.x_strides[k]) * row.bytes[k];
      }
      right = loops.map(row) && right;
    }
    at[inner] += row.n;
    for (int32_t d = inner; d > 0 && at[d] == p.extents[d]; --d) {
      at[d] = 0;
      ++at[d - 1];
    }
  }
  return right;
}

}  // namespace

namespace host {

void map_parallel(const HostTeam& team, const MapParams& params, const Config& config, char*) {
  constexpr int64_t kLongRow = int64_t{4} << 10;
  MapParams p = without_greater(params);
  if (p.kind == MapKind::convert_scaled && p.x[1] == nullptr) p.x[1] = &kOne;
  if (p.kind == MapKind::convert_scaled && p.x[2] == nullptr) p.x[2] = &kMinusZero;
  const LastAxis behind = take_last_axis(p);
  const int64_t tile = std::max<int64_t>(1, config.tile / behind.extent);
  const int64_t n = p.elements();
  const bool large = team.larger_than_caches(n * behind.extent * p.z_bytes());
  const bool reads_z = std::find(p.x, p.x + p.sources, p.z) != p.x + p.sources;
  const int32_t inner = p.rank - 1;
  // Stores around the caches lose if z has just been read into them.
  const bool stream = large && !reads_z && p.z_strides[inner] == 1 && p.extents[inner] * p.z_bytes() >= kLongRow;
  const MapRow row = row_of(p, large, stream);
  std::atomic<bool> right{true};
  team.parallel(ceil_div(n, tile), [&](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    if (!rows(team.loops, p, behind, i * tile, std::min((i + 1) * tile, n), row)) {
      right.store(false, std::memory_order_relaxed);
    }
  });
  if (p.status != nullptr) *p.status = right.load(std::memory_order_relaxed) ? GPUMEM_OK : GPUMEM_OUT_OF_RANGE;
}

void map_serial(const HostTeam&, const MapParams& p, const Config& config, char*) {
  map_parallel(no_team(), p, config, nullptr);
}

}  // namespace host

}  // namespace gpumem
