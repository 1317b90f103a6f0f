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
             .x_row = {},
             .z = nullptr,
             .z_step = p.z_strides[inner] * p.z_bytes(),
             .z_row = inner > 0 ? p.z_strides[inner - 1] * p.z_bytes() : 0,
             .n = 0,
             .rows = 1,
             .nan_value = p.nan_value,
             .buffer = nullptr,
             .buffer_bytes = 0,
             .ahead = large,
             .stream = stream};
  for (int32_t k = 0; k < p.sources; ++k) {
    row.bytes[k] = p.source_bytes(k);
    row.step[k] = p.x_strides[k][inner] * row.bytes[k];
    if (inner > 0) row.x_row[k] = p.x_strides[k][inner - 1] * row.bytes[k];
  }
  return row;
}

// Whether the loops need no buffer for a row.
bool is_direct(const MapRow& row) noexcept {
  bool direct = !row.stream && row.kind != MapKind::convert_scaled && row.z_step == row.z_bytes;
  for (int k = 0; k < row.sources; ++k) direct = direct && row.step[k] == row.bytes[k];
  return direct;
}

// Elements [first, last) of the view, in the order of its axes. Short rows go to the loops together.
bool rows(const Loops& loops, const MapParams& p, int64_t first, int64_t last, MapRow row) {
  constexpr int64_t kBufferBytes = 4096;
  constexpr int64_t kFewBytes = 64;
  constexpr int64_t kShortRow = kBufferBytes / 16;  // elements
  const int32_t inner = p.rank - 1;
  const int64_t length = p.extents[inner];
  const bool short_rows = inner > 0 && length <= kShortRow;
  const TaskMemory room(is_direct(row) && !short_rows ? 0 : MapRow::kBuffers * kBufferBytes);
  alignas(kFewBytes) char few[MapRow::kBuffers * kFewBytes];  // if memory runs out, or no buffer is needed
  row.buffer = room.get() != nullptr ? static_cast<char*>(room.get()) : few;
  row.buffer_bytes = room.get() != nullptr ? kBufferBytes : kFewBytes;
  row.stream = row.stream && room.get() != nullptr;
  const bool groups = short_rows && room.get() != nullptr;
  bool right = true;
  for (int64_t i = first; i < last; i += row.n * row.rows) {
    int64_t at[kMaxMapRank];
    int64_t left = i;
    for (int32_t d = inner; d >= 0; left /= p.extents[d--]) at[d] = left % p.extents[d];
    const auto offset = [&](const int64_t* strides) {
      int64_t elements = 0;
      for (int32_t d = 0; d < p.rank; ++d) elements += at[d] * strides[d];
      return elements;
    };
    row.n = std::min(length - at[inner], last - i);
    row.rows = 1;
    if (groups && row.n == length) row.rows = std::min(p.extents[inner - 1] - at[inner - 1], (last - i) / length);
    row.z = static_cast<char*>(p.z) + offset(p.z_strides) * row.z_bytes;
    for (int32_t k = 0; k < p.sources; ++k) {
      row.x[k] = static_cast<const char*>(p.x[k]) + offset(p.x_strides[k]) * row.bytes[k];
    }
    right = loops.map(row) && right;
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
  const int64_t tile = config.tile;
  const int64_t n = p.elements();
  const bool large = team.larger_than_caches(n * p.z_bytes());
  const bool reads_z = std::find(p.x, p.x + p.sources, p.z) != p.x + p.sources;
  const int32_t inner = p.rank - 1;
  // Stores around the caches lose if z has just been read into them.
  const bool stream = large && !reads_z && p.z_strides[inner] == 1 && p.extents[inner] * p.z_bytes() >= kLongRow;
  const MapRow row = row_of(p, large, stream);
  std::atomic<bool> right{true};
  team.parallel(ceil_div(n, tile), [&](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    if (!rows(team.loops, p, i * tile, std::min((i + 1) * tile, n), row)) {
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
